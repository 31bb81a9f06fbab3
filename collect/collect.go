// Package collect drives one matrix: it goes through a plan's order, has every
// run measured, journals it before the next one starts, and keeps or removes
// what the run left. It knows order and attempts, nothing about how one run is
// measured (package measure) and nothing about what the numbers mean.
package collect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Matrix is what is to be collected.
type Matrix struct {
	Plan    *plan.Plan
	Session result.Session
	Runs    string   // folder of the runs' folders, absolute
	Root    string   // output folder, absolute: folders in the document are relative to it
	Environ []string // the runner's own environment
	// Past is what an earlier process journalled of this plan, to go on from;
	// empty: nothing. Continues is set when the Session is its last one, still on
	// the same boot of the same machine; else a new session is opened.
	Past      []journal.Record
	Continues bool
	// RetryFailed tries again what went wrong. The crash rate keeps counting
	// first attempts.
	RetryFailed bool
	// Remove removes the folder of a run and what the run left in it; nil is
	// os.RemoveAll.
	Remove func(path string) error
}

// Log takes one record at a time and has it on disk before it returns, as far as
// journal.Writer promises.
type Log interface {
	Append(journal.Record) error
}

// Event is one run that ended.
type Event struct {
	Done, Total int
	Cell        *plan.Cell
	Run         plan.Run
	Status      result.Status
	Detail      result.Detail
	Wall        float64 // s; NaN when unknown
	At          time.Time
}

// Measure does one run; measure.Do is the real one.
type Measure func(context.Context, measure.Run) measure.Outcome

// Collector measures one plan, selection by selection, in one session. Whoever
// decides what goes on stands between two of its looks.
type Collector struct {
	m       Matrix
	log     Log
	do      Measure
	tell    func(Event)
	past    past // of earlier processes and of this one
	begun   bool // the session is in the journal
	session int  // index of the current session
	done    int  // entries of the order
	total   int  // entries of what was selected so far
	sources map[string]*tally
	order   []string // names of sources, as they first came
	spare   spare
}

// New makes a collector. Nothing is written before the first look.
func New(m Matrix, log Log, do Measure, tell func(Event)) *Collector {
	if m.Remove == nil {
		m.Remove = os.RemoveAll
	}
	c := &Collector{m: m, log: log, do: do, tell: tell, past: newPast(m.Plan, m.Past, !m.Continues), sources: map[string]*tally{}}
	c.session = c.past.sessions - 1
	return c
}

// repeat does one entry of the order: a run, and again while it is invalid and
// the limit allows. Each attempt is journalled before the next one starts.
func (c *Collector) repeat(ctx context.Context, i int) (result.Status, error) {
	r := c.m.Plan.Order.At(i)
	c.done++
	for again := 0; ; again++ {
		out, err := c.run(ctx, i)
		valid := out.Detail.Valid == nil || *out.Detail.Valid
		if err != nil || valid || r.Repeat == 0 || out.Status == result.Interrupted || again == c.m.Plan.Limits.Retries || ctx.Err() != nil {
			return out.Status, err
		}
	}
}

func (c *Collector) run(ctx context.Context, i int) (measure.Outcome, error) {
	p := c.m.Plan
	r := p.Order.At(i)
	cell := &p.Cells[r.Cell]
	attempt := 1
	if r.Repeat > 0 {
		attempt = c.past.attempts[repeat{r.Cell, r.Repeat}] + 1
	}
	folder := filepath.Join(c.m.Runs, cell.Key, folderName(i, r, attempt))
	timeout, basis := c.timeout(r.Cell)
	unused := c.spare.use(folder)
	out := c.do(ctx, measure.Run{Cell: cell, Attempt: attempt, Repeat: r.Repeat, Folder: folder, Timeout: seconds(timeout), TimeoutBasis: basis,
		Interval: seconds(p.Sampling.Interval), Limits: p.Limits, Environ: c.m.Environ})
	for _, s := range out.Sources {
		c.addSource(s)
	}
	if err := errors.Join(unused, c.keep(r.Cell, folder, &out)); err != nil {
		out.Detail.Warnings = append(out.Detail.Warnings, err.Error())
	}
	if err := c.record(r, attempt, &out); err != nil {
		return out, err
	}
	if c.tell != nil {
		c.tell(Event{Done: c.done, Total: c.total, Cell: cell, Run: r, Status: out.Status, Detail: out.Detail, Wall: wallTime(&out), At: out.StartedAt})
	}
	return out, nil
}

// folderName tells repeats from warm-ups, which have no number: theirs is the
// place in the order.
func folderName(i int, r plan.Run, attempt int) string {
	if r.Repeat == 0 {
		return fmt.Sprintf("w%d", i+1)
	}
	return fmt.Sprintf("r%d.a%d", r.Repeat, attempt)
}

