package gate

import (
	"math/rand/v2"
	"testing"
)

// steady is a machine whose cells differ by 0.5 to 2 % from session to session and by
// 1 to 5 % within one, and which is 8 % slower in the new session.
func steady(cells int, slow float64) machine {
	return machine{cells: cells, repeats: 10, between: [2]float64{.005, .02}, within: [2]float64{.01, .05}, shared: .5, slow: slow, control: true}
}

func onControlCell(p *Policy) { p.Control = true }

// A machine that is 8 % slower in the new session than in five stored ones, or in one
// and a self-test, budget 5 %: unchanged programs are red without the control cell, and
// suspect with it. A cell that became 15 % slower beside that stays red. Figures of
// longer runs are in docs/statistics.md.
func TestASlowMachineIsNoSlowChange(t *testing.T) {
	figures(t)
	const rounds = 300
	five := regression("wall_time", .05)
	for _, tt := range []struct {
		name             string
		slow, factor     float64
		change           func(*Policy)
		stored, measured int     // sessions, those of a self-test
		least, most      float64 // of rounds with a red cell
		first            float64 // least share in which the first cell is red
		told             float64 // and red or suspect
	}{
		{"slow machine, without", 1.08, 1, nil, 5, 0, .30, 1, 0, 0},
		{"slow machine, with", 1.08, 1, onControlCell, 5, 0, 0, .05, 0, 0},
		{"slow machine and change, with", 1.08, 1.15, onControlCell, 5, 0, 0, 1, .80, .99},
		{"usual machine and change, with", 1, 1.15, onControlCell, 5, 0, 0, 1, .80, .99},
		{"usual machine, with", 1, 1, onControlCell, 5, 0, 0, .05, 0, 0},
		{"slow machine and self-test, without", 1.08, 1, nil, 1, 20, .30, 1, 0, 0},
		{"slow machine and self-test, with", 1.08, 1, onControlCell, 1, 20, 0, .05, 0, 0},
		{"slow machine, self-test and change, with", 1.08, 1.15, onControlCell, 1, 20, 0, 1, .75, .99},
	} {
		rng := rand.New(rand.NewPCG(41, 42))
		m := steady(10, tt.slow)
		m.measured = tt.measured
		s := m.judge(t, rng, rounds, tt.stored, tt.factor, tt.change, five)
		t.Logf("%s: %.3f red, the first cell %.3f, told %.3f", tt.name, s.red, s.first, s.told)
		if s.red < tt.least || s.red > tt.most || s.first < tt.first || s.told < tt.told {
			t.Errorf("%s: %+v, want red from %g to %g, the first cell red %g, told %g", tt.name, s, tt.least, tt.most, tt.first, tt.told)
		}
	}
}
