package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect"
	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// confirmBlocksExact are the blocks of a doubt that is compared as it is, without a
// test: enough to see that it does not vary.
const confirmBlocksExact = 3

// inDoubt is a session whose verdict leaves something to be measured again.
type inDoubt struct {
	plan    *plan.Plan
	doc     *result.Document
	verdict *verdict.Document
	// judge makes the verdict once more, with what was measured again by then.
	judge func(again *result.Document) (*verdict.Document, error)
	// kept writes what the session is compared with into its folder, if it is there.
	kept func() error
}

// comparedBuild is the base build that a document, or its confirmation, has.
func comparedBuild(docs ...*result.Document) result.Build {
	for _, d := range docs {
		if d != nil && d.Builds[result.BuildBase].Commit != "" {
			return d.Builds[result.BuildBase]
		}
	}
	return result.Build{}
}

// confirmation reads the doubts that were measured again after a document was;
// nil where there are none. reference is what the rules say: where they ask for no
// confirmation, whoever wrote one does not decide.
func (s Shell) confirmation(out *output, doc *result.Document, reference string) (*result.Document, error) {
	path := out.path(filepath.Join(durable.Confirm, durable.Results))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if reference != config.Auto {
		s.warn("%s is left aside: gate.reference is not %s", path, config.Auto)
		return nil, nil
	}
	again, err := decode(path, result.Decode)
	if err != nil {
		return nil, err
	}
	if again.Plan.Confirms != doc.Plan.Digest || len(again.Sessions) == 0 {
		s.warn("%s is of other measurements: it is left aside", path)
		return nil, nil
	}
	return again, nil
}

// clearConfirmation removes what measuring left where doubts are measured again: a
// command that wrote there would be its own witness. keep: all was measured by an
// earlier process, which then went on to its doubts.
func (o *output) clearConfirmation(keep bool) error {
	if keep {
		return nil
	}
	if err := durable.RemoveAll(o.path(durable.Confirm)); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	return nil
}

// clearPlanted removes what whoever judges the folder would take for ours: a command
// may have written it.
func (o *output) clearPlanted(m *matrix, doc *result.Document) error {
	return errors.Join(o.keepSelftest(nil), o.clearConfirmation(m.whole(doc)))
}

// confirmAtDesk measures doubts again where the suite asks for it and --base names
// the commit: at a desk there is no event that does.
func (s Shell) confirmAtDesk(ctx context.Context, r rules, o Options, out *output, m *matrix, doc *result.Document, b *baseline.Baseline) error {
	su := r.head
	if su.file.Gate.Reference != config.Auto {
		return nil
	}
	v, err := s.judge(r, doc, b, nil)
	if err != nil {
		return err
	}
	if o.Job.Base == "" {
		if n := len(gate.Unsettled(v)); n > 0 {
			s.say("gate.reference: auto: --base names the commit beside which %s in doubt would be measured again", plural(n, "cell"))
		}
		return nil
	}
	c, err := s.named(ctx, su, o.Job.Base)
	if err != nil {
		return err
	}
	c.Here = true
	return s.confirm(ctx, su, o, out, inDoubt{m.plan, doc, v, func(again *result.Document) (*verdict.Document, error) {
		return s.judge(r, doc, b, again)
	}, func() error { return out.keepCompared(b, r.selftest) }}, c)
}

// confirmInJob measures doubts again beside the comparison commit. It needs no
// token: that commit was fetched before.
func (s Shell) confirmInJob(ctx context.Context, su *suite, o Options, out *output, m *matrix, j *job, p *prepared, doc *result.Document) error {
	if j.mode != modeMeasure || p.Comparison.Commit == "" || p.Comparison.Self || p.reference(su, j.o) != config.Auto {
		return nil
	}
	one, err := s.judgeOne(ctx, su, p, o, j, doc, nil)
	if err != nil {
		return err
	}
	return s.confirm(ctx, su, o, out, inDoubt{m.plan, doc, one.verdict, func(again *result.Document) (*verdict.Document, error) {
		return s.judge(one.rules, doc, one.baseline, again)
	}, func() error { return nil }}, p.Comparison) // the judging step knows the digests of the first one's
}

