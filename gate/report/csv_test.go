package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
)

func readCSV(t *testing.T, src []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(src)).ReadAll()
	if err != nil {
		t.Fatal(err) // also when rows differ in their number of fields
	}
	if lines := bytes.Count(src, []byte("\n")); lines != len(rows) {
		t.Errorf("%d rows on %d lines", len(rows), lines)
	}
	return rows
}

func column(t *testing.T, rows [][]string, name string) int {
	t.Helper()
	for i, s := range rows[0] {
		if s == name {
			return i
		}
	}
	t.Fatalf("no column %q", name)
	return 0
}

func TestFindingsCSV(t *testing.T) {
	for name, v := range documents() {
		rows := readCSV(t, render(t, format{"findings.csv", FindingsCSV, Options{}}, v))
		if len(rows) != len(v.Findings)+1 {
			t.Errorf("%s: %d rows, want %d", name, len(rows), len(v.Findings)+1)
		}
	}
	v := failing()
	rows := readCSV(t, render(t, format{"findings.csv", FindingsCSV, Options{}}, v))
	ratio := column(t, rows, "ratio")
	for i, f := range v.Findings {
		got := rows[i+1]
		if f.Comparison == nil {
			if got[ratio] != "" {
				t.Errorf("row %d: ratio %q of an absolute budget", i, got[ratio])
			}
			continue
		}
		if r, err := strconv.ParseFloat(got[ratio], 64); err != nil || r != *v.Comparisons[*f.Comparison].Ratio {
			t.Errorf("row %d: ratio %q, want %v exactly", i, got[ratio], *v.Comparisons[*f.Comparison].Ratio)
		}
	}
}

