package flow

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
)

// planned reads a suite and makes its plan.
func planned(t *testing.T, text string) (*suite, *plan.Plan) {
	t.Helper()
	f, problems := config.Parse("perfweir.yml", []byte("version: 1\nsuite: s\n"+text))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	su := &suite{file: f}
	p, err := plan.Make(&f.Suite, plan.Facts{Root: "/s", Seed: 1, Looks: func(c []plan.Cell) [][]int { return su.chooseLooks(c, false) }, Builds: map[string]result.Build{"head": {}}})
	if err != nil {
		t.Fatal(err)
	}
	return su, p
}

func TestChooseLooks(t *testing.T) {
	const twoVariants = "run: [a], variants: [{name: x}, {name: y, args: {add: [b]}}]"
	for _, tt := range []struct {
		name, text string
		want       [][]int
	}{
		{"against stored sessions", "benchmarks: [{name: a, run: [a], repeats: {looks: auto}}]\nbudgets: [{metric: wall_time, max_regression: 5%}]\n", [][]int{{5, 10, 20}}},
		{"against a variant: both sides of the block", "benchmarks: [{name: a, repeats: {looks: auto}, " + twoVariants + "}]\nbudgets: [{metric: wall_time, max_regression: 5%, variant: y, against: \"variant:x\"}]\n", [][]int{{6, 10, 20}, {6, 10, 20}}},
		{"nothing to test", "benchmarks: [{name: a, run: [a], repeats: {looks: auto}}]\nbudgets: [{metric: wall_time, max: 5s}]\n", [][]int{nil}},
		{"an error rate that five against five cannot reach", "benchmarks: [{name: a, run: [a], repeats: {looks: auto}}]\nbudgets: [{metric: wall_time, max_regression: 5%}]\ngate: {false_alarms: 0.1%}\n", [][]int{{7, 10, 20}}},
	} {
		_, p := planned(t, tt.text)
		var got [][]int
		for _, c := range p.Cells {
			got = append(got, c.Looks)
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// storing is a baseline of so many sessions of cell a with so many runs.
func storing(sessions, runs int) *baseline.Baseline {
	b := &baseline.Baseline{State: baseline.OK}
	for range sessions {
		c := result.Cell{Benchmark: "a", Build: result.BuildHead}
		for i := range runs {
			c.Runs.Repeat = append(c.Runs.Repeat, i+1)
		}
		b.Sessions = append(b.Sessions, baseline.Stored{Doc: &result.Document{Cells: []result.Cell{c}}})
	}
	return b
}

// TestCanProve: what a plan needs depends on what it is compared with.
func TestCanProve(t *testing.T) {
	const text = "benchmarks: [{name: a, run: [a], repeats: {looks: [2, 3]}}]\nbudgets: [{metric: wall_time, max_regression: 5%}]\ngate: {require: proof}\n"
	su, p := planned(t, text)
	for _, tt := range []struct {
		name string
		b    *baseline.Baseline
		want string
	}{
		{"no baseline: another outcome says it", storing(0, 0), ""},
		{"few stored runs", storing(1, 3), "looks after 2 and 3 repeats cannot prove a regression against stored sessions among 1 test: 5 repeats at the last look, or 1 look would do"},
		{"many stored runs", storing(1, 20), ""},
		{"few runs of some sessions", storing(4, 1), "cannot prove"},
		{"enough sessions for their spread", storing(5, 1), ""},
	} {
		err := canProve(su, gate.RequireProof, tt.b, p)
		if tt.want == "" && err != nil || tt.want != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(Words(err), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if err := canProve(su, "", storing(1, 3), p); err != nil {
		t.Errorf("without gate.require: %v", err)
	}
}

// What is said before the first run is about what the plan is compared with.
func TestDecidesWarns(t *testing.T) {
	su, p := planned(t, "benchmarks: [{name: a, run: [a], repeats: 2}]\nbudgets: [{metric: wall_time, max_regression: 5%}]\n")
	for _, tt := range []struct {
		name string
		b    *baseline.Baseline
		want string
	}{
		{"nothing stored", storing(0, 0), "warning: 2 repeats cannot prove a regression against one stored session of as many among 1 test: 3 repeats would do\n"},
		{"few stored runs", storing(1, 2), "warning: 2 repeats cannot prove a regression against stored sessions among 1 test: 5 repeats would do\n"},
		{"many stored runs", storing(1, 20), ""},
		{"enough sessions for their spread", storing(5, 2), ""},
	} {
		var log bytes.Buffer
		if err := (Shell{Log: &log}).decides(su, "", tt.b, p); err != nil || !strings.HasSuffix(log.String(), tt.want) || (tt.want == "" && log.Len() > 0) {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, log.String(), tt.want)
		}
	}
}

func TestShortfallNamesEveryWay(t *testing.T) {
	su, p := planned(t, "benchmarks: [{name: a, run: [a], repeats: {looks: [3, 4, 5]}, variants: [{name: x}, {name: y, args: {add: [b]}}]}]\n"+
		"budgets: [{metric: wall_time, max_regression: 5%, variant: y, against: \"variant:x\"}]\n")
	all := su.reached(p, nil)
	if len(all) != 1 {
		t.Fatalf("%d kinds, want one", len(all))
	}
	want := "looks after 3, 4 and 5 repeats cannot prove a regression in one session among 1 test: 6 repeats at the last look, or 1 look would do"
	if got := all[0].shortfall(&tests{n: 1}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestGoOnIsBounded(t *testing.T) {
	_, p := planned(t, "benchmarks: [{name: a, run: [a]}, {name: b, run: [b]}, {name: c, run: [c]}, {name: d, run: [d]}, {name: e, run: [e]}]\n")
	for want, cells := range map[string][]int{"b goes": {1}, "a, b go": {0, 1}, "a, b, c and 1 more go": {0, 1, 2, 3}, "all 5 cells go": {0, 1, 2, 3, 4}} {
		if got := goOn(p, plan.Selection{Look: 2, Cells: slices.Clone(cells)}); got != want {
			t.Errorf("%v: %q, want %q", cells, got, want)
		}
	}
}