// confirm measures again, beside the base build, what a verdict leaves in doubt: look
// by look, as everything is measured. Where that cannot be done the results of it say
// why, and nothing else.
func (s Shell) confirm(ctx context.Context, su *suite, o Options, out *output, d inDoubt, c comparison) error {
	doubts := gate.Unsettled(d.verdict)
	switch {
	case d.verdict.Outcome == verdict.Interrupted || ctx.Err() != nil:
		return nil
	case len(doubts) == 0:
		return out.clearConfirmation(false)
	}
	below := &output{dir: out.path(durable.Confirm), lock: out.lock}
	if err := os.MkdirAll(below.dir, 0o755); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	if !c.Here {
		return s.unconfirmed(o, below, unmeasured(d.plan), notHere(c.Commit))
	}
	// Whatever came of it, the build and the commands are code under test.
	return errors.Join(s.measureAgain(ctx, su, o, out, below, d, c, doubts), s.standing(out, d))
}

// measureAgain builds the comparison commit and measures doubts beside it.
func (s Shell) measureAgain(ctx context.Context, su *suite, o Options, out, below *output, d inDoubt, c comparison, doubts []gate.Doubt) error {
	files, err := watchCommandFiles(s.Environ) // before the build, which is code under test
	if err != nil {
		return err
	}
	base, err := s.buildBase(ctx, su, out, c.Commit)
	if err != nil {
		out.unpaired = true
		warnings, rerr := s.restore(files)
		if ctx.Err() != nil || rerr != nil {
			return errors.Join(err, rerr)
		}
		return s.unconfirmed(o, below, unmeasured(d.plan), append(warnings, baseFailed(c.Commit, err))...)
	}
	again, err := s.confirmPlan(su, o, below, d, base, doubts)
	if err != nil {
		_, rerr := s.restore(files)
		return errors.Join(err, rerr)
	}
	if len(again.plan.Cells) == 0 {
		warnings, rerr := s.restore(files)
		return errors.Join(rerr, s.unconfirmed(o, below, again.plan, warnings...))
	}
	again.files = files
	s.sayConfirming(again.plan, len(doubts), c.Commit)
	_, err = s.alone(ctx, su, func() (*result.Document, error) { return s.measure(ctx, below, again) })
	return err
}

// standing makes sure that what was measured before is in the folder as it was: who
// judges later reads it there, and commands have run since.
func (s Shell) standing(out *output, d inDoubt) error {
	var want bytes.Buffer
	if err := result.Encode(&want, d.doc); err != nil {
		return err
	}
	path := out.path(durable.Results)
	if f, err := durable.Open(path); err == nil {
		there, err := io.ReadAll(io.LimitReader(f, int64(want.Len())+1))
		f.Close()
		if err == nil && bytes.Equal(there, want.Bytes()) {
			return d.kept()
		}
	}
	s.warn("%s was changed while doubts were measured again: it is written anew", path)
	return errors.Join(durable.RemoveAll(path), out.write(durable.Results, func(w io.Writer) error { return result.Encode(w, d.doc) }), d.kept())
}

// sayConfirming says what will be measured again, and when it is judged.
func (s Shell) sayConfirming(p *plan.Plan, doubts int, commit string) {
	measured := 0
	for i := range p.Cells {
		if p.Cells[i].Build == result.BuildHead {
			measured++
		}
	}
	what := plural(doubts, "cell")
	if measured < doubts {
		what += fmt.Sprintf(", %d of them", measured)
	} else {
		what += ","
	}
	if runs := plural(p.Order.Len(), "run"); len(p.Looks) > 1 {
		s.say("in doubt: %s measured again beside %.12s: at most %s, judged after %s blocks: only what is undecided goes on",
			what, commit, runs, enumerated(p.Looks))
	} else {
		s.say("in doubt: %s measured again beside %.12s: %s", what, commit, runs)
	}
}

