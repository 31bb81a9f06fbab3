package gate

import (
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// missingColumn is a column that the baseline has of a cell and the current
// result has not, though it has others beside it.
type missingColumn struct {
	column *result.Column
	// choice is the strictest rule about it.
	choice budget.Choice
	// part is set when nothing of its part is left.
	part bool
}

func choicesOf(missing []missingColumn) []budget.Choice {
	var out []budget.Choice
	for _, m := range missing {
		out = append(out, m.choice)
	}
	return out
}

// missing finds what a tool no longer tells of a cell: a benchmark that was
// deleted, a check that is not reported any more. What no budget is about nobody
// misses. Where no value of a metric is left, and no part that went with it, its
// budgets have no data, and say so themselves.
func (e *evaluation) missing(i int) []missingColumn {
	v := &e.views[i]
	newest := e.newestStored(i)
	if newest == nil || e.refs.incomparable() != "" {
		return nil
	}
	here := v.columns()
	var lost []*result.Column
	parts := map[string]bool{} // gone, while others that had one of its metrics are there
	for k := range newest.view.cell.Columns {
		col := &newest.view.cell.Columns[k]
		switch {
		case here.has(col):
		case newest.doc.Metrics[col.Metric].Class == result.Level: // a kind of event that did not happen is not gone
		case len(newest.view.appendValues(nil, col, newest.session)) == 0:
		default:
			lost = append(lost, col)
			if here.hasBeside(col) && !here.parts[col.Part] {
				parts[col.Part] = true
			}
		}
	}
	var out []missingColumn
	for _, col := range lost {
		if c, ok := e.strictest(i, col); ok && (parts[col.Part] || here.hasBeside(col)) {
			out = append(out, missingColumn{col, c, parts[col.Part]})
		}
	}
	return out
}

// columnSet is what columns a cell has.
type columnSet struct {
	columns map[[3]string]bool // by metric, phase and part
	metrics map[[2]string]bool // by metric and phase: some part has a value
	parts   map[string]bool
}

func (v *view) columns() columnSet {
	s := columnSet{map[[3]string]bool{}, map[[2]string]bool{}, map[string]bool{"": true}} // the whole is always there
	for i := range v.cell.Columns {
		col := &v.cell.Columns[i]
		s.columns[[3]string{col.Metric, col.Phase, col.Part}] = true
		s.parts[col.Part] = true
		if len(v.values(col)) > 0 {
			s.metrics[[2]string{col.Metric, col.Phase}] = true
		}
	}
	return s
}

func (s *columnSet) has(c *result.Column) bool {
	return s.columns[[3]string{c.Metric, c.Phase, c.Part}]
}

// hasBeside reports whether another part has a value of a column's metric.
func (s *columnSet) hasBeside(c *result.Column) bool { return s.metrics[[2]string{c.Metric, c.Phase}] }

// newestStored is the newest stored session in which a cell of the same
// definition ran well; nil when there is none.
func (e *evaluation) newestStored(i int) *storedCell {
	for k := range e.refs.stored[i] {
		s := &e.refs.stored[i][k]
		if s.view.cell.Digest != e.views[i].cell.Digest {
			continue
		}
		if slices.ContainsFunc(s.view.clean, func(run int) bool { return s.view.cell.Runs.SessionAt(run) == s.session }) {
			return s
		}
	}
	return nil
}

// strictest is the rule of the strictest level that would be about a column of a
// cell; of several the first.
func (e *evaluation) strictest(i int, col *result.Column) (best budget.Choice, ok bool) {
	for _, c := range e.choose(&e.rulings[i], col.Metric, col.Phase, col.Part) {
		if e.redefined(&e.budgets[c.Budget()]) != "" || e.ownReference(c, i) {
			continue
		}
		if !ok || e.stricter(c.Budget(), best.Budget()) {
			best, ok = c, true
		}
	}
	return best, ok
}

func (e *evaluation) stricter(b, than int) bool {
	return e.budgets[b].Level.Stricter(e.budgets[than].Level)
}

// goneColumns tells what is missing: a part that has nothing any more once,
// whatever it had, by the strictest rule about it; else each column.
func (e *evaluation) goneColumns(i int, missing []missingColumn) {
	at := map[string]int{} // finding of a part that is gone
	for _, m := range missing {
		b := m.choice.Budget()
		old, told := at[m.column.Part]
		switch {
		case !m.part || !told:
			if m.part {
				at[m.column.Part] = len(e.out.Findings)
			}
			e.out.Findings = append(e.out.Findings, e.goneColumn(i, b, m))
		case e.stricter(b, e.out.Findings[old].Budget):
			e.out.Findings[old] = e.goneColumn(i, b, m)
		}
	}
}

func (e *evaluation) goneColumn(i, b int, m missingColumn) verdict.Finding {
	f := e.finding(i, b)
	f.Phase, f.Part, f.Outcome, f.Reasons = m.column.Phase, m.column.Part, e.goneOutcome(), []string{string(Gone)}
	what := "it"
	if m.part {
		what = "this part"
	}
	f.Message = e.missingMessage(&f, "the baseline has "+what+" and this result has not")
	return f
}
