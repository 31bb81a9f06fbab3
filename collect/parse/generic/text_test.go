package generic

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"plain", "a b\nc", "a b\nc"},
		{"colours (C43)", "\x1b[32mbench_a\x1b[0m\n  Instructions: \x1b[1m 1734\x1b[0m|1650 (+5.1%)\n", "bench_a\n  Instructions:  1734|1650 (+5.1%)\n"},
		{"link ended by BEL", "\x1b]8;;http://x\x07text\x1b]8;;\x07", "text"},
		{"title ended by ST", "\x1b]0;a title\x1b\\text", "text"},
		{"torn title keeps the next line", "\x1b]0;torn\nrate 5\n", "\x1b]0;torn\nrate 5\n"},
		{"torn colour", "x\x1b[3", "x\x1b[3"},
		{"other escape", "\x1bM5", "\x1bM5"},
		{"progress", " 10%\r 50%\rdone 7\nnext", "done 7\nnext"},
		{"progress without end", "10%\r20%\r", "20%"},
		{"CR LF", "a\r\nb\r\n", "a\nb\n"},
		{"erase and redraw", "\r\x1b[2K1/2\r\x1b[2K2/2\n", "2/2\n"},
		{"raw bytes", "\x00\xff\x9b1m\n", "\x00\xff\x9b1m\n"},
		{"empty", "", ""},
	} {
		if got := string(Clean([]byte(c.raw))); got != c.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", c.name, c.raw, got, c.want)
		}
	}
}

func TestParseNumber(t *testing.T) {
	for text, want := range map[string]float64{
		"5": 5, " 12.5\t": 12.5, "1e9": 1e9, "+.5": .5, "7.": 7, "-3E-2": -0.03, "007": 7,
	} {
		if v, finite, ok := parseNumber(text); !ok || !finite || v != want {
			t.Errorf("parseNumber(%q) = %v %v %v, want %v", text, v, finite, ok, want)
		}
	}
	for _, text := range []string{"nan", "-nan", "NaN", "nan(0x1)", "-nan(ind)", "inf", "+Inf", "-Infinity", "1e999"} {
		if v, finite, ok := parseNumber(text); !ok || finite || !math.IsNaN(v) {
			t.Errorf("parseNumber(%q) = %v %v %v, want a number that is not finite", text, v, finite, ok)
		}
	}
	for _, text := range []string{"", "-", "1,234", "12.5.3", "0x10", "1_000", "5 ms", "N/A", "e5", "."} {
		if v, _, ok := parseNumber(text); ok {
			t.Errorf("parseNumber(%q) = %v, want no number", text, v)
		}
	}
}

