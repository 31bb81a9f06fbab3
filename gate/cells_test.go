package gate

import (
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// named is a change that calls the benchmark enc something else: base's budget of
// 10 % is on enc, head's of 90 % on the new name.
func named(name string, was ...string) Input {
	in := change([]budget.Budget{limit(10, 31, of("enc"))}, []budget.Budget{limit(90, 12, of(name))})
	c := &in.Current.Cells[0]
	c.Name, c.Benchmark, c.Was = name, name, was
	return in
}

// What only head's suite has is judged by head's budgets.
func TestAddsACell(t *testing.T) {
	in := change([]budget.Budget{limit(10, 31)}, []budget.Budget{limit(10, 12, of("enc")), {Metric: "wall_time", Kind: budget.Max, Limit: 9, Level: budget.Fail, Benchmark: "new"}})
	cell(in.Current, "new", "", column{"wall_time": around(5, 0.02, 10, 2)})
	v := judged(t, in)
	row := v.Cells[1]
	if row.JudgedBy != "head" || row.Outcome != verdict.Pass || v.Cells[0].JudgedBy != "" || v.Cells[0].Outcome != verdict.Fail || told(v) != "" {
		t.Errorf("%+v, loosened %s", v.Cells, told(v))
	}
	in.Budgets[1].Limit = 4
	if v := judged(t, in); v.Cells[1].Outcome != verdict.Fail {
		t.Errorf("under its own budget: %s", v.Cells[1].Outcome)
	}
}

func TestAddsAVariant(t *testing.T) {
	in := change([]budget.Budget{limit(10, 31)}, []budget.Budget{limit(10, 31)})
	cell(in.Current, "enc", "fast", column{"wall_time": around(1, 0.02, 10, 2)})
	if v := judged(t, in); v.Cells[0].JudgedBy != "" || v.Cells[1].JudgedBy != "head" {
		t.Errorf("judged by %q and %q", v.Cells[0].JudgedBy, v.Cells[1].JudgedBy)
	}
}

// A renamed benchmark is judged by base's budgets under its old name.
func TestRenamesWithWas(t *testing.T) {
	v := judged(t, named("encode", "enc"))
	if len(v.Cells) != 1 || v.ExitCode != ExitFail || decided(v, "wall_time") != "base:31" || v.Cells[0].JudgedBy != "" ||
		told(v) != "wall_time in benchmark enc: max_regression: 10% -> max_regression: 90% (1 cells)" {
		t.Errorf("exit %d, %s decide, loosened %s, %+v", v.ExitCode, decided(v, "wall_time"), told(v), v.Cells)
	}
}

// Without `was` it is a new one, and the old one is gone: what of that is base's word, stored or not.
func TestRenamesWithoutWas(t *testing.T) {
	for name, withBaseline := range map[string]bool{"stored": true, "nothing stored yet": false} {
		in := named("encode")
		if !withBaseline {
			in.Baseline = nil
		}
		in.Policy.On = map[verdict.Outcome]string{Gone: ActionPass} // the change's own word, which counts after the merge
		v := judged(t, in)
		if v.ExitCode != ExitUndecided || len(v.Cells) != 2 || v.Cells[0].JudgedBy != "head" || v.Cells[1].Name != "enc" || !slices.Contains(v.Cells[1].Reasons, "gone") {
			t.Errorf("%s: %s exit %d, %+v", name, v.Outcome, v.ExitCode, v.Cells)
		}
		if f := finding(v, "wall_time"); withBaseline && f.Outcome != verdict.New || decided(v, "wall_time") != "head:12" {
			t.Errorf("%s: %s by %s", name, f.Outcome, decided(v, "wall_time"))
		}
		in.Base.Policy.On = map[verdict.Outcome]string{Gone: ActionWarn}
		if v := judged(t, in); v.ExitCode != ExitPass {
			t.Errorf("%s: base warns of what is gone, and exit %d", name, v.ExitCode)
		}
	}
}

func TestOwnNameGoesFirst(t *testing.T) {
	in := named("enc", "loose") // its own name goes first
	in.Base.Budgets = append(in.Base.Budgets, limit(95, 32, of("loose")))
	in.Base.Cells = append(in.Base.Cells, BenchmarkVariant{"loose", ""})
	if v := judged(t, in); v.ExitCode != ExitFail || decided(v, "wall_time") != "base:31" {
		t.Errorf("exit %d by %s", v.ExitCode, decided(v, "wall_time"))
	}
}

// What base's suite does not have either was not removed by this change.
func TestGoneBeforeTheChange(t *testing.T) {
	in := change([]budget.Budget{limit(80, 31)}, []budget.Budget{limit(80, 31)})
	cell(in.Baseline.Sessions[0].Doc, "older", "", column{"wall_time": around(1, 0.02, 10, 1)})
	if v := judged(t, in); v.ExitCode != ExitPass || len(v.Cells) != 1 {
		t.Errorf("exit %d, %+v", v.ExitCode, v.Cells)
	}
	in.Base.Cells = append(in.Base.Cells, BenchmarkVariant{"older", ""})
	if v := judged(t, in); v.ExitCode != ExitUndecided || len(v.Cells) != 2 {
		t.Errorf("removed by this change: exit %d, %+v", v.ExitCode, v.Cells)
	}
}

func TestPartOfTheSuiteHasNothingGone(t *testing.T) {
	in := named("encode")
	in.Current.Plan.Selection = "encode"
	if v := judged(t, in); len(v.Cells) != 1 {
		t.Errorf("%+v", v.Cells)
	}
}

func TestLeftOutIsNotGone(t *testing.T) {
	in := named("encode")
	in.Baseline = nil
	in.Current.Skipped = []result.Skipped{{Name: "enc", Why: "xz was not found on PATH"}}
	if v := judged(t, in); len(v.Cells) != 1 {
		t.Errorf("%+v", v.Cells)
	}
}
