package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

// Standing is the group in which a report tells a finding, the most urgent
// first. It follows from outcome, grade, gating and level alone.
type Standing int

// Standings, in the order of reports.
const (
	Broken     Standing = iota // gated and red: fail, invalid, no_data, interrupted
	Doubted                    // gated and suspect, or unproven where proof is required
	Surprising                 // suspicious: look before it is believed
	Warned                     // red or suspect at level warn: shown, does not decide
	Unjudged                   // not_comparable, no_baseline, new, and what level info found
	Undecided                  // unproven
	Excused                    // accepted, quarantined
	Held                       // pass
)

// StandingOf returns the standing of finding i.
func (d *Document) StandingOf(i int) Standing {
	f := &d.Findings[i]
	switch {
	case f.Outcome == Accepted || f.Outcome == Quarantined:
		return Excused
	case f.Grade == Unproven && !d.Decides(f):
		return Undecided
	case f.Outcome == Pass:
		return Held
	case f.Outcome == Suspicious:
		return Surprising
	case f.Outcome == NotComparable || f.Outcome == NoBaseline || f.Outcome == New:
		return Unjudged
	case !f.Gated && d.level(f) == budget.Info:
		return Unjudged
	case !f.Gated:
		return Warned
	case f.Outcome == Inconclusive:
		return Doubted
	}
	return Broken
}

// Red reports whether an outcome turns a gated finding or a cell red on its own,
// whatever the policy says about the others.
func (o Outcome) Red() bool {
	return o == Fail || o == Invalid || o == NoData || o == Interrupted
}

// WorstFirst returns the positions of the findings in the order of reports: by
// standing, then by outcome, then by how far the change went in the bad
// direction. Ties keep the order of the document.
func (d *Document) WorstFirst() []int {
	type key struct {
		at       int
		standing Standing
		rank     int
		change   float64
	}
	keys := make([]key, len(d.Findings))
	for i := range d.Findings {
		f := &d.Findings[i]
		keys[i] = key{i, d.StandingOf(i), f.Outcome.place(), d.BadChange(i)}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(
			cmp.Compare(a.standing, b.standing),
			cmp.Compare(a.rank, b.rank),
			cmp.Compare(b.change, a.change),
			cmp.Compare(a.at, b.at))
	})
	order := make([]int, len(keys))
	for i, k := range keys {
		order[i] = k.at
	}
	return order
}

// CellsWorstFirst returns the positions of the cells: red ones in the order of
// outcomes, then undecided and suspicious ones, then all others. Ties keep the
// order of the document.
func (d *Document) CellsWorstFirst() []int {
	order := make([]int, len(d.Cells))
	for i := range order {
		order[i] = i
	}
	urgency := func(o Outcome) int {
		if o.Red() || o == Inconclusive || o == Suspicious {
			return o.place()
		}
		return Pass.place()
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(urgency(d.Cells[a].Outcome), urgency(d.Cells[b].Outcome))
	})
	return order
}

// BadChange is the natural logarithm of how much the value went in the bad
// direction: current over reference, or value over an absolute limit, turned
// round where higher is better. It is 0 where there is nothing to divide, and
// the largest float for a rise from zero.
func (d *Document) BadChange(i int) float64 {
	f := &d.Findings[i]
	b := d.budgetOf(f)
	var num, den float64
	switch {
	case f.Comparison != nil && inside(*f.Comparison, len(d.Comparisons)):
		c := &d.Comparisons[*f.Comparison]
		num, den = c.Current, c.Reference
		if c.Ratio != nil {
			num, den = *c.Ratio, 1
		}
	case f.Value != nil && b != nil && !b.Kind.Relative():
		num, den = *f.Value, b.Limit
	default:
		return 0
	}
	if d.downIsBad(f.Metric, b) {
		num, den = den, num
	}
	switch {
	case !(num > 0) || !(den >= 0):
		return 0
	case den == 0 || math.IsInf(num, 1):
		return math.MaxFloat64
	}
	return math.Log(num / den)
}

// downIsBad takes the direction from the budget where it has one, else from the
// metric.
func (d *Document) downIsBad(metric string, b *budget.Budget) bool {
	if b != nil {
		switch b.Kind {
		case budget.Min, budget.MaxDecrease:
			return true
		case budget.Max, budget.MaxIncrease:
			return false
		}
	}
	return d.Metrics[metric].Better == result.Higher
}

func (d *Document) budgetOf(f *Finding) *budget.Budget {
	if !inside(f.Budget, len(d.Budgets)) {
		return nil
	}
	return &d.Budgets[f.Budget]
}

func (d *Document) level(f *Finding) budget.Level {
	if b := d.budgetOf(f); b != nil {
		return b.Level
	}
	return budget.Fail
}

func inside(i, n int) bool { return i >= 0 && i < n }

// place is the place of an outcome in the list of outcomes, worst first: the only
// order of outcomes there is. A fail goes before what is merely unknown; what is
// unknown goes before what passed. A run that was stopped from outside has no
// verdict, whatever it saw until then.
func (o Outcome) place() int {
	order := [...]Outcome{Interrupted, Fail, Invalid, NoData, NotComparable, NoBaseline,
		New, Inconclusive, Suspicious, Quarantined, Accepted, Pass}
	for i, x := range order {
		if x == o {
			return i
		}
	}
	return len(order)
}
