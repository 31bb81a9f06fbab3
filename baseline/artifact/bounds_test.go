package artifact

import (
	"fmt"
	"strings"
	"testing"
)

// The bounds, and that they are told. A fork can fill the list of runs: then it is
// not known whether there is a baseline. What our own runs did not leave is known.
func TestBounds(t *testing.T) {
	forks := func(w *world) {
		for i := range int64(5) {
			fork := goodRun(200 - i)
			fork.HeadRepositoryID = theirs
			w.run(fork)
		}
	}
	empty := func(w *world) {
		for i := range int64(5) {
			w.run(goodRun(90 - i))
		}
	}
	for _, tt := range []struct {
		name      string
		limits    Limits
		fill      func(*world)
		fit       int
		err, warn string
	}{
		{"runs, none fits", Limits{Runs: 5}, func(w *world) { forks(w); w.good(100) }, 0,
			"the newest 5 workflow runs were looked at of workflow nightly.yml on main and none of them has a session that fits; older ones were not asked for", ""},
		{"runs, one fits", Limits{Runs: 6}, func(w *world) { forks(w); w.good(100); w.good(99) }, 1, "", "the newest 6 workflow runs were looked at; older ones were not"},
		{"runs, enough fit", Limits{Runs: 3}, func(w *world) { w.good(100); w.good(99); w.good(98); w.good(97) }, 3, "", ""},
		{"listings, none fits", Limits{Listings: 4}, func(w *world) { empty(w); w.good(80) }, 0, "", "the artifacts of the newest 4 workflow runs were looked at; older ones were not"},
		{"listings, one fits", Limits{Listings: 4}, func(w *world) { w.good(100); empty(w) }, 1, "", "the artifacts of the newest 4 workflow runs were looked at; older ones were not"},
		{"downloads", Limits{Downloads: 2}, func(w *world) { w.good(100); w.good(99); w.good(98) }, 2, "", "2 artifacts were read; older ones were not"},
		{"all documents together", Limits{Documents: 1000}, func(w *world) { w.good(100); w.good(99); w.good(98) }, 1, "",
			"2 artifacts were read, with as many bytes of results as are kept together; older ones were not"},
		{"one document", Limits{Document: 100}, func(w *world) { w.good(100); w.good(99) }, 0, "", ""},
		{"artifacts of a run", Limits{Artifacts: 2}, func(w *world) {
			w.artifacts[100] = []Artifact{{Name: "a"}, {Name: "b"}}
			w.good(100)
		}, 0, "", "workflow run 100: only 2 artifacts were looked at"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.q.Limits = tt.limits
			tt.fill(w)
			found, err := Candidates(t.Context(), w.fakeGitHub, w.q)
			if found.Fit != tt.fit || fmt.Sprint(err) != orNil(tt.err) {
				t.Errorf("%d fit, want %d; %v\nwant %v\n%q", found.Fit, tt.fit, err, orNil(tt.err), told(found))
			}
			if strings.Join(found.Warnings, "|") != tt.warn {
				t.Errorf("warnings %q, want %q", found.Warnings, tt.warn)
			}
		})
	}
}

func orNil(text string) string {
	if text == "" {
		return "<nil>"
	}
	return text
}

// Sizes that an archive has though nobody announced them.
func TestArchiveSizes(t *testing.T) {
	for name, spoil := range map[string]func(*blob){
		"announced":           func(b *blob) { b.size = 5000 },
		"unknown, and larger": func(b *blob) { b.size, b.data = -1, make([]byte, 2001) },
	} {
		w := newWorld(t)
		w.q.Limits.Archive = 2000
		w.good(100)
		spoil(w.blobs[10000])
		if got := told(w.find())[0]; !strings.HasSuffix(got, "large, limit 2000") && !strings.HasSuffix(got, "is larger than 2000 bytes") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
