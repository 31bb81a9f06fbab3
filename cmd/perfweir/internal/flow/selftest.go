package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/selftest"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// SelftestOptions are how much of a self-test is done.
type SelftestOptions struct {
	Sessions int           // of the unchanged suite, at least 2
	Inject   []string      // "cpu=10%"; see selftest.ParseAmount
	Injected int           // sessions for each of them
	Limit    time.Duration // no session is begun after it
	File     string        // of the document; empty: beside the desk's baseline
	Keep     string        // folder for the sessions' results; empty: they are not kept
}

// trials is what a self-test is while it runs.
type trials struct {
	shell   Shell
	su      *suite
	o       Options
	t       SelftestOptions
	plan    *plan.Plan
	out     *output
	files   commandFiles
	amounts []selftest.Amount
	costs   selftest.Costs
	began   time.Time

	stored   []baseline.Candidate // unchanged sessions so far
	measured selftest.Measured
	rates    []float64 // of the injection's loop, one a session of measured
	kept     []keptSession
}

// keptSession is a line of sessions.json in SelftestOptions.Keep.
type keptSession struct {
	File     string   `json:"file"`
	Injected string   `json:"injected,omitempty"`
	Cells    []string `json:"cells,omitempty"` // that were injected
}

// Selftest measures the suite again and again, with nothing changed and, where
// asked, slowed down on purpose, and counts what the gate says. What there is when
// it is stopped, or out of time, is counted all the same.
func (s Shell) Selftest(ctx context.Context, o Options, t SelftestOptions) (*selftest.Document, error) {
	if t.Sessions < 2 {
		return nil, fmt.Errorf("%w: --aa %d: one session is judged against another: want 2 or more, and 20 to say anything of a rate", ErrUsage, t.Sessions)
	}
	tr := &trials{shell: s, o: o, t: t}
	for _, text := range t.Inject {
		a, err := selftest.ParseAmount(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUsage, err)
		}
		tr.amounts = append(tr.amounts, a)
		tr.measured.Injected = append(tr.measured.Injected, selftest.Injected{Amount: a})
	}
	var err error
	if tr.su, err = s.load(o); err != nil {
		return nil, err
	}
	if tr.files, err = watchCommandFiles(s.Environ); err != nil { // before the build, which is code under test
		return nil, err
	}
	if tr.plan, err = s.plan(ctx, tr.su, o, nil); err != nil {
		_, rerr := s.restore(tr.files)
		return nil, errors.Join(err, rerr)
	}
	s.announce(tr.su, tr.plan)
	s.warnShort(tr.su, tr.plan, nil)
	return tr.run(ctx)
}

// run does it in a folder that is gone afterwards.
func (tr *trials) run(ctx context.Context) (*selftest.Document, error) {
	dir, err := os.MkdirTemp("", "perfweir-selftest-")
	if err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	defer func() { _ = durable.RemoveAll(dir) }()
	o := tr.o
	o.Out = dir
	if tr.out, err = tr.shell.open(o); err != nil {
		return nil, err
	}
	defer tr.out.close()
	if len(tr.amounts) > 0 {
		if tr.costs, err = tr.shell.injectionCosts(ctx); err != nil {
			return nil, err
		}
	}
	tr.began = tr.shell.Now()
	tr.shell.say("self-test: %s, %s each; no session is begun after %v", plural(tr.t.Sessions, "unchanged session"), plural(tr.plan.Order.Len(), "run"), tr.t.Limit)
	_, err = tr.shell.alone(ctx, tr.su, func() (*result.Document, error) { return nil, tr.sessions(ctx) })
	if err != nil && (ctx.Err() == nil || len(tr.measured.Sessions) < 2) {
		return nil, err
	}
	doc, derr := tr.document()
	if derr != nil {
		return nil, derr
	}
	return doc, err
}

