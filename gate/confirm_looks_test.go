package gate

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// twins adds a cell and its twin on the base build, whose blocks it shares.
func twins(d *result.Document, name string, head, base []float64) {
	cell(d, name, "", column{"wall_time": head})
	onBase(d, cell(d, name, "", column{"wall_time": base}))
}

// doubtsOf is a session of which cells are in doubt, and the document that measured
// them again, whole: head's numbers by cell, a base build of 1.
func doubtsOf(looks []int, names []string, head map[string][]float64) (Input, *result.Document) {
	cur, old := doc("cur", 0), doc("old", 9)
	for _, name := range names {
		cell(cur, name, "", column{"wall_time": nearly(1.3, 10)})
		cell(old, name, "", column{"wall_time": nearly(1, 10)})
	}
	again := confirmation(cur)
	for _, name := range names {
		twins(again, name, head[name], repeat(1, len(head[name])))
	}
	return Input{Current: cur, Baseline: stored(old), Budgets: fivePercent, Policy: DefaultPolicy(), Command: "perfweir ci"}, looked(again, looks...)
}

// threeDoubts are a clear regression, none at all, and one that ten blocks cannot
// tell, and twenty can.
func threeDoubts() (Input, *result.Document) {
	late := nearly(1.1, 20)
	late[0], late[3], late[8] = 1.04, 1.041, 1.042 // nearest to the budget, on its other side
	return doubtsOf([]int{6, 10, 20}, []string{"worse", "same", "late"},
		map[string][]float64{"worse": nearly(1.3, 20), "same": nearly(1, 20), "late": late})
}

// judgeAgainst judges a session with what was measured again of its doubts.
func judgeAgainst(t *testing.T, in Input) func(*result.Document) *verdict.Document {
	return func(d *result.Document) *verdict.Document {
		t.Helper()
		in.Confirmation = d
		return judged(t, in)
	}
}

// A doubt that is settled at a look keeps the numbers of it, and only what is open
// goes on, its twin with it.
func TestConfirmationLooks(t *testing.T) {
	in, whole := threeDoubts()
	v, d, all := liveBy(t, whole, judgeAgainst(t, in), Unconfirmed)
	if len(all) != 3 || !slices.Equal(Unconfirmed(all[0]), []int{0, 2}) || !slices.Equal(Unconfirmed(all[1]), []int{2}) {
		t.Fatalf("%d looks; after the first %v go on, want the two that no pass settles; %+v", len(all), Unconfirmed(all[0]), v.Confirmation)
	}
	blocks := []int{10, 6, 20}
	for i, c := range d.Cells {
		if want := blocks[i/2]; c.Runs.Len() != want {
			t.Errorf("%s has %d runs, want %d", c.Name, c.Runs.Len(), want)
		}
	}
	want := &verdict.Confirmation{Commit: commitOfBase, Family: 3, Looks: []int{6, 10, 20}}
	for i, n := range blocks {
		look := map[int]int{6: 1, 10: 2, 20: 3}[n]
		want.Cells = append(want.Cells, verdict.Again{Cell: i, Planned: 20, Seen: n, Look: look, Stop: stopDecided})
		f := onWallTime(v)[i]
		if c := f.Confirmed; c.N != n || c.Look != look || f.Look != 0 || math.Abs(f.Level-.05/3) > 1e-15 {
			t.Errorf("%s: %+v, level %v", f.Message, c, f.Level)
		}
		if text := fmt.Sprintf("in %d blocks (look %d of 3)", n, look); !strings.Contains(f.Message, text) {
			t.Errorf("%q lacks %q", f.Message, text)
		}
	}
	if !reflect.DeepEqual(v.Confirmation, want) {
		t.Errorf("measured again: %+v, want %+v", v.Confirmation, want)
	}
	if c := v.Counts.Findings; c[verdict.Fail] != 2 {
		t.Errorf("counts %v", c)
	}
	if v.Policy.Family != 3 || len(v.Policy.Looks) != 1 {
		t.Errorf("the policy of the session itself is now %+v", v.Policy)
	}
	// Who has the runs of all looks for every cell decides the same, on the same runs.
	whole.Plan.Reached = 0
	for i, f := range onWallTime(judgeAgainst(t, in)(whole)) {
		if !reflect.DeepEqual(f, onWallTime(v)[i]) {
			t.Errorf("with later runs %s, want %s", f.Message, onWallTime(v)[i].Message)
		}
	}
}

