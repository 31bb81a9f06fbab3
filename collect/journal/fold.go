package journal

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Fold makes the results document of a plan's journal. Every cell of the plan is
// in it, with the runs that the journal has, in the order they started; every
// attempt is a row. Columns stand in the order of result.CompareMetrics, then
// phase and part. A run without a value of a column gets the reason not_run, or
// not_reported when it ended well. What is the default in all runs of a cell
// (attempt 1, look 1, session 0) is left out.
//
// A session without an end record that another session follows was killed, and
// is marked interrupted. The document shares maps with the plan.
func Fold(p *plan.Plan, records []Record) (*result.Document, error) {
	if len(records) == 0 || records[0].Open == nil {
		return nil, errors.New("fold journal: the first record does not open it")
	}
	if got := records[0].Open.Plan; got != p.Digest {
		return nil, fmt.Errorf("fold journal: it records the plan %s, not %s: the suite changed since", got, p.Digest)
	}
	f := folder{plan: p, doc: &result.Document{Header: header(p)}, runs: make([][]*Run, len(p.Cells))}
	for i := range records {
		if err := f.add(&records[i]); err != nil {
			return nil, fmt.Errorf("fold journal: record %d: %w", i+1, err)
		}
	}
	if err := f.finish(); err != nil {
		return nil, fmt.Errorf("fold journal: %w", err)
	}
	return f.doc, nil
}

// header is what the plan alone says.
func header(p *plan.Plan) result.Header {
	runs := 0
	for _, repeat := range p.Order.Repeat {
		if repeat > 0 {
			runs++
		}
	}
	return result.Header{
		Schema: result.Schema,
		Suite:  p.Suite,
		Plan: result.PlanRef{
			Digest: p.Digest, Seed: p.Seed, Looks: p.Looks, Cells: len(p.Cells), Runs: runs, Selection: p.Selection,
			Shard: p.Shard, Whole: p.Whole, Confirms: p.Confirms,
		},
		Builds:  p.Builds,
		Metrics: map[string]result.Metric{},
		Skipped: p.Skipped,
		Dealt:   p.Dealt,
	}
}

// folder is a fold half done.
type folder struct {
	plan  *plan.Plan
	doc   *result.Document
	runs  [][]*Run // by cell
	ended []bool   // by session
	// reached is the last look that began; due are the repeats that were to be done
	// by cell, in those that began. Without a record of looks all of them are.
	reached int
	due     []int
}

func (f *folder) add(rec *Record) error {
	switch {
	case rec.Session != nil:
		f.doc.Sessions = append(f.doc.Sessions, *rec.Session)
		f.ended = append(f.ended, false)
	case rec.Metrics != nil:
		return f.define(rec.Metrics)
	case rec.Look != nil:
		return f.begin(rec.Look)
	case rec.Run != nil:
		if rec.Run.Cell < 0 || rec.Run.Cell >= len(f.runs) {
			return fmt.Errorf("run of cell %d: the plan has %d cells", rec.Run.Cell, len(f.runs))
		}
		if rec.Run.Session < 0 || rec.Run.Session >= len(f.doc.Sessions) {
			return fmt.Errorf("run of session %d before its session record", rec.Run.Session)
		}
		f.runs[rec.Run.Cell] = append(f.runs[rec.Run.Cell], rec.Run)
	case rec.End != nil:
		if rec.End.Session < 0 || rec.End.Session >= len(f.doc.Sessions) {
			return fmt.Errorf("end of session %d before its session record", rec.End.Session)
		}
		s := &f.doc.Sessions[rec.End.Session]
		s.Sources, s.Interrupted = rec.End.Sources, rec.End.Interrupted
		f.ended[rec.End.Session] = true
	}
	return nil
}

