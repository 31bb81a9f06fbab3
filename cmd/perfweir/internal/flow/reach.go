package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/stats"
)

// chooseLooks are the looks of cells whose suite says auto, from the tests that
// all cells share the error with. Cells of one block get the same: those that a
// test by blocks needs, where there is one. base says that the base build will be
// measured beside them.
func (su *suite) chooseLooks(cells []plan.Cell, base bool) [][]int {
	type block struct{ benchmark, input string }
	paired, tested := map[block]bool{}, map[block]bool{}
	family := 0
	tests := su.testsOf(cells, base)
	for i, t := range tests {
		b := block{cells[i].Benchmark, cells[i].Input}
		paired[b] = paired[b] || t.paired > 0
		tested[b] = tested[b] || t.n() > 0
		family += t.n()
	}
	out := make([][]int, len(cells))
	for i := range cells {
		b := block{cells[i].Benchmark, cells[i].Input}
		design := stats.UnpairedDesign()
		if paired[b] {
			design = stats.PairedDesign()
		}
		if tested[b] {
			out[i] = stats.DefaultLooks(design, su.file.Gate.FalseAlarms, family)
		}
	}
	return out
}

// reach is what the looks of some cells can decide by one design.
type reach struct {
	design stats.Design
	paired bool
	stored bool  // it is known what is stored
	looks  []int // of the cells
	plan   stats.LookPlan
}

// reached holds the looks of every cell with a test against what its design can
// decide, each kind once. stored is how many runs a cell is compared with, -1 for
// more sessions than their spread needs, 0 for none; nil: one session of as many
// as are planned.
func (su *suite) reached(p *plan.Plan, stored func(c *plan.Cell) int) []reach {
	_, base := p.Builds[result.BuildBase]
	family, tests := 0, su.testsOf(p.SuiteCells(), base)
	for _, t := range tests {
		family += t.n()
	}
	var out []reach
	add := func(c *plan.Cell, d stats.Design, paired bool) {
		looks := c.Looks
		if len(looks) == 0 {
			looks = []int{c.Repeats}
		}
		if slices.ContainsFunc(out, func(r reach) bool { return r.design == d && slices.Equal(r.looks, looks) }) {
			return
		}
		// Every look of the plan has the same share of the error, whether a cell has
		// all of them or not.
		share := su.file.Gate.FalseAlarms * float64(len(looks)) / float64(max(1, len(p.Looks)))
		if check, err := stats.CheckLooks(d, looks, share, family); err == nil {
			out = append(out, reach{design: d, paired: paired, stored: stored != nil, looks: looks, plan: check})
		}
	}
	for i, t := range tests {
		c := &p.Cells[i]
		if t.paired > 0 {
			add(c, stats.PairedDesign(), true)
		}
		if t.unpaired == 0 {
			continue
		}
		design := stats.UnpairedDesign()
		if stored != nil {
			switch m := stored(c); {
			case m == 0:
				continue // nothing to compare with: another outcome says it
			case m < 0:
				design = stats.SessionsDesign()
			default:
				design = stats.StoredDesign(m)
			}
		}
		add(c, design, false)
	}
	return out
}

// shortfall says what looks that cannot call a fail need; "" when they can.
func (r *reach) shortfall(t *tests) string {
	if r.plan.Decidable() {
		return ""
	}
	what := " against stored sessions"
	switch {
	case r.paired:
		what = " in one session"
	case !r.stored:
		what = " against one stored session of as many"
	}
	text := fmt.Sprintf("%s cannot prove a regression%s among %s", after(r.looks), what, t)
	var ways []string
	if n := r.plan.LeastRepeats; n > 0 {
		at := ""
		if len(r.looks) > 1 {
			at = " at the last look"
		}
		ways = append(ways, plural(n, "repeat")+at)
	}
	if n := r.plan.MostLooks; n > 0 && len(r.looks) > 1 {
		ways = append(ways, plural(n, "look"))
	}
	if n := r.plan.MostTests; n > 0 {
		ways = append(ways, plural(n, "test"))
	}
	if len(ways) == 0 {
		return text + ": no number of repeats could"
	}
	return text + ": " + strings.Join(ways, ", or ") + " would do"
}

// after names looks: "looks after 5, 10 and 20 repeats".
func after(looks []int) string {
	if len(looks) == 1 {
		return plural(looks[0], "repeat")
	}
	return fmt.Sprintf("looks after %s repeats", enumerated(looks))
}

// enumerated is more than one number as a sentence has them: "5, 10 and 20".
func enumerated(n []int) string {
	return fmt.Sprintf("%s and %d", joined(n[:len(n)-1], ", "), n[len(n)-1])
}

