package ghapi

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/baseline/artifact"
)

// first reads a list as far as its first element.
func first[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// pages serves a list of comments in pages; next goes where GitHub's goes for a
// repository that was renamed.
func pages(contents ...string) []http.HandlerFunc {
	var out []http.HandlerFunc
	for i, body := range contents {
		var parts []string
		if i+1 < len(contents) {
			parts = append(parts, fmt.Sprintf(`Link: <HOST/repositories/1000/issues/3/comments?per_page=100&page=%d>; rel="next", <HOST/x?page=%d>; rel="last"`, i+2, len(contents)))
		}
		out = append(out, says(200, append(parts, body)...))
	}
	return out
}

func TestPages(t *testing.T) {
	s := newStand(t, pages(`[{"id":1,"body":"a"},{"id":2,"body":"b"}]`, `[{"id":2,"body":"b"},{"id":3}]`, `[{"id":4}]`)...)
	comments, err := all(s.client().Comments(ctx, 3))
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, c := range comments {
		ids = append(ids, c.ID)
	}
	if fmt.Sprint(ids) != "[1 2 3 4]" {
		t.Errorf("%v: each once, in order", ids)
	}
	for i, want := range []string{"per_page=100", "page=2&per_page=100", "page=3&per_page=100"} {
		if r := s.seen()[i]; r.path != "/api/v3/repos/acme/widgets/issues/3/comments" || r.query != want {
			t.Errorf("page %d: %s?%s", i+1, r.path, r.query)
		}
	}
}

func TestPagesOnDemand(t *testing.T) {
	s := newStand(t, pages(`[{"id":1}]`, `[{"id":2}]`)[:1]...)
	if err := first(s.client().Comments(ctx, 3)); err != nil || len(s.seen()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.seen()))
	}
}

func TestPagesThatFail(t *testing.T) {
	s := newStand(t, append(pages(`[{"id":1}]`, "")[:1], says(404, `{"message":"Not Found"}`))...)
	n := 0
	var last error
	for _, err := range s.client().Comments(ctx, 3) {
		n++
		last = err
	}
	if n != 2 || last == nil {
		t.Errorf("%d elements, the last with %v", n, last)
	}
}

