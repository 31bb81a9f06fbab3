package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Decision is what a look says of one test.
type Decision string

// Decisions. The zero value is Undecided.
const (
	Undecided Decision = ""
	Passed    Decision = "pass"
	Failed    Decision = "fail"
)

// LookTest is one test of a family as a look finds it.
type LookTest struct {
	// PFail is the p of "not worse than the budget", PPass that of "not better
	// than the budget", both from all repeats so far. Those of a test that
	// stopped at an earlier look stay as they were then.
	PFail, PPass float64
	Decision     Decision // of earlier looks: it stands
}

// LookResult is one test after a look.
type LookResult struct {
	Decision Decision
	// Adjusted is PFail corrected for the family by Holm, and for the level of one
	// look; 0 for a test that failed at an earlier look.
	Adjusted float64
}

// JudgeLook decides at one look whatever can be decided: fails by Holm over the
// whole family at level, passes by their own p at level, and leaves what earlier
// looks decided. family is the number of gated tests in the plan; those that have
// no p (yet) count as p = 1.
//
// The chance of any false fail at any of k looks is at most k*level: an earlier
// fail leaves the family (had it been false, the error was made there), all
// others stay in it, stopped or not. So each true hypothesis faces the bound
// level/(number of true ones) at each look that measured it, and nothing else is
// needed (Holm 1979; Bonferroni over the looks). The answer depends on the
// arguments alone, so a replay of the documents gives it again.
func JudgeLook(tests []LookTest, family int, level float64) ([]LookResult, error) {
	if err := checkAlpha("look", level); err != nil {
		return nil, err
	}
	p := make([]float64, max(family, len(tests)))
	for i := range p {
		p[i] = 1
	}
	for i, t := range tests {
		if !(t.PPass >= 0 && t.PPass <= 1) {
			return nil, fmt.Errorf("look: p value %v of pass %d is not in [0, 1]", t.PPass, i)
		}
		p[i] = t.PFail
		if t.Decision == Failed {
			p[i] = 0
		}
	}
	adjusted, err := Holm(p)
	if err != nil {
		return nil, err
	}
	results := make([]LookResult, len(tests))
	for i, t := range tests {
		r := LookResult{Decision: t.Decision, Adjusted: adjusted[i]}
		switch {
		case t.Decision != Undecided:
		case Reaches(adjusted[i], level):
			r.Decision = Failed
		case Reaches(t.PPass, level):
			r.Decision = Passed
		}
		results[i] = r
	}
	return results, nil
}

// Outlook is what is known of an undecided test: enough to say whether going on
// may decide it.
type Outlook struct {
	Design Design
	// Excess is the estimate minus the budget on the log scale, positive when it
	// is beyond. Gap is how much further a fail must be beyond than the budget
	// (a session allowance), 0 for none.
	Excess, Gap float64
	SD          float64 // of a block's log difference, or of the logs within a side
	Now, Last   int     // repeats so far, and at the last planned look
	// Between is the standard error of new - stored that no repeat lowers, on
	// BetweenDF degrees of freedom: SessionsDesign alone.
	Between   float64
	BetweenDF int
	// FailLevel and PassLevel are the one-sided levels at the last look: that of
	// the look over the family's remaining size, and that of the look.
	FailLevel, PassLevel float64
}

// FutileBelow is the chance to decide below which more repeats are not worth
// their time. Over the table of looks 5, 10, 20 it costs at most one decision in
// fifty, and saves a sixth of the repeats of a cell that is exactly at its budget.
const FutileBelow = 0.05

// ChanceToDecide is the probability that the last look calls a pass or a fail,
// given what has been seen: the estimate at the last look is predicted from the
// present one, whose own error is part of the prediction (predictive power with
// a flat prior: Spiegelhalter, Freedman & Blackburn 1986), and held against the
// half-width of the bounds there by the rule that plans repeats. ok is false when
// a value is no number, the levels are none, or Now is not before Last.
func (t *Tables) ChanceToDecide(o Outlook) (chance float64, ok bool) {
	switch {
	case checkResult("", o.Excess, o.Gap, o.SD, o.Between) != nil, o.Gap < 0, o.SD < 0, o.Between < 0:
		return 0, false
	case checkAlpha("", o.FailLevel) != nil, checkAlpha("", o.PassLevel) != nil:
		return 0, false
	case o.Now < 1, o.Now >= o.Last:
		return 0, false
	}
	change := o.SD * math.Sqrt(o.Design.inverse(o.Now)-o.Design.inverse(o.Last))
	if h, can := t.halfWidth(o, o.FailLevel); can {
		chance += above(o.Excess-o.Gap-h, change)
	}
	if h, can := t.halfWidth(o, o.PassLevel); can {
		chance += above(-o.Excess-h, change)
	}
	return min(1, chance), true
}

// Futile reports whether the last look will hardly decide: then a test stops as
// undecided at once. Stopping for futility can only lose fails, so it needs no
// share of the error.
func (t *Tables) Futile(o Outlook) bool {
	chance, ok := t.ChanceToDecide(o)
	return ok && chance < FutileBelow
}

// halfWidth is about how far the estimate must be from the limit at the last look.
func (t *Tables) halfWidth(o Outlook, level float64) (float64, bool) {
	if !Reaches(o.Design.LeastP(o.Last), level) {
		return 0, false
	}
	df := o.Last - 1
	switch o.Design.kind {
	case overSessions:
		return t.studentUpper(level, max(1, o.BetweenDF)) * o.Between, true
	case bothSides:
		df *= 2
	case storedSide:
		df += o.Design.stored - 1
	}
	return t.studentUpper(level, max(1, df)) * o.SD * math.Sqrt(rankLoss*o.Design.inverse(o.Last)), true
}

// above is the chance that a normal value with this mean exceeds 0.
func above(mean, sd float64) float64 {
	if sd == 0 {
		if mean > 0 {
			return 1
		}
		return 0
	}
	return distuv.UnitNormal.CDF(mean / sd)
}
