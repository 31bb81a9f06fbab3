package artifact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// events leave baselines: they run code that is in the repository.
var events = []string{"push", "schedule", "workflow_dispatch"}

// runPassport says why a workflow run leaves no baseline for a query, "" when it
// may. A list by branch has the runs of every fork whose branch has that name, so
// each fact that a fork cannot change is looked at.
func runPassport(q *Query, run *WorkflowRun) string {
	switch {
	case run.ID == q.ThisRun:
		return "this very workflow run"
	case run.RepositoryID != q.RepositoryID:
		return fmt.Sprintf("of repository %d, this is %d", run.RepositoryID, q.RepositoryID)
	case run.HeadRepositoryID == 0:
		return "of a fork that is gone"
	case run.HeadRepositoryID != q.RepositoryID:
		return fmt.Sprintf("of a fork (repository %d)", run.HeadRepositoryID)
	case !slices.Contains(events, run.Event):
		return fmt.Sprintf("of event %q, want one of %s", shorten(run.Event), strings.Join(events, ", "))
	case run.HeadBranch != q.Branch:
		return fmt.Sprintf("of branch %q, want %q", shorten(run.HeadBranch), q.Branch)
	case q.HeadSHA != "" && run.HeadSHA != q.HeadSHA:
		return fmt.Sprintf("of commit %s, want %s", short(run.HeadSHA), short(q.HeadSHA))
	case !isWorkflow(run.Path, q.Repository, q.Workflow):
		return fmt.Sprintf("of workflow %q, want %q", shorten(run.Path), q.Workflow)
	case hasNotBegun(run):
		return "has not begun"
	case run.Conclusion == "skipped":
		return "was skipped"
	}
	return ""
}

// workflowFolder is where GitHub looks for workflows.
const workflowFolder = ".github/workflows/"

// isWorkflow reports whether a run's path is a workflow of the repository. GitHub
// writes ".github/workflows/ci.yml", and in places "@refs/heads/main" behind it
// and "owner/name/" before it.
func isWorkflow(path, repository, file string) bool {
	if repository != "" && len(path) > len(repository) && strings.EqualFold(path[:len(repository)], repository) {
		path = strings.TrimPrefix(path[len(repository):], "/")
	}
	want := workflowFolder + file
	return path == want || strings.HasPrefix(path, want+"@")
}

// hasNotBegun: a second attempt that waits still has what the first one left.
func hasNotBegun(run *WorkflowRun) bool {
	return run.Attempt <= 1 && slices.Contains([]string{"queued", "requested", "waiting", "pending"}, run.Status)
}

// artifactPassport says why an artifact is not read, "" when it may. It was
// listed as the run's; a server that tells whose it is must agree.
func artifactPassport(q *Query, run *WorkflowRun, a *Artifact) string {
	differ := func(told, want int64) bool { return told != 0 && told != want }
	age := q.Want.StartedAt.Sub(a.CreatedAt).Seconds()
	switch {
	case differ(a.RunID, run.ID):
		return fmt.Sprintf("its artifact is of workflow run %d", a.RunID)
	case differ(a.RepositoryID, q.RepositoryID) || differ(a.HeadRepositoryID, q.RepositoryID):
		return fmt.Sprintf("its artifact is of repository %d, code of %d", a.RepositoryID, a.HeadRepositoryID)
	case a.HeadBranch != "" && a.HeadBranch != run.HeadBranch:
		return fmt.Sprintf("its artifact is of branch %q", shorten(a.HeadBranch))
	case a.HeadSHA != "" && a.HeadSHA != run.HeadSHA:
		return fmt.Sprintf("its artifact is of commit %s, the workflow run of %s", short(a.HeadSHA), short(run.HeadSHA))
	case expired(a, q.Want.StartedAt):
		return "expired"
	case q.MaxAge > 0 && !a.CreatedAt.IsZero() && age > q.MaxAge:
		return fmt.Sprintf("uploaded %s ago, limit %s", baseline.Days(age), baseline.Days(q.MaxAge))
	}
	return ""
}

