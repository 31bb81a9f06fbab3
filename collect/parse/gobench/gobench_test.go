package gobench

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/result"
)

// find returns the measurement of a metric and part.
func find(got generic.Reading, metric, part string) (generic.Measurement, bool) {
	i := slices.IndexFunc(got.Measurements, func(m generic.Measurement) bool { return m.Metric == metric && m.Part == part })
	if i < 0 {
		return generic.Measurement{}, false
	}
	return got.Measurements[i], true
}

func value(t *testing.T, got generic.Reading, metric, part string, want float64) {
	t.Helper()
	m, ok := find(got, metric, part)
	if !ok || m.Absent != "" || math.Abs(m.Value-want) > 1e-12*math.Abs(want) {
		t.Errorf("%s of %s = %v %q (found %v), want %v", metric, part, m.Value, m.Absent, ok, want)
	}
}

func absent(t *testing.T, got generic.Reading, metric, part, reason string) {
	t.Helper()
	m, ok := find(got, metric, part)
	if !ok || m.Absent != reason || !math.IsNaN(m.Value) {
		t.Errorf("%s of %s = %v %q (found %v), want it absent: %s", metric, part, m.Value, m.Absent, ok, reason)
	}
}

func warned(t *testing.T, got generic.Reading, text string) {
	t.Helper()
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, text) {
		t.Errorf("warnings %q, want %q", all, text)
	}
}

// same compares measurements, NaN with NaN.
func same(a, b generic.Measurement) bool {
	if math.IsNaN(a.Value) && math.IsNaN(b.Value) {
		a.Value, b.Value = 0, 0
	}
	return a == b
}

func byName(a, b generic.Measurement) int {
	return cmp.Or(strings.Compare(a.Part, b.Part), strings.Compare(a.Metric, b.Metric))
}

func TestTwoPackagesOneName(t *testing.T) { // C01
	got := read(t, []byte("pkg: a/x\nBenchmarkGet-8 100 10 ns/op\npkg: a/y\nBenchmarkGet-8 100 900 ns/op\n"))
	value(t, got, "time_per_op", "a/x/BenchmarkGet-8", 10e-9)
	value(t, got, "time_per_op", "a/y/BenchmarkGet-8", 900e-9)
	if len(got.Measurements) != 2 || len(got.Warnings) > 0 {
		t.Errorf("got %+v", got)
	}
}

// A package that does not say its name gets no other one's.
func TestPackageEnds(t *testing.T) {
	got := read(t, []byte("pkg: a/x\nBenchmarkA 1 10 ns/op\nPASS\nok  \ta/x\t1.2s\nBenchmarkA 1 20 ns/op\n"))
	value(t, got, "time_per_op", "a/x/BenchmarkA", 10e-9)
	value(t, got, "time_per_op", "BenchmarkA", 20e-9)
	got = read(t, []byte("pkg: a/x\nBenchmarkA 1 10 ns/op\nPASS\nok  \tb/y\t1.2s\nBenchmarkB 1 20 ns/op\n"))
	value(t, got, "time_per_op", "a/x/BenchmarkB", 20e-9)
}

func TestCount(t *testing.T) { // C03, and rule 8: one run whatever its lines
	got := read(t, []byte("BenchmarkA-4 1 10 ns/op\nBenchmarkB-4 1 5 ns/op\nBenchmarkA-4 1 30 ns/op\nBenchmarkA-4 1 11 ns/op\n"))
	value(t, got, "time_per_op", "BenchmarkA-4", 11e-9)
	value(t, got, "time_per_op", "BenchmarkB-4", 5e-9)
	if len(got.Measurements) != 2 {
		t.Errorf("%d measurements, want one a benchmark", len(got.Measurements))
	}
	warned(t, got, "within_process: 1 benchmark printed 3 lines each")
	warned(t, got, `the widest went from 10 to 30 ns/op ("BenchmarkA-4")`)
	got = read(t, []byte("BenchmarkA 1 1 ns/op\nBenchmarkA 1 1 ns/op\nBenchmarkB 1 1 ns/op\nBenchmarkB 1 1 ns/op\nBenchmarkB 1 1 ns/op\n"))
	warned(t, got, "2 benchmarks printed 2 to 3 lines each")
	if strings.Contains(got.Warnings[0], "widest") {
		t.Errorf("no line differs: %s", got.Warnings[0])
	}
}

