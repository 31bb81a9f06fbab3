package report

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/perfweir/perfweir/gate/selftest"
)

func selftestDocument(name string) *selftest.Document {
	floor, budget, ratio, injected := 0.031, 0.087, 1.12, 1.1
	return &selftest.Document{
		Schema: selftest.Schema, Suite: name, Machine: name, Sessions: 59, Asked: 60, Cells: 10, Runs: 110, FalseAlarms: 0.05, MinSessions: 5,
		Stored: selftest.Rate{Trials: 58, Hits: 1, Interval: [2]float64{0.0004, 0.0909}, Findings: 2301, Fails: 2, Suspects: 64, Unproven: 443},
		Pairs:  selftest.Rate{Interval: [2]float64{0, 1}},
		Metrics: []selftest.Metric{
			{Name: "cpu_time", Class: "noisy", Cells: 10, Spread: &selftest.Spread{SD: 0.02, DF: 90, Allowance: 0.05},
				Pairs: &selftest.Resolution{Comparisons: 12, Largest: 0.05}, Stored: &selftest.Resolution{Comparisons: 550, Largest: 0.1, Floor: &floor, Budget: &budget}},
			{Name: name, Class: "noisy", Stored: &selftest.Resolution{Comparisons: 1, Largest: 0.1}},
		},
		Injections: []selftest.Injection{{Text: "cpu=10%", Kind: "cpu", Sessions: 8, Metrics: []selftest.Detection{
			{Metric: "cpu_time", Moves: true, Count: selftest.Count{Findings: 40, Fails: 36, Suspects: 3}, Rate: [2]float64{0.76, 0.97}, Ratio: &ratio, Injected: &injected},
			{Metric: name, Count: selftest.Count{Findings: 40}, Rate: [2]float64{0, 0.088}},
		}, Elsewhere: map[string]selftest.Count{"cpu_time": {Findings: 40}, name: {Findings: 40, Fails: 1}}}},
	}
}

func TestSelftestGolden(t *testing.T) {
	golden(t, "selftest.txt", []byte(renderTrends(t, func(w *bytes.Buffer) error { return Selftest(w, selftestDocument("codec"), Options{}) })))
}

func TestSelftestSaysWhoUsesIt(t *testing.T) {
	for n, want := range map[int]string{
		selftest.LeastSessions - 1: "needs 10 or more, and these are 9.",
		selftest.LeastSessions:     "While fewer than 5 sessions are stored, `perfweir ci` takes their spread from here.",
	} {
		d := selftestDocument("codec")
		d.Sessions, d.Injections = n, nil
		out := renderTrends(t, func(w *bytes.Buffer) error { return Selftest(w, d, Options{Width: 200}) })
		if !strings.Contains(out, want) || strings.Count(out, "`perfweir ci`") != 1 {
			t.Errorf("%d sessions: want %q in\n%s", n, want, out)
		}
	}
}

func TestSelftestIsSafe(t *testing.T) {
	out := colour.ReplaceAllString(renderTrends(t, func(w *bytes.Buffer) error {
		return Selftest(w, selftestDocument("a\x1b[31m\nb\u202e"), Options{Color: true})
	}), "")
	for line := range strings.Lines(out) {
		for _, r := range strings.TrimSuffix(line, "\n") {
			if !unicode.IsPrint(r) {
				t.Errorf("control character %U in %q", r, line)
			}
		}
	}
}
