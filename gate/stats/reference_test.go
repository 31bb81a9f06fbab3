package stats

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRankSumReferences(t *testing.T) {
	same := slices.Repeat([]float64{5}, 4)
	tests := []struct {
		name    string
		x, y    []float64
		u       float64
		two     float64
		greater float64 // 0: not in the source
		less    float64
	}{
		{"R example permeability", []float64{.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46},
			[]float64{1.15, .88, .90, .74, 1.21}, 35, .2544122544, .1272061272, 0},
		{"SciPy example", []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, 17, .1111111111, .0555555556, .9682539683},
		{"ties", []float64{1, 1, 2, 2, 3}, []float64{2, 3, 3, 4, 4}, 3, .0793650794, 0, 0},
		{"one side constant (golang/go#19634)", []float64{115, 114, 115, 115, 115}, []float64{78.8, 78.8, 78.8, 78.8, 78.8}, 25, .0079365079, 0, 0},
		{"ties across", []float64{10, 10, 10, 11}, []float64{10, 11, 12, 12}, 3, .2571428571, 0, 0},
		{"ties below", []float64{1, 1, 1, 2}, []float64{1, 1, 2, 2}, 6, 1, 0, 0},
		{"all equal", same, same, 8, 1, 1, 1},
	}
	var tables Tables
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := tables.RankSum(tt.x, tt.y)
			near(t, "U", r.U, tt.u, 0, err)
			near(t, "two-sided p", r.PTwoSided, tt.two, 1e-9, nil)
			if tt.greater > 0 {
				near(t, "greater p", r.PGreater, tt.greater, 1e-9, nil)
			}
			if tt.less > 0 {
				near(t, "less p", r.PLess, tt.less, 1e-9, nil)
			}
		})
	}
}

func TestRankSumOfSeparatedSamples(t *testing.T) {
	want := []float64{.3333333, .1, .0285714, .00793651, .002164502, .000582751, .000155400, 4.11353e-5, 1.08251e-5}
	var tables Tables
	for i, p := range want {
		n := i + 2
		x, y := steps(0, n), steps(100, n)
		for _, swapped := range []bool{false, true} {
			if swapped {
				x, y = y, x
			}
			r, err := tables.RankSum(x, y)
			near(t, "p", r.PTwoSided, p, p*5e-6, err)
			near(t, "least p", 2*MinPRankSum(n, n), r.PTwoSided, 0, nil)
		}
	}
}

func TestHodgesLehmannReferences(t *testing.T) {
	var tables Tables
	// Two-sided 95 % intervals; sources state first - second.
	permA := []float64{.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46}
	permB := []float64{1.15, .88, .90, .74, 1.21}
	s, err := tables.Unpaired(permB, permA, .025)
	near(t, "shift", s.Estimate, .305, 1e-9, err)
	near(t, "lower", s.Lower, -.15, 1e-9, nil)
	near(t, "upper", s.Upper, .76, 1e-9, nil)

	m, f := []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}
	s, err = tables.Unpaired(f, m, .025)
	near(t, "shift", s.Estimate, 7, 1e-9, err)
	near(t, "lower", s.Lower, -1, 1e-9, nil)
	near(t, "upper", s.Upper, 17, 1e-9, nil)
	s, err = tables.Unpaired(logs(t, f), logs(t, m), .025)
	near(t, "ratio", math.Exp(s.Estimate), 1.452271, 5e-7, err)

	same := slices.Repeat([]float64{5}, 4)
	s, err = tables.Unpaired(same, same, .025)
	if want := (Shift{K: 1, OK: true, Method: Exact}); err != nil || s != want {
		t.Errorf("equal values: %+v, %v; want %+v", s, err, want)
	}
}

