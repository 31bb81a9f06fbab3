package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func gaussian(rng *rand.Rand, n int, mean, sd float64) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = mean + sd*rng.NormFloat64()
	}
	return s
}

func shuffled(rng *rand.Rand, x []float64) []float64 {
	s := slices.Clone(x)
	rng.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// For a ratio limit, rejecting by the rank-sum test of the current values
// against what each reference allows, and finding the lower bound of the log
// ratio above the limit, are one decision; so are passing and the upper bound.
func TestTestAndBoundsAgreeUnpaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	var tables Tables
	decided := 0
	for range 4000 {
		m, n := 1+rng.IntN(25), 1+rng.IntN(25)
		alpha := []float64{.05, .05 / 3, .001, .25}[rng.IntN(4)]
		limit := []float64{0, .05, .25}[rng.IntN(3)]
		lx, ly := gaussian(rng, m, 0, .05), gaussian(rng, n, .15*rng.Float64(), .05)
		x, y, allowed := make([]float64, m), make([]float64, n), make([]float64, m)
		for i, v := range lx {
			x[i] = math.Exp(v)
			allowed[i] = x[i] * (1 + limit)
		}
		for i, v := range ly {
			y[i] = math.Exp(v)
		}
		test, err := tables.RankSum(y, allowed)
		if err != nil {
			t.Fatal(err)
		}
		shift, err := tables.Unpaired(logs(t, x), logs(t, y), alpha)
		if err != nil {
			t.Fatal(err)
		}
		delta := math.Log1p(limit)
		if beyond := shift.Lower > delta; beyond != Reaches(test.PGreater, alpha) {
			t.Fatalf("%dx%d at %v: lower bound %v, limit %v, but p = %v", m, n, alpha, shift.Lower, delta, test.PGreater)
		} else if beyond {
			decided++
		}
		if inside := shift.Upper < delta; inside != Reaches(test.PLess, alpha) {
			t.Fatalf("%dx%d at %v: upper bound %v, limit %v, but p = %v", m, n, alpha, shift.Upper, delta, test.PLess)
		}
	}
	if decided < 200 {
		t.Errorf("only %d of 4000 cases were beyond their limit: the test shows little", decided)
	}
}

func TestTestAndBoundsAgreePaired(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	var tables Tables
	decided := 0
	for range 4000 {
		alpha := []float64{.05, .05 / 3, .001, .25}[rng.IntN(4)]
		d := gaussian(rng, 1+rng.IntN(30), .1*rng.Float64(), .05)
		delta := .05
		beyondBy := make([]float64, len(d))
		for i, v := range d {
			beyondBy[i] = v - delta
		}
		test, err := tables.SignedRank(beyondBy)
		if err != nil {
			t.Fatal(err)
		}
		shift, err := tables.Paired(d, alpha)
		if err != nil {
			t.Fatal(err)
		}
		if beyond := shift.Lower > delta; beyond != Reaches(test.PGreater, alpha) {
			t.Fatalf("%d blocks at %v: lower bound %v, but p = %v", len(d), alpha, shift.Lower, test.PGreater)
		} else if beyond {
			decided++
		}
		if inside := shift.Upper < delta; inside != Reaches(test.PLess, alpha) {
			t.Fatalf("%d blocks at %v: upper bound %v, but p = %v", len(d), alpha, shift.Upper, test.PLess)
		}
	}
	if decided < 200 {
		t.Errorf("only %d of 4000 cases were beyond their limit: the test shows little", decided)
	}
}

// With ties the bounds may only be more careful than the exact test given the
// ties, never bolder by more than the steps of the distribution: they may not
// reject where even half of the tied pairs counted against them.
func TestBoundsWithTiesAreCareful(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 74))
	var tables Tables
	for range 2000 {
		x, y := coarse(rng, 3+rng.IntN(12), 12), coarse(rng, 3+rng.IntN(12), 12)
		s, err := tables.Unpaired(x, y, .05)
		if err != nil {
			t.Fatal(err)
		}
		above := 0
		for _, a := range x {
			for _, b := range y {
				if b-a > 0 {
					above++
				}
			}
		}
		if s.Lower > 0 && len(x)*len(y)-above > s.K-1 {
			t.Fatalf("lower bound %v with only %d pairs above 0, k = %d", s.Lower, above, s.K)
		}
	}
}

