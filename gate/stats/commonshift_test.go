package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestCommonShift(t *testing.T) {
	// Nine cells, two of them changed by themselves.
	shifts := []float64{.11, .09, .10, .50, .08, .12, .10, -.30, .13}
	c, err := NewCommonShift(shifts, .05)
	if err != nil || !c.OK {
		t.Fatalf("%+v, %v", c, err)
	}
	// Of 512 signs 10 have at most one of nine above: the second from each end.
	near(t, "estimate", c.Estimate, .10, 1e-15, nil)
	near(t, "lower", c.Lower, .08, 1e-15, nil)
	near(t, "upper", c.Upper, .13, 1e-15, nil)
	// Cells that moved both ways share nothing; a faster machine is one, whatever one
	// cell did; four cells cannot bound at this level.
	inf := math.Inf(1)
	for _, tt := range []struct {
		name         string
		shifts       []float64
		lower, upper float64
	}{
		{"both ways", []float64{.1, -.1, .2, -.2, .3, -.3, .1, -.1}, -.2, .2},
		{"faster", []float64{-.1, -.2, -.1, -.15, -.1, -.12, .3}, -.2, .3},
		{"nothing moved", []float64{0, 0, 0, 0, 0, 0, 0, 0, .3}, 0, 0},
		{"four cells", []float64{.1, .1, .1, .1}, -inf, inf},
	} {
		c, err := NewCommonShift(tt.shifts, .05)
		if err != nil || c.Lower != tt.lower || c.Upper != tt.upper || c.OK != (tt.upper < inf) {
			t.Errorf("%s: %+v, %v; want %v to %v", tt.name, c, err, tt.lower, tt.upper)
		}
	}
	if _, err := NewCommonShift(nil, .05); !errors.Is(err, ErrEmpty) {
		t.Errorf("no cells: %v", err)
	}
	if _, err := NewCommonShift([]float64{math.Inf(1)}, .05); !errors.Is(err, ErrNotFinite) {
		t.Errorf("an infinity: %v", err)
	}
	if _, err := NewCommonShift(shifts, 0); err == nil {
		t.Error("a level of 0 was taken")
	}
}

func TestSignIndex(t *testing.T) {
	for n := -1; n <= 60; n++ {
		for _, alpha := range []float64{.5, .05, .025, .001} {
			want, sum := 0, 0.0
			for k := 1; k <= n; k++ {
				if sum += binomialHalf(n, k-1); Reaches(sum, alpha*(1+1e-9)) {
					want = k
				}
			}
			if got := signIndex(n, alpha); got != want {
				t.Errorf("n=%d at %v: %d, want %d", n, alpha, got, want)
			}
		}
	}
}

// The bounds keep their level however unequal the cells are, and also when a
// quarter of them was really changed, by as much up as down.
func TestCommonShiftKeepsItsLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(271, 272))
	const rounds = 3000
	for _, cells := range []int{6, 12, 60} {
		low, high := 0.0, 0.0
		for range rounds {
			machine := .1 * rng.NormFloat64()
			shifts := make([]float64, cells)
			for i := range shifts {
				shifts[i] = machine + .01*math.Pow(12, rng.Float64())*rng.NormFloat64()
				if rng.IntN(4) == 0 {
					shifts[i] += .3 * float64(1-2*rng.IntN(2))
				}
			}
			c, err := NewCommonShift(shifts, .05)
			if err != nil {
				t.Fatal(err)
			}
			low += count(c.Lower > machine)
			high += count(c.Upper < machine)
		}
		if low/rounds > .062 || high/rounds > .062 {
			t.Errorf("%d cells: bounds miss in %v and %v, want at most .05", cells, low/rounds, high/rounds)
		}
	}
}
