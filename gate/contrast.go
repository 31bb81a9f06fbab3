package gate

import (
	"math"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Doubts of a comparison.
const (
	doubtUnequalSpread  = "unequal_spread"  // MADs differ by more than twice
	doubtDemoted        = "not_exact"       // an exact metric that varied within one side
	doubtFewSessions    = "few_sessions"    // fewer stored sessions than the spread needs
	doubtSingleRun      = "single_run"      // one run a side: no spread is known
	doubtBlocksDropped  = "blocks_dropped"  // blocks in which one side is missing
	doubtSessionsDiffer = "sessions_differ" // an exact metric that differs between stored sessions
	doubtWithinProcess  = "within_process"  // one process repeated: advisory
	doubtPoolCut        = "pool_cut"        // sessions before a step are left out
	doubtOddSession     = "odd_session"     // a stored session unlike the others is left out
	doubtUniform        = "uniform_shift"   // nearly every cell moved by about as much
	doubtSoftFacts      = "soft_facts"      // the machine differs in soft facts from a stored session's
)

// contrast is two sets of measurements of one metric held against each other,
// before any budget: what was measured, and which exact rule applies.
type contrast struct {
	def      result.Metric
	against  string
	design   string
	x, y     []float64    // reference (pooled over sessions) and current, clean runs
	pairs    [][2]float64 // reference, current by block; design paired
	sessions int          // stored sessions behind x
	// Design sessions: mean of the log medians of the stored sessions, log
	// median of the current one(s), and how many current ones there are.
	logReference, logCurrent float64
	currentSessions          int
	stored                   storedSessions
	spread                   *spread // filled once all cells of the metric are known
	// measured is the spread that a self-test found, where the stored sessions are
	// too few to tell.
	measured *stats.SessionSpread
	// alone is the median of the newest stored session where it is left out for
	// being unlike the others.
	alone *float64
	// class is the metric's, or noisy where an exact metric varied.
	class        result.Class
	samePrograms bool
	doubts       []string
}

// newContrast chooses the design. Exact values are compared as they are; a
// variant of the same session by blocks; stored sessions by their spread where
// there are enough of them, else run by run.
//
// measured is asked what is known of that spread from elsewhere (nil: nothing), where
// there are too few and the metric is one that varies: of one that should not and
// does nothing was known beforehand.
func newContrast(def result.Metric, against string, s *sample, cur []point, minSessions int, measured func() *stats.SessionSpread) *contrast {
	c := &contrast{def: def, against: against, samePrograms: s.samePrograms, class: def.Class, y: make([]float64, len(cur))}
	for i, p := range cur {
		c.y[i] = p.value
	}
	if against != budget.AgainstBaseline {
		c.pairWith(s.variant, cur)
	} else {
		c.x, c.sessions, c.design = s.values, len(s.ends), verdict.Unpaired
	}
	if s.soft {
		c.doubts = append(c.doubts, doubtSoftFacts)
	}
	if def.Class == result.Exact && c.asExact(s) {
		return c
	}
	if c.design == verdict.Unpaired {
		switch {
		case c.sessions >= minSessions:
			c.bySessions(s, cur)
		case c.class == result.Noisy || c.class == result.Tail:
			c.doubts = append(c.doubts, doubtFewSessions)
			if def.Class != result.Exact {
				c.measured = measured()
			}
			if c.measured != nil {
				c.bySessions(s, cur)
			}
		}
	}
	if min(len(c.x), len(c.y)) == 1 {
		c.doubts = append(c.doubts, doubtSingleRun)
	}
	if c.design == verdict.Unpaired && c.unequalSpread() {
		c.doubts = append(c.doubts, doubtUnequalSpread)
	}
	return c
}

// noteHistory says which stored sessions are not behind the reference.
func (c *contrast) noteHistory(h *history) {
	c.alone = h.alone
	if len(h.cuts) > 0 {
		c.doubts = append(c.doubts, doubtPoolCut)
	}
	if len(h.odd) > 0 {
		c.doubts = append(c.doubts, doubtOddSession)
	}
}

// pairWith joins both sides by session and block. A block in which one side is
// missing is dropped whole and counted as a doubt.
func (c *contrast) pairWith(reference, cur []point) {
	c.design = verdict.Paired
	type place struct{ session, block int }
	at := make(map[place]float64, len(reference))
	for _, p := range reference {
		at[place{p.session, p.block}] = p.value
		c.x = append(c.x, p.value)
	}
	for _, p := range cur {
		if v, ok := at[place{p.session, p.block}]; ok {
			c.pairs = append(c.pairs, [2]float64{v, p.value})
		}
	}
	if len(c.pairs) < len(reference) || len(c.pairs) < len(cur) {
		c.doubts = append(c.doubts, doubtBlocksDropped)
	}
}

// bySessions switches to session medians on the log scale, where all are positive.
func (c *contrast) bySessions(s *sample, cur []point) {
	if !allPositive(c.x) || !allPositive(c.y) {
		return
	}
	c.stored = newStoredSessions(s, c.y)
	var current []float64
	for from, i := 0, 1; i <= len(cur); i++ { // points come session by session
		if i == len(cur) || cur[i].session != cur[from].session {
			current = append(current, math.Log(median(c.y[from:i])))
			from = i
		}
	}
	c.design = verdict.Sessions
	c.logReference, c.logCurrent, c.currentSessions = mean(c.stored.logs), mean(current), len(current)
}

// asExact reports whether exact values can be compared as they are: each side is
// constant. A side that varies is not exact: it is judged like a noisy one, and
// said. Several stored sessions may rightly differ (each is of its own commit):
// the newest is the reference.
func (c *contrast) asExact(s *sample) bool {
	x := c.x
	if len(s.ends) > 1 {
		x = s.session(0)
		if !constant(c.x) {
			c.doubts = append(c.doubts, doubtSessionsDiffer)
		}
	}
	if !constant(x) || !constant(c.y) {
		c.doubts = append(c.doubts, doubtDemoted)
		c.class = result.Noisy
		return false
	}
	c.x, c.design = x, verdict.ExactEq
	return true
}

// document gives the comparison's numbers: medians, ratio, shift, intervals.
func (c *contrast) document(t *stats.Tables, level float64) verdict.Comparison {
	d := verdict.Comparison{Design: c.design, Against: c.against, Sessions: c.sessions, Doubts: c.doubts,
		N: [2]int{len(c.y), len(c.x)}}
	if c.design == verdict.Sessions {
		c.documentSessions(&d, t, level)
	} else {
		d.Current, d.Reference = median(c.y), median(c.x)
		d.Shift = d.Current - d.Reference
	}
	switch c.design {
	case verdict.Paired:
		c.documentPaired(&d, t, level)
	case verdict.Unpaired:
		c.documentUnpaired(&d, t, level)
	case verdict.ExactEq:
		d.Ratio = ratioOf(d.Current, d.Reference)
	}
	keepFinite(&d)
	return d
}

// keepFinite takes out what left the range of a double: a ratio of 1e308 to
// 1e-308 is no number that a document can hold.
func keepFinite(d *verdict.Comparison) {
	if d.Ratio != nil && !finite(*d.Ratio) {
		d.Ratio = nil
	}
	if i := d.RatioInterval; i != nil && !(finite(i[0]) && finite(i[1])) {
		d.RatioInterval = nil
	}
	if i := d.ShiftInterval; i != nil && !(finite(i[0]) && finite(i[1])) {
		d.ShiftInterval = nil
	}
	d.Shift = min(max(d.Shift, -math.MaxFloat64), math.MaxFloat64)
}

// exp is math.Exp held to the largest double: the log of that one may round up.
func exp(v float64) float64 { return min(math.Exp(v), math.MaxFloat64) }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (c *contrast) documentUnpaired(d *verdict.Comparison, t *stats.Tables, level float64) {
	shift, err := t.Unpaired(c.x, c.y, level)
	if err != nil {
		return
	}
	d.Shift = shift.Estimate
	if shift.OK {
		d.ShiftInterval = &[2]float64{shift.Lower, shift.Upper}
	}
	if !allPositive(c.x) || !allPositive(c.y) {
		return
	}
	ratio, err := t.Unpaired(logs(c.x), logs(c.y), level)
	if err != nil {
		return
	}
	setRatio(d, ratio)
}

func (c *contrast) documentPaired(d *verdict.Comparison, t *stats.Tables, level float64) {
	d.N = [2]int{len(c.pairs), len(c.pairs)}
	if len(c.pairs) == 0 {
		return
	}
	raw := make([]float64, len(c.pairs))
	rel := make([]float64, len(c.pairs))
	positive := true
	for i, p := range c.pairs {
		raw[i] = p[1] - p[0]
		positive = positive && p[0] > 0 && p[1] > 0
		rel[i] = math.Log(p[1]) - math.Log(p[0])
	}
	if shift, err := t.Paired(raw, level); err == nil {
		d.Shift = shift.Estimate
		if shift.OK {
			d.ShiftInterval = &[2]float64{shift.Lower, shift.Upper}
		}
	}
	if !positive {
		return
	}
	if ratio, err := t.Paired(rel, level); err == nil {
		setRatio(d, ratio)
	}
}

func (c *contrast) documentSessions(d *verdict.Comparison, t *stats.Tables, level float64) {
	d.Reference, d.Current = exp(c.logReference), exp(c.logCurrent)
	r := math.Exp(c.logCurrent - c.logReference)
	d.Ratio = &r
	d.Shift = d.Current - d.Reference
	lo, hi, err := t.PredictionBounds(c.logCurrent-c.logReference, c.spread.sd, c.spread.df, c.sessions, c.currentSessions, level)
	if err != nil {
		return
	}
	d.RatioInterval = &[2]float64{math.Exp(lo), math.Exp(hi)}
	d.ShiftInterval = &[2]float64{d.Reference * (math.Exp(lo) - 1), d.Reference * (math.Exp(hi) - 1)}
}

func setRatio(d *verdict.Comparison, b stats.Shift) {
	r := math.Exp(b.Estimate)
	d.Ratio = &r
	if b.OK {
		d.RatioInterval = &[2]float64{math.Exp(b.Lower), math.Exp(b.Upper)}
	}
}

func ratioOf(y, x float64) *float64 {
	if x <= 0 || y < 0 {
		return nil
	}
	r := y / x
	return &r
}

func median(x []float64) float64 {
	m, err := stats.Median(x)
	if err != nil {
		return math.NaN()
	}
	return m
}

func mean(x []float64) float64 {
	m, err := stats.Mean(x)
	if err != nil {
		return math.NaN()
	}
	return m
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}

func allPositive(x []float64) bool {
	for _, v := range x {
		if v <= 0 {
			return false
		}
	}
	return len(x) > 0
}

func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return len(x) > 0
}

// unequalSpread compares the spreads of both sides on the log scale, where a mere
// shift by a factor leaves them alone. What the metric cannot resolve is no spread.
func (c *contrast) unequalSpread() bool {
	x, y := c.x, c.y
	if len(x) < 5 || len(y) < 5 || max(spreadOf(x), spreadOf(y)) <= c.def.Step {
		return false
	}
	if allPositive(x) && allPositive(y) {
		x, y = logs(x), logs(y)
	}
	unequal, err := stats.UnequalSpread(x, y)
	return err == nil && unequal
}

func spreadOf(x []float64) float64 {
	mad, _, err := stats.MAD(x)
	if err != nil {
		return 0
	}
	return mad
}
