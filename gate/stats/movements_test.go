package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// madeSeries is 200 sessions with a noise of sd and what is added to it.
type madeSeries struct {
	name   string
	sd     float64
	at     func(i float64) float64
	steps  []int
	creeps int     // 0 or 1
	change float64 // of the creep
	share  float64 // of series in which all is named and nothing else
}

func stepAt(i, at, size float64) float64 {
	if i >= at {
		return size
	}
	return 0
}

// Measured over 100 series each with 199 permutations, in this order: of noise
// alone one or two show anything; 99, 99, 99, 98, 100, 99, 95, 94, 98, 81 and 98
// of the others are named right.
func TestMovementsOfMadeSeries(t *testing.T) {
	tail := func(i float64) float64 { return .08 * max(0, i-120) / 80 }
	series := []madeSeries{
		{"noise", .02, func(float64) float64 { return 0 }, nil, 0, 0, .93},
		{"two steps", .01, func(i float64) float64 { return stepAt(i, 60, .06) + stepAt(i, 130, .06) }, []int{60, 130}, 0, 0, .93},
		{"two small steps", .01, func(i float64) float64 { return stepAt(i, 60, .02) + stepAt(i, 130, .02) }, []int{60, 130}, 0, 0, .93},
		{"up and down", .01, func(i float64) float64 { return stepAt(i, 60, .06) - stepAt(i, 90, .06) }, []int{60, 90}, 0, 0, .93},
		{"a creep all along", .01, func(i float64) float64 { return .08 * i / 200 }, nil, 1, .08, .9},
		{"a creep at the end", .01, tail, nil, 1, .08, .93},
		{"a creep that ends", .01, func(i float64) float64 { return .08 * min(80, i) / 80 }, nil, 1, .08, .9},
		{"two steps and a creep all along", .01, func(i float64) float64 { return stepAt(i, 60, .06) + stepAt(i, 130, .06) + .08*i/200 }, []int{60, 130}, 1, .08, .84},
		{"two steps and a creep at the end", .01, func(i float64) float64 { return stepAt(i, 40, .06) - stepAt(i, 90, .06) + tail(i) }, []int{40, 90}, 1, .08, .84},
		{"a creep taken back twice", .01, func(i float64) float64 { return .18*i/200 - stepAt(i, 70, .06) - stepAt(i, 140, .06) }, []int{70, 140}, 1, .18, .88},
		{"the same in more noise", .02, func(i float64) float64 { return stepAt(i, 40, .06) - stepAt(i, 90, .06) + tail(i) }, []int{40, 90}, 1, .08, .65},
		{"the same in little noise", .003, func(i float64) float64 { return stepAt(i, 40, .06) - stepAt(i, 90, .06) + tail(i) }, []int{40, 90}, 1, .08, .9},
	}
	rounds := 15
	if testing.Short() {
		rounds = 5
	}
	rule := DefaultChangeRule()
	rule.Permutations = 199 // .01 needs 99; more only sharpen p
	for _, s := range series {
		rng := rand.New(rand.NewPCG(241, 242))
		right := 0
		for range rounds {
			x := gaussian(rng, 200, 0, s.sd)
			for i := range x {
				x[i] += s.at(float64(i))
			}
			m, err := FindMovements(x, rule)
			if err != nil {
				t.Fatal(err)
			}
			if s.named(m) {
				right++
			}
		}
		slack := 1.5 / float64(rounds)
		if share := float64(right) / float64(rounds); share < s.share-slack {
			t.Errorf("%s: named in %v of the series, want %v", s.name, share, s.share)
		}
	}
}

// named reports whether what happened is named, about where it happened, and
// nothing else.
func (s madeSeries) named(m Movements) bool {
	if len(m.Steps) != len(s.steps) || len(m.Creeps) != s.creeps {
		return false
	}
	for i, at := range s.steps {
		if abs(m.Steps[i].At-at) > 3 {
			return false
		}
	}
	return s.creeps == 0 || math.Abs(m.Creeps[0].Change-s.change) < .4*s.change && m.Creeps[0].P < .01
}

// One series as history shows it: two steps and a creep over the last third.
func TestMovements(t *testing.T) {
	x := seriesOf(rand.New(rand.NewPCG(243, 244)), 200)
	m, err := FindMovements(x, DefaultChangeRule())
	if err != nil || len(m.Steps) != 2 || len(m.Creeps) != 1 {
		t.Fatalf("%+v, %v; want two steps and a creep", m, err)
	}
	up, down, creep := m.Steps[0], m.Steps[1], m.Creeps[0]
	if abs(up.At-50) > 2 || math.Abs(up.Step-.06) > .01 || abs(down.At-100) > 2 || math.Abs(down.Step+.04) > .01 {
		t.Errorf("steps %+v; want .06 at 50 and -.04 at 100", m.Steps)
	}
	if abs(creep.From-133) > 15 || creep.To != 200 || math.Abs(creep.Change-.08) > .015 {
		t.Errorf("creep %+v; want .08 from 133 to 200", creep)
	}
	again, err := FindMovements(slices.Clone(x), DefaultChangeRule())
	if err != nil || !slices.Equal(again.Steps, m.Steps) || !slices.Equal(again.Creeps, m.Creeps) {
		t.Errorf("a second time %+v, %v", again, err)
	}
	// Downwards is upwards upside down.
	turned, err := FindMovements(times(x, -1), DefaultChangeRule())
	if err != nil || len(turned.Steps) != 2 || len(turned.Creeps) != 1 || turned.Steps[0].At != up.At || turned.Steps[1].At != down.At ||
		math.Abs(turned.Creeps[0].Change+creep.Change) > 1e-9 {
		t.Errorf("upside down %+v, %v", turned, err)
	}
}