// sessions measures all of them. Those that are slowed down are spread among the
// later unchanged ones, so that a machine that drifts favours neither.
func (tr *trials) sessions(ctx context.Context) error {
	warm := min(tr.t.Sessions-1, tr.su.policy().MinSessions)
	total := tr.t.Injected * len(tr.amounts)
	done := 0
	for i := range tr.t.Sessions {
		if tr.outOfTime(i) {
			break
		}
		if err := tr.unchanged(ctx); err != nil {
			return err
		}
		if i == 0 {
			tr.estimate(total)
		}
		if i < warm {
			continue
		}
		for due := total * (i - warm + 1) / (tr.t.Sessions - warm); done < due; done++ {
			if err := tr.slowed(ctx, done%len(tr.amounts), done/len(tr.amounts)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (tr *trials) outOfTime(done int) bool {
	if done < 2 || tr.shell.Now().Sub(tr.began) < tr.t.Limit {
		return false
	}
	tr.shell.say("out of time after %d of %s: --time-limit allows more", done, plural(tr.t.Sessions, "unchanged session"))
	return true
}

// estimate tells how long it will take, after the first session.
func (tr *trials) estimate(injected int) {
	each := tr.shell.Now().Sub(tr.began)
	rest := time.Duration(tr.t.Sessions-1+injected) * each
	text := ""
	if rest > tr.t.Limit {
		text = fmt.Sprintf(", more than --time-limit %v allows", tr.t.Limit)
	}
	tr.shell.say("a session takes %v: the other %d take about %v%s", each.Round(time.Millisecond), tr.t.Sessions-1+injected, rest.Round(time.Second), text)
}

// unchanged measures one session as the suite has it, and judges it.
func (tr *trials) unchanged(ctx context.Context) error {
	idle := selftest.Work{Kinds: tr.kinds()}
	doc, err := tr.measure(ctx, func(*plan.Cell) selftest.Work { return idle })
	if err != nil {
		return err
	}
	n := len(tr.stored)
	if n > 0 {
		v, err := tr.judge(doc, tr.stored)
		if err != nil {
			return err
		}
		tr.measured.Stored = append(tr.measured.Stored, v)
		if n%2 == 1 { // the second of a pair
			if n > 1 {
				if v, err = tr.judge(doc, tr.stored[n-1:]); err != nil {
					return err
				}
			}
			tr.measured.Pairs = append(tr.measured.Pairs, v)
		}
	}
	tr.measured.Sessions = append(tr.measured.Sessions, doc)
	if err := tr.paceOfLoop(ctx); err != nil {
		return err
	}
	tr.stored = append(tr.stored, baseline.Candidate{File: fmt.Sprintf("session %d", n+1), Doc: doc})
	return tr.keep(doc, keptSession{File: fmt.Sprintf("aa-%03d.json", n+1)})
}

// slowed measures one session in which every other cell is slowed down, those that
// were left alone before, and judges it against the unchanged ones.
func (tr *trials) slowed(ctx context.Context, which, turn int) error {
	a := tr.amounts[which]
	injected, names := map[string]float64{}, []string{}
	work := map[string]selftest.Work{} // by cell
	cells := tr.plan.SuiteCells()
	for i := range cells {
		c := &cells[i]
		if len(cells) > 1 && i%2 != turn%2 {
			continue
		}
		w, share, err := tr.work(ctx, a, c)
		if err != nil {
			return err
		}
		work[c.Name], injected[c.Name] = w, share
		names = append(names, c.Name)
	}
	doc, err := tr.measure(ctx, func(c *plan.Cell) selftest.Work {
		if w, ok := work[c.Name]; ok {
			return w
		}
		return selftest.Work{Kinds: tr.kinds()}
	})
	if err != nil {
		return err
	}
	v, err := tr.judge(doc, tr.stored)
	if err != nil {
		return err
	}
	in := &tr.measured.Injected[which]
	in.Trials = append(in.Trials, selftest.Trial{Verdict: v, Injected: injected})
	return tr.keep(doc, keptSession{File: fmt.Sprintf("%s-%d-%03d.json", a.Kind, which+1, turn+1), Injected: a.Text, Cells: names})
}

// work is what an injection does before each run of a cell, and the share of what the
// cell takes that it is.
func (tr *trials) work(ctx context.Context, a selftest.Amount, c *plan.Cell) (w selftest.Work, share float64, err error) {
	if a.Auto {
		a.Share = tr.measured.Effect(c.Name, a.Of())
	}
	own := tr.own(c, a.Of())
	w = a.Add(selftest.Work{Kinds: tr.kinds()}, own, tr.costs)
	if a.Kind == selftest.Memory && a.Fixed == 0 {
		w.Memory, err = fitMemory(ctx, w.Memory, own+a.Share*own)
	}
	return w, a.Share, err
}

func (tr *trials) kinds() []string {
	var out []string
	for _, a := range tr.amounts {
		out = append(out, a.Kind)
	}
	return out
}

// own is the median of a metric of a cell over the unchanged sessions that the next one
// is held against: what the machine was an hour ago is not what a share is a share of.
// 0 when it was not measured.
func (tr *trials) own(c *plan.Cell, metric string) float64 {
	return selftest.Typical(newest(tr.measured.Sessions, tr.su.file.Baseline.Sessions), c.ID(), metric)
}

// paceOfLoop measures how fast the injection's loop is beside each unchanged session: a
// machine that gives a share of its speed in one minute and another in the next gives
// the commands the same.
func (tr *trials) paceOfLoop(ctx context.Context) error {
	if !slices.Contains(tr.kinds(), selftest.CPU) {
		return nil
	}
	rate, err := loopRate(ctx, 3)
	if err != nil {
		return err
	}
	tr.rates = append(tr.rates, rate)
	tr.costs.PerSecond, err = stats.Median(newest(tr.rates, tr.su.file.Baseline.Sessions))
	return err
}

// newest are the last n.
func newest[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// measure does one session, in an order of its own.
func (tr *trials) measure(ctx context.Context, work func(*plan.Cell) selftest.Work) (*result.Document, error) {
	s := tr.shell
	if len(tr.stored) > 0 {
		s.Log, s.Warn = io.Discard, nil // the first one has said it
	}
	m := &matrix{plan: tr.plan.Reseed(drawSeed(nil)), session: s.session(tr.o), files: tr.files}
	if len(tr.amounts) > 0 {
		m.edit = func(c plan.Cell) plan.Cell {
			if c.Control {
				return c // it tells of the machine, which nobody slowed down
			}
			c.Exec.Argv = work(&c).Wrap(c.Exec.Argv)
			return c
		}
	}
	doc, err := s.measure(ctx, tr.out, m)
	switch {
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err() // what was measured of it is not the suite
	}
	return doc, nil
}

// judge holds a session against others as the gate would.
func (tr *trials) judge(doc *result.Document, stored []baseline.Candidate) (*verdict.Document, error) {
	policy := tr.su.file.Baseline
	policy.MaxAge, policy.From = 0, ""
	b := baseline.Select(policy, want(doc), "this self-test", stored)
	budgets := append(selftest.Budgets(doc), tr.su.file.Budgets...)
	return gate.Evaluate(gate.Input{Current: doc, Baseline: b, Budgets: budgets, Policy: tr.su.policy(), JudgedBy: "self-test"})
}

func (tr *trials) keep(doc *result.Document, k keptSession) error {
	if tr.t.Keep == "" {
		return nil
	}
	if err := os.MkdirAll(tr.t.Keep, 0o755); err != nil {
		return fmt.Errorf("self-test: keep sessions: %w", err)
	}
	tr.kept = append(tr.kept, k)
	err := durable.WriteFile(filepath.Join(tr.t.Keep, k.File), func(w io.Writer) error { return result.Encode(w, doc) })
	if err == nil {
		err = durable.WriteFile(filepath.Join(tr.t.Keep, "sessions.json"), func(w io.Writer) error { return json.NewEncoder(w).Encode(tr.kept) })
	}
	if err != nil {
		return fmt.Errorf("self-test: keep sessions: %w", err)
	}
	return nil
}

// document counts, and writes what it came to.
func (tr *trials) document() (*selftest.Document, error) {
	first := &tr.measured.Sessions[0].Sessions[0]
	policy := tr.su.policy()
	d := &selftest.Document{
		Schema: selftest.Schema, Suite: tr.su.file.Suite.Name, Machine: first.Machine, Host: first.Host, Version: tr.shell.Version,
		StartedAt: tr.began.UTC().Truncate(time.Second), Seconds: math.Round(tr.shell.Now().Sub(tr.began).Seconds()),
		Sessions: len(tr.measured.Sessions), Asked: tr.t.Sessions, Cells: len(tr.plan.SuiteCells()), Runs: tr.plan.Order.Len(),
		FalseAlarms: policy.FalseAlarms, MinSessions: policy.MinSessions,
	}
	d.Fill(tr.measured)
	path := tr.t.File
	if path == "" {
		path = tr.su.selftestFile(len(tr.amounts) > 0)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	if err := durable.WriteFile(path, func(w io.Writer) error { return selftest.Encode(w, d) }); err != nil {
		return nil, fmt.Errorf("self-test: %w", err)
	}
	tr.shell.say("self-test written: %s", tr.su.shown(path))
	return d, nil
}
