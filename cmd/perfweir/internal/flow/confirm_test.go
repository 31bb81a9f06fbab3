package flow

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/verdict"
)

// After how many blocks doubts are judged: never fewer at the last look than the cell
// has repeats, nor than the family needs.
func TestConfirmLooks(t *testing.T) {
	id := func(benchmark, variant string) result.ID {
		return result.ID{Benchmark: benchmark, Variant: variant, Build: result.BuildHead}
	}
	first := &plan.Plan{}
	for name, repeats := range map[result.ID]int{id("a", ""): 3, id("b", "x"): 10, id("b", "y"): 40, id("b", "size"): 10} {
		first.Cells = append(first.Cells, plan.Cell{Benchmark: name.Benchmark, Variant: name.Variant, Build: name.Build, Repeats: repeats})
	}
	noisy := func(benchmark, variant string, findings int) gate.Doubt {
		return gate.Doubt{Cell: id(benchmark, variant), Findings: findings, Noisy: true}
	}
	exact := gate.Doubt{Cell: id("b", "size"), Findings: 1}
	for _, tt := range []struct {
		name   string
		doubts []gate.Doubt
		alpha  float64
		want   map[result.ID][]int
	}{
		{"of few repeats", []gate.Doubt{noisy("a", "", 1)}, .05, map[result.ID][]int{id("a", ""): {6, 10, 20}}},
		{"of a smaller error", []gate.Doubt{noisy("a", "", 1)}, .01, map[result.ID][]int{id("a", ""): {9, 10, 20}}},
		{"of many repeats", []gate.Doubt{noisy("b", "y", 2)}, .05, map[result.ID][]int{id("b", "y"): {6, 20, 40}}},
		{"of one block", []gate.Doubt{noisy("b", "x", 1), noisy("b", "y", 1), exact}, .05,
			map[result.ID][]int{id("b", "x"): {6, 20, 40}, id("b", "y"): {6, 20, 40}, id("b", "size"): {3}}},
		{"of a large family", []gate.Doubt{noisy("a", "", 500000), noisy("b", "x", 500000)}, .05,
			map[result.ID][]int{id("a", ""): {6, 13, 26}, id("b", "x"): {6, 13, 26}}},
		{"of no test", []gate.Doubt{exact}, .05, map[result.ID][]int{id("b", "size"): {3}}},
	} {
		if got := confirmLooks(first, tt.doubts, tt.alpha); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// limits.time is one: what the session took is not there for its confirmation.
func TestTimeBefore(t *testing.T) {
	p := &plan.Plan{Cells: []plan.Cell{{Repeats: 4, Looks: []int{2, 4}}}, Limits: plan.Limits{Time: 5}, Looks: []int{2, 4},
		Order: plan.Order{Cell: []int{0, 0, 0, 0}, Repeat: []int{1, 2, 3, 4}, Look: []int{1, 1, 2, 2}, Block: []int{1, 2, 3, 4}, Slot: []int{0, 0, 0, 0}}}
	c := result.Cell{Runs: result.Runs{Repeat: []int{1, 2}, Start: []float64{0, 1}}, Columns: []result.Column{{Metric: result.WallTime, V: result.Values{1, 1}}}}
	doc := &result.Document{Header: result.Header{Sessions: make([]result.Session, 1)}, Cells: []result.Cell{c}}
	for _, tt := range []struct {
		before, limit float64
		fits          bool
	}{{0, 5, true}, {1, 5, true}, {2, 5, false}, {2, 0, true}} {
		p.Limits.Time = tt.limit
		m := &matrix{plan: p, before: tt.before}
		if spent, needed, fits := m.fits(doc, p.All(2)); fits != tt.fits || spent != 2+tt.before || needed != 2 {
			t.Errorf("%v s before, limit %v s: %v s spent, %v s needed, fits %v, want %v", tt.before, tt.limit, spent, needed, fits, tt.fits)
		}
	}
}

// A confirmation goes on with what its verdict leaves open, and knows what the session
// took of the time.
func TestConfirmPlan(t *testing.T) {
	first := &plan.Plan{Digest: "sha256:first", Builds: map[string]result.Build{result.BuildHead: {Commit: "aa"}},
		Cells: []plan.Cell{{Name: "a", Benchmark: "a", Build: result.BuildHead, Repeats: 2}}}
	c := result.Cell{Runs: result.Runs{Repeat: []int{1, 2}, Start: []float64{0, 1}}, Columns: []result.Column{{Metric: result.WallTime, V: result.Values{1, 1}}}}
	d := inDoubt{plan: first, doc: &result.Document{Header: result.Header{Sessions: make([]result.Session, 1)}, Cells: []result.Cell{c}},
		verdict: &verdict.Document{Policy: verdict.Policy{FalseAlarms: .05}}}
	s, below := Shell{Now: time.Now}, &output{dir: t.TempDir()}
	for noisy, want := range map[bool][]int{true: {6, 10, 20}, false: {3}} {
		doubts := []gate.Doubt{{Cell: first.Cells[0].ID(), Findings: 1, Noisy: noisy}}
		m, err := s.confirmPlan(&suite{root: "/head"}, Options{}, below, d, &plan.Base{Root: "/base"}, doubts)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.plan.Looks, want) || m.before != 2 || (m.onward != nil) != noisy {
			t.Errorf("looks %v, want %v; %v s before, want 2; lets only the undecided go on: %v", m.plan.Looks, want, m.before, m.onward != nil)
		}
	}
}
