package report

import (
	"fmt"
	"strings"
)

// page is Markdown under a byte budget. Sections are given their room in the
// order of their importance and printed in the order of reading; a section that
// does not fit loses whole rows, and what was left out is counted.
type page struct {
	left    int // bytes that are still free
	slots   [slotCount]string
	omitted []string // "120 of 300 broken findings"
}

// Places on the page, in the order of reading.
const (
	slotTop = iota
	slotNotes
	slotBroken
	slotDoubted
	slotSurprising
	slotCleared
	slotWarned
	slotMatrix
	slotUndecided
	slotPasses
	slotBaseline
	slotPolicy
	slotReproduce
	slotOmitted
	slotEnvironment
	slotCount
)

// reservedBytes is kept free for saying what was left out.
const reservedBytes = 1_200

// visibleRows is how many rows of a table are shown before the rest is folded.
const visibleRows = 40

func newPage(limit int) *page { return &page{left: limit - reservedBytes} }

// put writes a section whole, or not at all.
func (p *page) put(slot int, text string) bool {
	if len(text) > p.left {
		return false
	}
	p.left -= len(text)
	p.slots[slot] += text
	return true
}

// table is a section that may lose its last rows.
type table struct {
	slot   int
	title  string // "Broken"
	what   string // "broken findings": how left-out rows are counted
	head   []string
	rows   int
	row    func(i int) []string // cells, escaped
	folded bool                 // all rows inside <details>
}

const foldEnd = "\n</details>\n\n"

// table writes as many rows as fit, the first visibleRows of them in the open.
func (p *page) table(t table) {
	if t.rows == 0 {
		return
	}
	head := rowText(t.head) + rowText(dashes(len(t.head)))
	var b strings.Builder
	if t.folded {
		fmt.Fprintf(&b, "<details><summary>%s (%d)</summary>\n\n", t.title, t.rows)
	} else {
		fmt.Fprintf(&b, "### %s\n\n", t.title)
	}
	b.WriteString(head)
	fold := t.folded
	done := 0
	for ; done < t.rows; done++ {
		text := rowText(t.row(done))
		if done == visibleRows && !fold {
			text = fmt.Sprintf("\n<details><summary>%d more</summary>\n\n", t.rows-done) + head + text
		}
		if b.Len()+len(text)+len(foldEnd) > p.left {
			break
		}
		fold = fold || done == visibleRows
		b.WriteString(text)
	}
	if done < t.rows {
		p.omit(t.rows-done, t.rows, t.what)
	}
	if done == 0 {
		return
	}
	if fold {
		b.WriteString(foldEnd)
	} else {
		b.WriteString("\n")
	}
	p.put(t.slot, b.String())
}

func (p *page) omit(n, of int, what string) {
	p.omitted = append(p.omitted, fmt.Sprintf("%d of %d %s", n, of, what))
}

// finish adds what was left out and returns the whole.
func (p *page) finish(full string) string {
	if len(p.omitted) > 0 {
		p.slots[slotOmitted] = "Left out for size: " + escapeText(strings.Join(p.omitted, ", ")) +
			". All of it is in " + mdCodeOf(full, 80) + ".\n\n"
	}
	return strings.Join(p.slots[:], "")
}

func rowText(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

func dashes(n int) []string {
	d := make([]string, n)
	for i := range d {
		d[i] = "---"
	}
	return d
}
