package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/publish"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Stages of a job that has a step for each, so that the one in which code under
// test runs holds no token.
const (
	StagePrepare = "prepare"
	StageMeasure = "measure"
	StageJudge   = "judge"
)

// Stage does one stage of a workflow's job.
func (s Shell) Stage(ctx context.Context, stage string, o Options) (*Told, error) {
	su, j, o, err := s.inJob(o)
	if err != nil {
		return nil, err
	}
	switch stage {
	case StagePrepare:
		return s.stagePrepare(ctx, su, o, j)
	case StageMeasure:
		return &Told{}, s.stageMeasure(ctx, su, o, j)
	case StageJudge:
		return s.stageJudgeStep(ctx, su, o, j)
	}
	return nil, fmt.Errorf("%w: stage %q: want %s, %s or %s", ErrUsage, stage, StagePrepare, StageMeasure, StageJudge)
}

// inJob reads the suite file and the job, which has to be one of a workflow.
func (s Shell) inJob(o Options) (*suite, *job, Options, error) {
	su, err := s.load(o)
	if err != nil {
		return nil, nil, o, err
	}
	j, err := s.job(o)
	if err != nil {
		return nil, nil, o, err
	}
	if j == nil {
		return nil, nil, o, fmt.Errorf("%w: this is no job of a workflow (GITHUB_EVENT_PATH is not set): `perfweir ci` does everything at a desk", ErrUsage)
	}
	if o.Out == "" {
		o.Out = s.jobFolder(su)
	}
	return su, j, o, nil
}

// jobFolder is the output folder of a workflow's job: outside the checkout.
func (s Shell) jobFolder(su *suite) string {
	name := "perfweir-" + plan.CleanName(su.file.Suite.Name)
	if temp := value(s.Environ, "RUNNER_TEMP"); temp != "" {
		return filepath.Join(temp, name)
	}
	return name
}

func (s Shell) stagePrepare(ctx context.Context, su *suite, o Options, j *job) (*Told, error) {
	o.Fresh = true
	out, err := s.open(o)
	if err != nil {
		return nil, err
	}
	defer out.close()
	if err := durable.Clear(out.dir); err != nil {
		return nil, err
	}
	p, err := s.prepare(ctx, su, o, j)
	if err != nil {
		return nil, err
	}
	digest, err := p.save(out)
	if err != nil {
		return nil, err
	}
	outputs := []publish.Output{{Name: publish.OutContextDigest, Value: digest}, {Name: publish.OutProceed, Value: fmt.Sprint(p.Proceed)},
		{Name: publish.OutFolder, Value: out.dir}}
	if !p.Proceed {
		outputs = append(outputs, s.nothingToDo(ctx, su, o, j, p)...)
	}
	s.outputs(outputs)
	return &Told{}, nil
}

// nothingToDo completes what was started when there is nothing left to measure or
// to judge.
func (s Shell) nothingToDo(ctx context.Context, su *suite, o Options, j *job, p *prepared) []publish.Output {
	if j.mode == ModePublish {
		return nil // superseded: whatever is there now is newer
	}
	c := publish.Reuse(ctx, j.gh, p.Target, j.publishing(su, o, p, s.Now()), p.Why)
	s.sayChannel(c)
	return []publish.Output{{Name: publish.OutVerdict, Value: "pass"}, {Name: publish.OutExitCode, Value: "0"}, {Name: publish.OutCheckRunURL, Value: c.URL}}
}

// stageMeasure runs the matrix. It holds no token, and what the first step wrote
// stays where it is.
func (s Shell) stageMeasure(ctx context.Context, su *suite, o Options, j *job) error {
	if !j.measures() {
		s.say("mode %s measures nothing", j.mode)
		return nil
	}
	if err := s.refuse(ctx, j, su.root); err != nil {
		return err
	}
	p, err := s.preparedHere(o)
	if err != nil {
		return err
	}
	pair := p.pair(su, j)
	o.Fresh, o.pair = true, &pair
	su, out, m, err := s.start(ctx, o)
	if err != nil {
		return err
	}
	defer out.close()
	if err := p.loadCandidates(out); err != nil {
		return err
	}
	if err := s.decidesInJob(su, o, j, p, m); err != nil {
		return err
	}
	m.onward = s.undecidedInJob(su, o, j, p, m)
	m.keep = []string{durable.Prepared, durable.Baseline}
	doc, err := s.alone(ctx, su, func() (*result.Document, error) { return s.measure(ctx, out, m) })
	if err != nil {
		return err
	}
	if err := out.clearPlanted(m, doc); err != nil {
		return err
	}
	if doc.Sessions[len(doc.Sessions)-1].Interrupted {
		return context.Canceled
	}
	if err := s.confirmInJob(ctx, su, o, out, m, j, p, doc); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Canceled // while doubts were measured again: there is no verdict
	}
	return nil
}

// preparedHere is what the first step found out, for the step that measures; its
// stored sessions are read once the plan is there. Without a digest nothing is
// known of it.
func (s Shell) preparedHere(o Options) (*prepared, error) {
	if o.Job.Digest == "" {
		s.say("no digest of what was prepared is known: nothing is measured beside the base commit, and all looks are")
		return &prepared{}, nil
	}
	dir, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, fmt.Errorf("find output folder %s: %w", o.Out, err)
	}
	return readPrepared(&output{dir: dir}, o.Job.Digest)
}

