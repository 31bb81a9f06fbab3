package exhibit

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// measured is a document of cells with runs that may and may not be compared:
// a warm-up, a crash, a repeat tried again, an invalid run.
func measured(session string, cells ...string) *result.Document {
	no, nan := false, math.NaN()
	doc := &result.Document{Header: result.Header{Sessions: []result.Session{{ID: session}}}}
	for _, variant := range cells {
		doc.Cells = append(doc.Cells, result.Cell{
			Name: "encode/" + variant, Benchmark: "encode", Variant: variant, Build: "head",
			Runs: result.Runs{
				Repeat: []int{0, 1, 2, 2, 3, 4, 5}, Attempt: []int{1, 1, 1, 2, 1, 1, 1},
				Block: []int{0, 1, 2, 2, 3, 4, 5}, Slot: []int{0, 0, 0, 0, 0, 0, 0},
				Start:  []float64{0, 1, 2, 3, 4, 5, 6},
				Status: map[int]result.Status{2: result.Timeout, 5: result.Signal},
				Detail: map[int]result.Detail{4: {Valid: &no}},
			},
			Columns: []result.Column{
				{Metric: "wall_time", V: result.Values{9, 1.1, nan, 1.2, 1.3, nan, 1.5}, Absent: map[int]string{2: "timeout", 5: "signal"}},
				{Metric: "wall_time", Part: "p", V: result.Values{7, 7, 7, 7, 7, 7, 7}},
			},
		})
	}
	return doc
}

// judged has one comparison and finding for each cell, the ratio its badness.
func judged(ratios ...float64) *verdict.Document {
	v := &verdict.Document{
		Suite:   verdict.Suite{Name: "codec"},
		Metrics: map[string]result.Metric{"wall_time": {Unit: "s", Better: result.Lower}},
		Budgets: []budget.Budget{{Metric: "wall_time", Kind: budget.MaxRegression, Against: "baseline", Level: budget.Fail}},
	}
	for i, r := range ratios {
		variant := fmt.Sprintf("v%d", i)
		v.Cells = append(v.Cells, verdict.Cell{Name: "encode/" + variant, Benchmark: "encode", Variant: variant, Build: "head"})
		v.Comparisons = append(v.Comparisons, verdict.Comparison{ID: i, Cell: i, Metric: "wall_time", Against: "baseline", Ratio: &r})
		o := verdict.Pass
		if r > 1.1 {
			o = verdict.Fail
		}
		id := i
		v.Findings = append(v.Findings, verdict.Finding{Cell: i, Comparison: &id, Metric: "wall_time", Gated: true, Outcome: o})
	}
	return v
}

func names(d Document) []string {
	var out []string
	for _, s := range d.Strips {
		out = append(out, s.Cell)
	}
	return out
}

