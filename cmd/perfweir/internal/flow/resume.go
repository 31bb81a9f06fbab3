package flow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// matrix is what is measured: a plan, and what an earlier process did of it.
type matrix struct {
	plan      *plan.Plan
	session   result.Session
	past      []journal.Record // empty: nothing was done yet
	continues bool             // session is the journal's last one
	log       *journal.Writer  // open when there is a past
	files     commandFiles     // of the workflow's step
	keep      []string         // what an earlier step left in the folder and is needed
	ran       bool             // something of it was run in this process
	// retryFailed tries again what went wrong.
	retryFailed bool
	// edit changes how a cell is executed, and nothing that is recorded of it: a
	// self-test slows cells down. nil: as planned.
	edit func(plan.Cell) plan.Cell
	// onward decides between looks what goes on; nil: everything.
	onward onward
	// before is how long something else was measured that shares limits.time, in
	// seconds.
	before float64
}

// whole reports whether an earlier process measured all of it: no command of the
// suite was run since.
func (m *matrix) whole(doc *result.Document) bool {
	return len(m.past) > 0 && !m.ran && !doc.Sessions[len(doc.Sessions)-1].Interrupted
}

// want is what the matrix needs a baseline to be.
func (m *matrix) want() baseline.Want {
	w := baseline.Want{Suite: m.plan.Suite.Name, Host: m.session.Host, Machine: m.session.Machine, StartedAt: m.session.StartedAt,
		Sessions: map[string]bool{m.session.ID: true}}
	first := true
	for _, r := range m.past {
		if r.Session == nil {
			continue
		}
		w.Sessions[r.Session.ID] = true
		if first { // as the document's own: ages are counted from its first session
			w.StartedAt, first = r.Session.StartedAt, false
		}
	}
	return w
}

// start reads the suite, opens the output folder, plans (anew, or going on with
// what is there) and says what will be done.
func (s Shell) start(ctx context.Context, o Options) (*suite, *output, *matrix, error) {
	begin := s.begin
	switch {
	case !o.Resume && o.RetryFailed:
		return nil, nil, nil, fmt.Errorf("%w: --retry-failed goes with --resume", ErrUsage)
	case o.Resume && o.Fresh:
		return nil, nil, nil, fmt.Errorf("%w: --fresh removes what --resume would go on with: choose one", ErrUsage)
	case o.Resume:
		begin = s.resume
	}
	if err := s.forget(o); err != nil {
		return nil, nil, nil, err
	}
	su, err := s.load(o)
	if err != nil {
		return nil, nil, nil, err
	}
	if o.pair == nil {
		pair, err := s.pairAtDesk(ctx, su, o)
		if err != nil {
			return nil, nil, nil, err
		}
		o.pair = &pair
	}
	files, err := watchCommandFiles(s.Environ) // before the build, which is code under test
	if err != nil {
		return nil, nil, nil, err
	}
	out, m, err := begin(ctx, su, o)
	if err != nil {
		_, rerr := s.restore(files)
		return nil, nil, nil, errors.Join(err, rerr)
	}
	m.files = files
	s.announce(su, m.plan)
	return su, out, m, nil
}

func (s Shell) begin(ctx context.Context, su *suite, o Options) (*output, *matrix, error) {
	out, err := s.open(o)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.plan(ctx, su, o, out)
	if err != nil {
		out.close()
		return nil, nil, err
	}
	m := &matrix{plan: p, session: s.session(o)}
	if why := o.pair.why; why != "" {
		s.warn("%s", why)
		m.session.Warnings = append(m.session.Warnings, why)
	}
	return out, m, nil
}

// resume goes on with the folder's plan, which must still be the suite's.
func (s Shell) resume(ctx context.Context, su *suite, o Options) (*output, *matrix, error) {
	out, err := s.reopen(o.Out)
	if err != nil {
		return nil, nil, err
	}
	m, err := s.goOn(ctx, su, o, out)
	if err != nil {
		out.close()
		return nil, nil, err
	}
	return out, m, nil
}

func (s Shell) goOn(ctx context.Context, su *suite, o Options, out *output) (*matrix, error) {
	old, err := decode(out.path(durable.Plan), plan.Decode)
	if err != nil {
		return nil, err
	}
	if err := s.endEarlier(out); err != nil {
		return nil, err
	}
	if o.Cells != "" && o.Cells != old.Selection {
		return nil, fmt.Errorf("%w: resume: the plan was made with --cells %q", ErrUsage, old.Selection)
	}
	if o.Shard != "" && o.Shard != old.Shard {
		return nil, fmt.Errorf("%w: resume: the plan was made with --shard %q", ErrUsage, old.Shard)
	}
	o.Cells, o.Shard, o.Seed = old.Selection, old.Shard, &old.Seed
	pair, err := s.resumed(old, *o.pair)
	if err != nil {
		return nil, err
	}
	out.unpaired = o.pair.commit != "" && pair.commit == ""
	o.pair = &pair
	p, err := s.plan(ctx, su, o, out)
	if err != nil {
		return nil, err
	}
	if p.Digest != old.Digest {
		return nil, fmt.Errorf("%w: resume: %s; --fresh starts anew", ErrUsage, strings.Join(plan.Differences(old, p), "; "))
	}
	log, rec, err := journal.Open(out.path(durable.Journal))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, journal.ErrEmpty) {
		return nil, fmt.Errorf("%w: resume: no run had begun in %s: --fresh starts anew", ErrUsage, out.dir)
	}
	if err != nil {
		return nil, err
	}
	if rec.Dropped > 0 {
		s.say("the journal ended in the middle of a record: %d bytes were cut off, that run is done again", rec.Dropped)
	}
	m := &matrix{plan: p, session: s.session(o), past: rec.Records, log: log, retryFailed: o.RetryFailed}
	if err := m.place(); err != nil {
		log.Close()
		return nil, err
	}
	s.sayResumed(m)
	return m, nil
}

// endEarlier ends what a killed run left in a folder: it would disturb what is
// measured now, and write into the same files.
func (s Shell) endEarlier(out *output) error {
	ended, err := launch.EndMarked("PERFWEIR_OUT", out.path(durable.Runs)+"/")
	if err != nil {
		return fmt.Errorf("resume: end what the earlier run left: %w", err)
	}
	if len(ended) > 0 {
		s.say("ended what the earlier run left: %s", strings.Join(ended, ", "))
	}
	return nil
}

// place decides which session the runs to come belong to: the last one where
// machine and boot are the same, else a new one in the same document. Another
// machine's numbers have no place in it.
func (m *matrix) place() error {
	for _, r := range slices.Backward(m.past) {
		if r.Session == nil {
			continue
		}
		if diff := baseline.HostDifference(m.session.Host, r.Session.Host); diff != "" {
			return fmt.Errorf("%w: resume: the folder was measured on another machine (%s); choose another -o", ErrUsage, diff)
		}
		if r.Session.Boot == m.session.Boot && m.session.Boot != "" {
			m.session, m.continues = *r.Session, true
		}
		return nil
	}
	return nil
}

func (s Shell) sayResumed(m *matrix) {
	runs := 0
	for _, r := range m.past {
		if r.Run != nil && r.Run.Repeat > 0 {
			runs++
		}
	}
	where := "in a new session: the machine was started again since"
	if m.continues {
		where = "in session " + m.session.ID
	}
	s.say("resume: %s in the journal, going on %s", plural(runs, "run"), where)
}
