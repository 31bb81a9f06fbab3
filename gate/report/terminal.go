package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Terminal writes the verdict for a person at a terminal: 80 to 120 columns, the
// order of Markdown, at most Options.Rows rows of tables. The only control
// sequences are its own colours; what the code under test named is made visible,
// so that a benchmark cannot drive the terminal.
func Terminal(w io.Writer, v *verdict.Document, opts Options) error {
	t := &screen{
		facts: factsOf(v), w: bufio.NewWriter(w),
		width: opts.width(), color: opts.Color, rows: opts.rows(),
	}
	t.top()
	t.findings("broken", t.brokenRows())
	t.findings("suspect", t.findingRows(t.by[verdict.Doubted]))
	t.findings("suspicious: look before you believe it", t.findingRows(t.by[verdict.Surprising]))
	t.findings(strings.ToLower(titleCleared[:1])+titleCleared[1:], t.findingRows(t.clearedFindings()))
	t.findings("warnings, which do not decide", t.findingRows(t.by[verdict.Warned]))
	t.findings("accepted or quarantined, which do not decide", t.findingRows(t.excused()))
	t.matrix()
	t.foot(opts)
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write terminal report: %w", err)
	}
	return nil
}

type screen struct {
	*facts
	w     *bufio.Writer
	width int
	color bool
	rows  int // rows of tables that may still be written
}

// Styles, as ANSI "select graphic rendition" parameters.
const (
	red    = "31"
	yellow = "33"
	green  = "32"
	bold   = "1"
	dim    = "2"
)

func (t *screen) paint(style, s string) string {
	if !t.color || style == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}

func styleOf(outcome string) string {
	switch o := verdict.Outcome(strings.ReplaceAll(strings.ToLower(outcome), " ", "_")); {
	case o.Red():
		return red
	case o == verdict.Pass:
		return green
	case o == verdict.Accepted || o == verdict.Quarantined:
		return dim
	}
	return yellow
}

// line writes one paragraph of visible text, wrapped.
func (t *screen) line(style, s, indent string) {
	for _, l := range wrap(sentence(s), t.width, indent) {
		fmt.Fprintln(t.w, t.paint(style, l))
	}
}

func (t *screen) top() {
	t.line(bold+";"+styleOf(string(t.v.Outcome)), t.title()+": "+t.headline(), "  ")
	t.line("", "suite "+clip(visible(t.v.Suite.Name), maxName)+": "+t.exit(), "  ")
	const most = 8
	var notes []string
	if s := t.confirmedLine(); s != "" {
		notes = append(notes, s)
	}
	if s := t.controlLine(); s != "" {
		notes = append(notes, s)
	}
	for _, s := range t.v.Warnings {
		notes = append(notes, "warning: "+s)
	}
	for _, s := range t.v.Skipped {
		notes = append(notes, "not in the plan: "+s.Name+", "+s.Why)
	}
	for i, s := range notes {
		if i == most {
			t.line(dim, fmt.Sprintf("- %d more notes", len(notes)-most), "")
			break
		}
		t.line("", "- "+clip(sentence(s), maxSentence), "  ")
	}
}

// findings writes one block a finding: the numbers in a line, then the why. A
// table of eight columns does not fit in 80.
func (t *screen) findings(title string, rows []func() row) {
	n := len(rows)
	if n == 0 {
		return
	}
	fmt.Fprintln(t.w)
	fmt.Fprintln(t.w, t.paint(bold, fmt.Sprintf("%s (%d)", title, n)))
	// Half of what is left stays for the tables behind this one.
	shown := min(n, max(1, t.rows/2))
	t.rows = max(0, t.rows-shown)
	for _, r := range rows[:shown] {
		t.finding(r())
	}
	if n > shown {
		fmt.Fprintln(t.w, t.paint(dim, fmt.Sprintf("  and %d more", n-shown)))
	}
}

func (t *screen) finding(r row) {
	outcome := visible(r.outcome)
	name := fit(visible(r.cell), t.width-2-columnsOf(outcome)-2)
	if strings.TrimSpace(name) == "" {
		name = noName
	}
	fmt.Fprintf(t.w, "  %s  %s\n", t.paint(styleOf(r.outcome), outcome), t.paint(bold, name))
	numbers := r.current
	if r.reference != none {
		numbers = r.reference + " -> " + r.current
	}
	if r.change != none {
		numbers += ", " + r.change
	}
	numbers += "; budget " + r.budget
	if r.place != "" {
		numbers += " (" + r.place + ")"
	}
	t.indented(r.metric + ": " + numbers)
	if r.why != "" {
		t.indented(r.why)
	}
}

func (t *screen) indented(s string) {
	for _, l := range wrap(clip(sentence(s), maxSentence), t.width-4, "  ") {
		fmt.Fprintln(t.w, "    "+l)
	}
}

func (t *screen) foot(opts Options) {
	fmt.Fprintln(t.w)
	t.line("", "baseline: "+clip(sentence(t.baseline()), maxSentence), "  ")
	if t.v.Baseline != nil {
		lines := t.historyLines()
		for _, l := range lines[:min(mostHistoryTerminal, len(lines))] {
			t.indented(l)
		}
		if n := len(lines) - mostHistoryTerminal; n > 0 {
			t.indented(fmt.Sprintf("and %d more in the report", n))
		}
	}
	if parts := t.environment(); len(parts) > 0 {
		for i := range parts {
			parts[i] = clip(sentence(parts[i]), maxName)
		}
		t.line("", "measured on "+strings.Join(parts, ", "), "  ")
	}
	for _, h := range t.hints() {
		t.line(dim, "hint: "+h, "  ")
	}
	if opts.Full != "" {
		t.line(dim, "report: "+opts.Full, "  ")
	}
}

// hints say what a reader can do next.
func (t *screen) hints() []string {
	var hints []string
	worst := slices.IndexFunc(t.cells, func(i int) bool { return t.v.Cells[i].Outcome.Red() })
	if worst >= 0 {
		if line := t.v.Cells[t.cells[worst]].Reproduce; line != "" && len(line) <= longestCommand {
			hints = append(hints, "reproduce the first with: "+line)
		}
	}
	if len(t.by[verdict.Doubted]) > 0 {
		if s := t.settleAll(); s != "" {
			hints = append(hints, "for the suspects, "+s)
		}
	}
	if b := t.v.Baseline; b != nil && b.State != verdict.BaselineOK {
		hints = append(hints, "perfweir baseline list shows every candidate")
	}
	return hints
}

// settleAll is what would decide all suspects, where it is known.
func (t *screen) settleAll() string {
	var all verdict.Settle
	for _, i := range t.by[verdict.Doubted] {
		if s := t.v.Findings[i].Settle; s != nil {
			all.Repeats = max(all.Repeats, s.Repeats)
			all.Sessions = max(all.Sessions, s.Sessions)
			all.Base = all.Base || s.Base
		}
	}
	return settle(&all)
}
