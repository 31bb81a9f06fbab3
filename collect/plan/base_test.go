package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

// pairedSuite has two variants and a program that the base build lacks.
func pairedSuite() *Suite {
	return &Suite{Name: "s", Benchmarks: []Benchmark{
		{Name: "tool", Repeats: 8, Warmups: 1, Variants: []Variant{{Name: "a"}, {Name: "b", Add: []string{"-b"}}},
			Exec:   Exec{Argv: []string{"bin/tool", "/repo/suite/data.txt", "{input}"}, Cwd: "sub", Stdin: "in.txt", Prepare: []string{"scripts/warm"}},
			Inputs: &Inputs{Files: []string{"corpus/*"}}},
		{Name: "fresh", Repeats: 3, Exec: Exec{Argv: []string{"bin/fresh"}}},
	}}
}

func pairedFacts() Facts {
	return Facts{Root: "/repo/suite", Seed: 5, Builds: map[string]result.Build{"head": {Commit: "aa"}},
		Inputs: map[string][]InputFile{"tool": {{Name: "x", Path: "/repo/suite/corpus/x", Digest: "sha256:1"}}},
		Stdin:  map[string]string{"in.txt": "sha256:2"},
		Base: &Base{Root: "/tmp/w/suite", Build: result.Build{Commit: "bb"}, Missing: func(head, base *Cell) string {
			if strings.HasSuffix(base.Exec.Argv[0], "fresh") {
				return "bin/fresh"
			}
			return ""
		}}}
}

func makePaired(t *testing.T) *Plan {
	t.Helper()
	p, err := Make(pairedSuite(), pairedFacts())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func cellNamed(t *testing.T, p *Plan, name string) *Cell {
	t.Helper()
	for i := range p.Cells {
		if p.Cells[i].Name == name {
			return &p.Cells[i]
		}
	}
	t.Fatalf("no cell %s", name)
	return nil
}

func TestBaseCells(t *testing.T) {
	p := makePaired(t)
	var names []string
	for i := range p.Cells {
		names = append(names, p.Cells[i].Name)
	}
	if want := []string{"tool/a/x", "tool/b/x", "fresh", "tool/a/x@base", "tool/b/x@base"}; !slices.Equal(names, want) {
		t.Fatalf("cells %q, want %q", names, want)
	}
	if want := []result.Skipped{{Name: "fresh@base", Build: "base", Why: "the base build has no bin/fresh"}}; !reflect.DeepEqual(p.Skipped, want) {
		t.Errorf("left out %+v, want %+v", p.Skipped, want)
	}
	head, base := cellNamed(t, p, "tool/b/x"), cellNamed(t, p, "tool/b/x@base")
	if head.Key == base.Key || head.Digest == base.Digest || head.ID() == base.ID() {
		t.Error("the builds are not told apart by key, digest and identity")
	}
	// The program, its hooks and folder are the base commit's; the input and stdin head's.
	e := base.Exec
	if e.Argv[0] != "/tmp/w/suite/bin/tool" || e.Argv[1] != "/tmp/w/suite/data.txt" || e.Prepare[0] != "/tmp/w/suite/scripts/warm" || e.Cwd != "/tmp/w/suite/sub" {
		t.Errorf("on the base build it runs %+v", e)
	}
	if base.InputPath != "/repo/suite/corpus/x" || e.Stdin != "/repo/suite/in.txt" {
		t.Errorf("on the base build it reads %q and %q", base.InputPath, e.Stdin)
	}
	if h := head.Exec; h.Argv[0] != "/repo/suite/bin/tool" || h.Cwd != "/repo/suite/sub" {
		t.Errorf("head's own was changed: %+v", h)
	}
	if p.Builds["base"].Commit != "bb" {
		t.Errorf("builds %+v", p.Builds)
	}
}

// A plan that measures no base build is the plan it was.
func TestDigestWithoutBase(t *testing.T) {
	facts := pairedFacts()
	facts.Base = nil
	alone, err := Make(pairedSuite(), facts)
	if err != nil {
		t.Fatal(err)
	}
	paired := makePaired(t)
	if alone.Digest == paired.Digest {
		t.Error("the base build is not in the plan's digest")
	}
	for i := range alone.Cells {
		if alone.Cells[i].Digest != paired.Cells[i].Digest || alone.Cells[i].Key != paired.Cells[i].Key {
			t.Errorf("%s is another cell beside a base build", alone.Cells[i].Name)
		}
	}
}

// Head and base stand beside each other in every block, each first in one of two
// blocks that follow, and everything stands in every slot equally often.
func TestBaseOrder(t *testing.T) {
	for seed := range uint64(20) {
		facts := pairedFacts()
		facts.Seed = seed
		p, err := Make(pairedSuite(), facts)
		if err != nil {
			t.Fatal(err)
		}
		slots := map[[2]int]int{} // cell, slot
		slot := map[[2]int]int{}  // cell, block -> slot
		for i := range p.Order.Len() {
			if r := p.Order.At(i); r.Repeat > 0 {
				slots[[2]int{r.Cell, r.Slot}]++
				slot[[2]int{r.Cell, r.Block}] = r.Slot
			}
		}
		for v := range 2 {
			for block := 1; block <= 8; block++ {
				d := slot[[2]int{v, block}] - slot[[2]int{v + 3, block}]
				if d != 1 && d != -1 {
					t.Fatalf("seed %d block %d: head and base are %d apart", seed, block, d)
				}
				if block%2 == 0 && d != -(slot[[2]int{v, block - 1}]-slot[[2]int{v + 3, block - 1}]) {
					t.Fatalf("seed %d: blocks %d and %d have the same order", seed, block-1, block)
				}
			}
			for _, cell := range []int{v, v + 3} {
				for s := range 4 {
					if slots[[2]int{cell, s}] != 2 {
						t.Fatalf("seed %d: %s stands %d times in slot %d, want 2 of 8", seed, p.Cells[cell].Name, slots[[2]int{cell, s}], s)
					}
				}
			}
		}
	}
}

// Twins stay on one shard, and the shares know both.
func TestBaseShards(t *testing.T) {
	for shard := 1; shard <= 2; shard++ {
		facts := pairedFacts()
		facts.Shard = Shard{Index: shard, Of: 2}
		p, err := Make(pairedSuite(), facts)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Dealt) != 5 {
			t.Errorf("%d cells dealt, want 5", len(p.Dealt))
		}
		for i := range p.Cells {
			if c := p.Cells[i]; c.Build == "base" {
				cellNamed(t, p, strings.TrimSuffix(c.Name, "@base"))
			}
		}
	}
}

