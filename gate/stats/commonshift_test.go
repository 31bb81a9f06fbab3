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
	if err != nil || !c.OK || c.Cells != 9 {
		t.Fatalf("%+v, %v", c, err)
	}
	// Of 512 signs 10 have at most one of nine above: the second from each end.
	near(t, "estimate", c.Estimate, .10, 1e-15, nil)
	near(t, "lower", c.Lower, .08, 1e-15, nil)
	near(t, "upper", c.Upper, .13, 1e-15, nil)
	near(t, "spread", c.Spread, .02*madScale, 1e-12, nil)
	near(t, "share", c.Share, 8.0/9, 1e-15, nil)
	for _, tt := range []struct {
		shift, limit float64
		want         bool
	}{
		{.12, .05, true},   // inside without the machine
		{.50, .05, false},  // stands out
		{.04, .05, false},  // there is nothing to explain
		{.151, .05, false}, // just beyond also without it
		{.149, .05, true},
	} {
		if got := c.Explains(tt.shift, tt.limit); got != tt.want {
			t.Errorf("shift %v, limit %v: explained %v", tt.shift, tt.limit, got)
		}
	}
	// Cells that moved both ways share nothing, and a faster machine explains no
	// slower cell.
	for name, shifts := range map[string][]float64{
		"both ways": {.1, -.1, .2, -.2, .3, -.3, .1, -.1}, "faster": {-.1, -.2, -.1, -.15, -.1, -.12, .3}, "four cells": {.1, .1, .1, .1},
		"nothing moved": {0, 0, 0, 0, 0, 0, 0, 0, .3},
	} {
		c, err := NewCommonShift(shifts, .05)
		if err != nil || c.Explains(.3, .05) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		if name == "four cells" && (c.OK || c.Lower > -math.MaxFloat64) {
			t.Errorf("%s: %+v", name, c)
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