func TestBuildTakesCleanRunsOfBothSides(t *testing.T) {
	cur, ref := measured("now", "v0"), measured("then", "v0")
	got := Build(cur, []Reference{{Label: "then", Doc: ref}}, judged(1.2), 0)
	want := Document{Schema: Schema, Suite: "codec", Strips: []Strip{{
		Cell: "encode/v0", Metric: "wall_time", Unit: "s",
		Current:   Series{Label: "now", Block: []int{1, 2, 5}, Values: []float64{1.1, 1.2, 1.5}},
		Reference: []Series{{Label: "then", Block: []int{1, 2, 5}, Values: []float64{1.1, 1.2, 1.5}}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBuildTakesOneSessionOfADocument(t *testing.T) {
	ref := measured("a", "v0")
	ref.Sessions = append(ref.Sessions, result.Session{ID: "b"})
	ref.Cells[0].Runs.Session = []int{0, 0, 0, 0, 0, 1, 1}
	ref.Cells[0].Runs.Status = nil
	ref.Cells[0].Runs.Detail = nil
	got := Build(measured("now", "v0"), []Reference{{"a", ref, 0}, {"b", ref, 1}}, judged(1.2), 0)
	var values [][]float64
	for _, s := range got.Strips[0].Reference {
		values = append(values, s.Values)
	}
	if diff := cmp.Diff([][]float64{{1.1, 1.2, 1.3}, {1.5}}, values); diff != "" {
		t.Error(diff)
	}
}

func TestBuildTakesAVariantOfTheSameSession(t *testing.T) {
	v := judged(1.2)
	v.Comparisons[0].Against = "variant:prev"
	got := Build(measured("now", "v0", "prev"), []Reference{{"then", measured("then", "v0"), 0}}, v, 0)
	refs := got.Strips[0].Reference
	if len(refs) != 1 || refs[0].Label != "variant:prev" || len(refs[0].Values) != 3 {
		t.Errorf("reference %+v", refs)
	}
}

func TestBuildTakesTheBaseBuildOfTheSameSession(t *testing.T) {
	v := judged(1.2)
	v.Comparisons[0].Against = "base"
	stored := []Reference{{"then", measured("then", "v0"), 0}}
	cur := measured("now", "v0", "v0")
	cur.Cells[1].Build, cur.Cells[1].Name = "base", cur.Cells[1].Name+"@base"
	refs := Build(cur, stored, v, 0).Strips[0].Reference
	if len(refs) != 1 || refs[0].Label != "base" || len(refs[0].Values) != 3 {
		t.Errorf("reference %+v", refs)
	}
	// Measured again in another document: the stored sessions are not what it was
	// compared with.
	if refs := Build(measured("now", "v0"), stored, v, 0).Strips[0].Reference; len(refs) != 0 {
		t.Errorf("reference %+v, want none", refs)
	}
}

// A renamed benchmark is drawn with its history, and a cell whose definition
// changed without numbers that it was not compared with.
func TestBuildTakesWhatWasCompared(t *testing.T) {
	cur, old, changed := measured("now", "v0"), measured("then", "v0"), measured("before", "v0")
	cur.Cells[0].Was = []string{"code"}
	old.Cells[0].Benchmark = "code"
	changed.Cells[0].Digest = "sha256:other"
	got := Build(cur, []Reference{{"then", old, 0}, {"before", changed, 0}}, judged(1.2), 0)
	refs := got.Strips[0].Reference
	if len(refs) != 1 || refs[0].Label != "then" || len(refs[0].Values) != 3 {
		t.Errorf("reference %+v", refs)
	}
}

func TestBuildTakesTheWorstFirstAndCountsTheRest(t *testing.T) {
	cur := measured("now", "v0", "v1", "v2", "v3")
	v := judged(1.05, 1.2, 0.9, 3)
	got := Build(cur, nil, v, 0)
	if want := []string{"encode/v3", "encode/v1", "encode/v0", "encode/v2"}; !slices.Equal(names(got), want) {
		t.Errorf("order %v, want %v", names(got), want)
	}
	got = Build(cur, nil, v, 2)
	if want := []string{"encode/v3", "encode/v1"}; !slices.Equal(names(got), want) || got.Omitted != 2 {
		t.Errorf("limit 2: %v, %d omitted", names(got), got.Omitted)
	}
	two := v.Findings[0]
	v.Findings = append(v.Findings, two) // a second budget on the same numbers
	if got := Build(cur, nil, v, 0); len(got.Strips) != 4 {
		t.Errorf("%d strips for 4 comparisons", len(got.Strips))
	}
}

// The values are bounded too: a strip that is too large is passed over.
func TestBuildBoundsItsValues(t *testing.T) {
	cur := measured("now", "v0", "v1", "v2")
	n := MaxValues
	big := &cur.Cells[1]
	big.Runs = result.Runs{Repeat: make([]int, n), Block: make([]int, n)}
	big.Columns[0] = result.Column{Metric: "wall_time", V: make(result.Values, n)}
	for i := range n {
		big.Runs.Repeat[i], big.Columns[0].V[i] = i+1, 1
	}
	got := Build(cur, nil, judged(3, 2, 1.5), 0)
	if want := []string{"encode/v0", "encode/v2"}; !slices.Equal(names(got), want) || got.Omitted != 1 {
		t.Errorf("%v, %d omitted; want %v, 1", names(got), got.Omitted, want)
	}
}

// A cell that vanished, or positions that point nowhere, draw nothing and do not
// panic.
func TestBuildWithoutNumbers(t *testing.T) {
	v := judged(1.2, 1.3)
	v.Comparisons[1].Cell = 7
	nowhere := 9
	v.Findings = append(v.Findings, verdict.Finding{Comparison: &nowhere, Budget: 5}, verdict.Finding{})
	got := Build(&result.Document{}, []Reference{{"then", nil, 0}}, v, 0)
	for _, s := range got.Strips {
		if s.values() != 0 {
			t.Errorf("values from nowhere: %+v", s)
		}
	}
}
