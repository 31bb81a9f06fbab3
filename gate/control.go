package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// The control cell is a fixed command that was run between the others, here and in
// stored sessions: how it moved is how the machine did (DESIGN rule 7). It can only
// take something back. What it says changes neither which runs are made nor what is
// decided at which look, and no comparison inside one session.

// controlFloor: below 3 % the machine's usual drift is not worth a word.
const controlFloor = 0.03

// controlCell is the control cell of this session, and of stored ones.
type controlCell struct {
	view   view // of this session's runs
	at     view // of those up to the look that is judged
	stored []storedCell
	// moved are the movements at the look that is judged, by what they are between.
	moved map[string]*movement
}

// movement is how one metric of the control cell differs from stored sessions.
type movement struct {
	metric string
	verdict.Comparison
	log float64 // of the ratio
	// slower and faster are proven at the level of a look, and more than the floor;
	// steady: the interval is inside of it.
	slower, faster, steady bool
}

// findControl looks for the control cell, where it has a say: the policy asks for
// it, and there are stored sessions that something is compared with.
func (e *evaluation) findControl(whole *result.Document) {
	if !e.in.Policy.Control || e.baseViews != nil || e.in.Baseline == nil || len(e.in.Baseline.Sessions) == 0 || e.refs.incomparable() != "" {
		return
	}
	e.out.Control = &verdict.Control{}
	at := slices.IndexFunc(whole.Cells, func(c result.Cell) bool { return c.Control })
	if at < 0 {
		e.out.Control.Why = controlAbsent(whole.Skipped)
		return
	}
	c := &controlCell{view: newView(&whole.Cells[at]), stored: e.refs.storedControl}
	c.stored = slices.DeleteFunc(slices.Clone(c.stored), func(s storedCell) bool { return s.view.cell.Digest != c.view.cell.Digest })
	switch {
	case len(c.view.clean) == 0:
		e.out.Control.Why = c.view.noneClean("it")
	case len(c.stored) == 0:
		e.out.Control.Why = "no stored session has the same control cell"
	default:
		e.control = c
	}
}

func controlAbsent(skipped []result.Skipped) string {
	for _, s := range skipped {
		if s.Name == result.ControlBenchmark {
			return s.Why
		}
	}
	return "this session has no control cell"
}

// see makes the control cell be of the runs up to a look.
func (c *controlCell) see(look int, all bool) {
	if c == nil {
		return
	}
	c.moved = map[string]*movement{}
	if c.at = c.view; !all {
		c.at = c.view.upTo(look)
	}
}

// hearControl asks of every comparison with stored sessions in which time counts how
// the control cell moved from the same stored sessions to the same current ones.
func (e *evaluation) hearControl(jobs []job) {
	if e.control == nil {
		return
	}
	for i := range jobs {
		j := &jobs[i]
		if j.contrast == nil || j.against != budget.AgainstBaseline {
			continue
		}
		if sense := senseOfTime(j.contrast.def); sense != 0 {
			j.machine, j.sense = e.movement(controlMetric(j.column.Metric), e.least(&j.history), j.sample.numbers, sessionsOf(j.current)), sense
		}
	}
}

// senseOfTime is +1 for a metric that is larger on a slower machine, -1 for a rate,
// which is smaller, and 0 for what the machine's speed does not move. Which of the
// two is better does not matter.
func senseOfTime(m result.Metric) float64 {
	if m.Class != result.Noisy && m.Class != result.Tail {
		return 0
	}
	per := m.Per == "s" || strings.HasSuffix(m.Unit, "/s")
	of := m.Unit == "s" || strings.HasPrefix(m.Unit, "s/")
	switch {
	case of && !per:
		return +1
	case per && !of:
		return -1
	}
	return 0
}

// controlMetric is the metric of the control cell that a metric is held against: CPU
// time against CPU time, all that a clock on the wall tells against wall time.
func controlMetric(name string) string {
	switch name {
	case result.CPUTime, result.UserTime, result.SystemTime:
		return result.CPUTime
	}
	return result.WallTime
}

// sessionsOf are the sessions that points come from, each once.
func sessionsOf(points []point) []int {
	var out []int
	for _, p := range points { // session by session
		if n := len(out); n == 0 || out[n-1] != p.session {
			out = append(out, p.session)
		}
	}
	return out
}

