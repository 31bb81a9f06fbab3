package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/baseline"
)

var errServer = errors.New("502 Bad Gateway")

// Ten sessions take one list of runs, one of commits, and two requests for each:
// nothing is asked for that is not needed.
func TestRequestsOfTenSessions(t *testing.T) {
	w := newWorld(t)
	w.q.Sessions = 10
	want := []string{"runs of nightly.yml on main page 1", "100 commits before 0064"}
	for i := range int64(30) {
		w.good(100 - i)
		if i < 10 {
			want = append(want, fmt.Sprintf("artifacts of %d page 1", 100-i), fmt.Sprintf("archive %d", (100-i)*100))
		}
	}
	found := w.find()
	if diff := cmp.Diff(want, w.requests); diff != "" {
		t.Error(diff)
	}
	if found.Fit != 10 || len(found.Candidates) != 10 || found.Warnings != nil || found.Origin != "workflow nightly.yml on main" {
		t.Errorf("%+v", found)
	}
}

// Nobody said how many sessions are wanted.
func TestDefaultNumberOfSessions(t *testing.T) {
	w := newWorld(t)
	w.q.Sessions = 0
	for i := range int64(12) {
		w.good(100 - i)
	}
	if found := w.find(); found.Fit != 10 || len(found.Candidates) != 10 {
		t.Error(told(found))
	}
}

// A page is fetched when its first run is wanted, not before.
func TestNoPageTooMany(t *testing.T) {
	w := newWorld(t)
	w.page = 3
	for i := range int64(9) {
		w.good(100 - i)
	}
	if found := w.find(); found.Fit != 3 || slices.Contains(w.requests, "runs of nightly.yml on main page 2") {
		t.Error(found.Fit, w.requests)
	}
}

// Nothing that passes needs no list of commits.
func TestNothingThere(t *testing.T) {
	w := newWorld(t)
	fork := goodRun(100)
	fork.HeadRepositoryID = theirs
	w.run(fork)
	found := w.find()
	if found.Fit != 0 || found.Warnings != nil || len(w.requests) != 1 {
		t.Errorf("%+v %q", found, w.requests)
	}
	if b := baseline.Select(baseline.Policy{}, w.q.Want, found.Origin, found.Candidates); b.State != baseline.None {
		t.Errorf("%+v", b)
	}
}

// C18: the good run is on the twelfth page, its artifact on the fourteenth.
func TestManyPages(t *testing.T) {
	w := newWorld(t)
	w.page = 10
	for i := range int64(115) {
		fork := goodRun(2000 - i)
		fork.HeadRepositoryID = theirs
		w.run(fork)
	}
	run := w.run(goodRun(100))
	for i := range 135 {
		w.artifacts[100] = append(w.artifacts[100], Artifact{Name: fmt.Sprintf("logs-%d", i)})
	}
	w.left(run, goodDocument(run, "perf-1"))
	for i := range 100 {
		w.artifacts[100] = append(w.artifacts[100], Artifact{Name: fmt.Sprintf("more-logs-%d", i)})
	}
	found := w.find()
	if found.Fit != 1 {
		t.Error(told(found))
	}
	// The last runs page is read for there may be more runs; the artifacts end where
	// nothing better can come.
	if !slices.Contains(w.requests, "runs of nightly.yml on main page 12") || !slices.Contains(w.requests, "artifacts of 100 page 14") || slices.Contains(w.requests, "artifacts of 100 page 15") {
		t.Error(w.requests)
	}
	// So many are not all listed, but counted.
	if want := []string{"15 more workflow runs were not taken; the first 100 are listed"}; !slices.Equal(found.Warnings, want) || len(found.Candidates) != 101 {
		t.Errorf("%d candidates, %q", len(found.Candidates), found.Warnings)
	}
}

