package artifact

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
)

// One fact is wrong at a time; that one is named. Behind each stands an older run
// that is good: it is found.
func TestPassportOfARun(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*WorkflowRun)
		why   string
	}{
		{"this very run", func(r *WorkflowRun) { r.ID = 1000 }, "this very workflow run"},
		{"another repository", func(r *WorkflowRun) { r.RepositoryID = 7 }, "of repository 7, this is 42"},
		{"a fork whose branch is called main", func(r *WorkflowRun) { r.HeadRepositoryID = theirs }, "of a fork (repository 99)"},
		{"a fork that is gone", func(r *WorkflowRun) { r.HeadRepositoryID = 0 }, "of a fork that is gone"},
		{"a pull request", func(r *WorkflowRun) { r.Event = "pull_request" }, `of event "pull_request", want one of push, schedule, workflow_dispatch`},
		{"the token's own event", func(r *WorkflowRun) { r.Event = "pull_request_target" }, `of event "pull_request_target", want one of push, schedule, workflow_dispatch`},
		{"a second stage", func(r *WorkflowRun) { r.Event = "workflow_run" }, `of event "workflow_run", want one of push, schedule, workflow_dispatch`},
		{"another workflow", func(r *WorkflowRun) { r.Path = ".github/workflows/ci.yml" }, `of workflow ".github/workflows/ci.yml", want "nightly.yml"`},
		{"a workflow of that name elsewhere", func(r *WorkflowRun) { r.Path = "evil/.github/workflows/nightly.yml" }, `of workflow "evil/.github/workflows/nightly.yml", want "nightly.yml"`},
		{"a workflow whose name goes on", func(r *WorkflowRun) { r.Path += ".yml" }, `of workflow ".github/workflows/nightly.yml.yml", want "nightly.yml"`},
		{"not an ancestor", func(r *WorkflowRun) { r.HeadSHA = "abcdef0123456789" }, "commit abcdef012345 is not among the 300 before 006400640064"},
		{"no commit", func(r *WorkflowRun) { r.HeadSHA = "<script>" }, `commit "<script>" is not among the 300 before 006400640064`},
		{"waiting", func(r *WorkflowRun) { r.Status, r.Conclusion = "queued", "" }, "has not begun"},
		{"skipped", func(r *WorkflowRun) { r.Conclusion = "skipped" }, "was skipped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			for i := range int64(300) {
				w.commits = append(w.commits, sha(1000+i))
			}
			run := goodRun(100)
			doc := goodDocument(run, "perf-1")
			tt.spoil(&run)
			w.run(run)
			w.left(run, doc)
			w.good(99)
			found := w.find()
			want := []string{runLabel(&run) + ": " + tt.why, "workflow run 99 perf-1-1of1-a1: +01RUN99PERF1"}
			if diff := cmp.Diff(want, told(found)); diff != "" {
				t.Error(diff)
			}
			for _, r := range w.requests {
				if r == "archive 10000" || r == "artifacts of 100" {
					t.Errorf("asked for %s", r)
				}
			}
		})
	}
}

// The list is by branch, and a server may not keep to it.
func TestPassportOfABranch(t *testing.T) {
	run := goodRun(100)
	run.HeadBranch = "feature"
	q := newWorld(t).q
	if why := runPassport(&q, &run); why != `of branch "feature", want "main"` {
		t.Error(why)
	}
}

// What a run may be like and still leave a baseline.
func TestPassportLetsThrough(t *testing.T) {
	for name, set := range map[string]func(*WorkflowRun){
		"as it is":           func(*WorkflowRun) {},
		"push":               func(r *WorkflowRun) { r.Event = "push" },
		"by hand":            func(r *WorkflowRun) { r.Event = "workflow_dispatch" },
		"failed":             func(r *WorkflowRun) { r.Conclusion = "failure" },
		"cancelled":          func(r *WorkflowRun) { r.Conclusion = "cancelled" },
		"goes on":            func(r *WorkflowRun) { r.Status, r.Conclusion = "in_progress", "" },
		"again, and waiting": func(r *WorkflowRun) { r.Status, r.Conclusion, r.Attempt = "queued", "", 2 },
		"path with a ref":    func(r *WorkflowRun) { r.Path += "@refs/heads/main" },
		"path with our name": func(r *WorkflowRun) { r.Path = "Acme/widgets/" + r.Path + "@main" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.q.Repository = "acme/widgets"
			run := goodRun(100)
			set(&run)
			w.run(run)
			w.left(run, goodDocument(run, "perf-1"))
			if found := w.find(); found.Fit != 1 {
				t.Error(told(found))
			}
		})
	}
}

