package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/report"
)

// Sizes of a comment, in bytes. GitHub refuses more than 65,536 characters, does
// not say how it counts, and has refused less than that: a body that is refused is
// written again at half the size.
const (
	commentBytes  = report.DefaultBytes
	commentAgain  = commentBytes / 2
	overheadBytes = 1_000 // of a section: its hidden line and its share of the first line
)

// compose returns a comment of at most so many bytes: our own section, rendered
// into the room it has, and the others as they are, cut where there is not room for
// all. No section takes room from another that needs less than its share.
func compose(key string, others []section, own marker, render func(bytes int) string, limit int) string {
	all := slices.DeleteFunc(slices.Clone(others), func(s section) bool { return s.suite == own.suite })
	all = append(all[:min(len(all), mostSections-1)], section{marker: own})
	self := &all[len(all)-1]
	room := roomOf(all, limit)
	self.text = disarm(render(room))
	if level := fair(all, room); len(self.text) > level {
		self.text = disarm(render(level))
	}
	return write(key, fit(all, limit))
}

// roomOf is what all texts together may have.
func roomOf(all []section, limit int) int { return limit - overheadBytes*len(all) }

// fit cuts the largest sections until all fit.
func fit(all []section, limit int) []section {
	out := slices.Clone(all)
	level := fair(out, roomOf(out, limit))
	for i := range out {
		out[i].text = shorten(out[i].text, level)
	}
	return out
}

// write joins sections, the worst first.
func write(key string, all []section) string {
	slices.SortFunc(all, func(a, b section) int {
		return cmp.Or(a.outcome.Compare(b.outcome), strings.Compare(a.suite, b.suite))
	})
	var b strings.Builder
	b.WriteString(topMarker(key) + "\n")
	if len(all) > 1 {
		b.WriteString(summaryLine(all) + "\n\n")
	}
	for i, s := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.marker.String() + "\n" + trimmed(s.text))
	}
	return b.String()
}

// summaryLine is the first line of a comment that several suites share.
func summaryLine(all []section) string {
	worst := 0
	names := make([]string, len(all))
	for i, s := range all {
		if s.outcome == all[0].outcome {
			worst++
		}
		names[i] = report.Code(nameOf(s.suite)) + " " + report.Words(string(s.outcome))
	}
	const most = 12
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return fmt.Sprintf("**%s**: %d of %d suites: %s", report.Words(string(all[0].outcome)), worst, len(all), strings.Join(names, ", "))
}

// disarm keeps a text from holding a hidden line of ours: inside a code block, a
// line may be anything.
func disarm(text string) string {
	if strings.HasPrefix(text, "<!-- perfweir") {
		text = " " + text
	}
	return strings.ReplaceAll(text, "\n<!-- perfweir", "\n <!-- perfweir")
}

// fair is the size under which all texts fit into the room when the larger ones are
// cut to it and the smaller ones keep what they need.
func fair(all []section, room int) int {
	sizes := make([]int, len(all))
	for i := range all {
		sizes[i] = len(all[i].text)
	}
	slices.Sort(sizes)
	for i, size := range sizes {
		share := room / (len(sizes) - i)
		if size > share {
			return share
		}
		room -= size
	}
	return room + commentBytes // all fit
}

const cutNote = "\nCut for size; the job summary has all of it.\n"

// shorten cuts a section at the end of a line and closes what is open there: never
// inside a row, a code block or a tag. A section that is short enough only gets what
// it left open closed, since it would swallow the one below.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		if closing := newScan(text).close(); closing != "" {
			return shorten(trimmed(text)+closing, limit)
		}
		return text
	}
	limit -= len(cutNote)
	var s scan
	at, end, closing := 0, 0, ""
	for line := range strings.SplitAfterSeq(text, "\n") {
		s.line(line)
		at += len(line)
		c := s.close()
		if at+len(c) > limit {
			break
		}
		if s.fence == "" {
			end, closing = at, c
		}
	}
	return strings.TrimRight(text[:end], "\n") + "\n" + closing + cutNote
}

// scan knows what is open after some lines of Markdown that report wrote.
type scan struct {
	fence   string // the run of backticks that ends the block
	details int
}

func newScan(text string) *scan {
	s := &scan{}
	for line := range strings.SplitAfterSeq(text, "\n") {
		s.line(line)
	}
	return s
}

func (s *scan) line(line string) {
	ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	rest := strings.TrimSpace(line[len(ticks):])
	switch {
	case s.fence != "":
		if len(ticks) >= len(s.fence) && rest == "" {
			s.fence = ""
		}
	case len(ticks) >= 3 && !strings.Contains(rest, "`"):
		s.fence = ticks
	case strings.HasPrefix(line, "<details>"):
		s.details++
	case strings.HasPrefix(line, "</details>") && s.details > 0:
		s.details--
	}
}

// close returns what ends everything that is open.
func (s *scan) close() string {
	var b strings.Builder
	if s.fence != "" {
		b.WriteString(s.fence + "\n")
	}
	if s.details > 0 {
		b.WriteString("\n" + strings.Repeat("</details>\n", s.details))
	}
	return b.String()
}
