package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactDifferences is the largest number of differences whose signed-rank
// distribution is enumerated.
const exactDifferences = 300

// SignedRankResult is a Wilcoxon signed-rank test of differences against 0.
type SignedRankResult struct {
	V         float64 // sum of the ranks of the positive differences
	PLess     float64 // P(V <= observed): small when differences tend to be negative
	PGreater  float64 // P(V >= observed): small when they tend to be positive
	PTwoSided float64 // twice the smaller of both, at most 1
	N         int     // differences that carry a sign
	Zeros     int     // differences that are zero
	Tied      bool    // some of the absolute differences are equal
	Method    Method
}

// SignedRank tests whether differences are symmetric about 0. Zeros are ranked
// with the others and then carry no sign (Pratt 1959), so they weaken the
// evidence instead of vanishing; N and Zeros say how many there are. The null
// distribution is that of all equally probable signs given the ranks seen, ties
// included, up to 300 differences; above that the normal approximation,
// corrected for ties and continuity, is used and Method says so.
//
// Sources: Wilcoxon 1945; Hollander, Wolfe & Chicken 2014, section 3.1.
func (t *Tables) SignedRank(d []float64) (SignedRankResult, error) {
	if err := checkSample("signed-rank test", d); err != nil {
		return SignedRankResult{}, err
	}
	var buf [inlineLen]int
	r, v2, ranks := signedRanks(buf[:0], d)
	switch {
	case r.N == 0:
		r.PLess, r.PGreater = 1, 1
	case len(d) > exactDifferences:
		r.Method = NormalApproximation
		r.PLess, r.PGreater = normalSignedRank(ranks, v2)
	default:
		r.PLess, r.PGreater = t.exactSignedRank(ranks, v2, r.Tied || r.Zeros > 0)
	}
	r.PTwoSided = min(1, 2*min(r.PLess, r.PGreater))
	return r, nil
}

// signedRanks returns the test without its p values, twice V, and the doubled
// mid-ranks of the differences that carry a sign.
func signedRanks(ranks []int, d []float64) (r SignedRankResult, v2 int, _ []int) {
	var bufP, bufN [inlineLen]float64
	pos, neg := bufP[:0], bufN[:0]
	for _, v := range d {
		switch {
		case v > 0:
			pos = append(pos, v)
		case v < 0:
			neg = append(neg, -v)
		}
	}
	slices.Sort(pos)
	slices.Sort(neg)
	r = SignedRankResult{N: len(pos) + len(neg), Zeros: len(d) - len(pos) - len(neg), Method: Exact}
	before := r.Zeros
	for i, j := 0, 0; i < len(pos) || j < len(neg); {
		at := math.Inf(1)
		if i < len(pos) {
			at = pos[i]
		}
		if j < len(neg) {
			at = min(at, neg[j])
		}
		i0, j0 := i, j
		for i < len(pos) && pos[i] == at {
			i++
		}
		for j < len(neg) && neg[j] == at {
			j++
		}
		size := i - i0 + j - j0
		rank2 := 2*before + size + 1
		v2 += (i - i0) * rank2
		for range size {
			ranks = append(ranks, rank2)
		}
		r.Tied = r.Tied || size > 1
		before += size
	}
	r.V = float64(v2) / 2
	return r, v2, ranks
}

// exactSignedRank returns P(V <= v) and P(V >= v). The distribution is
// symmetric with ties as well, so the nearer end serves both.
func (t *Tables) exactSignedRank(ranks []int, v2 int, uneven bool) (less, greater float64) {
	total2 := 0
	for _, r := range ranks {
		total2 += r
	}
	near := min(v2, total2-v2)
	var end tail
	if uneven {
		end = t.signTail(ranks, near)
	} else {
		table, v := t.signedTable(len(ranks)), near/2
		end.upTo = table[v]
		if v > 0 {
			end.below = table[v-1]
		}
	}
	if v2 <= total2-v2 {
		return end.upTo, 1 - end.below
	}
	return 1 - end.below, end.upTo
}

