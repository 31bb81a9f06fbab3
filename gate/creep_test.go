package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// crept are nights that follow each other at the given levels, the oldest of which
// are those of the anchor; the ten newest are the baseline.
func crept(now float64, anchored int, levels ...float64) Input {
	cur, old := nights(now, levels...)
	b := stored(old[:min(10, len(old)-anchored)]...)
	b.Anchor = &baseline.Anchored{Name: "v1.4.0", Commit: strings.Repeat("a", 40)}
	for _, d := range old[len(old)-anchored:] {
		b.Anchor.Sessions = append(b.Anchor.Sessions, baseline.Stored{File: "anchor.json", Doc: d})
	}
	return Input{Current: cur, Baseline: b, Budgets: []budget.Budget{regression("wall_time", .05)}, Policy: DefaultPolicy()}
}

func creepsOf(v *verdict.Document) []*verdict.Finding {
	var out []*verdict.Finding
	for i := range v.Findings {
		if f := &v.Findings[i]; slices.Contains(f.Reasons, reasonCreep) {
			out = append(out, f)
		}
	}
	return out
}

// Twelve steps of 1.5 % that each fit a budget of 5 % are 20 %: told, and not red
// (V18).
func TestCreep(t *testing.T) {
	levels := []float64{1, 1, 1}
	for i := range 12 {
		levels = append(levels, math.Pow(1.015, float64(i+1)))
	}
	now := math.Pow(1.015, 12)
	v := judged(t, crept(now, 3, levels...))
	if v.ExitCode != ExitPass || v.Outcome == verdict.Fail {
		t.Errorf("%s exit %d: %v", v.Outcome, v.ExitCode, v.Reasons)
	}
	told := creepsOf(v)
	if len(told) != 3 {
		t.Fatalf("%d creeps told, want one a cell: %v", len(told), v.Reasons)
	}
	for _, f := range told {
		c := v.Comparisons[*f.Comparison]
		if f.Gated || f.Outcome != verdict.Fail || c.Against != verdict.AgainstAnchor || c.Sessions != 3 || c.Ratio == nil || *c.Ratio < 1.1 || *c.Ratio > 1.21 {
			t.Errorf("%+v of %+v", f, c)
		}
		if !strings.HasPrefix(f.Message, "creep since v1.4.0: wall_time ") || !strings.Contains(f.Message, "in 10 stored sessions; allowed 5 %") {
			t.Error(f.Message)
		}
	}
	if a := v.Baseline.Anchor; a == nil || a.Name != "v1.4.0" || len(a.Sessions) != 3 {
		t.Errorf("anchor %+v", a)
	}
}

// What is no creep.
func TestNoCreep(t *testing.T) {
	rising := []float64{1, 1, 1, 1.02, 1.04, 1.06, 1.08, 1.1, 1.12, 1.14, 1.16, 1.18}
	for _, tt := range []struct {
		name string
		in   Input
		want int
	}{
		{"it rises", crept(1.18, 3, rising...), 3},
		{"nothing changed", crept(1, 1, 1, 1, 1, 1, 1, 1, 1), 0},
		{"it became better", crept(.9, 1, 1, .98, .96, .94, .92, .9, .9), 0},
		{"a few percent, inside the budget", crept(1.02, 1, 1, 1, 1.01, 1.01, 1.02, 1.02, 1.02), 0},
		{"this change alone breaks the budget", crept(1.5, 1, 1, 1, 1, 1, 1, 1, 1), 0},
		{"the anchor is the newest session", func() Input {
			in := crept(1.18, 3, rising...)
			in.Baseline.Anchor.Sessions = in.Baseline.Sessions[:1]
			return in
		}(), 0},
		{"a step since was accepted", func() Input {
			in := crept(1.18, 3, rising...)
			in.Accepted = []budget.Exception{{Metric: "wall_time", Limit: .5, Reason: "checksums", Expires: "2020-01-01"}}
			accepting(in.Accepted[0], 3, in.Baseline.Sessions)
			return in
		}(), 0},
		{"a step before the anchor was accepted", func() Input {
			in := crept(1.18, 3, rising...)
			in.Accepted = []budget.Exception{{Metric: "wall_time", Limit: .5, Reason: "checksums", Expires: "2020-01-01"}}
			accepting(in.Accepted[0], 99, in.Baseline.Sessions)
			accepting(in.Accepted[0], 1, in.Baseline.Anchor.Sessions)
			return in
		}(), 3},
		{"the budget only warns", func() Input {
			in := crept(1.18, 3, rising...)
			in.Budgets[0].Level = budget.Warn
			return in
		}(), 0},
		{"the anchor measured something else", func() Input {
			in := crept(1.18, 3, rising...)
			for _, s := range in.Baseline.Anchor.Sessions {
				for i := range s.Doc.Cells {
					s.Doc.Cells[i].Digest = "sha256:other"
				}
			}
			return in
		}(), 0},
		{"few sessions: beyond the allowance as well", crept(1.3, 1, 1, 1.12, 1.25, 1.28), 3},
		{"few sessions: between budget and allowance", crept(1.1, 1, 1, 1.03, 1.06, 1.09), 0},
	} {
		if v := judged(t, tt.in); len(creepsOf(v)) != tt.want {
			t.Errorf("%s: %d told, want %d (%s)", tt.name, len(creepsOf(v)), tt.want, decisions(v))
		}
	}
}

// On a machine that the control cell proves slow nothing is told; on any other it is.
func TestNoCreepOfASlowMachine(t *testing.T) {
	for _, tt := range []struct {
		name    string
		machine float64
		want    int
	}{{"usual", 1, 3}, {"8 % slower", 1.08, 0}, {"8 % faster", 1 / 1.08, 3}} {
		in := crept(1.08, 3, 1, 1.002, .998, 1.076, 1.08, 1.078, 1.082, 1.08)
		in.Policy.Control = true
		withControl(in.Current, around(.04*tt.machine, .01, 10, 9), around(.03*tt.machine, .01, 10, 9))
		for i, s := range in.Baseline.Sessions {
			state := 1 + .002*float64(i%3)
			withControl(s.Doc, around(.04*state, .01, 10, i), around(.03*state, .01, 10, i))
		}
		v := judged(t, in)
		if len(creepsOf(v)) != tt.want {
			t.Errorf("%s: %d told, want %d: %s", tt.name, len(creepsOf(v)), tt.want, decisions(v))
		}
		if tt.machine != 1 && v.Control.Metrics[0].Moved == "" {
			t.Errorf("%s: the control cell says nothing: %+v", tt.name, v.Control.Metrics)
		}
	}
}

// Exact metrics creep exactly.
func TestExactCreep(t *testing.T) {
	in := crept(1, 1, 1, 1, 1)
	at := map[string]float64{"now": 1060, "n2": 1060, "n1": 1030, "n0": 1000}
	for _, d := range []*result.Document{in.Current, in.Baseline.Sessions[0].Doc, in.Baseline.Sessions[1].Doc, in.Baseline.Anchor.Sessions[0].Doc} {
		d.Cells = d.Cells[:1]
		d.Cells[0].Columns[0] = result.Column{Metric: "output_size", V: repeat(at[d.Sessions[0].ID], 10)}
	}
	in.Budgets = []budget.Budget{regression("output_size", .05)}
	v := judged(t, in)
	if told := creepsOf(v); len(told) != 1 || !strings.Contains(told[0].Message, "in 2 stored sessions") || v.ExitCode != ExitPass {
		t.Errorf("%+v", told)
	}
}