func TestWelchReferences(t *testing.T) {
	m, f := []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}
	w, err := Welch(f, m)
	near(t, "t", w.T, 2.283148256, 5e-10, err)
	near(t, "df", w.DF, 6.928837, 5e-7, nil)
	near(t, "p", w.PTwoSided, .0567509, 5e-8, nil)
	lower, upper, err := w.Bounds(.025)
	near(t, "lower", lower, -.2649222, 5e-8, err)
	near(t, "upper", upper, 14.2649222, 5e-8, nil)

	w, err = WelchLog(f, m)
	near(t, "ratio", math.Exp(w.Difference), 1.481044, 5e-7, err)
	near(t, "df", w.DF, 5.724225, 5e-7, nil)
	lower, upper, err = w.Bounds(.025)
	near(t, "lower", math.Exp(lower), .962501, 5e-7, err)
	near(t, "upper", math.Exp(upper), 2.278949, 5e-7, nil)

	// V28: n-1 in the divisor; the population's would give .10040.
	x := []float64{10, 10.5, 9.5, 10.2, 9.8}
	y := []float64{10.4, 10.9, 9.9, 10.6, 10.2}
	w, err = Welch(x, y)
	near(t, "p", w.PTwoSided, .13531, 5e-6, err)
}

func TestWelchWithoutSpread(t *testing.T) {
	five, six := slices.Repeat([]float64{5}, 4), slices.Repeat([]float64{6}, 4)
	tests := []struct {
		name               string
		x, y               []float64
		less, greater, two float64
	}{
		{"larger", five, six, 1, 0, 0},
		{"smaller", six, five, 0, 1, 0},
		{"equal", five, five, 1, 1, 1},
	}
	for _, tt := range tests {
		w, err := Welch(tt.x, tt.y)
		if err != nil || !w.NoSpread || w.PLess != tt.less || w.PGreater != tt.greater || w.PTwoSided != tt.two {
			t.Errorf("%s: %+v, %v", tt.name, w, err)
		}
		lower, upper, err := w.Bounds(.05)
		if err != nil || lower != w.Difference || upper != w.Difference {
			t.Errorf("%s: bounds %v, %v, %v; want the difference %v", tt.name, lower, upper, err, w.Difference)
		}
	}
}

