package gate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// goBench is the cell of a run of go test -bench: every benchmark, named without
// its package, is a part with its time and its allocations.
func goBench(d *result.Document, benchmarks ...string) *result.Cell {
	c := cell(d, "micro", "", column{"wall_time": around(1, 0.02, 10, 1)})
	for i, name := range benchmarks {
		part := "example.com/a/" + name
		c.Columns = append(c.Columns,
			result.Column{Metric: "time_per_op", Part: part, V: around(1e-6, 0.02, 10, i)},
			result.Column{Metric: "allocs_per_op", Part: part, V: repeat(3, 10)})
	}
	return c
}

// perOp is a budget on time_per_op of some parts.
func perOp(percent, line int, part string, edits ...func(*budget.Budget)) budget.Budget {
	b := limit(percent, line, edits...)
	b.Metric, b.Part = "time_per_op", part
	return b
}

// perPart tells the findings that are about benchmarks of a tool, red ones with
// what they say: "fail A", "gone B".
func perPart(v *verdict.Document) string {
	var out []string
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Metric != "time_per_op" && f.Metric != "allocs_per_op" {
			continue
		}
		word := string(f.Outcome)
		if slices.Contains(f.Reasons, string(Gone)) {
			word += " gone"
		}
		if !f.Gated {
			word += " shown"
		}
		out = append(out, word+" "+strings.TrimPrefix(f.Part, "example.com/a/"))
	}
	return strings.Join(out, ", ")
}

// A general budget in whose place a later one stands for every part is used, not
// missing its numbers.
func TestGeneralBudgetThatEveryPartOverrides(t *testing.T) {
	for name, budgets := range map[string][]budget.Budget{
		"by a glob":     {perOp(10, 9, ""), perOp(20, 10, "*")},
		"by one each":   {perOp(10, 9, ""), perOp(20, 10, "*/BenchmarkA-2"), perOp(20, 11, "*/BenchmarkB-2")},
		"by narrower":   {perOp(10, 9, "*"), perOp(20, 10, "*/Benchmark*")},
		"named cells":   {perOp(10, 9, "", of("micro")), perOp(20, 10, "*", of("micro"))},
		"by wider ones": {perOp(10, 9, "", of("micro")), perOp(20, 10, "*")},
	} {
		cur, ref := doc("02", 0), doc("01", 1)
		goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
		goBench(cur, "BenchmarkA-2", "BenchmarkB-2")
		if v := evaluate(t, cur, stored(ref), budgets...); v.ExitCode != ExitPass || perPart(v) != "pass BenchmarkA-2, pass BenchmarkB-2" {
			t.Errorf("%s: exit %d, %s", name, v.ExitCode, perPart(v))
		}
		// Of both files, and with nothing to compare with.
		in := Input{Current: cur, Budgets: budgets, Policy: DefaultPolicy(), Base: &Rules{Commit: baseCommit, Budgets: budgets, Policy: DefaultPolicy(), Cells: []BenchmarkVariant{{"micro", ""}}}}
		if v := judged(t, in); v.Outcome != verdict.NoBaseline || perPart(v) != "no_baseline BenchmarkA-2, no_baseline BenchmarkB-2" {
			t.Errorf("%s, no baseline: %s, %s", name, v.Outcome, perPart(v))
		}
	}
	// Where the tool printed nothing it is missing all the same.
	cur, ref := doc("02", 0), doc("01", 1)
	goBench(ref, "BenchmarkA-2")
	goBench(cur)
	if v := evaluate(t, cur, stored(ref), perOp(10, 9, ""), perOp(20, 10, "*")); v.ExitCode != ExitUndecided {
		t.Errorf("nothing printed: %s", v.Outcome)
	}
}

