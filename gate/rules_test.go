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

// TestRelativeRules: one line a rule, with the field case it answers.
func TestRelativeRules(t *testing.T) {
	ten := func(c float64, salt int) []float64 { return around(c, 0.02, 10, salt) }
	for _, tt := range []struct {
		name     string
		metric   string
		ref, cur []float64
		budget   budget.Budget
		want     verdict.Outcome
		grade    string
		reason   string
	}{
		{name: "the same passes", ref: ten(1, 1), cur: ten(1, 2), budget: regression("wall_time", 0.25), want: verdict.Pass},
		{name: "twice is a large fail", ref: ten(1, 1), cur: ten(2, 2), budget: regression("wall_time", 0.25), want: verdict.Fail, reason: "large_jump"},
		{name: "beyond the budget but not its session allowance is suspect", ref: ten(1, 1), cur: ten(1.3, 2), budget: regression("wall_time", 0.25), want: verdict.Inconclusive, grade: verdict.Suspect},
		{name: "beyond budget and allowance fails", ref: ten(1, 1), cur: ten(1.5, 2), budget: regression("wall_time", 0.25), want: verdict.Fail},
		{name: "V7 higher throughput is no regression", metric: "throughput", ref: ten(100, 1), cur: ten(140, 2), budget: regression("throughput", 0.05), want: verdict.Pass},
		{name: "C08 lower throughput is", metric: "throughput", ref: ten(100, 1), cur: ten(50, 2), budget: regression("throughput", 0.05), want: verdict.Fail},
		{name: "C10 an improvement never fails a one-sided budget", ref: ten(100, 1), cur: ten(60, 2), budget: regression("wall_time", 0), want: verdict.Pass},
		{name: "C09 a drop in the good direction is suspicious", ref: ten(54, 1), cur: ten(2, 2), budget: regression("wall_time", 0.1), want: verdict.Suspicious, reason: "large_jump"},
		{name: "C09 and can be limited", ref: ten(54, 1), cur: ten(2, 2), budget: budget.Budget{Metric: "wall_time", Kind: budget.MaxDecrease, Limit: 0.5}, want: verdict.Fail},
		{name: "C33 +140 % under +150 %", ref: repeat(10, 10), cur: ten(24, 2), budget: regression("wall_time", 1.5), want: verdict.Pass},
		{name: "C06 zero to zero is no change", ref: repeat(0, 5), cur: repeat(0, 5), budget: regression("wall_time", 0.1), want: verdict.Pass, reason: "both_zero"},
		{name: "C34 worse from zero fails", ref: repeat(0, 1), cur: repeat(0.05, 1), budget: regression("wall_time", 0.1), want: verdict.Fail, reason: "worse_from_zero"},
		{name: "better from zero cannot be compared", metric: "throughput", ref: repeat(0, 5), cur: repeat(1, 5), budget: regression("throughput", 0.1), want: verdict.NotComparable, reason: "zero_reference"},
		{name: "V26 with an amount zero is judged by it", ref: repeat(0, 10), cur: ten(0.05, 2), budget: budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Amount: 0.1}, want: verdict.Pass},
		{name: "both floors must be exceeded", ref: ten(0.010, 1), cur: ten(0.018, 2), budget: budget.Budget{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, MinDelta: 0.010}, want: verdict.Pass},
		{name: "MW8 all equal passes any budget", ref: repeat(5, 4), cur: repeat(5, 4), budget: regression("wall_time", 0.1), want: verdict.Pass},
		{name: "C36 one run a side decides nothing", ref: repeat(1, 1), cur: repeat(1.5, 1), budget: regression("wall_time", 0.25), want: verdict.Inconclusive, grade: verdict.Suspect, reason: "too_few_runs"},
		{name: "two runs a side neither", ref: ten(1, 1)[:2], cur: ten(1, 2)[:2], budget: regression("wall_time", 0.25), want: verdict.Inconclusive, grade: verdict.Unproven},
		{name: "V10 an interval across the budget is undecided", ref: around(1, 0.3, 10, 1), cur: around(1.45, 0.3, 10, 2), budget: regression("wall_time", 0.2), want: verdict.Inconclusive, grade: verdict.Suspect},
		{name: "C58 exact: one more is beyond 0 %", metric: "output_size", ref: repeat(10, 1), cur: repeat(11, 1), budget: regression("output_size", 0), want: verdict.Fail},
		{name: "exact: the same is inside", metric: "output_size", ref: repeat(10, 1), cur: repeat(10, 1), budget: regression("output_size", 0), want: verdict.Pass},
		{name: "exact: better by the same programs is suspicious", metric: "output_size", ref: repeat(10, 1), cur: repeat(9, 1), budget: regression("output_size", 0), want: verdict.Suspicious, reason: "changed_without_reason"},
		{name: "exact that varies is judged as noisy", metric: "output_size", ref: ten(100, 1), cur: ten(150, 2), budget: regression("output_size", 0.1), want: verdict.Fail},
		{name: "counted: two runs are enough when clearly apart", metric: "counted", ref: []float64{1000, 1001}, cur: []float64{1050, 1051}, budget: regression("counted", 0.01), want: verdict.Fail},
		{name: "counted: inside the floor", metric: "counted", ref: []float64{1000, 1001}, cur: []float64{1001, 1000}, budget: regression("counted", 0.01), want: verdict.Pass},
		{name: "counted: one run a side decides nothing", metric: "counted", ref: repeat(1000, 1), cur: repeat(1050, 1), budget: regression("counted", 0.01), want: verdict.Inconclusive, grade: verdict.Suspect, reason: "too_few_runs"},
		{name: "counted: nor where they are the same", metric: "counted", ref: repeat(1000, 1), cur: repeat(1000, 1), budget: regression("counted", 0.01), want: verdict.Inconclusive, grade: verdict.Unproven},
		{name: "levels have no relative budgets", metric: "error_rate", ref: repeat(0, 5), cur: repeat(0, 5), budget: regression("error_rate", 0.1), want: verdict.NotComparable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			metric := tt.metric
			if metric == "" {
				metric = "wall_time"
			}
			cur, ref := doc("02", 0), doc("01", 1)
			for _, d := range []*result.Document{cur, ref} {
				d.Metrics["counted"] = result.Metric{Unit: "1", Better: "lower", Class: result.Counted}
			}
			cell(cur, "x", "", column{metric: tt.cur})
			cell(ref, "x", "", column{metric: tt.ref})
			f := own(t, evaluate(t, cur, stored(ref), tt.budget))
			if f.Outcome != tt.want || f.Grade != tt.grade {
				t.Fatalf("%s %s (%s), want %s %s", f.Outcome, f.Grade, f.Message, tt.want, tt.grade)
			}
			if tt.reason != "" && !slices.Contains(f.Reasons, tt.reason) {
				t.Errorf("reasons %q, want %q", f.Reasons, tt.reason)
			}
			if f.Message == "" {
				t.Error("no message")
			}
		})
	}
}

