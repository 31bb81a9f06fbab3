package ghtest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-github/v62/github"
)

// realClient is the library that the product uses, as it comes.
func realClient(t *testing.T, s *Server) *github.Client {
	t.Helper()
	c := github.NewClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).WithAuthToken(DefaultToken)
	base, err := url.Parse(s.URL() + "/")
	if err != nil {
		t.Fatal(err)
	}
	c.BaseURL = base
	return c
}

// TestGoGitHubUnderstands: the library asks nothing that the referee minds and
// finds in the answers what the state holds.
func TestGoGitHubUnderstands(t *testing.T) {
	s, w := world(t)
	c, ctx := realClient(t, s), t.Context()

	runs, _, err := c.Actions.ListWorkflowRunsByFileName(ctx, "acme", "widgets", "nightly.yml",
		&github.ListWorkflowRunsOptions{Branch: "main", Status: "completed", ListOptions: github.ListOptions{PerPage: 100}})
	if err != nil || runs.GetTotalCount() != 1 || runs.WorkflowRuns[0].GetHeadRepository().GetID() != 4242 || !runs.WorkflowRuns[0].GetRunStartedAt().Equal(github.Timestamp{Time: epoch}) {
		t.Fatalf("runs %+v, %v", runs, err)
	}
	artifacts, _, err := c.Actions.ListWorkflowRunArtifacts(ctx, "acme", "widgets", w.run, nil)
	if err != nil || len(artifacts.Artifacts) != 1 || artifacts.Artifacts[0].GetWorkflowRun().GetHeadRepositoryID() != 4242 {
		t.Fatalf("artifacts %+v, %v", artifacts, err)
	}
	link, _, err := c.Actions.DownloadArtifact(ctx, "acme", "widgets", w.artifact, 0)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := http.Get(link.String())
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Body.Close()
	if b, err := io.ReadAll(blob.Body); err != nil || string(b) != string(w.zip) {
		t.Errorf("%d bytes, %v", len(b), err)
	}

	comment, _, err := c.Issues.CreateComment(ctx, "acme", "widgets", 7, &github.IssueComment{Body: github.String("b")})
	if err != nil || comment.GetUser().GetLogin() != ActionsBot || comment.GetUser().GetType() != "Bot" {
		t.Fatalf("comment %+v, %v", comment, err)
	}
	check, _, err := c.Checks.CreateCheckRun(ctx, "acme", "widgets", github.CreateCheckRunOptions{Name: "perfweir / demo", HeadSHA: w.head,
		Status: github.String("in_progress"), Output: &github.CheckRunOutput{Title: github.String("t"), Summary: github.String("s")}})
	if err != nil || check.GetApp().GetSlug() != ActionsApp || check.GetStatus() != "in_progress" || check.GetConclusion() != "" {
		t.Fatalf("check run %+v, %v", check, err)
	}
	if _, _, err := c.Repositories.CreateStatus(ctx, "acme", "widgets", w.head, &github.RepoStatus{State: github.String("pending")}); err != nil {
		t.Error(err)
	}
	compared, _, err := c.Repositories.CompareCommits(ctx, "acme", "widgets", "main", w.head, nil)
	if err != nil || compared.GetMergeBaseCommit().GetSHA() != w.base {
		t.Errorf("comparison %+v, %v", compared, err)
	}
	pull, _, err := c.PullRequests.Get(ctx, "acme", "widgets", 7)
	if err != nil || pull.GetHead().GetSHA() != w.head || pull.GetHead().GetRepo().GetID() != 4242 {
		t.Errorf("pull request %+v, %v", pull, err)
	}
	file, _, _, err := c.Repositories.GetContents(ctx, "acme", "widgets", "perfweir.yml", &github.RepositoryContentGetOptions{Ref: w.head})
	if text, _ := file.GetContent(); err != nil || text != "suite: demo\n" {
		t.Errorf("file %q, %v", text, err)
	}
	events, _, err := c.Issues.ListIssueEvents(ctx, "acme", "widgets", 7, nil)
	if err != nil || len(events) != 1 || events[0].GetLabel().GetName() != "perf-accepted" {
		t.Errorf("events %+v, %v", events, err)
	}
}

// TestGoGitHubFollowsPages: the links lead it to the end.
func TestGoGitHubFollowsPages(t *testing.T) {
	s, _ := world(t)
	for i := range 40 {
		s.AddComment(7, "mona", fmt.Sprint(i))
	}
	c := realClient(t, s)
	o := &github.IssueListCommentsOptions{}
	total := 0
	for {
		comments, resp, err := c.Issues.ListComments(t.Context(), "acme", "widgets", 7, o)
		if err != nil {
			t.Fatal(err)
		}
		total += len(comments)
		if resp.NextPage == 0 {
			break
		}
		o.Page = resp.NextPage
	}
	if total != 41 {
		t.Errorf("%d comments, want 41", total)
	}
}
