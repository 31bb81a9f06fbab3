package gate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// against judges one cell of each side under one budget.
func against(t *testing.T, metric string, ref, cur []float64, b budget.Budget) (*verdict.Document, *verdict.Finding) {
	t.Helper()
	c, r := doc("02", 0), doc("01", 1)
	cell(c, "x", "", column{metric: cur})
	cell(r, "x", "", column{metric: ref})
	v := evaluate(t, c, stored(r), b)
	return v, own(t, v)
}

// V17: a baseline that could not be read is no answer, and never green like one
// that is not there yet.
func TestCouldNotAskIsNotNone(t *testing.T) {
	cur := doc("01", 0)
	cell(cur, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
	v := evaluate(t, cur, &baseline.Baseline{State: baseline.Failed, Reason: "listing was refused"}, regression("wall_time", 0.1))
	if f := own(t, v); f.Outcome != verdict.NoData || v.ExitCode != ExitUndecided || !strings.Contains(f.Message, "could not be read: listing was refused") {
		t.Errorf("%s exit %d (%s)", f.Outcome, v.ExitCode, f.Message)
	}
}

// V21, V27: what was not measured now is red, also where there is nothing to
// compare it with.
func TestNoDataGoesBeforeNoReference(t *testing.T) {
	cur, ref := doc("02", 0), doc("01", 1)
	nothing := repeat(math.NaN(), 3)
	cell(cur, "x", "", column{"wall_time": nothing})
	cell(ref, "y", "", column{"wall_time": around(1, 0.02, 3, 1)})
	for name, b := range map[string]*baseline.Baseline{
		"none asked for": nil, "none yet": {State: baseline.None}, "of another machine": {State: baseline.Incomparable}, "no such cell": stored(ref),
	} {
		if f := finding(evaluate(t, cur, b, regression("wall_time", 0.1)), "wall_time"); f.Outcome != verdict.NoData || !strings.Contains(f.Message, "not_reported") {
			t.Errorf("%s: %s (%s)", name, f.Outcome, f.Message)
		}
	}
}

func finding(v *verdict.Document, metric string) *verdict.Finding {
	for i := range v.Findings {
		if v.Findings[i].Metric == metric {
			return &v.Findings[i]
		}
	}
	return &verdict.Finding{}
}

// C08: a direction that nobody said is asked for, not guessed.
func TestUnknownDirectionIsNotGuessed(t *testing.T) {
	for _, factor := range []float64{0.2, 5} {
		cur, ref := doc("02", 0), doc("01", 1)
		for _, d := range []*result.Document{cur, ref} {
			d.Metrics["frames"] = result.Metric{Unit: "1", Class: result.Noisy}
		}
		cell(cur, "x", "", column{"frames": around(factor, 0.02, 10, 1)})
		cell(ref, "x", "", column{"frames": around(1, 0.02, 10, 2)})
		f := own(t, evaluate(t, cur, stored(ref), regression("frames", 0.1)))
		if f.Outcome != verdict.NotComparable || !strings.Contains(f.Message, "which direction") {
			t.Errorf("x%g: %s (%s)", factor, f.Outcome, f.Message)
		}
	}
}

// What is allowed is inside, whatever the fraction is as a double: 100 + 7 % is 107.
func TestTheLimitItselfIsAllowed(t *testing.T) {
	for _, base := range []float64{100, 300, 1000, 4096 * 100, 1e9, 0.1} {
		for percent := range 100 {
			up, down := base+base*float64(percent)/100, base-base*float64(percent)/100
			limit := float64(percent) / 100
			if _, f := against(t, "output_size", repeat(base, 3), repeat(up, 3), regression("output_size", limit)); f.Outcome == verdict.Fail {
				t.Fatalf("exact: %v to %v under %d %% is a fail", base, up, percent)
			}
			if _, f := against(t, "memory_peak", repeat(base, 10), repeat(up, 10), withoutAllowance(regression("memory_peak", limit))); f.Outcome == verdict.Fail {
				t.Fatalf("unpaired: %v to %v under %d %% is a fail", base, up, percent)
			}
			cur := doc("01", 0)
			cell(cur, "x", "prev", column{"throughput": repeat(base, 10)})
			cell(cur, "x", "new", column{"throughput": repeat(down, 10)})
			b := regression("throughput", limit)
			b.Against = "variant:prev"
			if f := own(t, evaluate(t, cur, nil, b)); f.Outcome == verdict.Fail {
				t.Fatalf("paired: %v to %v under %d %% is a fail", base, down, percent)
			}
		}
	}
}

// withoutAllowance takes the session allowance off the limit, so that what is
// allowed in all is the limit.
func withoutAllowance(b budget.Budget) budget.Budget {
	b.Limit -= DefaultPolicy().Allowance[result.Noisy]
	return b
}

// An exact metric that varies is noisy, and sessions of a noisy metric differ.
func TestDemotedExactMetricHasTheNoisyAllowance(t *testing.T) {
	v, f := against(t, "output_size", around(100, 0.005, 10, 1), around(115, 0.005, 10, 2), regression("output_size", 0.1))
	if f.Grade != verdict.Suspect || f.Allowance != 0.10 || !slices.Contains(v.Comparisons[0].Doubts, doubtDemoted) {
		t.Errorf("%s %s, allowance %v, doubts %v", f.Outcome, f.Grade, f.Allowance, v.Comparisons[0].Doubts)
	}
}

// C34: from a reference of zero some runs are worse and some are not.
func TestMixedFromZero(t *testing.T) {
	mixed := func(worse int, v float64) []float64 { return append(repeat(0, 10-worse), repeat(v, worse)...) }
	for _, tt := range []struct {
		name, metric string
		cur          []float64
		want         verdict.Outcome
		grade        string
	}{
		{"nine of ten worse", "wall_time", mixed(9, 0.05), verdict.Fail, ""},
		{"one of ten worse", "wall_time", mixed(1, 0.05), verdict.Inconclusive, verdict.Suspect},
		{"better or the same", "throughput", mixed(5, 3), verdict.NotComparable, ""},
	} {
		_, f := against(t, tt.metric, repeat(0, 10), tt.cur, regression(tt.metric, 0.1))
		if f.Outcome != tt.want || f.Grade != tt.grade {
			t.Errorf("%s: %s %s (%s), want %s %s", tt.name, f.Outcome, f.Grade, f.Message, tt.want, tt.grade)
		}
	}
}

// One document may hold several sessions, each numbering its repeats from 1:
// none of them is another's attempt.
func TestSessionsOfOneDocument(t *testing.T) {
	ref := doc("a", 10)
	var all []float64
	for s := range 5 {
		all = append(all, around([]float64{1, 1.02, 0.98, 1.01, 0.99}[s], 0.01, 10, s)...)
		if s > 0 {
			next := ref.Sessions[0]
			next.ID = fmt.Sprintf("a%d", s)
			ref.Sessions = append(ref.Sessions, next)
		}
	}
	r := &cell(ref, "x", "", column{"wall_time": all}).Runs
	for i := range r.Repeat {
		r.Repeat[i], r.Session = i%10+1, append(r.Session, i/10)
	}
	cur := doc("z", 0)
	cell(cur, "x", "", column{"wall_time": around(1.3, 0.01, 10, 9)})
	b := stored(ref)
	for s := 1; s < 5; s++ {
		b.Sessions = append(b.Sessions, baseline.Stored{File: "0.json", Doc: ref, Index: s})
	}
	v := evaluate(t, cur, b, regression("wall_time", 0.1))
	if c := v.Comparisons[0]; c.Sessions != 5 || c.N != [2]int{10, 50} || c.Design != verdict.Sessions {
		t.Errorf("%+v", c)
	}
	if v := evaluate(t, ref, nil); v.Cells[0].Seen != 50 {
		t.Errorf("%d of 50 runs seen", v.Cells[0].Seen)
	}
}

// A rename keeps its history, also when newer sessions know the new name already.
func TestRenamedBenchmarkKeepsAllSessions(t *testing.T) {
	cur := doc("now", 0)
	c := cell(cur, "serve", "", column{"wall_time": around(1, 0.01, 10, 9)})
	c.Was, c.Digest = []string{"server"}, "sha256:same"
	var docs []*result.Document
	for i, name := range []string{"serve", "serve", "server", "server", "server"} {
		d := doc(string(rune('a'+i)), i+1)
		cell(d, name, "", column{"wall_time": around(1, 0.01, 10, i)}).Digest = "sha256:same"
		docs = append(docs, d)
	}
	v := evaluate(t, cur, stored(docs...), regression("wall_time", 0.1))
	if got := v.Comparisons[0].Sessions; got != 5 || len(v.Cells) != 1 {
		t.Errorf("%d sessions, %d rows", got, len(v.Cells))
	}
}

// V21: a newer session of selected cells hides no cell that the whole suite had.
func TestGoneBehindAPartialSession(t *testing.T) {
	values := column{"wall_time": around(1, 0.02, 10, 1)}
	whole, partial, cur := doc("01", 2), doc("02", 1), doc("03", 0)
	cell(whole, "x", "", values)
	cell(whole, "vanished", "", values)
	cell(partial, "x", "", values)
	partial.Plan.Selection = "x"
	cell(cur, "x", "", values)
	v := evaluate(t, cur, stored(partial, whole))
	if v.Outcome != verdict.NoData || len(v.Cells) != 2 || v.Cells[1].Name != "vanished" || v.Cells[1].Stop != "" {
		t.Errorf("%s, rows %+v", v.Outcome, v.Cells)
	}
}

// C28: that nothing measured a metric is said, whatever the first cell overrides,
// and once.
func TestMeasuredNowhereIsSaidOnce(t *testing.T) {
	cur := doc("01", 0)
	for _, name := range []string{"a", "b", "c"} {
		cell(cur, name, "", column{"wall_time": around(1, 0.02, 3, 1)})
	}
	frames := budget.Budget{Metric: "frames", Kind: budget.Min, Limit: 1}
	first := frames
	first.Benchmark, first.Level = "a", budget.Info
	v := evaluate(t, cur, nil, frames, first)
	red := 0
	for _, f := range v.Findings {
		if f.Metric == "frames" && f.Gated {
			red++
			if f.Outcome != verdict.NoData || !slices.Equal(f.Reasons, []string{reasonNotMeasured}) {
				t.Errorf("%+v", f)
			}
		}
	}
	if red != 1 || v.ExitCode != ExitUndecided {
		t.Errorf("%d red findings, exit %d", red, v.ExitCode)
	}
}

// A budget against a variant is about the benchmarks that have it, unless it
// names the others; one that was left out for want of a program is missing.
func TestVariantOfOneBenchmark(t *testing.T) {
	build := func() *result.Document {
		d := doc("01", 0)
		cell(d, "x", "prev", column{"cpu_time": around(1, 0.01, 10, 1)})
		cell(d, "x", "new", column{"cpu_time": around(1, 0.01, 10, 2)})
		cell(d, "y", "", column{"cpu_time": around(1, 0.01, 10, 3)})
		return d
	}
	b := regression("cpu_time", 0.1)
	b.Against = "variant:prev"
	if f := own(t, evaluate(t, build(), nil, b)); f.Outcome != verdict.Pass {
		t.Errorf("%s (%s)", f.Outcome, f.Message)
	}
	b.Benchmark = "y"
	if f := own(t, evaluate(t, build(), nil, b)); f.Outcome != verdict.NoData {
		t.Errorf("a benchmark that is named: %s", f.Outcome)
	}
	b.Benchmark = ""
	d := build()
	d.Skipped = []result.Skipped{{Name: "y/prev", Why: "xz was not found on PATH"}}
	if v := evaluate(t, d, nil, b); v.Outcome != verdict.NoData {
		t.Errorf("a variant that was left out: %s", v.Outcome)
	}
}

// What lies between the budget and the session allowance stays there however
// often it is repeated: only sessions settle it.
func TestAdviceBetweenBudgetAndAllowance(t *testing.T) {
	_, f := against(t, "wall_time", around(1, 0.02, 10, 1), around(1.3, 0.02, 10, 2), regression("wall_time", 0.25))
	if f.Grade != verdict.Suspect || f.Settle.Repeats != 0 || f.Settle.Sessions != 5 {
		t.Errorf("%s, settle %+v (%s)", f.Grade, f.Settle, f.Message)
	}
}

// The sentences name what decided, also where proof is asked for.
func TestProofIsNamed(t *testing.T) {
	cur, ref := doc("02", 0), doc("01", 1)
	cell(cur, "x", "", column{"wall_time": []float64{1, 1.01}})
	cell(ref, "x", "", column{"wall_time": []float64{1, 1.01}})
	p := DefaultPolicy()
	p.Require = RequireProof
	v, err := Evaluate(Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{regression("wall_time", 0.25)}, Policy: p})
	if err != nil || v.ExitCode != ExitUndecided || !strings.Contains(strings.Join(v.Reasons, "\n"), "asks for proof") {
		t.Errorf("%v exit %d %q", err, v.ExitCode, v.Reasons)
	}
	if row := v.Cells[0]; row.Stop != stopLooks || row.Look != 1 {
		t.Errorf("stop %q look %d", row.Stop, row.Look)
	}
}