// TestCountedAdvice: two runs settle what one could not tell of a counted metric,
// where all runs say alike and two are stored; else it takes what a test needs.
func TestCountedAdvice(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ref, cur []float64
		two      bool
	}{
		{"beyond, one a side", repeat(1000, 1), repeat(1050, 1), false},
		{"inside, one a side", repeat(1000, 1), repeat(1000, 1), false},
		{"inside, one against many", repeat(1000, 5), repeat(1000, 1), true},
		{"one against many", repeat(1000, 5), repeat(1050, 1), true},
		{"many against one", repeat(1000, 1), repeat(1050, 5), false},
		{"between the budget and the floor", repeat(1000, 1), repeat(1011, 1), false},
		{"across the budget", []float64{1000, 1004}, repeat(1012, 1), false},
	} {
		cur, ref := doc("02", 0), doc("01", 1)
		for _, d := range []*result.Document{cur, ref} {
			d.Metrics["counted"] = result.Metric{Unit: "1", Better: "lower", Class: result.Counted}
		}
		cell(cur, "x", "", column{"counted": tt.cur})
		cell(ref, "x", "", column{"counted": tt.ref})
		f := own(t, evaluate(t, cur, stored(ref), regression("counted", 0.01)))
		if f.Outcome != verdict.Inconclusive || f.Settle == nil || (f.Settle.Repeats == 2) != tt.two {
			t.Errorf("%s: %s, settle %+v, two repeats %v (%s)", tt.name, f.Outcome, f.Settle, tt.two, f.Message)
		}
		if tt.two { // and they do
			again := doc("03", 0)
			again.Metrics["counted"] = cur.Metrics["counted"]
			cell(again, "x", "", column{"counted": repeat(tt.cur[0], 2)})
			if f := own(t, evaluate(t, again, stored(ref), regression("counted", 0.01))); f.Outcome == verdict.Inconclusive {
				t.Errorf("%s, with two repeats: %s", tt.name, f.Message)
			}
		}
	}
}

