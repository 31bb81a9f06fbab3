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

// Collect executes the plan's order. It returns when all is done or ctx ends;
// the run in flight is then journalled as interrupted and the session marked.
// The error is for what makes going on pointless: the journal cannot be written.
func Collect(ctx context.Context, m Matrix, log Log, do Measure, tell func(Event)) error {
	c := &collector{m: m, log: log, do: do, tell: tell, latest: make([]float64, len(m.Plan.Cells)), kept: make([]bool, len(m.Plan.Cells)),
		defs: map[string]result.Metric{}, sources: map[string]*tally{}}
	if err := log.Append(journal.Record{Session: &m.Session}); err != nil {
		return err
	}
	// What cannot be removed is no reason to lose a session over.
	defer func() { _ = c.spare.drop() }()
	interrupted := false
	for i := range m.Plan.Order.Len() {
		if ctx.Err() != nil {
			interrupted = true
			break
		}
		status, err := c.run(ctx, i)
		if err != nil {
			return err
		}
		interrupted = status == result.Interrupted
		if interrupted {
			break
		}
	}
	return log.Append(journal.Record{End: &journal.End{Session: 0, Sources: c.sourceList(), Interrupted: interrupted}})
}

// collector is the state that lasts from run to run.
type collector struct {
	m    Matrix
	log  Log
	do   Measure
	tell func(Event)
	// latest wall time of a successful run, by cell: what timeouts refer to.
	latest  []float64
	kept    []bool // a run's folder of the cell is kept already
	defs    map[string]result.Metric
	sources map[string]*tally
	order   []string // names of sources, as they first came
	spare   spare
}

func (c *collector) run(ctx context.Context, i int) (result.Status, error) {
	p := c.m.Plan
	r := p.Order.At(i)
	cell := &p.Cells[r.Cell]
	folder := filepath.Join(c.m.Runs, cell.Key, folderName(i, r))
	timeout, basis := c.timeout(r.Cell)
	unused := c.spare.use(folder)
	out := c.do(ctx, measure.Run{Cell: cell, Attempt: 1, Repeat: r.Repeat, Folder: folder, Timeout: seconds(timeout), TimeoutBasis: basis,
		Interval: seconds(p.Sampling.Interval), Limits: p.Limits, Environ: c.m.Environ})
	for _, s := range out.Sources {
		c.addSource(s)
	}
	if err := errors.Join(unused, c.keep(r.Cell, folder, &out)); err != nil {
		out.Detail.Warnings = append(out.Detail.Warnings, err.Error())
	}
	if err := c.record(r, &out); err != nil {
		return out.Status, err
	}
	wall := wallTime(&out)
	if out.Status.OK() && r.Repeat > 0 && !math.IsNaN(wall) {
		c.latest[r.Cell] = wall
	}
	if c.tell != nil {
		c.tell(Event{Done: i + 1, Total: p.Order.Len(), Cell: cell, Run: r, Status: out.Status, Detail: out.Detail, Wall: wall, At: out.StartedAt})
	}
	return out.Status, nil
}

// folderName tells repeats from warm-ups, which have no number: theirs is the
// place in the order.
func folderName(i int, r plan.Run) string {
	if r.Repeat == 0 {
		return fmt.Sprintf("w%d", i+1)
	}
	return fmt.Sprintf("r%d.a1", r.Repeat)
}

func (c *collector) timeout(cell int) (float64, string) {
	k := &c.m.Plan.Cells[cell]
	latest := 0.0
	if ref := c.m.Plan.Reference(cell); ref >= 0 {
		latest = c.latest[ref]
	}
	return k.Exec.Timeout.Resolve(k.Benchmark, k.Input, latest)
}

// keep decides what happens to a run's folder: kept for a run that went wrong
// and for the first good one of each cell, removed otherwise. A folder in which
// nothing was left is removed always.
func (c *collector) keep(cell int, folder string, out *measure.Outcome) error {
	if c.spare.offer(folder) {
		return nil
	}
	wanted := !out.Status.OK() || !c.kept[cell]
	if wanted && !empty(folder) {
		c.kept[cell] = c.kept[cell] || out.Status.OK()
		if rel, err := filepath.Rel(c.m.Root, folder); err == nil {
			out.Detail.Folder = filepath.ToSlash(rel)
		}
		return nil
	}
	if err := os.RemoveAll(folder); err != nil {
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
func (c *collector) record(r plan.Run, out *measure.Outcome) error {
	fresh := map[string]result.Metric{}
	rec := journal.Run{Cell: r.Cell, Repeat: r.Repeat, Attempt: 1, Look: r.Look, Block: r.Block, Slot: r.Slot,
		Start: out.StartedAt.Sub(c.m.Session.StartedAt).Seconds(), Status: out.Status, Detail: out.Detail}
	for _, m := range out.Measurements {
		def, known := c.defs[m.Metric]
		if !known {
			def = m.Def
			if own, ok := c.m.Plan.Metrics[m.Metric]; ok {
				def = own // the suite says what its program's metric means
			}
			fresh[m.Metric], c.defs[m.Metric] = def, def
		}
		if def.Unit != m.Def.Unit || def.Per != m.Def.Per {
			// One name for two things; what defined it first holds.
			m.Value, m.Absent = math.NaN(), result.AbsentUnitMismatch
		}
		rec.Values = append(rec.Values, journal.Value{Metric: m.Metric, Phase: m.Phase, Part: m.Part, V: m.Value, Bound: m.Bound, Absent: m.Absent})
	}
	if len(fresh) > 0 {
		if err := c.log.Append(journal.Record{Metrics: maps.Clone(fresh)}); err != nil {
			return err
		}
	}
	return c.log.Append(journal.Record{Run: &rec})
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

func (c *collector) addSource(s result.Source) {
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
func (c *collector) sourceList() []result.Source {
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
