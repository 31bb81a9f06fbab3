package stats

import (
	"fmt"
	"math"
	"slices"
)

// Segments splits a series in time order into levels: it returns where each level
// after the first begins, for the split that makes the sum of
//
//	|x - median of its level| over all values + penalty * (levels - 1)
//
// least (the L1 Potts functional: Storath, Weinmann & Demaret 2014, "Jump-sparse
// and sparse recovery using Potts functionals"; asv draws its steps by it). A
// level has at least so many values. Where no split is better than none, none it is.
//
// It names what a few values show beyond doubt, where a permutation test has too
// few orders to draw from: two values of eight that are both off by more than
// half of the penalty are a level, and one alone never is. It has no error rate
// of its own: that is in the penalty.
func Segments(x []float64, least int, penalty float64) ([]int, error) {
	if err := checkSample("segments", x); err != nil {
		return nil, err
	}
	if least < 1 {
		return nil, fmt.Errorf("segments of %d values, want at least 1", least)
	}
	if !(penalty > 0) || !finite(penalty) {
		return nil, fmt.Errorf("segments: penalty %v, want more than 0", penalty)
	}
	if err := checkResult("segments", (slices.Max(x)-slices.Min(x))*float64(len(x))); err != nil {
		return nil, err
	}
	// best[j] is the least cost of the first j values, from[j] where their last
	// level begins.
	best, from := make([]float64, len(x)+1), make([]int, len(x)+1)
	window := make([]float64, 0, len(x))
	for j := 1; j <= len(x); j++ {
		best[j] = math.Inf(1)
		cost := 0.0
		window = window[:0]
		for i := j - 1; i >= 0; i-- {
			cost += insertMedian(&window, x[i])
			if j-i < least || i > 0 && math.IsInf(best[i], 1) {
				continue
			}
			c := cost
			if i > 0 {
				c += best[i] + penalty
			}
			if c < best[j] || i == 0 && c <= best[j] {
				best[j], from[j] = c, i
			}
		}
	}
	var at []int
	if math.IsInf(best[len(x)], 1) { // shorter than one level
		return nil, nil
	}
	for j := from[len(x)]; j > 0; j = from[j] {
		at = append(at, j)
	}
	slices.Reverse(at)
	return at, nil
}

// insertMedian puts v into a sorted window and returns by how much the sum of
// distances to the window's median grows: by v's distance to where the sum was
// least before, a point or the interval between the two middle values.
func insertMedian(window *[]float64, v float64) float64 {
	w := *window
	grown := 0.0
	if n := len(w); n > 0 {
		lo, hi := w[(n-1)/2], w[n/2]
		grown = max(0, lo-v, v-hi)
	}
	at, _ := slices.BinarySearch(w, v)
	*window = slices.Insert(w, at, v)
	return grown
}
