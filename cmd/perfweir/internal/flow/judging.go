package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/publish"
	"github.com/perfweir/perfweir/gate/selftest"
	"github.com/perfweir/perfweir/gate/verdict"
)

// rules are whose budgets decide: the suite's own, and the comparison commit's.
type rules struct {
	head     *suite
	base     *gate.Rules // nil: head's alone
	judgedBy string
	config   string // suite file as a person would name it
	require  bool   // a baseline has to be there
	// selftest tells how much sessions differ on this machine; nil: nobody knows.
	selftest *selftest.Document
	acceptance
}

// working are a desk's rules: the file that is there.
func (su *suite) working(config string) rules {
	return rules{head: su, judgedBy: "working file", config: config}
}

// rules are those of a workflow's job.
func (p *prepared) rules(su *suite, o Options) rules {
	r := su.working(cmp.Or(p.Judged.Path, o.Config))
	r.require = o.Job.RequireBaseline
	if p.base == nil {
		r.judgedBy = "head"
		return r
	}
	base := &suite{file: p.base, root: su.root}
	r.base = &gate.Rules{Commit: p.Comparison.Commit, Budgets: p.base.Budgets, Policy: base.policy(), Accepted: p.base.Accepted, Quarantine: p.base.Quarantine,
		Cells: pairs(&p.base.Suite), Metrics: definitions(&p.base.Suite)}
	return r
}

// judged is one machine's results and the verdict on them.
type judged struct {
	machine, shard string
	doc            *result.Document
	again          *result.Document // doubts of it that were measured again; nil: none
	baseline       *baseline.Baseline
	verdict        *verdict.Document
	rules          rules    // that the verdict was judged by
	folder         string   // where its documents and reports are
	prepared       []string // files of baseline/ whose digest is known: a step may read them again
}

// part is what publish tells of it.
func (j *judged) part() publish.Part {
	return publish.Part{Machine: j.machine, Shard: j.shard, Verdict: j.verdict}
}

// selectBaseline chooses among what was prepared, for what was measured.
func (p *prepared) selectBaseline(policy baseline.Policy, w baseline.Want) *baseline.Baseline {
	if p.Baseline.Failed != "" {
		return &baseline.Baseline{State: baseline.Failed, Reason: p.Baseline.Failed, Origin: p.Baseline.Origin}
	}
	w.Anchor = p.Anchor
	b := baseline.Select(policy, w, p.Baseline.Origin, p.candidates)
	b.Warnings = append(b.Warnings, p.Baseline.Warnings...)
	return b
}

// judgeOne judges the results of this machine, again being the doubts that were
// measured again. Who accepted what the change loosens is asked only where it
// loosens something.
func (s Shell) judgeOne(ctx context.Context, su *suite, p *prepared, o Options, j *job, doc, again *result.Document) (*judged, error) {
	b := p.selectBaseline(p.rulesPolicy(su), want(doc))
	s.sayBaseline(b)
	r := p.rules(su, o)
	v, err := s.judge(r, doc, b, again)
	if err == nil && v.Counts.Loosened > 0 {
		if r.acceptance = s.acceptance(ctx, p, j); r.acceptance != (acceptance{}) {
			v, err = s.judge(r, doc, b, again)
		}
	}
	if err != nil {
		return nil, err
	}
	return &judged{machine: doc.Sessions[0].Machine, shard: doc.Plan.Shard, doc: doc, again: again, baseline: b, verdict: v, rules: r}, nil
}

// writeJudged writes documents and reports of one machine.
func (o *output) writeJudged(j *judged) error {
	if err := errors.Join(o.clearBaseline(j.prepared...), o.keepBaseline(j.baseline)); err != nil {
		return err
	}
	return o.writeAll(append(documentsOf(j.verdict, j.doc, j.baseline), reportsOf(j.verdict, j.doc)...))
}

// stageJudge is what a job does after measuring: judge, write, tell.
func (s Shell) stageJudge(ctx context.Context, su *suite, o Options, j *job, out *output, p *prepared) (*Told, error) {
	var all []*judged
	var r publish.Report
	var err error
	if j.measures() {
		all, err = s.judgeHere(ctx, su, o, j, out, p)
	} else {
		all, r.Missing, err = s.judgeOthers(ctx, su, o, j, out, p)
	}
	if err != nil {
		// What cannot be judged is told like a verdict: silence would leave the check
		// of an earlier push standing.
		r.Broken = Visible(Words(err))
	}
	for _, one := range all {
		r.Parts = append(r.Parts, one.part())
	}
	return s.tellJob(ctx, su, o, j, out, p, r, all), err
}

