package result

import "testing"

func TestHeadOnly(t *testing.T) {
	cell := func(build string) Cell {
		return Cell{Name: BuildName("a", build), Benchmark: "a", Build: build, Planned: 3}
	}
	d := &Document{Header: Header{
		Plan:    PlanRef{Cells: 2, Runs: 6},
		Builds:  map[string]Build{BuildHead: {Commit: "aa"}, BuildBase: {Commit: "bb"}},
		Skipped: []Skipped{{Name: "b", Why: "no xz"}, {Name: "c@base", Build: BuildBase, Why: "no c"}},
		Dealt:   []Dealt{{Shard: 1, Benchmark: "a", Build: BuildHead}, {Shard: 1, Benchmark: "a", Build: BuildBase}},
	}, Cells: []Cell{cell(BuildHead), cell(BuildBase)}}
	h := HeadOnly(d)
	if len(h.Cells) != 1 || h.Cells[0].Name != "a" || h.Plan.Cells != 1 || h.Plan.Runs != 3 || len(h.Builds) != 1 || len(h.Skipped) != 1 || len(h.Dealt) != 1 {
		t.Errorf("%+v", h)
	}
	if len(d.Cells) != 2 || len(d.Builds) != 2 || d.Plan.Runs != 6 {
		t.Error("the document was changed")
	}
	if HeadOnly(h) != h {
		t.Error("a document of head alone was copied")
	}
	if name := d.Dealt[1].Name(); name != "a@base" {
		t.Errorf("dealt as %q", name)
	}
}