func joined(n []int, between string) string {
	words := make([]string, len(n))
	for i, v := range n {
		words[i] = strconv.Itoa(v)
	}
	return strings.Join(words, between)
}

// announceLooks says what the looks of a plan can decide.
func (s Shell) announceLooks(su *suite, p *plan.Plan, t *tests, more string) {
	level := stats.LookLevel(su.file.Gate.FalseAlarms, len(p.Looks))
	s.say("%s: only what is undecided goes on", after(p.Looks))
	s.say("false-alarm rate %g %%, shared by %s and %s, %.3g %% a look%s", su.file.Gate.FalseAlarms*100, t, plural(len(p.Looks), "look"), level*100, more)
	for _, r := range su.reached(p, nil) {
		if first := r.plan.FirstFail; r.plan.Decidable() && first > 1 && len(r.looks) > 1 {
			kind := "against one stored session of as many"
			if r.paired {
				kind = "in one session"
			}
			s.say("%s: a pass from look %d on, a regression from look %d on, which carries %s", kind, r.plan.FirstPass, first, plural(r.plan.Looks[first-1].Family, "test"))
		}
	}
}

// warnShort says which looks of a plan cannot call a fail. stored is as of reached:
// nil where nothing is compared with yet.
func (s Shell) warnShort(su *suite, p *plan.Plan, stored func(c *plan.Cell) int) {
	for _, short := range su.shortfalls(p, stored) {
		s.say("warning: %s", short)
	}
}

func (su *suite) shortfalls(p *plan.Plan, stored func(c *plan.Cell) int) []string {
	t := su.count(p)
	var out []string
	for _, r := range su.reached(p, stored) {
		if text := r.shortfall(&t); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// canProve refuses a plan that cannot reach the level of a gate that asks for
// proof, before anything of it is run.
func canProve(su *suite, require string, b *baseline.Baseline, p *plan.Plan) error {
	if require != gate.RequireProof {
		return nil
	}
	short := su.shortfalls(p, storedRuns(b, su.policy().MinSessions))
	if len(short) == 0 {
		return nil
	}
	return fmt.Errorf("%w: gate.require asks for proof, and the plan cannot give it: %s", ErrUsage, strings.Join(short, "; "))
}

// decides refuses or warns of a plan that cannot call a fail against a baseline;
// where that has no session, against one of as many runs.
func (s Shell) decides(su *suite, require string, b *baseline.Baseline, p *plan.Plan) error {
	if err := canProve(su, require, b, p); err != nil {
		return err
	}
	if len(b.Sessions) == 0 {
		s.warnShort(su, p, nil)
	} else {
		s.warnShort(su, p, storedRuns(b, su.policy().MinSessions))
	}
	return nil
}

// storedRuns counts the runs that cells are compared with.
func storedRuns(b *baseline.Baseline, minSessions int) func(c *plan.Cell) int {
	type stored struct{ runs, sessions int }
	all := map[result.ID]stored{}
	for _, s := range b.Sessions {
		for i := range s.Doc.Cells {
			c := &s.Doc.Cells[i]
			n := all[c.ID()]
			n.sessions++
			for k := range c.Runs.Len() {
				if !c.Runs.Warmup(k) && c.Runs.StatusAt(k).OK() && c.Runs.SessionAt(k) == s.Index {
					n.runs++
				}
			}
			all[c.ID()] = n
		}
	}
	return func(c *plan.Cell) int {
		var n stored
		for _, id := range append([]result.ID{c.ID()}, earlier(c)...) {
			n.runs += all[id].runs
			n.sessions += all[id].sessions
		}
		if n.sessions >= minSessions {
			return -1
		}
		return n.runs
	}
}

// earlier are the identities of a cell under its benchmark's earlier names.
func earlier(c *plan.Cell) []result.ID {
	var out []result.ID
	for _, was := range c.Was {
		id := c.ID()
		id.Benchmark = was
		out = append(out, id)
	}
	return out
}

// decidesInJob is decides of a workflow's job, where it is known what was prepared.
func (s Shell) decidesInJob(su *suite, o Options, j *job, p *prepared, m *matrix) error {
	if !p.known() || !j.judges() {
		s.warnShort(su, m.plan, nil)
		return nil
	}
	require := su.policy().Require
	if r := p.rules(su, o); r.base != nil && r.base.Policy.Require != "" {
		require = r.base.Policy.Require
	}
	return s.decides(su, require, p.selectBaseline(p.rulesPolicy(su), m.want()), m.plan)
}
