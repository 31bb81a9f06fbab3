package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// TTest is a t test of the difference current - reference.
type TTest struct {
	Difference float64
	SE         float64 // standard error of Difference
	T          float64 // Difference/SE; +Inf or -Inf without spread, 0 when there is no difference either
	DF         float64
	PLess      float64 // P(T <= observed): small when the current values are smaller
	PGreater   float64 // P(T >= observed): small when they are larger
	PTwoSided  float64
	// NoSpread is set when every value of each side is equal. The test then only
	// says whether the sides differ (p is 0 or 1): judge such a metric as exact.
	NoSpread bool
}

// Welch tests the difference of means mean(y) - mean(x) without assuming equal
// variances. It needs two values a side. Sources: Welch 1947; degrees of freedom
// of Satterthwaite 1946.
func Welch(x, y []float64) (TTest, error) {
	if err := checkTwo("Welch test", x, y); err != nil {
		return TTest{}, err
	}
	if len(x) < 2 || len(y) < 2 {
		return TTest{}, fmt.Errorf("Welch test of %d and %d values: %w", len(x), len(y), ErrInsufficient)
	}
	mx, ssx := meanAndSquares(x)
	my, ssy := meanAndSquares(y)
	m, n := float64(len(x)), float64(len(y))
	vx, vy := ssx/(m-1)/m, ssy/(n-1)/n
	// Shares instead of squares of variances: those leave the range of float64
	// for values as small as bytes in terabytes.
	share := 0.0
	if vx+vy > 0 {
		share = vx / (vx + vy)
	}
	df := 1 / (share*share/(m-1) + (1-share)*(1-share)/(n-1))
	return newTTest("Welch test", my-mx, math.Sqrt(vx+vy), df)
}

// WelchLog is Welch on logarithms: Difference is the log of the ratio of the
// geometric means, current over reference. Zero and negative values are refused.
func WelchLog(x, y []float64) (TTest, error) {
	lx, err := Logs(x)
	if err != nil {
		return TTest{}, err
	}
	ly, err := Logs(y)
	if err != nil {
		return TTest{}, err
	}
	return Welch(lx, ly)
}

// PairedT tests the mean of differences d (current - reference) against 0, with
// n-1 degrees of freedom. Source: Student 1908.
func PairedT(d []float64) (TTest, error) {
	if err := checkSample("paired t test", d); err != nil {
		return TTest{}, err
	}
	if len(d) < 2 {
		return TTest{}, fmt.Errorf("paired t test of 1 difference: %w", ErrInsufficient)
	}
	m, ss := meanAndSquares(d)
	n := float64(len(d))
	return newTTest("paired t test", m, math.Sqrt(ss/(n-1)/n), n-1)
}

func newTTest(what string, difference, se, df float64) (TTest, error) {
	t := TTest{Difference: difference, SE: se, DF: df}
	if err := checkResult(what, difference, se, df); err != nil {
		return TTest{}, err
	}
	if se == 0 {
		t.NoSpread = true
		t.PLess, t.PGreater, t.PTwoSided = 1, 1, 1
		if difference != 0 {
			t.T = math.Inf(1)
			t.PGreater, t.PTwoSided = 0, 0
		}
		if difference < 0 {
			t.T = math.Inf(-1)
			t.PLess, t.PGreater = 0, 1
		}
		return t, nil
	}
	t.T = difference / se
	if err := checkResult(what, t.T); err != nil {
		return TTest{}, err
	}
	t.PLess, t.PGreater = studentCDF(t.T, df), studentCDF(-t.T, df)
	t.PTwoSided = min(1, 2*min(t.PLess, t.PGreater))
	return t, nil
}

// Bounds returns one-sided bounds of the difference, each at alpha.
func (t TTest) Bounds(alpha float64) (lower, upper float64, err error) {
	if err := checkAlpha("bounds of a t test", alpha); err != nil {
		return 0, 0, err
	}
	h := 0.0
	if t.SE > 0 {
		h = studentUpper(alpha, t.DF) * t.SE
	}
	lower, upper = t.Difference-h, t.Difference+h
	return lower, upper, checkResult("bounds of a t test", lower, upper)
}

// studentCDF is asked for a lower tail where precision counts: 1 - p of the
// other side would lose the digits of a small p.
func studentCDF(t, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(t)
}

// studentUpper is the value that T exceeds with probability alpha, by halving the
// interval around it. gonum v0.17 inverts the distribution too, but for small
// levels its iteration ends early: at 1e-9 and a million degrees of freedom it
// gives 258 instead of 6.0. It takes some 40 us, so Tables remembers it.
func studentUpper(alpha, df float64) float64 {
	if alpha == 0.5 {
		return 0
	}
	lo, hi := 0.0, 1.0
	for studentCDF(-hi, df) > alpha && hi < math.MaxFloat64/2 {
		lo, hi = hi, 2*hi
	}
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return hi
		}
		if studentCDF(-mid, df) > alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
}