// V21 inside a cell: what the baseline has and this result lacks is told, whatever
// else of its kind is there.
func TestPartThatIsGone(t *testing.T) {
	ref := doc("01", 1)
	goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
	cur := doc("02", 0)
	goBench(cur, "BenchmarkA-2", "BenchmarkC-2")
	allocs := budget.Budget{Metric: "allocs_per_op", Kind: budget.Max, Limit: 5, Level: budget.Fail}
	for _, tt := range []struct {
		name    string
		budgets []budget.Budget
		exit    int
		want    string
	}{
		{"a general budget", []budget.Budget{perOp(10, 9, "")}, ExitUndecided,
			"pass BenchmarkA-2, new BenchmarkC-2, no_data gone BenchmarkB-2"},
		{"once, whatever it had", []budget.Budget{perOp(10, 9, ""), allocs}, ExitUndecided,
			"pass BenchmarkA-2, new BenchmarkC-2, pass BenchmarkA-2, pass BenchmarkC-2, no_data gone BenchmarkB-2"},
		{"an absolute one", []budget.Budget{allocs}, ExitUndecided,
			"pass BenchmarkA-2, pass BenchmarkC-2, no_data gone BenchmarkB-2"},
		// Its exception is about nothing any more, which is told as well.
		{"one that only warns", []budget.Budget{perOp(10, 9, ""), perOp(10, 10, "*/BenchmarkB*", level(budget.Warn))}, ExitPass,
			"pass BenchmarkA-2, new BenchmarkC-2, no_data gone shown BenchmarkB-2, no_data shown */BenchmarkB*"},
		{"the strictest counts", []budget.Budget{perOp(10, 9, "", level(budget.Warn)), allocs}, ExitUndecided,
			"pass shown BenchmarkA-2, new shown BenchmarkC-2, pass BenchmarkA-2, pass BenchmarkC-2, no_data gone BenchmarkB-2"},
		{"nothing is asked of it", []budget.Budget{perOp(10, 9, "*/BenchmarkA*")}, ExitPass, "pass BenchmarkA-2"},
		{"no budget", nil, ExitPass, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := evaluate(t, cur, stored(ref), tt.budgets...)
			if got := perPart(v); got != tt.want || v.ExitCode != tt.exit {
				t.Errorf("exit %d, %s\nwant %d, %s", v.ExitCode, got, tt.exit, tt.want)
			}
		})
	}
	v := evaluate(t, cur, stored(ref), perOp(10, 9, ""))
	f := v.Findings[len(v.Findings)-1]
	if f.Message != "time_per_op of example.com/a/BenchmarkB-2 has no data: the baseline has this part and this result has not" || v.Budgets[f.Budget].Source.Line != 9 {
		t.Errorf("%q at line %d", f.Message, v.Budgets[f.Budget].Source.Line)
	}
	if row := v.Cells[f.Cell]; len(v.Cells) != 1 || row.Outcome != verdict.NoData {
		t.Errorf("%+v", v.Cells)
	}
}

// A gone part is as red as the policy makes a gone cell.
func TestGonePartByPolicy(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
	goBench(cur, "BenchmarkA-2")
	for action, want := range map[string]struct {
		outcome, whole verdict.Outcome
		exit           int
	}{
		ActionFail:    {verdict.NoData, verdict.NoData, ExitUndecided},
		ActionWarn:    {verdict.NotComparable, verdict.NotComparable, ExitPass},
		ActionNeutral: {verdict.NotComparable, verdict.NotComparable, ExitPass},
		ActionPass:    {verdict.NotComparable, verdict.Pass, ExitPass},
	} {
		in := Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{perOp(10, 9, "")}, Policy: DefaultPolicy()}
		in.Policy.On = map[verdict.Outcome]string{Gone: action}
		v := judged(t, in)
		if f := v.Findings[len(v.Findings)-1]; f.Outcome != want.outcome || v.Outcome != want.whole || v.ExitCode != want.exit || !slices.Contains(f.Reasons, "gone") {
			t.Errorf("%s: %s, whole %s exit %d", action, f.Outcome, v.Outcome, v.ExitCode)
		}
	}
}

// Whose word counts about a part that is deleted, with the budget that was for it
// and without: base's, as about a cell.
func TestPartThatAChangeDeletes(t *testing.T) {
	general, special := perOp(10, 9, ""), perOp(20, 10, "*/BenchmarkB*")
	for _, tt := range []struct {
		name       string
		head       []budget.Budget
		gone       string // base's word
		exit       int
		loosened   int
		goneByPart bool
	}{
		{"with its budget", []budget.Budget{general}, ActionFail, ExitUndecided, 0, true},
		{"with its budget, and that may be", []budget.Budget{general}, ActionNeutral, ExitPass, 0, true},
		{"with all budgets, and that may be", nil, ActionNeutral, ExitPass, 2, true},
		// The file still asks for what nothing measures.
		{"without its budget", []budget.Budget{general, special}, ActionNeutral, ExitUndecided, 0, true},
	} {
		ref, cur := doc("01", 1), doc("02", 0)
		goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
		goBench(cur, "BenchmarkA-2")
		policy := DefaultPolicy()
		policy.On[Gone] = tt.gone
		head := DefaultPolicy()
		head.On[Gone] = ActionPass
		v := judged(t, Input{Current: cur, Baseline: stored(ref), Budgets: tt.head, Policy: head,
			Base: &Rules{Commit: baseCommit, Budgets: []budget.Budget{general, special}, Policy: policy, Cells: []BenchmarkVariant{{"micro", ""}}}})
		loosened := 0
		for _, l := range v.Loosened {
			if l.Text != "gate.on.gone" {
				loosened++
			}
		}
		if v.ExitCode != tt.exit || loosened != tt.loosened || strings.Contains(perPart(v), "gone BenchmarkB-2") != tt.goneByPart {
			t.Errorf("%s: exit %d, %s, loosened %s", tt.name, v.ExitCode, perPart(v), told(v))
		}
	}
}