// movement compares the control cell as any cell is compared: by its own spread
// between sessions where those are enough or a self-test knows it, else by the ranks
// and with the session allowance. nil: there is nothing to compare.
func (e *evaluation) movement(metric string, least int, stored, current []int) *movement {
	key := fmt.Sprint(metric, least, stored, current)
	m, known := e.control.moved[key]
	if !known {
		m = e.newMovement(metric, least, func(s *sample) { s.keep(func(i int) bool { return slices.Contains(stored, s.numbers[i]) }) },
			func(p point) bool { return slices.Contains(current, p.session) })
		e.control.moved[key] = m
	}
	return m
}

// newMovement compares the stored sessions that narrow leaves with the current runs
// that are wanted.
func (e *evaluation) newMovement(metric string, least int, narrow func(*sample), wanted func(point) bool) *movement {
	col := e.control.at.column(metric, "", "")
	if col == nil {
		return nil
	}
	cur := slices.DeleteFunc(e.control.at.points(col), func(p point) bool { return !wanted(p) })
	s := e.refs.collect(e.control.view.cell.Digest, col, e.control.stored)
	if len(cur) == 0 || s.missing() {
		return nil
	}
	if narrow(&s); len(s.ends) == 0 {
		return nil
	}
	c := newContrast(e.in.Current.Metrics[metric], budget.AgainstBaseline, &s, cur, least, func() *stats.SessionSpread {
		return e.measured(e.control.view.cell, col, &s)
	})
	if c.design == verdict.Sessions {
		pool([]*contrast{c})
	}
	m := &movement{metric: metric, Comparison: c.document(e.tables, e.level)}
	if m.Ratio == nil || !(*m.Ratio > 0) {
		return nil
	}
	m.log = math.Log(*m.Ratio)
	floor := math.Log1p(controlFloor)
	m.slower = m.log > floor && e.movedTo(c, budget.MaxIncrease)
	m.faster = m.log < -floor && e.movedTo(c, budget.MaxDecrease)
	if i := m.RatioInterval; i != nil && c.design == verdict.Sessions {
		m.steady = math.Log(i[0]) > -floor && math.Log(i[1]) < floor
	}
	return m
}

// movedTo reports whether a contrast proves that there is a difference in one
// direction: the budget is 0.
func (e *evaluation) movedTo(c *contrast, kind budget.Kind) bool {
	b := budget.Budget{Kind: kind}
	t := test{contrast: c, budget: &b, dir: b.Direction("")}
	if c.design == verdict.Unpaired {
		t.extra = e.in.Policy.Allowance[c.class]
	}
	t.run(e.tables)
	return t.hasP && stats.Reaches(t.pFail, e.level)
}

// proven reports whether the machine is proven to have moved.
func (m *movement) proven() bool { return m != nil && (m.slower || m.faster) }

// word is what a verdict.ControlMetric says of it.
func (m *movement) word() string {
	switch {
	case m.slower:
		return verdict.ControlSlower
	case m.faster:
		return verdict.ControlFaster
	case m.steady:
		return verdict.ControlSteady
	}
	return ""
}

// tellControl says in the document how the control cell moved from all stored
// sessions that have one, odd ones left out, over all its runs.
func (e *evaluation) tellControl() {
	if e.control == nil {
		return
	}
	for _, metric := range []string{result.WallTime, result.CPUTime} {
		m := e.controlNow(metric)
		if m == nil {
			continue
		}
		e.out.Control.Metrics = append(e.out.Control.Metrics, verdict.ControlMetric{Metric: metric, Moved: m.word(), Design: m.Design, N: m.N, Sessions: m.Sessions,
			Current: m.Current, Reference: m.Reference, Ratio: *m.Ratio, Interval: m.RatioInterval})
	}
	if len(e.out.Control.Metrics) == 0 {
		e.out.Control.Why = "it has no time that can be compared"
	}
}

// controlNow is how the control cell moved as a whole.
func (e *evaluation) controlNow(metric string) *movement {
	const key = "all "
	m, known := e.control.moved[key+metric]
	if !known {
		m = e.newMovement(metric, e.in.Policy.MinSessions, presentLevel, func(point) bool { return true })
		e.control.moved[key+metric] = m
	}
	return m
}

// presentLevel leaves of a sample what is of the level that its sessions have now.
func presentLevel(s *sample) {
	if allPositive(s.values) {
		j := job{sample: *s}
		j.sift(0)
		*s = j.sample
	}
}