func TestPassportOfAnArtifact(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*Artifact)
		why   string
	}{
		{"another run", func(a *Artifact) { a.RunID = 98 }, "its artifact is of workflow run 98"},
		{"another repository", func(a *Artifact) { a.RepositoryID = 7 }, "its artifact is of repository 7, code of 42"},
		{"a fork", func(a *Artifact) { a.HeadRepositoryID = theirs }, "its artifact is of repository 42, code of 99"},
		{"another branch", func(a *Artifact) { a.HeadBranch = "x" }, `its artifact is of branch "x"`},
		{"another commit", func(a *Artifact) { a.HeadSHA = sha(50) }, "its artifact is of commit 003200320032, the workflow run of 006400640064"},
		{"expired", func(a *Artifact) { a.Expired = true }, "expired"},
		{"expired when the session starts", func(a *Artifact) { a.ExpiresAt = now }, "expired"},
		{"uploaded too long ago", func(a *Artifact) { a.CreatedAt = now.AddDate(0, 0, -31) }, "uploaded 31 days ago, limit 30 days"},
		{"too large", func(a *Artifact) { a.Size = 64<<20 + 1 }, "is 67108865 bytes large, limit 67108864"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.q.MaxAge = 30 * 86400
			tt.spoil(w.good(100))
			w.good(99)
			found := w.find()
			want := []string{"workflow run 100 perf-1-1of1-a1: " + tt.why, "workflow run 99 perf-1-1of1-a1: +01RUN99PERF1"}
			if diff := cmp.Diff(want, told(found)); diff != "" {
				t.Error(diff)
			}
			if slices.Contains(w.requests, "archive 10000") {
				t.Error("it was downloaded")
			}
		})
	}
}

// A server that does not tell whose an artifact is (GHES) is no reason to refuse.
func TestArtifactWithoutFacts(t *testing.T) {
	w := newWorld(t)
	a := w.good(100)
	*a = Artifact{ID: a.ID, Name: a.Name}
	if found := w.find(); found.Fit != 1 {
		t.Error(told(found))
	}
}

