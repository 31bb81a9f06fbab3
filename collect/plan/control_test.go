package plan

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

// Whatever the suite, the shard, the selection and the base build: one control cell,
// the last, with one run in every round of blocks, and the rest of the plan as it is
// without.
func TestControlCell(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 8))
		s, f := anySuite(r)
		f.Builds = map[string]result.Build{"head": {}}
		whole, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		groups, _ := runsOf(whole)
		if of := 1 + r.IntN(len(groups)); of > 1 {
			f.Shard = Shard{Index: 1 + r.IntN(of), Of: of}
		} else if r.IntN(2) == 0 {
			f.Selected = "b0"
		}
		if r.IntN(2) == 0 {
			f.Base = &Base{Root: "/base"}
		}
		s.Limits.Cells = len(whole.Cells) // the control cell is beside them
		without, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		f.Control = &Control{Digest: "sha256:1"}
		with, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		if !with.HasControl() || without.HasControl() || !reflect.DeepEqual(with.SuiteCells(), without.Cells) {
			t.Fatalf("suite %d: %d cells with it, %d without", seed, len(with.Cells), len(without.Cells))
		}
		if with.Digest == without.Digest || with.Whole != without.Whole || !reflect.DeepEqual(with.Dealt, without.Dealt) || !slices.Equal(with.Looks, without.Looks) {
			t.Fatalf("suite %d: digests %s and %s, whole %s and %s", seed, with.Digest, without.Digest, with.Whole, without.Whole)
		}
		last := len(with.Cells) - 1
		c := &with.Cells[last]
		if c.Name != result.ControlBenchmark || c.ID() != (result.ID{Benchmark: result.ControlBenchmark, Build: result.BuildHead}) || c.Repeats != maxRepeats(without.Cells) {
			t.Fatalf("suite %d: control cell %+v", seed, c)
		}
		checkRounds(t, with, last)
		if t.Failed() {
			t.Fatalf("suite %d", seed)
		}
	}
}

// checkRounds wants a cell to run once in every block, with every round's others.
func checkRounds(t *testing.T, p *Plan, cell int) {
	t.Helper()
	first, end := map[[2]int]int{}, map[[2]int]int{} // of a round: look and block
	at := map[[2]int]int{}
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		if r.Repeat == 0 {
			continue
		}
		round := [2]int{r.Look, r.Block}
		if r.Cell == cell {
			if _, twice := at[round]; twice || r.Repeat != r.Block {
				t.Fatalf("round %v has it twice, or as repeat %d", round, r.Repeat)
			}
			at[round] = i
		}
		if _, there := first[round]; !there {
			first[round] = i
		}
		end[round] = i
	}
	if len(at) != p.Cells[cell].Repeats || len(at) != len(first) {
		t.Fatalf("it runs in %d rounds of %d, %d repeats", len(at), len(first), p.Cells[cell].Repeats)
	}
	for round, i := range at {
		if i < first[round] || i > end[round] {
			t.Fatalf("round %v: it runs outside", round)
		}
	}
}

// With looks it has runs at each, and goes on with whatever goes on.
func TestControlCellAtLooks(t *testing.T) {
	s := &Suite{Name: "s", Benchmarks: []Benchmark{
		{Name: "a", Looks: []int{3, 6, 12}, Exec: Exec{Argv: []string{"a"}}},
		{Name: "b", Looks: []int{3, 6}, Exec: Exec{Argv: []string{"b"}}},
		{Name: "c", Repeats: 4, Exec: Exec{Argv: []string{"c"}}},
	}}
	p, err := Make(s, Facts{Root: "/suite", Seed: 1, Control: &Control{Digest: "sha256:1"}})
	if err != nil {
		t.Fatal(err)
	}
	c := &p.Cells[3]
	if !slices.Equal(c.Looks, []int{3, 6, 12}) || c.Repeats != 12 {
		t.Fatalf("looks %v, %d repeats", c.Looks, c.Repeats)
	}
	for _, tt := range []struct {
		look   int
		goesOn []int
		want   []int
	}{{1, []int{0, 1, 2}, []int{0, 1, 2, 3}}, {2, []int{0}, []int{0, 3}}, {2, nil, nil}, {3, []int{1}, nil}, {3, []int{0}, []int{0, 3}}} {
		sel := p.Only(tt.look, func(i int) bool { return slices.Contains(tt.goesOn, i) })
		if !slices.Equal(sel.Cells, tt.want) {
			t.Errorf("look %d of %v: %v, want %v", tt.look, tt.goesOn, sel.Cells, tt.want)
		}
	}
	if got := p.All(3).Cells; !slices.Equal(got, []int{0, 3}) {
		t.Errorf("look 3 has %v", got)
	}
}

// Its digest is that of its program alone: stored sessions of any suite and version
// that has the same program are compared.
func TestControlDigest(t *testing.T) {
	digest := func(suite, root, program string) string {
		s := &Suite{Name: suite, Benchmarks: []Benchmark{{Name: suite, Repeats: 3, Exec: Exec{Argv: []string{suite}}}}}
		p, err := Make(s, Facts{Root: root, Control: &Control{Digest: program}})
		if err != nil {
			t.Fatal(err)
		}
		return p.Cells[1].Digest
	}
	if digest("a", "/a", "sha256:1") != digest("b", "/b", "sha256:1") || digest("a", "/a", "sha256:1") == digest("a", "/a", "sha256:2") {
		t.Error("its digest is not that of its program")
	}
}

// Where it cannot run it is left out, and said; the plan is one without it.
func TestControlThatCannotRun(t *testing.T) {
	s := &Suite{Name: "s", Benchmarks: []Benchmark{{Name: "a", Repeats: 2, Exec: Exec{Argv: []string{"a"}}}}}
	p, err := Make(s, Facts{Root: "/s", Control: &Control{Why: "no program for this system"}})
	if err != nil {
		t.Fatal(err)
	}
	if p.HasControl() || len(p.Skipped) != 1 || p.Skipped[0] != (result.Skipped{Name: result.ControlBenchmark, Why: "no program for this system"}) {
		t.Errorf("%d cells, left out %v", len(p.Cells), p.Skipped)
	}
}

// Whoever resumes is told that the key changed, also of a shard.
func TestControlDifference(t *testing.T) {
	for _, shard := range []Shard{{}, {Index: 1, Of: 2}} {
		s, f := anySuite(rand.New(rand.NewPCG(3, 8)))
		f.Shard = shard
		was, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		f.Control = &Control{Digest: "sha256:1"}
		is, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(Differences(was, is), "; "); got != "cell perfweir-control is new" {
			t.Errorf("shard %v: %q", shard, got)
		}
	}
}
