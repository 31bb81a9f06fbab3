package gate

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// job is one column of one cell held against one reference, with the budgets
// that are on it.
type job struct {
	cell    int
	column  *result.Column
	against string
	budgets []int
	// redefined says why budgets of the comparison commit have no meaning here.
	redefined string
	class     result.Class
	current   []point // clean values of now; nil when there is nothing to compare
	sample    sample  // and the reference; of stored sessions it is there before any look
	history   history
	advisory  bool      // shown, never gated: one process repeated its numbers, or a creep
	contrast  *contrast // nil when there is nothing to compare: then outcome and reason say why
	outcome   verdict.Outcome
	reason    string
	doc       verdict.Comparison
	recorded  bool // doc is in the verdict
	tests     []test
	// machine is how the control cell moved between the sessions that are compared,
	// and sense in which direction that moves the metric; nil and 0 where it has no say.
	machine *movement
	sense   float64
}

// relative judges every relative budget, look by look. Each stage runs side by
// side over jobs that own their slots, so the order of the result never depends
// on timing.
func (e *evaluation) relative() {
	r := newReplay(e, e.jobs())
	r.run()
	r.rows()
	for i := range r.last {
		e.tellHistory(&r.last[i])
	}
	creeps := e.creeps(r)
	told := r.told()
	parallel(len(told), func(i int) { told[i].describe(e.tables, e.level) })
	e.out.Comparisons = slices.Grow(e.out.Comparisons, len(told))
	e.out.Findings = slices.Grow(e.out.Findings, len(r.tests))
	e.tests = slices.Grow(e.tests, len(r.tests))
	next := 0
	for i := range r.jobs {
		for ; next < len(r.tests) && r.tests[next].job == i; next++ {
			e.record(&r.tests[next])
		}
		for k := range creeps[i] {
			e.record(&creeps[i][k])
		}
	}
}

// jobs lists what is to be compared, in the order of cells and columns.
func (e *evaluation) jobs() []job {
	byCell := make([][]job, len(e.views))
	parallel(len(e.views), func(i int) { byCell[i] = e.jobsOf(i) })
	return slices.Concat(byCell...)
}

func (e *evaluation) jobsOf(i int) []job {
	cell := e.views[i].cell
	var jobs []job
	for k, choices := range e.rulings[i].columns {
		first := len(jobs) // of this column
		for _, c := range choices {
			b := c.Budget()
			bud := &e.budgets[b]
			if !bud.Kind.Relative() || e.ownReference(c, i) {
				continue
			}
			against := e.refs.against(bud)
			if !e.asked(i, &cell.Columns[k], b) {
				continue
			}
			why := e.redefined(bud)
			at := slices.IndexFunc(jobs[first:], func(j job) bool { return j.against == against && j.redefined == why })
			if at < 0 {
				if jobs == nil {
					jobs = make([]job, 0, len(cell.Columns))
				}
				at = len(jobs) - first
				jobs = append(jobs, job{cell: i, column: &cell.Columns[k], against: against, redefined: why})
			}
			j := &jobs[first+at]
			j.budgets = append(j.budgets, b)
		}
	}
	return jobs
}

// ownReference reports whether a rule against a variant has nothing to say about
// a cell: the cell is the reference itself, or the rule names no cells and the
// cell's benchmark has no such variant (nor had it in base's suite: a variant that
// vanished is no excuse).
func (e *evaluation) ownReference(c budget.Choice, i int) bool {
	cell, r := e.views[i].cell, &e.rulings[i]
	variant, ok := strings.CutPrefix(e.budgets[c.Budget()].Against, budget.AgainstVariant)
	switch {
	case !ok:
		return false
	case variant == cell.Variant:
		return true
	case e.narrow(c) || e.refs.hasVariant(cell.Benchmark, variant):
		return false
	}
	return c.Base == budget.None || !e.base.cells[BenchmarkVariant{r.benchmark, variant}]
}

// collectStored finds the reference of a job that is held against stored sessions,
// which is the same at every look.
func (e *evaluation) collectStored(j *job) {
	if j.against != budget.AgainstBaseline {
		return
	}
	if j.sample = e.refs.fromBaseline(j.cell, j.column); !j.sample.missing() {
		e.cutAccepted(j)
	}
}

// collect finds both sides of a job. What was not measured now is said first:
// without a reference it is no better.
func (e *evaluation) collect(j *job) {
	v := &e.at[j.cell]
	def := e.in.Current.Metrics[j.column.Metric]
	cur := v.points(j.column)
	switch {
	case len(cur) == 0:
		j.outcome, j.reason = v.noData(j.column)
		return
	case j.redefined != "":
		j.outcome, j.reason = verdict.NotComparable, j.redefined
		return
	case def.Class == result.Level:
		j.outcome, j.reason = verdict.NotComparable, "a level has absolute budgets only"
		return
	}
	if variant, ok := strings.CutPrefix(j.against, budget.AgainstVariant); ok {
		j.sample = e.refs.fromVariant(v.cell, j.column, variant)
	} else if j.against == budget.AgainstBase {
		j.sample = e.refs.fromBase(v.cell, j.column)
	}
	if j.sample.missing() {
		j.outcome, j.reason = j.sample.outcome, j.sample.reason
		return
	}
	j.class, j.current = def.Class, cur
}

