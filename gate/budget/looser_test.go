package budget

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

func TestLooser(t *testing.T) {
	relative := Budget{Metric: "wall_time", Kind: MaxRegression, Limit: 0.05, Amount: 0.010, MinDelta: 0.020, Against: AgainstBaseline, Level: Fail}
	most := Budget{Metric: "wall_time", Kind: Max, Limit: 2, Level: Fail}
	least := Budget{Metric: "frames", Kind: Min, Limit: 24, Level: Fail}
	for _, tt := range []struct {
		name   string
		was    Budget
		change func(b *Budget)
		looser bool
	}{
		{"the same", relative, func(*Budget) {}, false},
		{"a larger fraction", relative, func(b *Budget) { b.Limit = 0.06 }, true},
		{"a smaller fraction", relative, func(b *Budget) { b.Limit = 0.04 }, false},
		{"a larger amount", relative, func(b *Budget) { b.Amount = 0.011 }, true},
		{"a smaller amount", relative, func(b *Budget) { b.Amount = 0 }, false},
		{"a larger floor", relative, func(b *Budget) { b.MinDelta = 0.021 }, true},
		{"a smaller floor", relative, func(b *Budget) { b.MinDelta = 0 }, false},
		{"an amount that was a floor", relative, func(b *Budget) { b.Amount, b.MinDelta = 0.020, 0 }, true},
		{"a floor that was an amount", relative, func(b *Budget) { b.Amount, b.MinDelta = 0, 0.020 }, false},
		{"a smaller fraction with a larger amount", relative, func(b *Budget) { b.Limit, b.Amount = 0.01, 0.011 }, true},
		{"level warn", relative, func(b *Budget) { b.Level = Warn }, true},
		{"level info, with a smaller limit", relative, func(b *Budget) { b.Level, b.Limit = Info, 0 }, true},
		{"no level is level fail", relative, func(b *Budget) { b.Level = "" }, false},
		{"selects less", relative, func(b *Budget) { b.Cells, b.Part = "encode/**", "gpu0" }, false},
		{"other words for it", relative, func(b *Budget) { b.Text, b.Source.Line, b.ID = "max_regression: 0.05", 7, 9 }, false},
		{"a higher maximum", most, func(b *Budget) { b.Limit = 2.1 }, true},
		{"a lower maximum", most, func(b *Budget) { b.Limit = 1.9 }, false},
		{"the same maximum as another double", most, func(b *Budget) { b.Limit = math.Nextafter(2, 3) }, false},
		{"no maximum", most, func(b *Budget) { b.Limit = math.Inf(1) }, true},
		{"not a number", most, func(b *Budget) { b.Limit = math.NaN() }, true},
		{"each run counts", most, func(b *Budget) { b.EachRun = true }, false},
		{"the largest run counts", most, func(b *Budget) { b.Statistic = "max" }, false},
		{"the median, said", most, func(b *Budget) { b.Statistic = "median" }, false},
		{"the smallest run counts", most, func(b *Budget) { b.Statistic = "min" }, true},
		{"a lower minimum", least, func(b *Budget) { b.Limit = 23 }, true},
		{"a higher minimum", least, func(b *Budget) { b.Limit = 25 }, false},
		{"minus infinity", least, func(b *Budget) { b.Limit = math.Inf(-1) }, true},
		{"the largest run of a minimum", least, func(b *Budget) { b.Statistic = "max" }, true},
		{"the smallest run of a minimum", least, func(b *Budget) { b.Statistic = "min" }, false},
		{"no longer each run", Budget{Kind: Max, EachRun: true}, func(b *Budget) { b.EachRun = false }, true},
		{"the largest run is each run", Budget{Kind: Max, EachRun: true}, func(b *Budget) { b.EachRun, b.Statistic = false, "max" }, false},
	} {
		now := tt.was
		tt.change(&now)
		if got := Looser(&tt.was, &now); got != tt.looser {
			t.Errorf("%s: looser %v, want %v", tt.name, got, tt.looser)
		}
	}
}

// randomBudget is drawn from few values, so that ties and neighbours are common.
func randomBudget(r *rand.Rand, kind Kind) Budget {
	pick := func(from ...float64) float64 { return from[r.IntN(len(from))] }
	b := Budget{Metric: "m", Kind: kind, Limit: pick(0, 0.05, 0.1, 1), Level: []Level{Fail, Fail, Warn, Info, ""}[r.IntN(5)]}
	if kind.Relative() {
		b.Amount, b.MinDelta = pick(0, 0, 1, 2), pick(0, 0, 1, 2)
	} else {
		b.Statistic, b.EachRun = []string{"", "median", "min", "max"}[r.IntN(4)], r.IntN(3) == 0
	}
	return b
}

