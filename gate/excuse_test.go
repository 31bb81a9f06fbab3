package gate

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// onDay gives the tests' session another day.
func onDay(d *result.Document, day string) *result.Document {
	at, err := time.Parse(budget.DateLayout, day)
	if err != nil {
		panic(err)
	}
	d.Sessions[0].StartedAt = at.Add(23*time.Hour + 59*time.Minute)
	return d
}

func acceptance(limit float64) budget.Exception {
	return budget.Exception{Metric: "output_size", Benchmark: "x", Limit: limit, Text: percent(limit), Reason: "checksums, #812", Expires: "2026-12-01",
		Source: budget.Source{Path: "perfweir.yml", Line: 9}}
}

func percent(v float64) string { return map[float64]string{0.12: "12%", 0.5: "50%", 0.05: "5%"}[v] }

// sized is a document whose cell x has an exact size.
func sized(id string, age int, size float64) *result.Document {
	d := doc(id, age)
	d.Builds["head"] = result.Build{Programs: map[string]string{"p": "sha256:" + id}}
	cell(d, "x", "", column{"output_size": repeat(size, 1)})
	return d
}

func judgedInput(t *testing.T, in Input) *verdict.Document {
	t.Helper()
	if in.Policy.FalseAlarms == 0 {
		in.Policy = DefaultPolicy()
	}
	v, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// What an accepted change comes to, by how large it is and on which day.
func TestAcceptance(t *testing.T) {
	for _, tt := range []struct {
		name    string
		day     string
		size    float64
		entry   func(*budget.Exception)
		want    verdict.Outcome
		exit    int
		reason  string
		message string
		warning string
	}{
		{name: "inside the limit", day: "2026-11-01", size: 112, want: verdict.Accepted, message: "accepted up to 12% until 2026-12-01: checksums, #812"},
		{name: "beyond it", day: "2026-11-01", size: 115, want: verdict.Fail, exit: ExitFail, reason: reasonBeyondAccepted, message: "accepted up to 12%, is 15.0 %"},
		{name: "better is no matter of it", day: "2026-11-01", size: 90, want: verdict.Pass},
		{name: "inside the budget neither", day: "2026-11-01", size: 105, want: verdict.Pass},
		{name: "on the last day", day: "2026-12-01", size: 112, want: verdict.Accepted, warning: "expires in less than a day, on 2026-12-01"},
		{name: "on the day after", day: "2026-12-02", size: 112, want: verdict.Fail, exit: ExitFail, reason: reasonExpired, message: "until 2026-12-01, which is past", warning: "expired on 2026-12-01"},
		{name: "a fortnight before", day: "2026-11-17", size: 105, want: verdict.Pass, warning: "expires in 14 days"},
		{name: "of another cell", day: "2026-11-01", size: 112, entry: func(x *budget.Exception) { x.Benchmark = "y" }, want: verdict.Fail, exit: ExitFail},
		{name: "of another metric", day: "2026-11-01", size: 112, entry: func(x *budget.Exception) { x.Metric = "wall_time" }, want: verdict.Fail, exit: ExitFail},
		{name: "with an amount", day: "2026-11-01", size: 117, entry: func(x *budget.Exception) { x.Amount = 5 }, want: verdict.Accepted},
		{name: "beyond limit and amount", day: "2026-11-01", size: 118, entry: func(x *budget.Exception) { x.Amount = 5 }, want: verdict.Fail, exit: ExitFail, reason: reasonBeyondAccepted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entry := acceptance(0.12)
			if tt.entry != nil {
				tt.entry(&entry)
			}
			v := judgedInput(t, Input{Current: onDay(sized("02", 0, tt.size), tt.day), Baseline: stored(sized("01", 1, 100)),
				Budgets: []budget.Budget{regression("output_size", 0.05)}, Accepted: []budget.Exception{entry}})
			f := own(t, v)
			if f.Outcome != tt.want || v.ExitCode != tt.exit || v.Outcome != tt.want {
				t.Fatalf("%s (%s), the whole %s, exit code %d; want %s, %d", f.Outcome, f.Message, v.Outcome, v.ExitCode, tt.want, tt.exit)
			}
			if tt.reason != "" && !slices.Contains(f.Reasons, tt.reason) {
				t.Errorf("reasons %q, want %q", f.Reasons, tt.reason)
			}
			if !strings.Contains(f.Message, tt.message) {
				t.Errorf("message %q, want %q", f.Message, tt.message)
			}
			if w := strings.Join(v.Warnings, "\n"); !strings.Contains(w, tt.warning) || tt.warning == "" && strings.Contains(w, "expire") {
				t.Errorf("warnings %q, want %q", w, tt.warning)
			}
			if (f.Was == verdict.Fail) != (tt.want == verdict.Accepted) {
				t.Errorf("it was %q", f.Was)
			}
		})
	}
}

