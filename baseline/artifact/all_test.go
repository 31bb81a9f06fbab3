package artifact

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lookingBack is a world that asks for everything, from this machine or another.
func lookingBack(t *testing.T, sessions int) *world {
	w := newWorld(t)
	w.q.All, w.q.Sessions, w.q.Comparison, w.q.ThisRun = true, sessions, "", 0
	return w
}

// Whoever looks back wants every machine and every part of each workflow run, of
// whatever kind, and of each the latest attempt that can be read.
func TestAll(t *testing.T) {
	w := lookingBack(t, 100)
	w.q.Machine, w.q.Shard, w.q.SameMachineOnly = "alpha", "1/2", true // what it asks from has no say
	run := w.run(goodRun(100))
	w.of(run, "beta", elsewhere)
	w.of(run, "alpha", here)
	w.dealt(run, "gamma", "1/2")
	w.dealt(run, "gamma", "2/2")
	again := goodRun(99)
	again.Attempt = 2
	w.run(again)
	first := again
	first.Attempt = 1
	w.of(first, "alpha", here)
	w.of(again, "alpha", here)
	w.blobs[9901].data = []byte("{")
	found := w.find()
	want := []string{
		"workflow run 100 alpha-1of1-a1: +01RUN100ALPHA",
		"workflow run 100 beta-1of1-a1: +01RUN100BETA",
		"workflow run 100 gamma-1of2-a1: +01RUN100GAMMA1OF2",
		"workflow run 100 gamma-2of2-a1: +01RUN100GAMMA2OF2",
		`workflow run 99 alpha-1of1-a2: is no zip archive but a file that was uploaded unzipped (content type "application/zip"): upload it with archive: true`,
		"workflow run 99 alpha-1of1-a1: +01RUN99ALPHA",
	}
	if diff := cmp.Diff(want, told(found)); diff != "" {
		t.Error(diff)
	}
	if found.Fit != 5 || found.Warnings != nil {
		t.Errorf("%d fit, %q", found.Fit, found.Warnings)
	}
}

// The list of artifacts is read to its end: another machine's may be on the next
// page. For a baseline it ends where nothing better can come.
func TestAllReadsEveryPage(t *testing.T) {
	w := lookingBack(t, 2)
	w.page = 1
	run := w.run(goodRun(100))
	w.of(run, "perf-1", here)
	w.of(run, "perf-2", here)
	if found := w.find(); found.Fit != 2 {
		t.Error(told(found), w.requests)
	}
}

// Not one request more than there are sessions wanted, also in the middle of a
// workflow run.
func TestAllEndsWhereThereIsEnough(t *testing.T) {
	w := lookingBack(t, 3)
	for i := range int64(3) {
		run := w.run(goodRun(100 - i))
		w.of(run, "alpha", here)
		w.of(run, "beta", here)
	}
	found := w.find()
	want := []string{"runs of nightly.yml on main page 1", "artifacts of 100 page 1", "archive 10000", "archive 10001", "artifacts of 99 page 1", "archive 9900"}
	if diff := cmp.Diff(want, w.requests); diff != "" {
		t.Error(diff)
	}
	if found.Fit != 3 || found.Warnings != nil {
		t.Errorf("%d fit, %q", found.Fit, found.Warnings)
	}
}

// Behind where retention ends nothing is asked for; what merely stops for some
// workflow runs is walked past, and so is what has expired before anything was found.
func TestAllEndsWhereRetentionEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		good   func(i int) bool // of 30 workflow runs, from the newest on
		fit    int
		listed int
		warn   []string
	}{
		{"the last 20", func(i int) bool { return i < 10 }, 10, 15, []string{"5 workflow runs in a row were looked at whose results have all expired; older ones were not"}},
		{"four in a row", func(i int) bool { return i < 10 || i >= 14 }, 26, 30, nil},
		{"four in a row, twice", func(i int) bool { return i < 10 || i == 14 || i >= 19 }, 22, 30, nil},
		{"the newest 10", func(i int) bool { return i >= 10 }, 20, 30, nil},
		{"all", func(int) bool { return false }, 0, 30, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := lookingBack(t, 100)
			for i := range 30 {
				a := w.good(int64(100 - i))
				if a.ExpiresAt = now.Add(time.Hour); !tt.good(i) {
					a.ExpiresAt = now
				}
			}
			found := w.find()
			listed := 0
			for i := range 30 {
				if slices.Contains(w.requests, fmt.Sprintf("artifacts of %d page 1", 100-i)) {
					listed++
				}
			}
			if found.Fit != tt.fit || listed != tt.listed || len(w.requests) != 1+listed+found.Fit || !slices.Equal(found.Warnings, tt.warn) {
				t.Errorf("%d fit, %d listed, %d requests, %q", found.Fit, listed, len(w.requests), found.Warnings)
			}
		})
	}
}

// A baseline is looked for past what has expired: a shorter retention of late must
// not hide older sessions that are still there.
func TestBaselineIsLookedForBehindExpiredOnes(t *testing.T) {
	w := newWorld(t)
	w.good(100)
	for i := range int64(10) {
		w.good(99 - i).Expired = true
	}
	w.good(80)
	w.good(79)
	if found := w.find(); found.Fit != 3 {
		t.Error(told(found))
	}
}
