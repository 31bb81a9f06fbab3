package gate

import (
	"math"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// test is one relative budget applied to one contrast. The null hypothesis is
// always the budget, never "no change".
type test struct {
	finding  int // index into the verdict's findings; -1 while it is not there
	contrast *contrast
	budget   *budget.Budget
	dir      float64 // +1: larger is worse
	extra    float64 // session allowance
	// decided is set when the rule needs no error rate: exact values, a zero
	// reference.
	decided verdict.Outcome
	reason  string
	// pFail is the p of "not worse than the budget and its allowance", pPass of
	// "not better than the budget".
	pFail, pPass float64
	hasP         bool
	beyond       bool // the estimate is beyond the budget (without the allowance)
	// minP is the least pFail that the counts can give.
	minP float64
}

// run computes the test.
func (t *test) run(tables *stats.Tables) {
	c := t.contrast
	t.pFail, t.pPass, t.minP = 1, 1, 1
	switch {
	case len(c.y) == 0 || len(c.x) == 0 || c.design == verdict.Paired && len(c.pairs) == 0:
		t.decided, t.reason = verdict.NoData, "no block has both sides"
	case c.design == verdict.ExactEq:
		t.exact()
	case t.zeroReference():
	case c.def.Class == result.Counted && t.counted():
	case c.design == verdict.Sessions:
		t.bySessions()
	case c.design == verdict.Paired:
		t.paired(tables)
	default:
		t.unpaired(tables)
	}
}

// exact needs no test: any change is a change, and the budget says how much of
// it is allowed.
func (t *test) exact() {
	x, y := t.contrast.x[0], t.contrast.y[0]
	t.beyond = t.dir*(y-t.budget.Allowed(x, t.dir, 0)) > 0
	switch {
	case t.beyond:
		t.decided = verdict.Fail
	case y != x && t.contrast.samePrograms:
		t.decided, t.reason = verdict.Suspicious, "changed_without_reason"
	default:
		t.decided = verdict.Pass
	}
}

// zeroReference handles references of zero under a budget that is only a
// fraction: nothing can be judged relatively then (C06, C34, V26). From zero to
// zero nothing changed; worse from zero fails; better is not comparable.
func (t *test) zeroReference() bool {
	c := t.contrast
	if t.budget.Amount > 0 || t.budget.MinDelta > 0 {
		return false
	}
	for _, v := range c.x {
		if v != 0 {
			return false
		}
	}
	worse, better := 0, 0
	for _, v := range c.y {
		switch {
		case t.dir*v > 0:
			worse++
		case t.dir*v < 0:
			better++
		}
	}
	switch {
	case worse == 0 && better == 0:
		t.decided, t.reason = verdict.Pass, "both_zero"
	case worse == len(c.y):
		t.decided, t.reason, t.beyond = verdict.Fail, "worse_from_zero", true
	case better == len(c.y):
		t.decided, t.reason = verdict.NotComparable, "zero_reference"
	default:
		t.decided, t.reason, t.beyond = verdict.Inconclusive, "zero_reference", true
	}
	return true
}

// countedFloor is the least relative change of a counted metric that is taken
// for one: instruction counts move by some 0.2 % without reason
// (Nethercote on rustc's instruction counts).
const countedFloor = 0.002

// counted decides nearly exact metrics without a rank test where both sides are
// clearly apart, or clearly inside; two runs a side are enough.
func (t *test) counted() bool {
	c := t.contrast
	if len(c.x) < 2 || len(c.y) < 2 {
		return false
	}
	allBeyond, allInside := true, true
	for _, x := range c.x {
		limit := t.budget.Allowed(x, t.dir, t.extra+countedFloor)
		inside := t.budget.Allowed(x, t.dir, 0)
		for _, y := range c.y {
			allBeyond = allBeyond && t.dir*(y-limit) > 0
			allInside = allInside && t.dir*(y-inside) <= 0
		}
	}
	switch {
	case allBeyond:
		t.decided, t.beyond = verdict.Fail, true
	case allInside:
		t.decided = verdict.Pass
	}
	return allBeyond || allInside
}

// unpaired is the exact rank-sum test of the current runs against what the
// budget allows for each reference run: for a pure ratio it is the test of a
// shift by log(1 + budget) on the log scale, and works for amounts as well.
func (t *test) unpaired(tables *stats.Tables) {
	c := t.contrast
	allowed := t.allowed(c.x, 0)
	in, err := tables.RankSum(c.y, allowed)
	if err != nil {
		return
	}
	out := in
	if t.extra > 0 {
		if out, err = tables.RankSum(c.y, t.allowed(c.x, t.extra)); err != nil {
			return
		}
	}
	half := float64(len(c.x)*len(c.y)) / 2
	t.hasP = true
	t.minP = stats.MinPRankSum(len(c.x), len(c.y))
	if t.dir > 0 {
		t.pFail, t.pPass, t.beyond = out.PGreater, in.PLess, in.U > half
	} else {
		t.pFail, t.pPass, t.beyond = out.PLess, in.PGreater, in.U < half
	}
}

func (t *test) allowed(x []float64, extra float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = t.budget.Allowed(v, t.dir, extra)
	}
	return out
}

// paired is the exact signed-rank test of the blocks' differences to what the
// budget allows, on the log scale where everything is positive.
func (t *test) paired(tables *stats.Tables) {
	c := t.contrast
	d := make([]float64, len(c.pairs))
	onLogs := true
	for i, p := range c.pairs {
		a := t.budget.Allowed(p[0], t.dir, t.extra)
		onLogs = onLogs && a > 0 && p[1] > 0
		d[i] = t.dir * (p[1] - a)
	}
	if onLogs {
		for i, p := range c.pairs {
			d[i] = t.dir * (math.Log(p[1]) - math.Log(t.budget.Allowed(p[0], t.dir, t.extra)))
		}
	}
	r, err := tables.SignedRank(d)
	if err != nil {
		return
	}
	t.hasP, t.minP = true, stats.MinPSignedRank(len(d))
	t.pFail, t.pPass = r.PGreater, r.PLess
	if b, err := tables.Paired(d, 0.5); err == nil {
		t.beyond = b.Estimate > 0
	}
}

// bySessions holds the new session against the prediction interval of the
// stored ones: mean of log medians, spread pooled over cells.
func (t *test) bySessions() {
	c := t.contrast
	reference := math.Exp(c.logReference)
	allowed := t.budget.Allowed(reference, t.dir, 0)
	if allowed <= 0 { // a fall by 100 % or more is allowed: nothing can be beyond
		t.decided, t.reason = verdict.Pass, "allows_everything"
		return
	}
	limit := math.Log(allowed) - c.logReference
	excess := t.dir * (c.logCurrent - c.logReference - limit)
	p, err := stats.PredictionP(excess, 0, c.spread.s, c.spread.df, c.sessions, c.currentSessions)
	if err != nil {
		return
	}
	t.hasP, t.minP = true, 0
	t.pFail, t.pPass, t.beyond = p, 1-p, excess > 0
}