// C17: expired by the listing, 410 at the download, then a good one.
func TestExpiredOnesAreWalkedPast(t *testing.T) {
	w := newWorld(t)
	w.good(100).Expired = true
	w.good(99)
	w.blobs[9900].err = fmt.Errorf("410 Gone: artifact has expired: %w", fs.ErrNotExist)
	w.good(98)
	delete(w.blobs, 9800)
	w.good(97)
	w.q.MaxAge = 4 * 86400
	found := w.find()
	want := []string{"workflow run 100 perf-1-1of1-a1: expired",
		"workflow run 99 perf-1-1of1-a1: GitHub has it no more: 410 Gone: artifact has expired: file does not exist",
		"workflow run 98 perf-1-1of1-a1: GitHub has it no more: archive 9800: file does not exist",
		"workflow run 97 perf-1-1of1-a1: +01RUN97PERF1"}
	if diff := cmp.Diff(want, told(found)); diff != "" {
		t.Error(diff)
	}
	b := baseline.Select(baseline.Policy{MaxAge: w.q.MaxAge}, w.q.Want, found.Origin, found.Candidates)
	if want := []string{"the newest session is 4 hours old, limit 4 days: the last 3 refreshes left nothing usable"}; b.State != baseline.OK || !slices.Equal(b.Warnings, want) {
		t.Errorf("%s, %q", b.State, b.Warnings)
	}
}

// "Could not ask" is never "none": with nothing usable it is an error, with enough
// sessions a warning.
func TestCouldNotAsk(t *testing.T) {
	refused := fmt.Errorf("needs actions: read: %w", fs.ErrPermission)
	for _, tt := range []struct {
		name string
		errs map[string]error
		fit  int
		err  string // "": none
		warn string
	}{
		{"listing refused", map[string]error{"runs of nightly.yml on main page 1": refused}, 0, "list the runs of workflow nightly.yml: needs actions: read: permission denied", ""},
		{"no such workflow", map[string]error{"runs of nightly.yml on main page 1": fs.ErrNotExist}, 0,
			"list the runs of workflow nightly.yml: file does not exist; is the file on the default branch, and named right in baseline.workflow?", ""},
		{"listing broken off", map[string]error{"runs of nightly.yml on main page 2": errServer}, 2, "", "2 of 3 sessions are used: not all could be asked for: list the runs of workflow nightly.yml: 502 Bad Gateway"},
		{"commits refused", map[string]error{"100 commits before 0064": refused}, 0, "list the commits before 006400640064: needs actions: read: permission denied", ""},
		{"commits unknown", map[string]error{"100 commits before 0064": fs.ErrNotExist}, 0, "list the commits before 006400640064: file does not exist", ""},
		{"artifacts refused", map[string]error{"artifacts of 100 page 1": refused}, 0, "list the artifacts of workflow run 100: needs actions: read: permission denied", ""},
		{"one list of artifacts", map[string]error{"artifacts of 100 page 1": errServer}, 3, "", "3 of 3 sessions are used: not all could be asked for: list the artifacts of workflow run 100: 502 Bad Gateway"},
		{"one run is deleted", map[string]error{"artifacts of 100 page 1": fs.ErrNotExist}, 3, "", ""},
		{"one archive", map[string]error{"archive 10000": errServer}, 3, "", "3 of 3 sessions are used: not all could be asked for: read artifact perfweir-results-codec-perf-1-1of1-a1 of workflow run 100: 502 Bad Gateway"},
		{"archives refused", map[string]error{"archive 10000": refused}, 0, "read artifact perfweir-results-codec-perf-1-1of1-a1 of workflow run 100: needs actions: read: permission denied", ""},
		{"every archive", map[string]error{"archive 10000": errServer, "archive 9900": errServer, "archive 9800": errServer}, 0, "read artifact perfweir-results-codec-perf-1-1of1-a1 of workflow run 100: 502 Bad Gateway", ""},
		{"the last ones", map[string]error{"archive 9900": errServer, "archive 9800": errServer, "archive 9700": errServer}, 1, "", "1 of 3 sessions are used: not all could be asked for: read artifact perfweir-results-codec-perf-1-1of1-a1 of workflow run 99: 502 Bad Gateway"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.page, w.errs = 2, tt.errs
			for i := range int64(6) {
				w.good(100 - i)
			}
			found, err := Candidates(t.Context(), w.fakeGitHub, w.q)
			if found == nil || found.Fit != tt.fit {
				t.Fatalf("%+v, %v", found, err)
			}
			switch {
			case tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err):
				t.Errorf("error %v\n want %s", err, tt.err)
			case errors.Is(tt.errs["runs of nightly.yml on main page 1"], fs.ErrPermission) && !errors.Is(err, fs.ErrPermission):
				t.Errorf("%v is no refusal", err)
			}
			var want []string
			if tt.warn != "" {
				want = []string{tt.warn}
			}
			if diff := cmp.Diff(want, found.Warnings); diff != "" {
				t.Error(diff)
			}
			// Three in a row are enough to know that GitHub does not answer.
			if slices.Contains(w.requests, "archive 9500") {
				t.Error(w.requests)
			}
			for _, c := range found.Candidates {
				if c.Err != nil && c.Refresh != "" {
					t.Errorf("%s counts as a failed refresh: %v", c.File, c.Err)
				}
			}
		})
	}
}