func TestPattern(t *testing.T) {
	const colours = "\x1b[32mbench_a\x1b[0m\n  Instructions: \x1b[1m 1734\x1b[0m|1650 (+5.1%)\n"
	many := "rate 1\nrate 2\nrate 10\nrate 3\n"
	for _, c := range []struct {
		name   string
		read   plan.Read
		text   string
		want   float64
		absent string
		warned string
	}{
		{name: "group", read: plan.Read{Pattern: `rate ([\d.]+)`}, text: "x rate 12.5 y", want: 12.5},
		{name: "whole match", read: plan.Read{Pattern: `\d+`}, text: "n=42", want: 42},
		{name: "colours (C43)", read: plan.Read{Pattern: `^\s+Instructions:\s+(\d+)\|`}, text: colours, want: 1734},
		{name: "median", read: plan.Read{Pattern: `^rate (\d+)$`}, text: many, want: 2.5},
		{name: "mean", read: plan.Read{Pattern: `^rate (\d+)$`, Statistic: "mean"}, text: many, want: 4},
		{name: "min", read: plan.Read{Pattern: `^rate (\d+)$`, Statistic: "min"}, text: many, want: 1},
		{name: "max", read: plan.Read{Pattern: `^rate (\d+)$`, Statistic: "max"}, text: many, want: 10},
		{name: "sum", read: plan.Read{Pattern: `^rate (\d+)$`, Statistic: "sum"}, text: many, want: 16},
		{name: "last", read: plan.Read{Pattern: `^rate (\d+)$`, Statistic: "last"}, text: many, want: 3},
		{name: "scale", read: plan.Read{Pattern: `(\d+) ms`, Scale: 1e-3}, text: "250 ms", want: 0.25},
		{name: "exponent", read: plan.Read{Pattern: `= (\S+)`}, text: "v = 1.5e9", want: 1.5e9},
		{name: "nothing (C28)", read: plan.Read{Pattern: `rate (\d+)`}, text: "", absent: "not_reported"},
		{name: "group not in the match", read: plan.Read{Pattern: `a(\d)?`}, text: "a", absent: "not_reported"},
		{name: "nan (C40)", read: plan.Read{Pattern: `v=(\S+)`}, text: "v=-nan", absent: "not_finite", warned: `"-nan"`},
		{name: "one inf of two", read: plan.Read{Pattern: `v=(\S+)`}, text: "v=1\nv=inf", absent: "not_finite", warned: `"inf"`},
		{name: "thousands", read: plan.Read{Pattern: `v=(\S+)`}, text: "v=1,234", absent: "unreadable", warned: `"1,234"`},
		{name: "foreign text is escaped", read: plan.Read{Pattern: `v=(.+)`}, text: "v=\x00\u202e::x", absent: "unreadable", warned: `"\x00\u202e::x"`},
		{name: "overflow by scale", read: plan.Read{Pattern: `v=(\S+)`, Scale: 1e300}, text: "v=1e300", absent: "not_finite"},
	} {
		c.read.Metric = "rate"
		got, err := Pattern(c.read, []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkOne(t, c.name, got, c.want, c.absent, c.warned)
	}
}

func checkOne(t *testing.T, name string, got Reading, want float64, absent, warned string) {
	t.Helper()
	if len(got.Measurements) != 1 {
		t.Errorf("%s: %d measurements, want 1", name, len(got.Measurements))
		return
	}
	m := got.Measurements[0]
	if m.Absent != absent || absent == "" && m.Value != want || absent != "" && !math.IsNaN(m.Value) {
		t.Errorf("%s: got %v %q, want %v %q", name, m.Value, m.Absent, want, absent)
	}
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, warned) || (warned == "") != (all == "") {
		t.Errorf("%s: warnings %q, want %q in them", name, all, warned)
	}
}

func TestPatternErrors(t *testing.T) {
	for _, rd := range []plan.Read{
		{Metric: "a", Pattern: "("},
		{Metric: "a", Pattern: `\d`, Statistic: "mode"},
	} {
		if _, err := Pattern(rd, []byte("5")); err == nil || !strings.Contains(err.Error(), "metric a") {
			t.Errorf("Pattern(%+v) = %v, want an error that names the metric", rd, err)
		}
	}
	if _, err := Count(plan.Read{Metric: "a", Count: "("}, nil, 1); err == nil {
		t.Error("Count with a bad expression: no error")
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, pattern, text string
		wall                float64
		count, rate         float64
		absent              string
	}{
		{"lines", "^frame ", "frame 1\nxframe 2\nframe 3\n", 4, 2, 0.5, ""},
		{"ends", "ok$", "ok\nnot ok\nok no\r\nok", 2, 3, 1.5, ""},
		{"two on a line", "x", "x x\nx", 1, 3, 3, ""},
		{"none is 0", "^frame ", "", 2, 0, 0, ""},
		{"empty lines", "^$", "\n\na\n", 1, 2, 2, ""},
		{"coloured", "^frame", "\x1b[1mframe\x1b[0m", 1, 1, 1, ""},
		{"no wall time", "a", "aa", 0, 2, 0, "not_reported"},
		{"wall time is NaN", "a", "aa", math.NaN(), 2, 0, "not_reported"},
	} {
		rd := plan.Read{Metric: "frames", Count: c.pattern}
		got, err := Count(rd, []byte(c.text), c.wall)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := find(got, "frames", "")
		rate, ok := find(got, "frames_per_second", "")
		if n.Value != c.count || !ok || rate.Absent != c.absent || c.absent == "" && rate.Value != c.rate {
			t.Errorf("%s: got %v and %v (%s), want %v and %v (%s)", c.name, n.Value, rate.Value, rate.Absent, c.count, c.rate, c.absent)
		}
		if n.Def.Class != result.Exact || rate.Def.Unit != "1/s" || rate.Def.Class != result.Noisy {
			t.Errorf("%s: definitions %+v %+v", c.name, n.Def, rate.Def)
		}
	}
}

