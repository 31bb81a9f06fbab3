package baseline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfweir/perfweir/collect/result"
)

// Incomparable: there are sessions, but all of another machine kind.
const Incomparable = "not_comparable"

// Want is what the current session needs a baseline to be (its passport).
type Want struct {
	Suite     string
	Host      result.Host
	StartedAt time.Time       // ages are counted from here, never from the clock
	Sessions  map[string]bool // ids of the current document: never its own baseline
}

// Select chooses sessions for a policy: of this suite, of this machine, whole,
// not too old; newest first, at most Policy.Sessions. Every candidate that is
// not taken is listed with why. It never fails: no baseline is a state.
//
// Cells are matched later, one by one, by the gate: a session that lacks a cell
// is still a baseline for the others.
func Select(p Policy, w Want, origin string, candidates []Candidate) *Baseline {
	b := &Baseline{State: OK, Origin: origin}
	stored, otherMachine := 0, 0
	var taken []Stored
	for _, c := range candidates {
		if why := unusable(w, c); why != "" {
			b.reject(c.File, why)
			continue
		}
		for i := range c.Doc.Sessions {
			stored++
			s := Stored{File: c.File, Doc: c.Doc, Index: i}
			why, machine := unfit(p, w, s.Session())
			if machine {
				otherMachine++
			}
			if why != "" {
				b.reject(s.label(), why)
				continue
			}
			taken = append(taken, s)
		}
	}
	slices.SortStableFunc(taken, func(x, y Stored) int {
		return cmp.Or(y.Session().StartedAt.Compare(x.Session().StartedAt), strings.Compare(y.Session().ID, x.Session().ID))
	})
	taken = b.dropDuplicates(taken)
	if n := p.Sessions; n > 0 && len(taken) > n {
		for _, s := range taken[n:] {
			b.reject(s.label(), fmt.Sprintf("older than the %d newest", n))
		}
		taken = taken[:n]
	}
	b.Sessions = taken
	switch {
	case len(taken) > 0:
	case otherMachine > 0 && otherMachine == stored:
		b.State, b.Reason = Incomparable, fmt.Sprintf("all %d stored sessions are of another machine", stored)
	case otherMachine > 0:
		b.State, b.Reason = Incomparable, fmt.Sprintf("%d of %d stored sessions are of another machine, and none of the others fits", otherMachine, stored)
	case len(candidates) == 0:
		b.State, b.Reason = None, "no session is stored yet"
	default:
		b.State, b.Reason = None, fmt.Sprintf("none of %d candidates fits", len(candidates))
	}
	return b
}

func (b *Baseline) reject(candidate, why string) {
	b.Rejected = append(b.Rejected, Rejected{candidate, why})
}

// label names a session for people: by its file, and by its id where the file
// has more than one.
func (s Stored) label() string {
	if len(s.Doc.Sessions) == 1 {
		return s.File
	}
	return s.File + " session " + s.Session().ID
}

// dropDuplicates keeps one of several copies of a session: counted twice it
// would pass for two.
func (b *Baseline) dropDuplicates(sorted []Stored) []Stored {
	seen := map[string]string{}
	out := sorted[:0]
	for _, s := range sorted {
		id := s.Session().ID
		if first, ok := seen[id]; ok {
			b.reject(s.label(), "the same session as "+first)
			continue
		}
		seen[id] = s.label()
		out = append(out, s)
	}
	return out
}

// unusable says why no session of a candidate can be taken.
func unusable(w Want, c Candidate) string {
	switch {
	case c.Err != nil:
		return c.Err.Error()
	case c.Doc.Suite.Name != w.Suite:
		return fmt.Sprintf("of suite %q", c.Doc.Suite.Name)
	case len(c.Doc.Sessions) == 0:
		return "has no session"
	}
	return ""
}

// unfit says why a session is not taken; machine is set when it is another's.
func unfit(p Policy, w Want, s *result.Session) (why string, machine bool) {
	if w.Sessions[s.ID] {
		return "this very session", false
	}
	if diff := HostDifference(w.Host, s.Host); diff != "" {
		return "other machine: " + diff, true
	}
	if s.Interrupted {
		return "interrupted: not all of it was measured", false
	}
	age := w.StartedAt.Sub(s.StartedAt)
	if age < 0 {
		return "started after the current session", false
	}
	if p.MaxAge > 0 && age.Seconds() > p.MaxAge {
		return fmt.Sprintf("%s old, limit %s", days(age.Seconds()), days(p.MaxAge)), false
	}
	return "", false
}

// days is a time for people, to the hour: below two days in hours.
func days(seconds float64) string {
	hours := int(math.Floor(seconds / 3600))
	switch d, h := hours/24, hours%24; {
	case hours < 48:
		return fmt.Sprintf("%d hours", hours)
	case h == 0:
		return fmt.Sprintf("%d days", d)
	default:
		return fmt.Sprintf("%d days %d hours", d, h)
	}
}

// HostDifference lists the strict keys in which two machines differ, with both
// values; "" when they are of one kind. A key that only one side knows differs.
func HostDifference(a, b result.Host) string {
	keys := map[string]bool{}
	for k := range a.Strict {
		keys[k] = true
	}
	for k := range b.Strict {
		keys[k] = true
	}
	var diffs []string
	for k := range keys {
		x, okX := a.Strict[k]
		y, okY := b.Strict[k]
		if x != y || okX != okY {
			diffs = append(diffs, fmt.Sprintf("%s %s here, %s there", k, orUnknown(x, okX), orUnknown(y, okY)))
		}
	}
	slices.Sort(diffs)
	return strings.Join(diffs, "; ")
}

func orUnknown(v string, known bool) string {
	if !known {
		return "unknown"
	}
	return fmt.Sprintf("%q", v)
}
