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
	Cells        int
	Spread       float64 // of the cells about the estimate: scaled median absolute deviation
	// Share is the part of the cells that moved the way of the estimate, 0 where
	// that is 0: near 1 for a machine, near one half for a few changes.
	Share float64
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
	c := CommonShift{Estimate: medianSorted(s), Lower: math.Inf(-1), Upper: math.Inf(1), Cells: len(s)}
	if k := signIndex(len(s), alpha); k > 0 {
		c.Lower, c.Upper, c.OK = s[k-1], s[len(s)-k], true
	}
	_, spread, err := MAD(s)
	if err != nil {
		return CommonShift{}, err
	}
	c.Spread = spread
	same := 0
	for _, v := range s {
		if c.Estimate > 0 && v > 0 || c.Estimate < 0 && v < 0 {
			same++
		}
	}
	c.Share = float64(same) / float64(len(s))
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

// Explains reports whether the common shift explains a cell whose own shift is
// beyond limit (both on the log scale, positive is worse): all cells certainly
// moved the same way, and without what they moved this one is inside. A cell that
// stands out from a slow machine is not explained.
func (c CommonShift) Explains(shift, limit float64) bool {
	return c.OK && c.Lower > 0 && shift > limit && shift-c.Estimate <= limit
}
