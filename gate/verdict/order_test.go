package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

func TestStandingOf(t *testing.T) {
	d := &Document{Budgets: []budget.Budget{{Level: budget.Fail}, {Level: budget.Warn}, {Level: budget.Info}}}
	cases := []struct {
		f    Finding
		want Standing
	}{
		{Finding{Gated: true, Outcome: Fail}, Broken},
		{Finding{Gated: true, Outcome: NoData}, Broken},
		{Finding{Gated: true, Outcome: Invalid}, Broken},
		{Finding{Gated: true, Outcome: Inconclusive, Grade: Suspect}, Doubted},
		{Finding{Gated: true, Outcome: Inconclusive, Grade: Unproven}, Undecided},
		{Finding{Gated: true, Outcome: Suspicious}, Surprising},
		{Finding{Budget: 1, Outcome: Fail}, Warned},
		{Finding{Budget: 1, Outcome: Inconclusive, Grade: Suspect}, Warned},
		{Finding{Budget: 2, Outcome: Fail}, Unjudged},
		{Finding{Gated: true, Outcome: NoBaseline}, Unjudged},
		{Finding{Outcome: Quarantined}, Excused},
		{Finding{Gated: true, Outcome: Accepted}, Excused},
		{Finding{Gated: true, Outcome: Pass}, Held},
	}
	for _, c := range cases {
		d.Findings = []Finding{c.f}
		if got := d.StandingOf(0); got != c.want {
			t.Errorf("%+v stands at %d, want %d", c.f, got, c.want)
		}
	}
}

// How far a value went in the bad direction follows `better` and the budget's
// kind (C08), and is finite whatever the numbers.
func TestBadChange(t *testing.T) {
	zero := 0
	cases := []struct {
		name               string
		better             string
		kind               budget.Kind
		current, reference float64
		want               float64
	}{
		{"slower", result.Lower, budget.MaxRegression, 2, 1, math.Ln2},
		{"faster", result.Lower, budget.MaxRegression, 1, 2, -math.Ln2},
		{"throughput fell", result.Higher, budget.MaxRegression, 1, 2, math.Ln2},
		{"decrease is bad", "", budget.MaxDecrease, 1, 2, math.Ln2},
		{"increase is bad although higher is better", result.Higher, budget.MaxIncrease, 2, 1, math.Ln2},
		{"from zero", result.Lower, budget.MaxRegression, 1, 0, math.MaxFloat64},
		{"to zero", result.Higher, budget.MaxRegression, 0, 1, math.MaxFloat64},
		{"both zero", result.Lower, budget.MaxRegression, 0, 0, 0},
		{"not a number", result.Lower, budget.MaxRegression, math.NaN(), 1, 0},
		{"negative", result.Lower, budget.MaxRegression, -1, 1, 0},
	}
	for _, c := range cases {
		d := &Document{
			Metrics:     map[string]result.Metric{"m": {Better: c.better}},
			Budgets:     []budget.Budget{{Kind: c.kind}},
			Comparisons: []Comparison{{Current: c.current, Reference: c.reference}},
			Findings:    []Finding{{Comparison: &zero, Metric: "m"}},
		}
		if got := d.BadChange(0); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The order does not depend on the order of the document, except among equals.
func TestWorstFirst(t *testing.T) {
	d := &Document{Budgets: []budget.Budget{{Kind: budget.Max, Limit: 1, Level: budget.Fail}}, Metrics: map[string]result.Metric{}}
	outcomes := []Outcome{Fail, Fail, NoData, Inconclusive, Suspicious, NoBaseline, Quarantined, Pass, Pass}
	values := []float64{3, 2, 0, 1.5, 0.1, 0, 1, 0.9, 0.5}
	for i, o := range outcomes {
		d.Findings = append(d.Findings, Finding{Gated: true, Outcome: o, Value: &values[i]})
	}
	for range 20 {
		rand.Shuffle(len(d.Findings), func(i, j int) { d.Findings[i], d.Findings[j] = d.Findings[j], d.Findings[i] })
		var got []float64
		for _, i := range d.WorstFirst() {
			got = append(got, *d.Findings[i].Value)
		}
		if !slices.Equal(got, values) {
			t.Fatalf("order %v, want %v", got, values)
		}
	}
}

func TestCellsWorstFirst(t *testing.T) {
	d := &Document{}
	for _, o := range []Outcome{Pass, New, Inconclusive, NoData, Pass, Fail, Suspicious, Accepted} {
		d.Cells = append(d.Cells, Cell{Outcome: o})
	}
	if got, want := d.CellsWorstFirst(), []int{5, 3, 2, 6, 0, 1, 4, 7}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}
