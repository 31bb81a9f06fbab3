package gate

import (
	"fmt"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// reasonCreep: beyond the budget against the anchor, though no step since was.
const reasonCreep = "creep"

// creeps holds what is judged against recent sessions against the anchor's as
// well (V18): one job for each of jobs, nil where there is nothing to tell. What is
// told is beyond the budget of a gated finding against the anchor, with the
// confidence of a test by itself, and not beyond it against recent sessions.
//
// With looks it is the numbers of the look that the cell stopped at. On a machine that
// the control cell proves to have made the numbers worse nothing is told: what creeps
// will still be there tomorrow.
func (e *evaluation) creeps(r *replay) [][]standing {
	out := make([][]standing, len(r.last))
	if e.refs.anchored == nil {
		return out
	}
	failed := map[[2]int]bool{} // job, budget: at whatever look
	for i := range r.tests {
		if s := &r.tests[i]; s.decision == stats.Failed {
			failed[[2]int{s.job, s.budget}] = true
		}
	}
	parallel(len(r.last), func(i int) {
		j := e.creep(&r.last[i], func(budget int) bool { return failed[[2]int{i, budget}] })
		if j == nil {
			return
		}
		for k := range j.tests {
			s := standing{job: i, budget: k, at: j, look: r.stopped[j.cell]}
			s.byItself(e.level)
			out[i] = append(out[i], s)
		}
	})
	return out
}

func (e *evaluation) creep(j *job, failed func(budget int) bool) *job {
	if j.contrast == nil || j.against != budget.AgainstBaseline || j.advisory {
		return nil
	}
	s := e.refs.collect(e.views[j.cell].cell.Digest, j.column, e.refs.anchored[j.cell])
	if s.missing() || s.withinProcess {
		return nil
	}
	since := e.sinceAnchor(j)
	if since == 0 {
		return nil
	}
	c := j.anchorContrast(&s, since)
	out := &job{cell: j.cell, column: j.column, against: verdict.AgainstAnchor, advisory: true, contrast: c}
	for i, b := range j.budgets {
		step := &j.tests[i]
		if e.budgets[b].Level != budget.Fail || failed(i) || step.found(e.level) || step.worsened() {
			continue
		}
		t := test{contrast: c, budget: step.budget, dir: step.dir}
		if c.design == verdict.Unpaired {
			t.extra = e.in.Policy.Allowance[c.class]
		}
		if t.run(e.tables); t.found(e.level) {
			t.reason = reasonCreep
			out.budgets, out.tests = append(out.budgets, b), append(out.tests, t)
		}
	}
	if len(out.tests) == 0 {
		return nil
	}
	out.describe(e.tables, e.level)
	return out
}

// found reports whether a test by itself says that the budget is broken.
func (t *test) found(level float64) bool {
	return t.decided == verdict.Fail || t.decided == "" && t.hasP && stats.Reaches(t.pFail, level)
}

// sinceAnchor is how many of the sessions that a column is compared with started
// after the anchor's newest; 0 too where a step since then was accepted: the
// anchor is of a level that was left on purpose.
func (e *evaluation) sinceAnchor(j *job) int {
	anchor := e.in.Baseline.Anchor.Sessions[0].Session().StartedAt
	for i := range e.cuts {
		if c := &e.cuts[i]; c.about(e.views[j.cell].cell, j.column) && c.at.After(anchor) {
			return 0
		}
	}
	n := 0
	for n < len(j.sample.numbers) && e.storedSession(j.sample.numbers[n]).StartedAt.After(anchor) {
		n++
	}
	return n
}

// recentSessions are behind the level that is held against the anchor, beside the
// current one: enough to tell a few percent, and few enough to be of now.
const recentSessions = 4

// storedSince is how many recent sessions started after a moment.
func (e *evaluation) storedSince(at time.Time) int {
	n := 0
	for _, s := range e.in.Baseline.Sessions {
		if s.Session().StartedAt.After(at) {
			n++
		}
	}
	return n
}

// anchorContrast holds the present level against the anchor. Where the spread
// between sessions is known the level is that of the newest ones and the current
// one together: a creep of a few percent is less than what one session differs by.
// Else the current runs against the anchor's, with the allowance.
func (j *job) anchorContrast(s *sample, since int) *contrast {
	of := j.contrast
	c := &contrast{def: of.def, against: verdict.AgainstAnchor, design: verdict.Unpaired, class: of.class, x: s.values, y: of.y, sessions: len(s.ends)}
	switch {
	case of.design == verdict.ExactEq && constant(s.values):
		c.design = verdict.ExactEq
	case of.design == verdict.Sessions && allPositive(s.values):
		recent := of.stored.logs[:min(since, recentSessions)]
		n, q := float64(len(recent)), float64(of.currentSessions)
		c.design, c.spread = verdict.Sessions, of.spread
		c.logReference = mean(s.logs())
		c.logCurrent = (mean(recent)*n + of.logCurrent*q) / (n + q)
		c.currentSessions = len(recent) + of.currentSessions
	case c.class == result.Exact:
		c.class = result.Noisy
	}
	return c
}

// creepMessage is the sentence of a creep.
func (e *evaluation) creepMessage(t *test, f *verdict.Finding, cmp *verdict.Comparison) string {
	u := unitOf(t.contrast.def)
	ref, cur := unit.FormatPair(cmp.Reference, cmp.Current, u)
	s := fmt.Sprintf("creep since %s: %s %s -> %s", e.in.Baseline.Anchor.Name, label(f), ref, cur)
	if cmp.Ratio != nil {
		s += ", " + unit.FormatRatio(*cmp.Ratio)
	}
	if n := e.storedSince(e.in.Baseline.Anchor.Sessions[0].Session().StartedAt); n == 1 {
		s += " in 1 stored session"
	} else {
		s += fmt.Sprintf(" in %d stored sessions", n)
	}
	return s + "; allowed " + allowedText(t, u) + " in one step"
}
