package stats

import (
	"math"
	"testing"
)

func TestRankSumIndex(t *testing.T) {
	tests := []struct {
		m, n  int
		alpha float64
		k     int
		level float64 // P(U <= k-1), to the digits of the source
		tol   float64
	}{
		{3, 3, .05, 1, .05, 1e-15}, // exactly: no room for a family
		{5, 5, .05, 5, .0476, 5e-5}, {7, 7, .05, 12, .0487, 5e-5}, {10, 10, .05, 28, .0446, 5e-5}, {20, 20, .05, 139, .0482, 5e-5},
		{4, 4, .025, 1, .0143, 5e-5}, {5, 5, .025, 3, .01585, 5e-5}, {6, 6, .025, 6, .02055, 5e-5}, {7, 7, .025, 9, .01895, 5e-5},
		{8, 8, .025, 14, .02495, 5e-5}, {9, 9, .025, 18, .02, 5e-5}, {10, 10, .025, 24, .02165, 5e-5},
		{5, 5, .05 / 3, 3, .0159, 5e-5}, {10, 10, .05 / 3, 22, .0144, 5e-5}, {20, 20, .05 / 3, 122, .0165, 5e-4},
	}
	var tables Tables
	for _, tt := range tests {
		if k := tables.RankSumIndex(tt.m, tt.n, tt.alpha); k != tt.k {
			t.Errorf("%dx%d at %v: k = %d, want %d", tt.m, tt.n, tt.alpha, k, tt.k)
			continue
		}
		near(t, "level", tables.rankSumTable(tt.m, tt.n)[tt.k-1], tt.level, tt.tol, nil)
	}
	for _, none := range []struct {
		m, n  int
		alpha float64
	}{{3, 3, .025}, {2, 2, .05}, {0, 9, .05}, {9, -1, .05}, {9, 9, 0}, {9, 9, .6}, {9, 9, math.NaN()}} {
		if k := tables.RankSumIndex(none.m, none.n, none.alpha); k != 0 {
			t.Errorf("%+v: k = %d, want none", none, k)
		}
	}
	// At one half the two bounds meet in the middle and do not cross.
	for m := 1; m < 9; m++ {
		for n := 1; n < 9; n++ {
			if k := tables.RankSumIndex(m, n, .5); 2*k > m*n+1 {
				t.Errorf("%dx%d at .5: k = %d crosses the middle", m, n, k)
			}
		}
	}
}

func TestSignedRankIndex(t *testing.T) {
	var tables Tables
	for n, want := range []int{0, 0, 0, 0, 0, 0, 1, 3, 4, 6, 9, 11, 14} {
		if k := tables.SignedRankIndex(n, .025); k != want {
			t.Errorf("n=%d at .025: k = %d, want %d", n, k, want)
		}
	}
	for n, want := range map[int]int{6: 1, 10: 7, 20: 49} {
		if k := tables.SignedRankIndex(n, .05/3); k != want {
			t.Errorf("n=%d at .05/3: k = %d, want %d", n, k, want)
		}
	}
	near(t, "level of n=7", 2*tables.signedTable(7)[2], 1-.9531, 5.1e-5, nil)
	near(t, "level of n=10", 2*tables.signedTable(10)[8], 1-.9512, 5.1e-5, nil)
	if k := tables.SignedRankIndex(4, .05); k != 0 {
		t.Errorf("four blocks bound at .05: k = %d", k)
	}
	if k := tables.SignedRankIndex(5, .05); k != 1 {
		t.Errorf("five blocks at .05: k = %d, want 1", k)
	}
}

func TestLeastPAndLargestFamily(t *testing.T) {
	for _, tt := range []struct {
		n      int
		p, tol float64
		family int
	}{{4, .01429, 5e-6, 3}, {5, .00397, 5e-6, 12}, {6, .00108, 5e-6, 46}, {7, 2.9e-4, 5e-6, 171}, {8, 7.8e-5, 5e-7, 643}, {10, 5.4e-6, 5e-8, 9237}} {
		near(t, "least p unpaired", MinPRankSum(tt.n, tt.n), tt.p, tt.tol, nil)
		if got := MaxFamilyUnpaired(tt.n, tt.n, .05); got != tt.family {
			t.Errorf("%d a side: family %d, want %d", tt.n, got, tt.family)
		}
	}
	for _, tt := range []struct {
		n      int
		p, tol float64
		family int
	}{{5, .03125, 0, 1}, {6, .01563, 5e-6, 3}, {8, .00391, 5e-6, 12}, {10, .00098, 5e-6, 51}, {12, .00024, 5e-6, 204}} {
		near(t, "least p paired", MinPSignedRank(tt.n), tt.p, tt.tol*1.02, nil)
		if got := MaxFamilyPaired(tt.n, .05); got != tt.family {
			t.Errorf("%d blocks: family %d, want %d", tt.n, got, tt.family)
		}
	}
	// Three planned looks share the level.
	for _, tt := range []struct{ got, want int }{
		{MaxFamilyUnpaired(5, 5, .05/3), 4}, {MaxFamilyPaired(6, .05/3), 1}, {MaxFamilyPaired(10, .05/3), 17},
		{MaxFamilyUnpaired(3, 3, .05), 1}, {MaxFamilyUnpaired(2, 2, .05), 0}, {MaxFamilyUnpaired(0, 5, .05), 0},
		{MaxFamilyPaired(4, .05), 0}, {MaxFamilyPaired(500, .05), math.MaxInt32}, {MaxFamilyPaired(9, 0), 0},
	} {
		if tt.got != tt.want {
			t.Errorf("family %d, want %d", tt.got, tt.want)
		}
	}
}