func TestPairedReferences(t *testing.T) {
	x := []float64{1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	y := []float64{.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	var tables Tables
	r, err := tables.SignedRank(minus(x, y))
	near(t, "V", r.V, 40, 0, err)
	near(t, "two-sided p", r.PTwoSided, .0390625, 1e-12, nil)
	near(t, "greater p", r.PGreater, .01953125, 1e-12, nil)
	s, err := tables.Paired(minus(x, y), .025)
	near(t, "pseudo-median", s.Estimate, .46, 1e-9, err)
	near(t, "lower", s.Lower, .010, 1e-9, nil)
	near(t, "upper", s.Upper, .786, 1e-9, nil)

	a := []float64{.7, -1.6, -.2, -1.2, -.1, 3.4, 3.7, .8, 0, 2}
	b := []float64{1.9, .8, 1.1, .1, -.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	p, err := PairedT(minus(a, b))
	near(t, "t", p.T, -4.06212768, 5e-9, err)
	near(t, "df", p.DF, 9, 0, nil)
	near(t, "p", p.PTwoSided, .00283289, 5e-9, nil)
	lower, upper, err := p.Bounds(.025)
	near(t, "lower", lower, -2.4598858, 5e-8, err)
	near(t, "upper", upper, -.7001142, 5e-8, nil)
}

func TestSignedRankOfOneSign(t *testing.T) {
	var tables Tables
	for n := 1; n <= 60; n++ {
		r, err := tables.SignedRank(steps(1, n))
		near(t, "greater p", r.PGreater, math.Ldexp(1, -n), 0, err)
		near(t, "two-sided p", r.PTwoSided, math.Ldexp(1, 1-n), 0, nil)
		near(t, "less p", r.PLess, 1, 0, nil)
	}
}

func TestQuantileTypes(t *testing.T) {
	x := []float64{50, 1, 3, 2, 20, 4, 10}
	ps := []float64{.25, .5, .9, .95, .99}
	want := [][]float64{
		{2, 4, 50, 50, 50}, {2, 4, 50, 50, 50}, {2, 4, 20, 50, 50}, {1.75, 3.5, 29, 39.5, 47.9}, {2.25, 4, 44, 50, 50},
		{2, 4, 50, 50, 50}, {2.5, 4, 32, 41, 48.2}, {13.0 / 6, 4, 48, 50, 50}, {2.1875, 4, 47, 50, 50},
	}
	for i, row := range want {
		for j, p := range ps {
			got, err := Quantile(x, p, i+1)
			near(t, "quantile", got, row[j], 1e-9, err)
			one, err := Quantile([]float64{7.25}, p, i+1)
			near(t, "quantile of one value", one, 7.25, 0, err)
			two, err := Quantile([]float64{2, 1}, .95, i+1)
			if err != nil || two < 1 || two > 2 {
				t.Errorf("type %d: p95 of 1 and 2 is %v, %v", i+1, two, err)
			}
		}
	}
	// Even counts tell the first three types apart.
	four := []float64{1, 2, 3, 4}
	for typ, want := range map[int]float64{1: 2, 2: 2.5, 3: 2} {
		got, err := Quantile(four, .5, typ)
		near(t, "median of four", got, want, 0, err)
	}
	if got, err := NearestRank(steps(0, 20), .95); err != nil || got != 18 {
		t.Errorf("nearest rank of p95 of 0..19 = %v, %v; want 18 (agentic_security#329)", got, err)
	}
	for _, typ := range []int{0, 10, -1} {
		if _, err := Quantile(x, .5, typ); err == nil {
			t.Errorf("type %d was taken", typ)
		}
	}
	for _, p := range []float64{-.1, 1.1, math.NaN()} {
		if _, err := Quantile(x, p, 7); err == nil {
			t.Errorf("p = %v was taken", p)
		}
	}
}

func TestNearestRankOfWholeRanks(t *testing.T) {
	// .07*100 is 7.000000000000001 in floating point, and still rank 7.
	x := steps(1, 100)
	for rank := 1; rank <= 100; rank++ {
		if got, err := NearestRank(x, float64(rank)/100); err != nil || got != float64(rank) {
			t.Errorf("p%d of 1..100 = %v, %v", rank, got, err)
		}
	}
}

func TestPercentileNeedsItsTail(t *testing.T) {
	for p, want := range map[float64]int{.5: 1, .75: 4, .9: 10, .95: 20, .99: 100, .999: 1000, .05: 20} {
		if got, err := MinCount(p); err != nil || got != want {
			t.Errorf("MinCount(%v) = %d, %v; want %d", p, got, err, want)
		}
		if want > 1 {
			if _, err := Percentile(steps(0, want-1), p); !errors.Is(err, ErrInsufficient) {
				t.Errorf("p%v of %d values: %v, want insufficient", 100*p, want-1, err)
			}
		}
		got, err := Percentile(steps(0, want), p)
		if full, _ := Quantile(steps(0, want), p, 7); err != nil || got != full {
			t.Errorf("p%v of %d values = %v, %v; want %v", 100*p, want, got, err, full)
		}
	}
	for _, p := range []float64{0, 1, math.NaN(), 1 - 1e-12} {
		if n, err := MinCount(p); err == nil {
			t.Errorf("MinCount(%v) = %d", p, n)
		}
	}
	for p, want := range map[float64]int{.95: 59, .99: 299} {
		if got, err := MinForUpperBound(p, .95); err != nil || got != want {
			t.Errorf("MinForUpperBound(%v) = %d, %v; want %d", p, got, err, want)
		}
	}
	if _, err := MinForUpperBound(1, .95); err == nil {
		t.Error("an upper bound of the largest value was taken")
	}
}

func TestMedianInterval(t *testing.T) {
	tests := []struct {
		n, lo, hi int
		achieved  float64
	}{{6, 1, 6, .9688}, {8, 1, 7, .9609}, {10, 2, 9, .9785}, {20, 6, 15, .9586}}
	for _, tt := range tests {
		lo, hi, achieved, ok := MedianInterval(tt.n, .95)
		if !ok || lo != tt.lo || hi != tt.hi {
			t.Errorf("n=%d: ranks %d, %d, %v; want %d, %d", tt.n, lo, hi, ok, tt.lo, tt.hi)
		}
		near(t, "achieved", achieved, tt.achieved, 5.1e-5, nil)
	}
	for n := -1; n <= 5; n++ {
		if lo, hi, _, ok := MedianInterval(n, .95); ok {
			t.Errorf("n=%d: ranks %d, %d, want none", n, lo, hi)
		}
	}
	for n := 6; n <= 200; n++ {
		lo, hi, achieved, ok := MedianInterval(n, .95)
		if !ok || achieved < .95 || lo < 1 || hi > n || lo+hi > n+1 || lo+hi < n {
			t.Errorf("n=%d: ranks %d, %d achieve %v, %v", n, lo, hi, achieved, ok)
		}
	}
}

func TestFamilies(t *testing.T) {
	five := []float64{.01, .02, .03, .04, .05}
	got, err := Holm(five)
	nearAll(t, "Holm", got, []float64{.05, .08, .09, .09, .09}, 1e-9, err)
	got, err = BenjaminiHochberg(five)
	nearAll(t, "BH", got, []float64{.05, .05, .05, .05, .05}, 1e-9, err)
	got, err = BenjaminiYekutieli(five)
	nearAll(t, "BY", got, slices.Repeat([]float64{.1141667}, 5), 5e-8, err)

	list := []float64{.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459, .3240, .4262, .5719, .6528, .7590, 1}
	bh, err := BenjaminiHochberg(list)
	nearAll(t, "BH 1995", bh, []float64{.0015, .003, .0095, .035625, .0603, .063857, .063857, .0645, .0765, .486,
		.58118, .714875, .753231, .813214, 1}, 5.1e-6, err)
	holm, err := Holm(list)
	nearAll(t, "Holm 1995", holm, []float64{.0015, .0056, .0247, .1140, .2211, .2780, .2780, .2780, .3213, 1, 1, 1, 1, 1, 1}, 5.1e-5, err)
	rejected := func(p []float64) (n int) {
		for _, v := range p {
			if Reaches(v, .05) {
				n++
			}
		}
		return n
	}
	if rejected(bh) != 4 || rejected(holm) != 3 {
		t.Errorf("rejected %d by BH and %d by Holm, want 4 and 3", rejected(bh), rejected(holm))
	}
	for name, f := range map[string]func([]float64) ([]float64, error){"Holm": Holm, "BH": BenjaminiHochberg, "BY": BenjaminiYekutieli} {
		for _, bad := range []float64{math.NaN(), -.1, 1.1, math.Inf(1)} {
			if got, err := f([]float64{.1, bad}); err == nil {
				t.Errorf("%s took %v: %v", name, bad, got)
			}
		}
		if got, err := f(nil); err != nil || len(got) != 0 {
			t.Errorf("%s of nothing: %v, %v", name, got, err)
		}
	}
}

func TestLocationReferences(t *testing.T) {
	g, err := GeoMean([]float64{.98, 1.05, 1.02, .91})
	near(t, "geometric mean", g, .98858549663110384, 1e-15, err)
	for _, bad := range [][]float64{{1, 0, -2}, {0, -1, 3}} {
		if _, err := GeoMean(bad); !errors.Is(err, ErrNotPositive) || !strings.Contains(err.Error(), "2 of 3") {
			t.Errorf("geometric mean of %v: %v; want it refused with the count 2", bad, err)
		}
	}
	raw, scaled, err := MAD([]float64{1, 2, 3, 4, 100})
	near(t, "MAD", raw, 1, 0, err)
	near(t, "scaled MAD", scaled, 1.4826, 5e-6, nil)
	raw, scaled, err = MAD([]float64{5, 5, 5, 5, 9}) // V5
	if raw != 0 || scaled != 0 || err != nil {
		t.Errorf("MAD without spread: %v, %v, %v", raw, scaled, err)
	}
	if s, err := StdDev([]float64{1.2}); !errors.Is(err, ErrInsufficient) { // C36
		t.Errorf("spread of one value: %v, %v", s, err)
	}
	if s, err := StdDev(slices.Repeat([]float64{.1}, 7)); s != 0 || err != nil {
		t.Errorf("spread of equal values: %v, %v", s, err)
	}
	for _, tt := range []struct {
		x, y []float64
		want bool
	}{
		{steps(0, 9), steps(50, 9), false},
		{steps(0, 9), []float64{0, 3, 6, 9, 12, 15, 18, 21, 24}, true},
		{slices.Repeat([]float64{1}, 5), steps(0, 5), true},
		{slices.Repeat([]float64{1}, 5), slices.Repeat([]float64{2}, 5), false},
	} {
		if got, err := UnequalSpread(tt.x, tt.y); err != nil || got != tt.want {
			t.Errorf("unequal spread of %v and %v: %v, %v", tt.x, tt.y, got, err)
		}
	}
}

// steps are n values from first, one apart.
func steps(first float64, n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = first + float64(i)
	}
	return s
}

func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}
