package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Explained is one cell with everything that is known about it.
type Explained struct {
	Verdict *verdict.Document
	Cell    int // of the verdict
	Runs    *result.Cell
	Columns []Column
}

// Column is what a cell's runs say about one metric.
type Column struct {
	Metric, Phase, Part string
	N                   int
	Median              float64
	Interval            *[2]float64 // of the median; nil: too few values
	Reference           *float64    // median of stored sessions; nil: none to compare with
}

// Bounds of what is told of one cell.
const (
	mostRuns      = 200
	mostColumns   = 100
	mostTails     = 3  // failed runs whose output is told
	mostTailLines = 20 // of each
)

// alsoMoved is from where on a metric that no budget is about is told as changed.
const alsoMoved = 0.05

// Explain writes everything about one cell for a person at a terminal. The same
// rules hold as for Terminal: what the code under test wrote is made visible.
func Explain(w io.Writer, x *Explained, opts Options) error {
	e := &explanation{screen: screen{facts: factsOf(x.Verdict), w: bufio.NewWriter(w), width: opts.width(), color: opts.Color}, x: x}
	e.head()
	e.budgets()
	e.runs()
	e.columns()
	e.moved()
	e.tails()
	e.last()
	if err := e.w.Flush(); err != nil {
		return fmt.Errorf("write explanation: %w", err)
	}
	return nil
}

type explanation struct {
	screen
	x *Explained
}

func (e *explanation) section(title string) {
	fmt.Fprintln(e.w)
	fmt.Fprintln(e.w, e.paint(bold, title))
}

func (e *explanation) item(s string) { e.indented(s) }