// One doubt alone is settled by six blocks: they carry a family of one.
func TestConfirmationOfOneDoubt(t *testing.T) {
	in, whole := doubtsOf([]int{6, 10, 20}, []string{"x"}, map[string][]float64{"x": nearly(1.3, 20)})
	v, _, _ := liveBy(t, whole, judgeAgainst(t, in), Unconfirmed)
	if f := onWallTime(v)[0]; f.Outcome != verdict.Fail || f.Confirmed.N != 6 || f.Confirmed.Look != 1 || *f.PAdjusted > .05/3 {
		t.Errorf("%s %+v", f.Message, f.Confirmed)
	}
}

// Why measuring again went no further is said, and a session that was stopped between
// two looks decides nothing.
func TestConfirmationStops(t *testing.T) {
	in, whole := threeDoubts()
	judge := judgeAgainst(t, in)
	d := measured(whole, 1, nil)
	f := onWallTime(judge(d))[2]
	if f.Outcome != verdict.Inconclusive || f.Grade != verdict.Suspect || f.Confirmed.N != 6 || !strings.Contains(f.Message, "limits.time left no time for more (") {
		t.Errorf("%s %s: %s", f.Outcome, f.Grade, f.Message)
	}
	d.Sessions[0].Interrupted = true
	if v := judge(d); v.Outcome != verdict.Interrupted || v.Confirmation != nil || onWallTime(v)[2].Confirmed != nil {
		t.Errorf("stopped between two looks: %s, %+v", v.Outcome, v.Confirmation)
	}
	// Exactly at the budget more blocks are no use.
	futile := make([]float64, 20)
	for i := range futile {
		futile[i] = 1.05 * (1 + .2*float64(2*(i%2)-1) + .001*float64(i))
	}
	in, whole = doubtsOf([]int{6, 10, 20}, []string{"x"}, map[string][]float64{"x": futile})
	v, _, _ := liveBy(t, whole, judgeAgainst(t, in), Unconfirmed)
	f = onWallTime(v)[0]
	if a := v.Confirmation.Cells[0]; a.Stop != stopFutility || a.Seen > 10 || !strings.Contains(f.Message, "the last look would hardly have decided") {
		t.Errorf("%+v: %s", a, f.Message)
	}
}

// What stored sessions had nothing for says the confirmation's look, and doubts that
// need no test have one.
func TestConfirmationLooksWithoutBaseline(t *testing.T) {
	in, whole := threeDoubts()
	in.Baseline = nil
	looked(in.Current, 5, 10)
	v, _, _ := liveBy(t, whole, judgeAgainst(t, in), Unconfirmed)
	for i, want := range []int{2, 1, 3} {
		f := onWallTime(v)[i]
		if c := v.Comparisons[*f.Comparison]; f.Look != want || f.Confirmed != nil || c.N[0] != []int{10, 6, 20}[i] {
			t.Errorf("look %d of %d blocks: %s", f.Look, c.N[0], f.Message)
		}
	}
	in, one := doubtsOf([]int{3}, []string{"x"}, map[string][]float64{"x": nearly(1.3, 3)})
	v = judgeAgainst(t, in)(one)
	if a := v.Confirmation.Cells[0]; a != (verdict.Again{Planned: 3, Seen: 3}) || onWallTime(v)[0].Confirmed.Look != 0 || strings.Contains(onWallTime(v)[0].Message, "look 1") {
		t.Errorf("%+v: %s", a, onWallTime(v)[0].Message)
	}
}

