package artifact

import (
	"slices"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Cells are matched one by one: a session with another definition of a cell is
// taken, and compared with in all its other cells.
func TestOtherCellDigest(t *testing.T) {
	more := func(run WorkflowRun) *result.Document {
		doc := goodDocument(run, "perf-1")
		second := doc.Cells[0]
		second.Name, second.Benchmark = "decode", "decode"
		doc.Cells = append(doc.Cells, second)
		doc.Metrics[result.WallTime] = result.Metric{Unit: "s", Better: result.Lower, Class: result.Exact}
		return doc
	}
	w := newWorld(t)
	for i := range int64(3) {
		run := w.run(goodRun(100 - i))
		doc := more(run)
		doc.Cells[1].Digest = "sha256:other"
		w.left(run, doc)
	}
	found := w.find()
	if found.Fit != 3 {
		t.Fatal(told(found))
	}
	current := more(goodRun(1000))
	current.Sessions[0].StartedAt = now
	v, err := gate.Evaluate(gate.Input{Current: current, Policy: gate.DefaultPolicy(),
		Baseline: baseline.Select(baseline.Policy{}, w.q.Want, found.Origin, found.Candidates),
		Budgets:  []budget.Budget{{Metric: result.WallTime, Kind: budget.MaxRegression, Limit: 0.05, Level: budget.Fail}}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]verdict.Outcome{}
	for _, f := range v.Findings {
		if !v.Budgets[f.Budget].Implicit {
			got[v.Cells[f.Cell].Name] = f.Outcome
		}
	}
	if got["encode"] != verdict.Pass || got["decode"] != verdict.NotComparable || len(got) != 2 {
		t.Errorf("%v", got)
	}
	if !slices.ContainsFunc(v.Baseline.Sessions, func(s verdict.BaselineSession) bool {
		return s.File == "workflow run 100 perf-1-1of1-a1" && s.Commit == sha(100)
	}) {
		t.Errorf("%+v", v.Baseline.Sessions)
	}
}