// signTail counts the choices of signs whose doubled rank sum is up to v2.
func (t *Tables) signTail(ranks []int, v2 int) tail {
	counts := t.borrow(v2 + 1)
	defer t.restore(counts)
	countSigns(*counts, ranks)
	upTo := 0.0
	for _, c := range *counts {
		upTo += c
	}
	total := math.Ldexp(1, len(ranks))
	return tail{upTo: min(1, upTo/total), below: max(0, (upTo-(*counts)[v2])/total)}
}

// countSigns fills counts[s] with the ways to choose ranks that add up to s.
func countSigns(counts []float64, ranks []int) {
	counts[0] = 1
	reached := 0
	for _, r := range ranks {
		reached = min(reached+r, len(counts)-1)
		for s := reached; s >= r; s-- {
			counts[s] += counts[s-r]
		}
	}
}

// newSignedTable returns P(V <= v) without ties, for v up to the middle.
func newSignedTable(n int) []float64 {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	counts := make([]float64, n*(n+1)/4+1)
	countSigns(counts, ranks)
	return cumulate(counts, math.Ldexp(1, n))
}

// normalSignedRank is the normal approximation with the variance of the ranks
// that carry a sign and a continuity correction of one half.
func normalSignedRank(ranks []int, v2 int) (less, greater float64) {
	sum, squares := 0.0, 0.0
	for _, r := range ranks {
		f := float64(r) / 2
		sum += f
		squares += f * f
	}
	d, sigma := float64(v2)/2-sum/2, math.Sqrt(squares)/2
	return distuv.UnitNormal.CDF((d + 0.5) / sigma), distuv.UnitNormal.CDF(-(d - 0.5) / sigma)
}

// SignedRankIndex returns the largest k with P(V <= k-1) <= alpha without ties,
// or 0 when n differences are too few for that level. The k-th smallest and the
// k-th largest Walsh average are one-sided bounds at alpha. A count below 1 or a
// level outside (0, 0.5] gives 0.
func (t *Tables) SignedRankIndex(n int, alpha float64) int {
	if n < 1 || checkAlpha("", alpha) != nil || !Reaches(MinPSignedRank(n), alpha) {
		return 0
	}
	if n <= exactDifferences {
		return indexIn(t.signedTable(n), alpha)
	}
	f := float64(n)
	sigma := math.Sqrt(f * (f + 1) * (2*f + 1) / 24)
	at := f*(f+1)/4 + sigma*distuv.UnitNormal.Quantile(alpha) - 0.5
	return max(0, int(math.Floor(at))+1)
}

// MinPSignedRank is the smallest one-sided p value of n differences, 2^-n.
// 1 when there is none.
func MinPSignedRank(n int) float64 { return math.Ldexp(1, -max(0, n)) }

// Paired estimates the centre of differences d (current - reference, one a
// block) by the median of all Walsh averages (d[i]+d[j])/2, i <= j, and bounds
// it by their order statistics.
//
// Lower > c exactly when the one-sided signed-rank test of d - c rejects "at
// most c" at alpha, as long as no Walsh average equals c. Sources: Hodges &
// Lehmann 1963; Hollander, Wolfe & Chicken 2014, sections 3.2 and 3.3 (Tukey).
func (t *Tables) Paired(d []float64, alpha float64) (Shift, error) {
	if err := checkSample("shift of paired differences", d); err != nil {
		return Shift{}, err
	}
	if err := checkAlpha("shift of paired differences", alpha); err != nil {
		return Shift{}, err
	}
	// Halves are exact (but for subnormal numbers), and cannot leave the range.
	var buf [inlineLen]float64
	half := append(buf[:0], d...)
	for i, v := range half {
		half[i] = v / 2
	}
	half = sortedCopy(half, half)
	var scratch [4 * inlineLen]int
	sums := newPairSums(half, half, true, scratch[:])
	method := Exact
	if len(d) > exactDifferences {
		method = NormalApproximation
	}
	s := shiftOf(&sums, t.SignedRankIndex(len(d), alpha), method)
	return s, s.check("shift of paired differences")
}
