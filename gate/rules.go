package gate

import (
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

// Rules is what the suite file of the comparison commit says (DESIGN rule 19).
// Its budgets decide about every cell that its suite has: who changes a program
// does not also decide what it may cost. What the judged suite file (head's)
// tightens or adds counts at once, what it loosens or deletes after the merge.
// Cells that only head's suite has are judged by head's budgets.
type Rules struct {
	Commit  string          // full hash
	Budgets []budget.Budget // of the file; Evaluate says in their Source that they are the commit's
	Policy  Policy
	// Cells are the benchmarks with their variants ("" for a benchmark without any)
	// that its suite has, on whatever input.
	Cells []BenchmarkVariant
	// Metrics are the definitions of its own metrics: what its limits are in.
	Metrics map[string]result.Metric
}

// BenchmarkVariant is a variant that a benchmark has, on whatever input.
type BenchmarkVariant struct{ Benchmark, Variant string }

// baseSuite is what is asked of the comparison commit's suite; nil has nothing.
type baseSuite struct {
	cells map[BenchmarkVariant]bool
	// units and directions say how metrics are defined otherwise now.
	units, directions map[string]string
}

const inBaseSuite = "in the comparison commit's suite file"

func newBaseSuite(r *Rules, now map[string]result.Metric) *baseSuite {
	s := &baseSuite{cells: map[BenchmarkVariant]bool{}, units: map[string]string{}, directions: map[string]string{}}
	for _, c := range r.Cells {
		s.cells[c] = true
	}
	for name, was := range r.Metrics {
		if is, ok := now[name]; ok {
			s.units[name] = unitDifference(is, was, inBaseSuite)
			s.directions[name] = directionDifference(is, was, inBaseSuite)
		}
	}
	return s
}

// name is the benchmark's name in the suite: the cell's own, else an earlier one.
func (s *baseSuite) name(c *result.Cell) (string, bool) {
	if s != nil {
		for _, id := range c.IDs() {
			if s.cells[BenchmarkVariant{id.Benchmark, id.Variant}] {
				return id.Benchmark, true
			}
		}
	}
	return "", false
}

// joinRules puts base's budgets behind head's, and both policies together.
func (e *evaluation) joinRules() {
	in := &e.in
	own := slices.Clone(in.Base.Budgets)
	for i := range own {
		own[i].Source.Commit = in.Base.Commit
	}
	e.budgets = withImplicit(slices.Concat(in.Budgets, own))
	e.firstBase = len(e.budgets) - len(own)
	e.base = newBaseSuite(in.Base, in.Current.Metrics)
	in.Policy, e.out.Loosened, e.out.Warnings = merge(in.Policy, in.Base.Policy)
	for i := range e.out.Loosened {
		e.out.Loosened[i].Source.Commit = in.Base.Commit
	}
	e.out.Suite.JudgedBy = "base " + in.Base.Commit[:min(8, len(in.Base.Commit))]
}

// ruling is which budgets decide about one cell.
type ruling struct {
	known      bool              // base's suite has the cell; without base's rules never
	benchmark  string            // its benchmark's name there
	head, base []int             // budgets of either file that select it, in order
	columns    [][]budget.Choice // by column of the cell
	// completeness and crashes are of what has no column.
	completeness, crashes []budget.Choice
	// idle are about what the cell has no column of.
	idle []budget.Choice
}

// rule decides which budgets count for a cell.
func (e *evaluation) rule(c *result.Cell) ruling {
	var r ruling
	t := budget.Target{Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input}
	r.head = e.selecting(t, 0, e.firstBase)
	if r.benchmark, r.known = e.base.name(c); r.known {
		if r.benchmark != c.Benchmark {
			t.Name, t.Benchmark = result.PrintedName(r.benchmark, c.Variant, c.Input), r.benchmark
		}
		r.base = e.selecting(t, e.firstBase, len(e.budgets))
	}
	r.columns = make([][]budget.Choice, len(c.Columns))
	for k := range c.Columns {
		col := &c.Columns[k]
		r.columns[k] = e.choose(&r, col.Metric, col.Phase, col.Part)
	}
	r.completeness = e.choose(&r, completeness, "", "")
	r.crashes = e.choose(&r, result.CrashRate, "", "")
	samePart := func(base, head *budget.Budget) bool { return base.Part == head.Part && e.same(base, head) }
	r.idle = budget.Choose(e.budgets, e.idle(r.head, c), e.idle(r.base, c), samePart)
	return r
}

// selecting returns the budgets that are built in, and those between from and to,
// that select a cell.
func (e *evaluation) selecting(t budget.Target, from, to int) []int {
	var out []int
	for i := range e.budgets {
		b := &e.budgets[i]
		if (b.Implicit || from <= i && i < to) && b.Selects(t) {
			out = append(out, i)
		}
	}
	return out
}

func (e *evaluation) choose(r *ruling, metric, phase, part string) []budget.Choice {
	return budget.Choose(e.budgets, budget.For(e.budgets, r.head, metric, phase, part), budget.For(e.budgets, r.base, metric, phase, part), e.same)
}

// same reports whether head's budget takes the place of base's. One in another
// unit is another budget.
func (e *evaluation) same(base, head *budget.Budget) bool {
	return budget.SameRule(base, head) && e.redefined(base) == ""
}

// redefined says in which way the metric of a budget of base's file is defined
// otherwise now, so that its limit has no meaning; "" when it is not.
func (e *evaluation) redefined(b *budget.Budget) string {
	switch {
	case b.Source.Commit == "":
		return ""
	case b.Kind == budget.MaxRegression:
		return first(e.base.units[b.Metric], e.base.directions[b.Metric])
	}
	return e.base.units[b.Metric]
}

// idle are the budgets of a file that select a cell and are about no column of it,
// but for those in whose place a later one stands. One in whose place others stand
// for every column is not idle: what it is about was measured.
func (e *evaluation) idle(selecting []int, c *result.Cell) []int {
	var out []int
	for at, i := range selecting {
		b := &e.budgets[i]
		if b.Implicit || b.Metric == result.CrashRate || covers(b, c.Columns) || e.overridden(b, selecting[at+1:]) {
			continue
		}
		out = append(out, i)
	}
	return out
}

// covers reports whether a budget is about one of a cell's columns.
func covers(b *budget.Budget, columns []result.Column) bool {
	for i := range columns {
		if b.Covers(columns[i].Metric, columns[i].Phase, columns[i].Part) {
			return true
		}
	}
	return false
}

// overridden reports whether one of the later budgets of a file stands in b's place.
func (e *evaluation) overridden(b *budget.Budget, later []int) bool {
	return slices.ContainsFunc(later, func(j int) bool {
		l := &e.budgets[j]
		return budget.SameRule(l, b) && (l.Part == "" || l.Part == b.Part)
	})
}

// narrow reports whether one of a rule's budgets names cells: then it expects its
// metric in each of them, and widening it is no way out.
func (e *evaluation) narrow(c budget.Choice) bool {
	return slices.ContainsFunc([]int{c.Head, c.Base}, func(i int) bool { return i != budget.None && e.budgets[i].Narrow() })
}
