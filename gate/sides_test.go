package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// A change by a factor spreads both sides alike: that is no doubt about a ratio.
// Nor is a spread that the metric cannot resolve (V5).
func TestUnequalSpread(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ref, cur []float64
		want     bool
	}{
		{"the same", around(1, 0.02, 10, 1), around(1, 0.02, 10, 1), false},
		{"five times as long", around(1, 0.02, 10, 1), around(5, 0.02, 10, 1), false},
		{"five times as wide", around(1, 0.02, 10, 1), around(1, 0.10, 10, 1), true},
		{"below the clock", around(1, 1e-11, 10, 1), around(1, 1e-10, 10, 1), false},
	} {
		v, _ := against(t, "wall_time", tt.ref, tt.cur, regression("wall_time", 0.1))
		if got := slices.Contains(v.Comparisons[0].Doubts, doubtUnequalSpread); got != tt.want {
			t.Errorf("%s: doubts %v", tt.name, v.Comparisons[0].Doubts)
		}
	}
}

// A document of several sessions, one of them stopped: the runs that another
// session has too many do not make up for those that a cell lacks.
func TestInterruptedIsToldByCell(t *testing.T) {
	d := doc("01", 0)
	d.Sessions = append(d.Sessions, result.Session{ID: "02", Replicates: result.ReplicatesProcess})
	d.Sessions[0].Interrupted = true
	r := &cell(d, "whole", "", column{"wall_time": around(1, 0.02, 6, 1)}).Runs
	r.Repeat, r.Session = []int{1, 2, 3, 1, 2, 3}, []int{0, 0, 0, 1, 1, 1}
	cell(d, "cut", "", column{"wall_time": around(1, 0.02, 2, 1)}).Planned = 3
	d.Cells[0].Planned = 3
	if v := evaluate(t, d, nil); v.Outcome != verdict.Interrupted || v.ExitCode != ExitInterrupted {
		t.Errorf("%s exit %d", v.Outcome, v.ExitCode)
	}
	d.Cells[1].Planned = 2 // resumed to its end
	if v := evaluate(t, d, nil); v.Outcome != verdict.Pass {
		t.Errorf("%s %q", v.Outcome, v.Reasons)
	}
}

// C21: a result that was resumed on another machine is of neither.
func TestSessionsOfTwoMachinesAreNotCompared(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	values := column{"wall_time": around(1, 0.02, 10, 1)}
	cell(ref, "x", "", values)
	cell(cur, "x", "", values).Runs.Session = []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	second := cur.Sessions[0]
	second.ID = "03"
	cur.Sessions = append(cur.Sessions, second)
	if f := own(t, evaluate(t, cur, stored(ref), regression("wall_time", 0.1))); f.Outcome != verdict.Pass {
		t.Errorf("one machine: %s (%s)", f.Outcome, f.Message)
	}
	cur.Sessions[1].Host = result.Host{Strict: map[string]string{"cpu": "y"}}
	if f := own(t, evaluate(t, cur, stored(ref), regression("wall_time", 0.1))); f.Outcome != verdict.NotComparable || !strings.Contains(f.Message, "more than one machine") {
		t.Errorf("two machines: %s (%s)", f.Outcome, f.Message)
	}
}

// "A change above 7 % would have been seen" is said only where it holds for all
// that is unproven.
func TestSmallestEffectHoldsForAll(t *testing.T) {
	counts := func(runs ...int) verdict.Counts {
		ref, cur := doc("01", 1), doc("02", 0)
		for i, n := range runs {
			name := string(rune('a' + i))
			cell(ref, name, "", column{"wall_time": around(1, 0.5, 10, 2)})
			cell(cur, name, "", column{"wall_time": around(0.9, 0.5, n, 2)})
		}
		return evaluate(t, cur, stored(ref), regression("wall_time", 0.1)).Counts
	}
	if c := counts(10); c.Unproven != 1 || c.SmallestEffect <= 0 {
		t.Errorf("%+v", c)
	}
	if c := counts(10, 1); c.Unproven != 2 || c.SmallestEffect != 0 {
		t.Errorf("%+v", c)
	}
}

// TestManySessions: with five stored sessions their spread decides, and one odd
// session poisons nothing (V15, V17).
func TestManySessions(t *testing.T) {
	build := func(factors []float64, cur float64) *verdict.Document {
		var docs []*result.Document
		for i, f := range factors {
			d := doc(string(rune('a'+i)), i+1)
			for _, b := range []string{"x", "y", "z"} {
				cell(d, b, "", column{"wall_time": around(f, 0.01, 10, i)})
			}
			docs = append(docs, d)
		}
		c := doc("now", 0)
		for _, b := range []string{"x", "y", "z"} {
			cell(c, b, "", column{"wall_time": around(cur, 0.01, 10, 9)})
		}
		return evaluate(t, c, stored(docs...), regression("wall_time", 0.1))
	}
	calm := []float64{1, 1.02, 0.98, 1.01, 0.99}
	wild := []float64{1, 1.3, 0.8, 1.2, 0.9}
	for _, tt := range []struct {
		name     string
		sessions []float64
		cur      float64
		want     verdict.Outcome
	}{
		{"calm sessions, no change", calm, 1, verdict.Pass},
		{"calm sessions, doubled", calm, 2, verdict.Fail},
		{"calm sessions, +20 % on a 10 % budget", calm, 1.2, verdict.Fail},
		{"wild sessions, +20 %", wild, 1.2, verdict.Inconclusive},
		{"wild sessions, fourfold", wild, 4, verdict.Fail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := build(tt.sessions, tt.cur)
			for _, f := range v.Findings {
				if f.Metric == "wall_time" && f.Outcome != tt.want {
					t.Errorf("%s: %s %s (%s), want %s", v.Cells[f.Cell].Name, f.Outcome, f.Grade, f.Message, tt.want)
				}
			}
			if c := v.Comparisons[0]; c.Design != verdict.Sessions || c.Sessions != 5 || c.Ratio == nil || c.RatioInterval == nil {
				t.Errorf("comparison %+v", c)
			}
		})
	}
}

// TestPaired: a variant of the same session is compared block by block, so what
// moves a whole block moves nothing.
func TestPaired(t *testing.T) {
	cur := doc("01", 0)
	drift := []float64{1, 1.5, 0.7, 2, 1.2, 0.9, 1.8, 1.1, 0.6, 1.4}
	a, b := make([]float64, 10), make([]float64, 10)
	for i, d := range drift {
		a[i], b[i] = d*(1+0.002*float64(i%3)), d*1.3
	}
	b[3] = math.NaN()
	cell(cur, "x", "prev", column{"cpu_time": a})
	cell(cur, "x", "new", column{"cpu_time": b})
	bud := regression("cpu_time", 0.1)
	bud.Against = "variant:prev"
	v := evaluate(t, cur, nil, bud)
	f := own(t, v)
	c := v.Comparisons[*f.Comparison]
	if f.Outcome != verdict.Fail || c.Design != verdict.Paired || c.N != [2]int{9, 9} || !slices.Contains(c.Doubts, doubtBlocksDropped) {
		t.Errorf("%s (%s), %+v", f.Outcome, f.Message, c)
	}
	if math.Abs(*c.Ratio-1.3) > 0.01 {
		t.Errorf("ratio %v, want about 1.3", *c.Ratio)
	}
	bud.Against, bud.Variant = "variant:gone", "new"
	if f := own(t, evaluate(t, cur, nil, bud)); f.Outcome != verdict.NoData {
		t.Errorf("a missing variant is %s", f.Outcome)
	}
}