// 2,000 sessions are searched whole; how long that takes is for the benchmark.
func TestMovementsOfALongSeries(t *testing.T) {
	x := seriesOf(rand.New(rand.NewPCG(245, 246)), 2000)
	m, err := FindMovements(x, DefaultChangeRule())
	if err != nil || len(m.Steps) != 2 || len(m.Creeps) != 1 || abs(m.Steps[0].At-500) > 2 || abs(m.Steps[1].At-1000) > 2 || abs(m.Creeps[0].From-1333) > 60 {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestMannKendall(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		x                    []float64
		s                    int
		less, greater, tolSD float64
	}{
		{"rising", steps(0, 5), 10, 1, 1.0 / 120, 1e-14},
		{"falling", times(steps(0, 5), -1), -10, 1.0 / 120, 1, 1e-14},
		// Of 24 orders of four values: 1, 4, 9, 15, 20, 23, 24 have at most 0 to 6
		// falling pairs.
		{"one pair falls", []float64{1, 3, 2, 4}, 4, 23.0 / 24, 4.0 / 24, 1e-14},
		{"equal", slices.Repeat([]float64{7}, 9), 0, 1, 1, 0},
	} {
		r := mannKendall(tt.x)
		if r.s != tt.s {
			t.Errorf("%s: %+v", tt.name, r)
		}
		near(t, tt.name+": less", r.less, tt.less, tt.tolSD, nil)
		near(t, tt.name+": greater", r.greater, tt.greater, tt.tolSD, nil)
	}
}

// S, ties and p by their definition, over all orders of up to seven values.
func TestMannKendallByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(251, 252))
	for range 60 {
		n := 3 + rng.IntN(5)
		x := gaussian(rng, n, 0, 1)
		r := mannKendall(x)
		if r.s != slowS(x) {
			t.Fatalf("%v: S = %d, want %d", x, r.s, slowS(x))
		}
		atMost, atLeast, all := 0, 0, 0
		orders(slices.Clone(x), 0, func(y []float64) {
			all++
			atMost += int(count(slowS(y) <= r.s))
			atLeast += int(count(slowS(y) >= r.s))
		})
		near(t, "less", r.less, float64(atMost)/float64(all), 1e-12, nil)
		near(t, "greater", r.greater, float64(atLeast)/float64(all), 1e-12, nil)
	}
	for range 200 { // ties, and the normal approximation beside the exact test
		x := coarse(rng, 3+rng.IntN(60), 7)
		r := mannKendall(x)
		if r.s != slowS(x) || !(r.twoSided >= 0 && r.twoSided <= 1) {
			t.Fatalf("%v: %+v; want S = %d", x, r, slowS(x))
		}
	}
	exact := inversionTable(exactTrend)
	pairs := exactTrend * (exactTrend - 1) / 2
	sigma := trendSigma(exactTrend, 0)
	for falling := pairs / 4; falling < pairs*3/4; falling += 7 {
		s := float64(pairs - 2*falling)
		near(t, "where the approximation begins", exact[falling], normalCDF(-(s-1)/sigma), 2e-3, nil)
	}
}

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func slowS(x []float64) (s int) {
	for i, v := range x {
		for _, w := range x[i+1:] {
			switch {
			case w > v:
				s++
			case w < v:
				s--
			}
		}
	}
	return s
}

// orders calls f with every order of x.
func orders(x []float64, from int, f func([]float64)) {
	if from == len(x) {
		f(x)
		return
	}
	for i := from; i < len(x); i++ {
		x[from], x[i] = x[i], x[from]
		orders(x, from+1, f)
		x[from], x[i] = x[i], x[from]
	}
}

func TestAgainstAnchor(t *testing.T) {
	var tables Tables
	// 1.00 to 1.01 at the release, 1.05 to 1.07 now.
	anchor, recent := []float64{0, .01, .005}, []float64{.05, .06, .055, .065, .06}
	d, err := tables.AgainstAnchor(anchor, recent, .05)
	if err != nil {
		t.Fatal(err)
	}
	w := .058 - .005
	ss := .00005 + .00013
	half := 1.943180 * math.Sqrt(ss/6*(1.0/3+1.0/5)) // t(6, .95)
	near(t, "drift", d.Shift, w, 1e-12, nil)
	near(t, "lower", d.Lower, w-half, 1e-7, nil)
	near(t, "upper", d.Upper, w+half, 1e-7, nil)
	if one, err := tables.AgainstAnchor(anchor[:1], recent, .05); err != nil || one.Spread.DF != 4 {
		t.Errorf("one anchored session: %+v, %v", one, err)
	}
	if none, err := tables.AgainstAnchor(anchor[:1], recent[:1], .05); err == nil {
		t.Errorf("one against one: %+v", none)
	}
	// Twenty steps of 0.4 %, none of which any gate would see.
	rng := rand.New(rand.NewPCG(265, 266))
	var creeping []float64
	for i := range 20 {
		creeping = append(creeping, .004*float64(i)+.005*rng.NormFloat64())
	}
	if d, err := tables.AgainstAnchor(creeping[:5], creeping[15:], .05); err != nil || d.Lower < .04 {
		t.Errorf("a creep of 8 %%: %+v, %v", d, err)
	}
}
