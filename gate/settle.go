package gate

import (
	"math"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Reasons of a finding that more than one place speaks of.
const (
	reasonLargeJump  = "large_jump"
	reasonTooFewRuns = "too_few_runs"
)

// largeChange is from where on a change is looked at before it is believed:
// 50 % in either direction.
const largeChange = 0.5

// settle makes findings of all tests.
func (e *evaluation) settle() {
	parallel(len(e.tests), func(i int) { e.decide(&e.tests[i]) })
}

// decide fills one finding from its test.
func (e *evaluation) decide(t *test) {
	f := &e.out.Findings[t.finding]
	cmp := &e.out.Comparisons[*f.Comparison]
	f.Allowance = t.extra
	f.N = cmp.N[0]
	if a := t.budget.Allowed(cmp.Reference, t.dir, 0); !math.IsNaN(a) && !math.IsInf(a, 0) {
		f.Allowed = &a
	}
	if t.reason != "" {
		f.Reasons = append(f.Reasons, t.reason)
	}
	switch {
	case t.decided != "":
		f.Outcome = t.decided
	case !t.hasP:
		f.Outcome = verdict.NoData
	default:
		e.decideByP(t, f, cmp)
	}
	e.lookTwice(t, f, cmp)
	if f.Outcome == verdict.Inconclusive {
		f.Grade = verdict.Unproven
		if t.beyond {
			f.Grade = verdict.Suspect
		}
		e.advise(t, f)
	}
	if t.decided == "" && t.hasP {
		f.SmallestEffect = e.smallestEffect(t, cmp)
	}
	f.Message = e.relativeMessage(t, f, cmp)
}

func (e *evaluation) decideByP(t *test, f *verdict.Finding, cmp *verdict.Comparison) {
	p, adjusted := t.pFail, t.adjusted
	f.P, f.PAdjusted, f.Level = &p, &adjusted, e.level
	if b := towards(t.dir, cmp.RatioInterval); b != nil {
		f.Bound = b
	}
	switch {
	case t.byMachine:
		f.Outcome = verdict.Inconclusive
		f.Reasons = append(f.Reasons, t.machine.reason())
	case t.decision == stats.Failed:
		f.Outcome = verdict.Fail
	case t.decision == stats.Passed:
		f.Outcome = verdict.Pass
	case e.lostToInvalid(t, cmp.Cell, f.Look):
		f.Outcome = verdict.Invalid
		f.Reasons = append(f.Reasons, reasonTooFewValid)
	default:
		f.Outcome = verdict.Inconclusive
		if t.beyond && !stats.Reaches(t.minP*float64(max(1, e.out.Policy.Family)), e.level) {
			f.Reasons = append(f.Reasons, reasonTooFewRuns)
		}
	}
}

// towards is the one-sided bound that a fail rests on: the lower end where
// larger is worse.
func towards(dir float64, interval *[2]float64) *float64 {
	if interval == nil {
		return nil
	}
	b := interval[0]
	if dir < 0 {
		b = interval[1]
	}
	return &b
}

// lookTwice marks changes that are too large to be believed at once: a fail
// stays one and says so; an improvement is suspicious (C09: a build that does
// nothing is very fast). Changes below the budget's own floor are too small to
// matter, however large as a ratio.
func (e *evaluation) lookTwice(t *test, f *verdict.Finding, cmp *verdict.Comparison) {
	if cmp.Ratio == nil {
		return
	}
	effect := t.dir * (*cmp.Ratio - 1)
	floor := max(t.budget.MinDelta, t.budget.Amount)
	if math.Abs(cmp.Shift) <= floor {
		return
	}
	switch {
	case f.Outcome == verdict.Fail && effect > largeChange:
		f.Reasons = append(f.Reasons, reasonLargeJump)
	case f.Outcome == verdict.Pass && effect < -largeChange && !strings.HasPrefix(t.contrast.against, budget.AgainstVariant) && t.budget.Kind == budget.MaxRegression:
		f.Outcome = verdict.Suspicious
		f.Reasons = append(f.Reasons, reasonLargeJump)
	}
}

// advise says what would settle an undecided finding.
func (e *evaluation) advise(t *test, f *verdict.Finding) {
	c := t.contrast
	need := e.need()
	s := verdict.Settle{}
	switch {
	case t.byMachine: // more of this session are more of the same machine
	case c.design == verdict.Paired:
		s.Repeats = repeatsFor(c.deviation(), t.distance(), e.level, len(c.pairs), stats.RepeatsPaired, stats.SmallestNPaired(need))
	case c.design == verdict.Sessions:
		if c.measured != nil {
			s.Sessions = e.moreSessions(c)
		}
	default:
		s.Sessions = e.moreSessions(c)
		// What lies between budget and allowance stays there, however often it is
		// repeated.
		if t.beyond == t.beyondExtra {
			s.Repeats = repeatsFor(c.deviation(), t.distance(), e.level, len(c.y), stats.RepeatsUnpaired, stats.SmallestNUnpaired(need))
		}
	}
	// No test is needed of a counted metric with two runs a side; repeats do not add to
	// what is stored.
	if c.class == result.Counted && len(c.y) < countedRuns && (c.design == verdict.Paired || len(c.x) >= countedRuns) && t.clear() != "" {
		s.Repeats = countedRuns
	}
	s.Base = c.against == budget.AgainstBaseline && f.Grade == verdict.Suspect
	if s != (verdict.Settle{}) {
		f.Settle = &s
	}
}

// moreSessions is how many stored sessions are enough, 0 where there are so many.
func (e *evaluation) moreSessions(c *contrast) int {
	if c.sessions < e.in.Policy.MinSessions {
		return e.in.Policy.MinSessions
	}
	return 0
}

// need is the error rate that one test of the family may have before correction.
func (e *evaluation) need() float64 { return e.level / float64(max(1, e.out.Policy.Family)) }

// smallestEffect is the change that a test would have called a fail with
// probability 0.9, whatever it found now; nil where the runs cannot see any.
func (e *evaluation) smallestEffect(t *test, cmp *verdict.Comparison) *float64 {
	c := t.contrast
	shift, ok := 0.0, false
	switch c.design {
	case verdict.Paired:
		shift, ok = stats.SmallestShiftPaired(c.deviation(), len(c.pairs), e.need())
	case verdict.Sessions:
		shift, ok = e.tables.SmallestShiftSessions(c.spread.sd, c.spread.df, c.sessions, c.currentSessions, e.need())
	case verdict.Unpaired:
		shift, ok = stats.SmallestShift(c.deviation(), len(c.x), len(c.y), e.need())
	}
	if !ok {
		return nil
	}
	// The budget at this reference as a fraction: amounts and floors included.
	allowed := math.Abs(t.budget.Allowed(cmp.Reference, t.dir, t.extra)/cmp.Reference - 1)
	effect := stats.IncreaseBeyond
	if t.dir < 0 {
		effect = stats.DecreaseBeyond
	}
	if x, ok := effect(allowed, shift); ok && finite(allowed) {
		return &x
	}
	return nil
}

// mostAdvised: more repeats than that are no advice. What they would settle lies on the
// budget to within a fraction of a percent.
const mostAdvised = 1000

// repeatsFor is how many repeats would decide; 0 when more would not help.
func repeatsFor(sd, distance, level float64, have int, rule func(sd, delta, level float64) (int, bool), smallest int) int {
	n, ok := rule(sd, distance, level)
	if !ok {
		return 0
	}
	n = max(n, smallest)
	if n <= have {
		n = have + max(1, have/2) // the rule is an average: some more
	}
	if n > mostAdvised {
		return 0
	}
	return n
}

// distance is how far the estimate is from the limit that it is to be shown
// beyond or inside of, on the log scale. The allowance is only in the way of a fail.
func (t *test) distance() float64 {
	c := t.contrast
	x, y := median(c.x), median(c.y)
	extra := t.extra
	if !t.beyond {
		extra = 0
	}
	allowed := t.budget.Allowed(x, t.dir, extra)
	if y <= 0 || allowed <= 0 {
		return math.NaN()
	}
	return math.Abs(math.Log(y) - math.Log(allowed))
}

// deviation is the standard deviation that the design's planning rule needs: of
// the blocks' log ratios, or of the logs within both sides.
func (c *contrast) deviation() float64 {
	if c.design == verdict.Paired {
		d := make([]float64, 0, len(c.pairs))
		for _, p := range c.pairs {
			if p[0] <= 0 || p[1] <= 0 {
				return math.NaN()
			}
			d = append(d, math.Log(p[1]/p[0]))
		}
		sd, err := stats.StdDev(d)
		if err != nil {
			return math.NaN()
		}
		return sd
	}
	if !allPositive(c.x) || !allPositive(c.y) {
		return math.NaN()
	}
	sd, _, err := stats.PooledSpread([][]float64{logs(c.x), logs(c.y)})
	if err != nil {
		return math.NaN()
	}
	return sd
}
