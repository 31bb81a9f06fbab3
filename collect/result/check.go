package result

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
)

// maxNumbered bounds block and slot, which nothing is allocated by.
const maxNumbered = math.MaxInt32

// MaxLooks bounds the looks of a plan: a document is judged once for each.
const MaxLooks = 5

// checkHeader holds a header against the rules of the document. Reader and
// Writer use it alike.
func checkHeader(h *Header) error {
	if len(h.Sessions) > maxSessions {
		return fmt.Errorf("%d sessions, at most %d", len(h.Sessions), maxSessions)
	}
	seen := map[string]bool{}
	for i := range h.Sessions {
		s := &h.Sessions[i]
		if s.ID == "" || seen[s.ID] {
			return fmt.Errorf("session %d: id %q is empty or there twice", i, shorten(s.ID))
		}
		seen[s.ID] = true
	}
	if n := len(h.Plan.Looks); n > MaxLooks {
		return fmt.Errorf("%d looks, at most %d", n, MaxLooks)
	}
	if h.Plan.Reached < 0 || h.Plan.Reached > len(h.Plan.Looks) {
		return fmt.Errorf("look %d of %d was reached", h.Plan.Reached, len(h.Plan.Looks))
	}
	if len(h.Dealt) > MaxCells {
		return fmt.Errorf("%d dealt cells, at most %d", len(h.Dealt), MaxCells)
	}
	for i := range h.Dealt {
		d := &h.Dealt[i]
		for _, s := range [...]string{d.Benchmark, d.Variant, d.Input, d.Build} {
			if !readable(s) {
				return fmt.Errorf("dealt cell %d: name %q is not valid UTF-8, or longer than %d bytes", i, shorten(s), maxString)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Metrics)) {
		if err := checkMetric(h.Metrics[name]); err != nil {
			return fmt.Errorf("metric %q: %w", shorten(name), err)
		}
	}
	return nil
}

// checkMetric refuses what a reader could not judge: a class or direction that
// it does not know would change the meaning of every number.
func checkMetric(m Metric) error {
	switch m.Class {
	case Exact, Counted, Noisy, Tail, Level:
	default:
		return fmt.Errorf("unknown class %q", shorten(string(m.Class)))
	}
	if m.Better != "" && m.Better != Lower && m.Better != Higher {
		return fmt.Errorf("unknown direction %q", shorten(m.Better))
	}
	if !(m.Step >= 0) || math.IsInf(m.Step, 0) {
		return fmt.Errorf("step %g is not a resolution", m.Step)
	}
	return nil
}

// checkCell holds a cell against the rules of the document.
func checkCell(h *Header, c *Cell) error {
	if c.Benchmark == "" {
		return errors.New("benchmark is empty")
	}
	for _, s := range [...]string{c.Name, c.Benchmark, c.Variant, c.Input, c.Build} {
		if !readable(s) {
			return fmt.Errorf("name %q is not valid UTF-8, or longer than %d bytes", shorten(s), maxString)
		}
	}
	if c.Control && c.Benchmark != ControlBenchmark {
		return fmt.Errorf("it is marked as the control cell, whose benchmark is %q", ControlBenchmark)
	}
	if c.Planned < 0 || c.Planned > MaxRuns {
		return fmt.Errorf("planned: %d is not from 0 to %d", c.Planned, MaxRuns)
	}
	if err := checkLooks(c); err != nil {
		return err
	}
	if err := checkRuns(&c.Runs, len(h.Sessions)); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	if len(c.Columns) > maxColumns {
		return fmt.Errorf("%d columns, at most %d", len(c.Columns), maxColumns)
	}
	for i := range c.Columns {
		if err := checkColumn(h, &c.Columns[i], c.Runs.Len()); err != nil {
			return fmt.Errorf("column %s: %w", columnName(&c.Columns[i]), err)
		}
	}
	if twice := repeatedColumn(c.Columns); twice != nil {
		return fmt.Errorf("column %s is there twice", columnName(twice))
	}
	return nil
}

// checkLooks holds the looks of a cell to the repeats that are planned.
func checkLooks(c *Cell) error {
	if n := len(c.Looks); n > MaxLooks {
		return fmt.Errorf("%d looks, at most %d", n, MaxLooks)
	}
	for i, n := range c.Looks {
		if i > 0 && n <= c.Looks[i-1] {
			return fmt.Errorf("looks: %d after %d: they must rise", n, c.Looks[i-1])
		}
	}
	if n := len(c.Looks); n > 0 && c.Looks[n-1] != c.Planned {
		return fmt.Errorf("looks end at %d repeats, and %d are planned", c.Looks[n-1], c.Planned)
	}
	return nil
}

// readable reports whether a name comes back as it is written: otherwise it would
// name another cell or column.
func readable(name string) bool { return len(name) <= maxString && utf8.ValidString(name) }

func columnName(c *Column) string {
	name := fmt.Sprintf("%q", shorten(c.Metric))
	if c.Phase != "" {
		name += fmt.Sprintf(" phase %q", shorten(c.Phase))
	}
	if c.Part != "" {
		name += fmt.Sprintf(" part %q", shorten(c.Part))
	}
	return name
}

// repeatedColumn returns a column whose metric, phase and part another one has.
func repeatedColumn(columns []Column) *Column {
	const few = 16 // up to which comparing all pairs is faster than a map
	if len(columns) <= few {
		for i := range columns {
			for j := range i {
				a, b := &columns[i], &columns[j]
				if a.Metric == b.Metric && a.Phase == b.Phase && a.Part == b.Part {
					return a
				}
			}
		}
		return nil
	}
	type id struct{ metric, phase, part string }
	seen := make(map[id]bool, len(columns))
	for i := range columns {
		c := &columns[i]
		k := id{c.Metric, c.Phase, c.Part}
		if seen[k] {
			return c
		}
		seen[k] = true
	}
	return nil
}

func checkRuns(r *Runs, sessions int) error {
	n := r.Len()
	if n > MaxRuns {
		return fmt.Errorf("%d runs, at most %d", n, MaxRuns)
	}
	for _, s := range [...]struct {
		name        string
		v           []int
		optional    bool
		least, most int
	}{
		{"repeat", r.Repeat, false, 0, MaxRuns},
		{"attempt", r.Attempt, true, 1, MaxRuns},
		{"look", r.Look, true, 1, MaxRuns},
		{"block", r.Block, false, 0, maxNumbered},
		{"slot", r.Slot, false, 0, maxNumbered},
		{"session", r.Session, true, 0, sessions - 1},
	} {
		if len(s.v) != n && !(s.optional && len(s.v) == 0) {
			return fmt.Errorf("%s has %d entries, repeat has %d", s.name, len(s.v), n)
		}
		for i, v := range s.v {
			if v < s.least || v > s.most {
				return fmt.Errorf("%s of run %d: %d is not from %d to %d", s.name, i, v, s.least, s.most)
			}
		}
	}
	if n > 0 && sessions == 0 {
		return errors.New("there are runs, and the document has no session")
	}
	if len(r.Start) != n {
		return fmt.Errorf("start has %d entries, repeat has %d", len(r.Start), n)
	}
	for i, v := range r.Start {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("start of run %d: %g is not a time", i, v)
		}
	}
	return checkNotes(r)
}

