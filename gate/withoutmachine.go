package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Reasons of a finding that does not hold when what the machine moved is taken off.
const (
	reasonSlowMachine = "slow_machine"
	reasonFastMachine = "fast_machine"
)

// machineShift is what a proven movement of the machine makes of a test.
type machineShift struct {
	*movement
	shift float64 // of the test's log values by the machine: up for a time on a slower one
	// The p of the test whose current values have the shift taken off, where that is
	// against what the test says; else the test's own.
	pFail, pPass float64
}

// withoutMachine does a test again with what the machine moved taken off. A fail has
// to hold both ways where the machine made the numbers worse, and a pass where it
// made them better: so it takes the larger p, and nothing becomes a fail or a pass.
func (t *test) withoutMachine(m *movement, sense float64, tables *stats.Tables) {
	if !m.proven() || !t.hasP {
		return
	}
	shift := sense * m.log
	c := *t.contrast
	c.y = make([]float64, len(t.contrast.y))
	for i, v := range t.contrast.y {
		c.y[i] = v / math.Exp(shift)
	}
	c.logCurrent -= shift
	again := test{contrast: &c, budget: t.budget, dir: t.dir, extra: t.extra}
	if again.run(tables); !again.hasP {
		return
	}
	t.machine = &machineShift{movement: m, shift: shift, pFail: t.pFail, pPass: t.pPass}
	if t.worsened() {
		t.machine.pFail = max(t.pFail, again.pFail)
	} else {
		t.machine.pPass = max(t.pPass, again.pPass)
	}
}

// withoutMachine judges the open tests of a look again, as they are without what the
// machine moved; nil where it moved none of them. at are their places.
func (r *replay) withoutMachine(at []int, tests []stats.LookTest) []stats.LookResult {
	var out []stats.LookTest
	for k, i := range at {
		s := &r.tests[i]
		if s.decision != stats.Undecided || s.test().machine == nil {
			continue
		}
		if out == nil {
			out = slices.Clone(tests)
		}
		out[k].PFail, out[k].PPass = s.test().machine.pFail, s.test().machine.pPass
	}
	if out == nil {
		return nil
	}
	return judgeLook(out, r.family, r.e.level)
}

// byMachine reports whether a decision of a test does not hold without what the
// machine moved: of this test, not only of others of its family.
func byMachine(s *standing, without stats.LookResult) bool {
	t, m := s.test(), s.test().machine
	if m == nil || without.Decision == s.decision {
		return false
	}
	return s.decision == stats.Failed && m.pFail > t.pFail || s.decision == stats.Passed && m.pPass > t.pPass
}

// worsened reports whether the machine is proven to have made a test's numbers worse.
func (t *test) worsened() bool { return t.machine != nil && t.dir*t.machine.shift > 0 }

// reason is the finding's.
func (m *machineShift) reason() string {
	if m.slower {
		return reasonSlowMachine
	}
	return reasonFastMachine
}

// machineText says what the control cell takes back, with both numbers.
func (t *test) machineText(f *verdict.Finding, cmp *verdict.Comparison) string {
	what, held := "beyond it", "is not proven beyond"
	if f.Grade == verdict.Unproven {
		what, held = "inside it", "is not proven inside"
	}
	s := fmt.Sprintf(": %s, but the control cell was %s", what, t.machine.inWords())
	if cmp.Ratio != nil {
		s += fmt.Sprintf("; with that taken off it is %s, which %s", unit.FormatRatio(*cmp.Ratio/math.Exp(t.machine.shift)), held)
	} else {
		s += "; with that taken off it " + held
	}
	return s + adviceText(f)
}

// inWords is how the control cell moved: "7.6 % slower than in the stored sessions
// (cpu_time, 6.1 to 9.2 %)".
func (m *movement) inWords() string {
	return unit.FormatSlowerThan("in the stored sessions", m.metric, *m.Ratio, m.RatioInterval)
}
