package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Markdown writes report.md: the text of the pull-request comment. The first
// line (after the hidden one) is the verdict, failing rows come first, details
// are folded. It is GitHub's Markdown of at most Options.Bytes bytes; rows are
// left out whole, and counted, when it would be more (C14).
func Markdown(w io.Writer, v *verdict.Document, opts Options) error {
	f := factsOf(v)
	p := newPage(opts.bytes())
	p.put(slotTop, f.mdTop(opts.Key))
	f.mdFill(p, Whole, nil)
	if _, err := io.WriteString(w, p.finish(opts.full())); err != nil {
		return fmt.Errorf("write report.md: %w", err)
	}
	return nil
}

func (f *facts) mdTop(key string) string {
	var b strings.Builder
	if key != "" {
		b.WriteString(mdMarker(key))
	}
	fmt.Fprintf(&b, "**%s**: %s\n\n", escapeText(f.title()), escapeText(f.headline()))
	b.WriteString(f.mdAbout())
	return b.String()
}

// mdAbout says what follows from the verdict, and what was compared with.
func (f *facts) mdAbout() string {
	return fmt.Sprintf("Suite %s: %s.\nBaseline: %s.\n\n", mdCodeOf(f.v.Suite.Name, 80), mdText(f.exit()),
		mdText(strings.TrimSuffix(f.baseline(), ".")))
}

func (f *facts) mdEnvironment() string {
	parts := f.environment()
	for i := range parts {
		parts[i] = mdCodeOf(parts[i], 60)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Measured on " + strings.Join(parts, " · ") + "\n"
}

// mdNotes lists the verdict's other reasons, its warnings and what was left out
// of the plan, as far as they fit in so many bytes. What is told beside the verdict
// goes first.
func (f *facts) mdNotes(limit int, beside []string) string {
	lines := noteLines(beside)
	lines = append(lines, noteLines(f.acceptedBy())...)
	lines = append(lines, noteLines(f.loosened())...)
	if s := f.confirmedLine(); s != "" {
		lines = append(lines, noteLines([]string{s})...)
	}
	if s := f.controlLine(); s != "" {
		lines = append(lines, noteLines([]string{s})...)
	}
	for _, s := range f.v.Warnings {
		lines = append(lines, "- warning: "+mdText(s)+"\n")
	}
	for _, s := range f.v.Skipped {
		lines = append(lines, "- not in the plan: "+mdCode(s.Name)+", "+mdText(s.Why)+"\n")
	}
	return noteList(lines, limit)
}

// mostLoosened is how many loosened rules have a line of their own.
const mostLoosened = 5

// loosened says which rules this change makes looser, or deletes: what a reviewer
// must see before the merge, so it goes before the warnings.
func (f *facts) loosened() []string {
	var lines []string
	for i := range f.v.Loosened {
		if i == mostLoosened {
			break
		}
		lines = append(lines, Loosened(&f.v.Loosened[i], f.v.AcceptedBy))
	}
	if n := max(f.v.Counts.Loosened, len(f.v.Loosened)) - len(lines); n > 0 {
		lines = append(lines, plural(n, "more rule")+" loosened by this change")
	}
	return lines
}

func noteLines(sentences []string) []string {
	lines := make([]string, len(sentences))
	for i, s := range sentences {
		lines[i] = "- " + mdText(s) + "\n"
	}
	return lines
}

func noteList(lines []string, limit int) string {
	const most = 12
	var b strings.Builder
	for i, l := range lines {
		if i == most || b.Len()+len(l)+32 > limit {
			fmt.Fprintf(&b, "- %d more notes\n", len(lines)-i)
			break
		}
		b.WriteString(l)
	}
	if b.Len() == 0 {
		return ""
	}
	return b.String() + "\n"
}

// mdFill writes everything below the first lines.
func (f *facts) mdFill(p *page, half Half, beside []string) {
	if half != Rest {
		p.put(slotEnvironment, f.mdEnvironment())
		p.put(slotNotes, f.mdNotes(p.left/8, beside))
		f.mdSmall(p)
		f.mdDeciding(p)
	}
	if half != Deciding {
		f.mdRest(p)
	}
}

// mdDeciding gives the tables that decide their room: failures first, then doubts
// and worst changes.
func (f *facts) mdDeciding(p *page) {
	p.table(findingTable(slotBroken, "Broken", "broken rows", f.brokenRows()))
	for _, t := range []struct {
		slot        int
		standing    verdict.Standing
		title, what string
	}{
		{slotDoubted, verdict.Doubted, "Suspect", "suspect findings"},
		{slotSurprising, verdict.Surprising, "Look before you believe it", "suspicious findings"},
		{slotWarned, verdict.Warned, "Warnings, which do not decide", "warnings"},
	} {
		p.table(findingTable(t.slot, t.title, t.what, f.findingRows(f.by[t.standing])))
	}
	p.table(findingTable(slotCleared, titleCleared, "findings that were not confirmed", f.findingRows(f.clearedFindings())))
}

// mdRest writes the matrix, and then what was not decided and what holds.
func (f *facts) mdRest(p *page) {
	f.mdMatrix(p)
	undecided := f.filter(false, f.by[verdict.Undecided], f.by[verdict.Unjudged], f.by[verdict.Excused])
	t := findingTable(slotUndecided, "Not decided or not judged", "undecided findings", f.findingRows(undecided))
	t.folded = true
	p.table(t)
	t = findingTable(slotPasses, "Passes", "passes", f.findingRows(f.filter(false, f.by[verdict.Held])))
	t.folded = true
	p.table(t)
}

func findingTable(slot int, title, what string, rows []func() row) table {
	return table{
		slot: slot, title: title, what: what, rows: len(rows),
		head: []string{"cell", "metric", "reference", "current", "change", "budget", "outcome", "why"},
		row:  func(i int) []string { return mdRow(rows[i]()) },
	}
}

func mdRow(r row) []string {
	limit := mdCode(r.budget)
	switch r.place {
	case "":
	case builtIn:
		limit += " (" + builtIn + ")"
	default:
		limit += " at " + mdCode(r.place)
	}
	return []string{mdCode(r.cell), mdCode(r.metric), mdText(r.reference), mdText(r.current),
		mdText(r.change), limit, mdText(r.outcome), mdText(r.why)}
}

// matrixMetrics is how many clean values a row of the matrix table shows.
const matrixMetrics = 6

func (f *facts) mdMatrix(p *page) {
	metrics := f.tableMetrics(matrixMetrics)
	failed := slices.ContainsFunc(f.v.Cells, func(c verdict.Cell) bool { return len(c.TimeToFailure) > 0 })
	head := []string{"cell", "crashed", "under spec"}
	if failed {
		head = append(head, "time to failure")
	}
	for _, m := range metrics {
		head = append(head, mdCode(m))
	}
	head = append(head, "outcome")
	p.table(table{
		slot: slotMatrix, title: "Matrix", what: "cells", head: head, rows: len(f.cells),
		row: func(i int) []string {
			r := f.matrixRow(f.cells[i], metrics)
			name := mdCode(r.cell)
			if r.note != "" {
				name += " (" + mdText(r.note) + ")"
			}
			cells := []string{name, mdText(r.crashed), mdText(r.underSpec)}
			if failed {
				cells = append(cells, mdText(r.timeToFailure))
			}
			for _, v := range r.clean {
				cells = append(cells, mdText(v))
			}
			return append(cells, mdText(r.outcome))
		},
	})
}
