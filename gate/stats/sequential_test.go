package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// sequence is one made experiment: an arm of runs against another, judged at
// planned looks.
type sequence struct {
	design Design
	looks  []int
	cv     float64 // of a run, on the log scale
	block  float64 // what both runs of a block share
	truth  float64 // log of the true ratio
	budget float64 // fraction
	alpha  float64 // shared by the looks, one-sided
	futile bool    // stop where going on is futile
}

// outcome counts what rounds of a sequence came to.
type outcome struct {
	pass, fail, futile float64 // shares
	meanN              float64
}

func (s sequence) run(t *testing.T, tables *Tables, rng *rand.Rand, rounds int) outcome {
	t.Helper()
	var o outcome
	for range rounds {
		decision, n, futile := s.once(t, tables, rng)
		o.pass += count(decision == Passed)
		o.fail += count(decision == Failed)
		o.futile += count(futile)
		o.meanN += float64(n)
	}
	r := float64(rounds)
	return outcome{o.pass / r, o.fail / r, o.futile / r, o.meanN / r}
}

// once judges look by look as gate does: a family of one.
func (s sequence) once(t *testing.T, tables *Tables, rng *rand.Rand) (d Decision, n int, futile bool) {
	t.Helper()
	var x, y []float64
	last := s.looks[len(s.looks)-1]
	limit, level := math.Log1p(s.budget), LookLevel(s.alpha, len(s.looks))
	for _, n := range s.looks {
		for len(x) < n {
			shared := s.block * rng.NormFloat64()
			x = append(x, shared+s.cv*rng.NormFloat64())
			y = append(y, shared+s.truth+s.cv*rng.NormFloat64())
		}
		test, outlook := s.test(t, tables, x, y, limit)
		results, err := JudgeLook([]LookTest{test}, 1, level)
		if err != nil {
			t.Fatal(err)
		}
		if d := results[0].Decision; d != Undecided {
			return d, n, false
		}
		outlook.Now, outlook.Last, outlook.FailLevel, outlook.PassLevel = n, last, level, level
		if s.futile && n < last && tables.Futile(outlook) {
			return Undecided, n, true
		}
	}
	return Undecided, last, false
}

func (s sequence) test(t *testing.T, tables *Tables, x, y []float64, limit float64) (LookTest, Outlook) {
	t.Helper()
	beyond := make([]float64, len(x))
	if s.design == PairedDesign() {
		for i := range x {
			beyond[i] = y[i] - x[i] - limit
		}
		r, err := tables.SignedRank(beyond)
		if err != nil {
			t.Fatal(err)
		}
		shift, _ := tables.Paired(beyond, .5)
		sd, _ := StdDev(beyond)
		return LookTest{PFail: r.PGreater, PPass: r.PLess}, Outlook{Design: s.design, Excess: shift.Estimate, SD: sd}
	}
	for i := range x {
		beyond[i] = x[i] + limit
	}
	r, err := tables.RankSum(y, beyond)
	if err != nil {
		t.Fatal(err)
	}
	shift, _ := tables.Unpaired(beyond, y, .5)
	sd, _, _ := PooledSpread([][]float64{x, y})
	return LookTest{PFail: r.PGreater, PPass: r.PLess}, Outlook{Design: s.design, Excess: shift.Estimate, SD: sd}
}

// The operating figures of the planned looks: budget 5 %, .05 one-sided shared by
// three looks, a true change of 0, of +10 % and of exactly the budget; a run's
// spread cv and, in blocks, what both runs of a block share.
func TestOperatingFiguresOfLooks(t *testing.T) {
	unpaired, paired := UnpairedDesign(), PairedDesign()
	tests := []struct {
		design                   Design
		cv, block                float64
		pass, nPass, fail, nFail float64
		wrongFail, wrongPass     float64
	}{
		{unpaired, .01, 0, 1, 5, 1, 5, .039, .036},
		{unpaired, .03, 0, .998, 8.9, .996, 9.1, .037, .037},
		{unpaired, .06, 0, .67, 15.8, .61, 16.3, .044, .041},
		{paired, .01, .05, 1, 6, 1, 6, .033, .041},
		{paired, .03, .05, .997, 9.9, .995, 10.7, .033, .033},
		{paired, .06, .05, .63, 16.7, .60, 16.8, .035, .041},
		{unpaired, .01, .05, .97, 15.2, .94, 15.9, 0, 0},
		{unpaired, .03, .05, .75, 16.5, .71, 16.9, .003, .001},
	}
	rounds := 3000
	if testing.Short() {
		rounds = 1000
	}
	rng := rand.New(rand.NewPCG(131, 132))
	var tables Tables
	for _, tt := range tests {
		s := sequence{design: tt.design, looks: []int{5, 10, 20}, cv: tt.cv, block: tt.block, budget: .05, alpha: .05}
		if tt.design == paired {
			s.looks = []int{6, 10, 20}
		}
		same := s.run(t, &tables, rng, rounds)
		s.truth = math.Log(1.1)
		slower := s.run(t, &tables, rng, rounds)
		s.truth = math.Log(1.05)
		atBudget := s.run(t, &tables, rng, rounds)
		near(t, "passed with no change", same.pass, tt.pass, .03, nil)
		near(t, "failed at +10 %", slower.fail, tt.fail, .03, nil)
		near(t, "repeats to pass", same.meanN, tt.nPass, .5, nil)
		near(t, "repeats to fail", slower.meanN, tt.nFail, .5, nil)
		near(t, "failed at the budget", atBudget.fail, tt.wrongFail, .012, nil)
		near(t, "passed at the budget", atBudget.pass, tt.wrongPass, .012, nil)
		if same.fail > .002 {
			t.Errorf("%+v: %v of unchanged cases failed", s, same.fail)
		}
	}
}

