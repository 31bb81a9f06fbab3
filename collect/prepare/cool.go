package prepare

import (
	"context"
	"fmt"
	"time"
)

// Rule is how the machine rests before a run.
type Rule struct {
	Rest time.Duration // always
	// Band is how many degrees above the temperature at the session's start a run
	// may begin; 0: only Rest.
	Band float64
	Max  time.Duration // longest wait, Rest included; used with Band only
}

// Cooling is what a rest came to.
type Cooling struct {
	Waited      time.Duration
	Temperature Temperature // when the rest was over
	Words       []string    // for the run: a cap that was reached, sensors that are not there
}

// readEvery is the time between looks at the temperature. Reading a zone can
// wake a bus, so it is not done more often than a heat sink changes.
const readEvery = 500 * time.Millisecond

// Cool rests, and waits until the machine is as cool as when the session began,
// give or take the band. When ctx ends, it stops waiting.
func (m *Machine) Cool(ctx context.Context, r Rule) Cooling {
	begun := time.Now()
	over := !pauseFor(ctx, r.Rest)
	c := Cooling{Temperature: ReadTemperature(m.root)}
	if r.Band > 0 && !over {
		m.await(ctx, r, begun, &c)
	}
	c.Waited = time.Since(begun)
	return c
}

// await waits for the band.
func (m *Machine) await(ctx context.Context, r Rule, begun time.Time, c *Cooling) {
	if !m.start.Known() {
		if m.once("no sensor") {
			c.Words = append(c.Words, "cooldown: no temperature could be read when the session began: runs only rest")
		}
		return
	}
	limit := m.start.Celsius + r.Band
	for c.Temperature.Known() && c.Temperature.Celsius > limit {
		left := r.Max - time.Since(begun)
		if left <= 0 {
			c.Words = append(c.Words, fmt.Sprintf("cooldown: still %s after %v; the session began at %s and the band is %g °C",
				celsius(c.Temperature.Celsius), time.Since(begun).Round(100*time.Millisecond), celsius(m.start.Celsius), r.Band))
			return
		}
		if !pauseFor(ctx, min(readEvery, left)) {
			return
		}
		c.Temperature = ReadTemperature(m.root)
	}
	if !c.Temperature.Known() && m.once("sensor lost") {
		c.Words = append(c.Words, "cooldown: the temperature can no longer be read: runs only rest")
	}
}
