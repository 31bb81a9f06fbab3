package flow

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/gate/budget"
)

// Acceptance is an accepted change as a person asks for it.
type Acceptance struct {
	Cell, Metric, Part, Limit, Reason, Expires string
	Print                                      bool // the entry alone; the file stays as it is
}

// Accept puts an accepted change into a suite file: the file is written whole and
// is one that perfweir reads, or stays as it was.
func (s Shell) Accept(path string, a Acceptance, w io.Writer) error {
	x := budget.Exception{Cells: a.Cell, Metric: a.Metric, Part: a.Part, Text: a.Limit, Reason: a.Reason, Expires: a.Expires}
	if day, err := time.Parse(budget.DateLayout, a.Expires); err == nil && x.Expired(s.Now()) {
		return fmt.Errorf("%w: --expires %s is past: name a day to come", ErrUsage, day.Format(budget.DateLayout))
	}
	// What a link points to is written, not the link.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fmt.Errorf("%w: no suite file %s: -c names another", ErrUsage, path)
	}
	data, err := os.ReadFile(real)
	if err != nil {
		return fmt.Errorf("%w: read suite file: %w", ErrUsage, err)
	}
	text, err := config.AddAccepted(path, data, x)
	line := config.AcceptedLine(x)
	switch {
	case errors.Is(err, config.ErrShape):
		if a.Print {
			break
		}
		return fmt.Errorf("%w: %s: %w: add this to its list of accepted by hand: %s", ErrUsage, path, err, line)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if a.Print {
		_, err := fmt.Fprintf(w, "accepted:\n  - %s\n", line)
		return err
	}
	if err := durable.WriteFile(real, func(f io.Writer) error { _, err := f.Write(text); return err }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s: accepted %s\nIn a pull request it counts after the merge, or at once by the label that gate.accept_label names.\n", path, line)
	return err
}