// Stopping where going on is futile costs little and saves what would have been
// run for nothing: at the budget 16.3 repeats instead of 19.3 (unpaired, spread
// 3 %), and with a spread of 6 % one or two decisions in a hundred.
func TestFutilityCostsLittle(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 1000
	}
	var tables Tables
	for _, cv := range []float64{.03, .06} {
		for _, d := range []Design{UnpairedDesign(), PairedDesign()} {
			s := sequence{design: d, looks: []int{6, 10, 20}, cv: cv, budget: .05, alpha: .05}
			both := func(truth float64) (without, with outcome) {
				s.truth, s.futile = truth, false
				without = s.run(t, &tables, rand.New(rand.NewPCG(141, 142)), rounds)
				s.futile = true
				return without, s.run(t, &tables, rand.New(rand.NewPCG(141, 142)), rounds)
			}
			without, with := both(0)
			if lost := without.pass - with.pass; lost > .025 {
				t.Errorf("spread %v: futility loses %v of the passes", cv, lost)
			}
			without, with = both(math.Log(1.1))
			if lost := without.fail - with.fail; lost > .025 {
				t.Errorf("spread %v: futility loses %v of the fails", cv, lost)
			}
			without, with = both(math.Log(1.05))
			if saved := without.meanN - with.meanN; saved < 2.5 || with.fail > .05+.012 {
				t.Errorf("spread %v: at the budget futility saves %v repeats, fails %v", cv, saved, with.fail)
			}
		}
	}
}

// 60 unchanged metrics at their budget's edge turn fewer than one commit in
// twenty red over three looks; without the family all commits would be.
func TestFamilyOverLooks(t *testing.T) {
	const family, alpha = 60, .05
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	looks := []int{5, 10, 20}
	level := LookLevel(alpha, len(looks))
	rng := rand.New(rand.NewPCG(151, 152))
	var tables Tables
	red, naive := 0.0, 0.0
	for range rounds {
		tests := make([]LookTest, family)
		x, y := make([][]float64, family), make([][]float64, family)
		for i := range x {
			x[i], y[i] = gaussian(rng, 20, 0, .03), gaussian(rng, 20, 0, .03)
		}
		anyNaive := false
		for _, n := range looks {
			for i := range tests {
				if tests[i].Decision != Undecided {
					continue // stopped: its p values stay
				}
				r, err := tables.RankSum(y[i][:n], x[i][:n])
				if err != nil {
					t.Fatal(err)
				}
				tests[i].PFail, tests[i].PPass = r.PGreater, r.PLess
				anyNaive = anyNaive || r.PGreater <= alpha
			}
			results, err := JudgeLook(tests, family, level)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range results {
				tests[i].Decision = r.Decision
			}
		}
		failed := false
		for i := range tests {
			failed = failed || tests[i].Decision == Failed
		}
		red += count(failed)
		naive += count(anyNaive)
	}
	if share := red / float64(rounds); share > .06 {
		t.Errorf("%v of unchanged commits are red, want at most .05", share)
	}
	if share := naive / float64(rounds); share < .9 {
		t.Errorf("without the family %v are red: the test shows nothing", share)
	}
}

