package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// coarse draws n whole numbers below levels: the fewer levels, the more ties.
func coarse(rng *rand.Rand, n, levels int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = float64(rng.IntN(levels))
	}
	return s
}

func doubledU(x, y []float64) (u2 int) {
	for _, a := range x {
		for _, b := range y {
			switch {
			case a > b:
				u2 += 2
			case a == b:
				u2++
			}
		}
	}
	return u2
}

// divided are the values whose bit is set, and the others.
func divided(all []float64, mask uint) (a, b []float64) {
	for i, v := range all {
		if mask>>i&1 == 1 {
			a = append(a, v)
		} else {
			b = append(b, v)
		}
	}
	return a, b
}

// enumerateRankSum divides the values in every way.
func enumerateRankSum(x, y []float64) (less, greater float64) {
	all := append(slices.Clone(x), y...)
	seen := doubledU(x, y)
	total := 0.0
	for mask := range uint(1) << len(all) {
		if bits.OnesCount(mask) != len(x) {
			continue
		}
		u2 := doubledU(divided(all, mask))
		total++
		if u2 <= seen {
			less++
		}
		if u2 >= seen {
			greater++
		}
	}
	return less / total, greater / total
}

func TestRankSumAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	var tables Tables
	for range 400 {
		x := coarse(rng, 1+rng.IntN(5), 1+rng.IntN(9))
		y := coarse(rng, 1+rng.IntN(5), 1+rng.IntN(9))
		less, greater := enumerateRankSum(x, y)
		r, err := tables.RankSum(x, y)
		near(t, "U", r.U, float64(doubledU(x, y))/2, 0, err)
		near(t, "P(U <= u)", r.PLess, less, 1e-12, nil)
		near(t, "P(U >= u)", r.PGreater, greater, 1e-12, nil)
		if t.Failed() {
			t.Fatalf("x = %v, y = %v", x, y)
		}
	}
}

// Larger samples: every division is too many, so the probabilities of all U
// must add up, through the tied path with values that have no ties.
func TestTiedPathAgreesWithTable(t *testing.T) {
	var tables Tables
	for _, s := range []sizes{{4, 9}, {20, 20}, {10, 100}, {30, 30}} {
		ones := slices.Repeat([]int{1}, s.m+s.n)
		table := tables.rankSumTable(s.m, s.n)
		for u := 1; u <= s.m*s.n/2; u += 1 + s.m*s.n/40 {
			got := tables.countTail(ones, s.m, s.n, 2*u)
			near(t, "P(U <= u)", got.upTo, table[u], 1e-12*table[u], nil)
			near(t, "P(U < u)", got.below, table[u-1], 1e-12*table[u], nil)
		}
	}
}

// enumerateSignedRank gives every choice of signs to the ranks of all
// differences; zeros hold their ranks and no sign.
func enumerateSignedRank(d []float64) (v, less, greater float64) {
	var ranks []float64
	for _, a := range d {
		if a == 0 {
			continue
		}
		below, level := 0.0, 0.0
		for _, b := range d {
			switch {
			case math.Abs(b) < math.Abs(a):
				below++
			case math.Abs(b) == math.Abs(a):
				level++
			}
		}
		r := below + (level+1)/2
		ranks = append(ranks, r)
		if a > 0 {
			v += r
		}
	}
	total := 0.0
	for mask := range uint(1) << len(ranks) {
		sum := 0.0
		for i, r := range ranks {
			if mask>>i&1 == 1 {
				sum += r
			}
		}
		total++
		if sum <= v {
			less++
		}
		if sum >= v {
			greater++
		}
	}
	return v, less / total, greater / total
}

func TestSignedRankAgainstEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var tables Tables
	for range 400 {
		d := coarse(rng, 1+rng.IntN(10), 2+rng.IntN(20))
		shift := float64(rng.IntN(9))
		for i := range d {
			d[i] -= shift
		}
		v, less, greater := enumerateSignedRank(d)
		r, err := tables.SignedRank(d)
		near(t, "V", r.V, v, 0, err)
		near(t, "P(V <= v)", r.PLess, less, 1e-12, nil)
		near(t, "P(V >= v)", r.PGreater, greater, 1e-12, nil)
		if r.N+r.Zeros != len(d) {
			t.Errorf("%d signed and %d zeros of %d", r.N, r.Zeros, len(d))
		}
		if t.Failed() {
			t.Fatalf("d = %v", d)
		}
	}
}

func TestRankedSumsAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 300 {
		levels := 1 + rng.IntN(1000)
		a, b := coarse(rng, 1+rng.IntN(30), levels), coarse(rng, 1+rng.IntN(30), levels)
		slices.Sort(a)
		slices.Sort(b)
		upper := rng.IntN(2) == 0
		if upper {
			b = a
		}
		var want []float64
		for i, v := range a {
			for j, w := range b {
				if !upper || j >= i {
					want = append(want, v+w)
				}
			}
		}
		slices.Sort(want)
		sums := newPairSums(a, b, upper, nil)
		if sums.size() != len(want) {
			t.Fatalf("%d sums, want %d", sums.size(), len(want))
		}
		for k := 1; k <= len(want); k += 1 + rng.IntN(5) {
			v, next := sums.ranked(k)
			if v != want[k-1] || next != want[min(k, len(want)-1)] {
				t.Fatalf("rank %d of %v + %v (upper %v): %v, %v; want %v, %v",
					k, a, b, upper, v, next, want[k-1], want[min(k, len(want)-1)])
			}
		}
		if sums.median() != medianSorted(want) {
			t.Fatalf("median %v, want %v", sums.median(), medianSorted(want))
		}
	}
}

// The approximation takes over above a size; on both sides of it p values and
// indices must be nearly the same.
func TestBothSidesOfTheExactSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	var tables Tables
	for _, tied := range []bool{false, true} {
		x, y := make([]float64, 101), make([]float64, 100)
		for i := range x {
			x[i] = rng.NormFloat64() + .25
		}
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		if tied {
			round(x)
			round(y)
		}
		above, err := tables.RankSum(x, y)
		if err != nil || above.Method != NormalApproximation {
			t.Fatalf("101 x 100: %+v, %v", above, err)
		}
		below, err := tables.RankSum(x[:100], y)
		if err != nil || below.Method != Exact {
			t.Fatalf("100 x 100: %+v, %v", below, err)
		}
		less, greater := approximation(x[:100], y)
		near(t, "less p", less, below.PLess, .01*below.PLess, nil)
		near(t, "greater p", greater, below.PGreater, .02*below.PGreater, nil)
	}
	s, err := tables.Unpaired(steps(0, 101), steps(0, 100), .05)
	if err != nil || s.Method != NormalApproximation || !s.OK {
		t.Errorf("101 x 100: %+v, %v", s, err)
	}
	for _, alpha := range []float64{.05, .01, .001} {
		a, b := tables.RankSumIndex(100, 100, alpha), tables.RankSumIndex(100, 101, alpha)
		if b <= a || b-a > 60 {
			t.Errorf("index at %v: %d for 100 x 100 and %d for 100 x 101", alpha, a, b)
		}
		a, b = tables.SignedRankIndex(300, alpha), tables.SignedRankIndex(301, alpha)
		if b <= a || b-a > 160 {
			t.Errorf("index at %v: %d for 300 and %d for 301 differences", alpha, a, b)
		}
	}
	d := make([]float64, 301)
	for i := range d {
		d[i] = rng.NormFloat64() + .1
	}
	above, err := tables.SignedRank(d)
	if err != nil || above.Method != NormalApproximation {
		t.Fatalf("301 differences: %+v, %v", above, err)
	}
	below, err := tables.SignedRank(d[:300])
	if err != nil || below.Method != Exact {
		t.Fatalf("300 differences: %+v, %v", below, err)
	}
	_, v2, ranks := signedRanks(nil, d[:300])
	less, greater := normalSignedRank(ranks, v2)
	near(t, "less p", less, below.PLess, .01*below.PLess, nil)
	near(t, "greater p", greater, below.PGreater, .03*below.PGreater, nil)
}

func round(x []float64) {
	for i, v := range x {
		x[i] = math.Round(v * 4)
	}
}

// All goroutines must see what one alone would see.
func TestTablesAreShared(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	var xs, ys [][]float64
	for range 64 {
		xs, ys = append(xs, coarse(rng, 12, 40)), append(ys, coarse(rng, 9, 40))
	}
	want := make([]RankSumResult, len(xs))
	for i := range xs {
		var alone Tables
		want[i], _ = alone.RankSum(xs[i], ys[i])
	}
	var shared Tables
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range xs {
				if got, err := shared.RankSum(xs[i], ys[i]); err != nil || got != want[i] {
					t.Errorf("pair %d: %+v, %v; want %+v", i, got, err, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestRememberedTiesAreBounded(t *testing.T) {
	var tables Tables
	for i := range tiedLimit + 10 {
		tables.tiedTail([]byte(strconv.Itoa(i)), func() tail { return tail{upTo: float64(i)} })
	}
	if len(tables.tied) > tiedLimit {
		t.Errorf("%d patterns are kept", len(tables.tied))
	}
	if got := tables.tiedTail([]byte("7"), func() tail { return tail{upTo: 7} }); got.upTo != 7 {
		t.Errorf("a forgotten pattern gives %v", got)
	}
}
