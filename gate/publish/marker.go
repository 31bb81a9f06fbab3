package publish

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// A comment of ours is, line by line:
//
//	<!-- perfweir:KEY v=1 -->              where it begins, and whose it is
//	**fail**: 1 of 2 suites; ...           only where it has several sections
//	<!-- perfweir-section suite=... -->    what the section below was told of
//	**fail**: 4 of 24 budgets broken ...   the section
//
// KEY is the suite, or the comment group whose suites share the comment. A section
// ends where the next begins. Whoever updates the comment replaces its own section
// and copies the others, the worst first.

// topMarker is the first line of a comment, without its line end.
func topMarker(key string) string { return "<!-- perfweir:" + tokenOf(key) + " v=1 -->" }

// mine reports whether a body is a comment of this key: it begins with its marker.
// The rest of that line may be of a later version.
func mine(body, key string) bool {
	return strings.HasPrefix(body, "<!-- perfweir:"+tokenOf(key)+" ")
}

// marker is what a section's hidden line says.
type marker struct {
	suite    string // token
	run      Run
	head     string // commit
	outcome  verdict.Outcome
	open     bool   // something red was told and has not passed since
	resolved bool   // this section says that it passes now
	rows     string // digest of what is broken
}

// Longest numbers and words are bounded, so that a line is.
var sectionLine = regexp.MustCompile(`^<!-- perfweir-section suite=([A-Za-z0-9._/%~-]{1,330}) run=([0-9]{1,18}) number=([0-9]{1,9}) attempt=([0-9]{1,9})` +
	` head=([0-9a-f]{1,64}|-) outcome=([a-z_]{1,20}) open=([01]) resolved=([01]) rows=([0-9a-f]{16}) -->$`)

var hexDigits = regexp.MustCompile(`^[0-9a-f]{1,64}$`)

// String is the hidden line, without its line end.
func (m marker) String() string {
	head := m.head
	if !hexDigits.MatchString(head) {
		head = "-"
	}
	return fmt.Sprintf("<!-- perfweir-section suite=%s run=%d number=%d attempt=%d head=%s outcome=%s open=%s resolved=%s rows=%s -->",
		m.suite, m.run.ID, m.run.Number, m.run.Attempt, head, m.outcome, bit(m.open), bit(m.resolved), m.rows)
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// parseMarker reads a hidden line that String could have written, and no other.
func parseMarker(line string) (marker, bool) {
	f := sectionLine.FindStringSubmatch(line)
	if f == nil {
		return marker{}, false
	}
	m := marker{suite: f[1], head: f[5], outcome: verdict.Outcome(f[6]), open: f[7] == "1", resolved: f[8] == "1", rows: f[9]}
	if m.head == "-" {
		m.head = ""
	}
	m.run.ID, _ = strconv.ParseInt(f[2], 10, 64) // the pattern bounds the digits
	m.run.Number, _ = strconv.Atoi(f[3])
	m.run.Attempt, _ = strconv.Atoi(f[4])
	return m, known(m.outcome) && m.String() == line
}

// compareRuns orders workflow runs by age. Numbers count the runs of one workflow
// and begin anew when its file is renamed, so ids, which grow over a whole server,
// go first; a server without ids has numbers.
func compareRuns(a, b Run) int {
	if a.ID == 0 || b.ID == 0 {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Attempt, b.Attempt))
	}
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Attempt, b.Attempt))
}

// section is one suite's part of a comment.
type section struct {
	marker
	text string // ends with a line end
}

// Most that is read of a body. GitHub takes 65,536 characters of at most four
// bytes.
const (
	mostBody     = 4 * 65_536
	mostSections = 50
)

// parseBody reads the sections of a comment of ours. Whatever stands outside of
// one is left behind. Of two sections of one suite the newer counts.
func parseBody(body string) []section {
	if len(body) > mostBody {
		return nil
	}
	body = strings.ReplaceAll(body, "\r\n", "\n")
	var all []section
	begin, at := 0, 0 // of the section that is being read; of the line
	for line := range strings.SplitAfterSeq(body, "\n") {
		if m, ok := parseMarker(strings.TrimSuffix(line, "\n")); ok {
			if len(all) > 0 {
				all[len(all)-1].text = body[begin:at]
			}
			if len(all) == mostSections {
				return newest(all) // one too many: it and what follows are left behind
			}
			all = append(all, section{marker: m})
			begin = at + len(line)
		}
		at += len(line)
	}
	if len(all) > 0 {
		all[len(all)-1].text = body[begin:at]
	}
	return newest(all)
}

// trimmed ends a text with exactly one line end.
func trimmed(text string) string { return strings.TrimRight(text, " \t\r\n") + "\n" }

// newest keeps of each suite the newest section, in the order of their suites.
func newest(all []section) []section {
	for i := range all {
		all[i].text = trimmed(disarm(all[i].text))
	}
	slices.SortStableFunc(all, func(a, b section) int {
		return cmp.Or(strings.Compare(a.suite, b.suite), compareRuns(b.run, a.run))
	})
	return slices.CompactFunc(all, func(a, b section) bool { return a.suite == b.suite })
}
