package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// withControl adds a control cell to a document, as every plan has it: the last.
func withControl(d *result.Document, wall, cpu []float64) *result.Cell {
	c := cell(d, result.ControlBenchmark, "", column{"wall_time": wall, "cpu_time": cpu})
	c.Control = true
	return c
}

// onControl judges with the control cell.
func onControl(t *testing.T, cur *result.Document, b *baseline.Baseline, budgets ...budget.Budget) *verdict.Document {
	t.Helper()
	p := DefaultPolicy()
	p.Control = true
	v, err := Evaluate(Input{Current: cur, Baseline: b, Budgets: budgets, Policy: p, Command: "perfweir ci"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// twoStates are stored sessions that differ by half a percent, and a new one in which
// the machine takes that many times as long. values are those of the one cell.
func twoStates(sessions int, machine float64, values func(session int) column) (*result.Document, *baseline.Baseline) {
	var docs []*result.Document
	for s := range sessions + 1 {
		d := doc(fmt.Sprintf("%02d", sessions-s), s)
		cell(d, "x", "", values(s))
		state := 1 + 0.005*math.Cos(float64(s))
		if s == 0 {
			state = machine
		}
		withControl(d, around(0.04*state, 0.01, 10, s), around(0.035*state, 0.01, 10, s))
		docs = append(docs, d)
	}
	return docs[0], stored(docs[1:]...)
}

// What the control cell takes back, and what it leaves.
func TestControlTellsAMachineFromAChange(t *testing.T) {
	times := func(metric string, center, factor float64) func(int) column {
		return func(s int) column {
			f := 1 + 0.005*math.Sin(float64(s))
			if s == 0 {
				f = factor
			}
			if metric == result.MemoryPeak {
				f *= 1 << 20 // of whole pages
			}
			return column{metric: around(center*f, 0.01, 10, s)}
		}
	}
	falls := func(metric string, limit float64) budget.Budget {
		return budget.Budget{Metric: metric, Kind: budget.MaxDecrease, Limit: limit, Level: budget.Fail}
	}
	for _, tt := range []struct {
		name     string
		sessions int
		machine  float64
		metric   string
		factor   float64
		budget   budget.Budget
		want     verdict.Outcome
		grade    string
		reason   string
		message  string // part of it
	}{
		{"a slow machine alone", 5, 1.08, "wall_time", 1.08, regression("wall_time", .05), verdict.Inconclusive, verdict.Suspect, reasonSlowMachine,
			"+8.1 %; allowed 5 %: beyond it, but the control cell was 8.3 % slower than in the stored sessions (wall_time, 7.2 to 9.4 %); with that taken off it is -0.14 %, which is not proven beyond (--base would settle it)"},
		{"and a slow change", 5, 1.08, "wall_time", 1.08 * 1.15, regression("wall_time", .05), verdict.Fail, "", "", ""},
		{"a slow change alone", 5, 1, "wall_time", 1.08, regression("wall_time", .05), verdict.Fail, "", "", ""},
		{"less than is worth a word", 5, 1.025, "wall_time", 1.08, regression("wall_time", .06), verdict.Fail, "", "", ""},
		{"CPU time against CPU time", 5, 1.08, "cpu_time", 1.08, regression("cpu_time", .05), verdict.Inconclusive, verdict.Suspect, reasonSlowMachine, "(cpu_time, "},
		{"a rate falls", 5, 1.08, "throughput", 1 / 1.08, regression("throughput", .05), verdict.Inconclusive, verdict.Suspect, reasonSlowMachine, "is not proven beyond"},
		{"a rate falls by itself", 5, 0.92, "throughput", 1 / 1.08, regression("throughput", .05), verdict.Fail, "", "", ""},
		{"a percentile", 5, 1.08, "latency_p99", 1.08, regression("latency_p99", .05), verdict.Inconclusive, verdict.Suspect, reasonSlowMachine, ""},
		{"memory is not the clock's", 5, 1.08, "memory_peak", 1.08, regression("memory_peak", .05), verdict.Fail, "", "", ""},
		{"a count neither", 5, 1.08, "allocs_per_op", 1.08, regression("allocs_per_op", .05), verdict.Fail, "", "", ""},
		{"a fast machine hides a slow change", 5, 1 / 1.08, "wall_time", 1, regression("wall_time", .05), verdict.Inconclusive, verdict.Unproven, reasonFastMachine,
			"inside it, but the control cell was 7.2 % faster than in the stored sessions (wall_time, 6.2 to 8.1 %); with that taken off it is +7.8 %, which is not proven inside"},
		{"a fast machine hides nothing", 5, 1 / 1.08, "wall_time", 1 / 1.08, regression("wall_time", .05), verdict.Pass, "", "", ""},
		{"a slow machine and a pass", 5, 1.08, "wall_time", 1.02, regression("wall_time", .05), verdict.Pass, "", "", ""},
		{"a fall on a fast machine", 5, 1 / 1.08, "wall_time", 1 / 1.08, falls("wall_time", .05), verdict.Inconclusive, verdict.Suspect, reasonFastMachine, ""},
		{"a fall on a slow machine", 5, 1.08, "wall_time", 1 / 1.08, falls("wall_time", .05), verdict.Fail, "", "", ""},
		{"one session, within the allowance", 1, 1.08, "wall_time", 1.2, regression("wall_time", .05), verdict.Fail, "", "", ""},
		{"one session, beyond it", 1, 1.25, "wall_time", 1.25, regression("wall_time", .05), verdict.Inconclusive, verdict.Suspect, reasonSlowMachine, ""},
		{"one session, and a slow change", 1, 1.25, "wall_time", 1.25 * 1.3, regression("wall_time", .05), verdict.Fail, "", "", ""},
		{"an amount in place of a share", 5, 1.08, "wall_time", 1.08, budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Amount: .05, Level: budget.Fail}, verdict.Inconclusive, verdict.Suspect, reasonSlowMachine, ""},
		{"a budget that only warns", 5, 1.08, "wall_time", 1.08, budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: .05, Level: budget.Warn}, verdict.Inconclusive, verdict.Suspect, reasonSlowMachine, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cur, b := twoStates(tt.sessions, tt.machine, times(tt.metric, 1, tt.factor))
			f := own(t, onControl(t, cur, b, tt.budget))
			if f.Outcome != tt.want || f.Grade != tt.grade || tt.reason != "" && !slices.Contains(f.Reasons, tt.reason) || !strings.Contains(f.Message, tt.message) {
				t.Errorf("%s %s %v: %s", f.Outcome, f.Grade, f.Reasons, f.Message)
			}
			if s := f.Settle; tt.reason != "" && s != nil && (s.Repeats > 0 || s.Sessions > 0) {
				t.Errorf("more of the same machine would settle it: %+v", s)
			}
			if tt.reason == "" && (slices.Contains(f.Reasons, reasonSlowMachine) || slices.Contains(f.Reasons, reasonFastMachine)) {
				t.Errorf("%v: %s", f.Reasons, f.Message)
			}
		})
	}
}

