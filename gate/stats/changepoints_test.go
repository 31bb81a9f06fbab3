package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The series of Otava's tests: levels of 5, 3 and 6 values.
var otava = []float64{.3, 2.4, 1.5, -.9, -.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0}

func TestEnergySplitReferences(t *testing.T) {
	for _, tt := range []struct {
		name    string
		x       []float64
		at, end int
		q       float64
	}{
		{"first split", otava, 5, 14, 761.2821428571},
		{"second, on the rest", otava[5:], 3, 9, 198.2666666667},
		{"two levels", []float64{1, 1, 1, 1, 5, 5, 5, 5}, 4, 8, 16},
	} {
		s := bestEnergySplit(tt.x, 2)
		if s.at != tt.at || s.end != tt.end {
			t.Errorf("%s: %+v; want %d and %d", tt.name, s, tt.at, tt.end)
		}
		near(t, "Q", s.q, tt.q, 1e-9*max(1, tt.q), nil)
		near(t, "Q on the grid", newEnergyTest(tt.x, 2).statistic(), tt.q, 1e-9*max(1, tt.q), nil)
	}
}

// slowQ is Q by its definition.
func slowQ(x, y []float64) float64 {
	between := func(a, b []float64, same bool) float64 {
		sum, n := 0.0, 0.0
		for i, v := range a {
			for j, w := range b {
				if !same || i != j {
					sum += math.Abs(v - w)
					n++
				}
			}
		}
		if n == 0 {
			return 0
		}
		return sum / n
	}
	m, n := float64(len(x)), float64(len(y))
	return m * n / (m + n) * (2*between(x, y, false) - between(x, x, true) - between(y, y, true))
}

func TestEnergyByItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(231, 232))
	for range 200 {
		least := 2 + rng.IntN(3)
		n := 2*least + rng.IntN(22) // every place is on the grid
		x := coarse(rng, n, 9)
		best := math.Inf(-1)
		for at := least; at <= n-least; at++ {
			for end := at + least; end <= n; end++ {
				best = max(best, slowQ(x[:at], x[at:end]))
			}
		}
		s := bestEnergySplit(x, least)
		near(t, "best Q", s.q, best, 1e-9, nil)
		near(t, "Q at its place", s.q, slowQ(x[:s.at], x[s.at:s.end]), 1e-9, nil)
		near(t, "Q of two segments", segmentsQ(x[:s.at], x[s.at:]), slowQ(x[:s.at], x[s.at:]), 1e-9, nil)
		near(t, "Q on the grid", newEnergyTest(x, least).statistic(), best, 1e-9, nil)

		// Q scales with the series and does not see its level.
		moved := times(x, 4)
		for i := range moved {
			moved[i] += 1000
		}
		near(t, "Q of the scaled series", bestEnergySplit(moved, least).q, 4*s.q, 1e-7, nil)
	}
}

// The permutation test keeps its level, and gives small p where levels differ.
func TestEnergyTestKeepsItsLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(233, 234))
	const rounds = 300
	for _, n := range []int{12, 60} {
		rejected, found := 0.0, 0.0
		for i := range rounds {
			x := gaussian(rng, n, 0, 1)
			seed := [2]uint64{uint64(i), 1}
			rejected += count(newEnergyTest(x, 5).p(.05, 199, seed) <= .05)
			for j := n / 2; j < n; j++ {
				x[j] += 2
			}
			found += count(newEnergyTest(x, 5).p(.05, 199, seed) <= .05)
		}
		near(t, "rejected with no change", rejected/rounds, .05, .03, nil)
		if want := map[int]float64{12: .6, 60: .99}[n]; found/rounds < want {
			t.Errorf("n=%d: a step of two deviations is found in %v", n, found/rounds)
		}
	}
}

// The p value of a test that may end early, by all the ways in which what was observed
// (0) and five orders can lie among each other.
func TestTwoStageP(t *testing.T) {
	const orders = 5
	for early := 1; early <= orders; early++ {
		for reached := 0; reached <= orders; reached++ {
			extreme, ways := 0.0, 0.0
			eachOrder([]int{0, 1, 2, 3, 4, 5}, func(height []int) {
				above, first := 0, true
				for i := 1; i <= orders; i++ {
					if height[i] > height[0] {
						above++
						first = first && i > early
					}
				}
				ways++
				extreme += count(first || above <= reached)
			})
			near(t, "p", twoStageP(reached, early, orders), extreme/ways, 1e-12, nil)
		}
	}
	// 999 orders at .01: 199 that do not reach it are enough, else at most 8 may.
	early := earlyOrders(999, .01)
	if within, beyond := twoStageP(8, early, 999), twoStageP(9, early, 999); early != 199 || within > .01 || beyond <= .01 {
		t.Errorf("ends after %d orders; p of 8 is %v, of 9 %v", early, within, beyond)
	}
	if early := earlyOrders(99, .01); early != 99 { // 19 could not reach the level
		t.Errorf("99 orders end after %d", early)
	}
}

