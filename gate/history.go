package gate

import (
	"math"
	"slices"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// acceptedCut says that a level was left on purpose: of the columns that its entry is
// about, sessions that started before at are not compared with any more.
type acceptedCut struct {
	*budget.Exception
	at time.Time
}

func (c *acceptedCut) about(cell *result.Cell, col *result.Column) bool {
	t := budget.Target{Name: cell.Name, Benchmark: cell.Benchmark, Variant: cell.Variant, Input: cell.Input}
	return c.Selects(t) && c.Covers(col.Metric, col.Part)
}

// acceptedCuts are the accepted changes that stored sessions, or the anchor's, are on
// both sides of: the newest were measured by a suite file that had the entry, older
// ones were not. One that has expired left its level all the same.
func acceptedCuts(in *Input) []acceptedCut {
	if in.Baseline == nil {
		return nil
	}
	entries, sessions := in.Accepted, in.Baseline.Sessions
	if in.Base != nil {
		entries = slices.Concat(entries, in.Base.Accepted)
	}
	if a := in.Baseline.Anchor; a != nil {
		sessions = slices.Concat(sessions, a.Sessions)
	}
	var out []acceptedCut
	for i := range entries {
		key, n := entries[i].Key(), 0
		for n < len(sessions) && slices.Contains(sessions[n].Doc.Suite.Accepted, key) {
			n++
		}
		if n > 0 && n < len(sessions) {
			out = append(out, acceptedCut{&entries[i], sessions[n-1].Session().StartedAt})
		}
	}
	return out
}

// Bounds of what counts as a step between stored sessions, and as an odd one.
const (
	// oddScales is how many times the usual difference between sessions makes one
	// of them odd. The usual difference is a guess from few sessions, so it is more
	// of them the fewer there are: 12.5 with five, 8.3 with ten.
	oddScales, oddGuess = 5, 6
	// oddFloor: below 5 % no session is odd, however much the others agree.
	oddFloor = 0.05
	// A step is worth a penalty of that many bounds: two sessions are a new level
	// when both are beyond three quarters of the bound, one alone never is.
	stepBounds = 1.5
	// leastLevel is how many sessions make a level. One session does not move a
	// reference, for better or worse (V16).
	leastLevel = 2
	// fewSessions: of so many, the distances to their median are looked at as well.
	// Four differences are too few to say that a session is odd, and of five
	// sessions no two can hide in their median.
	fewSessions = 5
	// leastHistory is from how many on one of them can be called odd.
	leastHistory = 3
)

// siftedSessions is what is left of a column's stored sessions at a usual difference
// between them.
type siftedSessions struct {
	scale   float64
	sample  sample
	history history
}

// sift leaves out of each column's stored sessions what is not of the level that
// they have now: those before a step, and single odd ones (those before an accepted
// cut are out already). What it left out is told once, of the look that counts: see
// tellHistory. The columns that have numbers at a look make the usual difference:
// where that is what it was at the look before, so is what is left.
func (r *replay) sift(now []job) {
	for _, group := range byMetric(now, siftable) {
		scale := usualDifference(now, group)
		parallel(len(group), func(k int) {
			i := group[k]
			if was := r.sifted[i]; was == nil || was.scale != scale {
				now[i].sift(scale)
				r.sifted[i] = &siftedSessions{scale, now[i].sample, now[i].history}
			}
			now[i].sample, now[i].history = r.sifted[i].sample, r.sifted[i].history
		})
	}
}

// siftable: exact metrics are compared with the newest session alone, and what has
// no logarithm has no levels.
func siftable(j *job) bool {
	return j.against == budget.AgainstBaseline && j.current != nil && j.class != result.Exact && allPositive(j.sample.values)
}

// cutAccepted drops the sessions before the newest cut of a column. Those of another
// definition are not in its sample to begin with.
func (e *evaluation) cutAccepted(j *job) {
	if s := &j.sample; s.redefined > 0 {
		j.history.cuts = append(j.history.cuts, cut{kind: verdict.CutDefinition, why: s.redefinition, first: s.numbers[len(s.numbers)-1], left: s.redefined})
	}
	var newest *acceptedCut
	for i := range e.cuts {
		c := &e.cuts[i]
		if c.about(e.views[j.cell].cell, j.column) && (newest == nil || c.at.After(newest.at)) {
			newest = c
		}
	}
	if newest == nil {
		return
	}
	s := &j.sample
	n := 0 // sessions after it: the newest come first
	for n < len(s.numbers) && !e.storedSession(s.numbers[n]).StartedAt.Before(newest.at) {
		n++
	}
	if n == 0 || n == len(s.numbers) {
		return
	}
	j.history.cuts = append(j.history.cuts, cut{kind: verdict.CutAccepted, why: "accepted: " + newest.Reason, first: s.numbers[n-1], left: len(s.numbers) - n,
		ratio: medianRatio(s, 0, n, len(s.ends))})
	s.keep(func(i int) bool { return i < n })
}

func (e *evaluation) storedSession(number int) *result.Session {
	return e.in.Baseline.Sessions[number].Session()
}

// medianRatio is the median of the log medians of sessions [a, b) over that of
// [b, c), as a factor; 0 where it cannot be told.
func medianRatio(s *sample, a, b, c int) float64 {
	if !allPositive(s.values) {
		return 0
	}
	l := s.logs()
	return math.Exp(median(l[a:b]) - median(l[b:c]))
}

// history is what was not used of a column's stored sessions.
type history struct {
	cuts []cut
	odd  []oddSession
	// alone is the median of the newest session where it is odd, else nil: it may be
	// the first of a new level.
	alone *float64
}

type cut struct {
	kind, why string
	first     int     // number of the first session of the level that is used
	left      int     // sessions before it that are not
	ratio     float64 // level / the one before; 0: unknown
}

type oddSession struct {
	number int
	ratio  float64 // to the others of its level
}

// usualDifference is the usual difference between two sessions that follow each
// other, as a standard deviation of one: by the median, over all columns of a
// metric, so that neither a step nor an odd session counts.
func usualDifference(jobs []job, group []int) float64 {
	var d []float64
	for _, i := range group {
		d = append(d, differences(jobs[i].sample.logs())...)
	}
	return scaleOf(d)
}

func differences(logs []float64) []float64 {
	if len(logs) < 2 {
		return nil
	}
	out := make([]float64, len(logs)-1)
	for i := range out {
		out[i] = math.Abs(logs[i+1] - logs[i])
	}
	return out
}

// scaleOf takes the lower median: of two differences one may be a step's.
func scaleOf(differences []float64) float64 {
	if len(differences) == 0 {
		return 0
	}
	slices.Sort(differences)
	const normal = 1.4826 / math.Sqrt2
	return normal * differences[(len(differences)-1)/2]
}

// sift finds the level that a column's sessions have now.
func (j *job) sift(scale float64) {
	s := &j.sample
	if len(s.ends) < leastHistory {
		return
	}
	series := s.logs()
	slices.Reverse(series) // in the order of time
	scale = max(scale, scaleOf(differences(series)))
	if len(series) <= fewSessions {
		if _, mad, err := stats.MAD(series); err == nil {
			scale = max(scale, mad)
		}
	}
	bound := max(oddScales*(1+oddGuess/float64(len(series)-1))*scale, math.Log1p(oddFloor))
	at, err := stats.Segments(series, leastLevel, stepBounds*bound)
	if err != nil {
		return
	}
	from, before := lastTwo(at)
	odd := oddOnes(series[from:], bound)
	if k := smallStep(series[from:], odd); k > 0 {
		from, before = from+k, from
		odd = oddOnes(series[from:], bound)
	}
	number := func(i int) int { return s.numbers[len(series)-1-i] }
	if from > 0 {
		j.history.cuts = append(slices.Clip(j.history.cuts), cut{kind: verdict.CutStep, first: number(from), left: from,
			ratio: math.Exp(median(series[from:]) - median(series[before:from]))})
	}
	for i, d := range odd {
		if d != 0 {
			j.history.odd = append(j.history.odd, oddSession{number(from + i), math.Exp(d)})
		}
	}
	last := len(odd) - 1
	if odd[last] != 0 {
		m := median(s.session(0))
		j.history.alone = &m
	}
	s.keep(func(i int) bool { return i <= last && odd[last-i] == 0 })
}

// lastTwo is where the last level begins, and where the one before it.
func lastTwo(at []int) (last, before int) {
	if n := len(at); n > 0 {
		last = at[n-1]
		if n > 1 {
			before = at[n-2]
		}
	}
	return last, before
}

// smallStep finds where in a level, odd values left out, the last step is that only
// many sessions together show; 0 where there is none. A false one is found in a
// hundredth of the columns, and costs sessions: so much is left that their spread
// is known.
func smallStep(level, odd []float64) int {
	rule := stats.DefaultChangeRule()
	usual, places := make([]float64, 0, len(level)), make([]int, 0, len(level))
	for i, v := range level {
		if odd[i] == 0 {
			usual, places = append(usual, v), append(places, i)
		}
	}
	if len(usual) < 2*rule.LeastSegment || slices.Max(usual)-slices.Min(usual) < rule.Floor {
		return 0
	}
	points, err := stats.ChangePoints(usual, rule)
	if err != nil || len(points) == 0 {
		return 0
	}
	return places[points[len(points)-1].At]
}

// oddOnes gives for each value how far it is from the others where that is beyond
// the bound, else 0. They are never more than half: then nothing is odd.
func oddOnes(level []float64, bound float64) []float64 {
	out := make([]float64, len(level))
	if len(level) < leastHistory {
		return out
	}
	n := 0
	others := make([]float64, 0, len(level))
	for i, v := range level {
		others = append(append(others[:0], level[:i]...), level[i+1:]...)
		if d := v - median(others); math.Abs(d) > bound {
			out[i] = d
			n++
		}
	}
	if 2*n >= len(level) {
		clear(out)
	}
	return out
}

// logs are the log medians of the sessions, the newest first.
func (s *sample) logs() []float64 {
	out := make([]float64, len(s.ends))
	for i := range out {
		out[i] = math.Log(median(s.session(i)))
	}
	return out
}

// keep drops the sessions that are not wanted.
func (s *sample) keep(wanted func(i int) bool) {
	all := true
	for i := range s.ends {
		all = all && wanted(i)
	}
	if all {
		return
	}
	values, ends, numbers := make([]float64, 0, len(s.values)), s.ends[:0:0], s.numbers[:0:0]
	for i := range s.ends {
		if wanted(i) {
			values = append(values, s.session(i)...)
			ends, numbers = append(ends, len(values)), append(numbers, s.numbers[i])
		}
	}
	s.values, s.ends, s.numbers = values, ends, numbers
}

// tellHistory puts what was not used into the document.
func (e *evaluation) tellHistory(j *job) {
	if j.current == nil {
		return
	}
	b := e.out.Baseline
	for _, c := range j.history.cuts {
		e.out.Counts.Cuts++
		if len(b.Cuts) < verdict.MaxCuts {
			b.Cuts = append(b.Cuts, verdict.Cut{Cell: j.cell, Metric: j.column.Metric, Phase: j.column.Phase, Part: j.column.Part,
				Kind: c.kind, Why: c.why, Session: e.storedSession(c.first).ID, Left: c.left, Ratio: c.ratio})
		}
	}
	for _, o := range j.history.odd {
		e.out.Counts.Odd++
		if len(b.Odd) < verdict.MaxCuts {
			b.Odd = append(b.Odd, verdict.Odd{Cell: j.cell, Metric: j.column.Metric, Phase: j.column.Phase, Part: j.column.Part,
				Session: e.storedSession(o.number).ID, Ratio: o.ratio})
		}
	}
}

// Reason of a finding that the newest stored session speaks for and the others
// against.
const reasonNewestAlone = "newest_session_alone"

// waitForNewest takes the fail from a finding that is inside the budget of the
// newest stored session, where that one is left out for being alone: it may be odd,
// or the first of a new level that this change did not make. The next session tells.
func (t *test) waitForNewest() {
	c := t.contrast
	if c.alone == nil || t.worse(median(c.y), t.allowed(*c.alone, t.extra)) {
		return
	}
	switch {
	case t.decided == verdict.Fail:
		t.decided, t.hasP, t.pPass = "", true, 1
	case !t.hasP || !t.beyond:
		return
	}
	t.pFail, t.minP, t.reason = 1, 0, reasonNewestAlone
}