// begin notes that a look began for some of the cells.
func (f *folder) begin(l *Look) error {
	if l.Look > len(f.plan.Looks) {
		return fmt.Errorf("look %d: the plan has %d", l.Look, len(f.plan.Looks))
	}
	if f.due == nil {
		f.due = make([]int, len(f.plan.Cells))
	}
	f.reached = max(f.reached, l.Look)
	for _, i := range l.Cells {
		if i >= len(f.plan.Cells) {
			return fmt.Errorf("look %d of cell %d: the plan has %d cells", l.Look, i, len(f.plan.Cells))
		}
		c := &f.plan.Cells[i]
		due := c.Repeats
		if l.Look < c.LastLook() {
			due = c.Looks[l.Look-1]
		}
		f.due[i] = max(f.due[i], due)
	}
	return nil
}

// define takes definitions of metrics. The first stands; a second one that would
// change the meaning of the numbers is an error.
func (f *folder) define(defs map[string]result.Metric) error {
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		first, twice := f.doc.Metrics[name]
		def := defs[name]
		if !twice {
			f.doc.Metrics[name] = def
			continue
		}
		if first.Unit != def.Unit || first.Per != def.Per || first.Better != def.Better || first.Class != def.Class {
			return fmt.Errorf("metric %q is defined twice, and differently", name)
		}
	}
	return nil
}

func (f *folder) finish() error {
	for i, ended := range f.ended {
		if !ended && i < len(f.ended)-1 {
			f.doc.Sessions[i].Interrupted = true
		}
	}
	if f.reached < len(f.plan.Looks) {
		f.doc.Plan.Reached = f.reached
	}
	if f.complete() {
		// A session that was stopped and whose plan was done later is no
		// interruption any more.
		for i := range f.doc.Sessions {
			f.doc.Sessions[i].Interrupted = false
		}
	}
	builtin := result.Catalogue()
	f.doc.Cells = make([]result.Cell, len(f.plan.Cells))
	for i := range f.plan.Cells {
		cell := &f.doc.Cells[i]
		*cell = cellOf(&f.plan.Cells[i])
		if err := fillRuns(cell, f.runs[i]); err != nil {
			return fmt.Errorf("cell %q: %w", cell.Name, err)
		}
		for j := range cell.Columns {
			name := cell.Columns[j].Metric
			if _, ok := f.doc.Metrics[name]; ok {
				continue
			}
			def, ok := builtin[name]
			if !ok {
				return fmt.Errorf("cell %q: metric %q is not defined", cell.Name, name)
			}
			f.doc.Metrics[name] = def
		}
	}
	return nil
}

// complete reports whether every repeat that was to be done was run to its end.
func (f *folder) complete() bool {
	for i := range f.plan.Cells {
		ended := map[int]bool{}
		for _, r := range f.runs[i] {
			if r.Repeat > 0 && r.Status != result.Interrupted {
				ended[r.Repeat] = true
			}
		}
		due := f.plan.Cells[i].Repeats
		if f.due != nil {
			due = f.due[i]
		}
		if len(ended) < due {
			return false
		}
	}
	// Stopped between two looks there is no run that is missing.
	last := len(f.doc.Sessions) - 1
	return f.reached == 0 || f.reached == len(f.plan.Looks) || last < 0 || !f.doc.Sessions[last].Interrupted
}

func cellOf(c *plan.Cell) result.Cell {
	return result.Cell{
		Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build, Was: c.Was,
		Digest: c.Digest, Argv: c.Argv, Labels: c.Labels, Note: c.Note, Source: c.Source, Control: c.Control, Planned: c.Repeats, Looks: c.Looks,
	}
}