func TestManyPairs(t *testing.T) { // C04
	got := read(t, []byte("BenchmarkR-2 1 8e9 ns/op 67.6 block_ms/ggas 43.3 mgas/s 23083 ms/ggas\n"))
	value(t, got, "time_per_op", "BenchmarkR-2", 8)
	value(t, got, "block_ms_per_ggas", "BenchmarkR-2", 67.6)
	value(t, got, "mgas_per_second", "BenchmarkR-2", 43.3)
	value(t, got, "ms_per_ggas", "BenchmarkR-2", 23.083)
	for metric, unit := range map[string]string{"block_ms_per_ggas": "block_ms/ggas", "mgas_per_second": "mgas/s", "ms_per_ggas": "s/ggas"} {
		if m, _ := find(got, metric, "BenchmarkR-2"); m.Def.Unit != unit {
			t.Errorf("%s is in %q, want %q", metric, m.Def.Unit, unit)
		}
	}
	if len(got.Measurements) != 4 || len(got.Warnings) > 0 {
		t.Errorf("got %+v", got)
	}
}

// A line that is not whole is named, gives no number, and leaves the others be.
func TestOddLines(t *testing.T) { // C04
	for text, why := range map[string]string{
		"BenchmarkA-2 1 8 ns/op 67.6":                    "missing units",
		"BenchmarkA-2 1 8 ns/op x 5 B/op":                "parsing measurement",
		"BenchmarkA-2 1":                                 "missing measurements",
		"BenchmarkA-2 0 8 ns/op":                         "it ran no iteration",
		"BenchmarkA-2 -3 8 ns/op":                        "it ran no iteration",
		"BenchmarkA-2 99999999999999999999 8 ns/op":      "parsing iteration count",
		"BenchmarkA-2 100 items processed":               "parsing measurement",
		"BenchmarkA-2 1 1e999 ns/op":                     "parsing measurement",
		"BenchmarkA-2 1 " + strings.Repeat("1 x ", 5000): "more than 16384 bytes",
	} {
		got := read(t, []byte("hello\n"+text+"\nBenchmarkB-2 1 7 ns/op\n"))
		absent(t, got, "time_per_op", "BenchmarkA-2", result.AbsentUnreadable)
		value(t, got, "time_per_op", "BenchmarkB-2", 7e-9)
		warned(t, got, "line 2: ")
		warned(t, got, why)
		warned(t, got, `"BenchmarkA-2 `)
	}
	// What the other lines of one benchmark say is only a part.
	got := read(t, []byte("BenchmarkA 1 8 ns/op 5 B/op\nBenchmarkA 1 8 ns/op 5\nBenchmarkA 1 9 ns/op 5 B/op\n"))
	absent(t, got, "time_per_op", "BenchmarkA", result.AbsentUnreadable)
	absent(t, got, "bytes_per_op", "BenchmarkA", result.AbsentUnreadable)
	// Of many, three are told.
	got = read(t, []byte(strings.Repeat("BenchmarkA 1 8\n", 9)))
	if len(got.Warnings) != 4 {
		t.Errorf("warnings %q", got.Warnings)
	}
	warned(t, got, "6 more lines are no results either")
}