// confirmPlan plans to measure doubts again, or goes on with what is there of it.
func (s Shell) confirmPlan(su *suite, o Options, below *output, d inDoubt, base *plan.Base, doubts []gate.Doubt) (*matrix, error) {
	first := d.plan
	seed := drawSeed(o.Seed)
	old, err := decode(below.path(durable.Plan), plan.Decode)
	there := o.Resume && err == nil && old.Confirms == first.Digest
	if there {
		seed = old.Seed
	}
	p, err := plan.Confirmation(first, su.root, base, confirmLooks(first, doubts, d.verdict.Policy.FalseAlarms), seed)
	if err != nil {
		return nil, err
	}
	for _, k := range p.Skipped {
		s.say("not measured again: %s: %s", k.Name, k.Why)
	}
	m := &matrix{plan: p, session: s.session(o), onward: d.onward(p)}
	m.before, _ = collect.Pace(d.doc, first, plan.Selection{})
	if !there || p.Digest != old.Digest {
		return m, nil
	}
	return m, s.goOnConfirming(o, below, m)
}

// onward lets only those cells of a confirmation go on that a verdict on what is
// there leaves open.
func (d inDoubt) onward(p *plan.Plan) onward {
	if len(p.Looks) < 2 {
		return nil
	}
	return func(again *result.Document) ([]int, error) {
		v, err := d.judge(again)
		if err != nil {
			return nil, err
		}
		return withTwins(p, v, gate.Unconfirmed(v)), nil
	}
}

// goOnConfirming takes over what an earlier process measured of the same plan.
func (s Shell) goOnConfirming(o Options, below *output, m *matrix) error {
	if err := s.endEarlier(below); err != nil {
		return err
	}
	log, rec, err := journal.Open(below.path(durable.Journal))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, journal.ErrEmpty) {
		return nil // no run had begun
	}
	if err != nil {
		return err
	}
	m.past, m.log, m.retryFailed = rec.Records, log, o.RetryFailed
	if err := m.place(); err != nil {
		log.Close()
		return err
	}
	s.sayResumed(m)
	return nil
}

// confirmLooks are the blocks after which each cell in doubt is judged: those that
// the family of doubts needs by default, and at the last look as many as the cell has
// repeats, at least. Cells of one block get the same. A doubt without a test has one
// look.
func confirmLooks(first *plan.Plan, doubts []gate.Doubt, falseAlarms float64) map[result.ID][]int {
	type block struct{ benchmark, input string }
	repeats := map[result.ID]int{}
	for i := range first.Cells {
		repeats[first.Cells[i].ID()] = first.Cells[i].Repeats
	}
	family, most := 0, map[block]int{}
	for _, d := range doubts {
		family += d.Findings
		if b := (block{d.Cell.Benchmark, d.Cell.Input}); d.Noisy {
			most[b] = max(most[b], repeats[d.Cell])
		}
	}
	out := map[result.ID][]int{}
	for _, d := range doubts {
		out[d.Cell] = []int{confirmBlocksExact}
		if d.Noisy {
			out[d.Cell] = stats.LooksTo(stats.PairedDesign(), falseAlarms, family, most[block{d.Cell.Benchmark, d.Cell.Input}])
		}
	}
	return out
}

// unmeasured is a plan of measuring a session's doubts again of which nothing can be
// run.
func unmeasured(first *plan.Plan) *plan.Plan {
	return &plan.Plan{Suite: first.Suite, Looks: []int{1}, Selection: first.Selection, Confirms: first.Digest,
		Builds: map[string]result.Build{result.BuildHead: first.Builds[result.BuildHead]}}
}

// unconfirmed leaves results that say why nothing was measured again: whoever
// judges later has nothing but documents.
func (s Shell) unconfirmed(o Options, below *output, p *plan.Plan, warnings ...string) error {
	for _, text := range warnings {
		s.warn("%s", text)
	}
	doc := &result.Document{Header: result.Header{Schema: result.Schema, Suite: p.Suite, Skipped: p.Skipped,
		Plan:   result.PlanRef{Looks: p.Looks, Selection: p.Selection, Confirms: p.Confirms},
		Builds: p.Builds, Metrics: map[string]result.Metric{}}}
	session := s.session(o)
	session.Warnings = warnings
	doc.Sessions = []result.Session{session}
	return below.write(durable.Results, func(w io.Writer) error { return result.Encode(w, doc) })
}
