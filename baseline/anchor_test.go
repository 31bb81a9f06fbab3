package baseline

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
)

var release = strings.Repeat("a1", 20)

// ofCommit is a candidate that measured a commit.
func ofCommit(name, commit string, sessions ...result.Session) Candidate {
	c := file(name, sessions...)
	c.Doc.Builds = map[string]result.Build{result.BuildHead: {Commit: commit}}
	return c
}

// The anchor's sessions are kept aside, however old and however many newer there
// are; they are of this machine, whole and of that very commit.
func TestAnchor(t *testing.T) {
	old := ofCommit("old.json", release, session("R", 400*day))
	dirty := ofCommit("dirty.json", release, session("D", 400*day))
	dirty.Doc.Builds[result.BuildHead] = result.Build{Commit: release, Dirty: true}
	elsewhere := ofCommit("other.json", release, session("E", 400*day))
	elsewhere.Doc.Sessions[0].Host = result.Host{}
	stopped := ofCommit("stopped.json", release, session("S", 400*day))
	stopped.Doc.Sessions[0].Interrupted = true
	newer := []Candidate{file("1.json", session("A", 1*day)), file("2.json", session("B", 2*day)), file("3.json", session("C", 3*day))}
	for _, tt := range []struct {
		name     string
		commit   string
		more     []Candidate
		anchor   string // file of the anchor's session
		why      string
		taken    []string
		rejected []Rejected
	}{
		{"too old for the others", release, []Candidate{old}, "old.json", "", []string{"1.json A", "2.json B"}, []Rejected{{"3.json", "older than the 2 newest"}}},
		{"twice", release, []Candidate{old, ofCommit("copy.json", release, session("R", 400*day))}, "old.json", "", []string{"1.json A", "2.json B"},
			[]Rejected{{"copy.json", "the same session as old.json"}, {"3.json", "older than the 2 newest"}}},
		{"older than the newest", release, []Candidate{ofCommit("r.json", release, session("R", 9*day))}, "r.json", "", []string{"1.json A", "2.json B"}, []Rejected{{"3.json", "older than the 2 newest"}}},
		{"one of the newest", release, []Candidate{ofCommit("r.json", release, session("R", 1*time.Hour))}, "r.json", "", []string{"r.json R", "1.json A"},
			[]Rejected{{"2.json", "older than the 2 newest"}, {"3.json", "older than the 2 newest"}}},
		{"none", release, nil, "", "no stored session is of a1a1a1a1a1a1", []string{"1.json A", "2.json B"}, []Rejected{{"3.json", "older than the 2 newest"}}},
		{"with changes", release, []Candidate{dirty}, "", "the stored sessions of a1a1a1a1a1a1 were measured with changes that are in no commit", []string{"1.json A", "2.json B"},
			[]Rejected{{"3.json", "older than the 2 newest"}}},
		{"of another machine", release, []Candidate{elsewhere}, "", "the stored sessions of a1a1a1a1a1a1 are of another machine", []string{"1.json A", "2.json B"},
			[]Rejected{{"other.json", `other machine: cores "8" here, unknown there; cpu_model "EPYC 7763" here, unknown there`}, {"3.json", "older than the 2 newest"}}},
		{"not whole", release, []Candidate{stopped}, "", "no stored session is of a1a1a1a1a1a1", []string{"1.json A", "2.json B"},
			[]Rejected{{"stopped.json", "interrupted: not all of it was measured"}, {"3.json", "older than the 2 newest"}}},
		{"nobody knows the commit", "", []Candidate{old}, "", "no such commit is known here: check out with its history and tags (fetch-depth: 0), or write its full hash", []string{"1.json A", "2.json B"},
			[]Rejected{{"old.json", "400 days old, limit 30 days"}, {"3.json", "older than the 2 newest"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := wanted()
			w.Anchor = tt.commit
			b := Select(Policy{Sessions: 2, MaxAge: (30 * day).Seconds(), Anchor: "v1.4.0"}, w, "", append(append([]Candidate{}, newer...), tt.more...))
			if diff := cmp.Diff(tt.taken, taken(b)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.rejected, b.Rejected); diff != "" {
				t.Error(diff)
			}
			a := b.Anchor
			if a.Name != "v1.4.0" || a.Commit != tt.commit || a.Why != tt.why || (len(a.Sessions) == 1) != (tt.anchor != "") || tt.anchor != "" && a.Sessions[0].File != tt.anchor {
				t.Errorf("%+v", a)
			}
		})
	}
	if b := Select(Policy{}, wanted(), "", newer); b.Anchor != nil {
		t.Errorf("nobody asked: %+v", b.Anchor)
	}
}
