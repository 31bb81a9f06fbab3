package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/publish"
	"github.com/perfweir/perfweir/gate/verdict"
)

// CI does everything in order: plan, baseline, measure, judge, tell, keep. At a
// desk the baseline is a folder beside the suite file; in a workflow, with a
// token, it is what earlier workflow runs left, and the verdict is told to GitHub.
func (s Shell) CI(ctx context.Context, o Options) (*Told, error) {
	if o.Job.Token != "" {
		return s.ciInJob(ctx, o)
	}
	v, err := s.ciAtDesk(ctx, o)
	if v == nil {
		return nil, err
	}
	return &Told{Code: v.ExitCode, Verdicts: []*verdict.Document{v}, Folders: []string{o.Out}}, err
}

// ciInJob is every stage of a workflow's job in one process. It holds the token
// while code under test runs, which the process alone can hide: a job with a step
// for each stage is safer.
func (s Shell) ciInJob(ctx context.Context, o Options) (*Told, error) {
	su, j, o, err := s.inJob(o)
	if err != nil {
		return nil, err
	}
	p, err := s.prepare(ctx, su, o, j)
	if err != nil {
		return nil, err
	}
	if !p.Proceed {
		s.outputs(s.nothingToDo(ctx, su, o, j, p))
		return &Told{}, nil
	}
	told, err := s.measureAndJudge(ctx, su, o, j, p)
	if told == nil && j.publishes() {
		e := publish.End{Cancelled: ctx.Err() != nil}
		if err != nil {
			e.Why = Visible(Words(err))
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		s.sayChannel(publish.Finish(last, j.gh, p.Target, j.publishing(su, o, p, s.Now()), e))
	}
	return told, err
}

func (s Shell) measureAndJudge(ctx context.Context, su *suite, o Options, j *job, p *prepared) (*Told, error) {
	if !j.measures() {
		out, err := s.open(o)
		if err != nil {
			return nil, err
		}
		defer out.close()
		head, err := p.headSuite(su)
		if err != nil {
			return nil, err
		}
		return s.stageJudge(ctx, head, o, j, out, p)
	}
	pair := p.pair(su, j)
	o.pair = &pair
	su, out, m, err := s.start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer out.close()
	if err := s.decidesInJob(su, o, j, p, m); err != nil {
		return nil, err
	}
	m.onward = s.undecidedInJob(su, o, j, p, m)
	doc, err := s.alone(ctx, su, func() (*result.Document, error) { return s.measure(ctx, out, m) })
	if err != nil {
		return nil, err
	}
	if err := out.clearPlanted(m, doc); err != nil {
		return nil, err
	}
	if !j.judges() {
		return s.leave(su, o, j, out)
	}
	if err := s.confirmInJob(ctx, su, o, out, m, j, p, doc); err != nil {
		return nil, err
	}
	return s.stageJudge(ctx, su, o, j, out, p)
}

// ciAtDesk needs no GitHub.
func (s Shell) ciAtDesk(ctx context.Context, o Options) (*verdict.Document, error) {
	su, out, m, err := s.start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer out.close()
	// Before the first command runs: what it compares with cannot be changed by it.
	b := su.baseline(ctx, o, m.want())
	s.sayBaseline(b)
	if err := s.decides(su, su.policy().Require, b, m.plan); err != nil {
		return nil, err
	}
	r := su.working(o.Config)
	if r.selftest, err = s.selftestHere(su, b); err != nil {
		return nil, err
	}
	m.onward = s.undecided(r, b, m.plan, true)
	doc, err := s.alone(ctx, su, func() (*result.Document, error) { return s.measure(ctx, out, m) })
	if err != nil {
		return nil, err
	}
	if err := errors.Join(out.clearPlanted(m, doc), out.keepCompared(b, r.selftest)); err != nil {
		return nil, err
	}
	if err := s.confirmAtDesk(ctx, r, o, out, m, doc, b); err != nil {
		return nil, err
	}
	v, err := s.judgeAndTell(r, out, doc, b)
	if err != nil {
		return nil, err
	}
	return v, s.keepSession(su, o, out, doc, b, v)
}

func (s Shell) sayBaseline(b *baseline.Baseline) {
	for _, text := range b.Warnings {
		s.warn("baseline: %s", text)
	}
	if b.State == baseline.OK {
		s.say("baseline: %s, %s, the newest of %s", b.Origin, plural(len(b.Sessions), "session"), b.Sessions[0].Session().StartedAt.Format("2006-01-02 15:04"))
		return
	}
	s.say("no baseline: %s (%s)", b.Reason, b.Origin)
	for i, r := range b.Rejected {
		if i == 3 {
			s.say("... and %d more", len(b.Rejected)-i)
			break
		}
		s.say("not taken: %s: %s", r.Candidate, r.Why)
	}
}

// Run executes the matrix and writes results; it judges nothing.
func (s Shell) Run(ctx context.Context, o Options) (*result.Document, error) {
	su, out, m, err := s.start(ctx, o)
	if err != nil {
		return nil, err
	}
	defer out.close()
	s.warnShort(su, m.plan, nil)
	doc, err := s.alone(ctx, su, func() (*result.Document, error) { return s.measure(ctx, out, m) })
	if err == nil {
		if err = out.clearPlanted(m, doc); err == nil && !m.whole(doc) {
			err = out.clearBaseline()
		}
	}
	return doc, err
}

// DryRun prints what would run; it runs nothing but the build.
func (s Shell) DryRun(ctx context.Context, o Options, w io.Writer) error {
	su, err := s.load(o)
	if err != nil {
		return err
	}
	p, err := s.plan(ctx, su, o, nil)
	if err != nil {
		return err
	}
	return s.list(w, su, p)
}

// Gate judges results again from the documents of a folder.
func (s Shell) Gate(dir string, o Options) (*verdict.Document, error) {
	out, err := s.reopen(dir)
	if err != nil {
		return nil, err
	}
	defer out.close()
	doc, err := out.results()
	if err != nil {
		return nil, err
	}
	if o.Config == "" {
		o.Config = findSuite(doc.Suite.Path, out.dir)
	}
	su, err := s.load(o)
	if err != nil {
		return nil, err
	}
	if su.file.Suite.Name != doc.Suite.Name {
		return nil, fmt.Errorf("%w: the results are of suite %q and %s is suite %q", ErrUsage, doc.Suite.Name, o.Config, su.file.Suite.Name)
	}
	var b *baseline.Baseline
	if o.Baseline != "" {
		// A first `ci` may name a folder that is not there yet; here a mistyped
		// path would pass for "nothing to compare with".
		if _, err := os.Stat(o.Baseline); err != nil {
			return nil, fmt.Errorf("%w: --baseline: %w", ErrUsage, err)
		}
		b = su.baseline(context.Background(), o, want(doc))
		s.sayBaseline(b)
	}
	r := su.working(o.Config)
	if !s.inCI() { // there a command, or the change, may have brought its own
		if r.selftest, err = out.selftest(); err != nil {
			return nil, err
		}
	}
	return s.judgeAndTell(r, out, doc, b)
}

// findSuite finds the suite file that results name. Its path relates to the
// repository's root, which is here or above, or above the folder of the results.
func findSuite(path, results string) string {
	here, err := os.Getwd()
	if err != nil || filepath.IsAbs(path) {
		return path
	}
	for _, start := range []string{here, results} {
		for dir := start; ; dir = filepath.Dir(dir) {
			found := filepath.Join(dir, path)
			if info, err := os.Stat(found); err == nil && info.Mode().IsRegular() {
				if rel, err := filepath.Rel(here, found); err == nil {
					return rel
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return path
}

// keepSession stores the session of a desk: the first one, and later ones that
// passed with the baseline's own programs. Anything else would let a baseline
// follow the code down (V13); `baseline save` is the way to say so on purpose.
func (s Shell) keepSession(su *suite, o Options, out *output, doc *result.Document, b *baseline.Baseline, v *verdict.Document) error {
	dir := su.baselineFolder(o)
	switch {
	case b.State == baseline.Failed || o.Cells != "" || v.ExitCode != gate.ExitPass:
		return nil
	case b.State != baseline.OK && out.unpaired:
		s.say("not saved as baseline: it was to be compared with a base commit that could not be built, so it was compared with nothing; `perfweir baseline save` saves it")
		return nil
	case b.State == baseline.OK && v.Outcome != verdict.Pass:
		s.say("not added to the baseline: the outcome is %s; `perfweir baseline save` adds it", v.Outcome)
		return nil
	case b.State == baseline.OK && !gate.SamePrograms(doc.Builds[result.BuildHead], b.Sessions[0].Doc.Builds[result.BuildHead]):
		s.say("not added to the baseline: the programs are not the baseline's; `perfweir baseline save` adds it")
		return nil
	}
	path, err := s.store(dir, doc)
	if err != nil {
		return err
	}
	s.say("saved as baseline: %s", su.shown(path))
	return nil
}