// TestReferences: what a cell may be compared with.
func TestReferences(t *testing.T) {
	good := func() *result.Document {
		d := doc("01", 1)
		cell(d, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
		return d
	}
	cur := doc("02", 0)
	cell(cur, "x", "", column{"wall_time": around(1, 0.02, 10, 2)})
	for _, tt := range []struct {
		name     string
		baseline *baseline.Baseline
		edit     func(*result.Document)
		want     verdict.Outcome
		says     string
	}{
		{name: "C24 none yet", baseline: &baseline.Baseline{State: baseline.None, Reason: "no session is stored yet"}, want: verdict.NoBaseline, says: "no session is stored yet"},
		{name: "C21 another machine", baseline: &baseline.Baseline{State: baseline.Incomparable, Reason: "all 1 stored sessions are of another machine"}, want: verdict.NotComparable, says: "another machine"},
		{name: "another definition", edit: func(d *result.Document) { d.Cells[0].Digest = "sha256:other" }, want: verdict.NotComparable, says: "definition changed"},
		{name: "V43 another unit", edit: func(d *result.Document) {
			d.Metrics["wall_time"] = result.Metric{Unit: "ms", Better: "lower", Class: result.Noisy}
		}, want: verdict.NotComparable, says: `"s" here and "ms"`},
		{name: "another direction", edit: func(d *result.Document) {
			d.Metrics["wall_time"] = result.Metric{Unit: "s", Better: "higher", Class: result.Noisy}
		}, want: verdict.NotComparable, says: "better is"},
		{name: "a new cell", edit: func(d *result.Document) { d.Cells[0].Benchmark = "y" }, want: verdict.New, says: "no such cell"},
		{name: "C42 a failed run is no reference", edit: func(d *result.Document) {
			d.Cells[0].Runs.Status = map[int]result.Status{}
			for i := range 10 {
				d.Cells[0].Runs.Status[i] = result.Signal
			}
		}, want: verdict.New, says: "no value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.baseline
			if tt.edit != nil {
				d := good()
				tt.edit(d)
				b = stored(d)
			}
			in := Input{Current: cur, Baseline: b, Budgets: []budget.Budget{regression("wall_time", 0.25)}, Policy: DefaultPolicy()}
			in.Policy.On = map[verdict.Outcome]string{Gone: ActionNeutral}
			v, err := Evaluate(in)
			if err != nil {
				t.Fatal(err)
			}
			var f *verdict.Finding
			for i := range v.Findings {
				if v.Findings[i].Metric == "wall_time" {
					f = &v.Findings[i]
				}
			}
			if f.Outcome != tt.want || !strings.Contains(f.Message, tt.says) {
				t.Errorf("%s (%s), want %s (%s)", f.Outcome, f.Message, tt.want, tt.says)
			}
			if v.ExitCode != ExitPass {
				t.Errorf("exit %d, want 0 by the default policy", v.ExitCode)
			}
			in.Policy.On = map[verdict.Outcome]string{tt.want: ActionFail}
			if v, _ = Evaluate(in); v.ExitCode != ExitUndecided {
				t.Errorf("policy fail: exit %d, want 3", v.ExitCode)
			}
		})
	}
}

