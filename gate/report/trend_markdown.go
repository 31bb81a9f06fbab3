package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/perfweir/perfweir/gate/exhibit"
)

// sparkColumns is how wide a line of sessions is in Markdown.
const sparkColumns = 72

// TrendsMarkdown writes trends as GitHub's Markdown of at most Options.Bytes
// bytes: what moved most first, the sessions of each folded. Sessions, and then
// whole trends, are left out, and counted, when it would be more.
func TrendsMarkdown(w io.Writer, trends []exhibit.Trend, opts Options) error {
	left := opts.bytes() - reservedBytes
	var b strings.Builder
	put := func(text string) bool {
		if len(text) > left {
			return false
		}
		left -= len(text)
		b.WriteString(text)
		return true
	}
	for i, trend := range byMovement(trends) {
		if !put(mdTrend(trend)) {
			fmt.Fprintf(&b, "%d more trends are left out: they would not fit.\n", len(trends)-i)
			break
		}
		// Each trend may take its share of what is left for its sessions.
		share := left / (len(trends) - i)
		for k := range trend.Series {
			text := mdSessions(trendSeries{&trend.Series[k], trend}, opts.rows(), share/len(trend.Series))
			put(text)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write trends: %w", err)
	}
	return nil
}

func mdTrend(trend *exhibit.Trend) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s %s\n\n", mdCode(trend.Cell), mdCode(where(trend)))
	for i := range trend.Series {
		s := trendSeries{&trend.Series[i], trend}
		if len(s.Apart) > 0 {
			fmt.Fprintf(&b, "A series of its own: %s.\n\n", mdText(strings.Join(s.Apart, "; ")))
		}
		line, _ := sparkline(s.medians(), sparkColumns)
		fmt.Fprintf(&b, "`%s`\n\n%s\n\n", line, mdText(s.about()))
		for _, text := range append(s.movements(), s.notes()...) {
			fmt.Fprintf(&b, "- %s\n", mdText(text))
		}
		b.WriteString("\n")
	}
	if trend.Gaps > 0 {
		fmt.Fprintf(&b, "%s without a number: left out, nothing is filled in.\n\n", plural(trend.Gaps, "session"))
	}
	return b.String()
}

// mdSessions is the folded table of a series' newest sessions, in at most so many
// bytes; "" when not even its head fits.
func mdSessions(s trendSeries, most, bytes int) string {
	var rows []string
	size := 400 // of what is around the rows
	from := s.shownFrom(most)
	for i := len(s.Points) - 1; i >= from; i-- {
		cells := s.row(i)
		for k := range cells {
			cells[k] = mdText(cells[k])
		}
		row := rowText(cells)
		if size += len(row); size > bytes {
			break
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s|\n|%s\n", strings.Join(trendHead, " | "), strings.Repeat(" --- |", len(trendHead)))
	for _, row := range rows {
		b.WriteString(row)
	}
	return fold(fmt.Sprintf("newest %d of %s", len(rows), plural(len(s.Points), "session")), b.String())
}
