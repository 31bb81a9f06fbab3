package stats

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestDefaultLooks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		design Design
		alpha  float64
		family int
		want   []int
	}{
		{"paired", PairedDesign(), .05, 1, []int{6, 10, 20}},
		{"paired, the largest usual family", PairedDesign(), .05, 17476, []int{6, 10, 20}},
		{"paired, one test more", PairedDesign(), .05, 17477, []int{6, 10, 21}},
		{"paired, a million tests", PairedDesign(), .05, 1e6, []int{6, 13, 26}},
		{"unpaired", UnpairedDesign(), .05, 1, []int{5, 10, 20}},
		{"unpaired, a million tests", UnpairedDesign(), .05, 1e6, []int{5, 10, 20}},
		{"unpaired, 1 %: five a side give .00397", UnpairedDesign(), .01, 9, []int{6, 10, 20}},
		{"no family", PairedDesign(), .05, 0, []int{6, 10, 20}},
		{"against fifty stored", StoredDesign(50), .05, 214, []int{5, 10, 20}},
		{"against one stored", StoredDesign(1), .05, 1, []int{59, 118}},
		{"against none", StoredDesign(0), .05, 1, nil},
		{"sessions", SessionsDesign(), .05, 214, []int{5, 10, 20}},
		{"no error to share", PairedDesign(), 0, 1, nil},
		{"NaN", PairedDesign(), math.NaN(), 1, nil},
	} {
		if got := DefaultLooks(tt.design, tt.alpha, tt.family); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLooksTo(t *testing.T) {
	for _, tt := range []struct {
		family, least int
		want          []int
	}{
		{1, 0, []int{6, 10, 20}}, {1, 10, []int{6, 10, 20}}, {1, 21, []int{6, 10, 21}}, {1, 40, []int{6, 20, 40}}, {1e6, 10, []int{6, 13, 26}},
	} {
		if got := LooksTo(PairedDesign(), .05, tt.family, tt.least); !slices.Equal(got, tt.want) {
			t.Errorf("family %d, %d at the last look: %v, want %v", tt.family, tt.least, got, tt.want)
		}
	}
}

// What is given as default can be judged: its last look carries the family.
func TestDefaultLooksCarryTheirFamily(t *testing.T) {
	for _, d := range []Design{PairedDesign(), UnpairedDesign(), StoredDesign(1), StoredDesign(3), StoredDesign(100), SessionsDesign()} {
		for _, alpha := range []float64{.001, .01, .05, .2} {
			for _, family := range []int{1, 2, 17, 300, 50_000} {
				looks := DefaultLooks(d, alpha, family)
				if looks == nil && d.SmallestN(alpha/3/float64(family)) == 0 {
					continue // not even a million repeats against one stored value
				}
				p, err := CheckLooks(d, looks, alpha, family)
				if err != nil || p.FirstPass != 1 || !p.Decidable() || len(looks) > 3 || looks[0] < 5 || looks[len(looks)-1] < 20 {
					t.Errorf("%+v, %v, family %d: looks %v, plan %+v, %v", d, alpha, family, looks, p, err)
				}
			}
		}
	}
}

func TestCheckLooks(t *testing.T) {
	for _, tt := range []struct {
		name               string
		design             Design
		looks              []int
		family             int
		pass, fail         int
		repeats, most, all int
	}{
		// The limits of looks shared by three: unpaired 5 carries 4, paired 6
		// carries 1, paired 10 carries 17, 20 any family that is real.
		{"unpaired, 4 tests", UnpairedDesign(), []int{5, 10, 20}, 4, 1, 1, 5, 3, math.MaxInt32},
		{"unpaired, 5 tests", UnpairedDesign(), []int{5, 10, 20}, 5, 1, 2, 6, 3, math.MaxInt32},
		{"paired, 1 test", PairedDesign(), []int{6, 10, 20}, 1, 1, 1, 6, 3, 17476},
		{"paired, 2 tests", PairedDesign(), []int{6, 10, 20}, 2, 1, 2, 7, 3, 17476},
		{"paired, 17 tests", PairedDesign(), []int{6, 10, 20}, 17, 1, 2, 10, 3, 17476},
		{"paired, 18 tests", PairedDesign(), []int{6, 10, 20}, 18, 1, 3, 11, 3, 17476},
		// 40 gated metrics need 6 a side, or 10 blocks.
		{"5 a side for 40", UnpairedDesign(), []int{5}, 40, 1, 0, 6, 0, 12},
		{"6 a side for 40", UnpairedDesign(), []int{6}, 40, 1, 1, 6, 1, 46},
		{"9 blocks for 40", PairedDesign(), []int{9}, 40, 1, 0, 10, 0, 25},
		{"10 blocks for 40", PairedDesign(), []int{10}, 40, 1, 1, 10, 1, 51},
		{"fewer looks would do", PairedDesign(), []int{3, 6, 10}, 40, 2, 0, 12, 1, 17},
		{"four runs a side", UnpairedDesign(), []int{2, 3}, 1, 0, 0, 4, 1, 0},
		{"sessions", SessionsDesign(), []int{1, 2}, 500, 1, 1, 1, 2, math.MaxInt32},
	} {
		p, err := CheckLooks(tt.design, tt.looks, .05, tt.family)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if p.FirstPass != tt.pass || p.FirstFail != tt.fail || p.LeastRepeats != tt.repeats || p.MostLooks != tt.most || p.MostTests != tt.all {
			t.Errorf("%s: %+v; want first pass %d and fail %d, needs %d repeats, %d looks or %d tests",
				tt.name, p, tt.pass, tt.fail, tt.repeats, tt.most, tt.all)
		}
		near(t, "level", p.Level, .05/float64(len(tt.looks)), 1e-15, nil)
		for i, l := range p.Looks {
			if l.Repeats != tt.looks[i] || l.CanPass != (l.Family >= 1) || l.CanFail != (l.Family >= tt.family) {
				t.Errorf("%s: look %d is %+v", tt.name, i+1, l)
			}
		}
	}
}

func TestLooksThatAreNone(t *testing.T) {
	for _, looks := range [][]int{{}, {0}, {5, 5}, {10, 5}, {-1, 3}} {
		if p, err := CheckLooks(PairedDesign(), looks, .05, 1); err == nil {
			t.Errorf("looks %v: %+v", looks, p)
		}
	}
	if _, err := CheckLooks(PairedDesign(), nil, .05, 1); !errors.Is(err, ErrEmpty) {
		t.Errorf("no looks: %v", err)
	}
	for _, alpha := range []float64{0, .6, math.NaN()} {
		if p, err := CheckLooks(PairedDesign(), []int{6}, alpha, 1); err == nil {
			t.Errorf("level %v: %+v", alpha, p)
		}
	}
}

func TestJudgeLook(t *testing.T) {
	const level = .05 / 3
	tests := []LookTest{
		{PFail: .002, PPass: .999}, // 5*.002 > level as long as the earlier fail has not left the family
		{PFail: .9, PPass: .01},
		{PFail: .001, PPass: 1, Decision: Failed}, // earlier
		{PFail: .99, PPass: .9, Decision: Passed}, // earlier: stands, whatever its p
	}
	got, err := JudgeLook(tests, 5, level)
	if err != nil {
		t.Fatal(err)
	}
	want := []LookResult{{Failed, .008}, {Passed, 1}, {Failed, 0}, {Passed, 1}}
	for i, w := range want {
		if got[i].Decision != w.Decision || math.Abs(got[i].Adjusted-w.Adjusted) > 1e-15 {
			t.Errorf("test %d: %+v, want %+v", i, got[i], w)
		}
	}
	// Without the earlier fail the family is larger by one: .01 is still below.
	tests[2].Decision, tests[2].PFail = Passed, .9
	if got, _ := JudgeLook(tests, 9, level); got[0].Decision != Undecided || math.Abs(got[0].Adjusted-.018) > 1e-15 {
		t.Errorf("in a family of nine: %+v", got[0])
	}
	for _, bad := range []LookTest{{PFail: math.NaN()}, {PPass: math.NaN()}, {PFail: 2}, {PPass: -1}} {
		if r, err := JudgeLook([]LookTest{bad}, 1, level); err == nil {
			t.Errorf("%+v: %+v", bad, r)
		}
	}
	if r, err := JudgeLook(tests, 5, 0); err == nil {
		t.Errorf("no level: %+v", r)
	}
}

// halfWay is a paired test at its second look.
func halfWay() Outlook {
	return Outlook{Design: PairedDesign(), SD: .03, Now: 10, Last: 20, FailLevel: .05 / 3, PassLevel: .05 / 3}
}

func TestChanceToDecide(t *testing.T) {
	var tables Tables
	at := func(excess float64) float64 {
		o := halfWay()
		o.Excess = excess
		c, ok := tables.ChanceToDecide(o)
		if !ok || c < 0 || c > 1 {
			t.Errorf("excess %v: %v, %v", excess, c, ok)
		}
		return c
	}
	if at(.1) < .999 || at(-.1) < .999 || at(0) > .05 {
		t.Errorf("far beyond %v, far inside %v, at the budget %v", at(.1), at(-.1), at(0))
	}
	for e := 0.0; e < .05; e += .001 {
		if at(e+.001) < at(e)-1e-12 || math.Abs(at(e)-at(-e)) > 1e-12 {
			t.Errorf("chance at %v: %v, at %v: %v, at %v: %v", e, at(e), e+.001, at(e+.001), -e, at(-e))
		}
	}
	// Certain without spread.
	exact := halfWay()
	exact.SD, exact.Excess = 0, .001
	if c, ok := tables.ChanceToDecide(exact); !ok || c != 1 {
		t.Errorf("without spread: %v, %v", c, ok)
	}
	// A last look that cannot reach its level decides nothing.
	few := halfWay()
	few.Now, few.Last, few.Excess, few.FailLevel, few.PassLevel = 3, 5, .5, .001, .001
	if c, ok := tables.ChanceToDecide(few); !ok || c != 0 {
		t.Errorf("five blocks at .001: %v, %v", c, ok)
	}
	for name, bad := range map[string]func(*Outlook){
		"NaN": func(o *Outlook) { o.Excess = math.NaN() }, "negative spread": func(o *Outlook) { o.SD = -1 },
		"last look": func(o *Outlook) { o.Now = 20 }, "no level": func(o *Outlook) { o.FailLevel = 0 },
		"nothing yet": func(o *Outlook) { o.Now = 0 }, "negative gap": func(o *Outlook) { o.Gap = -1 },
	} {
		o := halfWay()
		bad(&o)
		if c, ok := tables.ChanceToDecide(o); ok || tables.Futile(o) {
			t.Errorf("%s: %v", name, c)
		}
	}
}

func TestFutile(t *testing.T) {
	var tables Tables
	// What lies between budget and allowance cannot be decided by repeats.
	between := halfWay()
	between.Excess, between.Gap, between.SD = .05, .1, .01
	if !tables.Futile(between) {
		t.Error("between budget and allowance: going on")
	}
	// Repeats do not lower what sessions differ by.
	sessions := Outlook{Design: SessionsDesign(), Excess: .05, SD: .02, Now: 5, Last: 20, FailLevel: .05 / 3, PassLevel: .05 / 3, Between: .1, BetweenDF: 40}
	if !tables.Futile(sessions) {
		t.Error("well inside the spread of sessions: going on")
	}
	sessions.Between = .01
	if tables.Futile(sessions) {
		t.Error("five times the spread of sessions: futile")
	}
}
