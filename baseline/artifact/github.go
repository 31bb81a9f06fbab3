package artifact

import (
	"context"
	"io"
	"iter"
	"time"
)

// GitHub is what this room asks of GitHub. An error that is (errors.Is)
// fs.ErrNotExist says that the thing is not there (404) or no more (410); one
// that is fs.ErrPermission that the token may not see it (401, 403). Any other
// means that GitHub could not be asked.
type GitHub interface {
	// WorkflowRuns lists runs of a workflow, newest first, page by page to the end.
	WorkflowRuns(ctx context.Context, q RunsQuery) iter.Seq2[WorkflowRun, error]
	// RunArtifacts lists the artifacts of one workflow run, all pages.
	RunArtifacts(ctx context.Context, runID int64) iter.Seq2[Artifact, error]
	// Archive opens the bytes of an artifact as the blob store has them.
	Archive(ctx context.Context, artifactID int64) (*Archive, error)
	// Ancestors lists commits that are reachable from a commit, itself first,
	// newest first, at most so many.
	Ancestors(ctx context.Context, commit string, most int) ([]string, error)
}

// RunsQuery selects workflow runs on GitHub's side. Empty fields select all.
type RunsQuery struct {
	Workflow string // file name ("nightly.yml") or id
	Branch   string // head_branch: matches a fork's branch of that name, too
	HeadSHA  string
	Event    string
}

// WorkflowRun is a run as GitHub's API tells it: facts that no run can write.
type WorkflowRun struct {
	ID               int64
	Number           int
	Attempt          int
	Path             string // ".github/workflows/nightly.yml"; may carry "@refs/heads/main"
	Event            string
	HeadBranch       string
	HeadSHA          string
	Status           string // "queued", "in_progress", "completed"
	Conclusion       string // "" while it goes on
	RepositoryID     int64
	HeadRepositoryID int64     // 0: the fork is gone
	CreatedAt        time.Time // by the event; a later attempt keeps it
	StartedAt        time.Time // of the latest attempt
	URL              string    // for people
}

// Artifact is an uploaded archive as the API lists it.
type Artifact struct {
	ID        int64
	Name      string
	Size      int64 // bytes, compressed
	Expired   bool
	ExpiresAt time.Time // zero: unknown
	CreatedAt time.Time
	Digest    string // "sha256:..." of the archive; "" where the server tells none
	// Of the run that uploaded it; 0 where the server tells none.
	RunID            int64
	RepositoryID     int64
	HeadRepositoryID int64
	HeadBranch       string
	HeadSHA          string
}

// Archive is an artifact being read from the blob store.
type Archive struct {
	Body        io.ReadCloser
	ContentType string
	Size        int64 // bytes as announced; -1: unknown
}
