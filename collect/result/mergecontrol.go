package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// cells are the part's cells of the suite, and behind them its control cell, which
// is nil where it has none.
func (p part) cells() (own []Cell, control *Cell) {
	own = p.doc.Cells
	if n := len(own); n > 0 && own[n-1].Control {
		return own[: n-1 : n-1], &own[n-1]
	}
	return own, nil
}

// addControl makes one control cell of those of the parts: each has told its own
// sessions apart from the others', and they number their repeats on.
func (d *Document) addControl(parts []part, first map[int]int) error {
	var all *Cell
	var from part
	for _, p := range parts {
		_, control := p.cells()
		switch {
		case control == nil:
			continue
		case all == nil:
			c := *control
			c.Runs, c.Columns, c.Planned, c.Looks = Runs{}, nil, 0, nil
			all, from = &c, p
		case control.Digest != all.Digest:
			return fmt.Errorf("%s and %s: the control cell is of two versions of perfweir", from, p)
		}
		all.join(control, first[p.shard.Index])
	}
	if all == nil {
		return nil
	}
	if err := checkCell(&d.Header, all); err != nil {
		return fmt.Errorf("control cell: %w", err)
	}
	d.Cells = append(d.Cells, *all)
	d.Plan.Cells++
	d.Plan.Runs += all.Planned
	return nil
}

// join appends the runs of another part's cell, whose sessions begin at first. Its
// repeats come behind those that are there: the same number twice would be a repeat
// that was tried again.
func (c *Cell) join(o *Cell, first int) {
	if len(o.Looks) == len(c.Looks) || c.Planned == 0 {
		looks := slices.Clone(o.Looks) // of one plan, so they are alike
		for i := range c.Looks {
			looks[i] += c.Looks[i]
		}
		c.Looks = looks
	} else {
		c.Looks = nil
	}
	c.Planned += o.Planned
	r, from := &c.Runs, c.Runs.Len()
	behind := 0
	if from > 0 {
		behind = slices.Max(r.Repeat)
	}
	for i := range o.Runs.Len() {
		n := o.Runs.Repeat[i]
		if n > 0 {
			n += behind
		}
		r.Repeat, r.Attempt, r.Look = append(r.Repeat, n), append(r.Attempt, o.Runs.AttemptAt(i)), append(r.Look, o.Runs.LookAt(i))
		r.Session = append(r.Session, o.Runs.SessionAt(i)+first)
	}
	r.Block, r.Slot, r.Start = append(r.Block, o.Runs.Block...), append(r.Slot, o.Runs.Slot...), append(r.Start, o.Runs.Start...)
	for i, s := range o.Runs.Status {
		setPosition(&r.Status, from+i, s)
	}
	for i, v := range o.Runs.Detail {
		setPosition(&r.Detail, from+i, v)
	}
	c.joinColumns(o, from)
}

// joinColumns appends the values of another part's cell behind the first from runs.
func (c *Cell) joinColumns(o *Cell, from int) {
	for i := range o.Columns {
		col := &o.Columns[i]
		if !slices.ContainsFunc(c.Columns, col.sameAs) {
			c.Columns = append(c.Columns, Column{Metric: col.Metric, Phase: col.Phase, Part: col.Part})
			c.Columns[len(c.Columns)-1].pad(from)
		}
	}
	slices.SortStableFunc(c.Columns, func(a, b Column) int {
		return cmp.Or(CompareMetrics(a.Metric, b.Metric), strings.Compare(a.Phase, b.Phase), strings.Compare(a.Part, b.Part))
	})
	for i := range c.Columns {
		col := &c.Columns[i]
		if at := slices.IndexFunc(o.Columns, col.sameAs); at >= 0 {
			col.join(&o.Columns[at], from)
		}
		col.pad(c.Runs.Len())
	}
}

func (c *Column) sameAs(o Column) bool {
	return c.Metric == o.Metric && c.Phase == o.Phase && c.Part == o.Part
}

// join appends another column behind the first from values.
func (c *Column) join(o *Column, from int) {
	c.V = append(c.V, o.V...)
	for i, why := range o.Absent {
		setPosition(&c.Absent, from+i, why)
	}
	if len(c.Bound)+len(o.Bound) == 0 {
		return
	}
	c.Bound = append(c.Bound.filled(from), o.Bound.filled(len(o.V))...)
}

// pad makes a column one of n runs: those behind did not report it.
func (c *Column) pad(n int) {
	for i := len(c.V); i < n; i++ {
		c.V = append(c.V, math.NaN())
		setPosition(&c.Absent, i, AbsentNotReported)
	}
	if len(c.Bound) > 0 {
		c.Bound = c.Bound.filled(n)
	}
}

// filled is a copy of n values, those behind absent.
func (v Values) filled(n int) Values {
	out := slices.Clone(v)
	for len(out) < n {
		out = append(out, math.NaN())
	}
	return out
}
