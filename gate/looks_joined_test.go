package gate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// joinedInput is a random case with all that may stand beside looks: invalid runs,
// an anchor, a cell that is quarantined, a change that is accepted, the base build.
func joinedInput(r *rand.Rand, rc randomCase) Input {
	in := Input{Current: rc.cur, Budgets: rc.budgets, Policy: DefaultPolicy(), Command: "perfweir ci"}
	if n := len(rc.stored); n > 0 {
		in.Baseline = stored(rc.stored[:max(1, n-2)]...)
		if n > 2 {
			in.Baseline.Anchor = &baseline.Anchored{Name: "v1", Sessions: []baseline.Stored{{File: "a.json", Doc: rc.stored[n-1]}, {File: "b.json", Doc: rc.stored[n-2]}}}
		}
	}
	if r.IntN(3) == 0 {
		in.Quarantine = []budget.Exception{{Benchmark: "bench0", Reason: "flaky", Expires: "2026-12-31"}}
	}
	if r.IntN(3) == 0 {
		in.Accepted = []budget.Exception{{Metric: "wall_time", Limit: 0.5, Text: "50%", Reason: "checksums", Expires: "2026-12-31"}}
	}
	disturb(r, rc.cur)
	if r.IntN(2) == 0 {
		addTwins(r, rc.cur)
	}
	in.Policy.Measured = randomMeasured(r, rc.cur)
	return in
}

func disturb(r *rand.Rand, d *result.Document) {
	for i := range d.Cells {
		runs := &d.Cells[i].Runs
		for k := range runs.Len() {
			if r.IntN(12) == 0 {
				if runs.Detail == nil {
					runs.Detail = map[int]result.Detail{}
				}
				runs.Detail[k] = result.Detail{Valid: new(bool), Warnings: []string{"invalid: throttled"}}
			}
		}
	}
}

// addTwins adds each cell's twin on the base build, behind all of head's.
func addTwins(r *rand.Rand, d *result.Document) {
	for _, head := range slices.Clone(d.Cells) {
		twin := head
		twin.Columns = nil
		for _, c := range head.Columns {
			v := slices.Clone(c.V)
			for i := range v {
				v[i] *= 1 + 0.03*r.NormFloat64()
			}
			twin.Columns = append(twin.Columns, result.Column{Metric: c.Metric, Phase: c.Phase, Part: c.Part, V: v, Absent: c.Absent})
		}
		d.Cells = append(d.Cells, *onBase(d, &twin))
	}
}

// TestLooksBesideTheRest: a second judge comes to the bytes of the live loop, and
// what a look decided stands, with everything else that judges along.
func TestLooksBesideTheRest(t *testing.T) {
	seen := map[string]int{}
	for i := range manyOf(400) {
		r := rand.New(rand.NewPCG(uint64(i), 78))
		in := joinedInput(r, newLookedCase(r))
		judge := func(d *result.Document) *verdict.Document {
			in := in
			in.Current = d
			return judgedInput(t, in)
		}
		last, d, all := live(t, in.Current, judge)
		if got, want := asBytes(t, judge(reread(t, d))), asBytes(t, last); !bytes.Equal(got, want) {
			t.Fatalf("case %d: a second judge comes to other bytes", i)
		}
		for look, v := range all {
			agree(t, i, look+1, v, last)
		}
		paired := len(d.Builds) > 1
		for k, c := range last.Cells {
			if c.Seen != c.Expected() {
				t.Errorf("case %d: cell %s saw %d of %d repeats", i, c.Name, c.Seen, c.Expected())
			}
			if paired && d.Cells[k].Runs.Len() != d.Cells[k+len(last.Cells)].Runs.Len() {
				t.Errorf("case %d: cell %s and its twin went different ways", i, c.Name)
			}
		}
		count(seen, last, paired)
		if t.Failed() {
			t.FailNow()
		}
	}
	for _, what := range []string{"creep", "quarantined", "accepted", "paired", "later", "invalid"} {
		if seen[what] < manyOf(10) {
			t.Errorf("seen %v: too few of %s for a test", seen, what)
		}
	}
}

// count notes what a verdict has of what the test is about.
func count(seen map[string]int, v *verdict.Document, paired bool) {
	seen["creep"] += len(creepsOf(v))
	for o, n := range v.Counts.Findings {
		seen[string(o)] += n
	}
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Look > 1 && f.Gated {
			seen["later"]++
			if paired && f.Comparison != nil && v.Comparisons[*f.Comparison].Against == budget.AgainstBase {
				seen["paired"]++
			}
		}
	}
}

// What is quarantined shares no error with the others at any look, and keeps no
// cell going.
func TestLooksOfQuarantine(t *testing.T) {
	cur, old := doc("cur", 0), doc("old", 1)
	for i := range 3 {
		cell(cur, fmt.Sprint("x", i), "", column{"wall_time": around(1.02, 0.05, 12, 0)})
		cell(old, fmt.Sprint("x", i), "", column{"wall_time": around(1, 0.05, 12, 9)})
	}
	in := Input{Current: measured(looked(cur, 3, 6, 12), 1, nil), Baseline: stored(old), Budgets: []budget.Budget{regression("wall_time", 0.05)}}
	if got := Undecided(judgedInput(t, in)); len(got) != 3 {
		t.Fatalf("%v go on, want all three", got)
	}
	in.Quarantine = []budget.Exception{{Benchmark: "x1", Reason: "flaky", Expires: "2026-12-31"}}
	v := judgedInput(t, in)
	if got := Undecided(v); !slices.Equal(got, []int{0, 2}) || v.Policy.Family != 2 {
		t.Errorf("%v go on in a family of %d, want 0 and 2 in one of 2", got, v.Policy.Family)
	}
}
