package stats

import (
	"fmt"
	"math"
)

// quantileFuzz keeps n*p from missing a whole number by a rounding error, as R's
// quantile does (4 units of the last place).
const quantileFuzz = 4 * 2.220446049250313e-16

// Quantile returns the quantile p (0 to 1) by one of the nine definitions of
// Hyndman & Fan 1996 ("Sample quantiles in statistical packages"), numbered as
// there and in R. Type 7, the default of R and NumPy, is what documents declare.
// It answers for any count; use Percentile where the tail must carry the figure.
func Quantile(x []float64, p float64, typ int) (float64, error) {
	if err := checkSample("quantile", x); err != nil {
		return 0, err
	}
	if !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("quantile: p = %v is not in [0, 1]", p)
	}
	if typ < 1 || typ > 9 {
		return 0, fmt.Errorf("quantile: type %d is not one of 1 to 9", typ)
	}
	var buf [inlineLen]float64
	return quantileSorted(sortedCopy(buf[:0], x), p, typ), nil
}

func quantileSorted(s []float64, p float64, typ int) float64 {
	j, h := quantilePosition(float64(len(s)), p, typ)
	at := func(rank int) float64 { return s[min(max(rank, 1), len(s))-1] }
	lo, hi := at(j), at(j+1)
	switch {
	case h == 0 || lo == hi:
		return lo
	case h == 1:
		return hi
	}
	return min(max((1-h)*lo+h*hi, lo), hi)
}

// quantilePosition returns the rank j and the share h of the step to rank j+1.
func quantilePosition(n, p float64, typ int) (rank int, share float64) {
	if typ <= 3 {
		return quantileStep(n, p, typ)
	}
	// a and b of Hyndman & Fan's p_k = (k-a)/(n+1-a-b).
	a, b := 1.0, 1.0
	switch typ {
	case 4:
		a, b = 0, 1
	case 5:
		a, b = 0.5, 0.5
	case 6:
		a, b = 0, 0
	case 8:
		a, b = 1.0/3, 1.0/3
	case 9:
		a, b = 3.0/8, 3.0/8
	}
	at := a + p*(n+1-a-b)
	fuzz := quantileFuzz * max(1, at)
	j := math.Floor(at + fuzz)
	h := at - j
	if math.Abs(h) < fuzz {
		h = 0
	}
	return int(j), h
}

// quantileStep serves the three definitions without interpolation.
func quantileStep(n, p float64, typ int) (rank int, share float64) {
	at := n * p
	if typ == 3 {
		at -= 0.5
	}
	fuzz := quantileFuzz * max(1, n*p)
	j := math.Floor(at + fuzz)
	onRank := math.Abs(at-j) <= fuzz
	switch {
	case !onRank:
		return int(j), 1
	case typ == 2:
		return int(j), 0.5
	case typ == 3 && math.Mod(j, 2) != 0: // the nearest even rank
		return int(j), 1
	}
	return int(j), 0
}

// NearestRank returns the smallest value that at least the share p of all values
// do not exceed: rank ceil(n*p), at least 1. It is a value that was seen, which
// is what a limit on a share of requests counts with.
func NearestRank(x []float64, p float64) (float64, error) { return Quantile(x, p, 1) }

// MinCount is the smallest count that carries percentile p: at least one value
// is expected in its tail, 1/min(p, 1-p). p90: 10, p95: 20, p99: 100,
// p99.9: 1000. Below it the nearest rank is only the extreme value under
// another name. The median of one value is that value, so p50 needs 1.
func MinCount(p float64) (int, error) {
	if !(p > 0 && p < 1) {
		return 0, fmt.Errorf("percentile %v is not in (0, 1)", p)
	}
	tail := min(p, 1-p)
	if tail == 0.5 {
		return 1, nil
	}
	n := math.Ceil((1 / tail) * (1 - 1e-9))
	if n > math.MaxInt32 {
		return 0, fmt.Errorf("percentile %v needs more values than can be counted", p)
	}
	return int(n), nil
}

// Percentile is Quantile of type 7 where x has the MinCount of p, and otherwise
// ErrInsufficient, never a number.
func Percentile(x []float64, p float64) (float64, error) {
	need, err := MinCount(p)
	if err != nil {
		return 0, err
	}
	if len(x) < need {
		return 0, fmt.Errorf("percentile %v of %d values needs %d: %w", p, len(x), need, ErrInsufficient)
	}
	return Quantile(x, p, 7)
}

// MinForUpperBound is the smallest n whose largest value is a one-sided upper
// bound of quantile p with confidence conf: 1 - p^n >= conf. At 0.95: 59 for
// p95, 299 for p99. Source: Wilks 1941; David & Nagaraja 2003, section 7.1.
func MinForUpperBound(p, conf float64) (int, error) {
	if !(p > 0 && p < 1) || !(conf > 0 && conf < 1) {
		return 0, fmt.Errorf("upper bound of quantile %v with confidence %v: both must be in (0, 1)", p, conf)
	}
	n := math.Ceil(math.Log1p(-conf) / math.Log(p) * (1 - 1e-12))
	if n > math.MaxInt32 {
		return 0, fmt.Errorf("upper bound of quantile %v needs more values than can be counted", p)
	}
	return max(1, int(n)), nil
}

// MedianInterval returns the 1-based ranks whose values enclose the median of
// the population with confidence conf, the fewest ranks that do, and the
// confidence they achieve. Where that takes an uneven number of ranks the upper
// side is the shorter one. ok is false when even the extremes do not reach conf
// (0.95 needs six values). Source: David & Nagaraja 2003, section 7.1: ranks l
// and u cover with P(l <= B < u), B binomial (n, 1/2).
func MedianInterval(n int, conf float64) (lo, hi int, achieved float64, ok bool) {
	if n < 1 || !(conf > 0 && conf < 1) {
		return 0, 0, 0, false
	}
	// Terms are taken from the ends: first the upper, then the lower one, so that
	// what is left is always the most probable run of its length.
	lo, hi, achieved = 1, n, 1-2*binomialHalf(n, 0)
	if !Reaches(conf, achieved) {
		return 0, 0, 0, false
	}
	for {
		next := achieved - binomialHalf(n, hi-1)
		if hi-1 <= lo || !Reaches(conf, next) {
			return lo, hi, achieved, true
		}
		hi, achieved = hi-1, next
		next = achieved - binomialHalf(n, lo)
		if lo+1 >= hi || !Reaches(conf, next) {
			return lo, hi, achieved, true
		}
		lo, achieved = lo+1, next
	}
}

// binomialHalf is P(B = k) for B binomial (n, 1/2).
func binomialHalf(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c - float64(n)*math.Ln2)
}
