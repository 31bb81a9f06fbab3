package gate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

const baseCommit = "77fe1234aaaabbbbccccddddeeeeffff00001111"

// change is a pull request: one cell, half as slow again as the baseline, and the
// budgets of both suite files.
func change(base, head []budget.Budget) Input {
	cur, ref := doc("02", 0), doc("01", 1)
	cell(cur, "enc", "", column{"wall_time": around(1.5, 0.02, 10, 2)})
	cell(ref, "enc", "", column{"wall_time": around(1, 0.02, 10, 1)})
	return Input{
		Current: cur, Baseline: stored(ref), Budgets: head, Policy: DefaultPolicy(),
		Base: &Rules{Commit: baseCommit, Budgets: base, Policy: DefaultPolicy(), Cells: []BenchmarkVariant{{"enc", ""}}},
	}
}

// limit is a budget on wall_time as config reads it.
func limit(percent, line int, edits ...func(*budget.Budget)) budget.Budget {
	b := regression("wall_time", float64(percent)/100)
	b.Against, b.Text = budget.AgainstBaseline, fmt.Sprintf("max_regression: %d%%", percent)
	b.Source = budget.Source{Path: "perfweir.yml", Line: line, Column: 5}
	for _, edit := range edits {
		edit(&b)
	}
	return b
}

func level(l budget.Level) func(*budget.Budget) { return func(b *budget.Budget) { b.Level = l } }
func of(benchmark string) func(*budget.Budget) {
	return func(b *budget.Budget) { b.Benchmark = benchmark }
}

func judged(t *testing.T, in Input) *verdict.Document {
	t.Helper()
	v, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := verdict.Encode(&text, v); err != nil { // every reference points somewhere
		t.Fatal(err)
	}
	for i := range v.Budgets {
		if v.Budgets[i].ID != i {
			t.Fatalf("budget %d has id %d", i, v.Budgets[i].ID)
		}
	}
	return v
}

// told is the list of what is loosened, in words.
func told(v *verdict.Document) string {
	var out []string
	for _, l := range v.Loosened {
		s := fmt.Sprintf("%s: %s -> %s (%d cells)", l.Text, l.Was, first(l.Now, "deleted"), l.Cells)
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// decided is which budgets the findings about a metric rest on: "base:31", "head:12".
func decided(v *verdict.Document, metric string) string {
	var out []string
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Metric == metric {
			b := &v.Budgets[f.Budget]
			file := "head"
			if b.Source.Commit == baseCommit {
				file = "base"
			}
			out = append(out, fmt.Sprintf("%s:%d", file, b.Source.Line))
		}
	}
	return strings.Join(out, " ")
}

// TestWhichFileDecides: what a pull request does to budgets, and whose count
// (DESIGN rule 19). The cell is 50 % slower: a budget of 10 % fails it, one of
// 90 % does not.
func TestWhichFileDecides(t *testing.T) {
	list := func(b ...budget.Budget) []budget.Budget { return b }
	for _, tt := range []struct {
		name       string
		base, head []budget.Budget
		exit       int
		decides    string
		told       string
		headLine   int // of the first budget that decides
	}{
		{"nothing changed, lines moved", list(limit(10, 31)), list(limit(10, 12)), ExitFail, "head:12", "", 12},
		{"loosened", list(limit(10, 31)), list(limit(90, 12)), ExitFail, "base:31",
			"wall_time: max_regression: 10% -> max_regression: 90% (1 cells)", 12},
		{"deleted", list(limit(10, 31)), nil, ExitFail, "base:31",
			"wall_time: max_regression: 10% -> deleted (1 cells)", 0},
		{"tightened", list(limit(90, 31)), list(limit(10, 12)), ExitFail, "head:12", "", 12},
		{"added", nil, list(limit(10, 12)), ExitFail, "head:12", "", 12},
		{"level fail to warn", list(limit(10, 31)), list(limit(10, 12, level(budget.Warn))), ExitFail, "base:31",
			"wall_time: max_regression: 10%, level: fail -> max_regression: 10%, level: warn (1 cells)", 12},
		{"level warn to fail", list(limit(10, 31, level(budget.Warn))), list(limit(10, 12)), ExitFail, "head:12", "", 12},
		{"narrowed to other cells", list(limit(10, 31)), list(limit(10, 12, of("dec*"))), ExitFail, "base:31",
			"wall_time: max_regression: 10% -> deleted (1 cells)", 0},
		{"an exception for the cell", list(limit(10, 31)), list(limit(10, 12), limit(90, 13, of("enc"))), ExitFail, "base:31",
			"wall_time: max_regression: 10% -> max_regression: 90% (1 cells)", 13},
		{"an exception of base's is gone, tighter", list(limit(10, 31), limit(90, 32, of("enc"))), list(limit(10, 12)), ExitFail, "head:12", "", 12},
		{"another kind", list(limit(10, 31)), list(limit(10, 12, func(b *budget.Budget) { b.Kind = budget.MaxDecrease })), ExitFail, "head:12 base:31",
			"wall_time: max_regression: 10% -> deleted (1 cells)", 12},
		{"loosened inside what is there", list(limit(80, 31)), list(limit(90, 12)), ExitPass, "base:31",
			"wall_time: max_regression: 80% -> max_regression: 90% (1 cells)", 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := judged(t, change(tt.base, tt.head))
			if v.ExitCode != tt.exit {
				t.Errorf("%s exit %d, want %d", v.Outcome, v.ExitCode, tt.exit)
			}
			if got := decided(v, "wall_time"); got != tt.decides {
				t.Errorf("%s decide, want %s", got, tt.decides)
			}
			if got := told(v); got != tt.told || v.Counts.Loosened != len(v.Loosened) {
				t.Errorf("loosened %q (%d), want %q", got, v.Counts.Loosened, tt.told)
			}
			if v.Suite.JudgedBy != "base 77fe1234" || v.Cells[0].JudgedBy != "" {
				t.Errorf("judged by %q, the cell by %q", v.Suite.JudgedBy, v.Cells[0].JudgedBy)
			}
			f := finding(v, "wall_time")
			if got := v.Budgets[f.Budget].Source.LineOnHead(); got != tt.headLine {
				t.Errorf("annotated at line %d of head's file, want %d", got, tt.headLine)
			}
		})
	}
}