func TestSamples(t *testing.T) {
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat("1", 1+i%2) + "\n") // 1 and 11 by turns
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		present    string // suffixes that have a value
		absent     string // reason of the others
	}{
		{"none (C39)", "# nothing\n\n", "", "not_reported"},
		{"one (V45)", "5\n", "_min _mean _p50 _max", "insufficient"},
		{"9", numbers(9), "_min _mean _p50 _max", "insufficient"},
		{"10", numbers(10), "_min _mean _p50 _p90 _max", "insufficient"},
		{"19", numbers(19), "_min _mean _p50 _p90 _max", "insufficient"},
		{"20", numbers(20), "_min _mean _p50 _p90 _p95 _max", "insufficient"},
		{"99", numbers(99), "_min _mean _p50 _p90 _p95 _max", "insufficient"},
		{"100", numbers(100), "_min _mean _p50 _p90 _p95 _p99 _max", "insufficient"},
		{"999", numbers(999), "_min _mean _p50 _p90 _p95 _p99 _max", "insufficient"},
		{"1000", numbers(1000), "_min _mean _p50 _p90 _p95 _p99 _p999 _max", ""},
	} {
		got, err := Samples(plan.Read{Metric: "latency", Samples: "f", Scale: 1e-3}, strings.NewReader(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var present []string
		for _, m := range got.Measurements {
			if m.Absent == "" {
				present = append(present, strings.TrimPrefix(m.Metric, "latency"))
			} else if m.Absent != c.absent {
				t.Errorf("%s: %s is absent for %q, want %q", c.name, m.Metric, m.Absent, c.absent)
			}
			if m.Def != result.Catalogue()[m.Metric] {
				t.Errorf("%s: %s has the definition %+v", c.name, m.Metric, m.Def)
			}
		}
		if strings.Join(present, " ") != c.present {
			t.Errorf("%s: has %v, want %s", c.name, present, c.present)
		}
	}
}

func TestSamplesValues(t *testing.T) {
	// Twenty values 0..19 in another order; type 7 by R's quantile().
	text := "19\r\n # note\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n"
	got, err := Samples(plan.Read{Metric: "t"}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for suffix, want := range map[string]float64{"_min": 0, "_mean": 9.5, "_p50": 9.5, "_p90": 17.1, "_p95": 18.05, "_max": 19} {
		if m, _ := find(got, "t"+suffix, ""); math.Abs(m.Value-want) > 1e-12 {
			t.Errorf("t%s = %v, want %v", suffix, m.Value, want)
		}
	}
}

func TestSamplesBadLines(t *testing.T) {
	_, err := Samples(plan.Read{Metric: "t"}, strings.NewReader("1\n# c\n\n2 ms\n"))
	if err == nil || !strings.Contains(err.Error(), "line 4") || !strings.Contains(err.Error(), `"2 ms"`) {
		t.Errorf("a bad line: %v, want its number and text", err)
	}
	_, err = Samples(plan.Read{Metric: "t"}, strings.NewReader("1\n"+strings.Repeat("9", 1<<17)))
	if err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a line without end: %v, want its number", err)
	}
	got, err := Samples(plan.Read{Metric: "t"}, strings.NewReader("1\nnan\n"))
	if err != nil || len(got.Measurements) != 8 || len(got.Warnings) != 1 {
		t.Fatalf("a nan: %v %v, want 8 absent measurements and a warning", got, err)
	}
	for _, m := range got.Measurements {
		if m.Absent != result.AbsentNotFinite {
			t.Errorf("a nan: %s is %v %q", m.Metric, m.Value, m.Absent)
		}
	}
}

// Type 7 over the data of several references, {1,2,3,4,10,20,50}, and edges.
func TestQuantile(t *testing.T) {
	data := []float64{1, 2, 3, 4, 10, 20, 50}
	for p, want := range map[float64]float64{.25: 2.5, .5: 4, .9: 32, .95: 41, .99: 48.2, 0: 1, 1: 50} {
		if got := quantile(data, p); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile(%v) = %v, want %v", p, got, want)
		}
	}
	if got := quantile([]float64{7}, .999); got != 7 {
		t.Errorf("of one value: %v", got)
	}
	huge := []float64{-math.MaxFloat64, math.MaxFloat64}
	if got := quantile(huge, .5); got != 0 {
		t.Errorf("between the extremes: %v, want 0", got)
	}
}

