package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/perfweir/perfweir/gate/exhibit"
)

// Trends writes trends for a person at a terminal, what moved most first: a line
// of the sessions, what happened, and of a single trend its newest sessions, at
// most Options.Rows.
func Trends(w io.Writer, trends []exhibit.Trend, opts Options) error {
	t := &screen{w: bufio.NewWriter(w), width: opts.width(), color: opts.Color, rows: opts.rows()}
	for i, trend := range byMovement(trends) {
		if i > 0 {
			fmt.Fprintln(t.w)
		}
		if i == t.rows {
			t.line(dim, fmt.Sprintf("and %d more: name a cell or a metric", len(trends)-i), "")
			break
		}
		t.trend(trend, len(trends) == 1)
	}
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write trends: %w", err)
	}
	return nil
}

func (t *screen) trend(trend *exhibit.Trend, table bool) {
	t.line(bold, clip(visible(trend.Cell), maxName)+"  "+clip(visible(where(trend)), maxName), "  ")
	for i := range trend.Series {
		s := trendSeries{&trend.Series[i], trend}
		if len(s.Apart) > 0 {
			t.line(dim, "a series of its own: "+clip(strings.Join(s.Apart, "; "), maxSentence), "  ")
		}
		t.series(s)
		if table {
			t.sessions(s)
		}
	}
	if trend.Gaps > 0 {
		t.line(dim, plural(trend.Gaps, "session")+" without a number: left out, nothing is filled in", "  ")
	}
}

// series draws one, with a mark under the columns in which a step is.
func (t *screen) series(s trendSeries) {
	line, at := sparkline(s.medians(), t.width-4)
	fmt.Fprintln(t.w, "  "+line)
	marks := []rune(strings.Repeat(" ", len([]rune(line))))
	for _, c := range s.Steps {
		marks[at(c.At)] = '^'
	}
	if m := strings.TrimRight(string(marks), " "); m != "" {
		fmt.Fprintln(t.w, "  "+m)
	}
	t.indentedIn("", s.about())
	for _, text := range s.movements() {
		style := yellow
		if strings.Contains(text, "(better)") {
			style = green
		}
		t.indentedIn(style, text)
	}
	for _, text := range s.notes() {
		t.indentedIn("", text)
	}
}

func (t *screen) indentedIn(style, s string) {
	for _, l := range wrap(clip(sentence(s), maxSentence), t.width-2, "  ") {
		fmt.Fprintln(t.w, "  "+t.paint(style, l))
	}
}

// sessions is the table of the newest sessions.
func (t *screen) sessions(s trendSeries) {
	from := s.shownFrom(t.rows)
	rows := [][]string{trendHead}
	for i := from; i < len(s.Points); i++ {
		rows = append(rows, s.row(i))
	}
	fmt.Fprintln(t.w)
	t.columns(rows, 2, 4)
	if from > 0 {
		t.indentedIn(dim, fmt.Sprintf("%d older sessions are not listed", from))
	}
}
