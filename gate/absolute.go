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

// judgedByHead: the comparison commit's suite does not have the cell.
const judgedByHead = "head"

// summarise makes the row of every cell.
func (e *evaluation) summarise() {
	e.out.Cells = make([]verdict.Cell, len(e.views))
	parallel(len(e.views), func(i int) {
		e.out.Cells[i] = e.views[i].row(e.in.Command)
		if e.base != nil && !e.rulings[i].known {
			e.out.Cells[i].JudgedBy = judgedByHead
		}
	})
}

// absolute judges every absolute budget, and what has no number at all.
func (e *evaluation) absolute() {
	nowhere := e.measuredNowhere()
	for i := range e.views {
		e.completeness(i)
		e.crashes(i)
		cell := e.views[i].cell
		broken := map[int][]string{} // position of a clean run -> metrics it broke
		for k, choices := range e.rulings[i].columns {
			for _, c := range choices {
				if b := c.Budget(); !e.budgets[b].Kind.Relative() {
					e.absoluteFinding(i, &cell.Columns[k], b, broken)
				}
			}
		}
		e.underSpec(i, broken)
		missing := e.missing(i)
		e.goneColumns(i, missing)
		e.countLoosened(i, slices.Concat(choicesOf(missing), e.unmeasured(i, nowhere, missing)))
	}
}

// completeness judges whether every planned run was measured.
func (e *evaluation) completeness(i int) {
	v := &e.views[i]
	for _, c := range e.rulings[i].completeness {
		f := e.finding(i, c.Budget())
		f.N, f.Outcome = v.seen, verdict.Pass
		due := e.out.Cells[i].Expected()
		if due > 0 {
			share := float64(v.seen) / float64(due)
			f.Value = &share
		}
		switch {
		case v.tooFewValid(due):
			f.Outcome = verdict.Invalid
		case v.seen == 0 || v.seen < due:
			f.Outcome = verdict.NoData
		}
		f.Message = fmt.Sprintf("%d of %d planned runs were measured", v.seen, due)
		if why := v.invalidText(); why != "" {
			f.Message += "; " + why
		}
		e.out.Findings = append(e.out.Findings, f)
	}
}

// crashes judges crash_rate, which is counted from statuses and is no column.
func (e *evaluation) crashes(i int) {
	v := &e.views[i]
	for _, c := range e.rulings[i].crashes {
		b := c.Budget()
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
	if why := e.redefined(bud); why != "" {
		f.Outcome = verdict.NotComparable
		f.Message = e.missingMessage(&f, why)
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
	if which := statisticOf(bud); which == medianStatistic && near(values, bud.Limit) {
		f.Reasons = append(f.Reasons, "near")
	}
	f.Message = e.absoluteMessage(&f, bud, over)
	e.out.Findings = append(e.out.Findings, f)
}

// medianStatistic is what an absolute budget is compared with unless it says otherwise.
const medianStatistic = "median"

// statisticOf is the statistic of an absolute budget. Where each run counts the
// worst run is told.
func statisticOf(b *budget.Budget) string {
	switch {
	case b.Statistic != "":
		return b.Statistic
	case b.EachRun && b.Kind == budget.Max:
		return "max"
	case b.EachRun:
		return "min"
	}
	return medianStatistic
}

func statistic(values []float64, b *budget.Budget) float64 {
	switch statisticOf(b) {
	case "min":
		return slices.Min(values)
	case "max":
		return slices.Max(values)
	}
	return median(values)
}

// near reports whether the interval of the median straddles the limit.
func near(values []float64, limit float64) bool {
	i, ok := medianInterval(values)
	return ok && i[0] < limit && limit < i[1]
}

// medianInterval is the 95 % interval of the median; ok is false with too few values.
func medianInterval(values []float64) (interval [2]float64, ok bool) {
	lo, hi, _, ok := stats.MedianInterval(len(values), 0.95)
	if !ok {
		return interval, false
	}
	s := slices.Sorted(slices.Values(values))
	return [2]float64{s[lo-1], s[hi-1]}, true
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

// reasonNotMeasured: a budget has no numbers.
const reasonNotMeasured = "not_measured"

// unmeasured finds budgets that select the cell and have no column there: the
// gate must tell "within budget" from "nothing ran" (C28, V21, V25). A budget
// that names cells expects its metric there; one that does not is meant for
// whatever has it, but then something must; and what the baseline has measured
// must not vanish. missing are the columns of which goneColumns tells that. It
// returns the rules that it found.
func (e *evaluation) unmeasured(i int, nowhere map[int]bool, missing []missingColumn) []budget.Choice {
	var found []budget.Choice
	for _, c := range e.rulings[i].idle {
		b := c.Budget()
		bud := &e.budgets[b]
		if e.ownReference(c, i) {
			continue
		}
		told := slices.ContainsFunc(missing, func(m missingColumn) bool { return bud.Covers(m.column.Metric, m.column.Phase, m.column.Part) })
		reason := reasonNotMeasured
		why := ""
		switch {
		case told && c.Head == budget.None:
			continue // deleted with what it was about
		case !told && e.vanished(i, bud):
			reason, why = string(Gone), "the baseline has it and this result does not"
		case e.narrow(c):
			why = "nothing measured it"
		case nowhere[b]:
			why = "no cell of the suite measured it"
			delete(nowhere, b) // said once
		default:
			continue
		}
		f := e.finding(i, b)
		f.Part, f.Outcome, f.Reasons = bud.Part, verdict.NoData, []string{reason}
		f.Message = e.missingMessage(&f, why)
		e.out.Findings = append(e.out.Findings, f)
		found = append(found, c)
	}
	return found
}

// vanished reports whether a stored session of the cell measured what b limits.
func (e *evaluation) vanished(i int, b *budget.Budget) bool {
	for _, s := range e.refs.stored[i] {
		for k := range s.view.cell.Columns {
			col := &s.view.cell.Columns[k]
			if b.Covers(col.Metric, col.Phase, col.Part) && len(s.view.values(col)) > 0 {
				return true
			}
		}
	}
	return false
}

// measuredNowhere are the budgets that are about no column of any cell. Of a
// document that is only a part of its suite nobody knows: then there are none.
func (e *evaluation) measuredNowhere() map[int]bool {
	if e.in.Current.Plan.Partial() {
		return nil
	}
	type name struct{ metric, phase, part string }
	columns := map[name]bool{}
	for i := range e.views {
		for k := range e.views[i].cell.Columns {
			col := &e.views[i].cell.Columns[k]
			columns[name{col.Metric, col.Phase, col.Part}] = true
		}
	}
	nowhere := map[int]bool{}
	for b := range e.budgets {
		nowhere[b] = true
		for n := range columns {
			if e.budgets[b].Covers(n.metric, n.phase, n.part) {
				delete(nowhere, b)
				break
			}
		}
	}
	return nowhere
}
