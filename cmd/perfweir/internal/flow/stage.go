package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/baseline/localdir"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/worktree"
	"github.com/perfweir/perfweir/gate/publish"
)

// prepare finds out everything that the job must know before code under test
// runs. The check is started first: whatever goes wrong afterwards, the last step
// completes it.
func (s Shell) prepare(ctx context.Context, su *suite, o Options, j *job) (*prepared, error) {
	if err := s.refuse(ctx, j, su.root); err != nil {
		return nil, err
	}
	p := &prepared{preparedFile: preparedFile{Mode: j.mode, Event: j.event.Name, Target: j.target(), Proceed: true}}
	if j.mode == ModePublish {
		return p, s.prepareForeign(ctx, su, j, p)
	}
	head, err := worktree.ReadCommit(ctx, su.root, "HEAD")
	p.Target.Tree = head.Tree
	if j.mode != ModeRejudge {
		s.startCheck(ctx, j, su, o, p)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; check out the repository before this step", err)
	}
	if j.mode == ModeRejudge {
		if err := s.takeEarlier(ctx, su, j, p); err != nil {
			return nil, err
		}
	}
	if p.Comparison, err = s.comparison(ctx, su, j, head); err != nil {
		return nil, err
	}
	s.say("compared with %s: %s", orNothing(p.Comparison.Commit), p.Comparison.Why)
	if s.alreadyMeasured(ctx, su, j, p, head) {
		return p, nil
	}
	if p.Judged, err = s.suiteOf(ctx, su, j, p.Comparison); err != nil {
		return nil, err
	}
	if err := p.parse(); err != nil {
		return nil, err
	}
	if p.Judged.Why != "" {
		s.warn("%s; the budgets of the change itself count", p.Judged.Why)
	}
	p.Anchor = su.anchorCommit(ctx, p.rulesPolicy(su).Anchor)
	if !j.measures() || !j.judges() {
		return p, nil // machines are known by their results; a later job judges
	}
	session := s.session(o)
	w := baseline.Want{Suite: su.file.Suite.Name, Host: session.Host, Machine: session.Machine, StartedAt: session.StartedAt}
	p.shard = o.Shard
	s.findBaseline(ctx, su, o, j, p, w, session.Machine)
	return p, ctx.Err() // a walk that was stopped says nothing of what there is
}

func orNothing(commit string) string {
	if commit == "" {
		return "no commit"
	}
	return commit
}

// takeEarlier makes the job about the workflow run that measured: its check run
// and its comment are told the new verdict.
func (s Shell) takeEarlier(ctx context.Context, su *suite, j *job, p *prepared) error {
	run, err := s.measuredBefore(ctx, su, j)
	if err != nil {
		return err
	}
	s.say("judging again what workflow run %d measured", run.ID)
	p.Workflow = workflowFile(run)
	p.Target.Run, p.Target.RunURL = publish.Run{ID: run.ID, Number: run.Number, Attempt: run.Attempt}, run.URL
	return nil
}

// target is what the job's verdict is told to.
func (j *job) target() publish.Target {
	ev := &j.event
	return publish.Target{Repository: j.at.Repository(), SHA: ev.AttachTo(j.at), Pull: ev.Pull, Fork: ev.Fork, RunURL: j.at.RunURL(),
		Run: publish.Run{ID: j.at.RunID, Number: j.at.RunNumber, Attempt: j.at.RunAttempt}}
}

// comparison finds the commit to compare with, and fetches it where a shallow
// clone lacks it.
func (s Shell) comparison(ctx context.Context, su *suite, j *job, head worktree.Commit) (comparison, error) {
	var ask mergeBase
	if j.gh != nil {
		ask = j.gh.MergeBase
	}
	var c comparison
	var err error
	if base := j.o.Base; base != "" {
		c, err = s.named(ctx, su, base)
	} else {
		c, err = compareWith(ctx, &j.event, head, localOrAsked(su.root, ask))
	}
	if err != nil || c.Commit == "" {
		return c, err
	}
	if c.Here = worktree.Has(ctx, su.root, c.Commit); c.Here {
		return c, nil
	}
	url := j.at.ServerURL + "/" + j.at.Repository() + ".git"
	if err := worktree.Fetch(ctx, su.root, url, c.Commit, j.o.Token); err != nil {
		// Its suite file can still be asked for; only building it needs the commit.
		s.say("the commit %s is not here, so it cannot be built: %v", c.Commit, err)
		return c, nil
	}
	c.Here = true
	return c, nil
}