// An exception that another cell still needs is no dead rule where its part is gone.
func TestExceptionThatAnotherCellNeeds(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	for _, d := range []*result.Document{ref, cur} {
		other := goBench(d, "BenchmarkB-2")
		other.Name, other.Benchmark, other.Digest = "other", "other", "sha256:other"
	}
	goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
	goBench(cur, "BenchmarkA-2")
	in := Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{perOp(10, 9, ""), perOp(20, 10, "*/BenchmarkB*")}, Policy: DefaultPolicy()}
	in.Policy.On[Gone] = ActionNeutral
	if v := judged(t, in); v.ExitCode != ExitPass || !strings.HasSuffix(perPart(v), "not_comparable gone BenchmarkB-2") {
		t.Errorf("exit %d, %s", v.ExitCode, perPart(v))
	}
}

// One metric of a part that is still there, and a check that nobody reports any more.
func TestColumnThatIsGone(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
	c := goBench(cur, "BenchmarkA-2", "BenchmarkB-2")
	c.Columns = c.Columns[:len(c.Columns)-1]
	allocs := budget.Budget{Metric: "allocs_per_op", Kind: budget.Max, Limit: 5, Level: budget.Fail}
	v := evaluate(t, cur, stored(ref), allocs)
	f := v.Findings[len(v.Findings)-1]
	if perPart(v) != "pass BenchmarkA-2, no_data gone BenchmarkB-2" || f.Message != "allocs_per_op of example.com/a/BenchmarkB-2 has no data: the baseline has it and this result has not" {
		t.Errorf("%s: %s", perPart(v), f.Message)
	}

	// A metric that only the deleted benchmark had went with it.
	ref, cur = doc("01", 1), doc("02", 0)
	for _, d := range []*result.Document{ref, cur} {
		d.Metrics["frames"] = result.Metric{Unit: "1", Better: result.Higher, Class: result.Noisy}
	}
	c = goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
	c.Columns = append(c.Columns, result.Column{Metric: "frames", Part: "example.com/a/BenchmarkB-2", V: repeat(30, 10)})
	goBench(cur, "BenchmarkA-2")
	frames := budget.Budget{Metric: "frames", Kind: budget.Min, Limit: 24, Level: budget.Fail}
	policy := DefaultPolicy()
	policy.On[Gone] = ActionNeutral
	in := Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{allocs}, Policy: policy,
		Base: &Rules{Commit: baseCommit, Budgets: []budget.Budget{allocs, frames}, Policy: policy, Cells: []BenchmarkVariant{{"micro", ""}}}}
	if v := judged(t, in); v.ExitCode != ExitPass || perPart(v) != "pass BenchmarkA-2, not_comparable gone BenchmarkB-2" || told(v) != "frames: min: 24 -> deleted (1 cells)" {
		t.Errorf("a metric of its own: exit %d, %s, loosened %s", v.ExitCode, perPart(v), told(v))
	}
	in.Budgets = in.Base.Budgets
	if v := judged(t, in); v.ExitCode != ExitUndecided || finding(v, "frames").Outcome != verdict.NoData {
		t.Errorf("a metric of its own that is still asked for: exit %d, %s", v.ExitCode, perPart(v))
	}

	ref, cur = doc("01", 1), doc("02", 0)
	for _, d := range []*result.Document{ref, cur} {
		c := cell(d, "x", "", column{"wall_time": around(1, 0.02, 3, 1)})
		c.Columns = append(c.Columns, result.Column{Metric: "check", Part: "no_corruption", V: repeat(1, 3)})
		if d == ref {
			c.Columns = append(c.Columns, result.Column{Metric: "check", Part: "no_leak", V: repeat(1, 3)})
		}
	}
	v = evaluate(t, cur, stored(ref))
	if f := v.Findings[len(v.Findings)-1]; f.Metric != "check" || f.Part != "no_leak" || f.Outcome != verdict.NoData || v.ExitCode != ExitUndecided {
		t.Errorf("a check: %+v", f)
	}
}