func TestSymmetries(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82))
	var tables Tables
	for i := range 500 {
		x, y := gaussian(rng, 1+rng.IntN(20), 10, 1), gaussian(rng, 1+rng.IntN(20), 10.5, 1)
		if i%2 == 0 {
			x, y = coarse(rng, len(x), 15), coarse(rng, len(y), 15)
		}
		r, _ := tables.RankSum(x, y)
		s, _ := tables.Unpaired(x, y, .05)
		p, _ := tables.Paired(x, .05)
		w, _ := tables.SignedRank(x)

		mixed, _ := tables.RankSum(shuffled(rng, x), shuffled(rng, y))
		mixedShift, _ := tables.Unpaired(shuffled(rng, x), shuffled(rng, y), .05)
		mixedPaired, _ := tables.Paired(shuffled(rng, x), .05)
		if mixed != r || mixedShift != s || mixedPaired != p {
			t.Fatalf("the order of %v and %v matters", x, y)
		}

		swapped, _ := tables.RankSum(y, x)
		back, _ := tables.Unpaired(y, x, .05)
		near(t, "U of the other", swapped.U, float64(len(x)*len(y))-r.U, 0, nil)
		near(t, "less p of the other", swapped.PLess, r.PGreater, 1e-12, nil)
		near(t, "greater p of the other", swapped.PGreater, r.PLess, 1e-12, nil)
		if back.Estimate != -s.Estimate || back.Lower != -s.Upper || back.Upper != -s.Lower {
			t.Fatalf("swap: %+v and %+v", s, back)
		}
		turned, _ := tables.SignedRank(times(x, -1))
		near(t, "less p of the negatives", turned.PLess, w.PGreater, 1e-12, nil)

		// A power of two changes no digit: everything scales exactly.
		scaled, _ := tables.Unpaired(times(x, 8), times(y, 8), .05)
		scaledTest, _ := tables.RankSum(times(x, 8), times(y, 8))
		if scaledTest != r || scaled.Estimate != 8*s.Estimate || scaled.Lower != 8*s.Lower || scaled.Upper != 8*s.Upper {
			t.Fatalf("scale: %+v and %+v", s, scaled)
		}
		for _, b := range []Shift{s, p} {
			if b.Lower > b.Estimate || b.Estimate > b.Upper {
				t.Fatalf("the estimate is outside its bounds: %+v", b)
			}
		}
		if wider, _ := tables.Unpaired(x, y, .01); wider.Lower > s.Lower || wider.Upper < s.Upper {
			t.Fatalf("a smaller error gives a narrower interval: %+v at .05, %+v at .01", s, wider)
		}
	}
}

func times(x []float64, c float64) []float64 {
	s := slices.Clone(x)
	for i := range s {
		s[i] *= c
	}
	return s
}

func TestFamilyOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	for range 200 {
		p := make([]float64, 1+rng.IntN(20))
		for i := range p {
			p[i] = float64(rng.IntN(12)) / 100
		}
		order := rng.Perm(len(p))
		mixed := make([]float64, len(p))
		for i, from := range order {
			mixed[i] = p[from]
		}
		for _, f := range []func([]float64) ([]float64, error){Holm, BenjaminiHochberg, BenjaminiYekutieli} {
			a, err := f(p)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := f(mixed)
			for i, from := range order {
				if b[i] != a[from] || a[from] < p[from] || a[from] > 1 {
					t.Fatalf("p = %v: adjusted %v, in another order %v", p, a, b)
				}
			}
		}
	}
}

