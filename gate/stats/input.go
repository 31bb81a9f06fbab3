package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Reasons for which a figure is not given. All errors of this package about
// its input wrap one of them, except those about a parameter.
var (
	ErrEmpty        = errors.New("no values")
	ErrNotFinite    = errors.New("a value is NaN or infinite")
	ErrNotPositive  = errors.New("zero or negative values")
	ErrInsufficient = errors.New("too few values")
)

// inlineLen is the length up to which a copy of a sample stays on the stack.
const inlineLen = 128

// checkSample refuses an empty sample and one with NaN or an infinity.
func checkSample(what string, x []float64) error {
	if len(x) == 0 {
		return fmt.Errorf("%s: %w", what, ErrEmpty)
	}
	for i, v := range x {
		if !finite(v) {
			return fmt.Errorf("%s: position %d of %d: %w", what, i, len(x), ErrNotFinite)
		}
	}
	return nil
}

func checkTwo(what string, x, y []float64) error {
	if err := checkSample(what, x); err != nil {
		return err
	}
	return checkSample(what, y)
}

// checkAlpha refuses a level that is not a one-sided error rate.
func checkAlpha(what string, alpha float64) error {
	if !(alpha > 0 && alpha <= 0.5) {
		return fmt.Errorf("%s: level %v is not in (0, 0.5]", what, alpha)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// checkResult refuses results that left the range of float64, as the difference
// of 1e308 and -1e308 does.
func checkResult(what string, values ...float64) error {
	for _, v := range values {
		if !finite(v) {
			return fmt.Errorf("%s: result out of range: %w", what, ErrNotFinite)
		}
	}
	return nil
}

// sortedCopy appends x to buf and sorts it. The caller's slice keeps its order.
func sortedCopy(buf, x []float64) []float64 {
	s := append(buf[:0], x...)
	slices.Sort(s)
	return s
}

// midpoint is the mean of two values, also where their sum is out of range.
func midpoint(a, b float64) float64 {
	if a == b {
		return a
	}
	if m := (a + b) / 2; finite(m) {
		return m
	}
	return a/2 + b/2
}

// Logs returns the natural logarithms of x. It refuses zero and negative values
// with their count: a ratio with one of them means nothing.
func Logs(x []float64) ([]float64, error) {
	if err := checkPositive("logarithms", x); err != nil {
		return nil, err
	}
	logs := make([]float64, len(x))
	for i, v := range x {
		logs[i] = math.Log(v)
	}
	return logs, nil
}

func checkPositive(what string, x []float64) error {
	if err := checkSample(what, x); err != nil {
		return err
	}
	bad := 0
	for _, v := range x {
		if v <= 0 {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s: %d of %d values: %w", what, bad, len(x), ErrNotPositive)
	}
	return nil
}