func TestConfirmationPlan(t *testing.T) {
	facts := pairedFacts()
	base := facts.Base
	facts.Base = nil
	first, err := Make(pairedSuite(), facts)
	if err != nil {
		t.Fatal(err)
	}
	looks := map[result.ID][]int{first.Cells[1].ID(): {10}, first.Cells[2].ID(): {6, 10, 20}}
	p, err := Confirmation(first, facts.Root, base, looks, 9)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cells) != 2 || p.Cells[0].Name != "tool/b/x" || p.Cells[1].Name != "tool/b/x@base" || p.Cells[0].Repeats != 10 {
		t.Errorf("cells %+v", p.Cells)
	}
	if !slices.Equal(p.Looks, []int{10}) || p.Cells[0].Looks != nil || p.Cells[1].Looks != nil {
		t.Errorf("looks %v, of a cell %v: what the base build lacks has none", p.Looks, p.Cells[0].Looks)
	}
	if p.Confirms != first.Digest || p.Digest == first.Digest || len(p.Skipped) != 1 {
		t.Errorf("confirms %q, digest %q, left out %v", p.Confirms, p.Digest, p.Skipped)
	}
	if first.Cells[1].Repeats != 8 || len(first.Builds) != 1 {
		t.Error("the first plan was changed")
	}
	if _, err := Confirmation(first, facts.Root, base, nil, 9); err == nil {
		t.Error("a plan of nothing was made")
	}
	// Where the base build lacks all that is in doubt there is nothing to run, and why.
	p, err = Confirmation(first, facts.Root, base, map[result.ID][]int{first.Cells[2].ID(): {6, 10, 20}}, 9)
	if err != nil || len(p.Cells) != 0 || p.Order.Len() != 0 || len(p.Skipped) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A doubt that needs a test is measured again at looks, its twin with it; one that