func TestSmallestN(t *testing.T) {
	for _, tt := range []struct {
		name      string
		got, want int
	}{
		{"unpaired, 40 metrics", SmallestNUnpaired(.05 / 40), 6},
		{"paired, 40 metrics", SmallestNPaired(.05 / 40), 10},
		{"unpaired", SmallestNUnpaired(.05), 3},
		{"paired", SmallestNPaired(.05), 5},
		{"paired, first of three looks", SmallestNPaired(.05 / 3), 6},
		{"against 50", SmallestNAgainst(50, .05), 1},
		{"against 1", SmallestNAgainst(1, .05), 19},
		{"against none", SmallestNAgainst(0, .05), 0},
		{"no level", SmallestNUnpaired(0), 0},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.got, tt.want)
		}
	}
	// Each answer is the smallest, by the family rule's own arithmetic.
	for family := 1; family <= 5000; family += 7 {
		level := .05 / float64(family)
		if n := SmallestNUnpaired(level); MaxFamilyUnpaired(n, n, .05) < family || MaxFamilyUnpaired(n-1, n-1, .05) >= family {
			t.Errorf("family of %d: %d a side is not the smallest", family, n)
		}
		if n := SmallestNPaired(level); MaxFamilyPaired(n, .05) < family || MaxFamilyPaired(n-1, .05) >= family {
			t.Errorf("family of %d: %d blocks are not the smallest", family, n)
		}
	}
}

func TestRepeats(t *testing.T) {
	near(t, "paired rule", planFactor(.05, 1e9), 9, .05, nil)
	near(t, "unpaired rule", 2*planFactor(.05, 1e9), 17.9, .05, nil)
	for _, tt := range []struct {
		name             string
		paired           bool
		sd, delta, level float64
		want             int // 0: refused
	}{
		// 17.9*(cv/delta)^2 is 6.4 and 25.8, 9*(sd/delta)^2 is 35.9: one or two
		// more, since the spread is estimated.
		{"the rule", false, .03, .05, .05, 8},
		{"the rule, tighter", false, .06, .05, .05, 27},
		{"never fewer than can decide", false, .001, .05, .05 / 40, 6},
		{"no spread", false, 0, .05, .05, 3},
		{"paired", true, .03, .05, .05, 5},
		{"paired, wide", true, .10, .05, .05, 38},
		{"at the limit", false, .03, 0, .05, 0},
		{"hopeless", false, 1, 1e-6, .05, 0},
		{"NaN", false, math.NaN(), .05, .05, 0},
		{"NaN delta", true, .03, math.NaN(), .05, 0},
		{"no level", true, .03, .05, 0, 0},
	} {
		f := RepeatsUnpaired
		if tt.paired {
			f = RepeatsPaired
		}
		if n, ok := f(tt.sd, tt.delta, tt.level); n != tt.want || ok != (tt.want > 0) {
			t.Errorf("%s: %d, %v; want %d", tt.name, n, ok, tt.want)
		}
	}
}