func TestMeanLiesBetween(t *testing.T) {
	values := []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}
	if got := mean(values); got != 0.1 {
		t.Errorf("mean of equal values = %v", got)
	}
	if got := sum([]float64{1e16, 1, -1e16}); got != 1 {
		t.Errorf("sum = %v, want 1", got)
	}
}

func TestAbsences(t *testing.T) {
	for _, c := range []struct {
		read plan.Read
		want string
	}{
		{plan.Read{Metric: "a", Pattern: "x"}, "a"},
		{plan.Read{Metric: "a", Count: "x"}, "a a_per_second"},
		{plan.Read{Metric: "a", Samples: "x"}, "a_min a_mean a_p50 a_p90 a_p95 a_p99 a_p999 a_max"},
		{plan.Read{Checks: "x"}, "check"},
	} {
		var names []string
		for _, m := range Absences(c.read, result.AbsentNotRun) {
			names = append(names, m.Metric)
			if m.Absent != result.AbsentNotRun || !math.IsNaN(m.Value) {
				t.Errorf("%s: %v %q", m.Metric, m.Value, m.Absent)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("Absences(%+v) = %s, want %s", c.read, got, c.want)
		}
	}
}

// sound is what holds for every reading of any bytes: a value is finite exactly
// when it is not absent, and warnings are safe to print.
func sound(t *testing.T, r Reading) {
	t.Helper()
	for _, m := range r.Measurements {
		finite := !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0)
		if finite != (m.Absent == "") {
			t.Errorf("%s: %v with reason %q", m.Metric, m.Value, m.Absent)
		}
		if m.Def.Unit == "" || m.Def.Class == "" {
			t.Errorf("%s: definition %+v", m.Metric, m.Def)
		}
	}
	for _, w := range r.Warnings {
		if strings.ContainsFunc(w, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("a warning that is not safe to print: %q", w)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\rb\n", "\x1b[32mx\x1b[0m", "\x1b]0;t\x07", "\x1b]0;t\x1b\\", "\x1b[", "\x1b\x1b[m[m"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		got := Clean(raw)
		if !bytes.Equal(raw, before) {
			t.Error("the input was changed")
		}
		if len(got) > len(raw) || bytes.IndexByte(got, '\r') >= 0 {
			t.Errorf("Clean(%q) = %q", raw, got)
		}
		if bytes.Count(got, []byte{'\n'}) != bytes.Count(raw, []byte{'\n'}) {
			t.Errorf("Clean(%q) = %q: lines were lost", raw, got)
		}
		if !bytes.ContainsAny(raw, "\r\x1b") && !bytes.Equal(got, raw) {
			t.Errorf("plain %q became %q", raw, got)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add("rate 12.5\nrate nan\n", 2.0)
	f.Add("rate 1e308\nrate 1e308\n", 0.0)
	f.Add("\x1b[1mrate\x1b[0m 3", -1.0)
	f.Fuzz(func(t *testing.T, text string, wall float64) {
		for _, statistic := range []string{"", "mean", "sum", "last"} {
			got, err := Pattern(plan.Read{Metric: "rate", Pattern: `rate (\S+)`, Statistic: statistic}, []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			sound(t, got)
		}
		got, err := Count(plan.Read{Metric: "n", Count: `rate`}, []byte(text), wall)
		if err != nil {
			t.Fatal(err)
		}
		sound(t, got)
	})
}

func FuzzSamples(f *testing.F) {
	for _, s := range []string{"", "1\n2\n", "# c\n\n-5e3\r\n", "nan", "1e308\n1e308\n-1e308", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Samples(plan.Read{Metric: "t"}, strings.NewReader(text))
		if err != nil {
			return
		}
		sound(t, got)
		last := math.Inf(-1)
		for _, s := range []string{"_min", "_p50", "_p90", "_p95", "_p99", "_p999", "_max"} { // V45
			m, _ := find(got, "t"+s, "")
			if m.Absent == "" && m.Value < last {
				t.Errorf("t%s = %v is below the one before, %v", s, m.Value, last)
			} else if m.Absent == "" {
				last = m.Value
			}
		}
	})
}