// Five values and five have 252 ways, of which two are as far apart: no draw decides.
func TestEnergyTestOfTwoLeastParts(t *testing.T) {
	x := []float64{1.1, 1, 1.3, 1.2, 1.4, 2.4, 2.1, 2.2, 2.5, 2.3}
	for seed := range uint64(20) {
		near(t, "p of two levels", newEnergyTest(x, 5).p(.01, 999, [2]uint64{seed}), 2./252, 1e-12, nil)
	}
	want := 0.0
	for mask := range uint(1) << len(x) {
		if a, b := divided(x, mask); len(a) == 5 {
			want += count(slowQ(a, b) >= slowQ([]float64{1.1, 1, 1.3, 1.2, 2.4}, []float64{1.4, 2.1, 2.2, 2.5, 2.3})-1e-9) / 252
		}
	}
	y := slices.Clone(x)
	y[4], y[5] = y[5], y[4]
	near(t, "p of a mixed order", newEnergyTest(y, 5).p(.01, 999, [2]uint64{1}), want, 1e-12, nil)
}

// eachOrder calls f with every order of x.
func eachOrder(x []int, f func([]int)) {
	var place func(int)
	place = func(k int) {
		if k == len(x) {
			f(x)
			return
		}
		for i := k; i < len(x); i++ {
			x[k], x[i] = x[i], x[k]
			place(k + 1)
			x[k], x[i] = x[i], x[k]
		}
	}
	place(0)
}

func changesAt(t *testing.T, x []float64, rule ChangeRule) []int {
	t.Helper()
	c, err := ChangePoints(x, rule)
	if err != nil {
		t.Fatal(err)
	}
	at := []int{}
	for _, p := range c {
		at = append(at, p.At)
	}
	return at
}

func TestChangePointReferences(t *testing.T) {
	// Segments of three are short of five, and of what .01 can tell: of 84 ways to
	// choose three of nine two are as extreme.
	rule := DefaultChangeRule()
	rule.Level, rule.LeastSegment = .05, 3
	c, err := ChangePoints(otava, rule)
	if err != nil || len(c) != 2 || c[0].At != 5 || c[1].At != 8 {
		t.Fatalf("%+v, %v; want changes at 5 and 8", c, err)
	}
	near(t, "first step", c[0].Step, 98.8, 1e-9, nil)
	near(t, "second step", c[1].Step, 149.3-99.1, 1e-9, nil)
	near(t, "Q of the second", c[1].Q, 198.2666666667, 1e-9, nil)
	for _, p := range c {
		if p.P > .05 {
			t.Errorf("%+v is above its level", p)
		}
	}
	if at := changesAt(t, []float64{1, 1, 1, 1, 5, 5, 5, 5}, rule); !slices.Equal(at, []int{4}) {
		t.Errorf("two levels of four: changes at %v", at)
	}
}