// What base's file says of what is always there may not be lost either.
func TestImplicitBudgetsAreNotLoosened(t *testing.T) {
	own := budget.Budget{Metric: "crash_rate", Kind: budget.Max, Limit: 0.5, Level: budget.Fail, Text: "max: 50%", Source: budget.Source{Path: "perfweir.yml", Line: 12}}
	crashed := func(in Input) Input {
		in.Current.Cells[0].Runs.Status = map[int]result.Status{3: result.Signal}
		return in
	}
	v := judged(t, crashed(change(nil, []budget.Budget{own})))
	if v.ExitCode != ExitFail || told(v) != "crash_rate: crash_rate max: 0% -> max: 50% (1 cells)" || v.Loosened[0].Source.HeadLine != 12 {
		t.Errorf("loosened: exit %d, %s, %+v", v.ExitCode, told(v), v.Loosened)
	}
	if v := judged(t, crashed(change([]budget.Budget{own}, []budget.Budget{own}))); v.ExitCode != ExitPass || told(v) != "" {
		t.Errorf("as base has it: exit %d, %s", v.ExitCode, told(v))
	}
	if v := judged(t, crashed(change([]budget.Budget{own}, nil))); v.ExitCode != ExitFail || told(v) != "" {
		t.Errorf("back to the built-in one, which is stricter: exit %d, %s", v.ExitCode, told(v))
	}
}