// Bytes that stop in the middle are asked for once more.
func TestBodyStopsInTheMiddle(t *testing.T) {
	for cuts, want := range map[int]string{1: "", 2: "workflow run 100 perf-1-1of1-a1: stopped after "} {
		w := newWorld(t)
		w.good(100)
		w.blobs[10000].cut = cuts
		found, err := Candidates(t.Context(), w.fakeGitHub, w.q)
		if (want == "") != (err == nil && found.Fit == 1) || !strings.HasPrefix(told(found)[0], want) {
			t.Errorf("%d cuts: %v, %v", cuts, told(found), err)
		}
		if n := len(w.requests); n != 5 {
			t.Errorf("%d cuts: %q", cuts, w.requests)
		}
	}
	// Nothing was announced, and half of it came.
	half := newWorld(t)
	half.good(100)
	half.blobs[10000].cut, half.blobs[10000].size = 2, -1
	if found, err := Candidates(t.Context(), half.fakeGitHub, half.q); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(told(found), err)
	}
	// Shorter than announced is no archive either, whatever it looks like.
	w := newWorld(t)
	w.good(100)
	w.blobs[10000].size = 1 << 20
	if found, err := Candidates(t.Context(), w.fakeGitHub, w.q); err == nil || !strings.Contains(err.Error(), "of 1048576") {
		t.Error(told(found), err)
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	w.good(100)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found, err := Candidates(ctx, w.fakeGitHub, w.q); !errors.Is(err, context.Canceled) || found == nil {
		t.Error(found, err)
	}
	if len(w.requests) > 4 {
		t.Error(w.requests)
	}
}

func TestDigest(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for _, tt := range []struct{ digest, data, err string }{
		{"sha256:" + abc, "abc", ""},
		{"sha256:" + strings.ToUpper(abc), "abc", ""},
		{"", "abd", ""},
		{"blake3:00", "abc", ""}, // one that we cannot compute tells nothing
		{"sha256:" + abc, "abd", "its digest is sha256:a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9, GitHub lists sha256:" + abc},
		{"sha256:", "abc", "its digest is sha256:" + abc + ", GitHub lists sha256:"},
	} {
		f := &fakeGitHub{blobs: map[int64]*blob{1: {data: []byte(tt.data)}}}
		_, _, err := download(t.Context(), f, Artifact{ID: 1, Digest: tt.digest}, Limits{}.filled(1))
		if fmt.Sprint(err) != orNil(tt.err) {
			t.Errorf("%s of %s: %v", tt.digest, tt.data, err)
		}
	}
}

// What a run that left nothing says, and whether it should have left something.
func TestRunsThatLeftNothing(t *testing.T) {
	for _, tt := range []struct {
		status, conclusion, why string
		refresh                 bool
	}{
		{"in_progress", "", `goes on, and has left no results of suite "codec" yet`, false},
		{"completed", "success", `left no results of suite "codec" (success)`, false},
		{"completed", "failure", `left no results of suite "codec" (failure)`, true},
		{"completed", "cancelled", `left no results of suite "codec" (cancelled)`, true},
	} {
		w := newWorld(t)
		run := goodRun(100)
		run.Status, run.Conclusion = tt.status, tt.conclusion
		w.run(run)
		w.upload(run, ReportName("codec", "perf-1", "", 1), nil)
		w.upload(run, Name("other", "perf-1", "", 1), nil)
		c := w.find().Candidates[0]
		if c.Err.Error() != tt.why || (c.Refresh != "") != tt.refresh {
			t.Errorf("%s %s: %v, refresh %q", tt.status, tt.conclusion, c.Err, c.Refresh)
		}
	}
}