func (s Shell) stageJudgeStep(ctx context.Context, su *suite, o Options, j *job) (*Told, error) {
	out, err := s.reopen(o.Out)
	if err != nil {
		return nil, err
	}
	defer out.close()
	p, err := s.prepared(ctx, su, o, j, out)
	if err != nil {
		return nil, err
	}
	if !p.Proceed {
		s.say("nothing to judge: %s", p.Why)
		return &Told{}, nil
	}
	if !j.judges() {
		return s.leave(su, o, j, out)
	}
	head, err := p.headSuite(su)
	if err != nil {
		return s.tellJob(ctx, su, o, j, out, p, publish.Report{Broken: Visible(Words(err))}, nil), err
	}
	return s.stageJudge(ctx, head, o, j, out, p)
}

// prepared is what the first step found out; without its digest everything is
// found out again, since the file may have been changed.
func (s Shell) prepared(ctx context.Context, su *suite, o Options, j *job, out *output) (*prepared, error) {
	if o.Job.Digest != "" {
		return loadPrepared(out, o.Job.Digest)
	}
	s.say("no digest of what was prepared is known: asking again")
	return s.prepare(ctx, su, o, j)
}

// leave names what a job that only measures leaves for another one.
func (s Shell) leave(su *suite, o Options, j *job, out *output) (*Told, error) {
	if _, err := out.results(); err != nil {
		return nil, err
	}
	list, err := s.upload(su, o, j, out, nil)
	if err != nil {
		return nil, err
	}
	s.outputs(append(list, publish.Output{Name: publish.OutResultsPath, Value: out.path(durable.Results)}))
	return &Told{}, nil
}

// Steps are how the earlier steps of a job ended, in the runner's words: success,
// failure, cancelled, skipped, or nothing for one that did not run.
type Steps struct {
	Prepare, Measure, Judge string
	// Verdict and ExitCode are outputs of the step that judged.
	Verdict, ExitCode string
}

func (st Steps) cancelled() bool {
	return slices.Contains([]string{st.Prepare, st.Measure, st.Judge}, "cancelled")
}

// why says what the job lacks a verdict for.
func (st Steps) why() string {
	switch {
	case st.cancelled():
		return "the workflow run was cancelled before there was a verdict"
	case st.Prepare != "" && st.Prepare != "success":
		return "preparing did not come to its end: the job's log says why"
	case st.Measure == "failure":
		return "measuring did not come to its end: the job's log says why"
	case st.Judge == "failure":
		return "judging did not come to its end: the job's log says why"
	}
	return ""
}

// Finish is the last step of a job, whatever happened before: it completes the
// check that the first step started.
func (s Shell) Finish(ctx context.Context, o Options, st Steps) error {
	su, j, o, err := s.inJob(o)
	if err != nil {
		return errors.Join(err, s.finishUnread(ctx, o, err))
	}
	if !j.publishes() || j.mode == ModeRejudge {
		return nil
	}
	p, err := s.forFinish(su, o, j)
	if err != nil {
		return err
	}
	if !p.Proceed {
		return nil
	}
	judged := st.Judge == "success" || st.Judge == "failure"
	opts := j.publishing(su, o, p, s.Now())
	c := publish.Finish(ctx, j.gh, p.Target, opts, st.end(judged))
	s.sayChannel(c)
	if !judged {
		r := publish.Report{Broken: st.why()}
		outputs := publish.Outputs(r, opts.FailOn)
		s.steps(j, p, r, opts, publish.Result{Channels: []publish.Channel{c}},
			append(outputs, publish.Output{Name: publish.OutCheckRunURL, Value: c.URL}))
	}
	return nil
}

// end is what is known when the last step begins.
func (st Steps) end(judged bool) publish.End {
	e := publish.End{Published: judged, Cancelled: st.cancelled(), Why: st.why(), Outcome: verdict.Outcome(st.Verdict)}
	code, err := strconv.Atoi(st.ExitCode)
	if err != nil {
		e.Outcome = "" // it says nothing without
	}
	e.ExitCode = code
	return e
}

// finishUnread completes the check of a suite whose file has problems: whoever
// waits for it should see them.
func (s Shell) finishUnread(ctx context.Context, o Options, why error) error {
	data, err := readBounded(o.Config, config.MaxBytes)
	if err != nil {
		return nil // the first error says it
	}
	name := cmp.Or(o.Suite, config.NameOf(data))
	j, err := s.job(o)
	if name == "" || err != nil || j == nil || !j.measures() || !j.publishes() {
		return err
	}
	su := &suite{file: &config.File{Suite: plan.Suite{Name: name}}}
	p := &prepared{preparedFile: preparedFile{Target: j.target()}}
	s.sayChannel(publish.Finish(ctx, j.gh, p.Target, j.publishing(su, o, p, s.Now()), publish.End{Why: Visible(Words(why))}))
	return nil
}

// forFinish is what the first step prepared. Without its digest nothing was
// measured yet, and the event says what the check belongs to.
func (s Shell) forFinish(su *suite, o Options, j *job) (*prepared, error) {
	if o.Job.Digest == "" {
		return &prepared{preparedFile: preparedFile{Mode: j.mode, Target: j.target(), Proceed: j.mode != ModePublish}}, nil
	}
	out, err := s.reopen(o.Out)
	if err != nil {
		return nil, err
	}
	defer out.close()
	p, err := loadPrepared(out, o.Job.Digest)
	if errors.Is(err, errChanged) {
		// The check is to be completed all the same, and the event file is as old as
		// the job: it may have been changed, too, so only the environment is asked.
		s.warn("%v", err)
		return &prepared{preparedFile: preparedFile{Mode: j.mode, Proceed: false}}, nil
	}
	return p, err
}