// TestPagesEnd: a list without end, and one that goes backwards.
func TestPagesEnd(t *testing.T) {
	s := newStand(t)
	for i := range maxPages {
		s.steps = append(s.steps, says(200, fmt.Sprintf(`Link: <HOST/x?page=%d>; rel="next"`, i+2), fmt.Sprintf(`[{"id":%d}]`, i+1)))
	}
	comments := 0
	var last error
	for _, err := range s.client().Comments(ctx, 3) {
		if last = err; err == nil {
			comments++
		}
	}
	if !errors.Is(last, ErrNotAll) || comments != maxPages || !strings.Contains(last.Error(), "list comments of #3: 50 entries read, and there are more") {
		t.Errorf("%d comments, %v", comments, last)
	}
	s = newStand(t, says(200, `Link: <HOST/x?page=2>; rel="next"`, `[{"id":1}]`), says(200, `Link: <HOST/x?page=2>; rel="next"`, `[{"id":2}]`))
	if got, err := all(s.client().Comments(ctx, 3)); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestWorkflowRuns(t *testing.T) {
	s := newStand(t, says(200, `{"total_count":2,"workflow_runs":[
		{"id":11,"run_number":4,"run_attempt":2,"path":".github/workflows/nightly.yml@refs/heads/main","event":"push","head_branch":"main","head_sha":"aa",
		 "status":"completed","conclusion":"success","repository":{"id":100},"head_repository":{"id":100},"created_at":"2026-11-28T01:00:00Z",
		 "run_started_at":"2026-11-28T02:00:00Z","html_url":"https://github.com/acme/widgets/actions/runs/11"},
		{"id":10,"status":"in_progress","conclusion":null,"head_branch":null,"repository":{"id":100},"head_repository":null,"created_at":"2026-11-27T01:00:00Z"}]}`))
	got, err := all(s.client().WorkflowRuns(ctx, artifact.RunsQuery{Workflow: "nightly.yml", Branch: "a/b c", HeadSHA: "aa", Event: "push"}))
	if err != nil {
		t.Fatal(err)
	}
	want := []artifact.WorkflowRun{
		{ID: 11, Number: 4, Attempt: 2, Path: ".github/workflows/nightly.yml@refs/heads/main", Event: "push", HeadBranch: "main", HeadSHA: "aa", Status: "completed",
			Conclusion: "success", RepositoryID: 100, HeadRepositoryID: 100, CreatedAt: time.Date(2026, 11, 28, 1, 0, 0, 0, time.UTC), StartedAt: time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC), URL: "https://github.com/acme/widgets/actions/runs/11"},
		{ID: 10, Status: "in_progress", RepositoryID: 100, CreatedAt: time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC), StartedAt: time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r := s.seen()[0]; r.path != "/api/v3/repos/acme/widgets/actions/workflows/nightly.yml/runs" ||
		r.query != "branch=a%2Fb+c&event=push&exclude_pull_requests=true&head_sha=aa&per_page=100" {
		t.Errorf("%s?%s", r.path, r.query)
	}
}

// TestWorkflowRunsStopAtAThousand: GitHub gives no more of a filtered list, and
// "not among these" is not "not there".
func TestWorkflowRunsStopAtAThousand(t *testing.T) {
	list := func(total int) []http.HandlerFunc {
		var steps []http.HandlerFunc
		for page := range total / 100 {
			var runs []string
			for i := range 100 {
				runs = append(runs, `{"id":`+strconv.Itoa(total-100*page-i)+`}`)
			}
			parts := []string{`{"total_count":1000,"workflow_runs":[` + strings.Join(runs, ",") + `]}`}
			if page < total/100-1 {
				parts = append([]string{fmt.Sprintf(`Link: <HOST/x?page=%d>; rel="next"`, page+2)}, parts...)
			}
			steps = append(steps, says(200, parts...))
		}
		return steps
	}
	for _, tt := range []struct {
		total  int
		query  artifact.RunsQuery
		notAll bool
	}{
		{1000, artifact.RunsQuery{Branch: "main"}, true},
		{1000, artifact.RunsQuery{}, false},
		{900, artifact.RunsQuery{Branch: "main"}, false},
	} {
		s := newStand(t, list(tt.total)...)
		n := 0
		var last error
		for _, err := range s.client().WorkflowRuns(ctx, tt.query) {
			if last = err; err == nil {
				n++
			}
		}
		if n != tt.total || errors.Is(last, ErrNotAll) != tt.notAll {
			t.Errorf("%+v: %d runs, %v", tt, n, last)
		}
	}
}

func TestRunArtifacts(t *testing.T) {
	s := newStand(t, says(200, `{"total_count":2,"artifacts":[
		{"id":5,"name":"perfweir-results-codec-perf-1-1of1-a1","size_in_bytes":900,"expired":false,"digest":"sha256:ab","created_at":"2026-11-28T02:00:00Z","expires_at":"2027-02-26T02:00:00Z",
		 "workflow_run":{"id":11,"repository_id":100,"head_repository_id":200,"head_branch":"main","head_sha":"aa"}},
		{"id":6,"name":"old","expired":true,"digest":null,"created_at":null,"expires_at":null,"workflow_run":null}]}`))
	got, err := all(s.client().RunArtifacts(ctx, 11))
	want := []artifact.Artifact{
		{ID: 5, Name: "perfweir-results-codec-perf-1-1of1-a1", Size: 900, Digest: "sha256:ab", CreatedAt: time.Date(2026, 11, 28, 2, 0, 0, 0, time.UTC),
			ExpiresAt: time.Date(2027, 2, 26, 2, 0, 0, 0, time.UTC), RunID: 11, RepositoryID: 100, HeadRepositoryID: 200, HeadBranch: "main", HeadSHA: "aa"},
		{ID: 6, Name: "old", Expired: true},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if s.seen()[0].path != "/api/v3/repos/acme/widgets/actions/runs/11/artifacts" {
		t.Error(s.seen()[0].path)
	}
}

func TestAncestors(t *testing.T) {
	sha := func(i int) string { return fmt.Sprintf("%040x", i) }
	serve := func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
		page = max(page, 1)
		var entries []string
		for i := range size {
			entries = append(entries, `{"sha":"`+sha((page-1)*size+i)+`"}`)
		}
		w.Header().Set("Link", fmt.Sprintf(`<http://%s/x?page=%d>; rel="next"`, r.Host, page+1))
		io.WriteString(w, "["+strings.Join(entries, ",")+"]")
	}
	for _, tt := range []struct{ most, requests int }{{1, 1}, {30, 1}, {100, 1}, {101, 2}, {250, 3}, {0, 0}} {
		s := newStand(t)
		for range tt.requests {
			s.steps = append(s.steps, serve)
		}
		got, err := s.client().Ancestors(ctx, sha(0), tt.most)
		if err != nil || len(got) != tt.most || len(got) > 0 && (got[0] != sha(0) || got[len(got)-1] != sha(tt.most-1)) {
			t.Errorf("%d: %d commits, %v", tt.most, len(got), err)
		}
	}
	s := newStand(t, says(200, `[{"sha":"`+sha(1)+`"},{"sha":"`+sha(2)+`"}]`), says(200, `[{"sha":"main"}]`))
	c := s.client()
	if got, err := c.Ancestors(ctx, sha(1), 90); err != nil || len(got) != 2 {
		t.Errorf("a short history: %v, %v", got, err)
	}
	if _, err := c.Ancestors(ctx, sha(1), 90); err == nil {
		t.Error("a commit that is none was taken")
	}
	if _, err := c.Ancestors(ctx, "main", 90); err == nil {
		t.Error("a branch was taken for a commit")
	}
}

func TestOpenPullsOf(t *testing.T) {
	pull := func(n int, state, sha, repo string) string {
		return fmt.Sprintf(`{"number":%d,"state":%q,"head":{"ref":"main","sha":%q,"repo":%s},"base":{"ref":"main","sha":%q,"repo":{"id":100}}}`, n, state, sha, repo, pullBase)
	}
	page := "[" + strings.Join([]string{
		pull(1, "open", pullHead, `{"id":200,"full_name":"someone/widgets"}`),
		pull(2, "open", pullHead, `{"id":300}`), // another fork with the same commit
		pull(3, "open", pullBase, `{"id":200}`),
		pull(4, "open", pullHead, `null`),
		pull(5, "closed", pullHead, `{"id":200}`),
	}, ",") + "]"
	s := newStand(t, pages(page, "["+pull(6, "open", pullHead, `{"id":200}`)+"]")...)
	c := s.client()
	got, err := c.OpenPullsOf(ctx, pullHead, 200)
	if err != nil || len(got) != 2 || got[0].Number != 1 || got[1].Number != 6 || got[0].HeadRepositoryID != 200 {
		t.Errorf("%+v, %v", got, err)
	}
	if s.seen()[0].query != "direction=desc&per_page=100&sort=updated&state=open" {
		t.Error(s.seen()[0].query)
	}
	if got, err := c.OpenPullsOf(ctx, pullHead, 0); got != nil || err != nil {
		t.Errorf("of a fork that is gone: %+v, %v", got, err)
	}
	if _, err := c.OpenPullsOf(ctx, "main", 200); err == nil {
		t.Error("a branch was taken for a commit")
	}
}

func TestLabelledBy(t *testing.T) {
	event := func(id int, kind, actor, label string) string {
		return fmt.Sprintf(`{"id":%d,"event":%q,"actor":{"login":%q},"created_at":"2026-11-28T02:00:%02dZ","label":{"name":%q}}`, id, kind, actor, id, label)
	}
	pushed := `{"id":9,"event":"head_ref_force_pushed","created_at":"2026-11-28T03:00:00Z"}`
	for want, events := range map[string][]string{
		"eve": {event(1, "labeled", "mona", "perf-ok"), event(2, "unlabeled", "mona", "perf-ok"), event(3, "labeled", "eve", "Perf-OK"), event(4, "labeled", "mona", "bug"), pushed},
		"":    {event(1, "labeled", "mona", "perf-ok"), event(2, "unlabeled", "eve", "perf-ok"), `{"id":3,"event":"closed","actor":null}`},
	} {
		s := newStand(t, says(200, "["+strings.Join(events, ",")+"]"))
		if got, err := s.client().LabelledBy(ctx, 3, "perf-ok"); got.Login != want || err != nil || (want == "eve") != (got.At.Second() == 3 && got.Moved.Hour() == 3) {
			t.Errorf("%+v, %v, want %q", got, err, want)
		}
	}
}