// A suspect is accepted like a fail: it would be asked about again and again.
func TestAcceptedSuspect(t *testing.T) {
	cur, ref := doc("02", 0), doc("01", 1)
	cell(cur, "x", "", column{"wall_time": around(1.3, 0.02, 10, 2)})
	cell(ref, "x", "", column{"wall_time": around(1, 0.02, 10, 1)})
	entry := acceptance(0.5)
	entry.Metric = "wall_time"
	in := Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{regression("wall_time", 0.25)}}
	if f := own(t, judgedInput(t, in)); f.Grade != verdict.Suspect {
		t.Fatalf("%s %s, want a suspect", f.Outcome, f.Grade)
	}
	in.Accepted = []budget.Exception{entry}
	if f := own(t, judgedInput(t, in)); f.Outcome != verdict.Accepted || f.Grade != "" || f.Was != verdict.Inconclusive {
		t.Errorf("%s %s, was %s", f.Outcome, f.Grade, f.Was)
	}
}

func quarantine(benchmark string) budget.Exception {
	return budget.Exception{Benchmark: benchmark, Reason: "#900", Expires: "2026-12-01"}
}

// Quarantine goes first: neither a broken budget nor a cell that never ran counts,
// and the findings are there all the same.
func TestQuarantine(t *testing.T) {
	cur, ref := sized("02", 0, 200), sized("01", 1, 100)
	cell(cur, "y", "", column{"output_size": repeat(100, 1)})
	cell(ref, "y", "", column{"output_size": repeat(100, 1)})
	cell(ref, "z", "", column{"output_size": repeat(100, 1)}) // gone
	cur.Cells[0].Planned = 3                                  // of which one was seen
	in := Input{Current: cur, Baseline: stored(ref), Budgets: []budget.Budget{regression("output_size", 0.05)}}
	if v := judgedInput(t, in); v.ExitCode != ExitFail {
		t.Fatalf("exit code %d without quarantine", v.ExitCode)
	}
	in.Quarantine = []budget.Exception{quarantine("x"), quarantine("z")}
	v := judgedInput(t, in)
	if v.Outcome != verdict.Pass || v.ExitCode != ExitPass {
		t.Fatalf("%s, exit code %d: %q", v.Outcome, v.ExitCode, v.Reasons)
	}
	n := 0
	for i := range v.Findings {
		f := &v.Findings[i]
		name := v.Cells[f.Cell].Name
		if (f.Outcome == verdict.Quarantined) != (name != "y") || f.Gated != (name == "y") {
			t.Errorf("%s %s: %s, gated %v", name, f.Metric, f.Outcome, f.Gated)
		}
		if f.Metric == "output_size" && name == "x" && (f.Was != verdict.Fail || !strings.HasPrefix(f.Message, "quarantined until 2026-12-01 (#900): ")) {
			t.Errorf("was %q: %s", f.Was, f.Message)
		}
		if f.Outcome == verdict.Quarantined {
			n++
		}
	}
	if v.Counts.Findings[verdict.Quarantined] != n || n == 0 || v.Policy.Family != 0 {
		t.Errorf("%d counted of %d, family %d", v.Counts.Findings[verdict.Quarantined], n, v.Policy.Family)
	}
	for i, want := range []verdict.Outcome{verdict.Quarantined, verdict.Pass, verdict.Quarantined} {
		if got := v.Cells[i].Outcome; got != want {
			t.Errorf("cell %s: %s, want %s", v.Cells[i].Name, got, want)
		}
	}
}

// An expired quarantine counts again, and a suite of nothing else has not passed.
func TestQuarantineExpires(t *testing.T) {
	in := Input{Current: onDay(sized("02", 0, 200), "2026-12-02"), Baseline: stored(sized("01", 1, 100)),
		Budgets: []budget.Budget{regression("output_size", 0.05)}, Quarantine: []budget.Exception{quarantine("x")}}
	v := judgedInput(t, in)
	if v.ExitCode != ExitFail || !strings.Contains(strings.Join(v.Warnings, "\n"), "quarantine benchmark x (#900) expired on 2026-12-01: it counts again") {
		t.Errorf("exit code %d, warnings %q", v.ExitCode, v.Warnings)
	}
	onDay(in.Current, "2026-12-01")
	if v := judgedInput(t, in); v.ExitCode != ExitPass || v.Outcome != verdict.Quarantined {
		t.Errorf("%s, exit code %d on the last day", v.Outcome, v.ExitCode)
	}
}