// TestRenamedBenchmarkKeepsItsHistory: `was` finds the old cells.
func TestRenamedBenchmarkKeepsItsHistory(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	cell(ref, "server", "", column{"wall_time": around(1, 0.02, 10, 1)})
	c := cell(cur, "serve", "", column{"wall_time": around(1, 0.02, 10, 2)})
	c.Was, c.Digest = []string{"server"}, ref.Cells[0].Digest
	v := evaluate(t, cur, stored(ref), regression("wall_time", 0.25))
	if f := own(t, v); f.Outcome != verdict.Pass || len(v.Cells) != 1 {
		t.Errorf("%s (%s), %d rows", f.Outcome, f.Message, len(v.Cells))
	}
}

// TestCellsThatAreNotThere: V21, V23, V25, C28.
func TestCellsThatAreNotThere(t *testing.T) {
	ref, cur := doc("01", 1), doc("02", 0)
	values := column{"wall_time": around(1, 0.02, 10, 1)}
	cell(ref, "x", "", values)
	cell(ref, "vanished", "", values)
	cell(cur, "x", "", column{"wall_time": around(1, 0.02, 10, 2)})

	v := evaluate(t, cur, stored(ref))
	if v.Outcome != verdict.NoData || v.ExitCode != ExitUndecided || v.Cells[1].Name != "vanished" || v.Cells[1].Outcome != verdict.NoData {
		t.Errorf("a vanished cell: %s exit %d, rows %+v", v.Outcome, v.ExitCode, v.Cells)
	}
	cur.Plan.Selection = "x"
	if v := evaluate(t, cur, stored(ref)); v.Outcome != verdict.Pass || len(v.Cells) != 1 {
		t.Errorf("left out by --cells: %s", v.Outcome)
	}
	cur.Plan.Selection = ""
	cur.Skipped = []result.Skipped{{Name: "vanished", Why: "xz was not found on PATH"}}
	if v := evaluate(t, cur, stored(ref)); v.Outcome != verdict.NoData || !strings.Contains(v.Findings[len(v.Findings)-1].Message, "xz was not found") {
		t.Errorf("left out for a missing program: %s", v.Outcome)
	}

	never := doc("03", 0)
	c := cell(never, "x", "", column{})
	c.Planned = 5
	if v := evaluate(t, never, nil); v.Outcome != verdict.NoData || v.ExitCode != ExitUndecided {
		t.Errorf("a cell that never ran: %s", v.Outcome)
	}
	silent := doc("04", 0)
	cell(silent, "x", "", values)
	if f := own(t, evaluate(t, silent, nil, budget.Budget{Metric: "frames", Kind: budget.Min, Limit: 1})); f.Outcome != verdict.NoData {
		t.Errorf("C28: a budget on what nothing measured is %s", f.Outcome)
	}
}

