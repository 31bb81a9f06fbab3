package gate

import (
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// headCells is a document with the suite's cells of head alone: those are judged.
// Cells of the base build are what they are held against, and the control cell is
// what the machine is known by.
func headCells(d *result.Document) *result.Document {
	other := func(c result.Cell) bool { return c.Build == result.BuildBase || c.Control }
	if !slices.ContainsFunc(d.Cells, other) {
		return d
	}
	out := *d
	out.Cells = make([]result.Cell, 0, len(d.Cells))
	for i := range d.Cells {
		if !other(d.Cells[i]) {
			out.Cells = append(out.Cells, d.Cells[i])
		}
	}
	return &out
}

// ofHead are the suite's cells that were left out of head, too.
func ofHead(all []result.Skipped) []result.Skipped {
	other := func(s result.Skipped) bool { return s.Build != "" || s.Name == result.ControlBenchmark }
	if !slices.ContainsFunc(all, other) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), other)
}

// baseViews makes the views of the base build's cells of a document, where it was
// measured in the same session.
func baseViews(d *result.Document) map[result.ID]*view {
	if _, measured := d.Builds[result.BuildBase]; !measured {
		return nil
	}
	out := map[result.ID]*view{}
	for i := range d.Cells {
		if c := &d.Cells[i]; c.Build == result.BuildBase {
			v, id := newView(c), c.ID()
			id.Build = result.BuildHead
			out[id] = &v
		}
	}
	return out
}

// against is what a relative budget is held against: in place of stored sessions
// the base build, where it was measured in the same session.
func (r *references) against(b *budget.Budget) string {
	if b.Against == budget.AgainstBaseline && r.base != nil {
		return budget.AgainstBase
	}
	return b.Against
}

// short reports whether a run that was due, of any build, was not measured: a cell
// of the base build goes as far as its twin.
func (e *evaluation) short() bool {
	if e.cutShort {
		return true
	}
	for i := range e.views {
		row := &e.out.Cells[i]
		if row.Seen < row.Expected() {
			return true
		}
		twin := e.baseViews[e.views[i].cell.ID()]
		if twin == nil {
			continue
		}
		due := twin.cell.Planned
		if !e.oneLook() {
			due = twin.cell.RepeatsAt(max(row.Look, twin.look()))
		}
		if twin.seen < due {
			return true
		}
	}
	return false
}

// fromBase collects a column's reference from the base build of the same session.
// What the base build lacks or cannot do is no fault of head's.
func (r *references) fromBase(c *result.Cell, col *result.Column) sample {
	v := r.base[c.ID()]
	if v == nil {
		return sample{outcome: verdict.New, reason: first(r.leftOutOfBase(c), "the base build has no such cell")}
	}
	if len(v.clean) == 0 {
		return sample{outcome: verdict.NotComparable, reason: v.noneClean("the base build")}
	}
	rc := v.column(col.Metric, col.Phase, col.Part)
	if rc == nil {
		return sample{outcome: verdict.New, reason: "the base build has no value of this metric for this cell"}
	}
	points := v.points(rc)
	if len(points) == 0 {
		return sample{outcome: verdict.NotComparable, reason: "the base build's value is absent: " + first(v.absence(rc), "nothing was measured")}
	}
	return sample{variant: points, samePrograms: SamePrograms(r.current.Builds[result.BuildHead], r.current.Builds[result.BuildBase])}
}

func (r *references) leftOutOfBase(c *result.Cell) string {
	name := result.BuildName(c.Name, result.BuildBase)
	for _, s := range r.current.Skipped {
		if s.Build == result.BuildBase && s.Name == name {
			return s.Why
		}
	}
	return ""
}
