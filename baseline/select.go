package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfweir/perfweir/collect/result"
)

// Incomparable: there are sessions, but all of another machine kind.
const Incomparable = "not_comparable"

// Want is what the current session needs a baseline to be (its passport).
type Want struct {
	Suite   string
	Machine string // name of this machine; asked for where the policy is SameMachine
	Host    result.Host
	// AnyMachine takes sessions of every kind of machine: for whoever looks after a
	// baseline and compares nothing with it.
	AnyMachine bool
	StartedAt  time.Time       // ages are counted from here, never from the clock
	Sessions   map[string]bool // ids of the current document: never its own baseline
	Anchor     string          // full hash of Policy.Anchor; "" where nobody could tell
}

// Select chooses sessions for a policy: of this suite, of this machine, whole,
// not too old; newest first, at most Policy.Sessions. Every candidate that is
// not taken is listed with why. It never fails: no baseline is a state.
//
// Cells are matched later, one by one, by the gate: a session that lacks a cell
// is still a baseline for the others.
func Select(p Policy, w Want, origin string, candidates []Candidate) *Baseline {
	b := &Baseline{State: OK, Origin: origin}
	sorting := sorting{policy: p, want: w, baseline: b}
	for _, c := range candidates {
		sorting.sort(c)
	}
	taken := b.dropDuplicates(newestFirst(sorting.taken))
	old := b.dropDuplicates(newestFirst(sorting.old))
	b.Anchor = anchored(p, w, newestFirst(slices.Concat(taken, old)), sorting.elsewhere)
	b.Sessions = b.keepNewest(taken, p.Sessions)
	if len(b.Sessions) == 0 {
		b.State, b.Reason = sorting.none(len(candidates))
		return b
	}
	if text := staleness(w.StartedAt.Sub(b.Newest).Seconds(), p.MaxAge, sorting.failedRefreshes()); text != "" {
		b.Warnings = append(b.Warnings, text)
	}
	return b
}

// newestFirst sorts by start.
func newestFirst(sessions []Stored) []Stored {
	slices.SortStableFunc(sessions, func(x, y Stored) int {
		return cmp.Or(y.Session().StartedAt.Compare(x.Session().StartedAt), strings.Compare(y.Session().ID, x.Session().ID))
	})
	return sessions
}

// sorting is candidates being taken or rejected, one by one.
type sorting struct {
	policy       Policy
	want         Want
	baseline     *Baseline
	taken        []Stored
	old          []Stored // of the anchor, too old for the others
	elsewhere    bool     // the anchor has sessions of another machine
	stored       int      // sessions that could be read
	otherMachine int      // of those, of another machine
	refreshes    []refresh
}

// refresh is what became of one Candidate.Refresh.
type refresh struct {
	name   string
	usable bool
	later  bool // than the current session: it says nothing
}

// sort takes or rejects every session of a candidate.
func (so *sorting) sort(c Candidate) {
	if why := unusable(so.want, c); why != "" {
		so.baseline.reject(c.File, why)
		so.refreshed(c.Refresh, broken)
		return
	}
	for i := range c.Doc.Sessions {
		so.stored++
		s := Stored{File: c.File, Doc: c.Doc, Index: i}
		why, fit := unfit(so.policy, so.want, s.Session())
		so.refreshed(c.Refresh, fit)
		if fit == otherMachine {
			so.otherMachine++
			so.elsewhere = so.elsewhere || isOf(s, so.want.Anchor)
		}
		if start := s.Session().StartedAt; (fit == fits || fit == tooOld) && start.After(so.baseline.Newest) {
			so.baseline.Newest = start
		}
		switch {
		case fit == fits:
			so.taken = append(so.taken, s)
		case fit == tooOld && isOf(s, so.want.Anchor):
			so.old = append(so.old, s)
		default:
			so.baseline.reject(s.label(), why)
		}
	}
}

// refreshed notes what a refresh left: the best of it counts.
func (so *sorting) refreshed(name string, fit fitness) {
	if name == "" {
		return
	}
	i := slices.IndexFunc(so.refreshes, func(r refresh) bool { return r.name == name })
	if i < 0 {
		i = len(so.refreshes)
		so.refreshes = append(so.refreshes, refresh{name: name})
	}
	so.refreshes[i].usable = so.refreshes[i].usable || fit == fits
	so.refreshes[i].later = so.refreshes[i].later || fit == tooNew
}

// failedRefreshes is how many of the newest refreshes left nothing usable.
func (so *sorting) failedRefreshes() int {
	failed := 0
	for _, r := range so.refreshes {
		switch {
		case r.usable:
			return failed
		case !r.later:
			failed++
		}
	}
	return failed
}

// none says why nothing is taken, without claiming more than is known.
func (so *sorting) none(candidates int) (state, reason string) {
	switch {
	case so.otherMachine > 0 && so.otherMachine == so.stored:
		return Incomparable, fmt.Sprintf("all %d stored sessions are of another machine", so.stored)
	case so.otherMachine > 0:
		return Incomparable, fmt.Sprintf("%d of %d stored sessions are of another machine, and none of the others fits", so.otherMachine, so.stored)
	case candidates == 0:
		return None, "no session is stored yet"
	}
	return None, fmt.Sprintf("none of %d candidates fits", candidates)
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

// keepNewest keeps the newest so many; 0: all. Shards are counted apart: each has
// cells that the others lack, and three of one night are no three sessions.
func (b *Baseline) keepNewest(sorted []Stored, most int) []Stored {
	if most <= 0 {
		return sorted
	}
	kept := map[string]int{} // by shard
	out := sorted[:0]
	for _, s := range sorted {
		shard := s.Doc.Plan.Shard
		if kept[shard] == most {
			if b.isAnchor(s) {
				continue
			}
			b.reject(s.label(), fmt.Sprintf("older than the %d newest", most))
			continue
		}
		kept[shard]++
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

// fitness is how a session stands to what is wanted.
type fitness int

const (
	fits fitness = iota
	broken
	otherMachine
	tooOld
	tooNew // the current session itself, or later
)

// unfit says why a session is not taken.
func unfit(p Policy, w Want, s *result.Session) (why string, fit fitness) {
	if w.Sessions[s.ID] {
		return "this very session", tooNew
	}
	if !w.AnyMachine {
		if diff := HostDifference(w.Host, s.Host); diff != "" {
			return "other machine: " + diff, otherMachine
		}
		if p.Machine == SameMachine && s.Machine != w.Machine {
			return fmt.Sprintf("other machine: its name is %q, this one's %q", s.Machine, w.Machine), otherMachine
		}
	}
	if s.Interrupted {
		return "interrupted: not all of it was measured", broken
	}
	age := w.StartedAt.Sub(s.StartedAt)
	if age < 0 {
		return "started after the current session", tooNew
	}
	if p.MaxAge > 0 && age.Seconds() > p.MaxAge {
		return fmt.Sprintf("%s old, limit %s", Days(age.Seconds()), Days(p.MaxAge)), tooOld
	}
	return "", fits
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

// SoftDifferences are the soft keys that both machines know and in which they
// differ, with both values: no reason not to compare, but one to doubt.
func SoftDifferences(a, b result.Host) map[string][2]string {
	diffs := map[string][2]string{}
	for k, x := range a.Soft {
		if y, ok := b.Soft[k]; ok && x != y {
			diffs[k] = [2]string{x, y}
		}
	}
	return diffs
}
