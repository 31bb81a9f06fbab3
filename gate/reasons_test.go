package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

// The sentences of the verdict say why, where the baseline as a whole is the reason.
func TestReasonsNameTheBaseline(t *testing.T) {
	judge := func(b *baseline.Baseline, budgets ...budget.Budget) []string {
		cur := doc("02", 0)
		cell(cur, "x", "", column{"wall_time": around(1, 0.02, 10, 1), "cpu_time": around(1, 0.02, 10, 1)})
		cell(cur, "x", "prev", column{"wall_time": repeat(0, 10), "cpu_time": around(1, 0.02, 10, 1)})
		return evaluate(t, cur, b, budgets...).Reasons
	}
	other := &baseline.Baseline{State: baseline.Incomparable, Reason: "all 4 stored sessions are of another machine"}
	zero := regression("throughput", 0.1)
	for _, tt := range []struct {
		name string
		got  []string
		want string
	}{
		{"none asked for", judge(nil, regression("wall_time", 0.1)), "no baseline yet: 2 budgets have nothing to compare with (no baseline was given)"},
		{"one budget", judge(&baseline.Baseline{State: baseline.None, Reason: "no session is stored yet"}, budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Cells: "x/prev"}),
			"no baseline yet: 1 budget has nothing to compare with (no session is stored yet)"},
		{"without a reason", judge(&baseline.Baseline{State: baseline.OK}, regression("wall_time", 0.1)), "no baseline yet: 2 budgets have nothing to compare with"},
		{"another machine", judge(other, regression("wall_time", 0.1)), "2 of 6 findings cannot be compared (all 4 stored sessions are of another machine)"},
		{"not read", judge(&baseline.Baseline{State: baseline.Failed, Reason: "listing was refused"}, regression("wall_time", 0.1), zero),
			"3 of 7 findings: no data (2 of them: the baseline could not be read: listing was refused)"},
	} {
		if !slices.Contains(tt.got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}

	// A metric that is counted for something else is told as such.
	cur, ref := doc("02", 0), doc("01", 1)
	for d, per := range map[*result.Document]string{cur: "token", ref: "request"} {
		d.Metrics["energy"] = result.Metric{Unit: "J", Per: per, Better: "lower", Class: result.Noisy}
		cell(d, "x", "", column{"energy": around(1, 0.02, 10, 1)})
	}
	if f := own(t, evaluate(t, cur, stored(ref), regression("energy", 0.1))); !strings.Contains(f.Message, `"J/token" here and "J/request" in the baseline`) {
		t.Errorf("%s (%s)", f.Outcome, f.Message)
	}
}