// fillRuns sets the run list and the columns of a cell.
func fillRuns(cell *result.Cell, runs []*Run) error {
	slices.SortStableFunc(runs, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Start, b.Start))
	})
	type attempt struct{ repeat, attempt int }
	seen := map[attempt]bool{}
	r := &cell.Runs
	for i, run := range runs {
		if id := (attempt{run.Repeat, run.Attempt}); run.Repeat > 0 && seen[id] {
			return fmt.Errorf("repeat %d attempt %d is in the journal twice", run.Repeat, run.Attempt)
		} else {
			seen[id] = true
		}
		r.Repeat = append(r.Repeat, run.Repeat)
		r.Attempt = append(r.Attempt, run.Attempt)
		r.Look = append(r.Look, run.Look)
		r.Block = append(r.Block, run.Block)
		r.Slot = append(r.Slot, run.Slot)
		r.Session = append(r.Session, run.Session)
		r.Start = append(r.Start, run.Start)
		if run.Status != "" && run.Status != result.Success {
			if r.Status == nil {
				r.Status = map[int]result.Status{}
			}
			r.Status[i] = run.Status
		}
		if !reflect.ValueOf(run.Detail).IsZero() {
			if r.Detail == nil {
				r.Detail = map[int]result.Detail{}
			}
			r.Detail[i] = run.Detail
		}
	}
	leaveOut(&r.Attempt, 1)
	leaveOut(&r.Look, 1)
	leaveOut(&r.Session, 0)
	cell.Columns = columns(runs)
	return nil
}

// leaveOut drops a list that is all defaults.
func leaveOut(list *[]int, def int) {
	if !slices.ContainsFunc(*list, func(v int) bool { return v != def }) {
		*list = nil
	}
}

// columns collects the values of a cell's runs.
func columns(runs []*Run) []result.Column {
	type id struct{ metric, phase, part string }
	at := map[id]int{}
	var out []result.Column
	var bounds []bool // by column: some value has one
	for i, run := range runs {
		for j := range run.Values {
			v := &run.Values[j]
			k, ok := at[id{v.Metric, v.Phase, v.Part}]
			if !ok {
				k = len(out)
				at[id{v.Metric, v.Phase, v.Part}] = k
				out = append(out, emptyColumn(v, len(runs)))
				bounds = append(bounds, false)
			}
			bounds[k] = put(&out[k], i, v) || bounds[k]
		}
	}
	for k := range out {
		if !bounds[k] {
			out[k].Bound = nil
		}
		giveReasons(&out[k], runs)
	}
	slices.SortFunc(out, func(a, b result.Column) int {
		return cmp.Or(result.CompareMetrics(a.Metric, b.Metric), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Part, b.Part))
	})
	return out
}

// emptyColumn is a column in which no run has a value yet.
func emptyColumn(v *Value, runs int) result.Column {
	c := result.Column{
		Metric: v.Metric, Phase: v.Phase, Part: v.Part,
		V: make(result.Values, runs), Bound: make(result.Values, runs),
	}
	for i := range runs {
		c.V[i], c.Bound[i] = math.NaN(), math.NaN()
	}
	return c
}

// put sets one value and reports whether it came with a bound. Two numbers of
// one metric in one run are no number: nobody knows which one is meant.
func put(c *result.Column, i int, v *Value) (bounded bool) {
	_, absent := c.Absent[i]
	switch {
	case absent || !math.IsNaN(c.V[i]):
		c.V[i], c.Bound[i] = math.NaN(), math.NaN()
		setAbsent(c, i, result.AbsentDuplicateName)
	case math.IsNaN(v.V):
		setAbsent(c, i, v.Absent)
	default:
		c.V[i] = v.V
		if v.Bound > 0 {
			c.Bound[i] = v.Bound
			return true
		}
	}
	return false
}

// giveReasons says of each run that recorded nothing for a column why.
func giveReasons(c *result.Column, runs []*Run) {
	for i, run := range runs {
		if !math.IsNaN(c.V[i]) || c.Absent[i] != "" {
			continue
		}
		reason := result.AbsentNotRun
		if run.Status.OK() {
			reason = result.AbsentNotReported
		}
		setAbsent(c, i, reason)
	}
}

func setAbsent(c *result.Column, i int, reason string) {
	if c.Absent == nil {
		c.Absent = map[int]string{}
	}
	c.Absent[i] = reason
}
