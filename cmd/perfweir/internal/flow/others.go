package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/publish"
)

// fetchResults reads what other jobs measured, by machine, and names the machines
// whose results are there and cannot be read. Whose results they are is said by
// the workflow run that GitHub names, never by the results.
func (s Shell) fetchResults(ctx context.Context, su *suite, j *job, p *prepared) (docs map[string][]*result.Document, unread []string, err error) {
	if j.gh == nil {
		return nil, nil, fmt.Errorf("%w: results of other jobs are artifacts", errNoToken)
	}
	run := p.Target.Run.ID
	found, err := artifact.Results(ctx, j.gh, run, su.file.Suite.Name, artifact.Limits{})
	if err != nil {
		return nil, nil, err
	}
	docs = map[string][]*result.Document{}
	var errs []error
	for _, r := range found {
		if r.Err != nil {
			err := fmt.Errorf("artifact %s: %w", r.Name, r.Err)
			if artifact.CouldNotAsk(r.Err) { // what it says may be the red part
				return nil, nil, err
			}
			s.warn("%v", err)
			errs = append(errs, err)
			if !slices.Contains(unread, r.Machine) {
				unread = append(unread, r.Machine)
			}
			continue
		}
		machine := r.Doc.Sessions[0].Machine
		docs[machine] = append(docs[machine], r.Doc)
	}
	if len(docs) == 0 && len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	return docs, unread, nil
}

// rejudgeRuns bounds how many workflow runs of a commit are looked through.
const rejudgeRuns = 30

// measuredBefore is the newest workflow run that left results of the suite and the
// commit: a rejudging job measures nothing, and is often of another workflow.
func (s Shell) measuredBefore(ctx context.Context, su *suite, j *job) (artifact.WorkflowRun, error) {
	if j.gh == nil {
		return artifact.WorkflowRun{}, fmt.Errorf("%w: the results to judge again are an artifact of an earlier workflow run", errNoToken)
	}
	if j.o.FromRun != 0 {
		return j.gh.WorkflowRun(ctx, j.o.FromRun)
	}
	sha, looked := j.event.AttachTo(j.at), 0
	for r, err := range j.gh.WorkflowRuns(ctx, artifact.RunsQuery{HeadSHA: sha}) {
		if err != nil {
			return r, fmt.Errorf("find the workflow run that measured %.8s: %w", sha, err)
		}
		if r.ID == j.at.RunID || r.HeadSHA != sha || j.event.HeadRepositoryID != 0 && r.HeadRepositoryID != j.event.HeadRepositoryID {
			continue
		}
		if looked++; looked > rejudgeRuns {
			break
		}
		if left, err := s.leftResults(ctx, su, j, r.ID); left || err != nil {
			return r, err
		}
	}
	return artifact.WorkflowRun{}, fmt.Errorf("no workflow run left results of suite %s for %.8s: measure it first", su.file.Suite.Name, sha)
}

// leftResults reports whether a workflow run has an artifact of the suite.
func (s Shell) leftResults(ctx context.Context, su *suite, j *job, run int64) (bool, error) {
	for a, err := range j.gh.RunArtifacts(ctx, run) {
		if err != nil {
			return false, fmt.Errorf("list the artifacts of workflow run %d: %w", run, err)
		}
		if !a.Expired && artifact.IsResults(a.Name, su.file.Suite.Name) {
			return true, nil
		}
	}
	return false, nil
}

