package flow

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/result"
)

// store writes a document into a baseline folder, named for its first session:
// ULIDs sort by time.
func (s Shell) store(dir string, doc *result.Document) (string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fmt.Errorf("%w: save baseline: %s is a file: name a folder with --baseline", ErrUsage, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save baseline: %w", err)
	}
	path := filepath.Join(dir, doc.Sessions[0].ID+".json")
	if err := durable.WriteFile(path, func(w io.Writer) error { return result.Encode(w, doc) }); err != nil {
		return "", fmt.Errorf("save baseline: %w", err)
	}
	return path, nil
}

// SaveBaseline stores an output folder's session, on purpose.
func (s Shell) SaveBaseline(o Options) error {
	su, err := s.load(o.Config)
	if err != nil {
		return err
	}
	out, err := s.reopen(o.Out)
	if err != nil {
		return err
	}
	defer out.close()
	doc, err := out.results()
	if err != nil {
		return err
	}
	if err := storable(su, doc); err != nil {
		return fmt.Errorf("%w: save baseline: %w", ErrUsage, err)
	}
	path, err := s.store(su.baselineFolder(o), doc)
	if err != nil {
		return err
	}
	s.say("saved as baseline: %s", su.shown(path))
	return nil
}

// storable refuses what could never be compared with.
func storable(su *suite, doc *result.Document) error {
	if doc.Suite.Name != su.file.Suite.Name {
		return fmt.Errorf("the results are of suite %q, the suite file is of %q", doc.Suite.Name, su.file.Suite.Name)
	}
	clean := 0
	for i := range doc.Sessions {
		if doc.Sessions[i].Interrupted {
			return fmt.Errorf("session %s was interrupted: measure it to its end", doc.Sessions[i].ID)
		}
	}
	for i := range doc.Cells {
		r := &doc.Cells[i].Runs
		for k := range r.Len() {
			if !r.Warmup(k) && r.StatusAt(k).OK() {
				clean++
			}
		}
	}
	if clean == 0 {
		return fmt.Errorf("no run ended well: there is nothing to compare with")
	}
	return nil
}

// candidates reads and selects for the machine we are on.
func (s Shell) candidates(o Options) (*suite, *baseline.Baseline, error) {
	su, err := s.load(o.Config)
	if err != nil {
		return nil, nil, err
	}
	session := s.session()
	b := su.baseline(o, baseline.Want{Suite: su.file.Suite.Name, Host: session.Host, StartedAt: session.StartedAt})
	if b.State == baseline.Failed {
		return nil, nil, fmt.Errorf("list baseline: %s", b.Reason)
	}
	return su, b, nil
}

// PullBaseline copies the sessions that would be compared with into an output
// folder's baseline/.
func (s Shell) PullBaseline(o Options) error {
	_, b, err := s.candidates(o)
	if err != nil {
		return err
	}
	if len(b.Sessions) == 0 {
		return fmt.Errorf("pull baseline: %s (%s)", b.Reason, b.Origin)
	}
	dir, err := filepath.Abs(o.Out)
	if err != nil {
		return err
	}
	lock, err := durable.Join(dir, s.Now())
	if err != nil {
		return err
	}
	out := &output{dir, lock}
	defer out.close()
	if err := out.keepBaseline(b); err != nil {
		return err
	}
	s.say("pulled %s from %s into %s", plural(len(b.Sessions), "session"), b.Origin, out.path(durable.Baseline))
	return nil
}

// ListBaseline prints every candidate: taken, or why not.
func (s Shell) ListBaseline(o Options, w io.Writer) error {
	_, b, err := s.candidates(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "baseline of %s: %s taken, %d rejected\n", b.Origin, plural(len(b.Sessions), "session"), len(b.Rejected))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, st := range b.Sessions {
		commit := st.Doc.Builds[result.BuildHead].Commit
		fmt.Fprintf(t, "taken\t%s\t%s\t%s\t%.12s\n", Visible(st.File), st.Session().StartedAt.Format("2006-01-02 15:04"), Visible(st.Session().Machine), Visible(commit))
	}
	for _, r := range b.Rejected {
		fmt.Fprintf(t, "rejected\t%s\t%s\n", Visible(r.Candidate), Visible(r.Why))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(b.Sessions) == 0 && b.Reason != "" {
		fmt.Fprintf(w, "%s\n", b.Reason)
	}
	return nil
}