func (c *Collector) timeout(cell int) (float64, string) {
	k := &c.m.Plan.Cells[cell]
	latest := 0.0
	if ref := c.m.Plan.Reference(cell); ref >= 0 {
		latest = c.past.latest[ref]
	}
	return k.Exec.Timeout.Resolve(k.Benchmark, k.Input, latest)
}

// keep decides what happens to a run's folder: by default kept for a run that
// went wrong and for the first good one of each cell, removed otherwise. A folder
// in which nothing was left is removed always.
func (c *Collector) keep(cell int, folder string, out *measure.Outcome) error {
	if c.spare.offer(folder) {
		return nil
	}
	wanted := !out.Status.OK() || !c.past.kept[cell]
	switch c.m.Plan.Cells[cell].Exec.Keep {
	case plan.KeepAlways:
		wanted = true
	case plan.KeepNever:
		wanted = false
	}
	if wanted && !empty(folder) {
		if rel, err := filepath.Rel(c.m.Root, folder); err == nil {
			out.Detail.Folder = filepath.ToSlash(rel)
		}
		return nil
	}
	if err := c.m.Remove(folder); err != nil {
		return fmt.Errorf("remove the run's folder: %w", err)
	}
	return nil
}

// empty reports whether a run's folder holds nothing but empty files and folders.
func empty(folder string) bool {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return true
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		if e.IsDir() {
			if below, err := os.ReadDir(filepath.Join(folder, e.Name())); err == nil && len(below) == 0 {
				continue
			}
			return false
		}
		if !info.Mode().IsRegular() || info.Size() > 0 {
			return false
		}
	}
	return true
}

// record journals a run, its metrics' definitions first.
func (c *Collector) record(r plan.Run, attempt int, out *measure.Outcome) error {
	fresh := map[string]result.Metric{}
	rec := journal.Run{Cell: r.Cell, Repeat: r.Repeat, Attempt: attempt, Look: r.Look, Block: r.Block, Slot: r.Slot, Session: c.session,
		Start: out.StartedAt.Sub(c.m.Session.StartedAt).Seconds(), Status: out.Status, Detail: out.Detail}
	for _, m := range out.Measurements {
		def, known := c.past.defs[m.Metric]
		if !known {
			def = m.Def
			if own, ok := c.m.Plan.Metrics[m.Metric]; ok {
				def = own // the suite says what its program's metric means
			}
			fresh[m.Metric], c.past.defs[m.Metric] = def, def
		}
		if def.Unit != m.Def.Unit || def.Per != m.Def.Per {
			// One name for two things; what defined it first holds.
			m.Value, m.Bound, m.Absent = math.NaN(), 0, result.AbsentUnitMismatch
			rec.Detail.Warnings = append(rec.Detail.Warnings, fmt.Sprintf("metric %s came in %q, and is defined in %q: it has no value", m.Metric, inWords(m.Def), inWords(def)))
		}
		rec.Values = append(rec.Values, journal.Value{Metric: m.Metric, Phase: m.Phase, Part: m.Part, V: m.Value, Bound: m.Bound, Absent: m.Absent})
	}
	if len(fresh) > 0 {
		if err := c.log.Append(journal.Record{Metrics: maps.Clone(fresh)}); err != nil {
			return err
		}
	}
	if err := c.log.Append(journal.Record{Run: &rec}); err != nil {
		return err
	}
	c.past.add(&rec)
	return nil
}

// inWords is the unit of a definition.
func inWords(m result.Metric) string {
	if m.Per == "" {
		return m.Unit
	}
	return m.Unit + " per " + m.Per
}

func wallTime(out *measure.Outcome) float64 {
	for _, m := range out.Measurements {
		if m.Metric == result.WallTime && m.Phase == "" && m.Part == "" {
			return m.Value
		}
	}
	return math.NaN()
}

// tally adds up what a source said of each run.
type tally struct {
	source         result.Source
	cost, coverage float64
	runs           int
}

func (c *Collector) addSource(s result.Source) {
	t := c.sources[s.Name]
	if t == nil {
		t = &tally{source: s}
		t.source.Missed = 0
		c.sources[s.Name] = t
		c.order = append(c.order, s.Name)
	}
	if s.State == result.SourceOK {
		t.source.State, t.source.Reason = s.State, ""
	}
	t.cost += s.Cost
	t.coverage += s.Coverage
	t.source.Missed += s.Missed
	t.runs++
}

// sourceList has the mean cost and coverage over the runs.
func (c *Collector) sourceList() []result.Source {
	var out []result.Source
	for _, name := range c.order {
		t := c.sources[name]
		s := t.source
		s.Cost, s.Coverage = t.cost/float64(t.runs), t.coverage/float64(t.runs)
		out = append(out, s)
	}
	return out
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