// What counts is what Select takes: the walk goes on past sessions that do not fit,
// and a copy is none.
func TestOnlyWhatFitsCounts(t *testing.T) {
	w := newWorld(t)
	w.q.MaxAge = 5 * 86400
	w.q.Want.Sessions = map[string]bool{"01RUN100PERF1": true}
	w.good(100) // the current session itself
	run := w.run(goodRun(99))
	stopped := goodDocument(run, "perf-1")
	stopped.Sessions[0].Interrupted = true
	w.left(run, stopped)
	run = w.run(goodRun(98))
	stale := goodDocument(run, "perf-1")
	stale.Sessions[0].StartedAt = now.Add(-6 * 24 * time.Hour)
	w.left(run, stale)
	run = w.run(goodRun(97))
	other := goodDocument(run, "perf-1")
	other.Suite.Name = "other"
	w.left(run, other)
	w.good(96)
	run = w.run(goodRun(95))
	copied := goodDocument(run, "perf-1")
	copied.Sessions[0].ID = "01RUN96PERF1"
	w.left(run, copied)
	w.good(94)
	w.good(93)
	w.good(92)
	found := w.find()
	if found.Fit != 3 || len(found.Candidates) != 8 {
		t.Errorf("%d fit of %q", found.Fit, told(found))
	}
	b := baseline.Select(baseline.Policy{Sessions: 3, MaxAge: w.q.MaxAge}, w.q.Want, found.Origin, found.Candidates)
	if want := []string{"the newest session is 5 hours old, limit 5 days: the last 3 refreshes left nothing usable"}; !slices.Equal(b.Warnings, want) {
		t.Errorf("%q", b.Warnings)
	}
}

func TestQueryIsChecked(t *testing.T) {
	for want, spoil := range map[string]func(*Query){
		"missing the repository's id":                                                      func(q *Query) { q.RepositoryID = 0 },
		"missing the workflow: set baseline.workflow":                                      func(q *Query) { q.Workflow = "" },
		"missing the branch: set baseline.branch":                                          func(q *Query) { q.Branch = "" },
		"missing the suite":                                                                func(q *Query) { q.Want.Suite = "" },
		"missing the name of this machine, which baseline.machine asks for":                func(q *Query) { q.Machine, q.SameMachineOnly = "", true },
		`workflow "161335" is no file name: want one such as nightly.yml`:                  func(q *Query) { q.Workflow = "161335" },
		`workflow "../x.yml" is no file name: want one such as nightly.yml`:                func(q *Query) { q.Workflow = "../x.yml" },
		`workflow ".github/workflows/x.yml" is no file name: want one such as nightly.yml`: func(q *Query) { q.Workflow = ".github/workflows/x.yml" },
	} {
		w := newWorld(t)
		spoil(&w.q)
		found, err := Candidates(t.Context(), w.fakeGitHub, w.q)
		if found == nil || err == nil || err.Error() != "look for earlier sessions: "+want || w.requests != nil {
			t.Errorf("%v, want %s; %q", err, want, w.requests)
		}
	}
	w := newWorld(t)
	w.good(100)
	w.q.Comparison = ""
	if found := w.find(); found.Fit != 1 || found.Origin != "workflow nightly.yml on main, of any commit" {
		t.Errorf("%+v", found)
	}
}

// An anchor's sessions are those of one commit, however many newer ones there are;
// a server that does not look at the commit changes nothing.
func TestOfOneCommit(t *testing.T) {
	w := newWorld(t)
	for i := range int64(30) {
		w.good(100 - i)
	}
	w.q.HeadSHA, w.q.Comparison, w.q.Sessions = sha(75), "", 10
	want := []string{"runs of nightly.yml on main page 1", "artifacts of 75 page 1", "archive 7500"}
	found := w.find()
	if diff := cmp.Diff(want, w.requests); diff != "" {
		t.Error(diff)
	}
	if found.Fit != 1 || len(found.Candidates) != 1 {
		t.Error(told(found))
	}
	other := goodRun(74)
	if why := runPassport(&w.q, &other); !strings.HasPrefix(why, "of commit 004a004a004a, want 004b") {
		t.Error(why)
	}
}