// What the machine's speed moves, and which way.
func TestSenseOfTime(t *testing.T) {
	for _, tt := range []struct {
		unit, per string
		class     result.Class
		want      float64
	}{
		{"s", "", result.Noisy, +1}, {"s", "op", result.Noisy, +1}, {"s/frame", "", result.Noisy, +1}, {"s", "", result.Tail, +1},
		{"1/s", "", result.Noisy, -1}, {"B/s", "", result.Noisy, -1}, {"tok/s", "", result.Tail, -1}, {"frames", "s", result.Noisy, -1},
		{"s", "", result.Counted, 0}, {"s", "", result.Exact, 0}, {"1/s", "", result.Level, 0},
		{"B", "", result.Noisy, 0}, {"J", "token", result.Noisy, 0}, {"W", "", result.Noisy, 0}, {"1", "", result.Noisy, 0}, {"s", "s", result.Noisy, 0}, {"s/s", "", result.Noisy, 0},
	} {
		if got := senseOfTime(result.Metric{Unit: tt.unit, Per: tt.per, Class: tt.class}); got != tt.want {
			t.Errorf("%q per %q, %s: %g, want %g", tt.unit, tt.per, tt.class, got, tt.want)
		}
	}
}

// A suspect of a slow machine is measured again beside the base build.
func TestASlowMachineIsSettledBesideTheBaseBuild(t *testing.T) {
	cur, b := twoStates(5, 1.08, func(s int) column {
		return column{"wall_time": around([]float64{1.08, 1, 1.005, 1, .995, 1}[s], 0.01, 10, s)}
	})
	v := onControl(t, cur, b, regression("wall_time", .05))
	doubts := Unsettled(v)
	if len(doubts) != 1 || doubts[0].Cell.Benchmark != "x" || v.ExitCode != ExitPass || v.Outcome != verdict.Inconclusive {
		t.Errorf("%v, %s exit %d", doubts, v.Outcome, v.ExitCode)
	}
	if s := own(t, v).Settle; s == nil || !s.Base {
		t.Errorf("settled by %+v", s)
	}
}

// randomControl adds a control cell to some of the documents of a case: as fast as
// the machine was, or in any other state.
func (rc randomCase) randomControl(r *rand.Rand) {
	add := func(d *result.Document, state float64) {
		if r.IntN(10) == 0 {
			return
		}
		n := 1 + r.IntN(12)
		damage(r, withControl(d, lognormal(r, .04*state, .02, n), lognormal(r, .035*state, .02, n)))
	}
	add(rc.cur, []float64{1, 1, 1.05, 1.3, 2, .7}[r.IntN(6)])
	for _, d := range rc.stored {
		add(d, 1+.02*r.NormFloat64())
	}
}