// checkNotes holds status and detail, which are kept by position, to the runs.
func checkNotes(r *Runs) error {
	n := r.Len()
	for i, s := range r.Status {
		if i < 0 || i >= n {
			return fmt.Errorf("status of run %d: there are %d runs", i, n)
		}
		if !s.known() {
			return fmt.Errorf("status of run %d: unknown status %q", i, shorten(string(s)))
		}
	}
	for i := range r.Detail {
		if i < 0 || i >= n {
			return fmt.Errorf("detail of run %d: there are %d runs", i, n)
		}
	}
	return nil
}

func (s Status) known() bool {
	switch s {
	case "", Success, WindowReached, Timeout, Signal, Failed, MissingOutput, InvalidOutput, SpawnError, Interrupted:
		return true
	}
	return false
}

func checkColumn(h *Header, c *Column, runs int) error {
	if _, ok := h.Metrics[c.Metric]; !ok {
		return errors.New("the metric is not defined in the document")
	}
	if !readable(c.Phase) || !readable(c.Part) {
		return fmt.Errorf("phase or part is not valid UTF-8, or longer than %d bytes", maxString)
	}
	if len(c.V) != runs {
		return fmt.Errorf("%d values, %d runs", len(c.V), runs)
	}
	if len(c.Bound) != 0 && len(c.Bound) != runs {
		return fmt.Errorf("%d bounds, %d runs", len(c.Bound), runs)
	}
	for i, v := range c.V {
		if math.IsInf(v, 0) {
			return fmt.Errorf("value of run %d is infinite", i)
		}
		if math.IsNaN(v) && c.Absent[i] == "" {
			return fmt.Errorf("value of run %d is absent without a reason", i)
		}
	}
	for i, b := range c.Bound {
		if b < 0 || math.IsInf(b, 0) {
			return fmt.Errorf("bound of run %d: %g is not an error bound", i, b)
		}
	}
	for i := range c.Absent {
		if i < 0 || i >= runs {
			return fmt.Errorf("absent %d: there are %d runs", i, runs)
		}
		if !math.IsNaN(c.V[i]) {
			return fmt.Errorf("absent %d: run %d has a value", i, i)
		}
	}
	return nil
}
