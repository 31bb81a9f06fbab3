package gate

import (
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Undecided are the cells of a verdict that go on to the next look, ascending:
// those that only the end of what was measured stopped, and the cells of the same
// session that their open findings are held against. None: all is decided that
// can be.
func Undecided(v *verdict.Document) []int {
	goesOn := map[int]bool{}
	for i := range v.Cells {
		if v.Cells[i].Stop == stopTime {
			goesOn[i] = true
		}
	}
	out := make([]int, 0, len(goesOn))
	for i := range goesOn {
		out = append(out, i)
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		if !goesOn[f.Cell] || !undecided(f) || f.Comparison == nil {
			continue
		}
		if ref := heldAgainst(v, f); ref >= 0 && !slices.Contains(out, ref) {
			out = append(out, ref)
		}
	}
	slices.Sort(out)
	return out
}

// Unconfirmed are the cells of a verdict, ascending, that go on to the next look of
// measuring doubts again: all of those are held against their twins alone.
func Unconfirmed(v *verdict.Document) []int {
	var out []int
	if v.Confirmation == nil {
		return nil
	}
	for _, c := range v.Confirmation.Cells {
		if c.Stop == stopTime {
			out = append(out, c.Cell)
		}
	}
	slices.Sort(out)
	return out
}

// undecided reports whether more repeats could change a finding: one that was
// excused meanwhile, or lost runs to what disturbed them, is open all the same.
func undecided(f *verdict.Finding) bool {
	o := f.Outcome
	if o == verdict.Accepted {
		o = f.Was
	}
	return o == verdict.Inconclusive || o == verdict.Invalid && f.P != nil
}

// heldAgainst is the cell of the same session that a finding is about the
// difference to; -1 when that is none.
func heldAgainst(v *verdict.Document, f *verdict.Finding) int {
	variant, ok := strings.CutPrefix(v.Comparisons[*f.Comparison].Against, budget.AgainstVariant)
	if !ok {
		return -1
	}
	own := &v.Cells[f.Cell]
	return slices.IndexFunc(v.Cells, func(c verdict.Cell) bool {
		return c.Benchmark == own.Benchmark && c.Input == own.Input && c.Build == own.Build && c.Variant == variant
	})
}
