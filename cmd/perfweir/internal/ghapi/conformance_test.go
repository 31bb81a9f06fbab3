package ghapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghapi"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
	"github.com/perfweir/perfweir/gate/publish"
)

var ctx = context.Background()

// clientOf is a client whose waiting moves the server's clock.
func clientOf(t *testing.T, s *ghtest.Server, change ...func(*ghapi.Options)) *ghapi.Client {
	t.Helper()
	o := ghapi.Options{BaseURL: s.URL(), Token: ghtest.DefaultToken, Repository: "acme/widgets", Actions: true, Now: s.Now,
		Sleep: func(ctx context.Context, d time.Duration) error {
			s.Advance(d)
			return ctx.Err()
		}}
	for _, c := range change {
		c(&o)
	}
	c, err := ghapi.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must ends the test on an error: what follows needs the value.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func collect[T any](seq func(func(T, error) bool)) ([]T, error) {
	var out []T
	for v, err := range seq {
		if err != nil {
			return out, err
		}
		out = append(out, v)
	}
	return out, nil
}

// history is a repository with a base, a branch off it and a fork's pull request.
func history(s *ghtest.Server) (base, head, foreign string) {
	root := s.AddCommit(ghtest.Commit{Message: "root", Files: map[string]string{"perf/weir é.yml": "suite: old\n"}})
	base = s.AddCommit(ghtest.Commit{Parents: []string{root}, Message: "base", Files: map[string]string{"perf/weir é.yml": "suite: codec\n", "large.bin": strings.Repeat("x", 1<<20+1)}})
	head = s.AddCommit(ghtest.Commit{Parents: []string{root}, Message: "head"})
	foreign = s.AddCommit(ghtest.Commit{Parents: []string{base}, Message: "foreign"})
	s.SetBranch("main", base)
	return base, head, foreign
}

// TestConformanceReads: every reading call, judged by the stand's referee.
func TestConformanceReads(t *testing.T) {
	for _, basePath := range []string{"", "/api/v3"} {
		s := ghtest.New(t, func(o *ghtest.Options) { o.BasePath = basePath })
		c := clientOf(t, s)
		base, head, foreign := history(s)

		if id, branch, err := c.Repository(ctx); id != 4242 || branch != "main" || err != nil {
			t.Errorf("Repository: %d, %s, %v", id, branch, err)
		}
		if got := must[[]byte](t)(c.Contents(ctx, "perf/weir é.yml", base)); string(got) != "suite: codec\n" {
			t.Errorf("Contents: %q", got)
		}
		if _, err := c.Contents(ctx, "large.bin", base); err == nil || !strings.Contains(err.Error(), "more than 1048576 are not read") {
			t.Errorf("Contents of a large file: %v", err)
		}
		if _, err := c.Contents(ctx, "perf", base); err == nil || !strings.Contains(err.Error(), "folder") {
			t.Errorf("Contents of a folder: %v", err)
		}
		if _, err := c.Contents(ctx, "nowhere", base); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Contents of nothing: %v", err)
		}
		ancestors := must[[]string](t)(c.Ancestors(ctx, head, 10))
		if len(ancestors) != 2 || ancestors[0] != head {
			t.Errorf("Ancestors: %v", ancestors)
		}
		if got := must[string](t)(c.MergeBase(ctx, base, head)); got != ancestors[1] {
			t.Errorf("MergeBase: %s", got)
		}
		if _, parents, err := c.Commit(ctx, head); err != nil || !slices.Equal(parents, ancestors[1:]) {
			t.Errorf("Commit: %v, %v", parents, err)
		}

		fork := ghtest.Fork{FullName: "someone/widgets", ID: 200}
		own := s.AddPull(ghtest.Pull{Head: ghtest.Ref{Ref: "feature", SHA: head}, Base: ghtest.Ref{Ref: "main", SHA: base}})
		theirs := s.AddPull(ghtest.Pull{Head: ghtest.Ref{Ref: "main", SHA: foreign, Repo: fork}, Base: ghtest.Ref{Ref: "main", SHA: base}})
		s.Label(own, "perf-ok", "mona")
		s.SetPermission("mona", "write")
		if got := must[ghapi.Pull](t)(c.Pull(ctx, own)); got.HeadSHA != head || got.BaseSHA != base || got.State != "open" || got.HeadRepositoryID != 4242 || !slices.Equal(got.Labels, []string{"perf-ok"}) {
			t.Errorf("Pull: %+v", got)
		}
		if got := must[[]ghapi.Pull](t)(c.OpenPullsOf(ctx, foreign, fork.ID)); len(got) != 1 || got[0].Number != theirs || got[0].HeadRepositoryID != fork.ID {
			t.Errorf("OpenPullsOf: %+v", got)
		}
		if got := must[[]ghapi.Pull](t)(c.OpenPullsOf(ctx, foreign, 4242)); len(got) != 0 {
			t.Errorf("OpenPullsOf another repository: %+v", got)
		}
		if got := must[ghapi.Labelling](t)(c.LabelledBy(ctx, own, "perf-ok")); got.Login != "mona" || got.At.IsZero() {
			t.Errorf("LabelledBy: %+v", got)
		}
		if got := must[string](t)(c.Permission(ctx, "mona")); got != "write" {
			t.Errorf("Permission: %s", got)
		}
		if _, err := c.Permission(ctx, "nobody"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Permission of nobody: %v", err)
		}
		if got, api := c.Requests(), len(s.Requests()); got != api {
			t.Errorf("%d requests counted, %d seen", got, api)
		}
	}
}

