package plan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perfweir/perfweir/collect/result"
)

// anySuite is a suite of up to eight benchmarks with inputs, variants, repeats
// and warm-ups of all sorts.
func anySuite(r *rand.Rand) (*Suite, Facts) {
	s, f := &Suite{Name: "s"}, Facts{Root: "/suite", Seed: r.Uint64(), Inputs: map[string][]InputFile{}}
	for b := range 1 + r.IntN(8) {
		bench := Benchmark{Name: fmt.Sprintf("b%d", b), Repeats: 1 + r.IntN(30), Warmups: r.IntN(3), Exec: Exec{Argv: []string{"p"}}}
		for v := range r.IntN(4) {
			repeats := 1 + r.IntN(9)
			bench.Variants = append(bench.Variants, Variant{Name: fmt.Sprintf("v%d", v), Add: []string{fmt.Sprint(v)}, Repeats: &repeats})
		}
		if len(bench.Variants) > 1 && r.IntN(2) == 0 {
			bench.Exec.Timeout = Timeout{Factor: 4, Of: "v0", Max: 60}
		}
		if n := r.IntN(6); n > 0 {
			bench.Inputs = &Inputs{Files: []string{"corpus/*"}}
			for i := range n {
				name := fmt.Sprintf("i%d", i)
				f.Inputs[bench.Name] = append(f.Inputs[bench.Name], InputFile{Name: name, Path: "/suite/corpus/" + name, Digest: "sha256:" + name})
			}
		}
		s.Benchmarks = append(s.Benchmarks, bench)
	}
	return s, f
}

// runsOf is how many runs each group of cells has, and how many there are in all.
func runsOf(p *Plan) (byGroup map[[2]string]int, all int) {
	byGroup = map[[2]string]int{}
	for i := range p.Order.Len() {
		c := &p.Cells[p.Order.Cell[i]]
		byGroup[[2]string{c.Benchmark, c.Input}]++
		all++
	}
	return byGroup, all
}

func TestShards(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, f := anySuite(r)
		whole, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		groups, _ := runsOf(whole)
		largest := 0
		for _, n := range groups {
			largest = max(largest, n)
		}
		of := 1 + r.IntN(len(groups))
		var cells []Cell
		var loads []int
		owner := map[[2]string]int{}
		digests := map[string]bool{}
		for i := 1; i <= of; i++ {
			// Every runner draws its own seed and builds its own programs.
			f.Seed, f.Shard = r.Uint64(), Shard{Index: i, Of: of}
			f.Builds = map[string]result.Build{"head": {Programs: map[string]string{"p": fmt.Sprint(i)}}}
			p, err := Make(s, f)
			if err != nil {
				t.Fatalf("suite %d shard %d/%d: %v", seed, i, of, err)
			}
			own, load := runsOf(p)
			for g, n := range own {
				if owner[g] != 0 || n != groups[g] {
					t.Fatalf("suite %d: group %v has %d of %d runs in shard %d, and is in shard %d", seed, g, n, groups[g], i, owner[g])
				}
				owner[g] = i
			}
			for c := range p.Cells {
				if ref := p.Reference(c); p.Cells[c].Exec.Timeout.Factor > 0 && ref < 0 {
					t.Fatalf("suite %d: the timeout of %s is of a cell in another shard", seed, p.Cells[c].Name)
				}
			}
			loads, cells = append(loads, load), append(cells, p.Cells...)
			digests[p.Digest] = true
			if of > 1 {
				checkDealt(t, whole, p, Shard{Index: i, Of: of})
			}
		}
		if len(owner) != len(groups) {
			t.Fatalf("suite %d: %d of %d groups were dealt", seed, len(owner), len(groups))
		}
		if slices.Min(loads) == 0 || slices.Max(loads)-slices.Min(loads) > largest {
			t.Errorf("suite %d: the shards have %v runs; the largest group has %d", seed, loads, largest)
		}
		if len(digests) != of {
			t.Errorf("suite %d: %d shards have %d digests", seed, of, len(digests))
		}
		byName := func(a, b Cell) int { return strings.Compare(a.Name, b.Name) }
		want := slices.SortedFunc(slices.Values(whole.Cells), byName)
		if got := slices.SortedFunc(slices.Values(cells), byName); !reflect.DeepEqual(got, want) {
			t.Errorf("suite %d: the shards together have other cells than the whole plan", seed)
		}
	}
}

// checkDealt: a shard's plan says what all shards do, and its own cells are those,
// in the order of the suite.
func checkDealt(t *testing.T, whole, p *Plan, s Shard) {
	t.Helper()
	if p.Shard != s.String() || p.Whole == "" || p.Whole == p.Digest || !slices.Equal(p.Looks, whole.Looks) {
		t.Fatalf("shard %s: is %q of whole %q with looks %v; the whole has %v", s, p.Shard, p.Whole, p.Looks, whole.Looks)
	}
	own := 0
	for i := range p.Dealt {
		d, c := &p.Dealt[i], &whole.Cells[i]
		if d.ID() != c.ID() || d.Name() != c.Name || d.Digest != c.Digest || d.Planned != c.Repeats {
			t.Fatalf("shard %s: entry %d is %+v, the whole plan has %s", s, i, *d, c.Name)
		}
		if d.Shard == s.Index {
			if p.Cells[own].ID() != c.ID() {
				t.Fatalf("shard %s: cell %d is %s, want %s", s, own, p.Cells[own].Name, c.Name)
			}
			own++
		}
	}
	if own != len(p.Cells) || len(p.Dealt) != len(whole.Cells) {
		t.Fatalf("shard %s: %d cells, %d of them dealt to it; %d dealt in all, the whole has %d", s, len(p.Cells), own, len(p.Dealt), len(whole.Cells))
	}
}

