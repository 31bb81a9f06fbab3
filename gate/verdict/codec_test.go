package verdict

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/gate/budget"
)

func ptr[T any](v T) *T { return &v }

// judged is a verdict with n findings.
func judged(n int) *Document {
	d := &Document{
		Schema: Schema, Outcome: Fail, ExitCode: 1, Reasons: []string{"1 of 2 budgets broken"},
		Policy:  Policy{FalseAlarms: 0.05, Family: n, Looks: []int{10}, MinSessions: 5},
		Suite:   Suite{Name: "codec", Path: "perfweir.yml"},
		Budgets: []budget.Budget{{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.05, Level: budget.Fail}},
		Cells:   []Cell{{Name: "encode/<b2>", Benchmark: "encode", Planned: 10, Seen: 10, Statuses: map[string]int{"success": 10}, CrashRate: ptr(0.0), Outcome: Fail}},
	}
	for i := range n {
		d.Comparisons = append(d.Comparisons, Comparison{
			ID: i, Metric: "wall_time", Against: "baseline", Design: Unpaired, N: [2]int{10, 50}, Current: 1.29, Reference: 1.2,
			Ratio: ptr(1.0750123), RatioInterval: &[2]float64{1.061, 1.0912345}, Shift: 0.09, ShiftInterval: &[2]float64{0.07, 0.11},
		})
		d.Findings = append(d.Findings, Finding{
			Comparison: ptr(i), Metric: "wall_time", Gated: true, Outcome: Fail, P: ptr(0.000312345678), PAdjusted: ptr(0.01223),
			Level: 0.0167, Bound: ptr(1.061), SmallestEffect: ptr(0.0213), Allowed: ptr(1.26),
			Message: "wall_time is 7.5 % above the baseline, 5 % is allowed",
		})
	}
	return d
}

func TestCodec(t *testing.T) {
	want := judged(3)
	want.Comparisons[1].Ratio = nil
	want.Findings[2].Comparison = nil
	var text bytes.Buffer
	if err := Encode(&text, want); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n"); n != 1+1+3+3+3 {
		t.Errorf("%d lines, want one for each cell, comparison and finding:\n%s", n, &text)
	}
	if !strings.Contains(text.String(), "encode/<b2>") || !strings.Contains(text.String(), `"sessions":[]`) {
		t.Errorf("escapes for HTML, or null for an empty list:\n%s", &text)
	}
	got, err := Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Findings, got.Findings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Comparisons, got.Comparisons); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want.Cells, got.Cells); diff != "" {
		t.Error(diff)
	}
}

// What was not yet there when a document was written is not there when it is read;
// and a verdict of one file alone has none of what two files need.
func TestLoosenedIsOptional(t *testing.T) {
	alone := judged(1)
	var text bytes.Buffer
	if err := Encode(&text, alone); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"loosened", "judged_by", `"commit"`, "head_line"} {
		if strings.Contains(text.String(), key) {
			t.Errorf("%s is written where there is none:\n%s", key, &text)
		}
	}
	old, err := Decode(&text)
	if err != nil || old.Loosened != nil || old.Counts.Loosened != 0 || old.Cells[0].JudgedBy != "" || old.Budgets[0].Source != (budget.Source{}) {
		t.Errorf("read as %+v, %v", old, err)
	}

	want := judged(1)
	want.Suite.JudgedBy, want.Cells[0].JudgedBy, want.Counts.Loosened = "base 77fe1234", "head", 1
	want.Budgets[0].Source = budget.Source{Path: "perfweir.yml", Line: 31, Column: 5, Commit: "77fe1234", HeadLine: 12}
	want.Loosened = []Loosened{{Text: "wall_time", Was: "max_regression: 5%", Now: "max_regression: 9%", Cells: 1, Source: want.Budgets[0].Source}}
	if err := Encode(&text, want); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	for _, diff := range []string{cmp.Diff(want.Loosened, got.Loosened), cmp.Diff(want.Budgets, got.Budgets), cmp.Diff(want.Suite, got.Suite), cmp.Diff(want.Cells, got.Cells)} {
		if diff != "" {
			t.Error(diff)
		}
	}
}