func TestNoChangePoints(t *testing.T) {
	rule := DefaultChangeRule()
	spike := slices.Repeat([]float64{3}, 60)
	spike[30] = 9
	rng := rand.New(rand.NewPCG(235, 236))
	noisySpike := gaussian(rng, 60, 0, .01)
	noisySpike[40] = 1
	for name, x := range map[string][]float64{
		"constant": slices.Repeat([]float64{3}, 60), "one isolated spike": spike, "a spike in noise": noisySpike,
		"one value": {1}, "shorter than two segments": {1, 1, 1, 1, 2, 2, 2, 2, 2},
	} {
		if at := changesAt(t, x, rule); len(at) > 0 {
			t.Errorf("%s: changes at %v", name, at)
		}
		m, err := FindMovements(x, rule)
		if err != nil || len(m.Steps)+len(m.Creeps) > 0 {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestChangePointsOfASeries(t *testing.T) {
	rng := rand.New(rand.NewPCG(239, 240))
	x := gaussian(rng, 200, 0, .002)
	for i := range x {
		if i >= 60 && i < 90 {
			x[i] += .08
		}
		if i >= 150 {
			x[i] += .006 // below the floor, and plain to see otherwise
		}
	}
	rule := DefaultChangeRule()
	want := []int{60, 90}
	if at := changesAt(t, x, rule); !slices.Equal(at, want) {
		t.Errorf("changes at %v, want %v", at, want)
	}
	rule.Floor = 0
	if at := changesAt(t, x, rule); len(at) != 3 {
		t.Errorf("without a floor changes at %v, want three", at)
	}
	rule.Floor = .2
	if at := changesAt(t, x, rule); len(at) != 0 {
		t.Errorf("below a floor of .2: changes at %v", at)
	}
	// The same question has the same answer; level and unit do not matter.
	rule = DefaultChangeRule()
	a, _ := ChangePoints(x, rule)
	b, _ := ChangePoints(slices.Clone(x), rule)
	if !slices.Equal(a, b) {
		t.Errorf("%+v, and then %+v", a, b)
	}
	moved := times(x, 8)
	for i := range moved {
		moved[i] += 16
	}
	rule.Floor *= 8
	if at := changesAt(t, moved, rule); !slices.Equal(at, want) {
		t.Errorf("in another unit: changes at %v, want %v", at, want)
	}
	// Backwards, changes are at the mirrored places.
	back := slices.Clone(x)
	slices.Reverse(back)
	if at := changesAt(t, back, DefaultChangeRule()); !slices.Equal(at, []int{110, 140}) {
		t.Errorf("backwards: changes at %v", at)
	}
}

func TestChangeRulesThatAreNone(t *testing.T) {
	x := steps(0, 30)
	for name, bad := range map[string]func(*ChangeRule){
		"no level": func(r *ChangeRule) { r.Level = 0 }, "NaN level": func(r *ChangeRule) { r.Level = math.NaN() },
		"segments of one": func(r *ChangeRule) { r.LeastSegment = 1 }, "too few permutations": func(r *ChangeRule) { r.Permutations = 98 },
		"none": func(r *ChangeRule) { r.Permutations = -1 }, "floor": func(r *ChangeRule) { r.Floor = math.NaN() },
		"negative floor": func(r *ChangeRule) { r.Floor = -1 },
	} {
		rule := DefaultChangeRule()
		bad(&rule)
		if c, err := ChangePoints(x, rule); err == nil {
			t.Errorf("%s: %v", name, c)
		}
		if m, err := FindMovements(x, rule); err == nil {
			t.Errorf("%s: %v", name, m)
		}
	}
	for _, tt := range []struct {
		x    []float64
		want error
	}{{nil, ErrEmpty}, {[]float64{1, math.NaN()}, ErrNotFinite}, {[]float64{math.MaxFloat64, -math.MaxFloat64}, ErrNotFinite}} {
		if c, err := ChangePoints(tt.x, DefaultChangeRule()); !errors.Is(err, tt.want) {
			t.Errorf("%v: %v, %v", tt.x, c, err)
		}
	}
}

// Whatever the series: no panic, changes in order, segments long enough, steps
// above the floor, nothing said twice.
func FuzzMovements(f *testing.F) {
	f.Add([]byte{1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, uint8(2), uint8(1))
	f.Add([]byte("\x01\x01\x017\x01\t\t\t\t\t\x01\x02\x03\x04\x05\x06\a\b\t\n\v\t"), uint8(2), uint8(1))
	f.Add([]byte{0, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0}, uint8(3), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, least, floor uint8) {
		if len(data) == 0 || len(data) > 80 {
			t.Skip()
		}
		x := make([]float64, len(data))
		for i, b := range data {
			x[i] = float64(b) / 16
		}
		before := slices.Clone(x)
		rule := ChangeRule{Level: .05, LeastSegment: 2 + int(least%6), Floor: float64(floor) / 32, Permutations: 39}
		m, err := FindMovements(x, rule)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for _, s := range m.Steps {
			if s.At < last+rule.LeastSegment || s.At > len(x)-rule.LeastSegment || math.Abs(s.Step) < rule.Floor || !(s.P > 0 && s.P <= rule.Level) || !finite(s.Q) {
				t.Fatalf("steps %+v", m.Steps)
			}
			last = s.At
		}
		last = 0
		for _, c := range m.Creeps {
			if c.From < last || c.To <= c.From || c.To > len(x) || !finite(c.Change) || !(c.P >= 0 && c.P <= 1) {
				t.Fatalf("creeps %+v", m.Creeps)
			}
			last = c.To
		}
		if !slices.Equal(x, before) {
			t.Fatal("the series was changed")
		}
	})
}