// prepareForeign finds out whom the results of another workflow run concern. The
// run was started by code that nobody here knows: only what GitHub says of it
// counts. Where the pull request has moved on, nothing is left to do.
func (s Shell) prepareForeign(ctx context.Context, su *suite, j *job, p *prepared) error {
	if j.gh == nil {
		return fmt.Errorf("%w: mode publish reads another workflow run's results and writes to its pull request", errNoToken)
	}
	id := j.o.FromRun
	if id == 0 {
		id = j.event.WorkflowRun.ID
	}
	if id == 0 {
		return fmt.Errorf("%w: mode publish: the event names no workflow run: start it on workflow_run, or give --from-run", ErrUsage)
	}
	run, err := j.gh.WorkflowRun(ctx, id)
	if err != nil {
		return err
	}
	if run.Event != eventPullRequest {
		return s.nothingLeft(p, fmt.Sprintf("workflow run %d was started by %s, not by a pull request", id, run.Event))
	}
	pulls, err := j.gh.OpenPullsOf(ctx, run.HeadSHA, run.HeadRepositoryID)
	if err != nil {
		return fmt.Errorf("find the pull request of workflow run %d: %w", id, err)
	}
	if len(pulls) == 0 {
		return s.nothingLeft(p, fmt.Sprintf("superseded: no open pull request has %.8s, which workflow run %d measured, as its head any more", run.HeadSHA, id))
	}
	pull := pulls[0]
	// The token is the base repository's: it may write, whoever the head belongs to.
	p.Target = publish.Target{Repository: j.at.Repository(), SHA: run.HeadSHA, Pull: pull.Number, RunURL: run.URL,
		Run: publish.Run{ID: run.ID, Number: run.Number, Attempt: run.Attempt}}
	base, err := j.gh.MergeBase(ctx, pull.BaseSHA, run.HeadSHA)
	if err != nil {
		return fmt.Errorf("find the commit to compare with: %w", err)
	}
	p.Comparison = comparison{Commit: base, Why: "the merge base of the pull request's head"}
	p.Branch, p.Workflow = pull.BaseRef, workflowFile(run)
	file := su.pathInRepository(ctx)
	if p.Judged, err = s.suiteAt(ctx, j, file, base); err != nil {
		return fmt.Errorf("read the suite file of the comparison commit, whose budgets decide: %w", err)
	}
	if p.Head, err = s.suiteAt(ctx, j, file, run.HeadSHA); err != nil {
		return fmt.Errorf("read the suite file of the pull request: %w", err)
	}
	return p.parse()
}

// workflowFile is the file of a run's workflow: ".github/workflows/gate.yml@main"
// is gate.yml.
func workflowFile(run artifact.WorkflowRun) string {
	file, _, _ := strings.Cut(run.Path, "@")
	return path.Base(file)
}

func (s Shell) nothingLeft(p *prepared, why string) error {
	p.Proceed, p.Why = false, why
	s.say("%s", why)
	return nil
}

// suiteAt asks GitHub for a commit's suite file.
func (s Shell) suiteAt(ctx context.Context, j *job, path, commit string) (judgedBy, error) {
	by := judgedBy{Path: path}
	text, err := j.gh.Contents(ctx, path, commit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		by.Why = fmt.Sprintf("%.8s has no %s", commit, path)
		return by, nil
	case err != nil:
		return by, err
	case len(text) > config.MaxBytes:
		return by, fmt.Errorf("%s at %.8s has %d bytes: a suite file has at most %d", path, commit, len(text), config.MaxBytes)
	}
	by.Text = text
	return by, nil
}

// headSuite is the suite of what was measured: the working file, or for another
// workflow run's results the file of the commit that it measured.
func (p *prepared) headSuite(su *suite) (*suite, error) {
	if p.Mode != ModePublish {
		return su, nil
	}
	if p.Head.Text == nil {
		return nil, errors.New(p.Head.Why)
	}
	file, problems := config.Parse(p.Head.Path, p.Head.Text)
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("suite file of the pull request: %w", err)
	}
	file.Suite.Name = su.file.Suite.Name // the name of comment and check is not the pull request's to choose
	return &suite{file: file, root: su.root}, nil
}

// expected reports which of the machines that must be there are not.
func expected(machines []string, docs map[string][]*result.Document) []string {
	return slices.DeleteFunc(slices.Clone(machines), func(m string) bool { return len(docs[m]) > 0 })
}
