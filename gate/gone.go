package gate

import (
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// goneCells are rows for cells that the current result lacks although it is of
// the whole suite: those that the baseline has, and those of the comparison
// commit's suite that no stored session shows.
func (e *evaluation) goneCells() {
	if e.in.Current.Plan.Partial() {
		return
	}
	known := map[result.ID]bool{}
	pairs := map[BenchmarkVariant]bool{}
	for i := range e.views {
		for _, id := range e.views[i].cell.IDs() {
			known[id] = true
			pairs[BenchmarkVariant{id.Benchmark, id.Variant}] = true
		}
	}
	if newest := e.newestWhole(); newest != nil {
		e.goneFromBaseline(newest, known, pairs)
	}
	if e.in.Base != nil {
		e.goneFromSuite(pairs)
	}
}

func (e *evaluation) goneFromBaseline(newest *result.Document, known map[result.ID]bool, pairs map[BenchmarkVariant]bool) {
	skipped := map[string]string{}
	for _, s := range e.in.Current.Skipped {
		skipped[s.Name] = s.Why
	}
	for i := range newest.Cells {
		c := &newest.Cells[i]
		pair := BenchmarkVariant{c.Benchmark, c.Variant}
		if known[c.ID()] || c.Build != result.BuildHead || c.Control {
			continue
		}
		if e.base != nil && !pairs[pair] && !e.base.cells[pair] {
			continue // gone before this change
		}
		pairs[pair] = true
		why := "the baseline has this cell and the suite has not"
		if s, ok := skipped[c.Name]; ok {
			why = "left out: " + s
		}
		e.gone(verdict.Cell{Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build, Labels: c.Labels}, why)
	}
}

// goneFromSuite finds what was renamed or deleted before a session of it was
// stored. pairs are those that the suite has or that are known to be gone.
func (e *evaluation) goneFromSuite(pairs map[BenchmarkVariant]bool) {
	for _, p := range e.in.Base.Cells {
		if pairs[p] || e.refs.skipped(p.Benchmark, p.Variant) {
			continue
		}
		pairs[p] = true
		e.gone(verdict.Cell{Name: result.PrintedName(p.Benchmark, p.Variant, ""), Benchmark: p.Benchmark, Variant: p.Variant, Build: result.BuildHead},
			"the comparison commit's suite has these cells and this one has not")
	}
}

// gone adds a row for a cell that is no more. Red is what the policy makes of it;
// else there is nothing to compare.
func (e *evaluation) gone(row verdict.Cell, why string) {
	row.Statuses, row.Reasons = map[string]int{}, []string{string(Gone)}
	f := verdict.Finding{Cell: len(e.out.Cells), Budget: 0, Metric: completeness, Gated: true,
		Outcome: e.goneOutcome(), Reasons: []string{string(Gone)}, Message: why}
	e.out.Cells = append(e.out.Cells, row)
	e.out.Findings = append(e.out.Findings, f)
}

// goneOutcome is what the policy makes of what the baseline has and the current
// result has not.
func (e *evaluation) goneOutcome() verdict.Outcome {
	if e.out.Policy.On[string(Gone)] == ActionFail {
		return verdict.NoData
	}
	return verdict.NotComparable
}

// newestWhole is the newest stored document that is of the whole suite: one of
// selected cells says nothing about the others.
func (e *evaluation) newestWhole() *result.Document {
	if e.in.Baseline == nil {
		return nil
	}
	for _, s := range e.in.Baseline.Sessions {
		if !s.Doc.Plan.Partial() {
			return s.Doc
		}
	}
	return nil
}