// randomDoubts measures again what a random session leaves in doubt, and some of what
// it does not; some doubts have one look.
func randomDoubts(r *rand.Rand, in Input) *result.Document {
	looks := [][]int{{6, 10, 20}, {10, 20}, {3, 6, 12}, {4, 9}}[r.IntN(4)]
	last, keep := looks[len(looks)-1], 1+r.IntN(5)
	d := confirmation(in.Current)
	for i := range in.Current.Cells {
		c := &in.Current.Cells[i]
		if c.Build != result.BuildHead || r.IntN(5) >= keep {
			continue
		}
		factor := []float64{1, 1, 1.1, 1.5}[r.IntN(4)]
		spread := []float64{0.002, 0.01, 0.1}[r.IntN(3)]
		numbers := func(factor float64) column {
			return column{"wall_time": lognormal(r, factor, spread, last), "cpu_time": lognormal(r, factor, spread, last),
				"throughput": lognormal(r, 1/factor, spread, last), "output_size": repeat(100, last)}
		}
		damage(r, cell(d, c.Benchmark, c.Variant, numbers(factor)))
		damage(r, onBase(d, cell(d, c.Benchmark, c.Variant, numbers(1))))
	}
	disturb(r, d)
	looked(d, looks...)
	for i := range d.Cells {
		if d.Cells[i].Benchmark == "bench1" {
			c := only(&d.Cells[i], func(run int) bool { return d.Cells[i].Runs.Repeat[run] <= 3 })
			c.Planned, c.Looks, c.Runs.Look = 3, nil, nil
			d.Cells[i] = c
		}
	}
	return d
}

// TestConfirmationLooksReplay: the sibling of TestLooksReplay. Whoever judges a session
// and its confirmation comes to the same bytes: the live loop, and a second judge who
// reads both documents; and what a look settled stands at every later one.
func TestConfirmationLooksReplay(t *testing.T) {
	seen := map[string]int{}
	for i := range 400 {
		r := rand.New(rand.NewPCG(uint64(i), 79))
		in := joinedInput(r, newLookedCase(r))
		in.Current.Cells = slices.DeleteFunc(in.Current.Cells, func(c result.Cell) bool { return c.Build == result.BuildBase })
		delete(in.Current.Builds, result.BuildBase)
		last, d, all := liveBy(t, randomDoubts(r, in), judgeAgainst(t, in), Unconfirmed)
		second := in
		second.Current = reread(t, in.Current)
		if got, want := asBytes(t, judgeAgainst(t, second)(reread(t, d))), asBytes(t, last); !bytes.Equal(got, want) {
			t.Fatalf("case %d: a second judge comes to other bytes", i)
		}
		for look, v := range all {
			agreeAgain(t, i, look+1, v, last)
		}
		for _, a := range confirmedCells(last) {
			seen[a.Stop]++
		}
		for _, f := range last.Findings {
			if c := f.Confirmed; c != nil {
				seen[fmt.Sprint(c.Outcome, " at look ", min(c.Look, 2))]++
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	for _, what := range []string{stopDecided, stopFutility, stopLooks, "fail at look 1", "fail at look 2", "pass at look 1", "pass at look 2"} {
		if seen[what] < 10 {
			t.Errorf("seen %v: too few of %s for a test", seen, what)
		}
	}
	if seen[stopTime] > 0 {
		t.Errorf("seen %v, and all looks were there", seen)
	}
}

func confirmedCells(v *verdict.Document) []verdict.Again {
	if v.Confirmation == nil {
		return nil
	}
	return v.Confirmation.Cells
}

// agreeAgain holds the verdict at a look of a confirmation against the last one.
func agreeAgain(t *testing.T, n, look int, then, last *verdict.Document) {
	t.Helper()
	stopped := map[int]bool{}
	for i, a := range confirmedCells(then) {
		if b := last.Confirmation.Cells[i]; a.Stop != stopTime {
			stopped[a.Cell] = true
			if a != b {
				t.Errorf("case %d, look %d: stopped as %+v, and is %+v", n, look, a, b)
			}
		}
	}
	for i, f := range then.Findings {
		if g := last.Findings[i]; stopped[f.Cell] && (!reflect.DeepEqual(f.Confirmed, g.Confirmed) || f.Outcome != g.Outcome || !reflect.DeepEqual(f.PAdjusted, g.PAdjusted)) {
			t.Errorf("case %d, look %d: was %s, and is %s", n, look, f.Message, g.Message)
		}
	}
}
