package baseline

import (
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
)

// Anchored is what is kept aside of a fixed commit: many steps that each fit the
// budget against recent sessions are seen against it (V18).
type Anchored struct {
	Name     string   // as the suite file has it: "v1.4.0"
	Commit   string   // full hash; "" where it could not be found
	Sessions []Stored // of that commit, newest first; none: Why
	Why      string
}

// maxAnchored is how many sessions of the anchor's commit are used.
const maxAnchored = 10

// anchored finds the anchor's sessions among those that fit but for their age,
// which may be any.
func anchored(p Policy, w Want, sorted []Stored, elsewhere bool) *Anchored {
	if p.Anchor == "" {
		return nil
	}
	a := &Anchored{Name: p.Anchor, Commit: w.Anchor}
	if a.Commit == "" {
		a.Why = "no such commit is known here: check out with its history and tags (fetch-depth: 0), or write its full hash"
		return a
	}
	dirty := 0
	for _, s := range sorted {
		switch {
		case !isOf(s, a.Commit):
		case s.Doc.Builds[result.BuildHead].Dirty:
			dirty++
		case len(a.Sessions) < maxAnchored:
			a.Sessions = append(a.Sessions, s)
		}
	}
	if len(a.Sessions) > 0 {
		return a
	}
	switch {
	case dirty > 0:
		a.Why = fmt.Sprintf("the stored sessions of %.12s were measured with changes that are in no commit", a.Commit)
	case elsewhere:
		a.Why = fmt.Sprintf("the stored sessions of %.12s are of another machine", a.Commit)
	default:
		a.Why = fmt.Sprintf("no stored session is of %.12s", a.Commit)
	}
	return a
}

// isOf reports whether a session measured a commit; none is of "".
func isOf(s Stored, commit string) bool {
	return commit != "" && s.Doc.Builds[result.BuildHead].Commit == commit
}

// isAnchor reports whether a session is kept aside.
func (b *Baseline) isAnchor(s Stored) bool {
	return b.Anchor != nil && slices.ContainsFunc(b.Anchor.Sessions, func(o Stored) bool { return o.Doc == s.Doc && o.Index == s.Index })
}
