package gate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// operated is how often what was decided, and after how many repeats on average.
type operated struct{ pass, fail, repeats float64 }

// operate judges simulated sessions with the whole gate: one cell, budget 5 %,
// error 5 % shared by three looks.
func operate(t *testing.T, paired bool, cv, change float64, seed uint64) operated {
	t.Helper()
	const sessions = 2000
	rounds := make([]operated, sessions)
	parallel(sessions, func(i int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		in := simulated(r, paired, cv, change)
		v, err := Evaluate(in)
		if err != nil {
			t.Error(err)
			return
		}
		cell := &in.Current.Cells[0]
		rounds[i].repeats = float64(cell.RepeatsAt(v.Cells[0].Look))
		for k := range v.Findings {
			switch f := &v.Findings[k]; {
			case f.Comparison == nil:
			case f.Outcome == verdict.Fail:
				rounds[i].fail = 1
			case f.Outcome == verdict.Pass:
				rounds[i].pass = 1
			}
		}
	})
	var sum operated
	for _, r := range rounds {
		sum.pass, sum.fail, sum.repeats = sum.pass+r.pass/sessions, sum.fail+r.fail/sessions, sum.repeats+r.repeats/sessions
	}
	return sum
}

// simulated is one session: against twenty stored runs, or against a variant
// whose blocks share a noise of 5 %.
func simulated(r *rand.Rand, paired bool, cv, change float64) Input {
	cur := doc("02", 0)
	b := regression("wall_time", 0.05)
	p := DefaultPolicy()
	p.Allowance = nil // the figures are of the test, not of the distance between sessions
	in := Input{Current: cur, Policy: p}
	if !paired {
		was := doc("01", 1)
		cell(was, "x", "", column{"wall_time": lognormal(r, 1, cv, 20)})
		cell(cur, "x", "", column{"wall_time": lognormal(r, 1+change, cv, 20)})
		looked(cur, 5, 10, 20)
		in.Baseline = stored(was)
	} else {
		blocks, old := lognormal(r, 1, 0.05, 20), lognormal(r, 1, cv, 20)
		now := lognormal(r, 1+change, cv, 20)
		for i := range blocks {
			old[i], now[i] = old[i]*blocks[i], now[i]*blocks[i]
		}
		cell(cur, "x", "new", column{"wall_time": now})
		cell(cur, "x", "old", column{"wall_time": old})
		looked(cur, 6, 10, 20)
		b.Variant, b.Against = "new", budget.AgainstVariant+"old"
	}
	in.Budgets = []budget.Budget{b}
	return in
}

// TestOperatingFigures: what three looks decide and cost, against figures that
// were simulated elsewhere for both sides of 5, 10, 20 and blocks of 6, 10, 20,
// without futility. It costs at most three decisions in a hundred, and saves
// about one repeat of the sixteen where twenty seldom decide. Twenty stored
// runs are there from the first look on: they decide as often, and earlier.
func TestOperatingFigures(t *testing.T) {
	figures(t)
	for _, tt := range []struct {
		paired     bool
		cv         float64
		pass, fail operated
	}{
		{false, 0.01, operated{pass: 1, repeats: 5}, operated{fail: 1, repeats: 5}},
		{false, 0.03, operated{pass: 0.998, repeats: 8.9}, operated{fail: 0.996, repeats: 9.1}},
		{false, 0.06, operated{pass: 0.67, repeats: 15.8}, operated{fail: 0.61, repeats: 16.3}},
		{true, 0.01, operated{pass: 1, repeats: 6}, operated{fail: 1, repeats: 6}},
		{true, 0.03, operated{pass: 0.997, repeats: 9.9}, operated{fail: 0.995, repeats: 10.7}},
		{true, 0.06, operated{pass: 0.63, repeats: 16.7}, operated{fail: 0.60, repeats: 16.8}},
	} {
		name := fmt.Sprintf("paired %v, spread %v", tt.paired, tt.cv)
		same, worse := operate(t, tt.paired, tt.cv, 0, 1), operate(t, tt.paired, tt.cv, 0.10, 2)
		if same.pass < tt.pass.pass-0.03 || tt.paired && same.pass > tt.pass.pass+0.03 {
			t.Errorf("%s: no change passes in %.3f, want %.3f", name, same.pass, tt.pass.pass)
		}
		if worse.fail < tt.fail.fail-0.03 || tt.paired && worse.fail > tt.fail.fail+0.03 {
			t.Errorf("%s: 10 %% fail in %.3f, want %.3f", name, worse.fail, tt.fail.fail)
		}
		for _, n := range []struct{ got, want float64 }{{same.repeats, tt.pass.repeats}, {worse.repeats, tt.fail.repeats}} {
			if n.got > n.want+0.3 || tt.paired && n.got < n.want-1.5 {
				t.Errorf("%s: %.1f repeats on average, want about %.1f", name, n.got, n.want)
			}
		}
		if same.fail > 0.01 || worse.pass > 0.01 {
			t.Errorf("%s: no change fails in %.3f, 10 %% pass in %.3f", name, same.fail, worse.pass)
		}
		// Exactly at the budget either call is an error, and so bounded.
		if at := operate(t, tt.paired, tt.cv, 0.05, 3); at.fail > 0.05 || at.pass > 0.05 || at.fail+at.pass == 0 {
			t.Errorf("%s: at the budget %.3f fail and %.3f pass, want at most 5 %% each", name, at.fail, at.pass)
		}
	}
}

// TestFamilyOfLooks: ten cells exactly at their budget, judged at three looks: a
// session with any fail in it is as rare as one test's would be.
func TestFamilyOfLooks(t *testing.T) {
	figures(t)
	const sessions, cells = 2000, 10
	red := make([]float64, sessions)
	parallel(sessions, func(i int) {
		r := rand.New(rand.NewPCG(9, uint64(i)))
		cur, was := doc("02", 0), doc("01", 1)
		for k := range cells {
			cell(was, fmt.Sprint(k), "", column{"wall_time": lognormal(r, 1, 0.02, 20)})
			cell(cur, fmt.Sprint(k), "", column{"wall_time": lognormal(r, 1.05, 0.02, 20)})
		}
		p := DefaultPolicy()
		p.Allowance = nil
		v, err := Evaluate(Input{Current: looked(cur, 5, 10, 20), Baseline: stored(was), Budgets: []budget.Budget{regression("wall_time", 0.05)}, Policy: p})
		if err != nil {
			t.Error(err)
		} else if v.Outcome == verdict.Fail {
			red[i] = 1
		}
	})
	if share := mean(red); share > 0.05 || share == 0 {
		t.Errorf("%.3f of the sessions are red, want some and at most 5 %%", share)
	}
}
