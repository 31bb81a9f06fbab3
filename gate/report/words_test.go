package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

func TestHeadline(t *testing.T) {
	only := func(edit func(v *verdict.Document)) *verdict.Document {
		v := codec()
		cell(v, "gzip/l6/go.mod", 10)
		edit(v)
		return v
	}
	cases := map[string]*verdict.Document{
		"fail: 4 of 24 budgets broken in 2 of 5 cells; 1 suspect; 1 suspicious; 1 warning":               failing(),
		"pass: 20 of 23 budgets hold in 5 cells; 3 unproven, a change above 12.4 % would have been seen": cleanPass(),
		"no baseline yet: 10 of 20 budgets had nothing to compare with in 5 of 5 cells; 10 hold":         firstRun(),
		"fail: 2 of 3 budgets broken in 2 of 4 cells; 1 cell without data":                               crashes(),
		"pass: no budget was judged; 1 cell measured":                                                    only(func(*verdict.Document) {}),
		"pass: the one budget holds in 1 cell":                                                           only(func(v *verdict.Document) { absolute(v, 0, 3, verdict.Pass, 1, "") }),
		"interrupted: stopped from outside after 4 of 10 runs":                                           only(func(v *verdict.Document) { v.Outcome, v.Counts.SeenRuns = verdict.Interrupted, 4 }),
		"no data: 1 of 1 cell without data":                                                              only(func(v *verdict.Document) { v.Outcome, v.Cells[0].Outcome = verdict.NoData, verdict.NoData }),
		"invalid: 1 of 1 budget rest on invalid runs in 1 of 1 cell":                                     only(func(v *verdict.Document) { v.Outcome = verdict.Invalid; absolute(v, 0, 3, verdict.Invalid, 1, "") }),
		"inconclusive: 1 of 2 budgets suspect in 1 of 1 cell; 1 hold": only(func(v *verdict.Document) {
			v.Outcome = verdict.Inconclusive
			absolute(v, 0, 0, verdict.Pass, 0, "")
			suspect(v, relative(v, 0, 2, "", 1, 1.3, 0.1))
		}),
		"baseline not read: 1 of 1 budget had nothing to compare with in 1 of 1 cell": only(func(v *verdict.Document) {
			v.Outcome, v.Baseline = verdict.NoBaseline, &verdict.Baseline{State: verdict.BaselineFailed}
			relative(v, 0, 2, verdict.NoBaseline, 1, 1, 0)
		}),
		"pass: 0 of 2 budgets hold in 1 cell; 1 accepted; 1 unproven, a change above 7.00 % would have been seen": only(func(v *verdict.Document) {
			v.Counts.SmallestEffect = 0.07
			absolute(v, 0, 3, verdict.Accepted, 1, "")
			unproven(relative(v, 0, 2, "", 1, 1, 0.1), 0.07)
		}),
	}
	for want, v := range cases {
		f := factsOf(v)
		if got := f.title() + ": " + f.headline(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// Where proof is required an unproven finding decides, in every report alike.
func TestProofIsToldAlike(t *testing.T) {
	v := codec()
	cell(v, "gzip/l6/go.mod", 10)
	unproven(relative(v, 0, 2, "", 1, 1, 0.1), 0.07)
	v.Outcome, v.ExitCode, v.Policy.Require = verdict.Inconclusive, 3, verdict.RequireProof
	f := factsOf(v)
	if got, want := f.title()+": "+f.headline(), "inconclusive: 1 of 1 budget not proven in 1 of 1 cell"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := f.exit(); !strings.Contains(got, "policy require: proof") {
		t.Errorf("exit %q", got)
	}
	failures := 0
	for _, c := range readJUnit(t, v).Suites[0].Cases {
		if c.Failure != nil {
			failures++
		}
	}
	if failures != 1 || v.StandingOf(0) != verdict.Doubted {
		t.Errorf("%d failures in JUnit, standing %d", failures, v.StandingOf(0))
	}
}

func TestExit(t *testing.T) {
	cases := []struct {
		code    int
		outcome verdict.Outcome
		policy  string
		want    string
	}{
		{0, verdict.Pass, "", "exit code 0"},
		{0, verdict.Inconclusive, "neutral", "exit code 0, let through by policy inconclusive: neutral"},
		{0, verdict.Accepted, "", "exit code 0, this outcome does not stop the job"},
		{1, verdict.Fail, "", "exit code 1, a broken budget stops the job"},
		{3, verdict.Inconclusive, "fail", "exit code 3, not decided; policy inconclusive: fail"},
		{3, verdict.NoData, "", "exit code 3, not decided"},
		{130, verdict.Interrupted, "", "exit code 130, interrupted and therefore not decided"},
	}
	for _, c := range cases {
		v := &verdict.Document{Outcome: c.outcome, ExitCode: c.code, Policy: verdict.Policy{On: map[string]string{string(c.outcome): c.policy}}}
		if got := factsOf(v).exit(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// "There is none" and "could not ask" never look alike.
func TestBaselineSentence(t *testing.T) {
	none, failed := firstRun(), firstRun()
	failed.Baseline.State = verdict.BaselineFailed
	if a, b := factsOf(none).baseline(), factsOf(failed).baseline(); a == b || !strings.HasPrefix(a, "there is none") || !strings.HasPrefix(b, "asking for it did not work") {
		t.Errorf("none: %q, failed: %q", a, b)
	}
	failed.Baseline.State = verdict.BaselineIncomparable
	if got := factsOf(failed).baseline(); !strings.HasPrefix(got, "there is none of this machine") {
		t.Errorf("another machine: %q", got)
	}
	v := codec()
	stored(v, 5)
	if got := factsOf(v).baseline(); strings.Contains(got, "allowance") {
		t.Errorf("an allowance with enough sessions: %s", got)
	}
	v.Baseline.Sessions[0].StartedAt = at(29, 13)
	if got := factsOf(v).baseline(); !strings.Contains(got, "1.00 h after this session") {
		t.Errorf("a stored session of the future: %s", got)
	}
}

func TestChange(t *testing.T) {
	f := factsOf(codec())
	cases := []struct {
		c    verdict.Comparison
		want string
	}{
		{verdict.Comparison{Ratio: ptr(1.075), RatioInterval: &[2]float64{1.061, 1.09}}, "+7.5 % [6.1, 9.0]"},
		{verdict.Comparison{Ratio: ptr(0.9), RatioInterval: &[2]float64{0.85, 0.95}}, "-10.0 % [-15.0, -5.0]"},
		{verdict.Comparison{Ratio: ptr(1.01), RatioInterval: &[2]float64{0.98, 1.04}}, "+1.0 % [-2.0, +4.0]"},
		{verdict.Comparison{Ratio: ptr(3.1), RatioInterval: &[2]float64{3.05, 3.2}}, "x3.1 [x3.0, x3.2]"},
		{verdict.Comparison{Ratio: ptr(2.9), RatioInterval: &[2]float64{2.5, 3.3}}, "+190 % [+150 %, x3.3]"},
		{verdict.Comparison{Ratio: ptr(1.5)}, "+50.0 %"},
		{verdict.Comparison{Metric: "wall_time", Shift: 0.09, ShiftInterval: &[2]float64{0.07, 0.11}}, "+90.0 ms [70.0 ms, 110 ms]"},
		{verdict.Comparison{Metric: "output_size", Shift: -12}, "-12 B"},
	}
	for _, c := range cases {
		got := f.change(&c.c)
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestPText(t *testing.T) {
	for p, want := range map[float64]string{
		0.0003: "p 0.0003", 0.012: "p 0.012", 0.0167: "p 0.017", 0.5: "p 0.5", 1: "p 1", 0.999: "p 1",
		0.04: "p 0.04", 1e-7: "p 1e-07", 0: "p < 1e-300",
	} {
		if got := pText(p); got != want {
			t.Errorf("pText(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	for want, v := range map[string][]float64{"–": nil, "31.0 s": {31}, "12.0–31.0 s": {31, 12, 20}} {
		if got := span(v, "s"); got != want {
			t.Errorf("span(%v) = %q, want %q", v, got, want)
		}
	}
}

// Shares are percentages, checks are words, everything else has its unit.
func TestValue(t *testing.T) {
	f := factsOf(codec())
	for _, c := range []struct {
		metric string
		v      float64
		want   string
	}{
		{"crash_rate", 0.25, "25 %"}, {"completeness", 1, "100 %"}, {"check", 1, "true"}, {"check", 0, "false"},
		{"check", 0.5, "0.500"}, {"wall_time", 0.0123, "12.3 ms"}, {"energy_per_token", 0.412, "412 mJ/token"},
		{"unknown_metric", 7, "7"},
	} {
		if got := f.value(c.metric, c.v); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.metric, c.v, got, c.want)
		}
	}
}

func TestBudgetText(t *testing.T) {
	f := factsOf(codec())
	for _, c := range []struct {
		b    budget.Budget
		want string
	}{
		{budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.05}, "max_regression: 5 %"},
		{budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Amount: 0.01}, "max_regression: 10 % + 10.0 ms"},
		{budget.Budget{Metric: "memory_peak", Kind: budget.Max, Limit: 1 << 30}, "max: 1.00 GiB"},
		{budget.Budget{Text: "as written"}, "as written"},
	} {
		if got := f.budgetText(&c.b); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The usual metrics come first, parts last, at most so many.
func TestTableMetrics(t *testing.T) {
	f := factsOf(crashes())
	want := []string{"wall_time", "memory_peak", "energy_per_token", "frames_per_second", "rail:VDD_IN"}
	if diff := cmp.Diff(want, f.tableMetrics(6)); diff != "" {
		t.Error(diff)
	}
	if got := f.tableMetrics(2); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// A document with nothing in it, or with positions that point nowhere, is
// rendered, not a panic.
func TestRenderersOnOddDocuments(t *testing.T) {
	nowhere := 99
	odd := &verdict.Document{
		Outcome:  "of a later version",
		Baseline: &verdict.Baseline{State: verdict.BaselineOK},
		Cells:    []verdict.Cell{{Statuses: map[string]int{"": 2}}},
		Findings: []verdict.Finding{
			{Cell: nowhere, Budget: nowhere, Comparison: &nowhere, Outcome: verdict.Fail, Gated: true},
			{Cell: -1, Budget: -1, Outcome: "of a later version", Gated: true, Confirmed: &verdict.Confirmed{}},
		},
	}
	for _, v := range []*verdict.Document{{}, odd} {
		for _, f := range formats() {
			out := render(t, f, v)
			if f.name == "report.md" {
				checkMarkdown(t, out)
			}
			if f.name == "junit.xml" {
				if err := checkJUnit(out); err != nil {
					t.Error(err)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := MeasurementsCSV(&b, &result.Document{}); err != nil || b.String() != measurementsHead {
		t.Errorf("%v, %q", err, b.String())
	}
}
