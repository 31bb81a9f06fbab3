package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func plainMean(x []float64) float64 { return mean(x) }

func TestBootstrapReferences(t *testing.T) {
	x := steps(0, 100)
	for seed := range uint64(5) {
		b, err := BootstrapBCa(x, plainMean, 20_000, .025, seed)
		near(t, "estimate", b.Estimate, 49.5, 1e-12, err)
		// SciPy. Percentiles that are not scaled to 100 would give 39.51 and 43.06
		// (fairness_pipeline_dev_toolkit#23).
		near(t, "lower", b.Lower, 43.9, .2, nil)
		near(t, "upper", b.Upper, 55.3, .2, nil)
		if again, _ := BootstrapBCa(x, plainMean, 20_000, .025, seed); again != b {
			t.Errorf("seed %d: %+v, and then %+v", seed, b, again)
		}
	}
	// Values without spread have an interval without width, and it says so.
	b, err := BootstrapBCa(slices.Repeat([]float64{.1}, 9), plainMean, 1000, .025, 1)
	if want := (BootstrapInterval{Estimate: .1, Lower: .1, Upper: .1, NoSpread: true}); err != nil || b != want {
		t.Errorf("constant values: %+v, %v", b, err)
	}
}

func TestBootstrapEnclosesItsEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(301, 302))
	largest := func(x []float64) float64 { return slices.Max(x) }
	p90 := func(x []float64) float64 { v, _ := Quantile(x, .9, 7); return v }
	for i := range 60 {
		x := make([]float64, 2+rng.IntN(30))
		for j := range x {
			x[j] = math.Exp(rng.NormFloat64())
		}
		before := slices.Clone(x)
		for name, f := range map[string]func([]float64) float64{"mean": plainMean, "largest": largest, "p90": p90} {
			b, err := BootstrapBCa(x, f, 1000, .05, uint64(i))
			if err != nil || !(b.Lower <= b.Estimate && b.Estimate <= b.Upper) {
				t.Fatalf("%s of %v: %+v, %v", name, x, b, err)
			}
		}
		if !slices.Equal(x, before) {
			t.Fatal("the values were changed")
		}
	}
}

// Of twenty skewed values, a 90 % interval of the mean holds it about so often.
func TestBootstrapCovers(t *testing.T) {
	const rounds = 300
	rng := rand.New(rand.NewPCG(303, 304))
	held := 0.0
	for i := range rounds {
		x := make([]float64, 20)
		for j := range x {
			x[j] = rng.ExpFloat64()
		}
		b, err := BootstrapBCa(x, plainMean, 1000, .05, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		held += count(b.Lower <= 1 && 1 <= b.Upper)
	}
	near(t, "held", held/rounds, .87, .07, nil)
}

func TestBootstrapRefuses(t *testing.T) {
	nan := func([]float64) float64 { return math.NaN() }
	for name, tt := range map[string]struct {
		x         []float64
		statistic func([]float64) float64
		resamples int
		alpha     float64
		want      error
	}{
		"nothing": {nil, plainMean, 1000, .05, ErrEmpty}, "one value": {[]float64{1}, plainMean, 1000, .05, ErrInsufficient},
		"few resamples": {[]float64{1, 2}, plainMean, 999, .05, ErrInsufficient}, "NaN": {[]float64{1, math.NaN()}, plainMean, 1000, .05, ErrNotFinite},
		"no figure": {[]float64{1, 2}, nan, 1000, .05, ErrNotFinite}, "no level": {[]float64{1, 2}, plainMean, 1000, 0, nil},
	} {
		if b, err := BootstrapBCa(tt.x, tt.statistic, tt.resamples, tt.alpha, 1); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v; want %v", name, b, err, tt.want)
		}
	}
}