// Of one metric alone: everything else counts.
func TestQuarantineOfAMetric(t *testing.T) {
	cur := sized("02", 0, 200)
	cur.Cells[0].Planned = 2
	entry := quarantine("x")
	entry.Metric = "output_size"
	v := judgedInput(t, Input{Current: cur, Baseline: stored(sized("01", 1, 100)), Budgets: []budget.Budget{regression("output_size", 0.05)}, Quarantine: []budget.Exception{entry}})
	if v.ExitCode != ExitUndecided || v.Outcome != verdict.NoData || own(t, v).Outcome != verdict.Quarantined {
		t.Errorf("%s, exit code %d, %s", v.Outcome, v.ExitCode, own(t, v).Outcome)
	}
}

// Who decides about exceptions: an entry has to be in both files, the stricter one
// counts, and what only the change has is listed.
func TestWhichFileExcuses(t *testing.T) {
	short := acceptance(0.12)
	short.Expires = "2026-10-01"
	long := acceptance(0.12)
	long.Expires = "2028-01-01"
	for _, tt := range []struct {
		name       string
		base, head []budget.Exception
		new        bool // base's suite lacks the cell
		accepted   bool // by label
		want       verdict.Outcome
		loosened   string // "was -> now"; "": nothing is
	}{
		{name: "both", base: []budget.Exception{acceptance(0.12)}, head: []budget.Exception{acceptance(0.12)}, want: verdict.Accepted},
		{name: "added", head: []budget.Exception{acceptance(0.12)}, want: verdict.Fail, loosened: " -> limit: 12%, until 2026-12-01"},
		{name: "added, accepted by label", head: []budget.Exception{acceptance(0.12)}, accepted: true, want: verdict.Accepted, loosened: " -> limit: 12%, until 2026-12-01"},
		{name: "removed", base: []budget.Exception{acceptance(0.12)}, want: verdict.Fail},
		{name: "a larger limit", base: []budget.Exception{acceptance(0.05)}, head: []budget.Exception{acceptance(0.12)}, want: verdict.Fail, loosened: "limit: 5%, until 2026-12-01 -> limit: 12%, until 2026-12-01"},
		{name: "a smaller limit", base: []budget.Exception{acceptance(0.12)}, head: []budget.Exception{acceptance(0.05)}, want: verdict.Fail},
		{name: "a later day", base: []budget.Exception{short}, head: []budget.Exception{acceptance(0.12)}, want: verdict.Fail, loosened: "limit: 12%, until 2026-10-01 -> limit: 12%, until 2026-12-01"},
		{name: "an earlier day", base: []budget.Exception{long}, head: []budget.Exception{acceptance(0.12)}, want: verdict.Accepted},
		{name: "of a cell that base lacks", head: []budget.Exception{acceptance(0.12)}, new: true, want: verdict.Accepted},
		{name: "an expired one excuses nothing", head: []budget.Exception{short}, want: verdict.Fail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := []budget.Budget{regression("output_size", 0.05)}
			base := &Rules{Commit: strings.Repeat("7", 40), Budgets: b, Policy: DefaultPolicy(), Accepted: tt.base, Cells: []BenchmarkVariant{{Benchmark: "x"}}}
			if tt.new {
				base.Cells = nil
			}
			in := Input{Current: sized("02", 0, 112), Baseline: stored(sized("01", 1, 100)), Budgets: b, Accepted: tt.head, Base: base}
			if tt.accepted {
				in.AcceptedBy = &verdict.AcceptedBy{Login: "mona", Label: "go"}
			}
			v := judgedInput(t, in)
			if f := own(t, v); f.Outcome != tt.want {
				t.Errorf("%s: %s, want %s", f.Outcome, f.Message, tt.want)
			}
			got := ""
			for _, l := range v.Loosened {
				got += l.Was + " -> " + l.Now
			}
			if got != tt.loosened || v.Counts.Loosened != len(v.Loosened) {
				t.Errorf("loosened %q (%d), want %q", got, v.Counts.Loosened, tt.loosened)
			}
		})
	}
}