// sampleFunctions are all functions of samples, returning every number they give.
func sampleFunctions(tables *Tables) map[string]func(x, y []float64) ([]float64, error) {
	shift := func(s Shift, err error) ([]float64, error) {
		if !s.OK {
			return []float64{s.Estimate}, err // bounds are infinite, and said so
		}
		return []float64{s.Estimate, s.Lower, s.Upper}, err
	}
	tTest := func(w TTest, err error) ([]float64, error) {
		numbers := []float64{w.Difference, w.SE, w.DF, w.PLess, w.PGreater, w.PTwoSided}
		if !w.NoSpread {
			numbers = append(numbers, w.T)
		}
		return numbers, err
	}
	one := func(v float64, err error) ([]float64, error) { return []float64{v}, err }
	return map[string]func(x, y []float64) ([]float64, error){
		"Median":      func(x, y []float64) ([]float64, error) { return one(Median(x)) },
		"Mean":        func(x, y []float64) ([]float64, error) { return one(Mean(x)) },
		"StdDev":      func(x, y []float64) ([]float64, error) { return one(StdDev(x)) },
		"GeoMean":     func(x, y []float64) ([]float64, error) { return one(GeoMean(x)) },
		"Quantile":    func(x, y []float64) ([]float64, error) { return one(Quantile(x, .3, 8)) },
		"NearestRank": func(x, y []float64) ([]float64, error) { return one(NearestRank(x, .9)) },
		"Percentile":  func(x, y []float64) ([]float64, error) { return one(Percentile(x, .6)) },
		"Logs":        func(x, y []float64) ([]float64, error) { return Logs(x) },
		"MAD": func(x, y []float64) ([]float64, error) {
			raw, scaled, err := MAD(x)
			return []float64{raw, scaled}, err
		},
		"UnequalSpread": func(x, y []float64) ([]float64, error) { _, err := UnequalSpread(x, y); return nil, err },
		"RankSum": func(x, y []float64) ([]float64, error) {
			r, err := tables.RankSum(x, y)
			return []float64{r.U, r.PLess, r.PGreater, r.PTwoSided}, err
		},
		"SignedRank": func(x, y []float64) ([]float64, error) {
			r, err := tables.SignedRank(x)
			return []float64{r.V, r.PLess, r.PGreater, r.PTwoSided}, err
		},
		"Unpaired": func(x, y []float64) ([]float64, error) { return shift(tables.Unpaired(x, y, .05)) },
		"Paired":   func(x, y []float64) ([]float64, error) { return shift(tables.Paired(x, .05)) },
		"Welch":    func(x, y []float64) ([]float64, error) { return tTest(Welch(x, y)) },
		"WelchLog": func(x, y []float64) ([]float64, error) { return tTest(WelchLog(x, y)) },
		"PairedT":  func(x, y []float64) ([]float64, error) { return tTest(PairedT(x)) },
		"PooledSpread": func(x, y []float64) ([]float64, error) {
			s, _, err := PooledSpread([][]float64{x, y})
			return []float64{s}, err
		},
	}
}

// V27: no answer is NaN or infinite without an error, NaN in gives an error out,
// and no function changes what it was given.
func TestNothingButNumbersOrErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(101, 102))
	special := []float64{0, 1, -1, 5, 1e-300, 5e-324, 1e300, math.MaxFloat64, -math.MaxFloat64, 1 + 1e-16, math.NaN(), math.Inf(1), math.Inf(-1)}
	clean := special[:len(special)-3]
	var tables Tables
	functions := sampleFunctions(&tables)
	for i := range 3000 {
		from := clean
		if i%3 == 0 {
			from = special
		}
		draw := func() []float64 {
			s := make([]float64, rng.IntN(8))
			for j := range s {
				s[j] = from[rng.IntN(len(from))]
			}
			return s
		}
		x, y := draw(), draw()
		x0, y0 := slices.Clone(x), slices.Clone(y)
		for name, f := range functions {
			numbers, err := f(x, y)
			if checkSample("", x) != nil && err == nil {
				t.Fatalf("%s of %v, %v: no error", name, x, y)
			}
			if err == nil && len(numbers) > 0 && checkResult("", numbers...) != nil {
				t.Fatalf("%s of %v, %v: %v", name, x, y, numbers)
			}
		}
		if !sameBits(x, x0) || !sameBits(y, y0) {
			t.Fatalf("inputs changed: %v to %v, %v to %v", x0, x, y0, y)
		}
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) })
}

