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
	finding  int // index into the verdict's findings, once it is there
	contrast *contrast
	budget   *budget.Budget
	dir      float64 // +1: larger is worse
	extra    float64 // session allowance; design unpaired only
	// decided is set when the rule needs no error rate: exact values, a zero
	// reference.
	decided verdict.Outcome
	reason  string
	// pFail is the p of "not worse than the budget and its allowance", pPass of
	// "not better than the budget".
	pFail, pPass float64
	hasP         bool
	// decision is what the looks came to, adjusted pFail as they corrected it.
	decision stats.Decision
	adjusted float64
	// machine is what the control cell says; nil: nothing. byMachine is set when the
	// decision does not hold without what the machine moved.
	machine     *machineShift
	byMachine   bool
	beyond      bool // the estimate is beyond the budget (without the allowance)
	beyondExtra bool // and beyond budget and allowance together
	// minP is the least pFail that the counts can give.
	minP float64
	// fromZero is set when some runs are worse than a reference of zero: then the
	// estimate counts as beyond, since no share of zero allows it.
	fromZero bool
}

// run computes the test.
func (t *test) run(tables *stats.Tables) {
	c := t.contrast
	t.pFail, t.pPass, t.minP = 1, 1, 1
	switch {
	case t.dir == 0:
		t.decided, t.reason = verdict.NotComparable, reasonNoDirection
	case c.design == verdict.Paired && len(c.pairs) == 0:
		t.decided, t.reason = verdict.NoData, "no block has both sides"
	case c.design == verdict.ExactEq:
		t.exact()
	case t.zeroReference():
	case c.class == result.Counted && t.counted():
	case c.design == verdict.Sessions:
		t.bySessions()
	case c.design == verdict.Paired:
		t.paired(tables)
	default:
		t.unpaired(tables)
	}
	t.waitForNewest()
	if t.hasP && !(finite(t.pFail) && finite(t.pPass)) {
		t.hasP = false
	}
}

// Reasons for which a relative budget cannot be judged.
const (
	reasonNoDirection   = "no_direction"
	reasonZeroReference = "zero_reference"
)

// grain rounds a value to 40 bits. A value that meets what is allowed exactly is
// inside: 100 B + 7 % is 107 B, whatever 0.07 is as a double.
func grain(v float64) float64 {
	const drop, leastNormal = 52 - 40, 0x1p-1022
	r := math.Float64frombits((math.Float64bits(v) + 1<<(drop-1)) &^ (1<<drop - 1))
	if !finite(r) || math.Abs(v) < leastNormal {
		return v
	}
	return r
}

// allowed is the worst value that the budget lets pass for a reference value, as
// it is compared: see grain.
func (t *test) allowed(x, extra float64) float64 { return grain(t.budget.Allowed(x, t.dir, extra)) }

// worse reports whether y is beyond a value that is allowed.
func (t *test) worse(y, allowed float64) bool { return t.dir*(grain(y)-allowed) > 0 }

// exact needs no test: any change is a change, and the budget says how much of
// it is allowed.
func (t *test) exact() {
	x, y := t.contrast.x[0], t.contrast.y[0]
	t.beyond = t.worse(y, t.allowed(x, 0))
	switch {
	case t.beyond:
		t.decided = verdict.Fail
	case y != x && t.contrast.samePrograms:
		t.decided, t.reason = verdict.Suspicious, reasonUnexplained
	default:
		t.decided = verdict.Pass
	}
}

// reasonUnexplained: an exact metric changed although the programs are the same.
const reasonUnexplained = "changed_without_reason"

// zeroReference handles references of zero under a budget that is only a
// fraction: nothing can be judged relatively then (C06, C34, V26). From zero to
// zero nothing changed; worse from zero fails; better is not comparable. Where
// some runs are worse and some are not, the ranks decide.
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
	case worse == 0:
		t.decided, t.reason = verdict.NotComparable, reasonZeroReference
	default:
		t.reason, t.fromZero = reasonZeroReference, true
		return false
	}
	return true
}

// countedFloor is the least relative change of a counted metric that is taken
// for one: instruction counts move by some 0.2 % without reason
// (Nethercote on rustc's instruction counts).
const countedFloor = 0.002

// countedRuns is how many runs a side decide a counted metric; one has no second
// that would tell a count from chance.
const countedRuns = 2