// What nothing measures any more is missed, whichever file's budget says so, and
// once.
func TestDeletedWithItsMetric(t *testing.T) {
	frames := budget.Budget{Metric: "frames", Kind: budget.Min, Limit: 24, Level: budget.Fail, Text: "min: 24", Source: budget.Source{Path: "perfweir.yml", Line: 31}}
	fewer := frames
	fewer.Limit, fewer.Text, fewer.Source.Line = 1, "min: 1", 12
	for _, tt := range []struct {
		name          string
		head          []budget.Budget
		decides, told string
	}{
		{"deleted", nil, "base:31", "frames: min: 24 -> deleted (1 cells)"},
		{"still there", []budget.Budget{frames}, "head:31", ""},
		{"loosened", []budget.Budget{fewer}, "base:31", "frames: min: 24 -> min: 1 (1 cells)"},
	} {
		v := judged(t, change([]budget.Budget{frames}, tt.head))
		if f := finding(v, "frames"); f.Outcome != verdict.NoData || v.ExitCode != ExitUndecided || told(v) != tt.told || decided(v, "frames") != tt.decides {
			t.Errorf("%s: %s exit %d, by %s, loosened %s", tt.name, f.Outcome, v.ExitCode, decided(v, "frames"), told(v))
		}
	}
}

// A budget that named the cell expected its metric there, and a wider one that
// another cell satisfies is no way out.
func TestNoLongerExpected(t *testing.T) {
	wide := budget.Budget{Metric: "frames", Kind: budget.Min, Limit: 24, Level: budget.Fail}
	narrow := wide
	narrow.Benchmark = "enc"
	for name, base := range map[string]budget.Budget{"wide": wide, "narrow": narrow} {
		in := change([]budget.Budget{base}, []budget.Budget{wide})
		in.Current.Metrics["frames"] = result.Metric{Unit: "1", Better: result.Higher, Class: result.Noisy}
		cell(in.Current, "other", "", column{"frames": repeat(30, 10)})
		want := map[string]int{"wide": ExitPass, "narrow": ExitUndecided}[name]
		if v := judged(t, in); v.ExitCode != want {
			t.Errorf("%s: exit %d, want %d", name, v.ExitCode, want)
		}
	}
}

// Of budgets on parts that nothing measures each stands for itself.
func TestDeletedForOnePart(t *testing.T) {
	part := func(name string) budget.Budget {
		return budget.Budget{Metric: "power", Part: name, Kind: budget.Max, Limit: 25, Level: budget.Fail, Text: "max: 25W"}
	}
	v := judged(t, change([]budget.Budget{part("gpu0"), part("gpu1")}, []budget.Budget{part("gpu1")}))
	if told(v) != "power of gpu0: max: 25W -> deleted (1 cells)" || v.Counts.Findings[verdict.NoData] != 2 {
		t.Errorf("loosened %s, %v", told(v), v.Counts.Findings)
	}
}

// The cell that is the reference itself is none in which a budget was loosened.
func TestDeletedAgainstAVariant(t *testing.T) {
	in := change([]budget.Budget{limit(10, 31, func(b *budget.Budget) { b.Against = "variant:plain" })}, nil)
	in.Current.Cells, in.Base.Cells = nil, nil
	for _, variant := range []string{"plain", "fast"} {
		cell(in.Current, "enc", variant, column{"wall_time": around(1, 0.02, 10, 2)})
		in.Base.Cells = append(in.Base.Cells, BenchmarkVariant{"enc", variant})
	}
	if v := judged(t, in); told(v) != "wall_time against variant plain: max_regression: 10% -> deleted (1 cells)" {
		t.Error(told(v))
	}
}

// A budget against a variant still means something when the change removes the
// variant.
func TestVariantThatVanished(t *testing.T) {
	b := limit(10, 31, func(b *budget.Budget) { b.Against = "variant:plain" })
	in := change([]budget.Budget{b}, []budget.Budget{b})
	if v := judged(t, in); finding(v, "wall_time").Metric != "" {
		t.Errorf("the benchmark never had it: %+v", finding(v, "wall_time"))
	}
	in.Base.Cells = append(in.Base.Cells, BenchmarkVariant{"enc", "plain"})
	if f := finding(judged(t, in), "wall_time"); f.Outcome != verdict.NoData || !strings.Contains(f.Message, `variant "plain" was not measured`) {
		t.Errorf("%s (%s)", f.Outcome, f.Message)
	}
}

