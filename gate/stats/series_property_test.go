package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// seriesFunctions are the functions of series and cells, returning every number
// they give.
func seriesFunctions(tables *Tables) map[string]func(x, y []float64) ([]float64, error) {
	rule := ChangeRule{Level: .1, LeastSegment: 2, Permutations: 19}
	return map[string]func(x, y []float64) ([]float64, error){
		"FindMovements": func(x, _ []float64) ([]float64, error) {
			m, err := FindMovements(x, rule)
			var out []float64
			for _, s := range m.Steps {
				out = append(out, s.Q, s.P, s.Step)
			}
			for _, c := range m.Creeps {
				out = append(out, c.Change, c.P)
			}
			return out, err
		},
		"NewCommonShift": func(x, _ []float64) ([]float64, error) {
			c, err := NewCommonShift(x, .05)
			out := []float64{c.Estimate}
			if c.OK {
				out = append(out, c.Lower, c.Upper)
			}
			return out, err
		},
		"AgainstAnchor": func(x, y []float64) ([]float64, error) {
			d, err := tables.AgainstAnchor(x, y, .05)
			return []float64{d.Shift, d.Lower, d.Upper, d.Spread.SD}, err
		},
		"SessionSpreads": func(x, y []float64) ([]float64, error) {
			number := func(v []float64) []int {
				n := make([]int, len(v))
				for i := range n {
					n[i] = i
				}
				return n
			}
			spreads, err := SessionSpreads([]CellSessions{{Sessions: number(x), Logs: x}, {Sessions: number(y), Logs: y}})
			var out []float64
			for _, s := range spreads {
				out = append(out, s.SD, float64(s.DF))
			}
			return out, err
		},
	}
}

// No answer is NaN or infinite without an error, NaN in gives an error out, and
// no function changes what it was given: as TestNothingButNumbersOrErrors.
func TestSeriesGiveNumbersOrErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(291, 292))
	special := []float64{0, 1, -1, 5, 1e-300, 5e-324, 1e300, math.MaxFloat64, -math.MaxFloat64, 1 + 1e-16, math.NaN(), math.Inf(1)}
	clean := special[:len(special)-2]
	var tables Tables
	functions := seriesFunctions(&tables)
	for i := range 2000 {
		from := clean
		if i%3 == 0 {
			from = special
		}
		draw := func() []float64 {
			s := make([]float64, rng.IntN(12))
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
			if err == nil && checkResult("", numbers...) != nil {
				t.Fatalf("%s of %v, %v: %v", name, x, y, numbers)
			}
		}
		if !sameBits(x, x0) || !sameBits(y, y0) {
			t.Fatalf("inputs changed: %v to %v, %v to %v", x0, x, y0, y)
		}
	}
}

func FuzzSessionSpreads(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(2))
	f.Add([]byte{0, 0, 0, 0, 9, 9, 0, 1}, uint8(4))
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		w := 1 + int(width%8)
		if len(data) == 0 || len(data) > 200 {
			t.Skip()
		}
		var cells []CellSessions
		repeated := false
		for part := range slices.Chunk(data, w) {
			var c CellSessions
			for i, b := range part {
				c.Sessions, c.Logs = append(c.Sessions, i), append(c.Logs, float64(b)/64)
			}
			repeated = repeated || len(part) > 1
			cells = append(cells, c)
		}
		spreads, err := SessionSpreads(cells)
		if (err == nil) != repeated {
			t.Fatalf("%v: %v", cells, err)
		}
		for i, s := range spreads {
			if !(s.SD >= 0) || !finite(s.SD) || s.DF < max(1, len(cells[i].Logs)-1) || s.DF > len(data) {
				t.Fatalf("cell %d of %v: %+v", i, cells, s)
			}
		}
	})
}
