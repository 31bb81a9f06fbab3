package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// summarise makes the row of every cell.
func (e *evaluation) summarise() {
	for i := range e.views {
		e.out.Cells = append(e.out.Cells, e.views[i].row(e.in.Command))
	}
}

// absolute judges every absolute budget, and what has no number at all.
func (e *evaluation) absolute() {
	for i := range e.views {
		e.counts(i)
		cell := e.views[i].cell
		used := map[int]bool{}
		broken := map[int][]string{} // position of a clean run -> metrics it broke
		for k := range cell.Columns {
			col := &cell.Columns[k]
			for _, b := range budget.For(e.budgets, e.selected[i], col.Metric, col.Phase, col.Part) {
				used[b] = true
				if !e.budgets[b].Kind.Relative() {
					e.absoluteFinding(i, col, b, broken)
				}
			}
		}
		e.underSpec(i, broken)
		e.unmeasured(i, used)
	}
}

// counts judges what is counted from statuses: completeness and crash_rate.
func (e *evaluation) counts(i int) {
	v := &e.views[i]
	for _, b := range budget.For(e.budgets, e.selected[i], completeness, "", "") {
		share := 0.0
		if v.cell.Planned > 0 {
			share = float64(v.seen) / float64(v.cell.Planned)
		}
		f := e.finding(i, b)
		f.Value, f.N, f.Outcome = &share, v.seen, verdict.Pass
		if v.seen < v.cell.Planned {
			f.Outcome = verdict.NoData
		}
		if v.invalid > 0 && len(v.clean) == 0 {
			f.Outcome = verdict.Invalid
		}
		f.Message = fmt.Sprintf("%d of %d planned runs were measured", v.seen, v.cell.Planned)
		e.out.Findings = append(e.out.Findings, f)
	}
	for _, b := range budget.For(e.budgets, e.selected[i], result.CrashRate, "", "") {
		if e.budgets[b].Kind.Relative() {
			continue
		}
		f := e.finding(i, b)
		rate := v.crashRate()
		f.N = len(v.first)
		if math.IsNaN(rate) {
			f.Outcome, f.Message = verdict.NoData, "no run was started"
		} else {
			f.Value, f.Allowed = &rate, &e.budgets[b].Limit
			f.Outcome = outcomeIf(e.beyondLimit(b, rate))
			f.Message = crashMessage(v, &e.budgets[b])
		}
		e.out.Findings = append(e.out.Findings, f)
	}
}

func (e *evaluation) finding(cell, b int) verdict.Finding {
	return verdict.Finding{Cell: cell, Budget: b, Metric: e.budgets[b].Metric, Phase: e.budgets[b].Phase, Gated: e.budgets[b].Level == budget.Fail}
}

func outcomeIf(beyond bool) verdict.Outcome {
	if beyond {
		return verdict.Fail
	}
	return verdict.Pass
}

// beyondLimit compares with an absolute limit. The limit itself is allowed, to
// within the rounding of a double: 0.3 measured as 0.1 + 0.2 is not beyond 0.3.
func (e *evaluation) beyondLimit(b int, v float64) bool {
	limit := e.budgets[b].Limit
	slack := 1e-12 * max(math.Abs(limit), math.Abs(v))
	return e.budgets[b].Direction("")*(v-limit) > slack
}

// absoluteFinding judges one absolute budget on one column: its statistic over
// the clean runs, or any run where each counts.
func (e *evaluation) absoluteFinding(i int, col *result.Column, b int, broken map[int][]string) {
	v := &e.views[i]
	bud := &e.budgets[b]
	f := e.finding(i, b)
	f.Phase, f.Part = col.Phase, col.Part
	values := v.values(col)
	f.N = len(values)
	if len(values) == 0 {
		f.Outcome, f.Message = v.noData(col)
		f.Message = e.missingMessage(&f, f.Message)
		e.out.Findings = append(e.out.Findings, f)
		return
	}
	over := 0
	for _, p := range v.clean {
		if x := col.V[p]; !math.IsNaN(x) && e.beyondLimit(b, x) {
			over++
			if bud.Level == budget.Fail {
				broken[p] = append(broken[p], columnName(col))
			}
		}
	}
	value := statistic(values, bud)
	f.Value, f.Allowed = &value, &bud.Limit
	f.Outcome = outcomeIf(e.beyondLimit(b, value) || bud.EachRun && over > 0)
	if bud.EachRun && over > 0 && !e.beyondLimit(b, value) {
		f.Reasons = append(f.Reasons, "each_run")
	}
	if near(values, bud.Limit) && !bud.EachRun {
		f.Reasons = append(f.Reasons, "near")
	}
	f.Message = e.absoluteMessage(&f, bud, over)
	e.out.Findings = append(e.out.Findings, f)
}

