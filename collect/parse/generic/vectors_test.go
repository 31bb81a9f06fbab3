package generic

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// vector is one file of testdata/measurement, in the names it was given in.
type vector struct {
	Given struct {
		Measurement struct {
			Samples     []float64          `json:"samples_ms"`
			Attempts    *float64           `json:"total_attempts"`
			Units       *float64           `json:"total_units"`
			Duration    *float64           `json:"total_duration_seconds"`
			Errors      *float64           `json:"error_count"`
			CPU         *float64           `json:"cpu_seconds"`
			RSS         *float64           `json:"rss_kib"`
			Connections *float64           `json:"connections"`
			Streams     *float64           `json:"streams"`
			Rejections  *float64           `json:"scheduler_rejections"`
			Stalls      map[string]float64 `json:"protocol_stall_counts"`
			FirstByte   []float64          `json:"time_to_first_byte_samples_ms"`
			Handshake   []float64          `json:"handshake_latency_samples_ms"`
		} `json:"measurement"`
		UnitsPerIteration float64 `json:"units_per_iteration"`
	} `json:"given"`
	Expected map[string]any `json:"expected"`
}

// document writes the vector's input as a program would write it for us.
func (v *vector) document() map[string]any {
	m := v.Given.Measurement
	metrics := map[string]any{"latency": map[string]any{"samples": m.Samples, "unit": "ms"}}
	counts := map[string]any{}
	doc := map[string]any{"metrics": metrics, "counts": counts}
	give := func(to map[string]any, key string, n *float64) {
		if n != nil {
			to[key] = *n
		}
	}
	give(doc, "attempts", m.Attempts)
	give(doc, "units", m.Units)
	give(doc, "duration", m.Duration)
	give(doc, "errors", m.Errors)
	give(counts, "connections", m.Connections)
	give(counts, "streams", m.Streams)
	give(counts, "scheduler_rejections", m.Rejections)
	if m.Stalls != nil {
		counts["protocol_stalls"] = m.Stalls
	}
	if m.CPU != nil {
		metrics["server_cpu_time"] = map[string]any{"value": *m.CPU, "unit": "s"}
	}
	if m.RSS != nil {
		metrics["server_memory"] = map[string]any{"value": *m.RSS, "unit": "KiB"}
	}
	if m.FirstByte != nil {
		metrics["time_to_first_byte"] = map[string]any{"samples": m.FirstByte, "unit": "ms"}
	}
	if m.Handshake != nil {
		metrics["handshake_time"] = map[string]any{"samples": m.Handshake, "unit": "ms"}
	}
	return doc
}

// answer is where an expected number stands with us: the metric (and part), and
// what one of their unit is in ours.
type answer struct {
	metric string
	unit   float64
}

func answers() map[string]answer {
	return map[string]answer{
		"total_attempts":         {"attempts", 1},
		"throughput_ops_per_sec": {"throughput", 1},
		"p50_ms":                 {"latency_p50", 1e-3},
		"p95_ms":                 {"latency_p95", 1e-3},
		"p99_ms":                 {"latency_p99", 1e-3},
		"p99_9_ms":               {"latency_p999", 1e-3},
		"time_to_first_byte_ms":  {"time_to_first_byte", 1e-3},
		"handshake_latency_ms":   {"handshake_time", 1e-3},
		"error_count":            {"error_count", 1},
		"error_rate":             {"error_rate", 1},
		"cpu_seconds":            {"server_cpu_time", 1},
		"rss_kib":                {"server_memory", 1024},
		"connections":            {"connections", 1},
		"streams":                {"streams", 1},
		"scheduler_rejections":   {"scheduler_rejections", 1},
		"protocol_stalls":        {"protocol_stalls", 1},
	}
}