func (e *explanation) head() {
	c := e.cell(e.x.Cell)
	outcome := spaced(string(c.Outcome))
	e.line(bold+";"+styleOf(string(c.Outcome)), clip(visible(c.Name), maxName)+": "+outcome, "  ")
	if c.Note != "" {
		e.line("", "note: "+clip(c.Note, maxName), "  ")
	}
	if argv := e.x.Runs.Argv; len(argv) > 0 {
		e.line("", "command: "+clip(visible(strings.Join(argv, " ")), maxSentence), "  ")
	}
	e.line("", fmt.Sprintf("%d of %s seen: %s", c.Seen, plural(c.Planned, "planned run"), orNone(statusText(c))), "  ")
	for _, why := range c.Reasons {
		e.line("", "- "+clip(wordOf(why), maxSentence), "  ")
	}
	for _, why := range c.FailureReasons {
		e.line("", "- "+clip(sentence(why), maxSentence), "  ")
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// budgets tells every finding of the cell, the worst first, with the numbers of
// its comparison.
func (e *explanation) budgets() {
	e.section("budgets")
	for _, i := range e.v.WorstFirst() {
		x := &e.v.Findings[i]
		if x.Cell != e.x.Cell {
			continue
		}
		r := e.findingRow(i)
		fmt.Fprintf(e.w, "  %s  %s\n", e.paint(styleOf(r.outcome), visible(r.outcome)), e.paint(bold, fit(visible(r.metric), e.width-4-columnsOf(r.outcome))))
		e.item(e.budgetLine(x, &r))
		e.item(x.Message)
		if c := e.comparison(x); c != nil {
			for _, l := range e.comparisonLines(x, c) {
				e.item(l)
			}
		}
		if r.why != "" && r.why != x.Message {
			e.item("why: " + r.why)
		}
		if x.SmallestEffect != nil && x.Grade != verdict.Unproven { // an unproven one says it anyhow
			e.item("a change above " + unit.Percentage(*x.SmallestEffect) + " would have been seen")
		}
	}
}

func (e *explanation) budgetLine(x *verdict.Finding, r *row) string {
	s := "budget " + r.budget
	if r.place != "" {
		s += " (" + r.place + ")"
	}
	if b := e.budget(x.Budget); b.Source.Commit != "" {
		s += " of commit " + clip(b.Source.Commit, 12)
	}
	if !x.Gated {
		s += ", which does not decide"
	}
	return s
}

func (e *explanation) comparisonLines(x *verdict.Finding, c *verdict.Comparison) []string {
	current, reference := e.pair(x.Metric, c.Current, c.Reference)
	lines := []string{fmt.Sprintf("against %s, %s: %s with n %d, reference %s with n %d", c.Against, spaced(c.Design), current, c.N[0], reference, c.N[1])}
	if c.Sessions > 0 {
		lines[0] += " of " + plural(c.Sessions, "stored session")
	}
	lines = append(lines, "change: "+e.change(c))
	if c.Ratio != nil && c.ShiftInterval != nil {
		u := e.unitOf(x.Metric)
		lines = append(lines, "difference: "+unit.Signed(c.Shift, u)+interval(unit.Signed(c.ShiftInterval[0], u), unit.Signed(c.ShiftInterval[1], u), ""))
	}
	if x.P != nil && x.PAdjusted != nil {
		lines = append(lines, fmt.Sprintf("p %s alone, %s in the family, level %s", trimP(*x.P), trimP(*x.PAdjusted), trimP(x.Level)))
	}
	return lines
}

func trimP(p float64) string { return strings.TrimPrefix(pText(p), "p ") }

// runs lists the runs in the order in which they began.
func (e *explanation) runs() {
	r := &e.x.Runs.Runs
	order := make([]int, r.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if s := r.SessionAt(a) - r.SessionAt(b); s != 0 {
			return s
		}
		switch d := startOf(r, a) - startOf(r, b); {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	e.section(fmt.Sprintf("runs (%d), in order", len(order)))
	var times *result.Column
	for i := range e.x.Runs.Columns {
		if c := &e.x.Runs.Columns[i]; c.Metric == result.WallTime && c.Phase == "" && c.Part == "" {
			times = c
		}
	}
	for k, i := range order {
		if k == mostRuns {
			e.item("and " + plural(len(order)-k, "more run"))
			break
		}
		e.item(e.run(r, i, times))
	}
}

func startOf(r *result.Runs, i int) float64 {
	if i < len(r.Start) {
		return r.Start[i]
	}
	return 0
}

func (e *explanation) run(r *result.Runs, i int, times *result.Column) string {
	s := fmt.Sprintf("repeat %d", r.Repeat[i])
	if r.Warmup(i) {
		s = "warm-up"
	}
	if n := r.AttemptAt(i); n > 1 {
		s += fmt.Sprintf(" attempt %d", n)
	}
	if r.LookAt(i) > 1 {
		s += fmt.Sprintf(" look %d", r.LookAt(i))
	}
	s += fmt.Sprintf(", at %s: %s", unit.Format(startOf(r, i), "s"), spaced(string(r.StatusAt(i))))
	d := r.Detail[i]
	switch {
	case times != nil && i < len(times.V) && !math.IsNaN(times.V[i]):
		s += " in " + unit.Format(times.V[i], "s")
	case d.Ended > 0:
		s += " after " + unit.Format(d.Ended, "s")
	}
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	if !r.ValidAt(i) {
		s += "; INVALID, not compared"
	}
	for _, w := range d.Warnings {
		s += "; " + w
	}
	return s
}

// columns tells the median of every metric.
func (e *explanation) columns() {
	e.section("metrics, medians of the clean runs")
	for i := range e.x.Columns {
		if i == mostColumns {
			e.item("and " + plural(len(e.x.Columns)-i, "more metric"))
			break
		}
		c := &e.x.Columns[i]
		s := fmt.Sprintf("%s: %s", metricText(c.Metric, c.Phase, c.Part), e.value(c.Metric, c.Median))
		if c.Interval != nil {
			lo, hi := e.pair(c.Metric, c.Interval[0], c.Interval[1])
			s += fmt.Sprintf(" [%s, %s]", lo, hi)
		}
		e.item(s + fmt.Sprintf(", n %d", c.N))
	}
	if len(e.x.Columns) == 0 {
		e.item("none: no run ended well and is valid")
	}
}

// moved tells the metrics that changed without a budget to say so.
func (e *explanation) moved() {
	var lines []string
	for i := range e.x.Columns {
		c := &e.x.Columns[i]
		if c.Reference == nil || e.compared(c) {
			continue
		}
		ref := *c.Reference
		if math.Abs(c.Median-ref) <= alsoMoved*math.Abs(ref) {
			continue
		}
		was, is := e.pair(c.Metric, ref, c.Median)
		s := fmt.Sprintf("%s: %s -> %s", metricText(c.Metric, c.Phase, c.Part), was, is)
		if ref > 0 && c.Median > 0 {
			s += ", " + ratioText(c.Median/ref, nil)
		}
		lines = append(lines, s)
	}
	if len(lines) == 0 {
		return
	}
	e.section("what else moved by more than 5 %, without a budget")
	for i, l := range lines {
		if i == mostColumns {
			e.item("and " + plural(len(lines)-i, "more metric"))
			break
		}
		e.item(l)
	}
}

// compared reports whether a finding of the cell tells the metric's change.
func (e *explanation) compared(c *Column) bool {
	return slices.ContainsFunc(e.v.Comparisons, func(k verdict.Comparison) bool {
		return k.Cell == e.x.Cell && k.Against == "baseline" && k.Metric == c.Metric && k.Phase == c.Phase && k.Part == c.Part
	})
}

// tails shows the end of what failed runs wrote.
func (e *explanation) tails() {
	r := &e.x.Runs.Runs
	shown := 0
	for i := range r.Len() {
		tail := strings.TrimRight(r.Detail[i].StderrTail, "\n")
		if r.StatusAt(i).OK() || strings.TrimSpace(tail) == "" {
			continue
		}
		if shown == mostTails {
			e.item("the other failed runs are in results.json")
			return
		}
		shown++
		e.section(fmt.Sprintf("end of stderr of repeat %d", r.Repeat[i]))
		lines := strings.Split(tail, "\n")
		for _, l := range lines[max(0, len(lines)-mostTailLines):] {
			fmt.Fprintln(e.w, "    | "+fit(visible(strings.TrimRight(l, "\r")), e.width-6))
		}
	}
}

func (e *explanation) last() {
	e.section("where")
	e.item("baseline: " + e.baseline())
	if parts := e.environment(); len(parts) > 0 {
		e.item("measured on " + strings.Join(parts, ", "))
	}
	if s := e.controlLine(); s != "" {
		e.item(s)
	}
	for _, w := range e.v.Warnings {
		e.item("warning: " + w)
	}
	if line := e.cell(e.x.Cell).Reproduce; line != "" && len(line) <= longestCommand {
		e.section("reproduce")
		fmt.Fprintln(e.w, "    "+visible(line))
	}
}
