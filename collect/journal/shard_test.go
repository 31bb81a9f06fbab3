package journal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// measured folds a plan whose every run ended well, and took as long as its cell
// and repeat say.
func measured(t *testing.T, p *plan.Plan, session int) *result.Document {
	t.Helper()
	records := []Record{
		{Open: &Opened{Schema: Schema, Plan: p.Digest}},
		{Session: &result.Session{ID: fmt.Sprint(session), StartedAt: time.Unix(int64(session), 0).UTC(), Host: result.Host{Strict: map[string]string{"cpus": "8"}}}},
	}
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		wall := float64(len(p.Cells[r.Cell].Name)*100 + r.Repeat)
		records = append(records, ran(Run{Cell: r.Cell, Repeat: r.Repeat, Look: r.Look, Block: r.Block, Slot: r.Slot, Start: float64(i),
			Values: []Value{{Metric: result.WallTime, V: wall}}}))
	}
	doc, err := Fold(p, append(records, Record{End: &End{}}))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// The plan that each of several runners makes, what each measured, and their
// merge, against one runner that does all.
func TestShardsFromPlanToMerge(t *testing.T) {
	suite := &plan.Suite{Name: "s", Digest: "sha256:1"}
	inputs := map[string][]plan.InputFile{}
	for b := range 5 {
		bench := plan.Benchmark{Name: fmt.Sprintf("b%d", b), Repeats: 1 + b, Warmups: b % 2, Was: []string{fmt.Sprintf("old%d", b)}, Exec: plan.Exec{Argv: []string{"p"}},
			Inputs: &plan.Inputs{Files: []string{"*"}}, Variants: []plan.Variant{{Name: "p"}, {Name: "q", Note: "n"}}}
		for i := range 1 + b%3 {
			inputs[bench.Name] = append(inputs[bench.Name], plan.InputFile{Name: fmt.Sprintf("i%d", i), Path: "/s/i"})
		}
		suite.Benchmarks = append(suite.Benchmarks, bench)
	}
	facts := func(seed uint64, s plan.Shard) plan.Facts {
		return plan.Facts{Root: "/s", Inputs: inputs, Seed: seed, Shard: s, Builds: map[string]result.Build{"head": {Commit: "3c1a"}}}
	}
	planned := func(f plan.Facts) *plan.Plan {
		p, err := plan.Make(suite, f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := planned(facts(1, plan.Shard{}))
	want := measured(t, whole, 0)
	for _, n := range []int{2, 3, 9} {
		docs := make([]*result.Document, n)
		for i := range docs {
			p := planned(facts(uint64(i), plan.Shard{Index: i + 1, Of: n}))
			docs[i] = measured(t, p, i)
			if ref := docs[i].Plan; ref.Shard != p.Shard || ref.Whole != p.Whole || ref.Cells != len(p.Cells) || len(docs[i].Dealt) != len(whole.Cells) {
				t.Fatalf("shard %s: the document says %+v and lists %d cells", p.Shard, ref, len(docs[i].Dealt))
			}
		}
		slices.Reverse(docs)
		got, err := result.Merge(docs)
		if err != nil {
			t.Fatalf("%d shards: %v", n, err)
		}
		if got.Plan.Cells != want.Plan.Cells || got.Plan.Runs != want.Plan.Runs || !slices.Equal(got.Plan.Looks, want.Plan.Looks) {
			t.Errorf("%d shards: %+v, want %+v", n, got.Plan, want.Plan)
		}
		if diff := cmp.Diff(withoutOrder(want), withoutOrder(got)); diff != "" {
			t.Errorf("%d shards (-want +got):\n%s", n, diff)
		}
		// Without the shard of the first cell, that cell is planned and never ran.
		got, missing, err := result.MergePartial(slices.DeleteFunc(docs, func(d *result.Document) bool { return d.Cells[0].ID() == want.Cells[0].ID() }))
		if err != nil || len(missing) != 1 {
			t.Fatalf("%d shards, one missing: %v, %v", n, missing, err)
		}
		if c := got.Cells[0]; c.Name != want.Cells[0].Name || c.Planned != want.Cells[0].Planned || c.Runs.Len() != 0 || !slices.Equal(c.Was, want.Cells[0].Was) {
			t.Errorf("%d shards: the cell that nobody measured is %+v", n, c)
		}
	}
}

// withoutOrder drops where and in which order runs ran.
func withoutOrder(d *result.Document) []result.Cell {
	cells := slices.Clone(d.Cells)
	for i := range cells {
		r := &cells[i].Runs
		r.Start, r.Slot, r.Session = nil, nil, nil
	}
	return cells
}