// statistic is what an absolute budget is compared with. Where each run counts
// the worst run is told.
func statistic(values []float64, b *budget.Budget) float64 {
	which := b.Statistic
	if which == "" && b.EachRun {
		which = map[budget.Kind]string{budget.Max: "max", budget.Min: "min"}[b.Kind]
	}
	switch which {
	case "min":
		return slices.Min(values)
	case "max":
		return slices.Max(values)
	}
	return median(values)
}

// near reports whether the interval of the median straddles the limit.
func near(values []float64, limit float64) bool {
	lo, hi, _, ok := stats.MedianInterval(len(values), 0.95)
	if !ok {
		return false
	}
	s := slices.Clone(values)
	slices.Sort(s)
	return s[lo-1] < limit && limit < s[hi-1]
}

// underSpec counts clean runs that broke a limit or a check: alive, but wrong.
func (e *evaluation) underSpec(i int, broken map[int][]string) {
	row := &e.out.Cells[i]
	row.UnderSpec = len(broken)
	for _, names := range broken {
		row.UnderSpecBy = append(row.UnderSpecBy, names...)
	}
	slices.Sort(row.UnderSpecBy)
	row.UnderSpecBy = slices.Compact(row.UnderSpecBy)
}

// unmeasured finds budgets that select the cell and have no column there: the
// gate must tell "within budget" from "nothing ran" (C28, V21, V25). A budget
// that names cells expects its metric there; one that does not is meant for
// whatever has it, but then something must; and what the baseline has measured
// must not vanish.
func (e *evaluation) unmeasured(i int, used map[int]bool) {
	cell := e.views[i].cell
	for _, b := range e.selected[i] {
		bud := &e.budgets[b]
		if used[b] || bud.Implicit || bud.Metric == result.CrashRate || bud.Against == budget.AgainstVariant+cell.Variant || e.overridden(i, b) {
			continue
		}
		reason := ""
		switch {
		case e.vanished(cell, bud):
			reason = "the baseline has it and this result does not"
		case bud.Narrow():
			reason = "nothing measured it"
		case e.firstSelected(b) == i && !e.measuredSomewhere(bud):
			reason = "no cell of the suite measured it"
		default:
			continue
		}
		f := e.finding(i, b)
		f.Part, f.Outcome, f.Reasons = bud.Part, verdict.NoData, []string{"gone"}
		f.Message = e.missingMessage(&f, reason)
		e.out.Findings = append(e.out.Findings, f)
	}
}

// overridden reports whether a later budget of the cell stands in b's place.
func (e *evaluation) overridden(i, b int) bool {
	o := &e.budgets[b]
	for _, j := range e.selected[i] {
		l := &e.budgets[j]
		if j > b && l.Metric == o.Metric && l.Phase == o.Phase && l.Kind == o.Kind && l.Against == o.Against && (l.Part == "" || l.Part == o.Part) {
			return true
		}
	}
	return false
}

func (e *evaluation) vanished(c *result.Cell, b *budget.Budget) bool {
	for _, s := range e.refs.storedFor(c) {
		for k := range s.view.cell.Columns {
			col := &s.view.cell.Columns[k]
			if b.Covers(col.Metric, col.Phase, col.Part) && len(s.view.values(col)) > 0 {
				return true
			}
		}
	}
	return false
}

func (e *evaluation) firstSelected(b int) int {
	for i := range e.selected {
		if slices.Contains(e.selected[i], b) {
			return i
		}
	}
	return -1
}

func (e *evaluation) measuredSomewhere(b *budget.Budget) bool {
	for i := range e.views {
		for k := range e.views[i].cell.Columns {
			col := &e.views[i].cell.Columns[k]
			if b.Covers(col.Metric, col.Phase, col.Part) {
				return true
			}
		}
	}
	return false
}
