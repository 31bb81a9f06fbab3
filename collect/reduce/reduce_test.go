package reduce_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perfweir/perfweir/collect/reduce"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/series"
)

var nan = math.NaN()

// at builds a series of pairs: time, value, time, value.
func at(pairs ...float64) series.Series {
	var s series.Series
	for i := 0; i < len(pairs); i += 2 {
		s.Add(pairs[i], pairs[i+1])
	}
	return s
}

func check(t *testing.T, got, want reduce.Value) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.OK() == math.IsNaN(got.V) {
		t.Errorf("%+v: a number and a reason exclude each other, and one must be there", got)
	}
}

func TestPeak(t *testing.T) {
	for name, c := range map[string]struct {
		in   series.Series
		want reduce.Value
	}{
		"in the middle":    {at(0, 1, 1, 7, 2, 3), reduce.Value{V: 7, Bound: nan}},
		"all below zero":   {at(0, -3, 1, -2, 2, -9), reduce.Value{V: -2, Bound: nan}},
		"three ticks":      {at(0, 0, 1, 0, 2, 0), reduce.Value{V: 0, Bound: nan}},
		"two ticks":        {at(0, 1, 1, 7), reduce.Absent(result.AbsentTooShort)},
		"none":             {at(), reduce.Absent(result.AbsentTooShort)},
		"NaN":              {at(0, 1, 1, nan, 2, 3), reduce.Absent(result.AbsentNotFinite)},
		"NaN, and short":   {at(0, nan), reduce.Absent(result.AbsentNotFinite)},
		"infinite":         {at(0, 1, 1, math.Inf(1), 2, 3), reduce.Absent(result.AbsentNotFinite)},
		"time runs back":   {at(0, 1, 2, 1, 1, 1), reduce.Absent(result.AbsentUnreadable)},
		"lengths disagree": {series.Series{T: []float64{1, 2, 3}, V: []float64{1, 2}}, reduce.Absent(result.AbsentUnreadable)},
	} {
		t.Run(name, func(t *testing.T) { check(t, reduce.Peak(c.in), c.want) })
	}
}

func TestMean(t *testing.T) {
	for name, c := range map[string]struct {
		in   series.Series
		want reduce.Value
	}{
		"even steps":        {at(0, 0, 1, 2, 2, 4), reduce.Value{V: 2, Bound: nan}},
		"close ones":        {at(0, 10, 0.01, 10, 0.02, 10, 10.02, 0), reduce.Value{V: (0.2 + 50) / 10.02, Bound: nan}},
		"huge":              {at(0, math.MaxFloat64, 1, math.MaxFloat64, 2, math.MaxFloat64), reduce.Value{V: math.MaxFloat64, Bound: nan}},
		"two ticks":         {at(0, 1, 1, 1), reduce.Absent(result.AbsentTooShort)},
		"one moment":        {at(1, 1, 1, 2, 1, 3), reduce.Absent(result.AbsentTooShort)},
		"NaN is not a mean": {at(0, 1, 1, nan, 2, 3), reduce.Absent(result.AbsentNotFinite)},
	} {
		t.Run(name, func(t *testing.T) {
			got := reduce.Mean(c.in)
			if c.want.OK() && math.Abs(got.V-c.want.V) <= 1e-12*math.Abs(c.want.V) {
				got.V = c.want.V
			}
			check(t, got, c.want)
		})
	}
}

func TestMeanLiesBetweenTheReadingsAndScalesWithThem(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s, scaled series.Series
		now, low, high := 0.0, math.Inf(1), math.Inf(-1)
		for range 3 + rng.IntN(50) {
			now += rng.ExpFloat64()
			v := rng.NormFloat64()
			low, high = min(low, v), max(high, v)
			s.Add(now, v)
			scaled.Add(now, 1024*v)
		}
		mean := reduce.Mean(s).V
		if !(mean >= low-1e-12 && mean <= high+1e-12) {
			t.Fatalf("mean %g is outside [%g, %g]", mean, low, high)
		}
		if got := reduce.Mean(scaled).V; math.Abs(got-1024*mean) > 1e-9 {
			t.Fatalf("mean of 1024 times the readings is %g, want %g", got, 1024*mean)
		}
		if got := reduce.Peak(s).V; got != high {
			t.Fatalf("peak %g, want %g", got, high)
		}
	}
}

func TestMemoryPeak(t *testing.T) {
	set := func(memory, processes series.Series) series.Set {
		memory.Metric, processes.Metric = series.Memory, series.Processes
		return series.Set{Series: []series.Series{memory, processes}}
	}
	one := at(0, 1, 1, 1, 2, 1)
	two := at(0, 1, 1, 2, 2, 1)
	curve := at(0, 100, 1, 300, 2, 200)
	none := reduce.Absent(result.AbsentNoLauncher)
	for name, c := range map[string]struct {
		set     series.Set
		process reduce.Value
		want    reduce.Value
	}{
		"sampled alone":                   {set(curve, one), none, reduce.Value{V: 300, Bound: nan}},
		"the tree is larger than any one": {set(curve, two), reduce.Exact(250, 10), reduce.Value{V: 300, Bound: nan}},
		"one process, exact":              {set(curve, one), reduce.Exact(310, 10), reduce.Value{V: 310, Bound: 10}},
		"one process, equal":              {set(curve, one), reduce.Exact(300, 10), reduce.Value{V: 300, Bound: 10}},
		"two processes, one spiked":       {set(curve, two), reduce.Exact(400, 10), reduce.Value{V: 400, Bound: nan}},
		"how many is not known":           {series.Set{Series: set(curve, one).Series[:1]}, reduce.Exact(400, 10), reduce.Value{V: 400, Bound: nan}},
		"too short even with the exact":   {set(at(0, 1, 1, 2), one), reduce.Exact(400, 10), reduce.Absent(result.AbsentTooShort)},
		"not sampled":                     {series.Set{}, reduce.Exact(400, 10), reduce.Absent(result.AbsentNotRun)},
		"a NaN is not larger":             {set(curve, one), reduce.Value{V: nan, Bound: nan}, reduce.Value{V: 300, Bound: nan}},
	} {
		t.Run(name, func(t *testing.T) { check(t, reduce.MemoryPeak(c.set, c.process), c.want) })
	}
}
