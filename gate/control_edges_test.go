package gate

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Where there is nothing to hold the control cell against, that is said once, and all
// else is as without it. It is no cell of the suite: not new, not gone, not counted.
func TestControlWithoutNumbers(t *testing.T) {
	docs := func(here, there bool) (*result.Document, *baseline.Baseline) {
		cur, ref := doc("02", 0), doc("01", 1)
		for _, d := range []*result.Document{cur, ref} {
			cell(d, "x", "", column{"wall_time": around(1, 0.01, 10, 1)})
		}
		if here {
			withControl(cur, around(.04, .01, 10, 1), around(.03, .01, 10, 1))
		}
		if there {
			withControl(ref, around(.04, .01, 10, 1), around(.03, .01, 10, 1))
		}
		return cur, stored(ref)
	}
	ten := regression("wall_time", .1)
	for _, tt := range []struct {
		name   string
		change func(cur *result.Document, b *baseline.Baseline)
		here   bool
		there  bool
		want   string
	}{
		{"not stored yet", nil, true, false, "no stored session has the same control cell"},
		{"not measured", nil, false, true, "this session has no control cell"},
		{"of another program", func(cur *result.Document, _ *baseline.Baseline) { cur.Cells[1].Digest = "sha256:2" }, true, true, "no stored session has the same control cell"},
		{"cannot run here", func(cur *result.Document, _ *baseline.Baseline) {
			cur.Skipped = []result.Skipped{{Name: result.ControlBenchmark, Why: "the control cell cannot run here: no program"}}
		}, false, true, "the control cell cannot run here: no program"},
		{"never ended well", func(cur *result.Document, _ *baseline.Baseline) {
			c := &cur.Cells[1]
			c.Runs.Status, c.Runs.Detail = map[int]result.Status{}, map[int]result.Detail{0: {Reason: "exit 1"}}
			for i := range c.Runs.Len() {
				c.Runs.Status[i] = result.Failed
			}
		}, true, true, "no run of it ended well (exit 1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cur, b := docs(tt.here, tt.there)
			if tt.change != nil {
				tt.change(cur, b)
			}
			v := onControl(t, cur, b, ten)
			if v.Control == nil || v.Control.Why != tt.want || len(v.Control.Metrics) > 0 {
				t.Errorf("control: %+v", v.Control)
			}
			off := evaluate(t, cur, b, ten)
			if off.Control != nil || len(off.Skipped) > 0 {
				t.Errorf("without the key: %+v, skipped %v", off.Control, off.Skipped)
			}
			v.Control, v.Policy.Control = nil, false
			if a, b := asBytes(t, v), asBytes(t, off); !bytes.Equal(a, b) {
				t.Errorf("another verdict:\n%s\n%s", a, b)
			}
			if len(v.Cells) != 1 || v.Counts.PlannedRuns != 10 || v.Outcome != verdict.Pass {
				t.Errorf("%d cells, %d runs planned, %s", len(v.Cells), v.Counts.PlannedRuns, v.Outcome)
			}
		})
	}
	cur, _ := docs(true, false)
	if v := onControl(t, cur, nil, ten); v.Control != nil {
		t.Errorf("without a baseline: %+v", v.Control)
	}
}

// Each session has its own machine: what shards measured side by side is held against
// the control cell of the runner that measured it.
func TestControlOfTheSameSession(t *testing.T) {
	cur, b := twoStates(5, 1, func(s int) column {
		return column{"wall_time": around([]float64{1.08, 1, 1.005, 1, .995, 1}[s], 0.01, 10, s)}
	})
	second := cur.Sessions[0]
	second.ID = "06b"
	cur.Sessions = append(cur.Sessions, second)
	cur.Cells = cur.Cells[:1]
	y := cell(cur, "y", "", column{"wall_time": around(1.08, 0.01, 10, 3)})
	y.Runs.Session = slices.Repeat([]int{1}, 10)
	for s, at := range b.Sessions {
		cell(at.Doc, "y", "", column{"wall_time": around([]float64{1, 1.005, 1, .995, 1}[s], 0.01, 10, s)})
	}
	wall := slices.Concat(around(.04*1.08, .01, 10, 1), around(.04, .01, 10, 2))
	c := withControl(cur, wall, wall)
	c.Runs.Session = slices.Concat(slices.Repeat([]int{0}, 10), slices.Repeat([]int{1}, 10))
	v := onControl(t, cur, b, regression("wall_time", .05))
	for i := range v.Findings {
		f := &v.Findings[i]
		if v.Budgets[f.Budget].Implicit {
			continue
		}
		want := map[string]verdict.Outcome{"x": verdict.Inconclusive, "y": verdict.Fail}[v.Cells[f.Cell].Name]
		if f.Outcome != want {
			t.Errorf("%s: %s: %s", v.Cells[f.Cell].Name, f.Outcome, f.Message)
		}
	}
}