// TestCrashes: crash_rate, its budget, first attempts.
func TestCrashes(t *testing.T) {
	build := func(statuses map[int]result.Status) *result.Document {
		d := doc("01", 0)
		cell(d, "x", "", column{"wall_time": around(1, 0.02, 4, 1)}).Runs.Status = statuses
		return d
	}
	for _, tt := range []struct {
		name     string
		statuses map[int]result.Status
		budgets  []budget.Budget
		want     verdict.Outcome
		exit     int
	}{
		{"none", nil, nil, verdict.Pass, 0},
		{"C27 one fails the cell whatever was measured", map[int]result.Status{1: result.Failed}, nil, verdict.Fail, 1},
		{"allowed share", map[int]result.Status{1: result.Signal}, []budget.Budget{{Metric: "crash_rate", Kind: budget.Max, Limit: 0.25}}, verdict.Pass, 0},
		{"more than allowed", map[int]result.Status{1: result.Signal, 2: result.Timeout}, []budget.Budget{{Metric: "crash_rate", Kind: budget.Max, Limit: 0.25}}, verdict.Fail, 1},
		{"a full window is no crash", map[int]result.Status{0: result.WindowReached}, nil, verdict.Pass, 0},
		{"missing output is one", map[int]result.Status{0: result.MissingOutput}, nil, verdict.Fail, 1},
		{"V23 a program that never started is one", map[int]result.Status{0: result.SpawnError, 1: result.SpawnError, 2: result.SpawnError, 3: result.SpawnError}, nil, verdict.Fail, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := evaluate(t, build(tt.statuses), nil, tt.budgets...)
			if v.Outcome != tt.want || v.ExitCode != tt.exit {
				t.Errorf("%s exit %d %q, want %s exit %d", v.Outcome, v.ExitCode, v.Reasons, tt.want, tt.exit)
			}
		})
	}

	// A repeat that crashed and was tried again: complete by its last attempt,
	// crashed by its first.
	d := build(map[int]result.Status{1: result.Signal})
	r := &d.Cells[0].Runs
	r.Repeat, r.Attempt = []int{1, 2, 2, 3}, []int{1, 1, 2, 1}
	d.Cells[0].Planned = 3
	v := evaluate(t, d, nil)
	if row := v.Cells[0]; row.Seen != 3 || math.Abs(*row.CrashRate-1.0/3) > 1e-12 || v.Outcome != verdict.Fail {
		t.Errorf("a retried crash: %+v", v.Cells[0])
	}
}

// TestChecksAndErrors: named booleans and error_rate have budgets of their own.
func TestChecksAndErrors(t *testing.T) {
	d := doc("01", 0)
	c := cell(d, "x", "", column{"wall_time": around(1, 0.02, 3, 1), "error_rate": {0, 0.5, 0}})
	c.Columns = append(c.Columns, result.Column{Metric: "check", Part: "no_corruption", V: []float64{1, 0, 1}})
	v := evaluate(t, d, nil)
	failed := 0
	for _, f := range v.Findings {
		if f.Outcome == verdict.Fail {
			failed++
		}
	}
	// C56: errors are first-class, and one run that had some is enough.
	if failed != 2 || v.Cells[0].UnderSpec != 1 || !slices.Equal(v.Cells[0].UnderSpecBy, []string{"check:no_corruption", "error_rate"}) {
		t.Errorf("%d failed, row %+v", failed, v.Cells[0])
	}
}

// TestInterrupted: stopped from outside is its own outcome and exit code.
func TestInterrupted(t *testing.T) {
	d := doc("01", 0)
	c := cell(d, "x", "", column{"wall_time": around(1, 0.02, 3, 1)})
	c.Planned = 10
	c.Runs.Status = map[int]result.Status{2: result.Interrupted}
	d.Sessions[0].Interrupted = true
	v := evaluate(t, d, nil)
	if v.Outcome != verdict.Interrupted || v.ExitCode != ExitInterrupted || v.Cells[0].Seen != 2 {
		t.Errorf("%s exit %d, row %+v", v.Outcome, v.ExitCode, v.Cells[0])
	}
}

