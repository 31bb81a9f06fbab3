package artifact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
)

// toldResults is what became of each result.
func toldResults(list []Result) []string {
	var out []string
	for _, r := range list {
		what := fmt.Sprint(r.Err)
		if r.Doc != nil {
			what = "+" + r.Doc.Sessions[0].ID
		}
		out = append(out, fmt.Sprintf("%s %s a%d: %s", r.Machine, r.Shard, r.Attempt, what))
	}
	return out
}

// fromFork is a pull request's run: what it left is as hostile as can be.
func fromFork(w *world) WorkflowRun {
	run := goodRun(7)
	run.HeadRepositoryID, run.Event, run.HeadBranch = theirs, "pull_request", "feature"
	return w.run(run)
}

// The latest attempt of every machine and shard, whatever else the run left.
func TestResults(t *testing.T) {
	w := newWorld(t)
	run := fromFork(w)
	w.of(run, "perf-1", here)
	w.of(run, "board", elsewhere)
	w.dealt(run, "board", "2/3")
	w.upload(run, Name("other", "perf-1", "", 1), nil)
	w.upload(run, ReportName("codec", "perf-1", "", 1), nil)
	w.upload(run, "perfweir-results-codec-and-more", nil)
	again := run
	for _, attempt := range []int{3, 2} {
		again.Attempt = attempt
		doc := goodDocument(again, "perf-1")
		doc.Sessions[0].ID = fmt.Sprintf("01AGAIN%d", attempt)
		w.left(again, doc)
	}
	again.Attempt = 10
	broken := w.left(again, goodDocument(again, "board"))
	w.blobs[broken.ID].data = w.blobs[broken.ID].data[:100]
	got, err := Results(t.Context(), w.fakeGitHub, run.ID, "codec", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"board 1of1 a10: the archive cannot be read, it may be cut off: zip: not a valid zip file", // never an earlier attempt instead
		"board 2of3 a1: +01RUN7BOARD2OF3",
		"perf-1 1of1 a3: +01AGAIN3",
	}
	if diff := cmp.Diff(want, toldResults(got)); diff != "" {
		t.Error(diff)
	}
	if len(w.requests) != 4 {
		t.Error(w.requests)
	}
}

// Each is one result that cannot be read; the one beside it can.
func TestHostileResults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*world, *Artifact, *result.Document)
		why   string
	}{
		{"expired", func(_ *world, a *Artifact, _ *result.Document) { a.Expired = true }, "expired"},
		{"of another run", func(_ *world, a *Artifact, _ *result.Document) { a.RunID = 8 }, "is of workflow run 8"},
		{"too large", func(_ *world, a *Artifact, _ *result.Document) { a.Size = 1 << 40 }, "is 1099511627776 bytes large, limit 67108864"},
		{"another suite", func(_ *world, _ *Artifact, d *result.Document) { d.Suite.Name = "x" }, `says it is of suite "x"`},
		{"another run by itself", func(_ *world, _ *Artifact, d *result.Document) { d.Sessions[0].WorkflowRun.ID = 9 }, "says it is of workflow run 9"},
		{"no session", func(_ *world, _ *Artifact, d *result.Document) { d.Sessions, d.Cells = nil, nil }, "has no session"},
		{"an id that leads elsewhere", func(_ *world, _ *Artifact, d *result.Document) { d.Sessions[0].ID = "../x" }, `session "../x" is no id of ours`},
		{"gone", func(w *world, a *Artifact, _ *result.Document) { a.ID = 5 }, "GitHub has it no more: archive 5: file does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			run := fromFork(w)
			w.of(run, "perf-1", here)
			doc := goodDocument(run, "bad")
			a := w.left(run, doc)
			tt.spoil(w, a, doc)
			if b := w.blobs[a.ID]; b != nil {
				b.data = goodArchive(t, doc)
			}
			got, err := Results(t.Context(), w.fakeGitHub, run.ID, "codec", Limits{})
			if err != nil || len(got) != 2 || got[0].Doc != nil || got[1].Doc == nil {
				t.Fatal(toldResults(got), err)
			}
			if !strings.HasSuffix(got[0].Err.Error(), tt.why) || CouldNotAsk(got[0].Err) {
				t.Errorf("%v, want %s", got[0].Err, tt.why)
			}
		})
	}
}

func TestResultsCouldNotAsk(t *testing.T) {
	ask := func(spoil func(*world)) ([]Result, error) {
		w := newWorld(t)
		run := fromFork(w)
		w.of(run, "perf-1", here)
		spoil(w)
		return Results(t.Context(), w.fakeGitHub, run.ID, "codec", Limits{})
	}
	if _, err := ask(func(w *world) { w.errs["artifacts of 7 page 1"] = fs.ErrPermission }); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	got, err := ask(func(w *world) { w.errs["archive 700"] = errServer })
	if err != nil || len(got) != 1 || !CouldNotAsk(got[0].Err) || !errors.Is(got[0].Err, errServer) {
		t.Error(toldResults(got), err)
	}
	// Other bytes than those that were stored: what was stored may be good.
	got, err = ask(func(w *world) { w.artifacts[7][0].Digest = "sha256:00" })
	if err != nil || len(got) != 1 || !CouldNotAsk(got[0].Err) || !strings.HasSuffix(got[0].Err.Error(), ", GitHub lists sha256:00") {
		t.Error(toldResults(got), err)
	}
	if got, err := ask(func(w *world) { w.artifacts[7] = nil }); err != nil || len(got) != 0 {
		t.Error(toldResults(got), err)
	}
	w := newWorld(t)
	for _, suite := range []string{"", "codec"} {
		if _, err := Results(t.Context(), w.fakeGitHub, 0, suite, Limits{}); err == nil || w.requests != nil {
			t.Error(suite, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.of(fromFork(w), "perf-1", here)
	if _, err := Results(ctx, w.fakeGitHub, 7, "codec", Limits{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestResultsAreBounded(t *testing.T) {
	w := newWorld(t)
	run := fromFork(w)
	for _, m := range strings.Fields("a b c") {
		w.of(run, m, here)
	}
	for limits, want := range map[Limits]string{
		{Downloads: 2}: "read results of workflow run 7: it has results of more than 2 machines and shards",
		{Artifacts: 2}: "read results of workflow run 7: it has more than 2 artifacts",
	} {
		if got, err := Results(t.Context(), w.fakeGitHub, 7, "codec", limits); fmt.Sprint(err) != want || got != nil {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	size := int64(len(encode(t, goodDocument(run, "a"))))
	if got, err := Results(t.Context(), w.fakeGitHub, 7, "codec", Limits{Documents: size}); err != nil || got[0].Doc == nil ||
		got[1].Err == nil || got[1].Err.Error() != fmt.Sprintf("not read: the others have %d bytes together", size) {
		t.Error(toldResults(got), err)
	}
	got, err := Results(t.Context(), w.fakeGitHub, 7, "codec", Limits{Documents: size + 10})
	if err != nil || got[0].Doc == nil || !slices.Equal(toldResults(got)[1:], []string{
		fmt.Sprintf("b 1of1 a1: results.json is %d bytes large, limit 10", size),
		fmt.Sprintf("c 1of1 a1: results.json is %d bytes large, limit 10", size)}) {
		t.Error(toldResults(got), err)
	}
}