// What is no missing part.
func TestPartsThatAreNotGone(t *testing.T) {
	for name, edit := range map[string]func(cur, ref *result.Document, b *baseline.Baseline){
		"another definition of the cell": func(cur, _ *result.Document, _ *baseline.Baseline) { cur.Cells[0].Digest = "sha256:other" },
		"the newest session had it no more": func(_, _ *result.Document, b *baseline.Baseline) {
			d := doc("00", 0)
			goBench(d, "BenchmarkA-2")
			b.Sessions = slices.Insert(b.Sessions, 0, baseline.Stored{File: "n.json", Doc: d})
		},
		"there by name, without a value": func(cur, _ *result.Document, _ *baseline.Baseline) {
			c := &cur.Cells[0]
			c.Columns = append(c.Columns, result.Column{Metric: "time_per_op", Part: "example.com/a/BenchmarkB-2", V: repeat(math.NaN(), 10)})
		},
		"nothing of it has a value": func(cur, _ *result.Document, _ *baseline.Baseline) { // what a tool that printed nothing leaves
			c := &cur.Cells[0]
			c.Columns = append(c.Columns[:1], result.Column{Metric: "time_per_op", V: repeat(math.NaN(), 10)})
		},
		"no run ended well": func(cur, _ *result.Document, _ *baseline.Baseline) {
			cur.Cells[0].Runs.Status = map[int]result.Status{}
			for i := range 10 {
				cur.Cells[0].Runs.Status[i] = result.Failed
			}
		},
		"in no clean run of the baseline": func(_, ref *result.Document, _ *baseline.Baseline) {
			columns := ref.Cells[0].Columns
			for k := range columns {
				if strings.HasSuffix(columns[k].Part, "BenchmarkB-2") {
					columns[k].V = repeat(math.NaN(), 10)
				}
			}
		},
		"measured on two machines": func(cur, _ *result.Document, _ *baseline.Baseline) {
			second := cur.Sessions[0]
			second.ID, second.Host = "03", result.Host{Strict: map[string]string{"cpu": "y"}}
			cur.Sessions = append(cur.Sessions, second)
		},
	} {
		ref, cur := doc("01", 1), doc("02", 0)
		goBench(ref, "BenchmarkA-2", "BenchmarkB-2")
		goBench(cur, "BenchmarkA-2")
		b := stored(ref)
		if v := evaluate(t, cur, b, perOp(10, 9, "")); !strings.Contains(perPart(v), "gone") {
			t.Fatalf("%s: nothing is gone: %s", name, perPart(v))
		}
		edit(cur, ref, b)
		if v := evaluate(t, cur, b, perOp(10, 9, "")); strings.Contains(perPart(v), "gone") {
			t.Errorf("%s: %s", name, perPart(v))
		}
	}

	// A kind of event that did not happen is not gone.
	ref, cur := doc("01", 1), doc("02", 0)
	for _, d := range []*result.Document{ref, cur} {
		d.Metrics["stalls"] = result.Metric{Unit: "1", Class: result.Level}
		c := cell(d, "x", "", column{"stalls": repeat(1, 3)})
		c.Columns = append(c.Columns, result.Column{Metric: "stalls", Part: "write", V: repeat(1, 3)})
		if d == ref {
			c.Columns = append(c.Columns, result.Column{Metric: "stalls", Part: "flow", V: repeat(1, 3)})
		}
	}
	if v := evaluate(t, cur, stored(ref), budget.Budget{Metric: "stalls", Kind: budget.Max, Limit: 2}); v.ExitCode != ExitPass {
		t.Errorf("counts by kind: %s %q", v.Outcome, v.Reasons)
	}
}

// What --cells or a shard leaves out on purpose reddens nothing.
func TestLeftOutOfAPartialPlan(t *testing.T) {
	for name, plan := range map[string]result.PlanRef{"--cells": {Selection: "b/**"}, "a shard": {Shard: "1/2"}} {
		for what, b := range map[string]budget.Budget{
			"a metric of other cells":  {Metric: "output_size", Kind: budget.Max, Limit: 9},
			"a regression of it":       regression("output_size", 0.1),
			"a variant":                {Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Against: "variant:prev"},
			"a variant of named cells": {Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Against: "variant:prev", Benchmark: "b"},
		} {
			d := doc("01", 0)
			cell(d, "b", "new", column{"wall_time": around(1, 0.02, 10, 1)})
			d.Plan.Selection, d.Plan.Shard = plan.Selection, plan.Shard
			v := evaluate(t, d, nil, b)
			if v.ExitCode != ExitPass || v.Outcome == verdict.NoData {
				t.Errorf("%s, %s: %s %q", name, what, v.Outcome, v.Reasons)
			}
			// What is measured must have what is expected of it by name.
			b.Metric, b.Against, b.Benchmark = "output_size", "", "b"
			if v := evaluate(t, d, nil, b); v.ExitCode != ExitUndecided {
				t.Errorf("%s, expected of the cell: %s", name, v.Outcome)
			}
		}
	}
	// A variant that could not be measured was not left out by whoever selected.
	d := doc("01", 0)
	cell(d, "b", "new", column{"wall_time": around(1, 0.02, 10, 1)})
	d.Plan.Selection, d.Skipped = "b/**", []result.Skipped{{Name: "b/prev", Why: "xz was not found on PATH"}}
	b := regression("wall_time", 0.1)
	b.Against = "variant:prev"
	if v := evaluate(t, d, nil, b); v.Outcome != verdict.NoData {
		t.Errorf("skipped: %s", v.Outcome)
	}
}
