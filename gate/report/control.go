package report

import (
	"fmt"

	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/verdict"
)

// controlLine says how the control cell moved, or what it lacks to tell; "" where it
// did not move, or has no say.
func (f *facts) controlLine() string {
	c := f.v.Control
	switch {
	case c == nil:
		return ""
	case c.Why != "":
		return "control: nothing to tell the machine by: " + c.Why
	}
	line := ""
	for _, m := range c.Metrics {
		switch {
		case m.Moved != verdict.ControlSlower && m.Moved != verdict.ControlFaster:
		case line == "":
			line = "control: " + unit.FormatSlowerThan("in the stored sessions", m.Metric, m.Ratio, m.Interval)
		default:
			line += fmt.Sprintf(", %s %s (%s)", m.Metric, unit.FormatSlower(m.Ratio), orNone(unit.FormatSlowerInterval(m.Ratio, m.Interval)))
		}
	}
	return line
}