func TestNames(t *testing.T) { // C05
	got := read(t, []byte("BenchmarkTick/n=1,m=2,x_2000-16   69483   16465 ns/op\nBenchmarkÄ/größe=1-2\t5\t3 ns/op\n"))
	value(t, got, "time_per_op", "BenchmarkTick/n=1,m=2,x_2000-16", 16465e-9)
	value(t, got, "time_per_op", "BenchmarkÄ/größe=1-2", 3e-9)
	for _, name := range []string{"BenchmarkA/\x00", "BenchmarkA/\xff", "BenchmarkA/\u202e", "BenchmarkA/" + strings.Repeat("x", 1000)} {
		got := read(t, []byte(name+" 1 3 ns/op\n"+name+" 1 4 ns/op\n"))
		if len(got.Measurements) > 0 {
			t.Errorf("%q: %+v", name, got.Measurements)
		}
		warned(t, got, "line 1: its name ")
	}
}

func TestNothing(t *testing.T) { // C05
	got := read(t, []byte("\n\n  hello \x1b[31mred\x1b[0m\nworld\r\nPASS\nok\n"))
	warned(t, got, `no result of a benchmark was found: it begins with "hello red", "world", "PASS"`)
	got = read(t, nil)
	warned(t, got, "the output is empty")
	if len(got.Measurements) > 0 || got.Failed {
		t.Errorf("got %+v", got)
	}
}

func TestColours(t *testing.T) { // C43
	got := read(t, []byte("\x1b[32mBenchmarkA-2\x1b[0m\t 100\t\x1b[1m 12\x1b[0m ns/op\r\n 10%\r 50%\rBenchmarkB 1 2 ns/op\n"))
	value(t, got, "time_per_op", "BenchmarkA-2", 12e-9)
	value(t, got, "time_per_op", "BenchmarkB", 2e-9)
}

func TestPanic(t *testing.T) { // C45
	const text = "pkg: x\nBenchmarkA-2 5 1 ns/op\n%s\n\ngoroutine 1 [running]:\nmain.f()\n\t/src/f.go:1 +0x1\nexit status 2\nFAIL\tx\t1800.003s\n"
	for line, why := range map[string]string{
		"panic: test timed out after 30m":                         "panic: test timed out after 30m",
		"BenchmarkB-2 \tpanic: runtime error: index out of range": "panic: runtime error: index out of range",
		"fatal error: all goroutines are asleep - deadlock!":      "fatal error: all goroutines are asleep - deadlock!",
		"signal: killed": "signal: killed",
	} {
		got := read(t, fmt.Appendf(nil, text, line))
		value(t, got, "time_per_op", "x/BenchmarkA-2", 1e-9)
		if !got.Failed || got.Why != `"`+why+`"` {
			t.Errorf("%q: failed %v, why %s", line, got.Failed, got.Why)
		}
	}
	// A panic that somebody recovered from and printed is no failure.
	if got := read(t, []byte("panic: recovered\nBenchmarkA 1 1 ns/op\nPASS\n")); got.Failed {
		t.Error("a printed panic failed the run")
	}
	// Nor is a program's own line that begins with FAIL.
	if got := read(t, []byte("FAIL to connect, retrying\nBenchmarkA 1 1 ns/op\nPASS\n")); got.Failed {
		t.Error("a printed FAIL failed the run")
	}
}

// A name without its result is absent, never 0.
func TestBegun(t *testing.T) {
	got := read(t, []byte("pkg: x\nBenchmarkA-2   \thello\n  100\t 12 ns/op\nBenchmarkB-2 \t\nBenchmarkC\nBenchmark results: 5\nBenchmarks are fun\tor not\nBenchmarkD is next\n"))
	absent(t, got, "time_per_op", "x/BenchmarkA-2", result.AbsentNotReported)
	absent(t, got, "time_per_op", "x/BenchmarkB-2", result.AbsentNotReported)
	if len(got.Measurements) != 2 {
		t.Errorf("got %+v", got.Measurements)
	}
	warned(t, got, `"x/BenchmarkA-2", "x/BenchmarkB-2"`)
}

