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

// trendTest is a Mann-Kendall test for a monotone trend in a series.
type trendTest struct {
	s        int     // rising pairs minus falling pairs
	less     float64 // small when the series tends to fall
	greater  float64 // small when it tends to rise
	twoSided float64 // twice the smaller of both, at most 1
}

// mannKendall tests whether a series of three values or more, in time order, has no
// trend, whatever the distribution of its values. It is exact up to 40 values
// without ties; else the normal approximation, corrected for ties and continuity. A
// level step is a trend to it, and values that resemble their predecessors make it
// bolder than it says (an autocorrelation of 0.3 makes .05 about .13).
// Sources: Mann 1945; Kendall 1975, chapter 4.
func mannKendall(x []float64) trendTest {
	n := len(x)
	pairs := n * (n - 1) / 2
	falling, ties, lost := fallingPairs(x)
	s := pairs - ties - 2*falling
	r := trendTest{s: s}
	switch {
	case ties == pairs:
		r.less, r.greater = 1, 1
	case ties == 0 && n <= exactTrend:
		table := inversionTable(n)
		r.greater, r.less = table[falling], table[pairs-falling]
	default:
		sigma := trendSigma(n, lost)
		r.less = distuv.UnitNormal.CDF(float64(s+1) / sigma)
		r.greater = distuv.UnitNormal.CDF(-float64(s-1) / sigma)
	}
	r.twoSided = min(1, 2*min(r.less, r.greater))
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