// needs none is done with the first blocks.
func TestConfirmationLooks(t *testing.T) {
	facts := pairedFacts()
	base := facts.Base
	facts.Base = nil
	first, err := Make(pairedSuite(), facts)
	if err != nil {
		t.Fatal(err)
	}
	tested, exact := first.Cells[0].ID(), first.Cells[1].ID()
	p, err := Confirmation(first, facts.Root, base, map[result.ID][]int{tested: {6, 10, 20}, exact: {3}}, 9)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Looks, []int{6, 10, 20}) || len(p.Cells) != 4 {
		t.Fatalf("looks %v of %d cells", p.Looks, len(p.Cells))
	}
	for name, want := range map[string][]int{"tool/a/x": {6, 4, 10}, "tool/a/x@base": {6, 4, 10}, "tool/b/x": {3, 0, 0}, "tool/b/x@base": {3, 0, 0}} {
		runs := make([]int, 3)
		for i := range p.Order.Len() {
			if r := p.Order.At(i); r.Repeat > 0 && p.Cells[r.Cell].Name == name {
				runs[r.Look-1]++
			}
		}
		if !slices.Equal(runs, want) {
			t.Errorf("%s has %v runs by look, want %v", name, runs, want)
		}
	}
	if _, err := Confirmation(first, facts.Root, base, map[result.ID][]int{tested: {6, 10, 20}, exact: {5, 9, 20}}, 9); err == nil {
		t.Error("cells of one block have other looks, and nobody says so")
	}
	few, err := Confirmation(first, facts.Root, base, map[result.ID][]int{exact: {3}}, 9)
	if err != nil || !slices.Equal(few.Looks, []int{3}) || few.Digest == p.Digest {
		t.Errorf("%+v, %v", few, err)
	}
}

// A cell and its twin share their blocks, so they share their looks; what the suite
// says of them is not asked when a doubt is measured again.
func TestBaseCellsOfLooks(t *testing.T) {
	s := pairedSuite()
	s.Benchmarks[0].Looks, s.Benchmarks[0].AutoLooks = []int{2, 4, 8}, false
	s.Benchmarks[1].AutoLooks = true
	f := pairedFacts()
	f.Looks = func(cells []Cell) [][]int {
		if len(cells) != 3 {
			t.Errorf("looks were asked of %d cells, want head's 3", len(cells))
		}
		return [][]int{nil, nil, {3, 9}}
	}
	p, err := Make(s, f)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]int{"tool/a/x": {2, 4, 8}, "tool/a/x@base": {2, 4, 8}, "fresh": {3, 9}} {
		if got := cellNamed(t, p, name).Looks; !slices.Equal(got, want) {
			t.Errorf("%s: looks %v, want %v", name, got, want)
		}
	}
	if !slices.Equal(p.Looks, []int{2, 4, 8}) {
		t.Errorf("the plan has looks %v", p.Looks)
	}
	looks := map[int]map[int]map[string]int{} // look, block: cells
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		if looks[r.Look] == nil {
			looks[r.Look] = map[int]map[string]int{}
		}
		if looks[r.Look][r.Block] == nil {
			looks[r.Look][r.Block] = map[string]int{}
		}
		looks[r.Look][r.Block][p.Cells[r.Cell].Name]++
	}
	if b := looks[2][3]; b["tool/a/x"] != 1 || b["tool/a/x@base"] != 1 {
		t.Errorf("block 3 at look 2 has %v, want a cell and its twin", b)
	}
	again, err := Confirmation(p, "/repo/suite", f.Base, map[result.ID][]int{cellNamed(t, p, "tool/a/x").ID(): {10}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range again.Cells {
		if c := &again.Cells[i]; c.Looks != nil || c.Repeats != 10 {
			t.Errorf("again: %s has looks %v and %d repeats, want one look of 10", c.Name, c.Looks, c.Repeats)
		}
	}
	if !slices.Equal(again.Looks, []int{10}) {
		t.Errorf("again: looks %v", again.Looks)
	}
}
