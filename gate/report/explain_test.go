package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/perfweir/perfweir/collect/result"
)

// explained is a cell of a verdict whose runs, names and output are hostile.
func explained(name string) *Explained {
	v := documents()[name]
	no := false
	c := &result.Cell{Name: nasty, Argv: []string{nasty, "b"}, Runs: result.Runs{
		Repeat: []int{0, 1, 2}, Block: []int{1, 1, 2}, Slot: []int{0, 0, 0}, Start: []float64{0, 3, 1},
		Status: map[int]result.Status{1: result.Failed},
		Detail: map[int]result.Detail{1: {Reason: nasty, StderrTail: "one\n" + nasty + "\n" + strings.Repeat("x", 500), Ended: 2},
			2: {Valid: &no, Warnings: []string{"invalid: " + nasty}}},
	}, Columns: []result.Column{{Metric: result.WallTime, V: result.Values{1, 1, 1.5}}}}
	return &Explained{Verdict: v, Cell: 0, Runs: c, Columns: []Column{
		{Metric: nasty, Part: nasty, N: 3, Median: 2, Interval: &[2]float64{1, 3}, Reference: ptr(1.0)},
		{Metric: "other", N: 1, Median: 1.04, Reference: ptr(1.0)},
		{Metric: "from_zero", N: 1, Median: 4, Reference: ptr(0.0)},
	}}
}

// Whatever a name, an output or a warning holds, it is drawn and never acted upon,
// within the width.
func TestExplainEmitsNoForeignControl(t *testing.T) {
	for name := range documents() {
		for _, opts := range []Options{{}, {Width: 80, Color: true}} {
			x := explained(name)
			if len(x.Verdict.Cells) == 0 {
				continue
			}
			var b bytes.Buffer
			if err := Explain(&b, x, opts); err != nil {
				t.Fatal(err)
			}
			out := colour.ReplaceAllString(b.String(), "")
			for line := range strings.Lines(out) {
				text := strings.TrimSuffix(line, "\n")
				if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Fatalf("%s: a control character in %q", name, line)
				}
				if n := columnsOf(text); n > opts.width() && !strings.Contains(text, "perfweir ci") {
					t.Errorf("%s: %d columns at width %d: %s", name, n, opts.width(), line)
				}
			}
		}
	}
}

func TestExplainTellsRunsInOrder(t *testing.T) {
	var b bytes.Buffer
	if err := Explain(&b, explained("fail"), Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	last := -1
	for _, want := range []string{"runs (3), in order", "warm-up, at 0", "repeat 2, at 1", "INVALID", "repeat 1, at 3", "medians of the clean runs",
		"what else moved by more than 5 %", "from_zero: 0 -> 4", "end of stderr of repeat 1", "    | one"} {
		at := strings.Index(out, want)
		if at <= last {
			t.Fatalf("%q is at %d, want behind %d:\n%s", want, at, last, out)
		}
		last = at
	}
	if strings.Contains(out[strings.Index(out, "what else moved"):], "other: ") {
		t.Errorf("4 %% is told as moved:\n%s", out)
	}
}
