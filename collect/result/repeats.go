package result

import (
	"cmp"
	"iter"
	"slices"
)

// Repeats yields, for every repeat, the positions of its attempts in the order
// they were made: the last one speaks for the repeat. Warm-ups are in none. A
// repeat that was tried again counts its attempts up, in whatever session; an
// attempt that does not is of another repeat, since several sessions in one
// document may each number theirs from 1. The slice is valid until the next.
func (r *Runs) Repeats() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		at := make([]int, 0, r.Len())
		for i := range r.Len() {
			if !r.Warmup(i) {
				at = append(at, i)
			}
		}
		slices.SortFunc(at, func(i, j int) int {
			return cmp.Or(cmp.Compare(r.Repeat[i], r.Repeat[j]), cmp.Compare(r.SessionAt(i), r.SessionAt(j)),
				cmp.Compare(r.AttemptAt(i), r.AttemptAt(j)), cmp.Compare(i, j))
		})
		for from := 0; from < len(at); {
			to := from + 1
			for to < len(at) && r.Repeat[at[to]] == r.Repeat[at[from]] && r.AttemptAt(at[to]) > r.AttemptAt(at[to-1]) {
				to++
			}
			if !yield(at[from:to:to]) {
				return
			}
			from = to
		}
	}
}
