package gate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// doc builds a results document; cells are added by cell.
func doc(id string, age int) *result.Document {
	return &result.Document{Header: result.Header{
		Schema: result.Schema, Suite: result.Suite{Name: "s", Path: "perfweir.yml"},
		Plan:    result.PlanRef{Looks: []int{10}},
		Builds:  map[string]result.Build{"head": {Programs: map[string]string{"p": "sha256:1"}}},
		Metrics: result.Catalogue(),
		Sessions: []result.Session{{ID: id, Machine: "m", StartedAt: start.Add(-time.Duration(age) * time.Hour), Origin: "run",
			Replicates: result.ReplicatesProcess, Host: result.Host{Strict: map[string]string{"cpu": "x"}}}},
	}}
}

type column map[string][]float64

// cell adds a cell whose runs all succeeded; NaN is absent.
func cell(d *result.Document, benchmark, variant string, cols column) *result.Cell {
	n := 0
	for _, v := range cols {
		n = max(n, len(v))
	}
	c := result.Cell{Name: result.PrintedName(benchmark, variant, ""), Benchmark: benchmark, Variant: variant,
		Build: "head", Digest: "sha256:" + benchmark + variant, Planned: n}
	for i := range n {
		c.Runs.Repeat = append(c.Runs.Repeat, i+1)
		c.Runs.Block = append(c.Runs.Block, i+1)
		c.Runs.Slot = append(c.Runs.Slot, 0)
		c.Runs.Start = append(c.Runs.Start, float64(i))
	}
	for _, m := range append([]string{"wall_time", "cpu_time"}, others(cols)...) {
		if v, ok := cols[m]; ok {
			col := result.Column{Metric: m, V: v}
			for i, x := range v {
				if math.IsNaN(x) {
					if col.Absent == nil {
						col.Absent = map[int]string{}
					}
					col.Absent[i] = "not_reported"
				}
			}
			c.Columns = append(c.Columns, col)
		}
	}
	d.Cells = append(d.Cells, c)
	d.Plan.Cells++
	d.Plan.Runs += n
	return &d.Cells[len(d.Cells)-1]
}

func others(cols column) []string {
	var out []string
	for _, m := range result.BuiltinNames() {
		if _, ok := cols[m]; ok && m != "wall_time" && m != "cpu_time" {
			out = append(out, m)
		}
	}
	for m := range cols {
		if _, builtin := result.Catalogue()[m]; !builtin {
			out = append(out, m)
		}
	}
	return out
}

func stored(docs ...*result.Document) *baseline.Baseline {
	b := &baseline.Baseline{State: baseline.OK, Origin: "folder"}
	for i, d := range docs {
		b.Sessions = append(b.Sessions, baseline.Stored{File: fmt.Sprintf("%d.json", i), Doc: d})
	}
	return b
}

func regression(metric string, limit float64) budget.Budget {
	return budget.Budget{Metric: metric, Kind: budget.MaxRegression, Limit: limit, Level: budget.Fail}
}

func evaluate(t *testing.T, cur *result.Document, b *baseline.Baseline, budgets ...budget.Budget) *verdict.Document {
	t.Helper()
	v, err := Evaluate(Input{Current: cur, Baseline: b, Budgets: budgets, Policy: DefaultPolicy(), Command: "perfweir ci"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// own is the only finding that is not of an implicit budget.
func own(t *testing.T, v *verdict.Document) *verdict.Finding {
	t.Helper()
	var found *verdict.Finding
	for i := range v.Findings {
		if !v.Budgets[v.Findings[i].Budget].Implicit {
			if found != nil {
				t.Fatalf("more than one finding: %+v and %+v", found, v.Findings[i])
			}
			found = &v.Findings[i]
		}
	}
	if found == nil {
		t.Fatal("no finding of a budget of the suite")
	}
	return found
}

// around gives n values about a center, deterministic, with a spread of cv.
func around(center, cv float64, n int, salt int) []float64 {
	out := make([]float64, n)
	for i := range out {
		u := math.Mod(float64((i+1)*(salt+7))*0.6180339887498949, 1) - 0.5
		out[i] = center * (1 + 2*cv*u)
	}
	return out
}

func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}