// The runner's own simulator against published figures: looking after every run
// from 5 to 30 at a nominal two-sided .05 gives 21 % false alarms, four planned
// looks at .0125 give 3.5 %.
func TestLookingTooOften(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 800
	}
	rng := rand.New(rand.NewPCG(161, 162))
	var tables Tables
	alarm := func(x, y []float64, level float64) bool {
		r, err := tables.RankSum(x, y)
		if err != nil {
			t.Fatal(err)
		}
		return Reaches(r.PTwoSided, level)
	}
	often, planned := 0.0, 0.0
	for range rounds {
		x, y := gaussian(rng, 30, 0, 1), gaussian(rng, 30, 0, 1)
		seen := false
		for n := 5; n <= 30 && !seen; n++ {
			seen = alarm(x[:n], y[:n], .05)
		}
		often += count(seen)
		seen = false
		for _, n := range []int{5, 10, 20, 30} {
			seen = seen || alarm(x[:n], y[:n], LookLevel(.05, 4))
		}
		planned += count(seen)
	}
	near(t, "looking after every run", often/float64(rounds), .21, .03, nil)
	near(t, "four planned looks", planned/float64(rounds), .035, .012, nil)
}

// The order of runs against a drift of three standard deviations over the
// session, ten runs a side, no true difference, two-sided .05.
func TestDriftAndOrder(t *testing.T) {
	rounds := 4000
	if testing.Short() {
		rounds = 1500
	}
	const n, drift = 10, 3.0
	orders := []struct {
		name             string
		second           func(rng *rand.Rand, block int) (isSecond bool) // whether y goes first in its block
		unpaired, paired float64
	}{
		{"ABAB", func(*rand.Rand, int) bool { return false }, .011, .064},
		{"ABBA", func(_ *rand.Rand, block int) bool { return block%2 == 1 }, .006, .037},
		{"random", func(rng *rand.Rand, _ int) bool { return rng.IntN(2) == 1 }, .006, .047},
	}
	rng := rand.New(rand.NewPCG(171, 172))
	var tables Tables
	at := func(place int) float64 { return drift*float64(place)/(2*n-1) + rng.NormFloat64() }
	twoSided := func(x, y []float64) (unpaired, paired float64) {
		r, err := tables.RankSum(x, y)
		if err != nil {
			t.Fatal(err)
		}
		p, err := tables.SignedRank(minus(y, x))
		if err != nil {
			t.Fatal(err)
		}
		return count(Reaches(r.PTwoSided, .05)), count(Reaches(p.PTwoSided, .05))
	}
	blocks := 0.0
	for range rounds {
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i] = at(i), at(n+i)
		}
		u, _ := twoSided(x, y)
		blocks += u
	}
	near(t, "AAAA..BBBB", blocks/float64(rounds), .84, .03, nil)
	for _, o := range orders {
		unpaired, paired := 0.0, 0.0
		for range rounds {
			x, y := make([]float64, n), make([]float64, n)
			for i := range n {
				first, second := at(2*i), at(2*i+1)
				x[i], y[i] = first, second
				if o.second(rng, i) {
					x[i], y[i] = second, first
				}
			}
			u, p := twoSided(x, y)
			unpaired += u
			paired += p
		}
		near(t, o.name+" as two samples", unpaired/float64(rounds), o.unpaired, .012, nil)
		near(t, o.name+" in blocks", paired/float64(rounds), o.paired, .015, nil)
	}
}

// The operating figures of a fixed number of runs where one run in ten scatters
// five times as wide as the others: ranks lose little to it.
func TestOperatingFiguresWithOutliers(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 1000
	}
	rng := rand.New(rand.NewPCG(175, 176))
	arm := func(n int, truth float64) []float64 {
		x := gaussian(rng, n, 0, .03)
		for i := range x {
			if rng.IntN(10) == 0 {
				x[i] *= 5
			}
			x[i] += truth
		}
		return x
	}
	delta := math.Log(1.05)
	var tables Tables
	for _, tt := range []struct {
		n          int
		pass, fail float64
	}{{5, .56, .53}, {10, .85, .82}, {20, .99, .98}} {
		var pass, wrong, fail float64
		for range rounds {
			x := arm(tt.n, 0)
			same, _ := tables.Unpaired(x, arm(tt.n, 0), .05)
			slower, _ := tables.Unpaired(x, arm(tt.n, math.Log(1.1)), .05)
			pass += count(same.Upper < delta)
			wrong += count(same.Lower > delta)
			fail += count(slower.Lower > delta)
		}
		r := float64(rounds)
		near(t, "share passed", pass/r, tt.pass, .03, nil)
		near(t, "share failed", fail/r, tt.fail, .03, nil)
		if wrong/r > .013 {
			t.Errorf("n=%d: %v of unchanged cases failed", tt.n, wrong/r)
		}
	}
}