// By label a looser budget, a deleted one and a looser policy of the change count,
// and are listed.
func TestAcceptedByLabel(t *testing.T) {
	was, now := regression("output_size", 0.05), regression("output_size", 0.5)
	was.Text, now.Text = "max_regression: 5%", "max_regression: 50%"
	deleted := budget.Budget{Metric: "output_size", Kind: budget.Max, Limit: 110, Level: budget.Fail, Text: "max: 110B"}
	policy := DefaultPolicy()
	policy.On = map[verdict.Outcome]string{Gone: ActionPass}
	in := Input{Current: sized("02", 0, 112), Baseline: stored(sized("01", 1, 100)), Budgets: []budget.Budget{now}, Policy: policy,
		Base: &Rules{Commit: strings.Repeat("7", 40), Budgets: []budget.Budget{was, deleted}, Policy: DefaultPolicy(), Cells: []BenchmarkVariant{{Benchmark: "x"}, {Benchmark: "y"}}}}
	if v := judgedInput(t, in); v.ExitCode != ExitFail {
		t.Fatalf("exit code %d without the label", v.ExitCode)
	}
	in.AcceptedBy = &verdict.AcceptedBy{Login: "mona", Label: "go"}
	v := judgedInput(t, in)
	if v.ExitCode != ExitPass || v.Suite.JudgedBy != "head, accepted by mona" || v.AcceptedBy == nil {
		t.Errorf("exit code %d, %q: %q", v.ExitCode, v.Suite.JudgedBy, v.Reasons)
	}
	var got []string
	for _, l := range v.Loosened {
		got = append(got, l.Text+": "+l.Was+" -> "+l.Now)
	}
	if want := []string{"gate.on.gone: fail -> pass", "output_size: max_regression: 5% -> max_regression: 50%", "output_size: max: 110B -> "}; !slices.Equal(got, want) {
		t.Errorf("loosened %q, want %q", got, want)
	}
}

// On random documents: an accepted change turns fails and suspects of its metric
// into accepted ones up to its limit and leaves every other finding alone; a
// quarantine excuses all of its cells, and what fails beside it still fails, since
// fewer tests share the error.
func TestExceptionsExcuseNothingElse(t *testing.T) {
	excused := map[string]int{}
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		in := Input{Current: rc.cur, Budgets: rc.budgets, Policy: DefaultPolicy()}
		if len(rc.stored) > 0 {
			in.Baseline = stored(rc.stored...)
		}
		plain := byName(judgedInput(t, in))
		limit := []float64{0.05, 0.5, 3}[r.IntN(3)]
		in.Accepted = []budget.Exception{{Metric: "wall_time", Variant: "a", Limit: limit, Text: percent(limit), Reason: "x", Expires: "2027-01-01"}}
		v := judgedInput(t, in)
		for name, f := range byName(v) {
			was, cell := plain[name], v.Cells[f.Cell]
			beside := f.Metric != "wall_time" || cell.Variant != "a" || f.Comparison == nil || v.Comparisons[*f.Comparison].Against != budget.AgainstBaseline
			switch {
			case f.Outcome == was.Outcome:
			case f.Outcome != verdict.Accepted || beside || f.Was != was.Outcome || was.Outcome != verdict.Fail && was.Grade != verdict.Suspect:
				t.Errorf("%s: %s %s became %s", name, was.Outcome, was.Grade, f.Outcome)
			default:
				excused["accepted"]++
				if c := v.Comparisons[*f.Comparison]; c.Ratio != nil && *c.Ratio-1 > limit*(1+1e-9) {
					t.Errorf("%s: x%v accepted up to %v", name, *c.Ratio, limit)
				}
			}
		}
		in.Accepted, in.Quarantine = nil, []budget.Exception{{Benchmark: "bench0", Reason: "x", Expires: "2027-01-01"}}
		v = judgedInput(t, in)
		for name, f := range byName(v) {
			was := plain[name]
			if mine := v.Cells[f.Cell].Benchmark == "bench0"; mine != (f.Outcome == verdict.Quarantined) || mine && f.Gated {
				t.Errorf("%s: %s, gated %v", name, f.Outcome, f.Gated)
			} else if !mine && was.Outcome == verdict.Fail && f.Outcome != verdict.Fail {
				t.Errorf("%s: %s became %s beside a quarantine", name, was.Outcome, f.Outcome)
			} else if mine {
				excused["quarantined"]++
			}
		}
	})
	if excused["accepted"] == 0 || excused["quarantined"] == 0 {
		t.Errorf("the documents show nothing: %v", excused)
	}
}
