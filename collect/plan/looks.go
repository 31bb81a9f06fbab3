package plan

import (
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
)

// Looks are planned moments at which undecided cells are judged: cumulative
// repeats, rising. A cell without any has one look, after all of its repeats.

// Selection is what is measured next: the repeats of some cells that one look
// adds. It is all that is carried back from a verdict to measuring.
type Selection struct {
	Look  int   // 1-based
	Cells []int // indices into Plan.Cells, ascending
}

// All selects every cell that the plan has repeats of at a look.
func (p *Plan) All(look int) Selection {
	return p.Only(look, func(int) bool { return true })
}

// Only selects those of the cells with repeats at a look for which go on. The
// control cell goes on with whatever does, and not by itself.
func (p *Plan) Only(look int, goesOn func(cell int) bool) Selection {
	s := Selection{Look: look}
	alone := true
	for i := range p.Cells {
		if c := &p.Cells[i]; look <= c.LastLook() && (c.Control || goesOn(i)) {
			s.Cells = append(s.Cells, i)
			alone = alone && c.Control
		}
	}
	if alone {
		s.Cells = nil
	}
	return s
}

// Has reports whether an entry of the order is of the selection. Warm-ups are of
// every selection that has their cell: whoever goes on after the machine was
// started again needs them, at whatever look.
func (s Selection) Has(r Run) bool {
	_, found := slices.BinarySearch(s.Cells, r.Cell)
	return found && (r.Look == s.Look || r.Repeat == 0)
}

// Runs are how many repeats a selection has, warm-ups not counted.
func (p *Plan) Runs(s Selection) int {
	n := 0
	for i := range p.Order.Len() {
		if r := p.Order.At(i); r.Repeat > 0 && s.Has(r) {
			n++
		}
	}
	return n
}

// LastLook is the last look that is planned for the cell.
func (c *Cell) LastLook() int { return max(1, len(c.Looks)) }

// LookOf is the look that a repeat of the cell belongs to.
func (c *Cell) LookOf(repeat int) int {
	look, _ := slices.BinarySearch(c.Looks, repeat)
	return min(look+1, c.LastLook())
}

// setLooks makes repeats of what looks a cell has.
func (c *Cell) setLooks(looks []int) {
	if len(looks) > 0 {
		c.Repeats = looks[len(looks)-1]
	}
	if c.Looks = nil; len(looks) > 1 {
		c.Looks = slices.Clone(looks)
	}
}

// chooseLooks fills in what the suite leaves to be chosen.
func (p *Plan) chooseLooks(s *Suite, f Facts) error {
	if f.Repeats == 0 && f.Looks != nil {
		if auto := s.autoLooks(p.Cells); slices.Contains(auto, true) {
			chosen := f.Looks(p.Cells)
			for i := range p.Cells {
				if auto[i] {
					p.Cells[i].setLooks(chosen[i])
				}
			}
		}
	}
	return p.inStep()
}

// inStep brings the cells of a block in step, and says which looks the plan has.
func (p *Plan) inStep() error {
	for _, g := range groupCells(p.Cells) {
		if err := align(p.Cells, g.cells); err != nil {
			return err
		}
	}
	p.Looks = []int{max(1, maxRepeats(p.Cells))}
	if len(p.Cells) == 0 {
		return nil // the base build lacks all of them
	}
	if longest := p.Cells[longest(p.Cells, nil)].Looks; len(longest) > 1 {
		p.Looks = slices.Clone(longest)
	}
	return nil
}

// autoLooks tells of which cells the suite leaves the looks to be chosen.
func (s *Suite) autoLooks(cells []Cell) []bool {
	type name struct{ benchmark, variant string }
	auto := map[name]bool{}
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		auto[name{b.Name, ""}] = b.AutoLooks
		for j := range b.Variants {
			v := &b.Variants[j]
			auto[name{b.Name, v.Name}] = v.AutoLooks || b.AutoLooks && v.Repeats == nil && len(v.Looks) == 0
		}
	}
	out := make([]bool, len(cells))
	for i := range cells {
		out[i] = auto[name{cells[i].Benchmark, cells[i].Variant}]
	}
	return out
}

// mostLooks is how many looks the cell with most of them has.
func mostLooks(cells []Cell) int {
	n := 0
	for i := range cells {
		n = max(n, cells[i].LastLook())
	}
	return n
}

// longest is the cell of a group (nil: of all) with most looks, and of those with
// most repeats.
func longest(cells []Cell, group []int) int {
	best := 0
	consider := func(i int) {
		a, b := &cells[i], &cells[best]
		if a.LastLook() > b.LastLook() || a.LastLook() == b.LastLook() && a.Repeats > b.Repeats {
			best = i
		}
	}
	if group == nil {
		for i := range cells {
			consider(i)
		}
		return best
	}
	best = group[0]
	for _, i := range group {
		consider(i)
	}
	return best
}

// align brings the cells of a group in step: a block is run close in time, so it
// is of one look, whichever of its cells. A cell with a plain number of repeats
// takes the looks of the others as far as it goes; looks that do not fit are
// refused.
func align(cells []Cell, group []int) error {
	first := &cells[longest(cells, group)]
	for _, i := range group {
		c := &cells[i]
		fitting := append(below(first.Looks, min(c.Repeats, first.Repeats)), c.Repeats)
		switch {
		case len(c.Looks) == 0:
			c.setLooks(fitting)
		case !slices.Equal(c.Looks, fitting):
			return fmt.Errorf("cells %q and %q share their blocks, and their looks differ: %v and %v; give the variants of benchmark %q the same looks",
				first.Name, c.Name, first.Looks, c.Looks, c.Benchmark)
		}
	}
	return nil
}

// below are the looks under n repeats.
func below(looks []int, n int) []int {
	at, _ := slices.BinarySearch(looks, n)
	return slices.Clone(looks[:at])
}

// CheckLooks says why repeats cannot be looks; "" when they can.
func CheckLooks(looks []int) string {
	switch {
	case len(looks) == 0:
		return "there is no look"
	case len(looks) > result.MaxLooks:
		return fmt.Sprintf("there are %d looks, and at most %d share the error rate", len(looks), result.MaxLooks)
	case looks[0] < 2:
		return fmt.Sprintf("the first look is after %d repeat, which tells nothing of the spread", looks[0])
	}
	for i := 1; i < len(looks); i++ {
		if looks[i] <= looks[i-1] {
			return fmt.Sprintf("%d repeats come after %d: looks are cumulative, so they rise", looks[i], looks[i-1])
		}
	}
	return ""
}