// V43: a limit in a unit that the metric no longer has is no limit; the change's
// own one counts at once, the old one is told as not comparable.
func TestMetricRedefined(t *testing.T) {
	most := func(v float64) budget.Budget {
		return budget.Budget{Metric: "rate", Kind: budget.Max, Limit: v, Level: budget.Fail, Text: fmt.Sprintf("max: %v", v)}
	}
	in := change([]budget.Budget{most(100)}, []budget.Budget{most(5)})
	in.Current.Metrics["rate"] = result.Metric{Unit: "W", Class: result.Noisy}
	cell(in.Current, "other", "", column{"rate": repeat(7, 10)})
	in.Base.Cells = append(in.Base.Cells, BenchmarkVariant{"other", ""})
	in.Base.Metrics = map[string]result.Metric{"rate": {Unit: "tok/s", Class: result.Noisy}}
	v := judged(t, in)
	var outcomes []verdict.Outcome
	for _, f := range v.Findings {
		if f.Metric == "rate" {
			outcomes = append(outcomes, f.Outcome)
		}
	}
	if !slices.Equal(outcomes, []verdict.Outcome{verdict.Fail, verdict.NotComparable}) || told(v) != "rate: max: 100 -> another definition of the metric (1 cells)" {
		t.Errorf("%v, loosened %s", outcomes, told(v))
	}
	if message := v.Findings[len(v.Findings)-1].Message; !strings.Contains(message, `its unit is "W" here and "tok/s" in the comparison commit's suite file`) {
		t.Error(message)
	}
	in.Base.Metrics["rate"] = result.Metric{Unit: "W", Class: result.Noisy}
	if v := judged(t, in); v.ExitCode != ExitFail || decided(v, "rate") != "head:0" || told(v) != "" {
		t.Errorf("the same unit: exit %d, %s, %s", v.ExitCode, decided(v, "rate"), told(v))
	}

	// A direction that the change turns round is no way out of a regression.
	b := regression("score", 0.1)
	b.Against, b.Variant = "variant:plain", "new"
	turned := change([]budget.Budget{b}, []budget.Budget{b})
	turned.Current.Metrics["score"] = result.Metric{Unit: "1", Better: result.Lower, Class: result.Noisy}
	turned.Base.Metrics = map[string]result.Metric{"score": {Unit: "1", Better: result.Higher, Class: result.Noisy}}
	for variant, v := range map[string]float64{"plain": 10, "new": 5} {
		cell(turned.Current, "other", variant, column{"score": repeat(v, 10)})
		turned.Base.Cells = append(turned.Base.Cells, BenchmarkVariant{"other", variant})
	}
	v = judged(t, turned)
	outcomes = nil
	for _, f := range v.Findings {
		if f.Metric == "score" {
			outcomes = append(outcomes, f.Outcome)
		}
	}
	slices.Sort(outcomes)
	if len(outcomes) != 2 || !slices.Contains(outcomes, verdict.NotComparable) {
		t.Errorf("direction: %v", outcomes)
	}
}

// A change that touches no budget is judged as at a desk, but for whose file it was.
func TestSameFileTwice(t *testing.T) {
	in := change(nil, nil)
	in.Budgets = []budget.Budget{limit(10, 31), limit(90, 32, of("other")), {Metric: "frames", Kind: budget.Max, Limit: 1, Level: budget.Fail}}
	in.Base.Budgets = slices.Clone(in.Budgets)
	both := judged(t, in)
	in.Base, in.JudgedBy = nil, "base 77fe1234"
	if diff := cmp.Diff(judged(t, in), both); diff != "" {
		t.Error(diff)
	}
}

func TestLoosenedIsBounded(t *testing.T) {
	var base []budget.Budget
	for i := range 3 * verdict.MaxLoosened {
		b := limit(10, i+1)
		b.Metric = fmt.Sprintf("m%03d", i)
		base = append(base, b)
	}
	in := change(base, nil)
	in.Policy.On = map[verdict.Outcome]string{Gone: ActionPass}
	v := judged(t, in)
	if len(v.Loosened) != verdict.MaxLoosened || v.Counts.Loosened != 3*verdict.MaxLoosened+1 || v.Loosened[0].Text != "gate.on.gone" || v.Loosened[1].Text != "m000" {
		t.Errorf("%d listed of %d, first %+v", len(v.Loosened), v.Counts.Loosened, v.Loosened[:2])
	}
}
