package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/perfweir/perfweir/gate/exhibit"
)

// trendOf is n nightly sessions of a metric that steps at 12 and creeps from 20 on.
func trendOf(cell string, n int) exhibit.Trend {
	s := exhibit.TrendSeries{Anchor: exhibit.TrendAnchor{Value: 1.2}}
	for i := range n {
		v := 1.2
		if i >= 12 {
			v = 1.3
		}
		v *= 1 + 0.002*float64(max(0, i-20))
		r := v / 1.2
		s.Points = append(s.Points, exhibit.TrendPoint{Session: fmt.Sprint("S", i), StartedAt: time.Date(2026, 5, 1, 3, 17, 0, 0, time.UTC).AddDate(0, 0, i),
			Commit: fmt.Sprintf("%08x%032d", 0xabc000+i, 0), Dirty: i == 3, Runs: 10, Median: v, Ratio: &r})
	}
	if n > 20 {
		s.Steps = []exhibit.TrendStep{{At: 12, Ratio: 1.083, P: 0.001}}
		s.Creeps = []exhibit.TrendCreep{{From: 20, To: n, Ratio: 1 + 0.002*float64(n-20), P: 0.0001}}
		s.Drift = &exhibit.TrendDrift{Sessions: 5, Anchored: 1, Ratio: 1.17, Interval: [2]float64{1.15, 1.19}, Level: 0.05}
	} else {
		s.Note = fmt.Sprintf("changes were not looked for: that takes 10 sessions, and there are %d", n)
	}
	return exhibit.Trend{Cell: cell, Metric: "wall_time", Unit: "s", Better: "lower", Series: []exhibit.TrendSeries{s}, Gaps: 2}
}

// odd has what a trend may hold at its worst: names that drive terminals, two
// series, no direction, values without a ratio.
func odd() exhibit.Trend {
	t := trendOf("a|b`\x1b[31m@everyone <b>\n# x", 4)
	t.Metric, t.Part, t.Unit, t.Better = "frames|`x`", "gpu\x07|0 `", "tok/s", ""
	second := trendOf("", 3).Series[0]
	second.Apart = []string{"kernel: \"6.1|\x1b]0;x\x07\" before, \"6.5 `<i>`\" here"}
	second.Points[1].Median, second.Points[1].Ratio = 0, nil
	second.Points[2].Median = math.MaxFloat64
	second.Points[2].Commit = "\x1b[2J"
	t.Series = append(t.Series, second)
	return t
}

func trendSets() map[string][]exhibit.Trend {
	many := []exhibit.Trend{}
	for i := range 80 {
		many = append(many, trendOf(fmt.Sprintf("encode/%02d", i), 5+i))
	}
	return map[string][]exhibit.Trend{"one": {trendOf("encode/b2/lena.bin", 40)}, "odd": {odd()}, "many": many, "none": nil}
}

func renderTrends(t *testing.T, to func(w *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := to(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTrendGolden(t *testing.T) {
	for _, name := range []string{"one", "odd"} {
		trends := trendSets()[name]
		golden(t, "trend-"+name+".txt", []byte(renderTrends(t, func(w *bytes.Buffer) error { return Trends(w, trends, Options{Rows: 30}) })))
		golden(t, "trend-"+name+".md", []byte(renderTrends(t, func(w *bytes.Buffer) error { return TrendsMarkdown(w, trends, Options{Rows: 30}) })))
	}
}

func TestTrendsAreSafe(t *testing.T) {
	for name, trends := range trendSets() {
		for _, opts := range []Options{{}, {Width: 80, Color: true}, {Width: 120, Rows: 3}} {
			out := colour.ReplaceAllString(renderTrends(t, func(w *bytes.Buffer) error { return Trends(w, trends, opts) }), "")
			for line := range strings.Lines(out) {
				line = strings.TrimSuffix(line, "\n")
				if n := columnsOf(line); n > opts.width() {
					t.Errorf("%s: %d columns at width %d: %s", name, n, opts.width(), line)
				}
				for _, r := range line {
					if !unicode.IsPrint(r) {
						t.Errorf("%s: control character %U", name, r)
					}
				}
			}
		}
		checkMarkdown(t, []byte(renderTrends(t, func(w *bytes.Buffer) error { return TrendsMarkdown(w, trends, Options{}) })))
	}
}

func TestTrendsMarkdownKeepsItsBudget(t *testing.T) {
	trends := trendSets()["many"]
	for size := MinBytes; size < 60_000; size += 2_111 {
		out := renderTrends(t, func(w *bytes.Buffer) error { return TrendsMarkdown(w, trends, Options{Bytes: size}) })
		if len(out) > size {
			t.Errorf("%d bytes, budget %d", len(out), size)
		}
		if shown := strings.Count(out, "\n### "); shown < len(trends)-1 && !strings.Contains(out, "more trends are left out") {
			t.Errorf("%d bytes: %d trends, and what is left out is not said", size, shown+1)
		}
	}
}

func TestTrendsBeginWithWhatMoved(t *testing.T) {
	quiet, loud := trendOf("quiet", 15), trendOf("loud", 40)
	out := renderTrends(t, func(w *bytes.Buffer) error { return Trends(w, []exhibit.Trend{quiet, loud}, Options{}) })
	if strings.Index(out, "loud") > strings.Index(out, "quiet") {
		t.Errorf("what did not move is first:\n%s", out)
	}
}

func TestSparkline(t *testing.T) {
	for _, tt := range []struct {
		v       []float64
		columns int
		want    string
	}{
		{nil, 10, ""},
		{[]float64{1}, 10, "▄"},
		{[]float64{1, 1, 1}, 10, "▄▄▄"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 10, "▁▂▃▄▅▆▇█"},
		{[]float64{-math.MaxFloat64, 0, math.MaxFloat64}, 10, "▁▅█"},
		{[]float64{0, 0, 0, 7, 7, 7, 7, 7}, 4, "▁███"},
	} {
		if got, _ := sparkline(tt.v, tt.columns); got != tt.want {
			t.Errorf("%v in %d columns: %s, want %s", tt.v, tt.columns, got, tt.want)
		}
	}
}

func TestTrendWords(t *testing.T) {
	for _, tt := range []struct {
		better string
		ratio  float64
		want   string
	}{{"lower", 1.1, " (worse)"}, {"lower", 0.9, " (better)"}, {"higher", 1.1, " (better)"}, {"higher", 0.9, " (worse)"}, {"", 1.1, ""}, {"lower", 1, ""}} {
		s := trendSeries{trend: &exhibit.Trend{Better: tt.better}}
		if got := s.word(tt.ratio); got != tt.want {
			t.Errorf("%s, %v: %q, want %q", tt.better, tt.ratio, got, tt.want)
		}
	}
}
