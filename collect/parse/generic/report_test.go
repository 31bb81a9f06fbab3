package generic

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

// documented is the example of the package's documentation.
func documented(t testing.TB) string {
	t.Helper()
	raw, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(raw)) {
		if code, ok := strings.CutPrefix(line, "//\t"); ok {
			b.WriteString(code)
		}
	}
	return b.String()
}

func TestReport(t *testing.T) {
	got, err := Report([]byte(documented(t)), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		metric, part string
		value        float64
		unit         string
		class        result.Class
	}{
		{"decode_rate", "", 12.5, "tok/s", result.Noisy},
		{"latency_min", "", 0.0051, "s", result.Noisy},
		{"latency_p50", "", 0.0057, "s", result.Tail},
		{"time_to_first_byte", "", 0.002, "s", result.Noisy},
		{"attempts", "", 200, "1", result.Noisy},
		{"error_count", "", 3, "1", result.Level},
		{"error_rate", "", 0.015, "1", result.Level},
		{"throughput", "", 160, "1/s", result.Noisy},
		{"protocol_stalls", "flow", 2, "1", result.Level},
		{"protocol_stalls", "write", 1, "1", result.Level},
		{"protocol_stalls", "", 3, "1", result.Level},
		{"reconnects", "", 4, "1", result.Level},
		{"check", "no_corruption", 1, "1", result.Exact},
	} {
		m, ok := find(got, want.metric, want.part)
		if !ok || m.Absent != "" || math.Abs(m.Value-want.value) > 1e-12 || m.Def.Unit != want.unit || m.Def.Class != want.class {
			t.Errorf("%s %s = %+v (found %v), want %v %s %s", want.metric, want.part, m, ok, want.value, want.unit, want.class)
		}
	}
	if m, _ := find(got, "latency_p95", ""); m.Absent != result.AbsentInsufficient {
		t.Errorf("latency_p95 of three samples: %+v (V45)", m)
	}
	if _, ok := find(got, "handshake_time", ""); ok {
		t.Error("handshake_time was never given")
	}
	if len(got.Warnings) > 0 {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestReportAbsent(t *testing.T) {
	for _, c := range []struct {
		name, text, metric, absent, warned string
	}{
		{"nan (C40)", "{\"metrics\":{\n\"a\":{\"value\":-nan}}}", "a", "not_finite", `metrics.a.value (line 2) is "-nan"`},
		{"Infinity", `{"metrics":{"a":{"value":-Infinity}}}`, "a", "not_finite", `"-Infinity"`},
		{"payload", `{"metrics":{"a":{"value":nan(ind)}}}`, "a", "not_finite", `"nan(ind)"`},
		{"null", `{"metrics":{"a":{"value":null}}}`, "a", "not_finite", `"null"`},
		{"empty", `{"metrics":{"a":{"value":}}}`, "a", "not_finite", `"empty"`},
		{"too large", `{"metrics":{"a":{"value":1e999}}}`, "a", "not_finite", `"1e999"`},
		{"a bad sample", `{"metrics":{"latency":{"samples":[1,NaN,3]}}}`, "latency_p50", "not_finite", "metrics.latency.samples"},
		{"a bad sample of a median", `{"metrics":{"handshake_time":{"samples":[1,NaN]}}}`, "handshake_time", "not_finite", "metrics.handshake_time.samples"},
		{"no samples (C39)", `{"metrics":{"latency":{"samples":[]}}}`, "latency_p50", "not_reported", ""},
		{"other unit (V43)", `{"metrics":{"latency":{"samples":[1],"unit":"KiB"}}}`, "latency_p50", "unit_mismatch", `"KiB"`},
		{"no attempts", `{"attempts":0,"errors":0}`, "error_rate", "not_reported", ""},
		{"attempts not given", `{"errors":0}`, "error_rate", "not_reported", ""},
		{"attempts are nan", `{"attempts":nan,"errors":0}`, "error_rate", "not_finite", "attempts (line 1)"},
		{"more errors than attempts", `{"attempts":2,"errors":3}`, "error_rate", "unreadable", "3 of 2"},
		{"no duration", `{"units":4}`, "throughput", "not_reported", ""},
		{"no time", `{"units":4,"duration":0}`, "throughput", "too_short", ""},
		{"no units", `{"duration":3}`, "throughput", "not_reported", ""},
		{"a kind is nan", `{"counts":{"stalls":{"a":1,"b":nan}}}`, "stalls", "not_finite", "counts.stalls.b"},
		{"no check (C39)", `{"checks":{}}`, "check", "not_reported", "no check ran"},
	} {
		got, err := Report([]byte(c.text), 2)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		m, ok := find(got, c.metric, "")
		if !ok || m.Absent != c.absent {
			t.Errorf("%s: %s is %v %q (found %v), want %q", c.name, c.metric, m.Value, m.Absent, ok, c.absent)
		}
		if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, c.warned) || (c.warned == "") != (all == "") {
			t.Errorf("%s: warnings %q, want %q", c.name, all, c.warned)
		}
		sound(t, got)
	}
}

// One value that is not finite costs its own metric and no other (C40).
func TestReportReadsTheRest(t *testing.T) {
	got, err := Report([]byte(`{"metrics":{"a":{"value":-nan},"b":{"value":3}},"future":[{"x":1}],"attempts":2}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := find(got, "b", ""); m.Value != 3 {
		t.Errorf("b = %+v, want 3", m)
	}
	if m, _ := find(got, "attempts", ""); m.Value != 2 {
		t.Errorf("attempts = %+v, want 2", m)
	}
	if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, `key "future" is not known`) {
		t.Errorf("warnings %q", all)
	}
}

func TestReportStatistic(t *testing.T) {
	for statistic, want := range map[string]float64{"median": 2, "mean": 4, "min": 1, "max": 9, "sum": 12, "last": 2} {
		got, err := Report([]byte(`{"metrics":{"q":{"samples":[1,9,2],"statistic":"`+statistic+`"}}}`), 0)
		if m, _ := find(got, "q", ""); err != nil || m.Value != want || len(got.Measurements) != 1 {
			t.Errorf("%s = %+v %v, want %v alone", statistic, got.Measurements, err, want)
		}
	}
}

func TestReportThroughputFromAttempts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		per, want  float64
	}{
		{"units", `{"units":10,"attempts":3,"duration":2}`, 7, 5},
		{"units per run x attempts", `{"attempts":3,"duration":2}`, 7, 10.5},
		{"attempts from samples", `{"metrics":{"latency":{"samples":[1,2,3,4]}},"duration":2}`, 3, 6},
	} {
		got, err := Report([]byte(c.text), c.per)
		if m, _ := find(got, "throughput", ""); err != nil || m.Value != c.want {
			t.Errorf("%s: %+v %v, want %v", c.name, m, err, c.want)
		}
	}
	got, err := Report([]byte(`{"attempts":3,"duration":2}`), 0)
	if _, ok := find(got, "throughput", ""); err != nil || ok {
		t.Errorf("a duration without units: %v %v, want no throughput", got, err)
	}
}

func TestReportErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", ``, "byte 0: the document: end of text, want an object"},
		{"array", `[]`, "byte 0: the document"},
		{"torn", `{"metrics":{"a":{"value":1`, "byte 26"},
		{"torn string", `{"met`, "byte 1: a key of the document: the string does not end"},
		{"after the end", `{} {}`, "byte 3"},
		{"twice", `{"attempts":1,"attempts":2}`, `byte 14: the document: key "attempts" is given twice`},
		{"twice in metrics", `{"metrics":{"a":{"value":1},"a":{"value":2}}}`, `byte 28: metrics: key "a" is given twice`},
		{"twice by percentiles", `{"metrics":{"a":{"samples":[1]},"a_p50":{"value":2}}}`, "metric a_p50 is given twice"},
		{"text for a number", `{"attempts":"7"}`, `byte 12: attempts: "\"7\"", want a number`},
		{"a word for a number", `{"attempts":many}`, `byte 12: attempts: "many", want a number`},
		{"number for a metric", `{"metrics":{"a":3}}`, "byte 16: metrics.a"},
		{"number for a check", `{"checks":{"a":1}}`, `byte 15: checks.a: "1", want true or false`},
		{"negative", `{"errors":-1}`, "byte 10: errors: -1 is negative"},
		{"half an attempt", `{"attempts":1.5}`, "byte 12: attempts: 1.5 is not a whole number"},
		{"neither", `{"metrics":{"a":{"unit":"s"}}}`, "metrics.a: give value or samples"},
		{"both", `{"metrics":{"a":{"value":1,"samples":[1]}}}`, "metrics.a: give value or samples"},
		{"name", `{"metrics":{"A b":{"value":1}}}`, `metrics."A b"`},
		{"reserved", `{"metrics":{"wall_time":{"value":1}}}`, "perfweir measures wall_time itself"},
		{"better", `{"metrics":{"a":{"value":1,"better":"up"}}}`, `byte 36: metrics.a.better: "up" is none of`},
		{"deep", `{"x":` + strings.Repeat("[", 100), "nested deeper"},
		{"escape", `{"\q":1}`, "byte 1"},
		{"comma", `{"attempts":1,}`, "byte 14"},
	} {
		_, err := Report([]byte(c.text), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestChecks(t *testing.T) {
	got, err := Checks([]byte(`{"no corruption": true, "order": false}`))
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]float64{"no corruption": 1, "order": 0} {
		if m, ok := find(got, "check", part); !ok || m.Value != want || m.Absent != "" {
			t.Errorf("%s = %+v, want %v", part, m, want)
		}
	}
	for text, want := range map[string]string{
		`{"a": 1}`: "byte 6", `{"a": null}`: "byte 6", `{"a":true,"a":false}`: "given twice", `{"":true}`: "no name", `x`: "byte 0", `{"a":true}x`: "byte 10",
	} {
		if _, err := Checks([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Checks(%s) = %v, want %q", text, err, want)
		}
	}
}

func TestTooManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range maxMembers + 1 {
		b.WriteString(`,"k` + strings.Repeat("x", i%200) + string(rune('a'+i%26)) + strings.Repeat("y", i/5200) + strings.Repeat("z", i/200%26) + `":true`)
	}
	if _, err := Checks([]byte("{" + b.String()[1:] + "}")); err == nil {
		t.Error("no bound on the names of an object")
	}
}

func FuzzReport(f *testing.F) {
	f.Add([]byte(documented(f)))
	for _, s := range []string{`{}`, `{"metrics":{"a":{"value":-nan}}}`, `{"x":[[],{},"",null,1]}`, `{"checks":{"a":true}}`, `{"attempts":,"errors":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Report(raw, 2)
		if err == nil {
			sound(t, got)
		}
		if got, err := Checks(raw); err == nil {
			sound(t, got)
		}
	})
}
