package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/exhibit"
)

// sparks are the heights of a line of text.
var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline draws values in at most so many columns, from the least to the
// largest; several sessions in one column are drawn by their median. at gives the
// column of a session.
func sparkline(v []float64, columns int) (line string, at func(i int) int) {
	n := min(len(v), columns)
	at = func(i int) int { return i * n / len(v) }
	if n == 0 {
		return "", at
	}
	low, high := slices.Min(v), slices.Max(v)
	var b strings.Builder
	for from := 0; from < len(v); {
		to := from + 1
		for to < len(v) && at(to) == at(from) {
			to++
		}
		b.WriteRune(spark(middle(v[from:to]), low, high))
		from = to
	}
	return b.String(), at
}

func spark(v, low, high float64) rune {
	if !(high > low) {
		return sparks[len(sparks)/2-1]
	}
	// Halved first: the difference of two doubles may be too large for one.
	share := (v/2 - low/2) / (high/2 - low/2)
	return sparks[min(len(sparks)-1, max(0, int(share*float64(len(sparks)))))]
}

func middle(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}

// trendSeries is one series with its words.
type trendSeries struct {
	*exhibit.TrendSeries
	trend *exhibit.Trend
}

func (s trendSeries) medians() []float64 {
	v := make([]float64, len(s.Points))
	for i := range s.Points {
		v[i] = s.Points[i].Median
	}
	return v
}

// moved is the largest movement of a series, on the log scale: what is shown first.
func moved(t *exhibit.Trend) float64 {
	most := 0.0
	for i := range t.Series {
		s := &t.Series[i]
		for _, c := range s.Steps {
			most = max(most, math.Abs(math.Log(c.Ratio)))
		}
		for _, c := range s.Creeps {
			most = max(most, math.Abs(math.Log(c.Ratio)))
		}
	}
	return most
}

// byMovement orders trends for a reader: what moved most first, then by name.
func byMovement(trends []exhibit.Trend) []*exhibit.Trend {
	out := make([]*exhibit.Trend, len(trends))
	for i := range trends {
		out[i] = &trends[i]
	}
	slices.SortStableFunc(out, func(a, b *exhibit.Trend) int { return cmp.Compare(moved(b), moved(a)) })
	return out
}

// where names a trend beside its cell: metric, phase and part.
func where(t *exhibit.Trend) string {
	name := t.Metric
	for _, s := range []string{t.Phase, t.Part} {
		if s != "" {
			name += " " + s
		}
	}
	return name
}

// about is what a series covers: sessions, days and values.
func (s trendSeries) about() string {
	first, last := s.Points[0].StartedAt, s.Points[len(s.Points)-1].StartedAt
	when := day(first)
	if day(last) != when {
		when += " to " + day(last)
	}
	return plural(len(s.Points), "session") + ", " + when + ", " + span(s.medians(), s.trend.Unit)
}

// movements are sentences on what happened, oldest first.
func (s trendSeries) movements() []string {
	type event struct {
		at   int
		text string
	}
	var events []event
	for _, c := range s.Steps {
		events = append(events, event{c.At, fmt.Sprintf("step %s%s at %s, %s, session %d of %d", unit.FormatRatio(c.Ratio), s.word(c.Ratio),
			stamp(s.Points[c.At].StartedAt), commitOf(&s.Points[c.At]), c.At+1, len(s.Points))})
	}
	for _, c := range s.Creeps {
		events = append(events, event{c.From, fmt.Sprintf("creep %s%s over %s, from %s (%s) to %s (%s)", unit.FormatRatio(c.Ratio), s.word(c.Ratio), plural(c.To-c.From, "session"),
			day(s.Points[c.From].StartedAt), commitOf(&s.Points[c.From]), day(s.Points[c.To-1].StartedAt), commitOf(&s.Points[c.To-1]))})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = e.text
	}
	return out
}

// word says whether a change is for the worse, where the metric has a direction.
func (s trendSeries) word(ratio float64) string {
	switch {
	case s.trend.Better == "" || ratio == 1:
		return ""
	case (s.trend.Better == result.Lower) == (ratio > 1):
		return " (worse)"
	}
	return " (better)"
}

// notes are sentences that belong under a series.
func (s trendSeries) notes() []string {
	var out []string
	if s.Anchor.Missing {
		out = append(out, "no session of the anchor's commit is here: ratios are to the first session")
	}
	if d := s.Drift; d != nil {
		out = append(out, fmt.Sprintf("newest %s against %s: %s", plural(d.Sessions, "session"), s.anchor(), ratioText(d.Ratio, &d.Interval)))
	}
	if s.Note != "" {
		out = append(out, s.Note)
	}
	if s.Note == "" && len(s.Steps)+len(s.Creeps) == 0 {
		out = append(out, "no step and no creep")
	}
	return out
}

func (s trendSeries) anchor() string {
	if s.Anchor.Commit == "" {
		return "the first"
	}
	return "the anchor " + shortCommit(s.Anchor.Commit)
}

// row is one session of the table.
func (s trendSeries) row(i int) []string {
	p := &s.Points[i]
	ratio := none
	if p.Ratio != nil {
		ratio = unit.FormatRatio(*p.Ratio)
	}
	mark := ""
	for _, c := range s.Steps {
		if c.At == i {
			mark = "step " + unit.FormatRatio(c.Ratio)
		}
	}
	for _, c := range s.Creeps {
		if c.From == i {
			mark = strings.TrimPrefix(mark+", creep begins", ", ")
		}
		if c.To-1 == i {
			mark = strings.TrimPrefix(mark+", creep ends", ", ")
		}
	}
	return []string{stamp(p.StartedAt), commitOf(p), fmt.Sprint(p.Runs), fit(unit.Format(p.Median, s.trend.Unit), 24), ratio, mark}
}

var trendHead = []string{"time", "commit", "runs", "median", "ratio", ""}

// shownFrom is the first of the newest n sessions.
func (s trendSeries) shownFrom(n int) int { return max(0, len(s.Points)-n) }

func day(t time.Time) string   { return t.UTC().Format("2006-01-02") }
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func commitOf(p *exhibit.TrendPoint) string {
	text := shortCommit(p.Commit)
	if p.Dirty {
		text += "+"
	}
	return text
}

func shortCommit(c string) string {
	if c == "" {
		return "no commit"
	}
	return visible(c[:min(len(c), 8)])
}
