package ghapi

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"time"

	"github.com/perfweir/perfweir/baseline/artifact"
)

const (
	readActions  = "actions: read"
	readContents = "contents: read"
)

// maxFilteredRuns is where GitHub ends a list of workflow runs that has a filter.
const maxFilteredRuns = 1000

// WorkflowRuns lists runs of a workflow (all workflows when q names none), newest
// first. GitHub ends a list that has a filter after 1,000 runs without saying whether
// there are more: one that is so long ends with ErrNotAll.
func (c *Client) WorkflowRuns(ctx context.Context, q artifact.RunsQuery) iter.Seq2[artifact.WorkflowRun, error] {
	path, what := "actions/runs", "list workflow runs"
	if q.Workflow != "" {
		path, what = "actions/workflows/"+url.PathEscape(q.Workflow)+"/runs", "list runs of "+q.Workflow
	}
	query := url.Values{"exclude_pull_requests": {"true"}}
	filtered := false
	for _, f := range []struct{ name, value string }{{"branch", q.Branch}, {"head_sha", q.HeadSHA}, {"event", q.Event}} {
		if f.value != "" {
			query.Set(f.name, f.value)
			filtered = true
		}
	}
	type page struct {
		Runs []workflowRunJSON `json:"workflow_runs"`
	}
	seq := list(ctx, c, call{what: what, permission: readActions}, path, query,
		func(p *page) []workflowRunJSON { return p.Runs }, func(r workflowRunJSON) int64 { return r.ID })
	return func(yield func(artifact.WorkflowRun, error) bool) {
		n := 0
		for r, err := range seq {
			if n++; !yield(r.workflowRun(), err) || err != nil {
				return
			}
		}
		if filtered && n >= maxFilteredRuns {
			yield(artifact.WorkflowRun{}, fmt.Errorf("%s: GitHub gives the newest %d: %w", oneLine(what), n, ErrNotAll))
		}
	}
}

// WorkflowRun reads one run: its latest attempt.
func (c *Client) WorkflowRun(ctx context.Context, id int64) (artifact.WorkflowRun, error) {
	var r workflowRunJSON
	_, err := c.get(ctx, call{what: fmt.Sprintf("read workflow run %d", id), permission: readActions},
		fmt.Sprintf("actions/runs/%d", id), url.Values{"exclude_pull_requests": {"true"}}, &r)
	if err != nil {
		return artifact.WorkflowRun{}, err
	}
	return r.workflowRun(), nil
}

func (r workflowRunJSON) workflowRun() artifact.WorkflowRun {
	out := artifact.WorkflowRun{ID: r.ID, Number: r.Number, Attempt: r.Attempt, Path: r.Path, Event: r.Event,
		HeadBranch: r.HeadBranch, HeadSHA: r.HeadSHA, Status: r.Status, Conclusion: r.Conclusion, RepositoryID: r.Repository.ID, URL: r.HTMLURL}
	if r.HeadRepository != nil {
		out.HeadRepositoryID = r.HeadRepository.ID
	}
	if r.CreatedAt != nil {
		out.CreatedAt = *r.CreatedAt
		out.StartedAt = *r.CreatedAt // older servers tell no other
	}
	if r.StartedAt != nil {
		out.StartedAt = *r.StartedAt
	}
	return out
}

// artifactJSON is an artifact as the API lists it. go-github v62 lacks the digest.
type artifactJSON struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name"`
	Size      int64      `json:"size_in_bytes"`
	Expired   bool       `json:"expired"`
	ExpiresAt *time.Time `json:"expires_at"`
	CreatedAt *time.Time `json:"created_at"`
	Digest    string     `json:"digest"`
	Run       *struct {
		ID               int64  `json:"id"`
		RepositoryID     int64  `json:"repository_id"`
		HeadRepositoryID int64  `json:"head_repository_id"`
		HeadBranch       string `json:"head_branch"`
		HeadSHA          string `json:"head_sha"`
	} `json:"workflow_run"`
}

// RunArtifacts lists the artifacts of one workflow run, those of all attempts.
func (c *Client) RunArtifacts(ctx context.Context, runID int64) iter.Seq2[artifact.Artifact, error] {
	type page struct {
		Artifacts []artifactJSON `json:"artifacts"`
	}
	seq := list(ctx, c, call{what: fmt.Sprintf("list artifacts of workflow run %d", runID), permission: readActions},
		fmt.Sprintf("actions/runs/%d/artifacts", runID), nil,
		func(p *page) []artifactJSON { return p.Artifacts }, func(a artifactJSON) int64 { return a.ID })
	return func(yield func(artifact.Artifact, error) bool) {
		for a, err := range seq {
			if !yield(a.artifact(), err) || err != nil {
				return
			}
		}
	}
}

func (a artifactJSON) artifact() artifact.Artifact {
	out := artifact.Artifact{ID: a.ID, Name: a.Name, Size: a.Size, Expired: a.Expired, Digest: a.Digest}
	if a.ExpiresAt != nil {
		out.ExpiresAt = *a.ExpiresAt
	}
	if a.CreatedAt != nil {
		out.CreatedAt = *a.CreatedAt
	}
	if r := a.Run; r != nil {
		out.RunID, out.RepositoryID, out.HeadRepositoryID, out.HeadBranch, out.HeadSHA = r.ID, r.RepositoryID, r.HeadRepositoryID, r.HeadBranch, r.HeadSHA
	}
	return out
}
