package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// invalidate marks the first n runs of a cell as invalid.
func invalidate(c *result.Cell, n int, why string) {
	no := false
	c.Runs.Detail = map[int]result.Detail{}
	for i := range n {
		c.Runs.Detail[i] = result.Detail{Valid: &no, Warnings: []string{"was slow", "invalid: " + why}}
	}
}

// What invalid runs do to a cell, by how many of ten there are. The current side is
// half as slow again: far beyond the budget.
func TestInvalidRuns(t *testing.T) {
	for _, tt := range []struct {
		invalid  int
		whole    verdict.Outcome
		exit     int
		finding  verdict.Outcome
		complete verdict.Outcome
	}{
		{0, verdict.Fail, ExitFail, verdict.Fail, verdict.Pass},
		{4, verdict.Fail, ExitFail, verdict.Fail, verdict.Pass},
		{5, verdict.Fail, ExitFail, verdict.Fail, verdict.Pass},
		{6, verdict.Fail, ExitFail, verdict.Fail, verdict.Invalid}, // four runs still prove it
		// One run against ten cannot reach the level: its least p is 1/11.
		{9, verdict.Invalid, ExitUndecided, verdict.Invalid, verdict.Invalid},
		{10, verdict.Invalid, ExitUndecided, verdict.Invalid, verdict.Invalid},
	} {
		cur, ref := doc("02", 0), doc("01", 1)
		c := cell(cur, "x", "", column{"wall_time": around(1.6, 0.02, 10, 2)})
		cell(ref, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
		invalidate(c, tt.invalid, "throttled 12 %")
		v := evaluate(t, cur, stored(ref), regression("wall_time", 0.25))
		f := own(t, v)
		if v.Outcome != tt.whole || v.ExitCode != tt.exit || f.Outcome != tt.finding {
			t.Errorf("%d invalid: %s, exit code %d, %s (%s); want %s, %d, %s", tt.invalid, v.Outcome, v.ExitCode, f.Outcome, f.Message, tt.whole, tt.exit, tt.finding)
		}
		for i := range v.Findings {
			if g := &v.Findings[i]; g.Metric == completeness && g.Outcome != tt.complete {
				t.Errorf("%d invalid: completeness is %s (%s)", tt.invalid, g.Outcome, g.Message)
			} else if g.Metric == completeness && tt.invalid > 1 && !strings.Contains(g.Message, "invalid: throttled 12 % ("+itoa(tt.invalid)+" runs)") {
				t.Errorf("%d invalid: %s", tt.invalid, g.Message)
			}
		}
		if reasons := v.Cells[0].Reasons; (len(reasons) > 0) != (tt.invalid > 0) {
			t.Errorf("%d invalid: reasons of the cell %q", tt.invalid, reasons)
		}
	}
}

func itoa(n int) string {
	return strings.TrimLeft(string([]byte{'0' + byte(n/10), '0' + byte(n%10)}), "0")
}

// An invalid run never is the ground for a fail: the numbers of disturbed runs alone
// would break the budget.
func TestInvalidNumbersCountNowhere(t *testing.T) {
	cur := doc("02", 0)
	c := cell(cur, "x", "", column{"memory_peak": append(repeat(9e9, 3), repeat(1e6, 7)...)})
	invalidate(c, 3, "beside another program")
	b := budget.Budget{Metric: "memory_peak", Kind: budget.Max, Limit: 1e9, EachRun: true, Level: budget.Fail}
	if f := own(t, evaluate(t, cur, nil, b)); f.Outcome != verdict.Pass || f.N != 7 {
		t.Errorf("%s of %d runs: %s", f.Outcome, f.N, f.Message)
	}
}

// Soft facts that differ are a doubt of the comparison and are listed, each once;
// what only one side knows is none.
func TestSoftFacts(t *testing.T) {
	build := func(kernel string) *result.Document {
		d := doc("0"+kernel, 0)
		d.Sessions[0].Host.Soft = map[string]string{"kernel": kernel, "turbo": "on"}
		cell(d, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
		return d
	}
	cur, same, other := build("1"), build("1"), build("2")
	delete(same.Sessions[0].Host.Soft, "turbo")
	v := evaluate(t, cur, stored(same), regression("wall_time", 0.25))
	if len(v.Warnings) > 0 || slices.Contains(v.Comparisons[0].Doubts, doubtSoftFacts) {
		t.Errorf("the same machine: %q, %q", v.Warnings, v.Comparisons[0].Doubts)
	}
	v = evaluate(t, cur, stored(other, same), regression("wall_time", 0.25))
	if want := `kernel is "1" here and "2" in 1 of 2 stored sessions: differences may be the machine's`; !slices.Equal(v.Warnings, []string{want}) {
		t.Errorf("warnings %q, want %q", v.Warnings, want)
	}
	if !slices.Contains(v.Comparisons[0].Doubts, doubtSoftFacts) || own(t, v).Outcome != verdict.Pass {
		t.Errorf("doubts %q, %s", v.Comparisons[0].Doubts, own(t, v).Outcome)
	}
}
