package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactTrend is the largest number of different values whose Mann-Kendall
// distribution is enumerated.
const exactTrend = 40

// TrendTest is a Mann-Kendall test for a monotone trend in a series.
type TrendTest struct {
	S         int     // rising pairs minus falling pairs
	Tau       float64 // S over the number of pairs, -1 to 1 (Kendall's tau-a)
	PLess     float64 // small when the series tends to fall
	PGreater  float64 // small when it tends to rise
	PTwoSided float64 // twice the smaller of both, at most 1
	Tied      bool
	Method    Method
}

// MannKendall tests whether a series in time order has no trend, whatever the
// distribution of its values. It is exact up to 40 values without ties; else the
// normal approximation, corrected for ties and continuity. A level step is a
// trend to it, and values that resemble their predecessors make it bolder than it
// says (an autocorrelation of 0.3 makes .05 about .13). It needs three values.
// Sources: Mann 1945; Kendall 1975, chapter 4.
func MannKendall(x []float64) (TrendTest, error) {
	if err := checkSample("trend test", x); err != nil {
		return TrendTest{}, err
	}
	if len(x) < 3 {
		return TrendTest{}, fmt.Errorf("trend test of %d values: %w", len(x), ErrInsufficient)
	}
	return mannKendall(x), nil
}

func mannKendall(x []float64) TrendTest {
	n := len(x)
	pairs := n * (n - 1) / 2
	falling, ties, lost := fallingPairs(x)
	s := pairs - ties - 2*falling
	r := TrendTest{S: s, Tau: float64(s) / float64(pairs), Tied: ties > 0, Method: Exact}
	switch {
	case ties == pairs:
		r.PLess, r.PGreater = 1, 1
	case ties == 0 && n <= exactTrend:
		table := inversionTable(n)
		r.PGreater, r.PLess = table[falling], table[pairs-falling]
	default:
		r.Method = NormalApproximation
		sigma := trendSigma(n, lost)
		r.PLess = distuv.UnitNormal.CDF(float64(s+1) / sigma)
		r.PGreater = distuv.UnitNormal.CDF(-float64(s-1) / sigma)
	}
	r.PTwoSided = min(1, 2*min(r.PLess, r.PGreater))
	return r
}

// trendSigma is the standard deviation of S; lost is what ties take from 18 times
// its square.
func trendSigma(n int, lost float64) float64 {
	f := float64(n)
	return math.Sqrt((f*(f-1)*(2*f+5) - lost) / 18)
}

// fallingPairs counts pairs i < j with x[i] > x[j] and equal pairs, and sums
// t*(t-1)*(2t+5) over groups of t equal values. By merging: O(n log n).
func fallingPairs(x []float64) (falling, ties int, lost float64) {
	s := slices.Clone(x)
	buf := make([]float64, len(x))
	for width := 1; width < len(s); width *= 2 {
		for from := 0; from < len(s); from += 2 * width {
			mid, to := min(from+width, len(s)), min(from+2*width, len(s))
			i, j := from, mid
			for k := from; k < to; k++ {
				if i < mid && (j == to || s[i] <= s[j]) {
					buf[k] = s[i]
					i++
					continue
				}
				falling += mid - i // all that are left on this side are larger
				buf[k] = s[j]
				j++
			}
		}
		s, buf = buf, s
	}
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		g := j - i
		ties += g * (g - 1) / 2
		lost += float64(g) * float64(g-1) * float64(2*g+5)
		i = j
	}
	return falling, ties, lost
}

// inversionTable is P(falling pairs <= i) over all orders of n different values.
func inversionTable(n int) []float64 {
	p := []float64{1}
	for k := 2; k <= n; k++ { // the k-th value falls below 0 to k-1 others, each as likely
		next := make([]float64, len(p)+k-1)
		for i, v := range p {
			for d := range k {
				next[i+d] += v / float64(k)
			}
		}
		p = next
	}
	return cumulate(p, 1)
}