// What a document says of itself is held against what GitHub says of the run.
func TestClaimsOfADocument(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*result.Document)
		why   string // "": taken
	}{
		{"no session", func(d *result.Document) { d.Sessions, d.Cells = nil, nil }, ""},
		{"says nothing", func(d *result.Document) { d.Sessions[0].WorkflowRun, d.Builds = nil, nil }, ""},
		{"another run", func(d *result.Document) { d.Sessions[0].WorkflowRun.ID = 5 }, "says it is of workflow run 5"},
		{"another repository", func(d *result.Document) { d.Sessions[0].WorkflowRun.RepositoryID = theirs }, "says it is of repository 99, the workflow run is of 42"},
		{"an attempt that was not", func(d *result.Document) { d.Sessions[0].WorkflowRun.Attempt = 2 }, "says it is of attempt 2, the workflow run has 1"},
		{"another event", func(d *result.Document) { d.Sessions[0].WorkflowRun.Event = "push" }, `says it is of event "push", the workflow run is of "schedule"`},
		{"a tag of the branch's name", func(d *result.Document) { d.Sessions[0].WorkflowRun.Ref = "refs/tags/main" }, `says it is of "refs/tags/main", the workflow run is of branch "main"`},
		{"another commit", func(d *result.Document) { d.Builds[result.BuildHead] = result.Build{Commit: sha(7)} }, "says it is of commit 000700070007, the workflow run is of 006400640064"},
		{"an id that leads elsewhere", func(d *result.Document) { d.Sessions[0].ID = "../../x" }, `session "../../x" is no id of ours`},
		{"a second session of another run", func(d *result.Document) {
			s := d.Sessions[0]
			s.ID, s.WorkflowRun = "02", &result.WorkflowRun{ID: 5}
			d.Sessions = append(d.Sessions, s)
		}, "says it is of workflow run 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			run := w.run(goodRun(100))
			doc := goodDocument(run, "perf-1")
			tt.spoil(doc)
			w.upload(run, Name("codec", "perf-1", "", 1), goodArchive(t, doc))
			want := "workflow run 100 perf-1-1of1-a1: " + tt.why
			if tt.why == "" && len(doc.Sessions) > 0 {
				want += "+01RUN100PERF1"
			}
			if diff := cmp.Diff([]string{want}, told(w.find())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlainID(t *testing.T) {
	for id, want := range map[string]bool{"01ARZ3NDEKTSV4RRFFQ69G5FAV": true, "a.b-c_d": true, "": false, ".x": false, "..": false, "a/b": false, `a\b`: false, "a b": false, "ä": false, "a\x00": false, string(make([]byte, 65)): false} {
		if plainID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}

// The comparison commit and what is before it, nearest first; the more distant
// ones are asked for only when a commit is not among the nearest.
func TestAncestors(t *testing.T) {
	long := func(w *world) {
		for i := range int64(300) {
			w.commits = append(w.commits, sha(1000+i))
		}
	}
	for _, tt := range []struct {
		name       string
		commit     string
		comparison string
		fill       func(*world)
		why        string
		requests   []string
	}{
		{"itself", sha(100), sha(100), nil, "", []string{"100 commits before 0064"}},
		{"the one before", sha(99), sha(100), nil, "", []string{"100 commits before 0064"}},
		{"after it", sha(100), sha(99), nil, "commit 006400640064 is not before 006300630063", []string{"100 commits before 0063"}},
		{"a distant one", sha(1100), sha(100), long, "", []string{"100 commits before 0064", "300 commits before 0064"}},
		{"a very distant one", sha(1299), sha(100), long, "commit 051305130513 is not among the 300 before 006400640064", []string{"100 commits before 0064", "300 commits before 0064"}},
		{"of any commit", "x", "", nil, "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			if tt.fill != nil {
				tt.fill(w)
			}
			an := ancestors{commit: tt.comparison}
			for range 2 { // asked again it knows
				why, err := an.why(t.Context(), w.fakeGitHub, tt.commit)
				if err != nil || why != tt.why {
					t.Errorf("%q, %v, want %q", why, err, tt.why)
				}
			}
			if diff := cmp.Diff(tt.requests, w.requests); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A server that knows no commit at all has not answered.
func TestNoAncestors(t *testing.T) {
	w := newWorld(t)
	w.commits = []string{sha(100)}
	an := ancestors{commit: sha(100)}
	if why, err := an.why(t.Context(), noCommits{w.fakeGitHub}, sha(99)); why != "" || !errors.Is(err, errNoCommits) {
		t.Errorf("%q, %v", why, err)
	}
}

type noCommits struct{ *fakeGitHub }

func (noCommits) Ancestors(context.Context, string, int) ([]string, error) { return nil, nil }

// Runs that cannot have a young session are not asked for, nor are those before.
func TestTooOldRunsEndTheWalk(t *testing.T) {
	w := newWorld(t)
	w.q.MaxAge = 86400
	w.good(100)
	old := goodRun(99)
	old.StartedAt, old.HeadRepositoryID = now.Add(-9*24*time.Hour), theirs // whoever's it is
	w.run(old)
	older := goodRun(98)
	older.StartedAt = now.Add(-10 * 24 * time.Hour)
	w.run(older)
	want := []string{"workflow run 100 perf-1-1of1-a1: +01RUN100PERF1", "workflow run 99: 9 days old, limit 24 hours; older ones were not looked at"}
	if diff := cmp.Diff(want, told(w.find())); diff != "" {
		t.Error(diff)
	}
	if slices.Contains(w.requests, "artifacts of 99") {
		t.Error(w.requests)
	}
}
