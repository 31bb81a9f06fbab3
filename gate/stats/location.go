package stats

import (
	"fmt"
	"math"
	"slices"
)

// madScale makes the median absolute deviation of a normal distribution its
// standard deviation: 1/Phi^-1(3/4). Source: Hampel 1974; R mad().
const madScale = 1.4826022185056018

// Median returns the middle value, or the mean of the two middle ones.
func Median(x []float64) (float64, error) {
	if err := checkSample("median", x); err != nil {
		return 0, err
	}
	var buf [inlineLen]float64
	return medianSorted(sortedCopy(buf[:0], x)), nil
}

// MiddleCount is the middle one of counts, the lower of the two middle ones: how many
// repeats most sessions have. 0 of none.
func MiddleCount(counts []int) int {
	if len(counts) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(counts))[(len(counts)-1)/2]
}

func medianSorted(s []float64) float64 {
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return midpoint(s[n/2-1], s[n/2])
}

// Mean returns the arithmetic mean, summed with Neumaier's compensation
// (Neumaier 1974) so that the order of runs does not show in the last digits.
func Mean(x []float64) (float64, error) {
	if err := checkSample("mean", x); err != nil {
		return 0, err
	}
	m := mean(x)
	return m, checkResult("mean", m)
}

func mean(x []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range x {
		t := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - t) + v
		} else {
			lost += (v - t) + sum
		}
		sum = t
	}
	return (sum + lost) / float64(len(x))
}

// StdDev returns the sample standard deviation, with n-1 in the divisor. One
// value has no spread: ErrInsufficient, not 0 (C36: a single run would read as
// perfectly stable).
func StdDev(x []float64) (float64, error) {
	if err := checkSample("standard deviation", x); err != nil {
		return 0, err
	}
	if len(x) < 2 {
		return 0, fmt.Errorf("standard deviation of 1 value: %w", ErrInsufficient)
	}
	_, ss := meanAndSquares(x)
	s := math.Sqrt(ss / float64(len(x)-1))
	return s, checkResult("standard deviation", s)
}

// meanAndSquares returns the mean and the sum of squared deviations from it, in
// two passes; the one-pass formula loses every digit when the spread is small.
// Equal values have exactly no spread, also where their mean is rounded.
func meanAndSquares(x []float64) (m, squares float64) {
	m = mean(x)
	if allEqual(x) {
		return x[0], 0
	}
	for _, v := range x {
		d := v - m
		squares += d * d
	}
	return m, squares
}

func allEqual(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}

// MAD returns the median absolute deviation from the median, raw and scaled to
// the standard deviation of a normal distribution. It is 0 when more than half
// of the values are equal; a caller that divides by it must look first.
func MAD(x []float64) (raw, scaled float64, err error) {
	if err := checkSample("median absolute deviation", x); err != nil {
		return 0, 0, err
	}
	var buf [inlineLen]float64
	s := sortedCopy(buf[:0], x)
	centre := medianSorted(s)
	var devBuf [inlineLen]float64
	dev := append(devBuf[:0], s...)
	for i, v := range dev {
		dev[i] = math.Abs(v - centre)
	}
	raw = medianSorted(sortedCopy(s, dev))
	return raw, raw * madScale, checkResult("median absolute deviation", raw*madScale)
}

// UnequalSpread reports whether one sample's MAD is more than twice the other's,
// where a shift stops being the whole story and the rank test is no test of
// medians. A sample without spread beside one with spread is unequal.
func UnequalSpread(x, y []float64) (bool, error) {
	mx, _, err := MAD(x)
	if err != nil {
		return false, err
	}
	my, _, err := MAD(y)
	if err != nil {
		return false, err
	}
	return max(mx, my) > 2*min(mx, my), nil
}

// GeoMean returns the geometric mean. Zero and negative values are refused with
// their count (ErrNotPositive): leaving them out would change the question.
func GeoMean(x []float64) (float64, error) {
	if err := checkPositive("geometric mean", x); err != nil {
		return 0, err
	}
	logs, err := Logs(x)
	if err != nil {
		return 0, err
	}
	// The clamp takes back what exp(log(v)) rounds away: the geometric mean of
	// equal values is that value.
	return min(max(math.Exp(mean(logs)), slices.Min(x)), slices.Max(x)), nil
}