// near speaks of the interval of the median, so only of a budget on the median.
func TestNearIsAboutTheMedian(t *testing.T) {
	for statistic, want := range map[string]bool{"": true, "max": false, "min": false} {
		d := doc("01", 0)
		cell(d, "x", "", column{"wall_time": around(1, 0.2, 10, 1)})
		b := budget.Budget{Metric: "wall_time", Kind: budget.Max, Limit: 1, Statistic: statistic}
		if f := own(t, evaluate(t, d, nil, b)); slices.Contains(f.Reasons, "near") != want {
			t.Errorf("statistic %q: reasons %q", statistic, f.Reasons)
		}
	}
}

// V12: repeats of one process are no replicates on the stored side either.
func TestStoredWithinProcessIsAdvisory(t *testing.T) {
	cur, ref := doc("02", 0), doc("01", 1)
	cell(cur, "x", "", column{"wall_time": around(3, 0.02, 10, 2)})
	cell(ref, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
	ref.Sessions[0].Replicates = result.ReplicatesWithinProcess
	v := evaluate(t, cur, stored(ref), regression("wall_time", 0.1))
	if f := own(t, v); f.Gated || v.ExitCode != ExitPass || !slices.Contains(v.Comparisons[0].Doubts, doubtWithinProcess) {
		t.Errorf("gated %v, exit %d, doubts %v", f.Gated, v.ExitCode, v.Comparisons[0].Doubts)
	}
}

// A cell for which nothing was planned and nothing ran is not complete.
func TestNothingPlannedIsNotComplete(t *testing.T) {
	d := doc("01", 0)
	cell(d, "x", "", column{})
	for _, f := range evaluate(t, d, nil).Findings {
		if f.Outcome == verdict.Pass {
			t.Errorf("%s passed: %s", f.Metric, f.Message)
		}
	}
}

// Numbers at the ends of a double make no document that cannot be written, and no pass.
func TestExtremeNumbers(t *testing.T) {
	extremes := []float64{0, 5e-324, 1e-308, 1, 1e308, math.MaxFloat64, -1e308, -math.MaxFloat64}
	for _, metric := range []string{"wall_time", "throughput", "output_size", "counted"} {
		for _, x := range extremes {
			for _, y := range extremes {
				for _, sessions := range []int{1, 5} {
					extreme(t, metric, x, y, sessions)
				}
			}
		}
	}
}

func extreme(t *testing.T, metric string, x, y float64, sessions int) {
	t.Helper()
	add := func(d *result.Document, value float64) *result.Document {
		d.Metrics["counted"] = result.Metric{Unit: "1", Better: "lower", Class: result.Counted}
		cell(d, "x", "prev", column{metric: repeat(value, 7)})
		cell(d, "x", "new", column{metric: repeat(value, 7)})
		return d
	}
	cur := add(doc("now", 0), y)
	cur.Cells[0].Columns[0].V = repeat(x, 7)
	var docs []*result.Document
	for i := range sessions {
		docs = append(docs, add(doc(string(rune('a'+i)), i+1), x))
	}
	paired := regression(metric, 0.1)
	paired.Against = "variant:prev"
	v := evaluate(t, cur, stored(docs...), regression(metric, 0.1), paired,
		budget.Budget{Metric: metric, Kind: budget.MaxDecrease, Limit: 1.5, MinDelta: 1})
	if err := verdict.Encode(io.Discard, v); err != nil {
		t.Errorf("%s %g to %g, %d sessions: %v", metric, x, y, sessions, err)
	}
	for _, f := range v.Findings {
		worse := metric != "throughput" && y > x || metric == "throughput" && y < x
		if b := v.Budgets[f.Budget]; b.Kind == budget.MaxRegression && v.Cells[f.Cell].Variant == "new" && f.Outcome == verdict.Pass && worse && math.Abs(y-x) > 0.2*math.Abs(x) {
			t.Errorf("%s %g to %g, %d sessions, %s: pass (%s)", metric, x, y, sessions, b.Against, f.Message)
		}
	}
}

// A gone cell is as red as the policy makes it, in every report alike.
func TestGoneByPolicy(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	values := column{"wall_time": around(1, 0.02, 10, 1)}
	cell(ref, "x", "", values)
	cell(ref, "vanished", "", values)
	cell(cur, "x", "", values)
	for action, want := range map[string]struct {
		outcome  verdict.Outcome
		exit     int
		standing verdict.Standing
	}{
		ActionFail:    {verdict.NoData, ExitUndecided, verdict.Broken},
		ActionNeutral: {verdict.NotComparable, ExitPass, verdict.Unjudged},
		ActionPass:    {verdict.Pass, ExitPass, verdict.Unjudged},
	} {
		p := DefaultPolicy()
		p.On[Gone] = action
		v, err := Evaluate(Input{Current: cur, Baseline: stored(ref), Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		if last := len(v.Findings) - 1; v.Outcome != want.outcome || v.ExitCode != want.exit || v.StandingOf(last) != want.standing {
			t.Errorf("%s: %s exit %d, standing %d", action, v.Outcome, v.ExitCode, v.StandingOf(last))
		}
	}
}
