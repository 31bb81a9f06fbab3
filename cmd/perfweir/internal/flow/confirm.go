package flow

import (
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
	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Blocks in which a doubt is measured again, at least.
const (
	confirmBlocks      = 10 // of what needs a test
	confirmBlocksExact = 3  // of what is compared as it is: enough to see that it does not vary
)

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
// nil where there are none.
func (s Shell) confirmation(out *output, doc *result.Document) (*result.Document, error) {
	path := out.path(filepath.Join(durable.Confirm, durable.Results))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
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
	return s.confirm(ctx, su, o, out, m, v, c)
}

// confirmInJob measures doubts again beside the comparison commit. It needs no
// token: that commit was fetched before.
func (s Shell) confirmInJob(ctx context.Context, su *suite, o Options, out *output, m *matrix, j *job, p *prepared, doc *result.Document) error {
	if j.mode != modeMeasure || p.Comparison.Commit == "" || p.Comparison.Self || p.reference(su) != config.Auto {
		return nil
	}
	one, err := s.judgeOne(ctx, su, p, o, j, doc, nil)
	if err != nil {
		return err
	}
	return s.confirm(ctx, su, o, out, m, one.verdict, p.Comparison)
}

// confirm measures again, beside the base build, what a verdict leaves in doubt.
// Where that cannot be done the results of it say why, and nothing else.
func (s Shell) confirm(ctx context.Context, su *suite, o Options, out *output, m *matrix, v *verdict.Document, c comparison) error {
	doubts := gate.Unsettled(v)
	if len(doubts) == 0 || v.Outcome == verdict.Interrupted || ctx.Err() != nil {
		return nil
	}
	below := &output{dir: out.path(durable.Confirm), lock: out.lock}
	if err := os.MkdirAll(below.dir, 0o755); err != nil {
		return fmt.Errorf("confirm: %w", err)
	}
	if !c.Here {
		return s.unconfirmed(o, below, m.plan, notHere(c.Commit))
	}
	files, err := watchCommandFiles(s.Environ) // before the build, which is code under test
	if err != nil {
		return err
	}
	base, err := s.buildBase(ctx, su, out, c.Commit)
	if err != nil {
		warnings, rerr := s.restore(files)
		if ctx.Err() != nil || rerr != nil {
			return errors.Join(err, rerr)
		}
		return s.unconfirmed(o, below, m.plan, append(warnings, baseFailed(c.Commit, err))...)
	}
	again, err := s.confirmPlan(su, o, below, m.plan, base, doubts)
	if err != nil {
		_, rerr := s.restore(files)
		return errors.Join(err, rerr)
	}
	again.files = files
	s.say("in doubt: %s, measured again beside %.12s: %s", plural(len(doubts), "cell"), c.Commit, plural(again.plan.Order.Len(), "run"))
	_, err = s.alone(ctx, su, func() (*result.Document, error) { return s.measure(ctx, below, again) })
	return err
}

// confirmPlan plans to measure doubts again, or goes on with what is there of it.
func (s Shell) confirmPlan(su *suite, o Options, below *output, first *plan.Plan, base *plan.Base, doubts []gate.Doubt) (*matrix, error) {
	seed := drawSeed(o.Seed)
	old, err := decode(below.path(durable.Plan), plan.Decode)
	there := o.Resume && err == nil && old.Confirms == first.Digest
	if there {
		seed = old.Seed
	}
	p, err := plan.Confirmation(first, su.root, base, su.blocks(first, doubts), seed)
	if err != nil {
		return nil, err
	}
	for _, k := range p.Skipped {
		s.say("not measured again: %s: %s", k.Name, k.Why)
	}
	m := &matrix{plan: p, session: s.session(o)}
	if !there || p.Digest != old.Digest {
		return m, nil
	}
	return m, s.goOnConfirming(o, below, m)
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

// blocks are how often each cell in doubt is measured again: as often as it was,
// ten times at least, and as often as the family of doubts needs.
func (su *suite) blocks(first *plan.Plan, doubts []gate.Doubt) map[result.ID]int {
	family := 0
	for _, d := range doubts {
		family += d.Findings
	}
	least := stats.SmallestNPaired(su.file.Gate.FalseAlarms / float64(max(1, family)))
	repeats := map[result.ID]int{}
	for i := range first.Cells {
		repeats[first.Cells[i].ID()] = first.Cells[i].Repeats
	}
	out := map[result.ID]int{}
	for _, d := range doubts {
		out[d.Cell] = confirmBlocksExact
		if d.Noisy {
			out[d.Cell] = max(confirmBlocks, repeats[d.Cell], least)
		}
	}
	return out
}

// unconfirmed leaves results that say why nothing was measured again: whoever
// judges later has nothing but documents.
func (s Shell) unconfirmed(o Options, below *output, first *plan.Plan, warnings ...string) error {
	for _, text := range warnings {
		s.warn("%s", text)
	}
	doc := &result.Document{Header: result.Header{Schema: result.Schema, Suite: first.Suite,
		Plan:   result.PlanRef{Looks: []int{1}, Selection: first.Selection, Confirms: first.Digest},
		Builds: map[string]result.Build{result.BuildHead: first.Builds[result.BuildHead]}, Metrics: map[string]result.Metric{}}}
	session := s.session(o)
	session.Warnings = warnings
	doc.Sessions = []result.Session{session}
	return below.write(durable.Results, func(w io.Writer) error { return result.Encode(w, doc) })
}