// TestFamilyIsShared: 60 unchanged noisy metrics at 5 % each would be red in 95 %
// of commits; under Holm a p of 0.01 among sixty is no fail.
func TestFamilyIsShared(t *testing.T) {
	cur, ref := doc("02", 0), doc("01", 1)
	for i := range 60 {
		name := "b" + string(rune('A'+i))
		x := around(1, 0.05, 6, i)
		y := around(1, 0.05, 6, i+100)
		if i == 7 { // beyond budget and allowance in every pair: p = 1/924
			y = around(2, 0.05, 6, 3)
		}
		cell(ref, name, "", column{"wall_time": x})
		cell(cur, name, "", column{"wall_time": y})
	}
	v := evaluate(t, cur, stored(ref), regression("wall_time", 0.1))
	if v.Policy.Family != 60 {
		t.Fatalf("family %d, want 60", v.Policy.Family)
	}
	for _, f := range v.Findings {
		if f.Metric != "wall_time" {
			continue
		}
		odd := v.Cells[f.Cell].Name == "b"+string(rune('A'+7))
		// 60 x 1/924 = 0.065: six runs a side cannot carry this family.
		if odd && (f.Outcome != verdict.Inconclusive || !slices.Contains(f.Reasons, reasonTooFewRuns) || f.Settle.Repeats < 7) {
			t.Errorf("%s %q settle %+v", f.Outcome, f.Reasons, f.Settle)
		}
		if !odd && f.Outcome == verdict.Fail {
			t.Errorf("%s: %s", v.Cells[f.Cell].Name, f.Message)
		}
	}
}

// TestLevelsAndPolicy: warn and info are shown and gate nothing; proof gates
// what is merely not disproved.
func TestLevelsAndPolicy(t *testing.T) {
	cur, ref := doc("02", 0), doc("01", 1)
	cell(cur, "x", "", column{"wall_time": around(2, 0.02, 10, 2)})
	cell(ref, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
	warn := regression("wall_time", 0.1)
	warn.Level = budget.Warn
	if v := evaluate(t, cur, stored(ref), warn); v.Outcome != verdict.Pass || v.ExitCode != 0 || own(t, v).Outcome != verdict.Fail {
		t.Errorf("level warn: %s, finding %s", v.Outcome, own(t, v).Outcome)
	}
	unsure := Input{Current: ref, Baseline: nil, Policy: DefaultPolicy(), Budgets: []budget.Budget{regression("wall_time", 0.25)}}
	two := doc("03", 0)
	cell(two, "x", "", column{"wall_time": []float64{1, 1.01}})
	unsure.Current, unsure.Baseline = two, stored(ref)
	unsure.Baseline.Sessions[0].Doc.Cells[0].Runs.Status = map[int]result.Status{}
	for i := 2; i < 10; i++ {
		unsure.Baseline.Sessions[0].Doc.Cells[0].Runs.Status[i] = result.Failed
	}
	v, err := Evaluate(unsure)
	if err != nil || v.Outcome != verdict.Pass || v.Counts.Unproven != 1 {
		t.Fatalf("unproven: %v %s %+v", err, v.Outcome, v.Counts)
	}
	unsure.Policy.Require = RequireProof
	if v, _ = Evaluate(unsure); v.Outcome != verdict.Inconclusive || v.ExitCode != ExitUndecided {
		t.Errorf("proof required: %s exit %d", v.Outcome, v.ExitCode)
	}
}

// TestPrecedence: the order of outcomes, in one place.
func TestPrecedence(t *testing.T) {
	order := []verdict.Outcome{verdict.Interrupted, verdict.Fail, verdict.Invalid, verdict.NoData, verdict.NotComparable,
		verdict.NoBaseline, verdict.New, verdict.Inconclusive, verdict.Suspicious, verdict.Quarantined, verdict.Accepted, verdict.Pass}
	for i, a := range order {
		for j, b := range order {
			if got := worse(a, b); got != order[min(i, j)] {
				t.Errorf("worse(%s, %s) = %s", a, b, got)
			}
		}
	}
}

func TestRefusesPolicyOutOfRange(t *testing.T) {
	d := doc("01", 0)
	for _, edit := range []func(*Policy){
		func(p *Policy) { p.FalseAlarms = 0 }, func(p *Policy) { p.FalseAlarms = 0.5 }, func(p *Policy) { p.FalseAlarms = math.NaN() },
		func(p *Policy) { p.MinSessions = 1 },
	} {
		p := DefaultPolicy()
		edit(&p)
		if _, err := Evaluate(Input{Current: d, Policy: p}); err == nil {
			t.Errorf("policy %+v was taken", p)
		}
	}
}