// The smallest effect is the inverse of the planning rule: planned for the
// distance that n runs resolve, the rule gives n back.
func TestSmallestEffectInvertsPlanning(t *testing.T) {
	for _, n := range []int{5, 10, 20, 33} {
		shift, ok := SmallestShift(.03, n, n, .05)
		if got, planned := RepeatsUnpaired(.03, shift*(1+1e-9), .05); !ok || !planned || got != n {
			t.Errorf("%d runs resolve %v (%v), for which %d are planned", n, shift, ok, got)
		}
		shift, ok = SmallestShiftPaired(.03, n, .05)
		if got, planned := RepeatsPaired(.03, shift*(1+1e-9), .05); !ok || !planned || got != n {
			t.Errorf("%d blocks resolve %v (%v), for which %d are planned", n, shift, ok, got)
		}
		effect, ok := SmallestEffect(.03, n, n, .05, .05)
		if !ok || effect <= .05 {
			t.Errorf("%d runs see %v (%v) beyond a budget of 5 %%", n, effect, ok)
		}
	}
	up, ok := IncreaseBeyond(.05, math.Log(1.1))
	near(t, "increase", up, .155, 1e-12, nil)
	down, okDown := DecreaseBeyond(.05, math.Log(1.25))
	near(t, "decrease", down, .24, 1e-12, nil)
	if !ok || !okDown {
		t.Error("an effect was refused")
	}
	for _, bad := range []struct {
		name string
		v    float64
		ok   bool
	}{
		{"two runs a side", first(SmallestEffect(.03, 2, 2, .05, .05)), second(SmallestEffect(.03, 2, 2, .05, .05))},
		{"four blocks", first(SmallestShiftPaired(.03, 4, .05)), second(SmallestShiftPaired(.03, 4, .05))},
		{"NaN spread", first(SmallestShift(math.NaN(), 9, 9, .05)), second(SmallestShift(math.NaN(), 9, 9, .05))},
		{"NaN shift", first(IncreaseBeyond(.05, math.NaN())), second(IncreaseBeyond(.05, math.NaN()))},
		{"everything allowed", first(DecreaseBeyond(1, .1)), second(DecreaseBeyond(1, .1))},
		{"no spread known", first(new(Tables).SmallestShiftSessions(.1, 0, 5, 1, .05)), second(new(Tables).SmallestShiftSessions(.1, 0, 5, 1, .05))},
	} {
		if bad.ok || bad.v != 0 {
			t.Errorf("%s: %v, %v; want no number", bad.name, bad.v, bad.ok)
		}
	}
}

func first(v float64, _ bool) float64 { return v }
func second(_ float64, ok bool) bool  { return ok }

func TestPredictionFactor(t *testing.T) {
	for k, want := range map[int]float64{3: 3.372, 5: 2.335, 10: 1.923, 19: 1.779, 20: 1.772} {
		got, err := PredictionFactor(k, .05)
		near(t, "factor", got, want, 5.1e-4, err)
	}
	for k := -1; k < 2; k++ {
		if f, err := PredictionFactor(k, .05); err == nil {
			t.Errorf("factor of %d sessions: %v", k, f)
		}
	}
}

func TestPrediction(t *testing.T) {
	s, df, err := PooledSpread([][]float64{{1, 2, 3}, {10, 12}, {7}})
	near(t, "pooled spread", s, math.Sqrt((2.0+2.0)/3), 1e-12, err)
	if df != 3 {
		t.Errorf("df = %d, want 3", df)
	}
	if s, _, err := PooledSpread([][]float64{{1}, {2}}); err == nil {
		t.Errorf("a spread of single values: %v", s)
	}
	lower, upper, err := new(Tables).PredictionBounds(.02, .01, 40, 10, 1, .05)
	half := 1.6838510133356521 * .01 * math.Sqrt(1.1) // t(40, .95)
	near(t, "lower", lower, .02-half, 1e-9, err)
	near(t, "upper", upper, .02+half, 1e-9, nil)
	for _, limit := range []float64{-.1, lower - 1e-9, lower + 1e-9, .02, .1} {
		p, err := PredictionP(.02, limit, .01, 40, 10, 1)
		if err != nil || Reaches(p, .05) != (lower > limit) {
			t.Errorf("limit %v: p = %v (%v), lower bound %v", limit, p, err, lower)
		}
	}
	// Without spread the answer is certain: the caller must have put the
	// metric's resolution in its place where that is not meant.
	for _, tt := range []struct{ limit, p float64 }{{.01, 0}, {.02, 1}, {.03, 1}} {
		if p, err := PredictionP(.02, tt.limit, 0, 40, 10, 1); err != nil || p != tt.p {
			t.Errorf("no spread, limit %v: p = %v, %v; want %v", tt.limit, p, err, tt.p)
		}
	}
	for _, s := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, _, err := new(Tables).PredictionBounds(0, s, 4, 5, 1, .05); err == nil {
			t.Errorf("spread %v was taken", s)
		}
	}
	if shift, ok := new(Tables).SmallestShiftSessions(.01, 40, 10, 1, .05); !ok || shift <= half || shift > 2*half {
		t.Errorf("smallest shift over sessions: %v, %v", shift, ok)
	}
}

// Quantiles undo the distribution to the last digits, far into the tail: a bound
// and its p value must not disagree about a limit.
func TestStudentUpper(t *testing.T) {
	near(t, "t(9, .975)", studentUpper(.025, 9), 2.262157162798205, 1e-14, nil)
	near(t, "nearly normal", studentUpper(1e-9, 1e6), 5.99780702, 1e-3, nil)
	near(t, "t(1, .95)", studentUpper(.05, 1), 6.313751514675043, 5e-14, nil)
	for _, df := range []float64{1, 2, 3.7, 9, 40, 1000, 1e6} {
		for _, alpha := range []float64{.5, .25, .05, .05 / 3, .001, 1e-6, 1e-9} {
			near(t, "alpha", studentCDF(-studentUpper(alpha, df), df)/alpha, 1, 2e-10, nil)
		}
	}
}
