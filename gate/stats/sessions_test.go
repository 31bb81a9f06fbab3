package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// sessionModel draws log session medians of cells over k stored sessions and a
// new one. Cells differ from session to session by 1 to 12 % (the last value of
// each range where cells are alike) and within a session by 3 to 20 %, ten runs
// a session; shared is the part of the sessions' variance that all cells have in
// common.
type sessionModel struct {
	cells, k int
	kind     string // alike, various (log-uniform), mixed (one in six noisy, the others quiet)
	shared   float64
}

func (m sessionModel) draw(rng *rand.Rand) (stored []CellSessions, fresh []float64) {
	state := gaussian(rng, m.k+1, 0, 1)
	numbers := make([]int, m.k)
	for i := range numbers {
		numbers[i] = i
	}
	for range m.cells {
		between, within := .12, .20
		switch {
		case m.kind == "various":
			between, within = .01*math.Pow(12, rng.Float64()), .03*math.Pow(.20/.03, rng.Float64())
		case m.kind == "mixed" && rng.IntN(6) > 0:
			between, within = .01, .03
		}
		noise := math.Sqrt(MedianVariance(within, 10))
		at := func(i int) float64 {
			own := math.Sqrt(m.shared)*state[i] + math.Sqrt(1-m.shared)*rng.NormFloat64()
			return between*own + noise*rng.NormFloat64()
		}
		logs := make([]float64, m.k)
		for i := range logs {
			logs[i] = at(i)
		}
		stored = append(stored, CellSessions{Sessions: numbers, Logs: logs})
		fresh = append(fresh, at(m.k))
	}
	return stored, fresh
}

// sessionFigures are shares of rounds.
type sessionFigures struct {
	red    float64 // any cell beyond 0 in the family
	wrong  float64 // the first cell by itself, as a pass is judged
	red10  float64 // any cell beyond a budget of 10 %
	found  float64 // the first cell, made 1.5 times slower, beyond that budget in the family
	pooled float64 // red by one spread and sum(k-1) degrees of freedom for all cells
}

func (m sessionModel) figures(t *testing.T, rng *rand.Rand, rounds int, alpha float64) sessionFigures {
	t.Helper()
	var f sessionFigures
	var tables Tables
	lower := func(difference float64, s SessionSpread, alpha float64) float64 {
		v, _, err := tables.PredictionBounds(difference, s.SD, s.DF, m.k, 1, alpha)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	each := alpha / float64(m.cells)
	for range rounds {
		stored, fresh := m.draw(rng)
		spreads, err := SessionSpreads(stored)
		if err != nil {
			t.Fatal(err)
		}
		groups := make([][]float64, len(stored))
		for i := range stored {
			groups[i] = stored[i].Logs
		}
		s, df, err := PooledSpread(groups)
		if err != nil {
			t.Fatal(err)
		}
		var red, red10, pooled bool
		for i, z := range fresh {
			d := z - mean(stored[i].Logs)
			l := lower(d, spreads[i], each)
			red, red10 = red || l > 0, red10 || l > math.Log(1.1)
			pooled = pooled || lower(d, SessionSpread{s, df}, each) > 0
			if i == 0 {
				f.wrong += count(lower(d, spreads[i], alpha) > 0)
				f.found += count(l+math.Log(1.5) > math.Log(1.1))
			}
		}
		f.red, f.red10, f.pooled = f.red+count(red), f.red10+count(red10), f.pooled+count(pooled)
	}
	r := float64(rounds)
	return sessionFigures{f.red / r, f.wrong / r, f.red10 / r, f.found / r, f.pooled / r}
}

func TestZExplore(t *testing.T) {
	for _, alpha := range []float64{.05, .05 / 3} {
		for _, k := range []int{3, 5, 7, 10} {
			for _, kind := range []string{"alike", "various", "mixed"} {
				for _, c := range []int{1, 2, 5, 10, 20, 60} {
					line := fmt.Sprintf("%.3f k=%2d %-8s C=%2d", alpha, k, kind, c)
					var mx, mean sessionFigures
					for _, shared := range []float64{0, .5, 1} {
						f := sessionModel{c, k, kind, shared}.figures(t, rand.New(rand.NewPCG(uint64(c), uint64(k))), 4000, alpha)
						mx.red, mx.wrong, mx.red10, mx.pooled = max(mx.red, f.red), max(mx.wrong, f.wrong), max(mx.red10, f.red10), max(mx.pooled, f.pooled)
						mean.found += f.found / 3
					}
					t.Logf("%s red %.3f pass %.3f red10 %.3f x1.5 %.3f pooled %.3f", line, mx.red, mx.wrong, mx.red10, mean.found, mx.pooled)
				}
			}
		}
	}
	_ = errors.New
}
