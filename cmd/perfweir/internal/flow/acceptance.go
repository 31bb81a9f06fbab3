package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/gate/verdict"
)

// acceptance is whether somebody accepted, by a label on the pull request, what a
// change loosens, and if a label is there and does not count, why.
type acceptance struct {
	by  *verdict.AcceptedBy
	why string
}

// acceptance asks GitHub who gave the pull request the label, whatever the event's
// payload says: the label counts when it is there now, was given by somebody who
// may write, and after the head was pushed that is judged. What cannot be asked
// accepts nothing.
func (s Shell) acceptance(ctx context.Context, p *prepared, j *job) acceptance {
	pull := p.Target.Pull
	if j.event.Name == eventMergeGroup {
		pull = j.event.MergeGroup.Pull
	}
	if j.gh == nil || pull == 0 || p.base == nil {
		return acceptance{}
	}
	label := p.base.Gate.AcceptLabel
	a, err := s.labelled(ctx, p, j, pull, label)
	switch {
	case err != nil:
		return acceptance{why: fmt.Sprintf("who accepted with the label %s could not be asked, so nobody did: %v", label, err)}
	case a.why != "":
		a.why = fmt.Sprintf("the label %s does not count: %s", label, a.why)
	case a.by != nil:
		s.say("accepted by %s with the label %s: the change's own suite file decides", a.by.Login, label)
	}
	return a
}

func (s Shell) labelled(ctx context.Context, p *prepared, j *job, pull int, label string) (acceptance, error) {
	l, err := j.gh.LabelledBy(ctx, pull, label)
	if err != nil || l.Login == "" {
		return acceptance{}, err
	}
	pushed, err := s.pushedAt(ctx, p, j, pull)
	if err != nil {
		return acceptance{}, err
	}
	if !l.At.After(pushed) || !l.At.After(l.Moved) {
		return acceptance{why: fmt.Sprintf("%s gave it before the commit that is judged was pushed; take it away and give it again", l.Login)}, nil
	}
	may, err := j.gh.Permission(ctx, l.Login)
	switch {
	case err != nil:
		return acceptance{}, err
	case may != "admin" && may != "write":
		return acceptance{why: fmt.Sprintf("%s, who gave it, may not write to this repository", l.Login)}, nil
	}
	return acceptance{by: &verdict.AcceptedBy{Login: l.Login, Label: label, At: l.At}}, nil
}

// pushedAt is a moment at which the judged head was there already: GitHub tells no
// push of a branch, but it made the workflow run that measured because of one. The
// dates in commits are whatever their author wrote.
func (s Shell) pushedAt(ctx context.Context, p *prepared, j *job, pull int) (time.Time, error) {
	if j.event.Name == eventMergeGroup {
		return s.measuredForQueue(ctx, j, pull)
	}
	run, err := j.gh.WorkflowRun(ctx, p.Target.Run.ID)
	if err == nil && run.CreatedAt.IsZero() {
		err = errors.New("GitHub does not say when the workflow run was created")
	}
	return run.CreatedAt, err
}

// measuredForQueue is when the newest workflow run of this workflow was created for
// the pull request that a merge queue's group is of: the group itself comes after
// any label.
func (s Shell) measuredForQueue(ctx context.Context, j *job, number int) (time.Time, error) {
	pull, err := j.gh.Pull(ctx, number)
	if err != nil {
		return time.Time{}, err
	}
	for r, err := range j.gh.WorkflowRuns(ctx, artifact.RunsQuery{HeadSHA: pull.HeadSHA, Event: eventPullRequest}) {
		if err != nil {
			return time.Time{}, err
		}
		if r.HeadSHA == pull.HeadSHA && r.HeadRepositoryID == pull.HeadRepositoryID && workflowFile(r) == j.at.Workflow && !r.CreatedAt.IsZero() {
			return r.CreatedAt, nil
		}
	}
	return time.Time{}, fmt.Errorf("no workflow run of %s is of the head of #%d", j.at.Workflow, number)
}
