package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghapi"
	"github.com/perfweir/perfweir/collect/worktree"
	"github.com/perfweir/perfweir/gate/publish"
)

// Modes of a job: what its stages do.
const (
	ModeAuto     = "auto"     // what fits the event
	ModeRun      = "run"      // measure and leave the results to a later job
	ModeJudge    = "judge"    // judge and publish what other jobs of this workflow run measured
	ModeRejudge  = "rejudge"  // judge again what an earlier workflow run measured of the same commit
	ModePublish  = "publish"  // second stage of a fork's pull request: judge and publish another workflow run's results
	ModeBaseline = "baseline" // refresh the baseline: measure; the verdict is told and stops nothing
	modeMeasure  = "measure"  // measure, judge, publish: what auto is for most events
)

// When the exit code of a job is not 0.
const (
	FailOnFail         = "fail"         // a broken budget, and whatever could not be decided
	FailOnInconclusive = "inconclusive" // that, and a suspect that was not settled
	FailOnNever        = "never"        // the verdict is told and stops nothing
)

// JobOptions are what a job of a workflow may be told beyond what is measured.
type JobOptions struct {
	Token           string // never in an error, a file or an output
	Mode            string
	Base            string // compare with this commit, branch or tag; "": what the event says
	FromRun         int64  // workflow run whose results are judged; 0: what the event says
	Digest          string // of what an earlier step prepared, as the runner kept it
	NoPublish       bool
	Publish         publish.Options
	NoSummary       bool
	FailOn          string
	AllowForks      bool
	RequireBaseline bool
	Machines        []string // whose results are expected
	ArtifactName    string   // of the results; "": the one by which baselines are found
}

// Names of events.
const (
	eventPullRequest       = "pull_request"
	eventPullRequestTarget = "pull_request_target"
	eventMergeGroup        = "merge_group"
	eventPush              = "push"
	eventWorkflowRun       = "workflow_run"
)

// gitHub is what the stages ask of GitHub.
type gitHub interface {
	artifact.GitHub
	publish.GitHub
	Repository(ctx context.Context) (id int64, defaultBranch string, err error)
	Contents(ctx context.Context, path, ref string) ([]byte, error)
	MergeBase(ctx context.Context, base, head string) (string, error)
	Commit(ctx context.Context, sha string) (tree string, parents []string, err error)
	Pull(ctx context.Context, number int) (ghapi.Pull, error)
	OpenPullsOf(ctx context.Context, headSHA string, headRepositoryID int64) ([]ghapi.Pull, error)
	WorkflowRun(ctx context.Context, id int64) (artifact.WorkflowRun, error)
	LabelledBy(ctx context.Context, issue int, label string) (ghapi.Labelling, error)
	Permission(ctx context.Context, login string) (string, error)
	Requests() int
}

// job is one job of a workflow, as the stages see it.
type job struct {
	at    *ghapi.Context
	event ghapi.Event
	gh    gitHub // nil without a token
	mode  string
	o     JobOptions
}

// job reads what the environment says of the workflow; nil at a desk.
func (s Shell) job(o Options) (*job, error) {
	at, err := ghapi.FromEnviron(s.Environ)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if at == nil || at.EventPath == "" {
		return nil, nil
	}
	payload, err := readBounded(at.EventPath, ghapi.MaxPayload)
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	j := &job{at: at, mode: o.Job.Mode, o: o.Job}
	if j.event, err = ghapi.ParseEvent(at.EventName, payload); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUsage, at.EventPath, err)
	}
	if err := j.event.Check(at); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUsage, at.EventPath, err)
	}
	if o.Job.Token != "" {
		s.hide()
		if j.gh, err = s.gitHub(at, o.Job.Token); err != nil {
			return nil, err
		}
	}
	return j, j.chooseMode()
}

// gitHub is the client of the server that the workflow runs on.
func (s Shell) gitHub(at *ghapi.Context, token string) (gitHub, error) {
	return ghapi.New(ghapi.Options{BaseURL: at.APIURL, Token: token, Repository: at.Repository(),
		UserAgent: "perfweir/" + s.Version, Actions: at.Actions, Timeout: s.Timeout, Notice: func(text string) { s.say("%s", text) }, Now: s.Now, Sleep: s.Sleep})
}

func (j *job) chooseMode() error {
	known := []string{ModeAuto, ModeRun, ModeJudge, ModeRejudge, ModePublish, ModeBaseline}
	switch {
	case j.mode == "" || j.mode == ModeAuto:
		j.mode = modeMeasure
		if j.event.Name == eventWorkflowRun {
			j.mode = ModePublish
		}
	case !slices.Contains(known, j.mode):
		return fmt.Errorf("%w: mode %q: want one of %s", ErrUsage, j.mode, strings.Join(known, ", "))
	}
	return nil
}

// measures reports whether the job runs the matrix.
func (j *job) measures() bool {
	return j.mode == modeMeasure || j.mode == ModeRun || j.mode == ModeBaseline
}

// judges reports whether the job comes to a verdict.
func (j *job) judges() bool { return j.mode != ModeRun }

// publishes reports whether the job writes to a pull request or a commit.
func (j *job) publishes() bool {
	return !j.o.NoPublish && j.judges() && j.mode != ModeBaseline
}

// refuse says why code of this event is not run here.
func (s Shell) refuse(ctx context.Context, j *job, dir string) error {
	if !j.measures() {
		return nil // nothing of the pull request is run
	}
	ev := &j.event
	if ev.Name == eventPullRequestTarget {
		return fmt.Errorf("%w: pull_request_target holds the repository's secrets and must not run a pull request's code: measure on pull_request, and publish a fork's results in a workflow_run", ErrUsage)
	}
	// Dependabot's token is a fork's, its branch is not.
	foreign := ev.Name == eventPullRequest && (ev.HeadRepositoryID == 0 || ev.HeadRepositoryID != ev.RepositoryID)
	if foreign && j.at.SelfHosted() && !j.o.AllowForks {
		return fmt.Errorf("%w: the pull request is a fork's, and its code would run on a self-hosted runner as the runner's user: use a machine of its own for forks and set allow-forks: true there, or leave forks out", ErrUsage)
	}
	left := worktree.Credentials(ctx, dir)
	if len(left) == 0 {
		return nil
	}
	text := "the checkout left a token in the repository (" + strings.Join(left, ", ") + "), and what is measured could read it: set persist-credentials: false at actions/checkout"
	if foreign {
		return fmt.Errorf("%w: %s", ErrUsage, text)
	}
	s.warn("%s", text)
	return nil
}

var errNoToken = errors.New("no token was given")
