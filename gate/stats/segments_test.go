package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSegments(t *testing.T) {
	for _, tt := range []struct {
		name    string
		x       []float64
		least   int
		penalty float64
		want    []int
	}{
		{"one value", []float64{1}, 2, 1, nil},
		{"nothing happens", []float64{1, 1.1, .9, 1, 1.1}, 2, 1, nil},
		{"constant", []float64{3, 3, 3, 3}, 2, 1e-9, nil},
		{"a step", []float64{1, 1, 1, 3, 3}, 2, 1.5, []int{3}},
		{"a step that is not worth it", []float64{1, 1, 1, 3, 3}, 2, 4, nil},
		{"one value is no level", []float64{1, 1, 1, 1, 9}, 2, 2, nil},
		{"unless it may be", []float64{1, 1, 1, 1, 9}, 1, 2, []int{4}},
		{"a spike hides no step", []float64{1, 9, 1, 1, 3, 3, 3}, 2, 2, []int{4}},
		{"two steps", []float64{0, 0, 0, 5, 5, 5, 2, 2}, 2, 2, []int{3, 6}},
		{"up and back", []float64{0, 0, 0, 5, 5, 0, 0, 0}, 2, 2, []int{3, 5}},
		{"shorter than a level", []float64{1, 9}, 3, 1, nil},
	} {
		got, err := Segments(tt.x, tt.least, tt.penalty)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v; want %v", tt.name, got, err, tt.want)
		}
	}
}

// The cost is that of the best of all splits, by enumeration.
func TestSegmentsAreTheBest(t *testing.T) {
	cost := func(x []float64, at []int, penalty float64) float64 {
		sum, from := penalty*float64(len(at)), 0
		for _, to := range append(slices.Clone(at), len(x)) {
			m := medianSorted(sortedCopy(nil, x[from:to]))
			for _, v := range x[from:to] {
				sum += math.Abs(v - m)
			}
			from = to
		}
		return sum
	}
	rng := rand.New(rand.NewPCG(301, 302))
	for range 400 {
		x := gaussian(rng, 1+rng.IntN(11), 0, 1)
		least, penalty := 1+rng.IntN(3), .2+2*rng.Float64()
		got, err := Segments(x, least, penalty)
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(1)
		for mask := range 1 << (len(x) - 1) {
			var at []int
			from, ok := 0, true
			for i := 1; i < len(x); i++ {
				if mask>>(i-1)&1 == 1 {
					ok = ok && i-from >= least
					at, from = append(at, i), i
				}
			}
			if ok && len(x)-from >= least {
				best = min(best, cost(x, at, penalty))
			}
		}
		if len(x) >= least && math.Abs(cost(x, got, penalty)-best) > 1e-9 {
			t.Fatalf("%v: %v costs %v, the best %v", x, got, cost(x, got, penalty), best)
		}
	}
}

func TestSegmentsRefuse(t *testing.T) {
	for name, tt := range map[string]struct {
		x       []float64
		least   int
		penalty float64
		want    error
	}{
		"nothing":      {nil, 2, 1, ErrEmpty},
		"NaN":          {[]float64{1, math.NaN()}, 2, 1, ErrNotFinite},
		"out of range": {[]float64{-math.MaxFloat64, math.MaxFloat64}, 2, 1, ErrNotFinite},
		"least":        {[]float64{1}, 0, 1, nil},
		"no penalty":   {[]float64{1}, 2, 0, nil},
		"NaN penalty":  {[]float64{1}, 2, math.NaN(), nil},
	} {
		if got, err := Segments(tt.x, tt.least, tt.penalty); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