func (s Shell) judgeHere(ctx context.Context, su *suite, o Options, j *job, out *output, p *prepared) ([]*judged, error) {
	doc, err := out.results()
	if errors.Is(err, ErrUsage) {
		return nil, errors.New("measuring left no results: the log of its step says why")
	}
	if err != nil {
		return nil, err
	}
	again, err := s.confirmation(out, doc, p.reference(su, j.o))
	if err != nil {
		return nil, err
	}
	one, err := s.judgeOne(ctx, su, p, o, j, doc, again)
	if err != nil {
		return nil, err
	}
	one.folder, one.prepared = out.dir, p.Baseline.files()
	if err := out.writeJudged(one); err != nil {
		return nil, err
	}
	if p.Mode == ModeBaseline {
		err = s.refresh(su, o, p, doc)
	}
	return []*judged{one}, err
}

// refresh makes sure that the session can be compared with, and stores it where
// baselines are in a folder. An artifact is stored by the step that uploads it.
func (s Shell) refresh(su *suite, o Options, p *prepared, doc *result.Document) error {
	if err := storable(su, doc); err != nil {
		return fmt.Errorf("refresh the baseline: %w", err)
	}
	if o.Baseline == "" && p.rulesPolicy(su).From != baseline.FromFolder {
		return nil
	}
	path, err := s.store(su.baselineFolder(o), doc)
	if err != nil {
		return err
	}
	s.say("saved as baseline: %s", su.shown(path))
	return nil
}

// judgeOthers judges what other jobs measured, machine by machine.
func (s Shell) judgeOthers(ctx context.Context, su *suite, o Options, j *job, out *output, p *prepared) (all []*judged, missing []string, err error) {
	docs, again, missing, err := s.fetchResults(ctx, su, j, p)
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, machine := range slices.Sorted(maps.Keys(docs)) {
		one, err := s.judgeMachine(ctx, su, o, j, p, docs[machine], again)
		if err == nil {
			one.machine = machine
			err = s.writeMachine(out, one)
		}
		if err != nil {
			s.warn("results of %s: %v", machine, err)
			errs = append(errs, fmt.Errorf("results of %s: %w", machine, err))
			missing = append(missing, machine)
			continue
		}
		all = append(all, one)
	}
	for _, m := range expected(o.Job.Machines, docs) {
		if !slices.Contains(missing, m) {
			missing = append(missing, m)
		}
	}
	if len(all) == 0 && len(missing) == 0 {
		return nil, nil, errors.New("no job of the workflow run left results of this suite")
	}
	if len(all) == 0 {
		return nil, missing, errors.Join(errs...)
	}
	return all, missing, nil
}

// judgeMachine joins the shards of one machine and judges them against the
// sessions that fit that machine.
func (s Shell) judgeMachine(ctx context.Context, su *suite, o Options, j *job, p *prepared, docs []*result.Document, again map[*result.Document]*result.Document) (*judged, error) {
	doc, err := result.Merge(docs)
	if err != nil {
		return nil, err
	}
	own := *p // each machine has a baseline of its own
	s.findBaseline(ctx, su, o, j, &own, want(doc), doc.Sessions[0].Machine)
	if err := ctx.Err(); err != nil {
		return nil, err // a walk that was stopped says nothing of what there is
	}
	if len(docs) > 1 || own.reference(su, j.o) != config.Auto {
		again = nil // shards that another job joins measure nothing again
	}
	return s.judgeOne(ctx, su, &own, o, j, doc, again[docs[0]])
}

// writeMachine writes one machine's documents below the output folder.
func (s Shell) writeMachine(out *output, one *judged) error {
	dir := out.path(filepath.Join(durable.Machines, plan.CleanName(one.machine)))
	lock, err := durable.Join(dir, s.Now())
	if err != nil {
		return err
	}
	one.folder = dir
	below := &output{dir: dir, lock: lock}
	defer below.close()
	if _, err := saveDocument(below, durable.Results, one.doc); err != nil {
		return err
	}
	if one.again != nil {
		if err := os.MkdirAll(below.path(durable.Confirm), 0o755); err != nil {
			return err
		}
		if _, err := saveDocument(below, filepath.Join(durable.Confirm, durable.Results), one.again); err != nil {
			return err
		}
	}
	return below.writeJudged(one)
}
