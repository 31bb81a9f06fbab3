package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestProportionReferences(t *testing.T) {
	for _, tt := range []struct {
		x, n                int
		alpha, lower, upper float64
		tol                 float64
	}{
		{0, 200, .05, 0, 1 - math.Pow(.05, 1.0/200), 1e-14}, // at most 1.5 %
		{200, 200, .05, math.Pow(.05, 1.0/200), 1, 1e-14},
		{0, 1, .025, 0, .975, 1e-14},
		{1, 1, .025, .025, 1, 1e-14},
		// R: binom.test(5, 10), and binom.test(682, 925) of its help page.
		{5, 10, .025, .1870860284, .8129139716, 5e-11},
		{682, 925, .025, .7076683, .7654066, 5e-8},
	} {
		lower, upper, err := ProportionBounds(tt.x, tt.n, tt.alpha)
		near(t, "lower", lower, tt.lower, tt.tol, err)
		near(t, "upper", upper, tt.upper, tt.tol, nil)
	}
}

// The bounds are what they claim by the binomial distribution itself: at the
// lower one x or more hits have the probability alpha, at the upper one x or less.
func TestProportionBoundsByTheirDefinition(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40, 300, 3000} {
		for _, x := range []int{0, 1, 2, n / 3, n - 1, n} {
			if x > n {
				continue
			}
			for _, alpha := range []float64{.5, .05, .001, 1e-9} {
				lower, upper, err := ProportionBounds(x, n, alpha)
				if err != nil || !(lower >= 0 && lower <= upper && upper <= 1) {
					t.Fatalf("%d of %d at %v: %v, %v, %v", x, n, alpha, lower, upper, err)
				}
				rate := float64(x) / float64(n)
				if alpha < .5 && (lower > rate || upper < rate) {
					t.Fatalf("%d of %d at %v: [%v, %v] is beside the rate", x, n, alpha, lower, upper)
				}
				if x > 0 {
					near(t, "P(X >= x)/alpha", binomialSum(n, x, n, lower)/alpha, 1, 1e-8, nil)
				}
				mirrorLower, mirrorUpper, _ := ProportionBounds(n-x, n, alpha)
				near(t, "mirrored", mirrorUpper+lower, 1, 1e-12, nil)
				near(t, "mirrored", mirrorLower+upper, 1, 1e-12, nil)
				if x < n { // through the mirror: an upper bound near 1 has lost the digits of its distance
					near(t, "P(X <= x)/alpha", binomialSum(n, n-x, n, mirrorLower)/alpha, 1, 1e-8, nil)
				}
			}
		}
	}
}

// binomialSum is P(from <= X <= to), term by term: small ones keep their digits.
func binomialSum(n, from, to int, rate float64) float64 {
	sum := 0.0
	for k := from; k <= to; k++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		log := a - b - c + float64(k)*math.Log(rate)
		if k < n {
			log += float64(n-k) * math.Log1p(-rate)
		}
		sum += math.Exp(log)
	}
	return sum
}

func TestProportionRefuses(t *testing.T) {
	for _, bad := range []struct {
		x, n  int
		alpha float64
	}{{0, 0, .05}, {-1, 5, .05}, {6, 5, .05}, {1, 5, 0}, {1, 5, .6}, {1, 5, math.NaN()}} {
		if l, u, err := ProportionBounds(bad.x, bad.n, bad.alpha); err == nil {
			t.Errorf("%+v: %v, %v", bad, l, u)
		}
	}
}

// The interval misses the true rate in at most 2*alpha of the cases, for any rate.
func TestProportionCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(221, 222))
	for _, rate := range []float64{.003, .05, .4} {
		const n, rounds = 100, 1500
		missed := 0.0
		for range rounds {
			x := 0
			for range n {
				if rng.Float64() < rate {
					x++
				}
			}
			lower, upper, err := ProportionBounds(x, n, .05)
			if err != nil {
				t.Fatal(err)
			}
			missed += count(lower > rate || upper < rate)
		}
		if missed/rounds > .115 {
			t.Errorf("rate %v: missed in %v", rate, missed/rounds)
		}
	}
}
