package gate

import (
	"runtime"
	"slices"
	"sync"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// job is one column of one cell held against one reference, with the budgets
// that are on it.
type job struct {
	cell     int
	column   *result.Column
	against  string
	budgets  []int
	sample   sample
	contrast *contrast // nil when there is nothing to compare
	doc      verdict.Comparison
	tests    []test
}

// relative judges every relative budget. Each stage runs side by side over
// jobs that own their slots, so the order of the result never depends on timing.
func (e *evaluation) relative() {
	jobs := e.jobs()
	parallel(len(jobs), func(i int) { e.prepare(&jobs[i]) })
	e.poolSpreads(jobs)
	parallel(len(jobs), func(i int) { jobs[i].run(e.tables, e.level) })
	for i := range jobs {
		e.record(&jobs[i])
	}
}

// jobs lists what is to be compared, in the order of cells and columns.
func (e *evaluation) jobs() []job {
	var jobs []job
	for i := range e.views {
		cell := e.views[i].cell
		for k := range cell.Columns {
			col := &cell.Columns[k]
			byReference := map[string][]int{}
			var order []string
			for _, b := range budget.For(e.budgets, e.selected[i], col.Metric, col.Phase, col.Part) {
				if !e.budgets[b].Kind.Relative() {
					continue
				}
				against := e.budgets[b].Against
				if against == budget.AgainstVariant+cell.Variant {
					continue // the reference itself
				}
				if byReference[against] == nil {
					order = append(order, against)
				}
				byReference[against] = append(byReference[against], b)
			}
			for _, against := range order {
				jobs = append(jobs, job{cell: i, column: col, against: against, budgets: byReference[against]})
			}
		}
	}
	return jobs
}

// prepare finds the job's reference and chooses its design.
func (e *evaluation) prepare(j *job) {
	v := &e.views[j.cell]
	if j.against == budget.AgainstBaseline {
		j.sample = e.refs.fromBaseline(v.cell, j.column)
	} else {
		j.sample = e.refs.fromVariant(v.cell, j.column, j.against[len(budget.AgainstVariant):])
	}
	if j.sample.missing() {
		return
	}
	def := e.in.Current.Metrics[j.column.Metric]
	cur := v.points(j.column)
	switch {
	case len(cur) == 0:
		j.sample.outcome, j.sample.reason = v.noData(j.column)
		return
	case def.Class == result.Level:
		j.sample.outcome, j.sample.reason = verdict.NotComparable, "a level has absolute budgets only"
		return
	}
	j.contrast = newContrast(def, j.against, &j.sample, cur, e.in.Policy.MinSessions)
	if e.withinProcess() {
		j.contrast.doubts = append(j.contrast.doubts, doubtWithinProcess)
	}
	for _, b := range j.budgets {
		t := test{finding: -1, contrast: j.contrast, budget: &e.budgets[b]}
		t.dir = t.budget.Direction(def.Better)
		if j.contrast.design == verdict.Unpaired {
			t.extra = e.in.Policy.Allowance[def.Class]
		}
		j.tests = append(j.tests, t)
	}
}

// withinProcess reports whether the current numbers are repeats of one process.
func (e *evaluation) withinProcess() bool {
	return slices.ContainsFunc(e.in.Current.Sessions, func(s result.Session) bool {
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

// poolSpreads shares the spread between sessions over all cells of a metric.
func (e *evaluation) poolSpreads(jobs []job) {
	type key struct{ metric, phase string }
	members := map[key][]*contrast{}
	var order []key
	for i := range jobs {
		if c := jobs[i].contrast; c != nil && c.spread != nil {
			k := key{jobs[i].column.Metric, jobs[i].column.Phase}
			if members[k] == nil {
				order = append(order, k)
			}
			members[k] = append(members[k], c)
		}
	}
	for _, k := range order {
		pool(members[k])
	}
}

func (j *job) run(t *stats.Tables, level float64) {
	if j.contrast == nil {
		return
	}
	j.doc = j.contrast.document(t, level)
	j.doc.Metric, j.doc.Phase, j.doc.Part, j.doc.Cell = j.column.Metric, j.column.Phase, j.column.Part, j.cell
	for i := range j.tests {
		j.tests[i].run(t)
	}
}

// record appends the job's comparison and findings to the verdict.
func (e *evaluation) record(j *job) {
	var comparison *int
	if j.contrast != nil {
		j.doc.ID = len(e.out.Comparisons)
		e.out.Comparisons = append(e.out.Comparisons, j.doc)
		id := j.doc.ID
		comparison = &id
	}
	for i, b := range j.budgets {
		f := verdict.Finding{
			Cell: j.cell, Comparison: comparison, Budget: b, Metric: j.column.Metric, Phase: j.column.Phase, Part: j.column.Part,
			Gated: e.budgets[b].Level == budget.Fail && !e.withinProcess(),
		}
		if j.contrast == nil {
			f.Outcome = j.sample.outcome
			f.Message = e.missingMessage(&f, j.sample.reason)
		} else {
			t := j.tests[i]
			t.finding = len(e.out.Findings)
			e.tests = append(e.tests, t)
		}
		e.out.Findings = append(e.out.Findings, f)
	}
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