// named is the commit that --base names.
func (s Shell) named(ctx context.Context, su *suite, base string) (comparison, error) {
	for _, rev := range []string{base, "origin/" + base} {
		if c, err := worktree.ReadCommit(ctx, su.root, rev); err == nil {
			return comparison{Commit: c.ID, Why: "--base " + base}, nil
		}
	}
	return comparison{}, fmt.Errorf("%w: --base %s: no such commit here: check out with fetch-depth: 0, or name a full hash", ErrUsage, base)
}

// suiteOf reads the suite file of the comparison commit. That it has none and
// that it could not be read are different things: the second would let a change
// choose its own budgets.
func (s Shell) suiteOf(ctx context.Context, su *suite, j *job, c comparison) (judgedBy, error) {
	path := su.pathInRepository(ctx)
	by := judgedBy{Path: path}
	if c.Self || c.Commit == "" {
		return by, nil
	}
	text, err := worktree.FileAt(ctx, su.root, c.Commit, path, config.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && j.gh != nil {
		text, err = j.gh.Contents(ctx, path, c.Commit)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		by.Why = fmt.Sprintf("%.8s has no %s yet", c.Commit, path)
		return by, nil
	case err != nil:
		return by, fmt.Errorf("read the suite file of the comparison commit, whose budgets decide: %w", err)
	}
	by.Text = text
	return by, nil
}

// pathInRepository is the suite file's path from the repository's root.
func (su *suite) pathInRepository(ctx context.Context) string {
	repo := worktree.Root(ctx, su.root)
	if repo == "" {
		return filepath.ToSlash(su.file.Suite.Path)
	}
	return worktree.Relative(repo, filepath.Join(su.root, filepath.Base(su.file.Suite.Path)))
}

// rulesPolicy is what decides about the baseline: the comparison commit's file
// where there is one.
func (p *prepared) rulesPolicy(su *suite) baseline.Policy {
	if p.base != nil {
		return p.base.Baseline
	}
	return su.file.Baseline
}

// findBaseline reads the sessions that may be compared with, from where the suite
// says. What could not be asked for is remembered as that.
func (s Shell) findBaseline(ctx context.Context, su *suite, o Options, j *job, p *prepared, w baseline.Want, machine string) {
	policy := p.rulesPolicy(su)
	if o.Baseline != "" || cmp.Or(o.From, policy.From) == baseline.FromFolder {
		dir := su.baselineFolder(o)
		p.Baseline.Origin = "folder " + su.shown(dir)
		var err error
		if p.candidates, err = localdir.Candidates(dir); err != nil {
			p.Baseline.Failed = err.Error()
		}
		return
	}
	found, err := s.walk(ctx, j, p, policy, w, machine)
	p.Baseline.Origin, p.Baseline.Warnings, p.candidates = found.Origin, found.Warnings, found.Candidates
	if err != nil {
		p.Baseline.Failed = err.Error()
		return
	}
	s.findAnchor(ctx, j, p, policy, w, machine)
}

// findAnchor asks for the workflow runs of the anchor's commit where none of the
// sessions that were found is of it: it may be far older than they are. It is only
// told of, so that it could not be asked for is a warning.
func (s Shell) findAnchor(ctx context.Context, j *job, p *prepared, policy baseline.Policy, w baseline.Want, machine string) {
	known := slices.ContainsFunc(p.candidates, func(c baseline.Candidate) bool {
		return c.Doc != nil && c.Doc.Builds[result.BuildHead].Commit == p.Anchor
	})
	if p.Anchor == "" || known || j.gh == nil {
		return
	}
	for _, branch := range j.baselineBranches(policy, p.Branch) {
		q := s.query(j, p, policy, w, machine)
		q.Branch, q.HeadSHA, q.Comparison, q.MaxAge = branch, p.Anchor, "", 0
		found, err := artifact.Candidates(ctx, j.gh, q)
		if err != nil {
			p.Baseline.Warnings = append(p.Baseline.Warnings, fmt.Sprintf("sessions of the anchor %s could not be asked for: %v", policy.Anchor, err))
			return
		}
		found.Candidates = slices.DeleteFunc(found.Candidates, func(c baseline.Candidate) bool { return c.Doc == nil })
		if len(found.Candidates) > 0 {
			p.candidates = append(p.candidates, found.Candidates...)
			return
		}
	}
}

// walk goes through earlier workflow runs. A branch that keeps no sessions (a
// stacked pull request's base) is followed by the default branch, whose sessions
// count where the comparison commit comes after them.
func (s Shell) walk(ctx context.Context, j *job, p *prepared, policy baseline.Policy, w baseline.Want, machine string) (*artifact.Found, error) {
	q := s.query(j, p, policy, w, machine)
	branches := j.baselineBranches(policy, p.Branch)
	q.Branch = branches[0]
	if j.gh == nil {
		return &artifact.Found{Origin: "workflow " + q.Workflow}, fmt.Errorf("%w: earlier sessions are artifacts of workflow runs", errNoToken)
	}
	for i, branch := range branches {
		q.Branch = branch
		found, err := artifact.Candidates(ctx, j.gh, q)
		if found == nil {
			found = &artifact.Found{Origin: fmt.Sprintf("workflow %s on %s", q.Workflow, branch)}
		}
		if err != nil || i == len(branches)-1 || found.Fit > 0 {
			return found, err
		}
		s.say("no session of branch %s: looking at %s", branch, branches[i+1])
	}
	return nil, errors.New("no branch to look at")
}

// query asks for sessions of any branch.
func (s Shell) query(j *job, p *prepared, policy baseline.Policy, w baseline.Want, machine string) artifact.Query {
	q := artifact.Query{RepositoryID: cmp.Or(j.event.RepositoryID, j.at.RepositoryID), Repository: j.at.Repository(), Workflow: policy.Workflow, Comparison: p.Comparison.Commit, ThisRun: p.Target.Run.ID,
		Want: w, Machine: machine, Shard: p.shard, SameMachineOnly: policy.Machine == baseline.SameMachine, Sessions: policy.Sessions, MaxAge: policy.MaxAge}
	if q.Workflow == "" {
		q.Workflow = cmp.Or(p.Workflow, j.at.Workflow)
	}
	if p.all {
		q.All, q.ThisRun = true, 0 // what this workflow run left is history, too
	}
	return q
}

// baselineBranches are the branches whose sessions may be compared with, in the
// order in which they are asked.
func (j *job) baselineBranches(policy baseline.Policy, into string) []string {
	if policy.Branch != "" {
		return []string{policy.Branch}
	}
	first := cmp.Or(into, j.event.BaseRef, strings.TrimPrefix(j.at.Ref, "refs/heads/"))
	def := j.event.DefaultBranch
	if first == "" || first == def || def == "" {
		return []string{cmp.Or(first, def)}
	}
	return []string{first, def}
}

// alreadyMeasured completes the check of a merge group whose very tree was
// measured, and passed, as the pull request's: measuring it again could only find
// other noise.
func (s Shell) alreadyMeasured(ctx context.Context, su *suite, j *job, p *prepared, head worktree.Commit) bool {
	if j.event.Name != eventMergeGroup || su.file.Gate.MergeGroup != config.OnlyIfChanged || j.gh == nil || !j.publishes() {
		return false
	}
	pull, err := j.gh.Pull(ctx, j.event.MergeGroup.Pull)
	if err != nil {
		s.say("was the pull request's tree measured? %v: measuring", err)
		return false
	}
	for c, err := range j.gh.CheckRuns(ctx, pull.HeadSHA, publish.CheckName(su.file.Suite.Name)) {
		if err != nil {
			s.say("was the pull request's tree measured? %v: measuring", err)
			break
		}
		id, ok := publish.ParseExternalID(c.ExternalID)
		if !ok || id.Tree != head.Tree || c.Conclusion != "success" {
			continue
		}
		p.Proceed = false
		p.Why = fmt.Sprintf("the same tree was measured for #%d, and passed: %s", j.event.MergeGroup.Pull, c.URL)
		s.say("%s", p.Why)
		return true
	}
	return false
}