func TestOrderOfInputsIsKept(t *testing.T) {
	x, y := []float64{3, 1, 2, 9, 4, 7}, []float64{8, 6, 7, 5, 3, 0, 9}
	var tables Tables
	for name, f := range sampleFunctions(&tables) {
		gotX, gotY := slices.Clone(x), slices.Clone(y)
		if _, err := f(gotX, gotY); err != nil && name != "WelchLog" { // y has a zero
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(gotX, x) || !slices.Equal(gotY, y) {
			t.Errorf("%s reorders its input", name)
		}
	}
}

func TestLevelsOutsideTheirRange(t *testing.T) {
	x := steps(0, 10)
	var tables Tables
	for _, alpha := range []float64{0, -.05, .51, 1, math.NaN(), math.Inf(1)} {
		if s, err := tables.Unpaired(x, x, alpha); err == nil {
			t.Errorf("Unpaired at %v: %+v", alpha, s)
		}
		if s, err := tables.Paired(x, alpha); err == nil {
			t.Errorf("Paired at %v: %+v", alpha, s)
		}
		if l, u, err := new(Tables).PredictionBounds(0, 1, 4, 5, 1, alpha); err == nil {
			t.Errorf("PredictionBounds at %v: %v, %v", alpha, l, u)
		}
		if l, u, err := (TTest{SE: 1, DF: 4}).Bounds(alpha); err == nil {
			t.Errorf("Bounds at %v: %v, %v", alpha, l, u)
		}
	}
	// Too few values decide nothing, whatever the limit.
	s, err := tables.Unpaired(x[:2], x[:2], .05)
	if err != nil || s.OK || s.K != 0 || s.Lower > -math.MaxFloat64 || s.Upper < math.MaxFloat64 {
		t.Errorf("two against two: %+v, %v", s, err)
	}
}

// The operating figures of the three-way decision (budget 5 %, 0.05 one-sided):
// normal logs, n a side. A fixed sequence of random numbers, so no flicker.
func TestOperatingFigures(t *testing.T) {
	tests := []struct {
		cv         float64
		n          int
		pass, fail float64 // PASS with no change, FAIL at +10 %
	}{
		{.01, 3, .998, .997}, {.03, 3, .49, .45}, {.03, 5, .73, .70}, {.03, 7, .87, .84}, {.03, 10, .96, .94},
		{.03, 20, 1, .998}, {.06, 5, .30, .28}, {.06, 10, .49, .47}, {.06, 20, .79, .75},
	}
	const rounds = 2500
	delta := math.Log(1.05)
	rng := rand.New(rand.NewPCG(111, 112))
	var tables Tables
	for _, tt := range tests {
		var pass, wrong, fail float64
		for range rounds {
			x := gaussian(rng, tt.n, 0, tt.cv)
			same, _ := tables.Unpaired(x, gaussian(rng, tt.n, 0, tt.cv), .05)
			slower, _ := tables.Unpaired(x, gaussian(rng, tt.n, math.Log(1.1), tt.cv), .05)
			pass += count(same.Upper < delta)
			wrong += count(same.Lower > delta)
			fail += count(slower.Lower > delta)
		}
		near(t, "share passed", pass/rounds, tt.pass, .03, nil)
		near(t, "share failed", fail/rounds, tt.fail, .03, nil)
		if wrong/rounds > .013 {
			t.Errorf("cv %v, n=%d: %v of unchanged cases failed", tt.cv, tt.n, wrong/rounds)
		}
	}
}

func count(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// What is planned for a power of 0.9 has about that power.
func TestPlannedRepeatsDecide(t *testing.T) {
	const rounds = 2000
	rng := rand.New(rand.NewPCG(121, 122))
	var tables Tables
	for _, tt := range []struct{ sd, delta, level float64 }{{.03, .04, .05}, {.06, .05, .05}, {.03, .04, .01}} {
		n, _ := RepeatsUnpaired(tt.sd, tt.delta, tt.level)
		blocks, _ := RepeatsPaired(tt.sd, tt.delta, tt.level)
		var unpaired, paired float64
		for range rounds {
			s, _ := tables.Unpaired(gaussian(rng, n, 0, tt.sd), gaussian(rng, n, tt.delta, tt.sd), tt.level)
			p, _ := tables.Paired(gaussian(rng, blocks, tt.delta, tt.sd), tt.level)
			unpaired += count(s.Lower > 0)
			paired += count(p.Lower > 0)
		}
		near(t, "power unpaired", unpaired/rounds, .9, .05, nil)
		near(t, "power paired", paired/rounds, .9, .08, nil)
	}
}
