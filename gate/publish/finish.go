package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/perfweir/perfweir/gate/report"
	"github.com/perfweir/perfweir/gate/verdict"
)

// End is what is known when a job ends.
type End struct {
	// Published says that Publish was carried out: a commit status, which cannot be
	// read back, is then not written again.
	Published bool
	Cancelled bool
	Why       string  // what went wrong, in a sentence; "" where that is not known
	Report    *Report // the verdict, where there is one that was not published
	// Outcome and ExitCode are the verdict's, as the judging step left them in its
	// outputs: where its check run could not be completed then, it can be now.
	Outcome  verdict.Outcome
	ExitCode int
}

// Finish is the last step of a job. Where the check run of this workflow run is
// still in progress (the job crashed, was cancelled, or could not publish) it is
// completed with what is known; where there is none it is created, since a required
// check that never reports tells nobody why. Check runs that earlier attempts left
// in progress are completed, too. One that is completed is left alone.
func Finish(ctx context.Context, gh GitHub, t Target, o Options, e End) Channel {
	p := &publication{gh: gh, t: t, o: o, r: e.report().sorted()}
	switch why := p.noCheck(); {
	case why != "":
		return Channel{Name: ChannelCheck, State: Skipped, Why: why}
	case o.Check == CheckStatus:
		return p.finishStatus(ctx, e)
	}
	return p.finishRun(ctx, e)
}

func (e End) report() Report {
	if e.Report != nil {
		return *e.Report
	}
	r := Report{Broken: e.Why}
	switch {
	case r.Broken != "":
	case e.Cancelled:
		r.Broken = "the workflow run was cancelled before there was a verdict"
	default:
		r.Broken = "the job ended before there was a verdict; its log says why"
	}
	return r
}

// lastConclusion is cancelled where somebody stopped the job before it had a
// verdict.
func (p *publication) lastConclusion(e End) string {
	if e.Cancelled && len(p.r.Parts) == 0 {
		return conclusionCancelled
	}
	return p.conclusion()
}

// finishStatus writes the status that Publish did not: where the workflow asks for
// one, and on servers without check runs.
func (p *publication) finishStatus(ctx context.Context, e End) Channel {
	if e.Published {
		return Channel{Name: ChannelStatus, State: Unchanged}
	}
	s := p.finalStatus()
	s.State = stateOf(p.lastConclusion(e))
	return p.status(ctx, s)
}

func (p *publication) finishRun(ctx context.Context, e End) Channel {
	k := p.checker()
	k.complete(0)
	k.run.Conclusion = p.lastConclusion(e)
	if e.Published && known(e.Outcome) {
		k.late(e)
	}
	var ours, left []CheckRun // of this attempt; of earlier ones, in progress
	for c, err := range p.gh.CheckRuns(ctx, p.t.SHA, k.run.Name) {
		if errors.Is(err, fs.ErrNotExist) {
			return p.finishStatus(ctx, e)
		}
		if err != nil {
			return k.failed(fmt.Errorf("list the check runs: %w", err))
		}
		id, ok := ParseExternalID(c.ExternalID)
		switch {
		case !ok || id.Suite != tokenOf(p.o.Suite) || id.Run.ID != p.t.Run.ID:
		case id.Run.Attempt == p.t.Run.Attempt:
			ours = append(ours, c)
		case id.Run.Attempt < p.t.Run.Attempt && c.Status != statusCompleted:
			left = append(left, c)
		}
	}
	p.closeEarlier(ctx, left)
	for _, c := range ours {
		if c.Status == statusCompleted {
			return Channel{Name: ChannelCheck, State: Unchanged, URL: c.URL, ID: c.ID, Why: "it was completed already"}
		}
	}
	state := Posted
	k.run.ID = 0
	if len(ours) > 0 {
		k.adopt(ours[0]) // the newest, which a merge waits for
		state = Updated
	}
	if err := k.put(ctx, nil, 0); err != nil {
		return k.failed(err)
	}
	return k.told(state)
}

// late tells a verdict of which only the outcome is known here.
func (k *checker) late(e End) {
	k.run.Conclusion = conclusion(e.Outcome, e.ExitCode)
	k.run.Title = report.Words(string(e.Outcome)) + ": the report is in the job's summary"
	k.run.Summary = "This check could not be completed when the verdict was there. The report is in the job's summary, and why in its log."
	k.run.Text, k.texts = "", nil
}

// closeEarlier completes what earlier attempts left in progress. That is tidying:
// what fails of it is tried again by the next attempt.
func (p *publication) closeEarlier(ctx context.Context, left []CheckRun) {
	for _, c := range left {
		c.Status, c.Conclusion = statusCompleted, conclusionCancelled
		c.Title = "no verdict: the attempt ended without one"
		c.Summary = report.Plain(fmt.Sprintf("Attempt %d of this workflow run tells the verdict.", p.t.Run.Attempt), MaxSummary)
		c.Text = ""
		if _, err := p.gh.UpdateCheckRun(ctx, c, nil); err != nil {
			return
		}
	}
}