func TestNotFinite(t *testing.T) { // C40
	for _, v := range []string{"NaN", "nan", "Inf", "+Inf", "-inf", "infinity"} {
		got := read(t, []byte("BenchmarkA 1 5 ns/op "+v+" x/s\nBenchmarkA 1 5 ns/op 3 x/s\n"))
		absent(t, got, "x_per_second", "BenchmarkA", result.AbsentNotFinite)
		value(t, got, "time_per_op", "BenchmarkA", 5e-9)
		warned(t, got, `not a finite number: "x/s" of "BenchmarkA"`)
	}
}

func TestOneUnitTwice(t *testing.T) {
	got := read(t, []byte("BenchmarkA 1 5 ns/op 7 ns/op 3 x\n"))
	absent(t, got, "time_per_op", "BenchmarkA", result.AbsentDuplicateName)
	value(t, got, "x", "BenchmarkA", 3)
}

// A unit that some lines lack has the median of the others.
func TestUnitOfSomeLines(t *testing.T) {
	got := read(t, []byte("BenchmarkA 1 5 ns/op\nBenchmarkA 1 7 ns/op 4 x\n"))
	value(t, got, "time_per_op", "BenchmarkA", 6e-9)
	value(t, got, "x", "BenchmarkA", 4)
}

func TestMetadata(t *testing.T) {
	got := read(t, []byte("Unit frames/s better=higher\nUnit text-bytes assume=exact better=lower\nUnit odd better=sideways\nUnit tests passed\nUnit tests a=b =c\n"+
		"BenchmarkA 1 5 frames/s 6 text-bytes 7 odd 8 other\n"))
	for metric, def := range map[string]result.Metric{
		"frames_per_second": {Unit: "frames/s", Better: result.Higher, Class: result.Noisy, Source: source},
		"text_bytes":        {Unit: "text-bytes", Better: result.Lower, Class: result.Exact, Source: source},
		"odd":               {Unit: "odd", Class: result.Noisy, Source: source},
		"other":             {Unit: "other", Class: result.Noisy, Source: source},
	} {
		if m, _ := find(got, metric, "BenchmarkA"); m.Def != def {
			t.Errorf("%s is %+v, want %+v", metric, m.Def, def)
		}
	}
	if len(got.Warnings) > 0 {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestTooMany(t *testing.T) {
	if _, err := Read([]byte(strings.Repeat("BenchmarkA 1 1 ns/op\n", maxResults+1))); err == nil {
		t.Error("any number of lines is read")
	}
	var text strings.Builder
	for i := range maxUnits + 1 {
		fmt.Fprintf(&text, "BenchmarkA 1 1 u%d\n", i)
	}
	if _, err := Read([]byte(text.String())); err == nil {
		t.Error("any number of units is read")
	}
}

func TestEventsBetweenOneAnother(t *testing.T) {
	got := read(t, []byte(`{"Action":"start","Package":"a"}
{"Action":"output","Package":"a","Output":"pkg: a\nBenchmarkA-2  \t"}
{"Action":"output","Package":"b","Output":"pkg: b\nBenchmarkA-2  \t"}
# what a compiler says
{"Action":"output","Package":"a","Output":" 5\t 3 ns/op\n"}
{"Action":"output","Package":"b","Test":"BenchmarkA","Output":" 5\t 4 ns/op"}
{"Action":"output","Package":"c","Output":"pkg: c\nBenchmarkA-2 1 9 ns/op\n"}
{"Action":"outp
`))
	value(t, got, "time_per_op", "a/BenchmarkA-2", 3e-9)
	value(t, got, "time_per_op", "b/BenchmarkA-2", 4e-9)
	value(t, got, "time_per_op", "c/BenchmarkA-2", 9e-9)
}

func TestNameOf(t *testing.T) {
	for printed, want := range map[string]string{
		"block_ms/ggas": "block_ms_per_ggas", "mgas/s": "mgas_per_second", "req/sec": "req_per_second", "auxMetricUnits": "aux_metric_units",
		"text-bytes": "text_bytes", "p99-ns/op": "p99_ns_per_op", "ns*GHz/op": "ns_ghz_per_op", "MiB/frame": "mib_per_frame", "kWh": "kwh",
		"%": "percent", "hit%": "hit_percent", "%hit": "percent_hit", "µs/frame": "us_per_frame", "2xx": "unit_2xx", "a/b/c": "a_per_b_c",
		"throughput": "go_throughput", "time_per_op": "go_time_per_op", "wall_time": "go_wall_time", "/s": "per_second", "X": "x", "_a__b_": "a_b",
		"größe": "gr_e_cd38f49a", "кадры": "unit_802f1716", "!": "unit_240c8dec",
	} {
		if got := nameOf(printed); got != want {
			t.Errorf("nameOf(%q) = %q, want %q", printed, got, want)
		}
	}
}

// What a metric of one's own is stored in, and which of its directions is better.
func TestMetricOf(t *testing.T) {
	for printed, want := range map[string]struct {
		unit, better string
		ten          float64 // what 10 of it are
	}{
		"ms/frame": {"s/frame", result.Lower, 0.01}, "us": {"s", result.Lower, 10e-6}, "KiB/frame": {"B/frame", "", 10240},
		"GB/s": {"B/s", result.Higher, 10e9}, "%": {"1", "", 0.1}, "min": {"1", "", 10}, "d": {"1", "", 10}, "hit%": {"hit%", "", 10},
		"req/s": {"req/s", "", 10}, "req/min": {"req/s", "", 10.0 / 60}, "mJ/op": {"J/op", result.Lower, 0.01}, "p99-ns": {"p99-ns", "", 10},
	} {
		m := metricOf(printed, nil)
		if got := m.value(10); m.def.Unit != want.unit || m.def.Better != want.better || math.Abs(got-want.ten) > 1e-12*want.ten {
			t.Errorf("10 %s are %v %s, better %q, want %v %s, better %q", printed, got, m.def.Unit, m.def.Better, want.ten, want.unit, want.better)
		}
	}
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// Whatever the text is, reading ends, and says only what can be written down.
func FuzzRead(f *testing.F) {
	names := []string{"gab-go_output.txt", "gjr-036-benchfail.txt", "gjr-109-bench.gojson.txt", "go1.26-fails.txt", "go1.26-good.txt", "benchstat-units.txt"}
	for _, name := range names {
		f.Add(file(f, name))
	}
	f.Add([]byte("Unit x/% better=higher\npkg: \xff\nBenchmark\xff 1 5 \x00/s 7 µs\nBenchmarkA 1 NaN /"))
	builtin := result.Catalogue()
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Read(raw)
		if err != nil {
			return
		}
		again, _ := Read(slices.Clone(raw))
		if !slices.EqualFunc(got.Measurements, again.Measurements, same) || !slices.Equal(got.Warnings, again.Warnings) {
			t.Error("two readings differ")
		}
		for _, m := range got.Measurements {
			if math.IsNaN(m.Value) != (m.Absent != "") || math.IsInf(m.Value, 0) {
				t.Errorf("%s is %v and absent because of %q", m.Metric, m.Value, m.Absent)
			}
			if !snakeCase.MatchString(m.Metric) || len(m.Metric) > 100 {
				t.Errorf("%q is no name of a metric", m.Metric)
			}
			if def, ok := builtin[m.Metric]; ok && (def.Unit != m.Def.Unit || def.Per != m.Def.Per) {
				t.Errorf("%s is in %s here", m.Metric, m.Def.Unit)
			}
			for _, s := range []string{m.Part, m.Def.Unit} {
				if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) || s == "" {
					t.Errorf("%q cannot be written down", s)
				}
			}
		}
		for _, text := range append(slices.Clone(got.Warnings), got.Why) {
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) || len(text) > 2000 {
				t.Errorf("%q is no clean line", text)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	raw := file(b, "benchfmt-suffixarray.bench")
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := Read(raw); err != nil {
			b.Fatal(err)
		}
	}
}
