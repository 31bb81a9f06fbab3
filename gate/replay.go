package gate

import (
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// replay judges the looks of a document one after the other, each on nothing but
// the runs that there were by then. So the verdict on the whole is that on which
// measuring went on or stopped, whoever judges, and when.
//
// A test that was decided at a look keeps that decision. A cell stops when every
// gated test of it is decided, or when more of its runs would not help; the runs
// that it has beyond, for the sake of another cell, count for that one alone.
type replay struct {
	e     *evaluation
	jobs  []job      // as they are listed, before any look
	last  []job      // as they were at the look at which their cell stopped
	tests []standing // of every budget of every job, in order
	// family is how many gated tests have had a p, by now.
	family int
	sifted []*siftedSessions // by job, of the last look that had numbers
	// stopped is the look at which a cell stopped, 0 while it is active.
	stopped []int
	why     []string
}

// standing is how one budget of a job stands.
type standing struct {
	job, budget int  // indices into replay.jobs and the job's budgets
	gated       bool // it counts in the verdict, unless its numbers are advisory
	at          *job // as it was at the look that counts: that of the decision, else the last one
	look        int
	decision    stats.Decision
	adjusted    float64
	counted     bool // it is of the family
	// byMachine is set when the decision does not hold without what the machine moved.
	byMachine bool
}

// test is what was computed; nil where there is nothing to compare.
func (s *standing) test() *test {
	if s.at == nil || s.at.contrast == nil {
		return nil
	}
	return &s.at.tests[s.budget]
}

// open reports whether a test has a p and no decision.
func (s *standing) open() bool {
	t := s.test()
	return t != nil && t.hasP && t.decided == "" && s.decision == stats.Undecided
}

// gated reports whether a budget counts in the verdict, as far as the suite file says.
func (e *evaluation) gated(j *job, b int) bool {
	return e.budgets[b].Level == budget.Fail &&
		!e.aside(&verdict.Finding{Cell: j.cell, Budget: b, Metric: j.column.Metric, Phase: j.column.Phase, Part: j.column.Part})
}

// looks is how many looks there are to judge: those that were executed.
func (e *evaluation) looks() int {
	planned := max(1, len(e.in.Current.Plan.Looks))
	if r := e.in.Current.Plan.Reached; r > 0 {
		return min(r, planned)
	}
	return planned
}

// oneLook reports whether all repeats are judged at once.
func (e *evaluation) oneLook() bool { return len(e.in.Current.Plan.Looks) < 2 }

func newReplay(e *evaluation, jobs []job) *replay {
	parallel(len(jobs), func(i int) { e.collectStored(&jobs[i]) })
	r := &replay{e: e, jobs: jobs, last: slices.Clone(jobs), sifted: make([]*siftedSessions, len(jobs)),
		stopped: make([]int, len(e.views)), why: make([]string, len(e.views))}
	for i := range jobs {
		for k, b := range jobs[i].budgets {
			r.tests = append(r.tests, standing{job: i, budget: k, gated: e.gated(&jobs[i], b)})
		}
	}
	return r
}

// run goes through all looks that were executed.
func (r *replay) run() {
	for look := 1; look <= r.e.looks() && slices.Contains(r.stopped, 0); look++ {
		r.look(look)
	}
	r.e.see(allLooks)
}

// look judges what there is at one look.
func (r *replay) look(look int) {
	e := r.e
	e.see(look)
	now := slices.Clone(r.jobs)
	parallel(len(now), func(i int) { e.collect(&now[i]) })
	r.sift(now)
	parallel(len(now), func(i int) { e.prepare(&now[i]) })
	e.poolSpreads(now)
	e.hearControl(now)
	parallel(len(now), func(i int) {
		if r.stopped[now[i].cell] == 0 {
			now[i].test(e.tables)
			r.last[i] = now[i]
		}
	})
	for i := range r.tests {
		s := &r.tests[i]
		if j := &now[s.job]; r.stopped[j.cell] == 0 && s.decision == stats.Undecided {
			s.at, s.look = j, look
		}
	}
	r.judgeFamily()
	r.judgeOthers()
	r.stop(look)
}

// judgeFamily decides the gated tests, which share the error. Those that stopped
// undecided, and those that passed, stay in the family with p = 1.
func (r *replay) judgeFamily() {
	var at []int
	var tests []stats.LookTest
	for i := range r.tests {
		s := &r.tests[i]
		t := s.test()
		if t == nil || !t.hasP || !s.gated || s.at.advisory {
			continue
		}
		if !s.counted {
			s.counted = true
			r.family++
		}
		if s.decision == stats.Undecided && (!s.open() || r.stopped[s.at.cell] > 0) {
			continue
		}
		p := stats.LookTest{PFail: t.pFail, PPass: t.pPass, Decision: s.decision}
		if s.decision == stats.Passed {
			p.PFail = 1
		}
		at, tests = append(at, i), append(tests, p)
	}
	results := judgeLook(tests, r.family, r.e.level)
	without := r.withoutMachine(at, tests)
	for k, i := range at {
		if s := &r.tests[i]; s.decision == stats.Undecided {
			s.decision, s.adjusted = results[k].Decision, results[k].Adjusted
			s.byMachine = without != nil && byMachine(s, without[k])
		}
	}
}

// judgeOthers decides the tests that are only shown, each by itself.
func (r *replay) judgeOthers() {
	for i := range r.tests {
		if s := &r.tests[i]; !s.counted && r.stopped[r.jobs[s.job].cell] == 0 {
			s.byItself(r.e.level)
		}
	}
}

// byItself decides a test that shares its error with no other.
func (s *standing) byItself(level float64) {
	if !s.open() {
		return
	}
	t := s.test()
	one := judgeLook([]stats.LookTest{{PFail: t.pFail, PPass: t.pPass}}, 1, level)[0]
	s.decision, s.adjusted = one.Decision, one.Adjusted
	if m := t.machine; m != nil {
		s.byMachine = byMachine(s, judgeLook([]stats.LookTest{{PFail: m.pFail, PPass: m.pPass}}, 1, level)[0])
	}
}

// told are the jobs that a finding rests on, each once.
func (r *replay) told() []*job {
	var out []*job
	for i := range r.tests {
		if j := r.tests[i].at; !slices.Contains(out[max(0, len(out)-result.MaxLooks):], j) {
			out = append(out, j)
		}
	}
	return out
}

func judgeLook(tests []stats.LookTest, family int, level float64) []stats.LookResult {
	results, err := stats.JudgeLook(tests, family, level)
	if err != nil {
		panic("gate: a p value that is no number passed the tests: " + err.Error())
	}
	return results
}

// stop ends the cells that need no further look, or cannot use one.
func (r *replay) stop(look int) {
	e := r.e
	open := make([][]*standing, len(e.views)) // gated, by cell
	failed := 0
	for i := range r.tests {
		s := &r.tests[i]
		if s.counted && s.decision == stats.Failed {
			failed++
		}
		if s.open() && s.counted {
			open[s.at.cell] = append(open[s.at.cell], s)
		}
	}
	level := e.level / float64(max(1, r.family-failed))
	parallel(len(e.views), func(i int) {
		c := e.views[i].cell
		switch {
		case r.stopped[i] > 0:
			return
		case len(open[i]) == 0:
			r.why[i] = stopDecided
		case look >= max(c.LastLook(), e.views[i].look()):
			r.why[i] = stopLooks
		case r.futile(open[i], c, look, level):
			r.why[i] = stopFutility
		case look == e.looks():
			r.why[i] = stopTime
		default:
			return
		}
		r.stopped[i] = look
	})
}

// futile reports whether the last look would hardly decide any of a cell's tests.
func (r *replay) futile(open []*standing, c *result.Cell, look int, level float64) bool {
	more := c.Planned - c.RepeatsAt(look)
	for _, s := range open {
		o, ok := s.test().outlook(r.e.tables, more)
		o.FailLevel, o.PassLevel = level, r.e.level
		if !ok || !r.e.tables.Futile(o) {
			return false
		}
	}
	return true
}

// rows says in the cells' rows at which look they stopped, and why. A row counts
// the repeats of the looks that the cell was there for.
func (r *replay) rows() {
	e := r.e
	e.out.Policy.Family = r.family
	if e.oneLook() {
		return
	}
	for i := range e.views {
		v, row := &e.views[i], &e.out.Cells[i]
		row.Look, row.Stop = r.stopped[i], r.why[i]
		switch {
		case row.Stop == stopTime && interrupted(e.in.Current):
			// Nobody decided to leave it there.
			row.Stop, e.cutShort = "", true
		case row.Stop == stopDecided && len(v.clean) == 0 && v.invalid > 0:
			row.Stop = stopInvalid
		}
		if due := v.cell.RepeatsAt(max(row.Look, v.look())); due < v.cell.Planned {
			row.Due = due
		}
	}
}

// allLooks is a look after which there is no other.
const allLooks = -1

// see makes the views be of the runs up to a look.
func (e *evaluation) see(look int) {
	e.at, e.refs.base = e.views, e.baseViews
	if look != allLooks && !e.oneLook() {
		e.at = make([]view, len(e.views))
		parallel(len(e.at), func(i int) { e.at[i] = e.views[i].upTo(look) })
		if e.baseViews != nil {
			e.refs.base = make(map[result.ID]*view, len(e.baseViews))
			for id, v := range e.baseViews {
				upTo := v.upTo(look)
				e.refs.base[id] = &upTo
			}
		}
	}
	e.refs.views = e.at
	e.control.see(look, look == allLooks || e.oneLook())
}

// upTo is a view without the numbers of later looks.
func (v *view) upTo(look int) view {
	later := func(i int) bool { return v.cell.Runs.LookAt(i) > look }
	out := *v
	out.clean = slices.DeleteFunc(slices.Clone(v.clean), later)
	out.lost = slices.DeleteFunc(slices.Clone(v.lost), later)
	out.invalid = len(out.lost)
	return out
}

// outlook is what is known of an undecided test when so many more repeats may
// come; ok is false where its values have no logarithm.
func (t *test) outlook(tables *stats.Tables, more int) (o stats.Outlook, ok bool) {
	switch t.contrast.design {
	case verdict.Sessions:
		return t.outlookOfSessions(more)
	case verdict.Paired:
		return t.outlookOfBlocks(tables, more)
	case verdict.Unpaired:
		return t.outlookOfSides(tables, more)
	}
	return o, false
}

func (t *test) outlookOfSessions(more int) (o stats.Outlook, ok bool) {
	c := t.contrast
	sd, err := stats.StdDev(logs(c.y))
	allowed := t.budget.Allowed(exp(c.logReference), t.dir, 0)
	if err != nil || !allPositive(c.y) || !(allowed > 0) {
		return o, false
	}
	return stats.Outlook{Design: stats.SessionsDesign(), Excess: t.dir * (c.logCurrent - math.Log(allowed)), SD: sd,
		Now: len(c.y), Last: len(c.y) + more, Between: c.between(len(c.y) + more), BetweenDF: c.spread.df}, true
}

func (t *test) outlookOfBlocks(tables *stats.Tables, more int) (o stats.Outlook, ok bool) {
	d := make([]float64, len(t.contrast.pairs))
	for i, p := range t.contrast.pairs {
		allowed := t.allowed(p[0], 0)
		if !(allowed > 0 && p[1] > 0) {
			return o, false
		}
		d[i] = t.dir * (math.Log(p[1]) - math.Log(allowed))
	}
	sd, err := stats.StdDev(d)
	shift, err2 := tables.Paired(d, 0.5)
	if err != nil || err2 != nil {
		return o, false
	}
	return stats.Outlook{Design: stats.PairedDesign(), Excess: shift.Estimate, SD: sd, Now: len(d), Last: len(d) + more}, true
}

func (t *test) outlookOfSides(tables *stats.Tables, more int) (o stats.Outlook, ok bool) {
	c := t.contrast
	inside, beyond := t.allowedAll(c.x, 0), t.allowedAll(c.x, t.extra)
	if !allPositive(inside) || !allPositive(beyond) || !allPositive(c.y) {
		return o, false
	}
	x, y := logs(inside), logs(c.y)
	sd, _, err := stats.PooledSpread([][]float64{x, y})
	shift, err2 := tables.Unpaired(x, y, 0.5)
	if err != nil || err2 != nil {
		return o, false
	}
	gap := t.dir * (median(logs(beyond)) - median(x))
	return stats.Outlook{Design: stats.StoredDesign(len(x)), Excess: t.dir * shift.Estimate, Gap: max(0, gap), SD: sd,
		Now: len(y), Last: len(y) + more}, true
}