// Runners that see one suite agree on the whole plan whatever seed they draw and
// programs they build, and on nothing else.
func TestWholeDigest(t *testing.T) {
	whole := func(edit func(*Suite, *Facts)) string {
		s, f := suite(2, 3), facts(1)
		f.Shard = Shard{Index: 1, Of: 2}
		edit(s, &f)
		p, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		return p.Whole
	}
	base := whole(func(*Suite, *Facts) {})
	for name, edit := range map[string]func(*Suite, *Facts){
		"seed":     func(s *Suite, f *Facts) { f.Seed = 2 },
		"shard":    func(s *Suite, f *Facts) { f.Shard.Index = 2 },
		"checkout": func(s *Suite, f *Facts) { f.Root = "/elsewhere" },
		"programs": func(s *Suite, f *Facts) {
			f.Builds = map[string]result.Build{"head": {Programs: map[string]string{"bin/p": "sha256:1"}}}
		},
	} {
		if whole(edit) != base {
			t.Errorf("%s changed the digest of the whole plan", name)
		}
	}
	for name, edit := range map[string]func(*Suite, *Facts){
		"repeats":  func(s *Suite, f *Facts) { s.Benchmarks[1].Repeats = 4 },
		"warm-ups": func(s *Suite, f *Facts) { s.Benchmarks[1].Warmups = 4 },
		"timeout":  func(s *Suite, f *Facts) { s.Benchmarks[1].Exec.Timeout.Fixed = 4 },
		"argument": func(s *Suite, f *Facts) { s.Benchmarks[1].Exec.Argv = []string{"true", "x"} },
		"input":    func(s *Suite, f *Facts) { f.Inputs["a"][1].Digest = "sha256:3" },
		"cell":     func(s *Suite, f *Facts) { s.Benchmarks[0].Variants = s.Benchmarks[0].Variants[:1] },
		"sampling": func(s *Suite, f *Facts) { s.Sampling.Interval = 1 },
	} {
		if whole(edit) == base {
			t.Errorf("%s left the digest of the whole plan as it was", name)
		}
	}
}

// One shard of one is the whole plan, and the same plan as without.
func TestOneShardIsTheWholePlan(t *testing.T) {
	f := facts(7)
	want, err := Make(suite(2, 3), f)
	if err != nil {
		t.Fatal(err)
	}
	f.Shard = Shard{Index: 1, Of: 1}
	got, err := Make(suite(2, 3), f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMakeRefusesShards(t *testing.T) {
	for _, tt := range []struct {
		shard Shard
		edit  func(*Suite, *Facts)
		want  string
	}{
		{Shard{Index: 3, Of: 2}, nil, "shard 3/2: want I/N with 1 <= I <= N"},
		{Shard{Index: 0, Of: 2}, nil, "shard 0/2: want"},
		{Shard{Index: -1, Of: -1}, nil, "shard -1/-1: want"},
		{Shard{Index: 1, Of: 0}, nil, "shard 1/0: want"},
		// Every shard says it, the one that would have cells too.
		{Shard{Index: 1, Of: 4}, nil, "shard 1/4: the plan has 3 groups of cells"},
		{Shard{Index: 4, Of: 4}, nil, "at most 3 shards have something to run"},
		{Shard{Index: 1, Of: 2}, func(s *Suite, f *Facts) { f.Selected = "z" }, "shard 1/2: the plan has 1 groups"},
		// Problems and limits are those of the whole plan, whichever shard has them.
		{Shard{Index: 2, Of: 2}, func(s *Suite, f *Facts) { s.Limits.Cells = 4 }, "the plan has 5 cells, more than limits.cells"},
		{Shard{Index: 2, Of: 2}, func(s *Suite, f *Facts) { f.Selected = "y" }, "selects none of the suite's 5 cells"},
		{Shard{Index: 1, Of: 3}, func(s *Suite, f *Facts) { s.Benchmarks = append(s.Benchmarks, s.Benchmarks[1]) }, `two cells print as "z"`},
	} {
		s, f := suite(2, 2), facts(1)
		f.Shard = tt.shard
		if tt.edit != nil {
			tt.edit(s, &f)
		}
		if _, err := Make(s, f); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: err = %v, want %q", tt.shard, err, tt.want)
		}
	}
}

// What is left out of the whole plan is told by every shard: runs of the others
// are not left out.
func TestSkippedOfAShard(t *testing.T) {
	s, f := suite(2, 2), facts(1)
	s.Benchmarks[1].Exec.Requires = []string{"xz"}
	f.Missing = func(*Exec, string) bool { return true }
	for i := 1; i <= 2; i++ {
		f.Shard = Shard{Index: i, Of: 2}
		p, err := Make(s, f)
		if err != nil {
			t.Fatal(err)
		}
		if want := []result.Skipped{{Name: "z", Why: "xz was not found on PATH"}}; !slices.Equal(p.Skipped, want) {
			t.Errorf("shard %d: left out %v, want %v", i, p.Skipped, want)
		}
	}
}

func TestCodecOfAShard(t *testing.T) {
	s, f := suite(2, 3), facts(1)
	f.Shard = Shard{Index: 2, Of: 3}
	s.Benchmarks[0].Was = []string{"old"}
	want, err := Make(s, f)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := Encode(&text, want); err != nil {
		t.Fatal(err)
	}
	if n, lines := strings.Count(text.String(), "\n"), 1+1+len(want.Dealt)+1+len(want.Cells); n != lines {
		t.Errorf("%d lines, want %d: one for each cell:\n%s", n, lines, &text)
	}
	got, err := Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}
