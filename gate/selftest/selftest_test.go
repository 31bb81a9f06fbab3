package selftest

import (
	"bytes"
	"math"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

func TestParseAmount(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Amount
	}{
		{"cpu=10%", Amount{Kind: CPU, Share: 0.1}},
		{"sleep=50ms", Amount{Kind: Sleep, Fixed: 0.05}},
		{"memory=64MiB", Amount{Kind: Memory, Fixed: 64 << 20}},
		{"memory=20%", Amount{Kind: Memory, Share: 0.2}},
		{"write=1MB", Amount{Kind: Write, Fixed: 1e6}},
		{"cpu=auto", Amount{Kind: CPU, Auto: true}},
	} {
		got, err := ParseAmount(tt.text)
		tt.want.Text = tt.text
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{"", "cpu", "cpu=", "cpu=10", "cpu=0%", "sleep=0", "write=10%", "write=auto", "heat=10%", "memory=5s", "sleep=-1s"} {
		if got, err := ParseAmount(text); err == nil || !strings.Contains(err.Error(), "cpu=10%") {
			t.Errorf("%q is %+v, %v; want an error that says what to write", text, got, err)
		}
	}
}

func TestAmountsAreOfTheCellsOwn(t *testing.T) {
	cpu, _ := ParseAmount("cpu=10%")
	if w := cpu.Add(Work{}, 2, Costs{PerSecond: 1e6}); w.Iterations != 200_000 {
		t.Errorf("10 %% of 2 s at 1e6 a second: %d iterations", w.Iterations)
	}
	share, _ := ParseAmount("memory=50%")
	if w := share.Add(Work{}, 100<<20, Costs{Toucher: 1 << 20}); w.Memory != 149<<20 {
		t.Errorf("half as much again as 100 MiB: %d bytes", w.Memory)
	}
	memory, _ := ParseAmount("memory=64MiB")
	if w := memory.Add(Work{}, 1<<30, Costs{Toucher: 1 << 20}); w.Memory != 64<<20 {
		t.Errorf("64 MiB: %d bytes", w.Memory)
	}
}

// TestWrapBecomesTheCommand: arguments arrive as they were, and each kind of work is done.
func TestWrapBecomesTheCommand(t *testing.T) {
	dir := t.TempDir()
	all := []string{CPU, Sleep, Memory, Write}
	for name, w := range map[string]Work{"none": {}, "idle": {Kinds: all}, "all": {Kinds: all, Iterations: 10, Seconds: 0.001, Memory: 4096, Write: 5000}} {
		argv := w.Wrap([]string{"sh", "-c", `printf '%s|' "$@"; [ -e "$PERFWEIR_OUT/injected" ] && wc -c <"$PERFWEIR_OUT/injected"; exit 7`, "sh", "a b", "$x", ""})
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = []string{"PERFWEIR_OUT=" + dir + "/" + name, "PATH=/usr/bin:/bin"}
		if err := exec.Command("mkdir", dir+"/"+name).Run(); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.Output()
		exit, ok := err.(*exec.ExitError)
		want := map[string]string{"none": "a b|$x||", "idle": "a b|$x||0", "all": "a b|$x||5000"}[name]
		if !ok || exit.ExitCode() != 7 || strings.Join(strings.Fields(string(out)), " ") != want {
			t.Errorf("%s: %q, %v, want %q and exit code 7", name, out, err, want)
		}
	}
}

func TestWhatAnInjectionMoves(t *testing.T) {
	for _, tt := range []struct {
		kind  string
		moves []string
	}{
		{CPU, []string{result.WallTime, result.CPUTime}},
		{Sleep, []string{result.WallTime}},
		{Memory, []string{result.WallTime, result.CPUTime, result.MemoryPeakProcess}},
		{Write, []string{result.WallTime, result.CPUTime}},
	} {
		for _, m := range []string{result.WallTime, result.CPUTime, result.MemoryPeakProcess, result.OutputSize, "tokens"} {
			if got := Moves(tt.kind, m); got != slices.Contains(tt.moves, m) {
				t.Errorf("%s moves %s: %v", tt.kind, m, got)
			}
		}
	}
}

// judged is a verdict of one cell's wall_time: outcome, ratio and its upper bound.
func judged(sessions int, outcome verdict.Outcome, grade string, ratio, high float64) *verdict.Document {
	at := 0
	return &verdict.Document{
		Metrics: map[string]result.Metric{"wall_time": {Unit: "s", Better: result.Lower, Class: result.Noisy}},
		Cells:   []verdict.Cell{{Name: "a"}, {Name: "b"}},
		Comparisons: []verdict.Comparison{{Metric: "wall_time", Against: budget.AgainstBaseline, Sessions: sessions, Ratio: &ratio,
			RatioInterval: &[2]float64{2 - high, high}}},
		Findings: []verdict.Finding{
			{Comparison: &at, Metric: "wall_time", Gated: true, Outcome: outcome, Grade: grade},
			{Comparison: &at, Metric: "wall_time", Outcome: verdict.Fail}, // not gated: not counted
			{Metric: "crash_rate", Gated: true, Outcome: verdict.Fail},    // absolute: no false alarm
		},
	}
}

func TestFalseAlarmsAreCounted(t *testing.T) {
	var m Measured
	for i := range 30 {
		v := judged(i, verdict.Pass, "", 1+float64(i)/1000, 1.05+float64(i)/1000)
		switch i {
		case 7:
			v = judged(i, verdict.Fail, "", 1.2, 1.3)
		case 8:
			v = judged(i, verdict.Inconclusive, verdict.Suspect, 1.1, 1.3)
		case 9:
			v = judged(i, verdict.Inconclusive, verdict.Unproven, 1.01, 1.3)
		}
		m.Stored = append(m.Stored, v)
	}
	m.Pairs = m.Stored[:2]
	d := Document{MinSessions: 5}
	d.Fill(m)
	s := d.Stored
	if s.Trials != 30 || s.Hits != 1 || s.Findings != 30 || s.Fails != 1 || s.Suspects != 1 || s.Unproven != 1 {
		t.Errorf("%+v, want 1 of 30 sessions with 1 fail, 1 suspect, 1 unproven of 30 findings", s)
	}
	// R: binom.test(1, 30)$conf.int
	if math.Abs(s.Interval[0]-0.0008435709) > 1e-9 || math.Abs(s.Interval[1]-0.1721695) > 1e-7 {
		t.Errorf("interval %v, want [0.0008435709, 0.1721695]", s.Interval)
	}
	if len(d.Metrics) != 1 || d.Metrics[0].Stored.Comparisons != 25 || d.Metrics[0].Pairs.Comparisons != 2 || d.Metrics[0].Pairs.Floor != nil {
		t.Fatalf("%+v, want 25 comparisons with five or more sessions, and 2 of pairs with too few for a floor", d.Metrics)
	}
	r := d.Metrics[0].Stored
	if math.Abs(r.Largest-0.2) > 1e-9 || r.Floor == nil || *r.Floor < 0.028 || *r.Floor > 0.1 || r.Budget == nil || *r.Budget < 0.07 || *r.Budget > 0.3 {
		t.Errorf("resolution %+v", *r)
	}
}

func TestDetectionsAreCounted(t *testing.T) {
	a, _ := ParseAmount("sleep=10%")
	hit, miss := judged(5, verdict.Fail, "", 1.3, 1.4), judged(5, verdict.Inconclusive, verdict.Suspect, 1.1, 1.2)
	other := judged(5, verdict.Fail, "", 1.2, 1.3)
	d := Document{MinSessions: 5}
	d.Fill(Measured{Injected: []Injected{{a, []Trial{{hit, map[string]float64{"a": .3}}, {miss, map[string]float64{"a": .1}}, {other, map[string]float64{"b": .5}}}}}})
	in := d.Injections[0]
	if in.Sessions != 3 || len(in.Metrics) != 1 || in.Elsewhere["wall_time"] != (Count{1, 1, 0}) {
		t.Fatalf("%+v, want one metric, and the fail of a cell that was left alone", in)
	}
	got := in.Metrics[0]
	if got.Count != (Count{2, 1, 1}) || !got.Moves || *got.Ratio < 1.19 || *got.Ratio > 1.21 || *got.MinRatio != 1.1 {
		t.Errorf("%+v", got)
	}
	if got.Injected == nil || math.Abs(*got.Injected-1.2) > 1e-9 {
		t.Errorf("injected %v, want the median of +30 and +10 %%", got.Injected)
	}

	// Of what an amount is no share of, nothing is said.
	for text, share := range map[string]float64{"cpu=10%": .1, "sleep=50ms": 0} {
		a, err := ParseAmount(text)
		if err != nil {
			t.Fatal(err)
		}
		d.Fill(Measured{Injected: []Injected{{a, []Trial{{hit, map[string]float64{"a": share}}}}}})
		if got := d.Injections[0].Metrics[0]; got.Injected != nil {
			t.Errorf("%s: %v injected into wall_time", text, *got.Injected)
		}
	}
}

func TestEffectOfACell(t *testing.T) {
	v := judged(5, verdict.Inconclusive, verdict.Suspect, 1.1, 1.2)
	stated := 0.17
	v.Findings[0].SmallestEffect = &stated
	m := Measured{Stored: []*verdict.Document{v}}
	if got := m.Effect("a", "wall_time"); got != stated {
		t.Errorf("effect %v, want what the finding says", got)
	}
	if got := m.Effect("b", "wall_time"); got != 0 {
		t.Errorf("effect %v in a cell without a finding", got)
	}
	// Where the finding says nothing the spread does: 10 sessions that alternate by
	// 2 % have a spread of about 1 %.
	v.Findings[0].SmallestEffect = nil
	allowed := 1.1
	v.Findings[0].Allowed, v.Comparisons[0].Reference, v.Policy = &allowed, 1, verdict.Policy{FalseAlarms: 0.05, Family: 1}
	for i := range 10 {
		m.Sessions = append(m.Sessions, &result.Document{Cells: []result.Cell{{Name: "a", Benchmark: "a",
			Runs:    result.Runs{Repeat: []int{1}, Block: []int{1}, Slot: []int{0}, Start: []float64{0}},
			Columns: []result.Column{{Metric: "wall_time", V: result.Values{1 + 0.02*float64(i%2)}}}}}})
	}
	if got := m.Effect("a", "wall_time"); got < 0.13 || got > 0.16 {
		t.Errorf("effect %v, want the budget of 10 %% and three to four spreads of 1.1 %%", got)
	}
}

// TestEveryVaryingMetricIsCompared: budget or not, without gating anything.
func TestEveryVaryingMetricIsCompared(t *testing.T) {
	d := &result.Document{Header: result.Header{Metrics: map[string]result.Metric{
		"wall_time": {Better: result.Lower, Class: result.Noisy}, "odd": {Class: result.Tail}, "output_size": {Class: result.Exact}}}}
	got := Budgets(d)
	if len(got) != 2 || got[0].Metric != "odd" || got[0].Kind != budget.MaxIncrease || got[1].Kind != budget.MaxRegression || got[0].Level != budget.Info || got[1].Level != budget.Info {
		t.Errorf("%+v", got)
	}
}

func TestDocumentReadsBack(t *testing.T) {
	floor := 0.03
	d := &Document{Schema: Schema, Suite: "s", StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Metrics: []Metric{{Name: "m", Stored: &Resolution{Floor: &floor}}}}
	var b bytes.Buffer
	if err := Encode(&b, d); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&b)
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Decode(strings.NewReader(`{"schema":"perfweir.selftest/v2"}`)); err == nil {
		t.Error("a newer document is read")
	}
}