func (rc randomCase) judgeWith(t *testing.T, control bool) *verdict.Document {
	t.Helper()
	p := DefaultPolicy()
	p.Control, p.Measured = control, rc.measured
	var b *baseline.Baseline
	if len(rc.stored) > 0 {
		b = stored(rc.stored...)
	}
	v, err := Evaluate(Input{Current: rc.cur, Baseline: b, Budgets: rc.budgets, Policy: p, Command: "perfweir ci"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The control cell only takes back: no pass becomes a fail for it, nothing undecided
// becomes decided, and beside the outcomes that it takes back nothing is another.
func TestControlOnlyTakesBack(t *testing.T) {
	fails, passes, rows := 0, 0, 0
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		rc.budgets = append(rc.budgets, budget.Budget{Metric: "cpu_time", Kind: budget.MaxDecrease, Limit: .02, Level: budget.Fail})
		rc.randomControl(r)
		rc.measured = randomMeasured(r, rc.cur)
		without, with := rc.judgeWith(t, false), rc.judgeWith(t, true)
		if len(without.Findings) != len(with.Findings) || without.Policy.Family != with.Policy.Family || len(without.Cells) != len(with.Cells) {
			t.Fatalf("%d and %d findings, families %d and %d, %d and %d cells", len(without.Findings), len(with.Findings),
				without.Policy.Family, with.Policy.Family, len(without.Cells), len(with.Cells))
		}
		for i := range with.Findings {
			a, b := &without.Findings[i], &with.Findings[i]
			took := slices.Contains(b.Reasons, reasonSlowMachine) || slices.Contains(b.Reasons, reasonFastMachine)
			switch {
			case a.Outcome == b.Outcome && !took:
				if a.Message != b.Message {
					t.Errorf("%q and %q", a.Message, b.Message)
				}
			case took && a.Outcome == verdict.Fail && b.Grade == verdict.Suspect:
				fails++
			case took && (a.Outcome == verdict.Pass || a.Outcome == verdict.Suspicious) && b.Grade == verdict.Unproven:
				passes++
			default:
				t.Errorf("%s %s becomes %s %s %v: %s", a.Outcome, a.Grade, b.Outcome, b.Grade, b.Reasons, b.Message)
			}
			// A slow machine takes back that a time is too long, and that it is not too
			// short; of a rate of work the same.
			slow := (a.Outcome == verdict.Fail) != (with.Budgets[b.Budget].Kind == budget.MaxDecrease)
			if took && slices.Contains(b.Reasons, reasonSlowMachine) != slow {
				t.Errorf("%s is taken back for %v: %s", a.Outcome, b.Reasons, b.Message)
			}
			if took && (a.P == nil || b.P == nil || *a.P != *b.P) {
				t.Errorf("another p: %v and %v", a.P, b.P)
			}
		}
		if with.ExitCode > without.ExitCode {
			t.Errorf("exit %d becomes %d", without.ExitCode, with.ExitCode)
		}
		for i := range with.Cells {
			if with.Cells[i].Benchmark == result.ControlBenchmark {
				rows++
			}
		}
	})
	if fails == 0 || passes == 0 {
		t.Errorf("%d fails and %d passes were taken back: the property was not tried", fails, passes)
	}
	if rows > 0 {
		t.Errorf("%d control cells are rows of a verdict", rows)
	}
}

// What is slower seen from one side is faster seen from the other.
func TestControlSwapOfSides(t *testing.T) {
	moved := 0
	for i := range 300 {
		r := rand.New(rand.NewPCG(uint64(i), 5))
		n, state := 2+r.IntN(10), math.Exp(.1*r.NormFloat64())
		a, b := doc("a", 0), doc("b", 0)
		for _, d := range []*result.Document{a, b} {
			cell(d, "x", "", column{"wall_time": lognormal(r, 1, .02, n)})
		}
		withControl(a, lognormal(r, .04*state, .02, n), lognormal(r, .03*state, .02, n))
		withControl(b, lognormal(r, .04, .02, n), lognormal(r, .03, .02, n))
		look := func(cur, ref *result.Document) []verdict.ControlMetric {
			p := DefaultPolicy()
			p.Control, p.Allowance = true, nil // what is allowed upwards is another factor downwards
			v, err := Evaluate(Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{regression("wall_time", .05)}, Policy: p})
			if err != nil {
				t.Fatal(err)
			}
			return v.Control.Metrics
		}
		there, back := look(a, b), look(b, a)
		other := map[string]string{verdict.ControlSlower: verdict.ControlFaster, verdict.ControlFaster: verdict.ControlSlower}
		for k := range there {
			if back[k].Moved != other[there[k].Moved] || math.Abs(there[k].Ratio*back[k].Ratio-1) > 1e-9 {
				t.Fatalf("case %d: %+v there, %+v back", i, there[k], back[k])
			}
			if there[k].Moved != "" {
				moved++
			}
		}
	}
	if moved < 100 {
		t.Errorf("only %d moved", moved)
	}
}