// The same name is a formula in a spreadsheet and text in ours; a negative
// number stays a number.
func TestCSVFields(t *testing.T) {
	for in, want := range map[string]string{
		"plain":               "plain",
		"":                    "",
		"=1+1":                "'=1+1",
		"+1":                  "'+1",
		"-1":                  "'-1",
		"@SUM(A1)":            "'@SUM(A1)",
		"\t=1":                `\t=1`,
		"\r=1":                `\r=1`,
		"＝1":                  "'＝1",
		`=HYPERLINK("x","y")`: `"'=HYPERLINK(""x"",""y"")"`,
		"a,b":                 `"a,b"`,
		`say "x"`:             `"say ""x"""`,
		"two\nlines":          `two\nlines`,
		"\x1b[31m\x00":        `\x1b[31m\x00`,
		" space ":             `" space "`,
		"a=b":                 "a=b",
	} {
		if got := string(appendText(nil, in)); got != want {
			t.Errorf("appendText(%q) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[float64]string{
		0: "0", -1.5: "-1.5", 1e6: "1000000", 0.1: "0.1", 1e-9: "1e-09", 1e21: "1e+21", 123456789.25: "123456789.25",
		math.MaxFloat64: "1.7976931348623157e+308", math.Inf(1): "", math.Inf(-1): "",
	} {
		if got := string(appendNumber(nil, in)); got != want {
			t.Errorf("appendNumber(%v) = %s, want %s", in, got, want)
		}
	}
	if got := string(appendNumber(nil, math.NaN())); got != "" {
		t.Errorf("appendNumber(NaN) = %s, want nothing", got)
	}
}

func FuzzCSVText(f *testing.F) {
	for _, s := range []string{nasty, "=", "'", `"`, ",", "\n", "\r\n", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := append(appendText(append(appendText(nil, s), ','), s), '\n')
		rows := readCSV(t, append([]byte("a,b\n"), line...))
		want := visible(s)
		for _, got := range rows[1] {
			if strings.TrimPrefix(got, "'") != strings.TrimPrefix(want, "'") {
				t.Errorf("%q reads back as %q", s, got)
			}
			if got != "" && strings.ContainsRune("=+-@\t\r", rune(got[0])) {
				t.Errorf("%q begins a formula", got)
			}
		}
	})
}

// measured is a document with a warm-up, a crash, an invalid run, a second
// attempt, a phase with a bound, and a cell that has no columns.
func measured() *result.Document {
	nan := math.NaN()
	no := false
	return &result.Document{
		Header: result.Header{
			Sessions: []result.Session{{ID: "01KB6Z0M8V5T3C2Q4R7N9D1EFG"}},
			Metrics: map[string]result.Metric{
				"wall_time":        {Unit: "s", Better: result.Lower, Class: result.Noisy},
				"energy_per_token": {Unit: "J", Per: "token", Better: result.Lower, Class: result.Noisy},
			},
		},
		Cells: []result.Cell{{
			Name: "encode/b2/=a,b.bin", Benchmark: "encode", Variant: "b2", Input: "=a,b.bin", Build: "head", Planned: 3,
			Runs: result.Runs{
				Repeat: []int{0, 1, 2, 2, 3}, Attempt: []int{1, 1, 1, 2, 1}, Block: []int{0, 1, 2, 2, 3}, Slot: []int{0, 0, 1, 1, 0},
				Start:  []float64{0, 1.4, 2.9, 9.1, 10.25},
				Status: map[int]result.Status{2: result.Timeout},
				Detail: map[int]result.Detail{4: {Valid: &no}},
			},
			Columns: []result.Column{
				{Metric: "wall_time", V: result.Values{1.5, 1.21, nan, 1.19, 1.22}, Absent: map[int]string{2: "timeout"}},
				{Metric: "energy_per_token", Phase: "decode", Part: "gpu0", V: result.Values{0.4, 0.41, nan, nan, math.Inf(1)},
					Bound: result.Values{0.01, 0.01, nan, nan, 0.01}, Absent: map[int]string{2: "timeout"}},
			},
		}, {
			Name: "serve", Benchmark: "serve", Build: "head", Planned: 1,
			Runs: result.Runs{Repeat: []int{1}, Block: []int{1}, Slot: []int{1}, Start: []float64{20},
				Status: map[int]result.Status{0: result.SpawnError}},
		}},
	}
}

func TestMeasurementsCSV(t *testing.T) {
	var b bytes.Buffer
	if err := MeasurementsCSV(&b, measured()); err != nil {
		t.Fatal(err)
	}
	golden(t, "measurements.csv", b.Bytes())
	rows := readCSV(t, b.Bytes())
	var got [][]string
	for _, name := range []string{"repeat", "attempt", "warmup", "status", "valid", "metric", "value", "bound", "absent"} {
		at := column(t, rows, name)
		var values []string
		for _, r := range rows[1:] {
			values = append(values, r[at])
		}
		got = append(got, values)
	}
	want := [][]string{
		{"0", "0", "1", "1", "2", "2", "2", "2", "3", "3", "1"},
		{"1", "1", "1", "1", "1", "1", "2", "2", "1", "1", "1"},
		{"true", "true", "false", "false", "false", "false", "false", "false", "false", "false", "false"},
		{"success", "success", "success", "success", "timeout", "timeout", "success", "success", "success", "success", "spawn_error"},
		{"true", "true", "true", "true", "true", "true", "true", "true", "false", "false", "true"},
		{"wall_time", "energy_per_token", "wall_time", "energy_per_token", "wall_time", "energy_per_token",
			"wall_time", "energy_per_token", "wall_time", "energy_per_token", ""},
		{"1.5", "0.4", "1.21", "0.41", "", "", "1.19", "", "1.22", "", ""},
		{"", "0.01", "", "0.01", "", "", "", "", "", "0.01", ""},
		{"", "", "", "", "timeout", "timeout", "", "unknown", "", "not_finite", "not_run"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A writer that fails is an error that names the file.
func TestCSVWriteError(t *testing.T) {
	err := MeasurementsCSV(brokenWriter{}, measured())
	if err == nil || !strings.Contains(err.Error(), "write measurements.csv") {
		t.Errorf("error %v", err)
	}
	for _, f := range formats() {
		if err := f.render(brokenWriter{}, failing(), f.opts); err == nil {
			t.Errorf("%s: no error", f.name)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func BenchmarkMeasurementsCSV(b *testing.B) {
	doc := &result.Document{Header: result.Header{Sessions: []result.Session{{ID: "01KB6Z0M8V5T3C2Q4R7N9D1EFG"}},
		Metrics: result.Catalogue()}}
	for range 5000 {
		c := result.Cell{Name: "encode/b2/corpus/file.bin", Benchmark: "encode", Variant: "b2", Input: "corpus/file.bin", Build: "head"}
		for r := range 20 {
			c.Runs.Repeat = append(c.Runs.Repeat, r+1)
			c.Runs.Block = append(c.Runs.Block, r)
			c.Runs.Slot = append(c.Runs.Slot, 0)
			c.Runs.Start = append(c.Runs.Start, float64(r)*1.37)
		}
		for _, m := range result.BuiltinNames()[:10] {
			col := result.Column{Metric: m}
			for r := range 20 {
				col.V = append(col.V, 0.8123456789+float64(r)/977)
			}
			c.Columns = append(c.Columns, col)
		}
		doc.Cells = append(doc.Cells, c)
	}
	b.ReportMetric(1e6, "values/op")
	for b.Loop() {
		if err := MeasurementsCSV(discard{}, doc); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkReports(b *testing.B) {
	v := large(5000, 10)
	for _, f := range formats() {
		b.Run(f.name, func(b *testing.B) {
			for b.Loop() {
				if err := f.render(discard{}, v, f.opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