// prepare chooses the design of a job that has two sides.
func (e *evaluation) prepare(j *job) {
	if j.current == nil {
		return
	}
	def, s := e.in.Current.Metrics[j.column.Metric], &j.sample
	j.contrast = newContrast(def, j.against, s, j.current, e.least(&j.history), func() *stats.SessionSpread {
		return e.measured(e.views[j.cell].cell, j.column, s)
	})
	j.contrast.noteHistory(&j.history)
	if j.advisory = e.withinProcess || s.withinProcess; j.advisory {
		j.contrast.doubts = append(j.contrast.doubts, doubtWithinProcess)
	}
	j.tests = make([]test, len(j.budgets))
	for i, b := range j.budgets {
		t := &j.tests[i]
		t.contrast, t.budget = j.contrast, &e.budgets[b]
		t.dir = t.budget.Direction(def.Better)
		if j.contrast.design == verdict.Unpaired {
			t.extra = e.in.Policy.Allowance[j.contrast.class]
		}
	}
}

// measured is what a self-test knows of the stored sessions of a cell's column; nil:
// nothing.
func (e *evaluation) measured(c *result.Cell, col *result.Column, stored *sample) *stats.SessionSpread {
	return e.in.Policy.Measured.of(Column{c.Digest, col.Metric, col.Phase, col.Part}, stored.repeats())
}

// least is from how many stored sessions on their spread is used. Odd ones count
// here: that they are left out makes the others no fewer.
func (e *evaluation) least(h *history) int {
	return max(min(e.in.Policy.MinSessions, leastHistory), e.in.Policy.MinSessions-len(h.odd))
}

// withinProcess reports whether a document has repeats of one process.
func withinProcess(d *result.Document) bool {
	return slices.ContainsFunc(d.Sessions, func(s result.Session) bool {
		return s.Replicates == result.ReplicatesWithinProcess
	})
}

// noData is why a column has no clean value.
func (v *view) noData(c *result.Column) (verdict.Outcome, string) {
	switch {
	case len(v.clean) == 0 && v.invalid > 0:
		return verdict.Invalid, "every run was invalid"
	case len(v.clean) == 0:
		return verdict.NoData, "no run ended well"
	}
	if why := v.absence(c); why != "" {
		return verdict.NoData, "nothing was measured: " + why
	}
	return verdict.NoData, "nothing was measured"
}

// test computes the tests of all budgets.
func (j *job) test(t *stats.Tables) {
	for i := range j.tests {
		j.tests[i].run(t)
		j.tests[i].withoutMachine(j.machine, j.sense, t)
	}
}

// describe computes the comparison's numbers.
func (j *job) describe(t *stats.Tables, level float64) {
	if j.contrast == nil {
		return
	}
	j.doc = j.contrast.document(t, level)
	j.doc.Metric, j.doc.Phase, j.doc.Part, j.doc.Cell = j.column.Metric, j.column.Phase, j.column.Part, j.cell
}

// record appends a finding to the verdict, and before the first of its job the
// comparison that it rests on: one for each look at which one of them stopped.
func (e *evaluation) record(s *standing) {
	j := s.at
	b := j.budgets[s.budget]
	f := verdict.Finding{
		Cell: j.cell, Budget: b, Metric: j.column.Metric, Phase: j.column.Phase, Part: j.column.Part,
		Gated: e.budgets[b].Level == budget.Fail && !j.advisory,
	}
	if !e.oneLook() {
		f.Look = s.look
	}
	if j.contrast == nil {
		f.Outcome = j.outcome
		f.Message = e.missingMessage(&f, j.reason)
		e.out.Findings = append(e.out.Findings, f)
		return
	}
	if !j.recorded {
		j.recorded = true
		j.doc.ID = len(e.out.Comparisons)
		e.out.Comparisons = append(e.out.Comparisons, j.doc)
	}
	id := j.doc.ID
	f.Comparison = &id
	t := *s.test()
	t.finding, t.decision, t.adjusted, t.byMachine = len(e.out.Findings), s.decision, s.adjusted, s.byMachine
	e.tests = append(e.tests, t)
	e.out.Findings = append(e.out.Findings, f)
}

// parallel calls f for 0..n-1 on as many goroutines as there are processors;
// each index has its own slot, so the result does not depend on their number.
func parallel(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), max(n, 1))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}
