package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// CommonShift is how far all cells of a session moved together: a slow machine
// moves every cell, a slow change a few.
type CommonShift struct {
	Estimate float64 // median of the cells' log shifts
	// Lower and Upper are one-sided bounds, each at the asked level; -Inf and +Inf
	// when OK is false: too few cells.
	Lower, Upper float64
	OK           bool
}

// NewCommonShift estimates the common part of the log shifts of a session's
// cells against their references, one shift a cell (of one metric, or of metrics
// that move together), by their median. Up to half of the cells may have changed
// by themselves, and cells may be as unequal in noise as they like: the bounds are
// order statistics by the sign test, which asks only that a cell's own error is as
// often above as below. Five cells bound at .05. It says how large a common move
// is; whether the machine or the change caused it, a control cell says.
// Source: David & Nagaraja 2003, section 7.1.
func NewCommonShift(shifts []float64, alpha float64) (CommonShift, error) {
	if err := checkSample("common shift", shifts); err != nil {
		return CommonShift{}, err
	}
	if err := checkAlpha("common shift", alpha); err != nil {
		return CommonShift{}, err
	}
	s := slices.Sorted(slices.Values(shifts))
	c := CommonShift{Estimate: medianSorted(s), Lower: math.Inf(-1), Upper: math.Inf(1)}
	if k := signIndex(len(s), alpha); k > 0 {
		c.Lower, c.Upper, c.OK = s[k-1], s[len(s)-k], true
	}
	return c, nil
}

// signIndex is the largest k with P(B <= k-1) <= alpha, B binomial (n, 1/2); 0 when
// there is none. P(B <= k-1) is the regularised incomplete beta function at 1/2.
func signIndex(n int, alpha float64) int {
	k := 0
	for k < n && Reaches(mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5), alpha) {
		k++
	}
	return k
}