func expired(a *Artifact, at time.Time) bool {
	return a.Expired || !a.ExpiresAt.IsZero() && !a.ExpiresAt.After(at)
}

// claims holds what a document says of itself against what GitHub says of the
// run that uploaded it. What it does not say is no contradiction.
func claims(run *WorkflowRun, doc *result.Document) error {
	for i := range doc.Sessions {
		s := &doc.Sessions[i]
		if err := sessionClaims(run.ID, s); err != nil {
			return err
		}
		w := s.WorkflowRun
		switch {
		case w == nil:
		case w.RepositoryID != run.RepositoryID:
			return fmt.Errorf("says it is of repository %d, the workflow run is of %d", w.RepositoryID, run.RepositoryID)
		case run.Attempt > 0 && w.Attempt > run.Attempt:
			return fmt.Errorf("says it is of attempt %d, the workflow run has %d", w.Attempt, run.Attempt)
		case w.Event != "" && w.Event != run.Event:
			return fmt.Errorf("says it is of event %q, the workflow run is of %q", shorten(w.Event), run.Event)
		case w.Ref != "" && w.Ref != "refs/heads/"+run.HeadBranch: // a tag may have a branch's name
			return fmt.Errorf("says it is of %q, the workflow run is of branch %q", shorten(w.Ref), run.HeadBranch)
		}
	}
	if commit := doc.Builds[result.BuildHead].Commit; commit != "" && commit != run.HeadSHA {
		return fmt.Errorf("says it is of commit %s, the workflow run is of %s", short(commit), short(run.HeadSHA))
	}
	return nil
}

// sessionClaims holds a session against the workflow run that uploaded it.
func sessionClaims(runID int64, s *result.Session) error {
	switch {
	case !plainID(s.ID):
		return fmt.Errorf("session %q is no id of ours", shorten(s.ID))
	case s.WorkflowRun != nil && s.WorkflowRun.ID != runID:
		return fmt.Errorf("says it is of workflow run %d", s.WorkflowRun.ID)
	}
	return nil
}

// plainID reports whether a session's id can be (part of) a file's name.
func plainID(id string) bool {
	return id != "" && len(id) <= 64 && id[0] != '.' && !strings.ContainsFunc(id, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) })
}

// short is a commit for people.
func short(commit string) string {
	const digits = 12
	if len(commit) > digits {
		commit = commit[:digits]
	}
	if !isHex(commit) {
		return fmt.Sprintf("%q", commit)
	}
	return commit
}

// ancestors knows the commits before the comparison commit.
type ancestors struct {
	commit string // "": any commit will do
	known  map[string]bool
	asked  int  // for so many
	whole  bool // there are no more
}

// How many ancestors are asked for: first one page, and when that does not have
// a commit, as many as sessions can reasonably be apart.
const (
	ancestorsFirst = 100
	ancestorsMost  = 300
)

// why says why a commit is not one of them, "" when it is.
func (an *ancestors) why(ctx context.Context, gh GitHub, commit string) (string, error) {
	if an.commit == "" || an.known[commit] {
		return "", nil
	}
	for _, most := range []int{ancestorsFirst, ancestorsMost} {
		if an.whole || an.asked >= most {
			continue
		}
		list, err := gh.Ancestors(ctx, an.commit, most)
		if err != nil {
			return "", fmt.Errorf("list the commits before %s: %w", short(an.commit), err)
		}
		if len(list) == 0 {
			return "", fmt.Errorf("list the commits before %s: %w", short(an.commit), errNoCommits)
		}
		an.asked, an.whole = most, len(list) < most
		an.known = make(map[string]bool, len(list))
		for _, c := range list {
			an.known[c] = true
		}
		if an.known[commit] {
			return "", nil
		}
	}
	if an.whole {
		return fmt.Sprintf("commit %s is not before %s", short(commit), short(an.commit)), nil
	}
	return fmt.Sprintf("commit %s is not among the %d before %s", short(commit), an.asked, short(an.commit)), nil
}

var errNoCommits = errors.New("GitHub lists none, not even itself")