func eachKind(t *testing.T, f func(t *testing.T, r *rand.Rand, kind Kind)) {
	t.Helper()
	for _, kind := range []Kind{Max, Min, MaxRegression, MaxIncrease, MaxDecrease} {
		for i := range uint64(500) {
			f(t, rand.New(rand.NewPCG(i, 1)), kind)
		}
	}
}

// Nothing is looser than itself, and what is at least as strict as something at
// least as strict is so itself. So tightening and then loosening back to where it
// was is no loosening, while any detour beyond that is one.
func TestLooserIsAnOrder(t *testing.T) {
	eachKind(t, func(t *testing.T, r *rand.Rand, kind Kind) {
		a, b, c := randomBudget(r, kind), randomBudget(r, kind), randomBudget(r, kind)
		if Looser(&a, &a) {
			t.Fatalf("looser than itself: %+v", a)
		}
		if !Looser(&a, &b) && !Looser(&b, &c) && Looser(&a, &c) {
			t.Fatalf("not transitive:\n%+v\n%+v\n%+v", a, b, c)
		}
	})
}

// A step in one respect alone: to the loose side it is looser and its way back is
// not, to the strict side the other way round.
func TestLooserIsMonotone(t *testing.T) {
	steps := map[string]func(b *Budget) bool{ // false: cannot be any looser in this respect
		"limit": func(b *Budget) bool {
			if b.Kind == Min {
				b.Limit -= 0.5
			} else {
				b.Limit += 0.5
			}
			return true
		},
		"amount":    func(b *Budget) bool { b.Amount += 1; return b.Kind.Relative() },
		"min_delta": func(b *Budget) bool { b.MinDelta = max(b.MinDelta, b.Amount) + 1; return b.Kind.Relative() },
		"level": func(b *Budget) bool {
			was := b.Level
			b.Level = map[Level]Level{Fail: Warn, "": Info, Warn: Info}[was]
			return was != Info
		},
		"each_run": func(b *Budget) bool {
			was := b.EachRun
			b.EachRun, b.Statistic = false, ""
			return was
		},
	}
	eachKind(t, func(t *testing.T, r *rand.Rand, kind Kind) {
		was := randomBudget(r, kind)
		for name, loosen := range steps {
			now := was
			if !loosen(&now) || name == "each_run" && kind.Relative() {
				continue
			}
			if !Looser(&was, &now) || Looser(&now, &was) {
				t.Fatalf("%s: %+v to %+v: looser %v, and back %v", name, was, now, Looser(&was, &now), Looser(&now, &was))
			}
		}
	})
}

// What Looser says is what the decisions do: for references and session allowances
// of any size a budget that is not looser allows no more, and one that is looser
// and of the same level allows more somewhere.
func TestLooserAllowsMore(t *testing.T) {
	eachKind(t, func(t *testing.T, r *rand.Rand, kind Kind) {
		was, now := randomBudget(r, kind), randomBudget(r, kind)
		was.Level, now.Level = Fail, Fail
		more := false
		if kind.Relative() {
			more = allowsMore(&was, &now)
		} else {
			more = passesMore(&was, &now)
		}
		if got := Looser(&was, &now); got != more {
			t.Fatalf("looser %v, and allows more %v:\n%+v\n%+v", got, more, was, now)
		}
	})
}

func allowsMore(was, now *Budget) bool {
	dir := was.Direction(result.Lower)
	for _, reference := range []float64{0, 0.5, 1, 3, 10, 20, 40, 1000} {
		for _, extra := range []float64{0, 0.05, 0.5, 10} {
			if dir*(now.Allowed(reference, dir, extra)-was.Allowed(reference, dir, extra)) > 1e-9 {
				return true
			}
		}
	}
	return false
}

// passesMore tries all sets of three runs around the limits: does now pass one that
// was fails?
func passesMore(was, now *Budget) bool {
	values := []float64{-0.1, 0, 0.03, 0.05, 0.07, 0.1, 0.5, 1, 2}
	for _, x := range values {
		for _, y := range values {
			for _, z := range values {
				if runs := []float64{x, y, z}; fails(was, runs) && !fails(now, runs) {
					return true
				}
			}
		}
	}
	return false
}

// fails is the rule of absolute budgets as docs/statistics.md has it.
func fails(b *Budget, runs []float64) bool {
	dir := b.Direction("")
	sorted := slices.Sorted(slices.Values(runs))
	value := sorted[len(sorted)/2]
	switch b.Statistic {
	case "min":
		value = sorted[0]
	case "max":
		value = sorted[len(sorted)-1]
	}
	beyond := func(v float64) bool { return dir*(v-b.Limit) > 0 }
	return beyond(value) || b.EachRun && slices.ContainsFunc(runs, beyond)
}