// difference names why ours has no number where the vector has one; empty: ours
// has to be equal. These are the only three.
func (v *vector) difference(key string) string {
	m := v.Given.Measurement
	never := "never given: absent, not 0"
	switch key {
	case "p95_ms", "p99_ms", "p99_9_ms":
		least := map[string]int{"p95_ms": 20, "p99_ms": 100, "p99_9_ms": 1000}[key]
		if n := len(m.Samples); n > 0 && n < least {
			return fmt.Sprintf("%d samples have no such tail: insufficient", n)
		}
		return unless(len(m.Samples) > 0, never)
	case "p50_ms":
		return unless(len(m.Samples) > 0, never)
	case "total_attempts":
		return unless(m.Attempts != nil || len(m.Samples) > 0, never)
	case "throughput_ops_per_sec":
		return unless(m.Duration != nil, never)
	case "time_to_first_byte_ms":
		return unless(m.FirstByte != nil, "first byte is not the median latency: absent")
	case "handshake_latency_ms":
		return unless(m.Handshake != nil, "a handshake is not the median latency: absent")
	case "error_count", "error_rate":
		return unless(m.Errors != nil, never)
	case "cpu_seconds":
		return unless(m.CPU != nil, never)
	case "rss_kib":
		return unless(m.RSS != nil, never)
	case "connections":
		return unless(m.Connections != nil, never)
	case "streams":
		return unless(m.Streams != nil, never)
	case "scheduler_rejections":
		return unless(m.Rejections != nil, never)
	case "protocol_stalls":
		return unless(m.Stalls != nil, never)
	}
	return ""
}

func unless(given bool, why string) string {
	if given {
		return ""
	}
	return why
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/measurement/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v vector
			if err := json.Unmarshal(raw, &v); err != nil {
				t.Fatal(err)
			}
			v.check(t)
		})
	}
}

func (v *vector) check(t *testing.T) {
	text, err := json.Marshal(v.document())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Report(text, v.Given.UnitsPerIteration)
	if err != nil {
		t.Fatal(err)
	}
	known := answers()
	for key, want := range v.Expected {
		number, ok := want.(float64)
		if a, mapped := known[key]; ok && mapped {
			v.compare(t, key, got, a, number*a.unit)
			continue
		}
		v.describe(t, key, got, want)
	}
	for kind, want := range v.Given.Measurement.Stalls {
		m, ok := find(got, "protocol_stalls", kind)
		if !ok || m.Value != want {
			t.Errorf("protocol_stalls of kind %s = %v (found %v), want %v", kind, m.Value, ok, want)
		}
	}
}

func (v *vector) compare(t *testing.T, key string, got Reading, a answer, want float64) {
	t.Helper()
	m, ok := find(got, a.metric, "")
	if why := v.difference(key); why != "" {
		if ok && m.Absent == "" {
			t.Errorf("%s = %v, want it absent: %s", key, m.Value, why)
		}
		t.Logf("%s: %s", key, why)
		return
	}
	if !ok || m.Absent != "" {
		t.Errorf("%s is absent (%s), want %v", key, m.Absent, want)
		return
	}
	if math.Abs(m.Value-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s = %v, want %v", key, m.Value, want)
	}
}

// describe covers the keys that are no measurement: what was given comes back, and
// words that belong to the suite file.
func (v *vector) describe(t *testing.T, key string, got Reading, want any) {
	t.Helper()
	m := v.Given.Measurement
	switch key {
	case "sample_count":
		if want.(float64) != float64(len(m.Samples)) {
			t.Errorf("%s = %v, want %d", key, want, len(m.Samples))
		}
	case "total_units":
		if m, ok := find(got, "attempts", ""); ok && want.(float64) != m.Value*v.Given.UnitsPerIteration {
			t.Errorf("%s = %v, want %v", key, m.Value*v.Given.UnitsPerIteration, want)
		}
	case "total_duration_seconds":
		if m.Duration != nil && want.(float64) != *m.Duration {
			t.Errorf("%s = %v, want %v", key, *m.Duration, want)
		}
	case "protocol_stall_counts", // compared by kind
		"profile_metadata", "lane", "certification_platforms", "live_listener_required": // labels of a suite
	default:
		t.Errorf("%s: nobody compares it", key)
	}
}

func find(r Reading, metric, part string) (Measurement, bool) {
	for _, m := range r.Measurements {
		if m.Metric == metric && m.Part == part {
			return m, true
		}
	}
	return Measurement{}, false
}
