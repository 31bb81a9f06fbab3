package result

import (
	"math"
	"slices"
)

// Clean returns the positions of the runs whose numbers may be compared, in the
// order of the run list: no warm-up, the last attempt of its repeat, ended well,
// found valid.
func (r *Runs) Clean() []int {
	out := make([]int, 0, r.Len())
	for attempts := range r.Repeats() {
		if i := attempts[len(attempts)-1]; r.StatusAt(i).OK() && r.ValidAt(i) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// ValuesOf returns a column's numbers at the positions of runs that belong to a
// session (index into Header.Sessions), without what is absent.
func (r *Runs) ValuesOf(c *Column, runs []int, session int) []float64 {
	out := make([]float64, 0, len(runs))
	for _, i := range runs {
		if r.SessionAt(i) != session || i >= len(c.V) || math.IsNaN(c.V[i]) || math.IsInf(c.V[i], 0) {
			continue
		}
		out = append(out, c.V[i])
	}
	return out
}