func TestConformanceRunsAndArtifacts(t *testing.T) {
	s := ghtest.New(t)
	c := clientOf(t, s)
	base, _, foreign := history(s)
	var runs []int64
	for range 120 {
		runs = append(runs, s.AddRun(ghtest.Run{Path: ".github/workflows/nightly.yml", HeadSHA: base}))
		s.Advance(time.Minute)
	}
	poisoned := s.AddRun(ghtest.Run{Path: ".github/workflows/nightly.yml", HeadSHA: foreign, HeadBranch: "main", Event: "pull_request", Head: ghtest.Fork{FullName: "someone/widgets", ID: 200}})
	gone := s.AddRun(ghtest.Run{Path: ".github/workflows/other.yml", HeadSHA: foreign, Head: ghtest.Fork{Gone: true}})

	listed, err := collect(c.WorkflowRuns(ctx, artifact.RunsQuery{Workflow: "nightly.yml", Branch: "main"}))
	if err != nil || len(listed) != 121 || listed[0].ID != poisoned || listed[0].HeadRepositoryID != 200 || listed[0].RepositoryID != 4242 ||
		listed[1].ID != runs[119] || listed[1].HeadRepositoryID != 4242 || listed[1].StartedAt.IsZero() {
		t.Fatalf("WorkflowRuns: %d, %v: %+v", len(listed), err, listed[:min(2, len(listed))])
	}
	if got, err := collect(c.WorkflowRuns(ctx, artifact.RunsQuery{HeadSHA: foreign, Event: "push"})); err != nil || len(got) != 1 || got[0].ID != gone || got[0].HeadRepositoryID != 0 {
		t.Errorf("WorkflowRuns of all workflows: %+v, %v", got, err)
	}
	if _, err := collect(c.WorkflowRuns(ctx, artifact.RunsQuery{Workflow: "never.yml"})); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("WorkflowRuns of no workflow: %v", err)
	}
	if got := must[artifact.WorkflowRun](t)(c.WorkflowRun(ctx, runs[0])); got.Path != ".github/workflows/nightly.yml" || got.HeadSHA != base || got.Conclusion != "success" {
		t.Errorf("WorkflowRun: %+v", got)
	}

	zip := ghtest.ZipFile("results.json", []byte("{}"))
	for i := range 101 {
		s.AddArtifact(runs[0], fmt.Sprintf("perfweir-results-codec-perf-1-1of1-a%d", i), zip)
	}
	artifacts, err := collect(c.RunArtifacts(ctx, runs[0]))
	if err != nil || len(artifacts) != 101 {
		t.Fatalf("RunArtifacts: %d, %v", len(artifacts), err)
	}
	sum := sha256.Sum256(zip)
	if a := artifacts[0]; a.Digest != "sha256:"+hex.EncodeToString(sum[:]) || a.RunID != runs[0] || a.RepositoryID != 4242 || a.HeadRepositoryID != 4242 || a.ExpiresAt.IsZero() || a.Size != int64(len(zip)) {
		t.Errorf("RunArtifacts: %+v", a)
	}
	open := must[*artifact.Archive](t)(c.Archive(ctx, artifacts[0].ID))
	defer open.Body.Close()
	if b := must[[]byte](t)(io.ReadAll(open.Body)); string(b) != string(zip) || open.Size != int64(len(zip)) || open.ContentType == "" {
		t.Errorf("Archive: %d bytes, %d announced, %s", len(b), open.Size, open.ContentType)
	}
	expired := s.AddArtifact(runs[1], "old", zip, func(a *ghtest.Artifact) { a.Vanished = true })
	if _, err := c.Archive(ctx, expired); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Archive of one that has expired: %v", err)
	}
}