// counted decides nearly exact metrics without a rank test where both sides are
// clearly apart, or clearly inside.
func (t *test) counted() bool {
	if t.singleRun() {
		return false
	}
	switch outcome := t.clear(); outcome {
	case verdict.Fail:
		t.decided, t.beyond = outcome, true
	case verdict.Pass:
		t.decided = outcome
	}
	return t.decided != ""
}

// singleRun reports whether a side has too few runs for counted.
func (t *test) singleRun() bool {
	return min(len(t.contrast.x), len(t.contrast.y)) < countedRuns
}

// clear is what all runs of both sides say alike, whatever their number: fail, pass
// or "".
func (t *test) clear() verdict.Outcome {
	c := t.contrast
	allBeyond, allInside := true, true
	for _, x := range c.x {
		limit, inside := t.allowed(x, t.extra+countedFloor), t.allowed(x, 0)
		for _, y := range c.y {
			allBeyond = allBeyond && t.worse(y, limit)
			allInside = allInside && !t.worse(y, inside)
		}
	}
	switch {
	case allBeyond:
		return verdict.Fail
	case allInside:
		return verdict.Pass
	}
	return ""
}

// unpaired is the exact rank-sum test of the current runs against what the
// budget allows for each reference run: for a pure ratio it is the test of a
// shift by log(1 + budget) on the log scale, and works for amounts as well.
func (t *test) unpaired(tables *stats.Tables) {
	c := t.contrast
	y := make([]float64, len(c.y))
	for i, v := range c.y {
		y[i] = grain(v)
	}
	in, err := tables.RankSum(y, t.allowedAll(c.x, 0))
	if err != nil {
		return
	}
	out := in
	if t.extra > 0 {
		if out, err = tables.RankSum(y, t.allowedAll(c.x, t.extra)); err != nil {
			return
		}
	}
	half := float64(len(c.x)*len(c.y)) / 2
	t.hasP = true
	t.minP = stats.MinPRankSum(len(c.x), len(c.y))
	if t.dir > 0 {
		t.pFail, t.pPass = out.PGreater, in.PLess
	} else {
		t.pFail, t.pPass = out.PLess, in.PGreater
	}
	t.beyond = t.dir*(in.U-half) > 0 || t.fromZero
	t.beyondExtra = t.dir*(out.U-half) > 0 || t.fromZero
}

func (t *test) allowedAll(x []float64, extra float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = t.allowed(v, extra)
	}
	return out
}

// paired is the exact signed-rank test of the blocks' differences to what the
// budget allows, on the log scale where everything is positive.
func (t *test) paired(tables *stats.Tables) {
	c := t.contrast
	allowed, y := make([]float64, len(c.pairs)), make([]float64, len(c.pairs))
	for i, p := range c.pairs {
		allowed[i], y[i] = t.allowed(p[0], 0), grain(p[1])
	}
	d := make([]float64, len(c.pairs))
	onLogs := allPositive(allowed) && allPositive(y)
	for i := range d {
		if onLogs {
			d[i] = t.dir * (math.Log(y[i]) - math.Log(allowed[i]))
		} else {
			d[i] = t.dir * (y[i] - allowed[i])
		}
	}
	r, err := tables.SignedRank(d)
	if err != nil {
		return
	}
	t.hasP, t.minP = true, stats.MinPSignedRank(len(d))
	t.pFail, t.pPass, t.beyond = r.PGreater, r.PLess, t.fromZero
	if b, err := tables.Paired(d, 0.5); err == nil && b.Estimate > 0 {
		t.beyond = true
	}
	t.beyondExtra = t.beyond
}

// bySessions holds the new session against the prediction interval of the
// stored ones: mean of log medians, spread pooled over cells.
func (t *test) bySessions() {
	c := t.contrast
	allowed := t.budget.Allowed(exp(c.logReference), t.dir, 0)
	if allowed <= 0 { // a fall by 100 % or more is allowed: nothing can be beyond
		t.decided, t.reason = verdict.Pass, "allows_everything"
		return
	}
	limit := math.Log(allowed) - c.logReference
	excess := t.dir * (c.logCurrent - c.logReference - limit)
	p, err := stats.PredictionP(excess, 0, c.spread.sd, c.spread.df, c.sessions, c.currentSessions)
	if err != nil {
		return
	}
	t.hasP, t.minP = true, 0
	t.pFail, t.pPass, t.beyond, t.beyondExtra = p, 1-p, excess > 0, excess > 0
}