// TestSpreadOfEachCell: a quiet cell and one that jumps, each with what it has and
// what they share, and what nobody could use refused.
func TestSpreadOfEachCell(t *testing.T) {
	var m Measured
	for s := range 12 {
		sign := float64(1 - 2*(s%2))
		d := &result.Document{Header: result.Header{Metrics: map[string]result.Metric{"wall_time": {Unit: "s", Class: result.Noisy}}}}
		for i, jump := range []float64{.001, .1} {
			v := math.Exp(jump * sign)
			d.Cells = append(d.Cells, result.Cell{Benchmark: []string{"quiet", "loud"}[i], Build: result.BuildHead, Digest: "sha256:1",
				Runs: result.Runs{Repeat: []int{1, 2, 3}}, Columns: []result.Column{{Metric: "wall_time", V: []float64{v, v, v}}}})
		}
		// The control cell jumps most, and is in no pool.
		v := math.Exp(.5 * sign)
		d.Cells = append(d.Cells, result.Cell{Benchmark: result.ControlBenchmark, Build: result.BuildHead, Control: true, Digest: "sha256:2",
			Runs: result.Runs{Repeat: []int{1, 2, 3}}, Columns: []result.Column{{Metric: "wall_time", V: []float64{v, v, v}}}})
		m.Sessions = append(m.Sessions, d)
	}
	m.Stored = []*verdict.Document{judged(5, verdict.Pass, "", 1, 1.1)}
	d := Document{Schema: Schema, MinSessions: 5}
	d.Fill(m)
	if c := d.Metrics[0].Control; len(c) != 1 || math.Abs(c[0].SD-.5*math.Sqrt(12./11)) > .001 || c[0].Digest != "sha256:2" {
		t.Errorf("control cell %+v", c)
	}
	c := d.Metrics[0].Columns
	if len(c) != 2 || c[0].Benchmark != "loud" || c[1].Benchmark != "quiet" || c[0].Repeats != 3 {
		t.Fatalf("columns %+v, want those of both cells by name, of 3 repeats", c)
	}
	// The sessions of loud alternate by 0.1: sd 0.1 * sqrt(12/11).
	if loud := .1 * math.Sqrt(12./11); c[0].SD > loud || c[0].SD < .9*loud || c[1].SD < .001 || c[1].SD > .02 || c[0].DF < 11 {
		t.Errorf("columns %+v", c)
	}
	if d.Metrics[0].Spread == nil || d.Metrics[0].Spread.DF != 22 {
		t.Errorf("pooled %+v, want 22 degrees of freedom", d.Metrics[0].Spread)
	}
	for _, bad := range []ColumnSpread{{SD: -1, DF: 1, Repeats: 1, Digest: "a"}, {SD: 1, Repeats: 1, Digest: "a"}, {SD: 1, DF: 1, Digest: "a"}, {SD: 1, DF: 1, Repeats: 1}} {
		d.Metrics[0].Columns[1] = bad
		var text bytes.Buffer
		if err := Encode(&text, &d); err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(&text); err == nil || !strings.Contains(err.Error(), "metrics[0].columns[1]") {
			t.Errorf("%+v: %v, want the place of it", bad, err)
		}
	}
}