func TestConformanceWrites(t *testing.T) {
	s := ghtest.New(t)
	c := clientOf(t, s)
	base, head, _ := history(s)
	number := s.AddPull(ghtest.Pull{Head: ghtest.Ref{Ref: "feature", SHA: head}, Base: ghtest.Ref{Ref: "main", SHA: base}})
	for i := range 130 {
		s.AddComment(number, "mona", fmt.Sprintf("comment %d", i))
	}

	login := must[string](t)(c.Login(ctx))
	made := must[publish.Comment](t)(c.CreateComment(ctx, number, "<!-- perfweir:codec -->\nfirst"))
	updated := must[publish.Comment](t)(c.UpdateComment(ctx, made.ID, "second"))
	if made.Author != login || login != ghtest.ActionsBot || updated.ID != made.ID || updated.Body != "second" || made.URL == "" {
		t.Errorf("%s, %+v, %+v", login, made, updated)
	}
	comments, err := collect(c.Comments(ctx, number))
	if err != nil || len(comments) != 131 || comments[130].ID != made.ID || comments[0].Author != "mona" {
		t.Errorf("Comments: %d, %v", len(comments), err)
	}
	if err := c.DeleteComment(ctx, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := c.UpdateComment(ctx, made.ID, "third"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("UpdateComment of none: %v", err)
	}
	if _, err := c.CreateComment(ctx, number, strings.Repeat("x", 65537)); !errors.Is(err, publish.ErrTooLong) {
		t.Errorf("CreateComment too long: %v", err)
	}
	s.EditIssue(number, func(i *ghtest.Issue) { i.Locked = true })
	if _, err := c.CreateComment(ctx, number, "x"); !errors.Is(err, publish.ErrLocked) {
		t.Errorf("CreateComment where it is locked: %v", err)
	}

	run := publish.CheckRun{Name: "perfweir / codec", HeadSHA: head, ExternalID: "4711.1", Status: "in_progress", StartedAt: s.Now(), DetailsURL: "https://github.com/acme/widgets/actions/runs/4711",
		Title: "measuring", Summary: "3 cells"}
	check := must[publish.CheckRun](t)(c.CreateCheckRun(ctx, run, nil))
	check.Status, check.Conclusion, check.Title, check.Summary, check.Text = "completed", "failure", "1 of 3", "a table", strings.Repeat("x", 65535)
	var remarks []publish.Annotation
	for i := range 50 {
		remarks = append(remarks, publish.Annotation{Path: "perfweir.yml", StartLine: i + 1, EndLine: i + 1, Level: "failure", Title: strings.Repeat("語", 200), Message: strings.Repeat("語", 30000)})
	}
	must[publish.CheckRun](t)(c.UpdateCheckRun(ctx, check, remarks))
	must[publish.CheckRun](t)(c.UpdateCheckRun(ctx, check, remarks[:7]))
	read := must[publish.CheckRun](t)(c.CheckRun(ctx, check.ID))
	if read.Annotations != 57 || read.Conclusion != "failure" || read.ExternalID != "4711.1" || read.Title != "1 of 3" || read.HeadSHA != head || read.URL == "" {
		t.Errorf("CheckRun: %+v", read)
	}
	s.AddCheckRun(ghtest.CheckRun{Name: "perfweir / other", HeadSHA: head, Status: "queued"})
	newer := must[publish.CheckRun](t)(c.CreateCheckRun(ctx, run, nil))
	runs, err := collect(c.CheckRuns(ctx, head, "perfweir / codec"))
	if err != nil || len(runs) != 2 || runs[0].ID != newer.ID || runs[1].ID != check.ID {
		t.Errorf("CheckRuns: %+v, %v", runs, err)
	}

	url := must[string](t)(c.CreateStatus(ctx, head, publish.Status{Context: "perfweir / codec", State: "failure", Description: strings.Repeat("é", 300), TargetURL: "https://github.com/x"}))
	if got := s.Statuses(); len(got) != 1 || url != "https://github.com/x" || got[0].State != "failure" {
		t.Errorf("CreateStatus: %s, %+v", url, got)
	}
}

// TestConformanceFaults: the stand's words for what goes wrong are understood.
func TestConformanceFaults(t *testing.T) {
	for _, tt := range []struct {
		fault ghtest.Fault
		write bool
		is    error // nil: it goes well in the end
		text  string
	}{
		{ghtest.Fault{Kind: ghtest.Status401}, false, fs.ErrPermission, "not valid (any more)"},
		{ghtest.Fault{Kind: ghtest.Integration403}, true, fs.ErrPermission, "give the job `pull-requests: write`"},
		{ghtest.Fault{Kind: ghtest.PrimaryLimit403, RetryAfter: time.Hour}, false, ghapi.ErrRateLimit, "GitHub's rate limit is used up until"},
		{ghtest.Fault{Kind: ghtest.PrimaryLimit403, RetryAfter: time.Minute, Times: 1}, false, nil, ""},
		{ghtest.Fault{Kind: ghtest.SecondaryLimit403, Times: 2}, true, nil, ""},
		{ghtest.Fault{Kind: ghtest.SecondaryLimit403}, true, ghapi.ErrRateLimit, "secondary rate limit"},
		{ghtest.Fault{Kind: ghtest.RetryAfter429, RetryAfter: 20 * time.Second, Times: 1}, true, nil, ""},
		{ghtest.Fault{Kind: ghtest.Status404}, false, fs.ErrNotExist, "404"},
		{ghtest.Fault{Kind: ghtest.Status410}, false, fs.ErrNotExist, "410"},
		{ghtest.Fault{Kind: ghtest.TooLong422}, true, publish.ErrTooLong, "422"},
		{ghtest.Fault{Kind: ghtest.Status500, Times: 2}, false, nil, ""},
		{ghtest.Fault{Kind: ghtest.Status500, CarriedOut: true, Times: 1}, true, publish.ErrUnsure, "it may have been carried out"},
		{ghtest.Fault{Kind: ghtest.Status502}, false, nil, "answered 502: Bad Gateway (asked 5 times)"},
		{ghtest.Fault{Kind: ghtest.Moved, Times: 1}, false, nil, ""},
		{ghtest.Fault{Kind: ghtest.Moved, Times: 1}, true, nil, ""},
		{ghtest.Fault{Kind: ghtest.Reset, Times: 1}, false, nil, ""},
		{ghtest.Fault{Kind: ghtest.Reset, Times: 1}, true, publish.ErrUnsure, "it may have been carried out"},
		{ghtest.Fault{Kind: ghtest.HTMLPage}, false, nil, "which is not what was asked for"},
	} {
		s := ghtest.New(t)
		c := clientOf(t, s)
		base, head, _ := history(s)
		number := s.AddPull(ghtest.Pull{Head: ghtest.Ref{Ref: "feature", SHA: head}, Base: ghtest.Ref{Ref: "main", SHA: base}})
		s.Fail(tt.fault)
		var err error
		if tt.write {
			_, err = c.CreateComment(ctx, number, "x")
		} else {
			_, err = c.Pull(ctx, number)
		}
		if tt.is == nil && tt.text == "" && err != nil || tt.is != nil && !errors.Is(err, tt.is) || tt.text != "" && (err == nil || !strings.Contains(err.Error(), tt.text)) {
			t.Errorf("%+v: %v, want %v, %q", tt.fault, err, tt.is, tt.text)
		}
		if n := len(s.Comments(number)); tt.write && n > 1 {
			t.Errorf("%+v: %d comments", tt.fault, n)
		}
	}
}

// TestConformanceBlobFaults: at the store.
func TestConformanceBlobFaults(t *testing.T) {
	zip := ghtest.ZipFile("results.json", []byte(strings.Repeat("{}", 5000)))
	for _, tt := range []struct {
		fault   ghtest.Fault
		opens   bool
		readsTo error
	}{
		{ghtest.Fault{Kind: ghtest.Status500, Blob: true, Times: 2}, true, nil},
		{ghtest.Fault{Kind: ghtest.Status500, Blob: true}, false, nil},
		{ghtest.Fault{Kind: ghtest.Status404, Blob: true}, false, nil},
		{ghtest.Fault{Kind: ghtest.Reset, Blob: true}, true, io.ErrUnexpectedEOF},
	} {
		s := ghtest.New(t)
		c := clientOf(t, s)
		base, _, _ := history(s)
		id := s.AddArtifact(s.AddRun(ghtest.Run{HeadSHA: base}), "a", zip)
		s.Fail(tt.fault)
		a, err := c.Archive(ctx, id)
		if tt.opens != (err == nil) {
			t.Errorf("%+v: %v", tt.fault, err)
		}
		if err != nil {
			if strings.Contains(err.Error(), "?") {
				t.Errorf("%+v: the signature is shown: %v", tt.fault, err)
			}
			continue
		}
		_, err = io.ReadAll(a.Body)
		a.Body.Close()
		if (tt.readsTo == nil) != (err == nil) {
			t.Errorf("%+v: read with %v", tt.fault, err)
		}
	}
}
