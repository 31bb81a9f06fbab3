package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// oneOf is a document of cells with given wall times, against one stored session.
func oneOf(looks []int, cells map[string][]float64, ref []float64) (*result.Document, *baseline.Baseline) {
	cur, was := doc("02", 0), doc("01", 1)
	for _, name := range []string{"a", "b", "c"} {
		if v, ok := cells[name]; ok {
			cell(cur, name, "", column{"wall_time": v})
			cell(was, name, "", column{"wall_time": ref})
		}
	}
	return looked(cur, looks...), stored(was)
}

// TestStopsOfCells: the clear one stops at once, the doubtful one goes on.
func TestStopsOfCells(t *testing.T) {
	ref := around(1, 0.002, 20, 1)
	far, inside := around(1.5, 0.002, 20, 2), around(1.001, 0.002, 20, 3)
	doubtful := around(1.12, 0.12, 20, 4) // around the budget of 10 %
	cur, b := oneOf([]int{5, 10, 20}, map[string][]float64{"a": far, "b": inside, "c": doubtful}, ref)
	bud := regression("wall_time", 0.10)
	judge := func(d *result.Document) *verdict.Document {
		p := DefaultPolicy()
		p.Allowance = nil // the budget itself
		v, err := Evaluate(Input{Current: d, Baseline: b, Budgets: []budget.Budget{bud}, Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := judge(measured(cur, 1, nil))
	if got := Undecided(first); !slices.Equal(got, []int{2}) {
		t.Fatalf("after look 1 %v go on, want the doubtful one: %+v", got, first.Cells)
	}
	v, d, _ := live(t, cur, judge)
	for i, want := range []struct {
		look, seen int
		stop       string
		outcome    verdict.Outcome
	}{{1, 5, stopDecided, verdict.Fail}, {1, 5, stopDecided, verdict.Pass}} {
		if c := v.Cells[i]; c.Look != want.look || c.Seen != want.seen || c.Stop != want.stop || c.Outcome != want.outcome || c.Due != 5 || c.Planned != 20 {
			t.Errorf("cell %s: %+v, want %+v", c.Name, c, want)
		}
	}
	if c := v.Cells[2]; c.Look < 2 || c.Seen <= 5 {
		t.Errorf("the doubtful cell: %+v", c)
	}
	for _, f := range v.Findings {
		if f.Comparison == nil {
			continue
		}
		cmp := v.Comparisons[*f.Comparison]
		if want := d.Cells[f.Cell].RepeatsAt(f.Look); cmp.N[0] != want || f.N != want {
			t.Errorf("%s was judged at look %d on %d runs, want %d", v.Cells[f.Cell].Name, f.Look, cmp.N[0], want)
		}
		if math.Abs(f.Level-0.05/3) > 1e-15 {
			t.Errorf("level %v, want a third of 5 %%", f.Level)
		}
	}
	if v.Counts.PlannedRuns != 60 || v.Counts.SeenRuns >= 60 {
		t.Errorf("counts %+v", v.Counts)
	}
}

// TestTimeCap: what was left for want of time says so; its repeats are complete,
// and it is undecided.
func TestTimeCap(t *testing.T) {
	cur, b := oneOf([]int{5, 10, 20}, map[string][]float64{"a": around(1.12, 0.12, 20, 4)}, around(1, 0.002, 20, 1))
	d := measured(cur, 1, nil)
	v := evaluate(t, d, b, regression("wall_time", 0.15))
	c, f := v.Cells[0], own(t, v)
	if c.Stop != stopTime || c.Look != 1 || c.Due != 5 || f.Outcome != verdict.Inconclusive || v.Outcome == verdict.NoData {
		t.Errorf("cell %+v, finding %+v, verdict %s", c, f, v.Outcome)
	}
	d.Sessions[0].Interrupted = true
	if v := evaluate(t, d, b, regression("wall_time", 0.15)); v.Outcome != verdict.Interrupted || v.Cells[0].Stop != "" {
		t.Errorf("stopped between two looks: %s, stop %q", v.Outcome, v.Cells[0].Stop)
	}
	// Without word of how far it came, the runs of look 2 are missing.
	d.Sessions[0].Interrupted, d.Plan.Reached = false, 0
	if v := evaluate(t, d, b, regression("wall_time", 0.15)); v.Outcome != verdict.NoData {
		t.Errorf("15 of 20 repeats are missing: %s", v.Outcome)
	}
}

// TestHeldAgainstGoesOn: a variant that an open finding is held against is
// measured on, and keeps its own decision.
func TestHeldAgainstGoesOn(t *testing.T) {
	cur, was := doc("02", 0), doc("01", 1)
	old := around(1, 0.001, 20, 1)
	cell(cur, "x", "old", column{"wall_time": old})
	cell(cur, "x", "new", column{"wall_time": around(1.1, 0.1, 20, 5)})
	cell(cur, "y", "old", column{"wall_time": old})
	cell(was, "x", "old", column{"wall_time": old})
	looked(cur, 6, 10, 20)
	against := budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Variant: "new", Against: "variant:old", Level: budget.Fail}
	general := regression("wall_time", 0.2)
	general.Variant = "old"
	judge := func(d *result.Document) *verdict.Document { return evaluate(t, d, stored(was), against, general) }
	if got := Undecided(judge(measured(cur, 1, nil))); !slices.Equal(got, []int{0, 1}) {
		t.Fatalf("%v go on, want new and the old that it is held against", got)
	}
	v, _, _ := live(t, cur, judge)
	if c := v.Cells[0]; c.Look != 1 || c.Stop != stopDecided || c.Seen <= 6 || c.Expected() != c.Seen {
		t.Errorf("the reference: %+v", c)
	}
	if c := v.Cells[2]; c.Seen != 6 {
		t.Errorf("the one that nothing is held against: %+v", c)
	}
}

// TestFutileCellsStop: exactly at the budget, with a spread that twenty repeats
// cannot resolve.
func TestFutileCellsStop(t *testing.T) {
	stopped := 0
	for i := range 40 {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		cur, b := oneOf([]int{5, 10, 20}, map[string][]float64{"a": lognormal(r, 1.05, 0.2, 20)}, lognormal(r, 1, 0.2, 5))
		p := DefaultPolicy()
		p.Allowance = nil
		judge := func(d *result.Document) *verdict.Document {
			v, err := Evaluate(Input{Current: d, Baseline: b, Budgets: []budget.Budget{regression("wall_time", 0.05)}, Policy: p})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		v, _, _ := live(t, cur, judge)
		if v.Cells[0].Stop == stopFutility {
			stopped++
			if f := own(t, v); f.Outcome != verdict.Inconclusive || f.Look != v.Cells[0].Look {
				t.Errorf("futile, and %s at look %d of %d", f.Outcome, f.Look, v.Cells[0].Look)
			}
		}
	}
	if stopped < 5 {
		t.Errorf("%d of 40 stopped as futile", stopped)
	}
}

// TestDecisionsStand: numbers that turn round at a later look change nothing of
// what was decided, but a crash that was seen counts.
func TestDecisionsStand(t *testing.T) {
	ref := around(1, 0.002, 20, 1)
	turned := append(around(1.001, 0.002, 5, 2), around(3, 0.002, 15, 3)...)
	cur, b := oneOf([]int{5, 10, 20}, map[string][]float64{"a": turned}, ref)
	v := evaluate(t, cur, b, regression("wall_time", 0.1))
	if f := own(t, v); f.Outcome != verdict.Pass || f.Look != 1 || f.N != 5 {
		t.Errorf("%s at look %d of %d runs", f.Outcome, f.Look, f.N)
	}
	if c := v.Cells[0]; c.Due != 0 || c.Seen != 20 || c.Look != 1 {
		t.Errorf("%+v: all twenty were measured", c)
	}
	cur.Cells[0].Runs.Status = map[int]result.Status{17: result.Failed}
	if v := evaluate(t, cur, b, regression("wall_time", 0.1)); v.Outcome != verdict.Fail {
		t.Errorf("a crash after the decision: %s", v.Outcome)
	}
}

// TestLooksWithShuffledRuns: the order of cells and runs decides nothing.
func TestLooksWithShuffledRuns(t *testing.T) {
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 31))
		rc := newLookedCase(r)
		before := rc.judge(t)
		for k := range rc.cur.Cells {
			c := &rc.cur.Cells[k]
			look := map[int]int{}
			for n, repeat := range c.Runs.Repeat {
				look[repeat] = c.Runs.Look[n]
			}
			shuffleRuns(r, c)
			for _, repeat := range c.Runs.Repeat {
				c.Runs.Look = append(c.Runs.Look, look[repeat])
			}
		}
		sameDecision(t, before, rc.judge(t))
		if t.Failed() {
			t.Fatal(fmt.Sprint("case ", i))
		}
	}
}

