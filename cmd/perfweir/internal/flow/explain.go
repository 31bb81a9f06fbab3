package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/baseline/localdir"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/report"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Explain gathers everything about one cell from the documents of an output folder.
func (s Shell) Explain(cell, dir string) (*report.Explained, error) {
	out, err := s.reopen(dir)
	if err != nil {
		return nil, err
	}
	defer out.close()
	v, doc, err := out.judged()
	if err != nil {
		return nil, err
	}
	at, err := findCell(v, cell)
	if err != nil {
		return nil, err
	}
	row := &v.Cells[at]
	x := &report.Explained{Verdict: v, Cell: at, Runs: &result.Cell{}}
	i := slices.IndexFunc(doc.Cells, func(c result.Cell) bool {
		return c.ID() == result.ID{Benchmark: row.Benchmark, Variant: row.Variant, Input: row.Input, Build: row.Build}
	})
	if i < 0 {
		return x, nil // gone: nothing of it was measured
	}
	b, err := out.comparedWith(v)
	if err != nil {
		return nil, err
	}
	x.Runs = &doc.Cells[i]
	for _, c := range gate.Summarise(doc, i, b) {
		x.Columns = append(x.Columns, report.Column(c))
	}
	return x, nil
}

// findCell finds the one cell that a name or a glob means.
func findCell(v *verdict.Document, cell string) (int, error) {
	var names []string
	var found []int
	for i := range v.Cells {
		c := &v.Cells[i]
		if c.Build == result.BuildBase {
			continue // told beside head's
		}
		if c.Name == cell {
			return i, nil
		}
		names = append(names, c.Name)
		if result.MatchName(cell, c.Name) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, fmt.Errorf("%w: %q selects %d cells: name one of %s", ErrUsage, cell, len(found), listed(v, found))
	}
	return 0, fmt.Errorf("%w: no cell %q: %s", ErrUsage, cell, config.Suggest(cell, names[:min(len(names), mostListed)]))
}

// mostListed is how many cells an error names.
const mostListed = 20

func listed(v *verdict.Document, cells []int) string {
	var names []string
	for k, i := range cells {
		if k == mostListed {
			names = append(names, fmt.Sprintf("and %d more", len(cells)-k))
			break
		}
		names = append(names, Visible(v.Cells[i].Name))
	}
	return strings.Join(names, ", ")
}

// comparedWith reads the stored sessions that a verdict was compared with from the
// folder; nil where there are none.
func (o *output) comparedWith(v *verdict.Document) (*baseline.Baseline, error) {
	if v.Baseline == nil || len(v.Baseline.Sessions) == 0 {
		return nil, nil
	}
	candidates, err := localdir.Candidates(o.path(durable.Baseline))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	wanted := map[string]bool{}
	for i := range v.Baseline.Sessions {
		wanted[v.Baseline.Sessions[i].ID] = true
	}
	b := &baseline.Baseline{State: baseline.OK}
	for _, c := range candidates {
		if c.Doc == nil {
			continue
		}
		for i := range c.Doc.Sessions {
			if id := c.Doc.Sessions[i].ID; wanted[id] {
				delete(wanted, id) // a copy counts once
				b.Sessions = append(b.Sessions, baseline.Stored{File: c.File, Doc: c.Doc, Index: i})
			}
		}
	}
	if len(b.Sessions) == 0 {
		return nil, nil
	}
	return b, nil
}
