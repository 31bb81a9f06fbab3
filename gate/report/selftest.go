package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/selftest"
)

// Selftest writes a self-test for a person at a terminal.
func Selftest(w io.Writer, d *selftest.Document, opts Options) error {
	t := &screen{w: bufio.NewWriter(w), width: opts.width(), color: opts.Color}
	t.line(bold, fmt.Sprintf("self-test of %s: %s of %s, %d runs each, on %s", clip(visible(d.Suite), maxName), plural(d.Sessions, "unchanged session"),
		plural(d.Cells, "cell"), d.Runs, clip(visible(d.Machine), maxName)), "  ")
	if d.Sessions < d.Asked {
		t.line(yellow, fmt.Sprintf("stopped early: %d sessions were asked for", d.Asked), "  ")
	}
	t.selftestRates(d)
	t.selftestMetrics(d)
	switch {
	case len(d.Injections) > 0:
	case d.Sessions < selftest.LeastSessions:
		t.line(dim, fmt.Sprintf("`perfweir ci` does not take the spread of sessions from here: that needs %d or more, and these are %d.", selftest.LeastSessions, d.Sessions), "")
	default:
		t.line(dim, fmt.Sprintf("While fewer than %d sessions are stored, `perfweir ci` takes their spread from here.", d.MinSessions), "")
	}
	for i := range d.Injections {
		t.injection(&d.Injections[i])
	}
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write self-test: %w", err)
	}
	return nil
}

func (t *screen) selftestRates(d *selftest.Document) {
	fmt.Fprintln(t.w)
	style := ""
	if d.Stored.Interval[0] > d.FalseAlarms {
		style = red // beyond what the suite allows, whatever chance did
	}
	t.line(style, fmt.Sprintf("false alarms: %s, against the sessions before each, as the gate judges; the suite allows %s",
		rateText(&d.Stored), unit.Percentage(d.FalseAlarms)), "  ")
	t.line("", fmt.Sprintf("in pairs: %s, each second session against the one before it alone", rateText(&d.Pairs)), "  ")
	for _, r := range []struct {
		what string
		rate *selftest.Rate
	}{{"against all before", &d.Stored}, {"in pairs", &d.Pairs}} {
		t.line(dim, fmt.Sprintf("%s: of %s %d failed, %d were suspect, %d unproven", r.what, plural(r.rate.Findings, "gated finding"), r.rate.Fails, r.rate.Suspects, r.rate.Unproven), "  ")
	}
	t.line(dim, "Sessions that follow each other at once are more alike than those of different nights: this is the least that nights will show. "+
		"Judged against all before, sessions share what they are compared with, so that interval is approximate; that of the pairs is exact.", "")
}

func rateText(r *selftest.Rate) string {
	if r.Trials == 0 {
		return "no session was judged"
	}
	return fmt.Sprintf("%d of %s (95 %%: %s to %s)", r.Hits, plural(r.Trials, "session"), unit.Percentage(r.Interval[0]), unit.Percentage(r.Interval[1]))
}

func (t *screen) selftestMetrics(d *selftest.Document) {
	fmt.Fprintln(t.w)
	t.line(bold, "what is resolved at the planned repeats", "")
	rows := [][]string{{"metric", "against", "comparisons", "largest", "floor", "least budget", "session spread"}}
	for i := range d.Metrics {
		m := &d.Metrics[i]
		spread := none
		if m.Spread != nil {
			spread = unit.Percentage(m.Spread.SD)
		}
		for _, r := range []struct {
			what string
			r    *selftest.Resolution
		}{{"1 session", m.Pairs}, {fmt.Sprintf("%d or more", d.MinSessions), m.Stored}} {
			if r.r != nil {
				rows = append(rows, []string{clip(visible(m.Name), 40), r.what, fmt.Sprint(r.r.Comparisons), unit.Percentage(r.r.Largest), share95(r.r.Floor), share95(r.r.Budget), spread})
			}
		}
	}
	t.columns(rows, 2, 6)
	t.line(dim, "floor: 19 of 20 comparisons of unchanged programs differ by less. least budget: 9 of 10 would have been proved to hold it; one below is undecided more often.", "")
}

func share95(v *float64) string {
	if v == nil {
		return "too few"
	}
	return unit.Percentage(*v)
}

func (t *screen) injection(in *selftest.Injection) {
	fmt.Fprintln(t.w)
	t.line(bold, fmt.Sprintf("injected %s into every other cell of %s", clip(visible(in.Text), 60), plural(in.Sessions, "session")), "  ")
	rows := [][]string{{"metric", "moved by it", "findings", "failed", "95 %", "suspect", "injected", "median change"}}
	for i := range in.Metrics {
		m := &in.Metrics[i]
		moves, change, injected := "no", none, none
		if m.Moves {
			moves = "yes"
		}
		if m.Ratio != nil {
			change = unit.FormatRatio(*m.Ratio)
		}
		if m.Injected != nil {
			injected = unit.FormatRatio(*m.Injected)
		}
		rows = append(rows, []string{clip(visible(m.Metric), 40), moves, fmt.Sprint(m.Findings), fmt.Sprint(m.Fails),
			unit.Percentage(m.Rate[0]) + " to " + unit.Percentage(m.Rate[1]), fmt.Sprint(m.Suspects), injected, change})
	}
	t.columns(rows, 2, 7)
	var fails, findings int
	var names []string
	for _, name := range slices.Sorted(maps.Keys(in.Elsewhere)) {
		n := in.Elsewhere[name]
		fails, findings = fails+n.Fails, findings+n.Findings
		if n.Fails > 0 {
			names = append(names, visible(name))
		}
	}
	text := fmt.Sprintf("cells that were left alone: %d of %s failed", fails, plural(findings, "finding"))
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	t.line("", text, "  ")
}

// columns writes a table; columns from to to are numbers.
func (t *screen) columns(rows [][]string, from, to int) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for k, c := range r {
			widths[k] = max(widths[k], columnsOf(c))
		}
	}
	for i, r := range rows {
		cells := make([]string, len(r))
		for k, c := range r {
			cells[k] = pad(c, widths[k], k >= from && k <= to)
		}
		style := ""
		if i == 0 {
			style = dim
		}
		fmt.Fprintln(t.w, "  "+t.paint(style, strings.TrimRight(strings.Join(cells, "  "), " ")))
	}
}