// TestPassedStayInTheFamily: what passed at an earlier look corrects the p of
// what is still open as much as before, and keeps its own numbers.
func TestPassedStayInTheFamily(t *testing.T) {
	cur, was := doc("02", 0), doc("01", 1)
	ref, same := around(1, 0.02, 20, 1), around(0.9, 0.02, 20, 2)
	for i := range 5 {
		cols := column{"wall_time": same}
		if i == 0 {
			cols = column{"wall_time": around(1.17, 0.15, 20, 9), "cpu_time": same}
		}
		cell(cur, fmt.Sprint("c", i), "", cols)
		cell(was, fmt.Sprint("c", i), "", column{"wall_time": ref, "cpu_time": ref})
	}
	looked(cur, 5, 10, 20)
	v := evaluate(t, cur, stored(was), regression("wall_time", 0.05), regression("cpu_time", 0.05))
	if v.Policy.Family != 6 {
		t.Fatalf("a family of %d", v.Policy.Family)
	}
	open := finding(v, "wall_time")
	if open.Look < 2 || *open.P >= 1 {
		t.Fatalf("decided at look %d with p %v: nothing is tried", open.Look, *open.P)
	}
	if want := min(1, 6**open.P); math.Abs(*open.PAdjusted-want) > 1e-12 {
		t.Errorf("p %v is corrected to %v, want %v: six times, passed or not", *open.P, *open.PAdjusted, want)
	}
	// The other metric of the same cell was decided at the first look.
	if f := finding(v, "cpu_time"); f.Look != 1 || f.N != 5 || v.Comparisons[*f.Comparison].N[0] != 5 {
		t.Errorf("cpu_time was decided at look %d on %d runs", f.Look, f.N)
	}
}

// A cell that does not say its looks is judged on all of its runs, whatever look
// they are of.
func TestCellWithoutItsLooks(t *testing.T) {
	cur, b := oneOf([]int{5, 10, 20}, map[string][]float64{"a": around(1.12, 0.12, 20, 4)}, around(1, 0.002, 20, 1))
	cur.Cells[0].Looks = nil
	v := evaluate(t, cur, b, regression("wall_time", 0.15))
	if f := own(t, v); f.Look != 3 || f.N != 20 || v.Cells[0].Due != 0 {
		t.Errorf("judged at look %d on %d runs: %+v", f.Look, f.N, v.Cells[0])
	}
}