// What a renderer would follow blindly is refused, written or read.
func TestCodecRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Document)
		want  string
	}{
		{"outcome", func(d *Document) { d.Outcome = "" }, `unknown outcome ""`},
		{"outcome of a cell", func(d *Document) { d.Cells[0].Outcome = "fine" }, `cell 0: unknown outcome "fine"`},
		{"outcome of a finding", func(d *Document) { d.Findings[1].Outcome = "fine" }, `finding 1: unknown outcome "fine"`},
		{"cell of a finding", func(d *Document) { d.Findings[1].Cell = 1 }, `finding 1: cell 1 of 1`},
		{"cell of a comparison", func(d *Document) { d.Comparisons[0].Cell = -1 }, `comparison 0: cell -1 of 1`},
		{"budget", func(d *Document) { d.Findings[0].Budget = 1 }, `finding 0: budget 1 of 1`},
		{"comparison", func(d *Document) { d.Findings[0].Comparison = ptr(2) }, `finding 0: comparison 2 of 2`},
		{"cell measured again", func(d *Document) { d.Confirmation = &Confirmation{Cells: []Again{{Cell: 0}, {Cell: 1}}} }, `confirmation: row 1: cell 1 of 1`},
		{"kind", func(d *Document) { d.Budgets[0].Kind = "most" }, `budget 0: unknown kind "most"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := judged(2)
			if err := Encode(io.Discard, d); err != nil {
				t.Fatal(err)
			}
			c.spoil(d)
			if err := Encode(io.Discard, d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Encode: %v, want %q", err, c.want)
			}
		})
	}
	nan := judged(2)
	nan.Findings[1].P = ptr(math.NaN())
	if err := Encode(io.Discard, nan); err == nil || !strings.Contains(err.Error(), "findings 1:") {
		t.Errorf("NaN: %v, want an error that names the finding", err)
	}
	const cell = `{"schema":"perfweir.verdict/v1","outcome":"pass","cells":[{"outcome":"pass"}],`
	for text, want := range map[string]string{
		``:                                 `not a perfweir verdict document (schema "")`,
		`{"schema":"perfweir.results/v1"}`: `not a perfweir verdict document (schema "perfweir.results/v1")`,
		`{"schema":"perfweir.verdict/v3","outcome":["changed"]}`: `perfweir.verdict/v3 is newer than this version reads (v1): use a newer perfweir`,
		`{"schema":"perfweir.verdict/v1"}`:                       `unknown outcome ""`,
		cell + `"findings":[{"outcome":"pass","cell":1}]}`:       `finding 0: cell 1 of 1`,
		cell + `"findings":[{"outcome":"pass"}]}`:                `finding 0: budget 0 of 0`,
		cell + `"comparisons":[{"cell":7}]}`:                     `comparison 0: cell 7 of 1`,
		cell + `"baseline":{"state":"ok","cuts":[{"cell":1}]}}`:  `baseline: cut 0: cell 1 of 1`,
		cell + `"baseline":{"state":"ok","odd":[{"cell":-1}]}}`:  `baseline: odd session 0: cell -1 of 1`,
		cell + `"findings":[]} {}`:                               `after top-level value`,
		cell + `"findings":[`:                                    `unexpected end`,
	} {
		if _, err := Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Decode(%s): %v, want %q", text, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var text bytes.Buffer
	if err := Encode(&text, judged(2)); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte(`{"schema":"perfweir.verdict/v1","outcome":"pass","findings":[{"outcome":"pass"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(bytes.NewReader(data))
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := Encode(&once, d); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Decode(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if err := Encode(&twice, again); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("not stable (%v):\n%s\n%s", err, &once, &twice)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	const findings = 50_000
	d := judged(findings)
	for b.Loop() {
		if err := Encode(io.Discard, d); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(findings*float64(b.N)/b.Elapsed().Seconds(), "findings/s")
}
