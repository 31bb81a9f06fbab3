package plan

import (
	"fmt"
	"strconv"

	"github.com/perfweir/perfweir/collect/result"
)

// Resolve gives the limit in seconds (0: none) and its basis in words. latest is
// the wall time of the last successful run of the variant that the timeout is a
// factor of, 0 when it has none yet; the cap then holds alone.
func (t Timeout) Resolve(benchmark, input string, latest float64) (seconds float64, basis string) {
	if t.Factor == 0 {
		return t.Fixed, ""
	}
	of := result.PrintedName(benchmark, t.Of, input)
	if latest <= 0 {
		return t.Max, fmt.Sprintf("the cap: %s has no time yet", of)
	}
	s := latest * t.Factor
	basis = strconv.FormatFloat(t.Factor, 'g', -1, 64) + " x " + of
	if s < t.Min {
		return t.Min, "the minimum, above " + basis
	}
	if t.Max > 0 && s > t.Max {
		return t.Max, "the cap, below " + basis
	}
	return s, basis
}

// Reference returns the cell whose latest wall time decides c's timeout, or -1.
func (p *Plan) Reference(cell int) int {
	c := &p.Cells[cell]
	if c.Exec.Timeout.Factor == 0 {
		return -1
	}
	for i := range p.Cells {
		o := &p.Cells[i]
		if o.Benchmark == c.Benchmark && o.Input == c.Input && o.Variant == c.Exec.Timeout.Of && o.Build == c.Build {
			return i
		}
	}
	return -1
}