// Slope is how fast a series moves, in its unit per unit of time.
type Slope struct {
	Estimate     float64
	Lower, Upper float64 // one-sided bounds, each at the asked level
	OK           bool    // false: too few values for bounds at that level; they are infinite
}

// TheilSen estimates the slope of y over t (ascending, no two equal) by the
// median of the slopes of all pairs, and bounds it by their order statistics with
// the normal approximation of Kendall's S, which is close from ten values on.
// Almost a third of the values may be wild without moving it far. O(n^2) memory
// and time: 2,000 values take 16 MB. Sources: Theil 1950; Sen 1968.
func TheilSen(t, y []float64, alpha float64) (Slope, error) {
	if err := checkTwo("slope", t, y); err != nil {
		return Slope{}, err
	}
	if err := checkAlpha("slope", alpha); err != nil {
		return Slope{}, err
	}
	if len(t) != len(y) {
		return Slope{}, fmt.Errorf("slope of %d values at %d times", len(y), len(t))
	}
	if len(y) < 2 {
		return Slope{}, fmt.Errorf("slope of 1 value: %w", ErrInsufficient)
	}
	n := len(y)
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range y {
		for j := i + 1; j < n; j++ {
			if !(t[j] > t[i]) {
				return Slope{}, fmt.Errorf("slope: time %v at position %d is not after %v", t[j], j, t[i])
			}
			slopes = append(slopes, (y[j]-y[i])/(t[j]-t[i]))
		}
	}
	total := len(slopes)
	s := Slope{Lower: math.Inf(-1), Upper: math.Inf(1)}
	s.Estimate = midpoint(selectRank(slopes, (total-1)/2), selectRank(slopes, total/2))
	_, _, lost := fallingPairs(y)
	c := -distuv.UnitNormal.Quantile(alpha) * trendSigma(n, lost)
	if k := int(math.Floor((float64(total) - c) / 2)); k >= 1 {
		s.Lower, s.Upper, s.OK = selectRank(slopes, k-1), selectRank(slopes, total-k), true
		return s, checkResult("slope", s.Estimate, s.Lower, s.Upper)
	}
	return s, checkResult("slope", s.Estimate)
}

// selectRank returns the value of a 0-based rank, and reorders s (Hoare 1961).
func selectRank(s []float64, rank int) float64 {
	lo, hi := 0, len(s)-1
	for lo < hi {
		pivot := s[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for s[i] < pivot {
				i++
			}
			for s[j] > pivot {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i++
				j--
			}
		}
		switch {
		case rank <= j:
			hi = j
		case rank >= i:
			lo = i
		default:
			return s[rank]
		}
	}
	return s[rank]
}

// AnchorDrift is how far recent sessions lie above anchored ones.
type AnchorDrift struct {
	Shift        float64 // mean of the recent - mean of the anchored log medians
	Lower, Upper float64 // one-sided bounds, each at the asked level
	Spread       SessionSpread
}

// AgainstAnchor bounds how far a cell has come from its anchor: the sessions of a
// release or of a review. It sees the sum of many steps that were each within a
// budget, however they came: creep has no edge that a change point could name, and
// a rolling baseline moves along with it. Both sides are log session medians,
// the spread is pooled over both; one anchored session is enough where there are
// several recent ones. A limit on the drift is broken when Lower exceeds it.
func (t *Tables) AgainstAnchor(anchor, recent []float64, alpha float64) (AnchorDrift, error) {
	sd, df, err := PooledSpread([][]float64{anchor, recent})
	if err != nil {
		return AnchorDrift{}, fmt.Errorf("drift from the anchor: %w", err)
	}
	d := AnchorDrift{Shift: mean(recent) - mean(anchor), Spread: SessionSpread{SD: sd, DF: df}}
	d.Lower, d.Upper, err = t.PredictionBounds(d.Shift, sd, df, len(anchor), len(recent), alpha)
	if err != nil {
		return AnchorDrift{}, fmt.Errorf("drift from the anchor: %w", err)
	}
	return d, nil
}
