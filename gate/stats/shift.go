package stats

import "math"

// Shift is a Hodges-Lehmann estimate of how far the current values lie above the
// reference, with one-sided bounds. On logarithms it is the log of a ratio.
type Shift struct {
	Estimate float64
	// Lower and Upper are bounds at the asked level, each for one side; together
	// they enclose with twice that error. They are -Inf and +Inf when OK is
	// false, so that a comparison with them decides nothing; such a bound must
	// not be written to a document.
	Lower, Upper float64
	K            int  // Lower is the K-th smallest difference, Upper the K-th largest
	OK           bool // false: too few values for bounds at that level, K is 0
	Method       Method
}

// Unpaired estimates the shift from the reference x to the current y by the
// median of all differences y - x, and bounds it by their order statistics.
// Both samples and the differences must be finite.
//
// Lower > d exactly when the one-sided rank-sum test rejects "y is at most d
// above x" at alpha, as long as no difference equals d. With ties the bounds
// keep at least their level (Noether 1967). Sources: Hodges & Lehmann 1963;
// Hollander, Wolfe & Chicken 2014, sections 4.2 and 4.3 (Moses).
func (t *Tables) Unpaired(x, y []float64, alpha float64) (Shift, error) {
	if err := checkTwo("shift of two samples", x, y); err != nil {
		return Shift{}, err
	}
	if err := checkAlpha("shift of two samples", alpha); err != nil {
		return Shift{}, err
	}
	var bufX, bufY [inlineLen]float64
	xs, ys := append(bufX[:0], x...), sortedCopy(bufY[:0], y)
	for i, v := range xs {
		xs[i] = -v
	}
	var scratch [4 * inlineLen]int
	sums := newPairSums(ys, sortedCopy(xs, xs), false, scratch[:])
	method := Exact
	if sums.size() > exactPairs {
		method = NormalApproximation
	}
	s := shiftOf(&sums, t.RankSumIndex(len(x), len(y), alpha), method)
	return s, s.check("shift of two samples")
}

// shiftOf reads estimate and bounds off the ordered sums.
func shiftOf(sums *pairSums, k int, method Method) Shift {
	s := Shift{Estimate: sums.median(), Lower: math.Inf(-1), Upper: math.Inf(1), K: k, OK: k > 0, Method: method}
	if s.OK {
		s.Lower, _ = sums.ranked(k)
		s.Upper, _ = sums.ranked(sums.size() + 1 - k)
	}
	return s
}

func (s Shift) check(what string) error {
	if !s.OK {
		return checkResult(what, s.Estimate)
	}
	return checkResult(what, s.Estimate, s.Lower, s.Upper)
}