// What was decided at a look stands on the control runs that there were by then,
// however the machine went on.
func TestControlAtALook(t *testing.T) {
	for _, tt := range []struct {
		name        string
		first, then float64 // the control cell at the first look, and behind it
		want        verdict.Outcome
	}{
		{"slow at first", 1.08, 1, verdict.Inconclusive},
		{"slow behind it", 1, 1.5, verdict.Fail},
	} {
		cur, b := twoStates(6, 1, func(s int) column {
			return column{"wall_time": around([]float64{1.08, 1, 1.005, 1, .995, 1, 1}[s], 0.01, 10, s)}
		})
		cur.Cells = cur.Cells[:1]
		control := slices.Concat(around(.04*tt.first, .01, 5, 1), around(.04*tt.then, .01, 5, 2))
		withControl(cur, control, control)
		v := onControl(t, looked(cur, 5, 10), b, regression("wall_time", .05))
		if f := own(t, v); f.Outcome != tt.want || f.Look != 1 || v.Cells[0].Stop != stopDecided {
			t.Errorf("%s: %s at look %d, stop %s: %s", tt.name, f.Outcome, f.Look, v.Cells[0].Stop, f.Message)
		}
	}
}

// A shift of the whole has a name where there is a control cell.
func TestUniformShiftBesideTheControl(t *testing.T) {
	for _, tt := range []struct {
		name    string
		machine float64
		want    string
	}{
		{"steady", 1, "the control cell did not move (+0.51 %), so the change is the likelier cause"},
		{"as much", 1.07, "by about as much: it is the machine rather than the change"},
		{"twice as much", 1.15, "which is not all of it"},
		{"the other way", 1 / 1.07, "which is not all of it"},
	} {
		var docs []*result.Document
		for s := range 6 {
			d := doc(fmt.Sprintf("%02d", 5-s), s)
			state, factor := 1+.003*math.Cos(float64(s)), 1.0
			if s == 0 {
				state, factor = tt.machine*1.003, 1.07
			}
			for i := range 6 {
				cell(d, fmt.Sprint("c", i), "", column{"wall_time": around(factor*(1+.003*math.Sin(float64(s+i))), 0.01, 10, i)})
			}
			withControl(d, around(.04*state, .01, 10, s), around(.03*state, .01, 10, s))
			docs = append(docs, d)
		}
		v := onControl(t, docs[0], stored(docs[1:]...), regression("wall_time", .1))
		if text := strings.Join(v.Warnings, "\n"); !strings.Contains(text, "6 of 6 cells moved by about +7") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, text, tt.want)
		}
	}
}

// Base's file says whether the control cell has a say; a difference is a warning.
func TestControlIsTheComparisonCommits(t *testing.T) {
	for _, tt := range []struct {
		head, base bool
		want       verdict.Outcome
		warns      bool
	}{{true, true, verdict.Inconclusive, false}, {false, true, verdict.Inconclusive, true}, {true, false, verdict.Fail, true}, {false, false, verdict.Fail, false}} {
		cur, b := twoStates(5, 1.08, func(s int) column {
			return column{"wall_time": around([]float64{1.08, 1, 1.005, 1, .995, 1}[s], 0.01, 10, s)}
		})
		head, base := DefaultPolicy(), DefaultPolicy()
		head.Control, base.Control = tt.head, tt.base
		five := []budget.Budget{regression("wall_time", .05)}
		v, err := Evaluate(Input{Current: cur, Baseline: b, Budgets: five, Policy: head,
			Base: &Rules{Commit: "77fe1234", Budgets: five, Policy: base, Cells: []BenchmarkVariant{{Benchmark: "x"}}}})
		if err != nil {
			t.Fatal(err)
		}
		warned := strings.Contains(strings.Join(v.Warnings, "\n"), fmt.Sprintf("gate.control is %v in this change: until the merge %v decides", tt.head, tt.base))
		if f := own(t, v); f.Outcome != tt.want || warned != tt.warns || v.Policy.Control != tt.base || len(v.Loosened) > 0 {
			t.Errorf("head %v, base %v: %s, warnings %q, loosened %v", tt.head, tt.base, f.Outcome, v.Warnings, v.Loosened)
		}
	}
}
