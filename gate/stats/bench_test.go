package stats

import (
	"math/rand/v2"
	"testing"
)

func benchSamples(m, n, digits int) (xs, ys [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	scale := 1.0
	for range digits {
		scale *= 10
	}
	draw := func(n int) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(int(scale*(1+0.03*rng.NormFloat64()))) / scale
		}
		return s
	}
	for range 256 {
		xs, ys = append(xs, draw(m)), append(ys, draw(n))
	}
	return xs, ys
}

func benchUnpaired(b *testing.B, m, n int) {
	xs, ys := benchSamples(m, n, 12)
	var tables Tables
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := tables.Unpaired(xs[i%256], ys[i%256], 0.05); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpaired20x20(b *testing.B)  { benchUnpaired(b, 20, 20) }
func BenchmarkUnpaired100x10(b *testing.B) { benchUnpaired(b, 100, 10) }
func BenchmarkUnpaired200x20(b *testing.B) { benchUnpaired(b, 200, 20) }

func benchRankSum(b *testing.B, m, n, digits int, shift float64, memo bool) {
	xs, ys := benchSamples(m, n, digits)
	for _, y := range ys {
		for i := range y {
			y[i] += shift
		}
	}
	var tables Tables
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !memo && i%256 == 0 {
			tables.tied = nil
		}
		if _, err := tables.RankSum(xs[i%256], ys[i%256]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRankSum20x20(b *testing.B)  { benchRankSum(b, 20, 20, 12, 0, true) }
func BenchmarkRankSum100x10(b *testing.B) { benchRankSum(b, 100, 10, 12, 0, true) }

// No shift and values of three digits: the worst place, the middle of the
// distribution, with a pattern of ties never seen before.
func BenchmarkRankSum20x20Ties(b *testing.B)           { benchRankSum(b, 20, 20, 2, 0, false) }
func BenchmarkRankSum20x20FewTies(b *testing.B)        { benchRankSum(b, 20, 20, 3, 0, false) }
func BenchmarkRankSum100x10Ties(b *testing.B)          { benchRankSum(b, 100, 10, 3, 0, false) }
func BenchmarkRankSum60x60Ties(b *testing.B)           { benchRankSum(b, 60, 60, 3, 0, false) }
func BenchmarkRankSum20x20TiesRemembered(b *testing.B) { benchRankSum(b, 20, 20, 2, 0, true) }

// A change inside a budget of 5 %: the tail of the distribution.
func BenchmarkRankSum20x20TiesInside(b *testing.B) { benchRankSum(b, 20, 20, 2, 0.05, false) }

func BenchmarkRankSumTable30x300(b *testing.B) {
	for b.Loop() {
		var tables Tables
		tables.RankSumIndex(30, 300, 0.05)
	}
}

func BenchmarkPaired20(b *testing.B) {
	xs, _ := benchSamples(20, 1, 12)
	var tables Tables
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := tables.Paired(xs[i%256], 0.05); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSignedRank20Ties(b *testing.B) {
	xs, _ := benchSamples(20, 1, 2)
	for _, x := range xs {
		for i := range x {
			x[i] -= 1
		}
	}
	var tables Tables
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := tables.SignedRank(xs[i%256]); err != nil {
			b.Fatal(err)
		}
	}
}

// seriesOf is n made sessions with two steps and a creep over the last third.
func seriesOf(rng *rand.Rand, n int) []float64 {
	x := gaussian(rng, n, 0, .01)
	for i := range x {
		if i >= n/4 {
			x[i] += .06
		}
		if i >= n/2 {
			x[i] -= .04
		}
		x[i] += .08 * max(0, float64(i-2*n/3)) / float64(n/3)
	}
	return x
}

func benchMovements(b *testing.B, n int) {
	x := seriesOf(rand.New(rand.NewPCG(5, 6)), n)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FindMovements(x, DefaultChangeRule()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMovements200(b *testing.B)  { benchMovements(b, 200) }
func BenchmarkMovements2000(b *testing.B) { benchMovements(b, 2000) }

func BenchmarkChangePoints2000(b *testing.B) {
	x := seriesOf(rand.New(rand.NewPCG(5, 6)), 2000)
	for b.Loop() {
		if _, err := ChangePoints(x, DefaultChangeRule()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSessionSpreads1000Cells(b *testing.B) {
	cells, _ := sessionModel{1000, 10, "various", .5}.draw(rand.New(rand.NewPCG(7, 8)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := SessionSpreads(cells); err != nil {
			b.Fatal(err)
		}
	}
}
