package stats

import (
	"math"
	"sort"
	"sync"
)

// levelSlack is the relative slack with which levels are compared. It is far
// above the rounding of any sum here and far below a step of any null
// distribution that is small enough to matter.
const levelSlack = 1e-12

// Reaches reports whether p is at most alpha, where 1/20 and 0.05 are equal
// however they were rounded.
func Reaches(p, alpha float64) bool { return p <= alpha*(1+levelSlack) }

// Method says how a p value or an index was computed.
type Method string

// Methods.
const (
	// Exact is the permutation distribution itself, given the ties seen.
	Exact Method = "exact"
	// NormalApproximation is corrected for ties and continuity; it is used only
	// above the sizes that RankSum and SignedRank name.
	NormalApproximation Method = "normal approximation"
)

// Tables keeps the null distributions and quantiles that many tests share, so that judging
// thousands of cells of one size computes each once. The zero value is ready.
// It is safe for concurrent use and must not be copied after first use; what it
// holds changes the speed of an answer, never the answer.
type Tables struct {
	mu      sync.RWMutex
	rankSum map[sizes][]float64 // P(U <= i), i up to the middle, without ties
	signed  map[int][]float64   // P(V <= i), i up to the middle, without ties
	tied    map[string]tail     // by pattern of ties and statistic
	student map[studentKey]float64

	scratch sync.Pool // *[]float64
}

// sizes are the lengths of two samples, the smaller first.
type sizes struct{ m, n int }

// tail is one end of a null distribution at an observed value.
type tail struct {
	upTo  float64 // P(statistic <= observed)
	below float64 // P(statistic < observed)
}

// studentKey is a quantile of the t distribution that thousands of cells share.
type studentKey struct {
	alpha float64
	df    int
}

// tiedLimit bounds the remembered tie patterns (about 100 bytes each). Above
// it they are forgotten all at once: patterns that recur come back soon.
const tiedLimit = 1 << 14

// studentLimit does the same for quantiles.
const studentLimit = 1 << 12

func (t *Tables) rankSumTable(m, n int) []float64 {
	key := sizes{min(m, n), max(m, n)}
	t.mu.RLock()
	table, ok := t.rankSum[key]
	t.mu.RUnlock()
	if ok {
		return table
	}
	table = t.newRankSumTable(key.m, key.n)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rankSum == nil {
		t.rankSum = make(map[sizes][]float64)
	}
	t.rankSum[key] = table
	return table
}

func (t *Tables) signedTable(n int) []float64 {
	t.mu.RLock()
	table, ok := t.signed[n]
	t.mu.RUnlock()
	if ok {
		return table
	}
	table = newSignedTable(n)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.signed == nil {
		t.signed = make(map[int][]float64)
	}
	t.signed[n] = table
	return table
}

// tiedTail returns the remembered tail of key, or computes and keeps it.
func (t *Tables) tiedTail(key []byte, compute func() tail) tail {
	t.mu.RLock()
	found, ok := t.tied[string(key)]
	t.mu.RUnlock()
	if ok {
		return found
	}
	found = compute()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tied == nil || len(t.tied) >= tiedLimit {
		t.tied = make(map[string]tail)
	}
	t.tied[string(key)] = found
	return found
}

func (t *Tables) studentUpper(alpha float64, df int) float64 {
	key := studentKey{alpha, df}
	t.mu.RLock()
	q, ok := t.student[key]
	t.mu.RUnlock()
	if ok {
		return q
	}
	q = studentUpper(alpha, float64(df))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.student == nil || len(t.student) >= studentLimit {
		t.student = make(map[studentKey]float64)
	}
	t.student[key] = q
	return q
}

// borrow returns a zeroed slice of n numbers; give it back with restore.
func (t *Tables) borrow(n int) *[]float64 {
	if p, ok := t.scratch.Get().(*[]float64); ok && cap(*p) >= n {
		*p = (*p)[:n]
		clear(*p)
		return p
	}
	s := make([]float64, n)
	return &s
}

func (t *Tables) restore(p *[]float64) { t.scratch.Put(p) }

// indexIn returns the largest k with table[k-1] <= alpha, 0 when there is none.
func indexIn(table []float64, alpha float64) int {
	return sort.Search(len(table), func(i int) bool { return !Reaches(table[i], alpha) })
}

// cumulate turns counts into probabilities P(statistic <= i) in place.
func cumulate(counts []float64, total float64) []float64 {
	sum := 0.0
	for i, c := range counts {
		sum += c
		counts[i] = min(1, sum/total)
	}
	return counts
}

// choose is the binomial coefficient, exact up to 2^53 and then rounded.
func choose(n, k int) float64 {
	k = min(k, n-k)
	if k < 0 {
		return 0
	}
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return math.Round(c)
}
