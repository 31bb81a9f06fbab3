package verdict

import (
	"fmt"
	"io"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

// Encode writes a verdict, one cell, comparison and finding a line; the same
// verdict gives the same bytes. A number that is NaN or infinite is an error that
// names its place, and so is a reference to a cell, budget or comparison that is
// not there.
func Encode(w io.Writer, d *Document) error {
	out := withLists(d)
	if err := result.CheckSchema(out.Schema, Schema); err != nil {
		return err
	}
	if err := check(d); err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	head := struct {
		*Document
		Cells       *struct{} `json:"cells,omitempty"` // these three are written line by line
		Comparisons *struct{} `json:"comparisons,omitempty"`
		Findings    *struct{} `json:"findings,omitempty"`
	}{Document: &out}
	err := result.WriteDocument(w, head,
		result.Lines{Key: "cells", Len: len(d.Cells), At: func(i int) any { return &d.Cells[i] }},
		result.Lines{Key: "comparisons", Len: len(d.Comparisons), At: func(i int) any { return &d.Comparisons[i] }},
		result.Lines{Key: "findings", Len: len(d.Findings), At: func(i int) any { return &d.Findings[i] }})
	if err != nil {
		return fmt.Errorf("encode verdict: %w", err)
	}
	return nil
}

// withLists is d with the lists and maps of the file that are always there: a
// reader of the JSON need not tell null from empty.
func withLists(d *Document) Document {
	out := *d
	if out.Schema == "" {
		out.Schema = Schema
	}
	list(&out.Reasons)
	list(&out.Policy.Looks)
	list(&out.Sessions)
	list(&out.Budgets)
	table(&out.Builds)
	table(&out.Metrics)
	table(&out.Policy.Allowance)
	table(&out.Policy.On)
	table(&out.Counts.Findings)
	table(&out.Counts.Cells)
	return out
}

func list[E any](l *[]E) {
	if *l == nil {
		*l = []E{}
	}
}

func table[V any, K comparable](m *map[K]V) {
	if *m == nil {
		*m = map[K]V{}
	}
}

// Decode reads a verdict. A document of another kind or of a newer version is
// refused in words, and so are references to what is not there: a renderer may
// follow each without looking.
func Decode(r io.Reader) (*Document, error) {
	d := new(Document)
	err := result.ReadDocument(r, Schema, d)
	if err == nil {
		err = check(d)
	}
	if err != nil {
		return nil, fmt.Errorf("read verdict: %w", err)
	}
	return d, nil
}

// check holds outcomes to the known ones and references to what is there.
func check(d *Document) error {
	if !d.Outcome.known() {
		return fmt.Errorf("unknown outcome %q", d.Outcome)
	}
	for i := range d.Cells {
		if o := d.Cells[i].Outcome; !o.known() {
			return fmt.Errorf("cell %d: unknown outcome %q", i, o)
		}
	}
	for i := range d.Comparisons {
		if err := within("cell", d.Comparisons[i].Cell, len(d.Cells)); err != nil {
			return fmt.Errorf("comparison %d: %w", i, err)
		}
	}
	for i := range d.Findings {
		if err := checkFinding(d, &d.Findings[i]); err != nil {
			return fmt.Errorf("finding %d: %w", i, err)
		}
	}
	if err := checkHistory(d); err != nil {
		return err
	}
	if d.Confirmation != nil {
		for i := range d.Confirmation.Cells {
			if err := within("cell", d.Confirmation.Cells[i].Cell, len(d.Cells)); err != nil {
				return fmt.Errorf("confirmation: row %d: %w", i, err)
			}
		}
	}
	return checkBudgets(d.Budgets)
}

func checkHistory(d *Document) error {
	if d.Baseline == nil {
		return nil
	}
	for i := range d.Baseline.Cuts {
		if err := within("cell", d.Baseline.Cuts[i].Cell, len(d.Cells)); err != nil {
			return fmt.Errorf("baseline: cut %d: %w", i, err)
		}
	}
	for i := range d.Baseline.Odd {
		if err := within("cell", d.Baseline.Odd[i].Cell, len(d.Cells)); err != nil {
			return fmt.Errorf("baseline: odd session %d: %w", i, err)
		}
	}
	return nil
}

func checkFinding(d *Document, f *Finding) error {
	if !f.Outcome.known() {
		return fmt.Errorf("unknown outcome %q", f.Outcome)
	}
	if err := within("cell", f.Cell, len(d.Cells)); err != nil {
		return err
	}
	if err := within("budget", f.Budget, len(d.Budgets)); err != nil {
		return err
	}
	if f.Excuse != nil {
		if err := within("excuse", *f.Excuse, len(d.Excuses)); err != nil {
			return err
		}
	}
	if f.Was != "" && !f.Was.known() {
		return fmt.Errorf("unknown outcome %q", f.Was)
	}
	if f.Comparison == nil {
		return nil
	}
	return within("comparison", *f.Comparison, len(d.Comparisons))
}

// checkBudgets refuses a kind that would be shown as another.
func checkBudgets(budgets []budget.Budget) error {
	for i := range budgets {
		switch b := &budgets[i]; b.Kind {
		case budget.Max, budget.Min, budget.MaxRegression, budget.MaxIncrease, budget.MaxDecrease:
		default:
			return fmt.Errorf("budget %d: unknown kind %q", i, b.Kind)
		}
	}
	return nil
}

func within(what string, i, n int) error {
	if i < 0 || i >= n {
		return fmt.Errorf("%s %d of %d", what, i, n)
	}
	return nil
}

func (o Outcome) known() bool {
	switch o {
	case Interrupted, Fail, Invalid, NoData, NotComparable, NoBaseline, New, Inconclusive, Suspicious, Accepted, Quarantined, Pass:
		return true
	}
	return false
}
