package stats

import (
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactPairs is the largest len(x)*len(y) whose rank-sum distribution is
// enumerated: 100 against 100, 30 against 333. Above it the normal
// approximation is right to better than four digits at any usual level.
const exactPairs = 10_000

// RankSumResult is a Mann-Whitney (Wilcoxon rank-sum) test of two samples.
type RankSumResult struct {
	U         float64 // pairs in which x is larger than y; a tie counts one half
	PLess     float64 // P(U <= observed): small when x tends to be smaller
	PGreater  float64 // P(U >= observed): small when x tends to be larger
	PTwoSided float64 // twice the smaller of both, at most 1
	Tied      bool    // some values are equal
	Method    Method
}

// RankSum tests whether x and y come from one distribution. The null
// distribution is that of all equally probable divisions of the values seen,
// ties included, so p values are exact with ties as well, up to
// len(x)*len(y) = 10,000; above that the normal approximation, corrected for
// ties and continuity, is used and Method says so.
//
// Sources: Mann & Whitney 1947; Hollander, Wolfe & Chicken 2014, section 4.1,
// for the conditional distribution with ties; Streitberg & Roehmel 1986 for the
// recurrence over tie groups.
func (t *Tables) RankSum(x, y []float64) (RankSumResult, error) {
	if err := checkTwo("rank-sum test", x, y); err != nil {
		return RankSumResult{}, err
	}
	var bufX, bufY [inlineLen]float64
	var bufG [2 * inlineLen]int
	xs, ys := sortedCopy(bufX[:0], x), sortedCopy(bufY[:0], y)
	u2, groups := tieGroups(bufG[:0], xs, ys)
	m, n := len(x), len(y)
	r := RankSumResult{U: float64(u2) / 2, Tied: len(groups) < m+n, Method: Exact}
	if m*n > exactPairs {
		r.Method = NormalApproximation
		r.PLess, r.PGreater = normalRankSum(groups, m, n, u2)
	} else {
		r.PLess, r.PGreater = t.exactRankSum(groups, m, n, u2)
	}
	r.PTwoSided = min(1, 2*min(r.PLess, r.PGreater))
	return r, nil
}

// tieGroups walks two sorted samples in step and returns twice U of x and the
// number of values at each place of the joint order.
func tieGroups(groups []int, xs, ys []float64) (u2 int, _ []int) {
	i, j := 0, 0
	for i < len(xs) || j < len(ys) {
		var v float64
		if j == len(ys) || (i < len(xs) && xs[i] < ys[j]) {
			v = xs[i]
		} else {
			v = ys[j]
		}
		i0, j0 := i, j
		for i < len(xs) && xs[i] == v {
			i++
		}
		for j < len(ys) && ys[j] == v {
			j++
		}
		u2 += (i - i0) * (2*j0 + j - j0)
		groups = append(groups, i-i0+j-j0)
	}
	return u2, groups
}

// exactRankSum returns P(U <= u) and P(U >= u). Only the nearer end of the
// distribution is counted: the other follows from it without loss, being large.
func (t *Tables) exactRankSum(groups []int, m, n, u2 int) (less, greater float64) {
	if u2 <= m*n {
		end := t.lowerTail(groups, m, n, u2)
		return end.upTo, 1 - end.below
	}
	end := t.lowerTail(groups, n, m, 2*m*n-u2) // U of y in the same order
	return 1 - end.below, end.upTo
}

// lowerTail is the lower end of the null distribution of the first sample's U,
// at u2/2, which must have been seen with these groups and be at most the mean.
func (t *Tables) lowerTail(groups []int, m, n, u2 int) tail {
	if u2 == 0 {
		// Complete separation, thus no tie across the gap: one division of all.
		return tail{upTo: MinPRankSum(m, n)}
	}
	if len(groups) == m+n {
		table, u := t.rankSumTable(m, n), u2/2
		return tail{upTo: table[u], below: table[u-1]}
	}
	if m > n {
		// U of the first sample is U of the second in the reversed order; the
		// smaller one has the smaller table.
		m, n = n, m
		slices.Reverse(groups)
	}
	var buf [4 * inlineLen]byte
	key := appendTieKey(buf[:0], groups, m, u2)
	return t.tiedTail(key, func() tail { return t.countTail(groups, m, n, u2) })
}

// appendTieKey writes what determines a tied tail; n follows from the groups.
func appendTieKey(key []byte, groups []int, m, u2 int) []byte {
	key = binary.AppendUvarint(key, uint64(m))
	key = binary.AppendUvarint(key, uint64(u2))
	for _, g := range groups {
		key = binary.AppendUvarint(key, uint64(g))
	}
	return key
}

func (t *Tables) countTail(groups []int, m, n, u2 int) tail {
	c := newDivisions(t, groups, m, n, u2)
	defer c.release()
	counts := c.count(groups)
	upTo := 0.0
	for _, v := range counts {
		upTo += v
	}
	at := 0.0
	if u2%c.unit == 0 {
		at = counts[u2/c.unit]
	}
	total := choose(m+n, m)
	return tail{upTo: min(1, upTo/total), below: max(0, (upTo-at)/total)}
}

// newRankSumTable returns P(U <= u) without ties, for u up to the middle.
func (t *Tables) newRankSumTable(m, n int) []float64 {
	groups := make([]int, m+n)
	for i := range groups {
		groups[i] = 1
	}
	c := newDivisions(t, groups, m, n, m*n/2*2) // doubled
	defer c.release()
	return cumulate(slices.Clone(c.count(groups)), choose(m+n, m))
}

// normalRankSum is the normal approximation with the variance that ties leave
// and a continuity correction of one half. Source: Hollander, Wolfe & Chicken
// 2014, section 4.1, (4.10) and (4.14).
func normalRankSum(groups []int, m, n, u2 int) (less, greater float64) {
	sigma := rankSumSigma(groups, m, n)
	if sigma == 0 {
		return 1, 1 // all values are equal
	}
	d := (float64(u2) - float64(m)*float64(n)) / 2
	return distuv.UnitNormal.CDF((d + 0.5) / sigma), distuv.UnitNormal.CDF(-(d - 0.5) / sigma)
}

// rankSumSigma is the standard deviation of U; nil groups mean no ties.
func rankSumSigma(groups []int, m, n int) float64 {
	total := float64(m + n)
	lost := 0.0
	for _, g := range groups {
		s := float64(g)
		lost += s * (s - 1) * (s + 1)
	}
	variance := float64(m) * float64(n) / 12 * (total + 1 - lost/(total*(total-1)))
	return math.Sqrt(max(0, variance))
}

// RankSumIndex returns the largest k with P(U <= k-1) <= alpha without ties, or
// 0 when samples of m and n are too small for that level. The k-th smallest and
// the k-th largest of the m*n differences are one-sided bounds at alpha. A size
// below 1 or a level outside (0, 0.5] gives 0.
func (t *Tables) RankSumIndex(m, n int, alpha float64) int {
	if m < 1 || n < 1 || checkAlpha("", alpha) != nil || !Reaches(MinPRankSum(m, n), alpha) {
		return 0
	}
	if m*n <= exactPairs {
		return indexIn(t.rankSumTable(m, n), alpha)
	}
	at := float64(m)*float64(n)/2 + rankSumSigma(nil, m, n)*distuv.UnitNormal.Quantile(alpha) - 0.5
	return max(0, int(math.Floor(at))+1)
}

// MinPRankSum is the smallest one-sided p value that samples of m and n can
// give: one division out of (m+n choose m). 1 for an empty sample.
func MinPRankSum(m, n int) float64 {
	if m < 1 || n < 1 {
		return 1
	}
	k := min(m, n)
	p := 1.0
	for i := 1; i <= k && p > 0; i++ {
		p = p * float64(i) / float64(m+n-k+i)
	}
	if p > 0x1p-52 {
		return 1 / choose(m+n, k) // the count is exact, so only this rounds
	}
	return p
}
