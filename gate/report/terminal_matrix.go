package report

import (
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// gap is the space between two columns.
const gap = 2

// narrowest column for the name of a cell.
const leastName = 24

// matrix writes one aligned line a cell: name, crashed, under spec, clean values,
// outcome. Metrics are dropped from the right until a line fits.
func (t *screen) matrix() {
	if len(t.cells) == 0 {
		return
	}
	shown := min(len(t.cells), max(1, t.rows))
	t.rows = max(0, t.rows-shown)
	var table [][]string
	for most := matrixMetrics; most >= 0; most-- {
		table = t.matrixCells(shown, t.tableMetrics(most))
		if tableWidth(table)-nameWidth(table)+min(leastName, nameWidth(table)) <= t.width {
			break
		}
	}
	widths := columnWidths(table)
	others := tableWidth(table) - widths[0]
	widths[0] = max(8, min(widths[0], t.width-others))
	fmt.Fprintln(t.w)
	fmt.Fprintln(t.w, t.paint(bold, fmt.Sprintf("matrix (%s)", plural(len(t.cells), "cell"))))
	for i, cells := range table {
		t.matrixLine(cells, widths, i == 0)
		if i > 0 {
			t.matrixAside(&t.v.Cells[t.cells[i-1]])
		}
	}
	if n := len(t.cells) - shown; n > 0 {
		fmt.Fprintln(t.w, t.paint(dim, "  and "+plural(n, "more cell")))
	}
}

// matrixAside writes what a column would be too wide for, below the row.
func (t *screen) matrixAside(c *verdict.Cell) {
	var parts []string
	if len(c.TimeToFailure) > 0 {
		parts = append(parts, "time to failure "+span(c.TimeToFailure, "s"))
	}
	if len(c.UnderSpecBy) > 0 {
		parts = append(parts, "under spec: "+strings.Join(c.UnderSpecBy, ", "))
	}
	for _, l := range wrap(clip(sentence(strings.Join(parts, "; ")), maxSentence), t.width-4, "") {
		fmt.Fprintln(t.w, t.paint(dim, "    "+l))
	}
}

func (t *screen) matrixLine(cells []string, widths []int, head bool) {
	var b strings.Builder
	last := len(cells) - 1
	for i, s := range cells {
		s = fit(s, widths[i])
		if i < last {
			s = pad(s, widths[i], i > 0) + strings.Repeat(" ", gap)
		} else if !head {
			s = t.paint(styleOf(s), s)
		}
		b.WriteString(s)
	}
	line := strings.TrimRight(b.String(), " ")
	if head {
		line = t.paint(dim, line)
	}
	fmt.Fprintln(t.w, line)
}

// matrixCells returns the table with its head, all texts visible.
func (t *screen) matrixCells(rows int, metrics []string) [][]string {
	head := []string{"cell", "crashed", "under spec"}
	head = append(head, metrics...)
	table := [][]string{append(head, "outcome")}
	for _, c := range t.cells[:rows] {
		r := t.matrixRow(c, metrics)
		if c := &t.v.Cells[c]; c.UnderSpec > 0 {
			r.underSpec, _, _ = strings.Cut(r.underSpec, " (")
		}
		line := append([]string{r.cell, r.crashed, r.underSpec}, r.clean...)
		table = append(table, append(line, r.outcome))
	}
	const widest = 28 // of a column that is not the name
	for _, line := range table {
		for i := range line {
			line[i] = visible(line[i])
			if i > 0 {
				line[i] = fit(line[i], widest)
			}
		}
	}
	return table
}

func columnWidths(table [][]string) []int {
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, s := range line {
			widths[i] = max(widths[i], columnsOf(s))
		}
	}
	return widths
}

func nameWidth(table [][]string) int { return columnWidths(table)[0] }

func tableWidth(table [][]string) int {
	total := 0
	for _, n := range columnWidths(table) {
		total += n
	}
	return total + gap*(len(table[0])-1)
}
