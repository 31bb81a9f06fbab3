package verdict

import "strconv"

// Control is how the control cell, a fixed command of perfweir's own, moved from the
// stored sessions to this one: so did the machine.
type Control struct {
	// Why says what it lacks to tell anything; empty: Metrics do.
	Why     string          `json:"why,omitempty"`
	Metrics []ControlMetric `json:"metrics,omitempty"` // wall_time and cpu_time
}

// What a ControlMetric proves; empty: neither.
const (
	ControlSlower = "slower"
	ControlFaster = "faster"
	ControlSteady = "steady" // it moved by less than is worth a word
)

// ControlMetric is one metric of the control cell, held against stored sessions as
// any cell's is.
type ControlMetric struct {
	Metric    string      `json:"metric"`
	Moved     string      `json:"moved,omitempty"`
	Design    string      `json:"design"`
	N         [2]int      `json:"n"` // runs: current, reference
	Sessions  int         `json:"sessions"`
	Current   float64     `json:"current"`
	Reference float64     `json:"reference"`
	Ratio     float64     `json:"ratio"`
	Interval  *[2]float64 `json:"interval,omitempty"` // two-sided, at twice the one-sided level of a look
}

// InWords is how it moved: "4.2 % slower than in the stored sessions (wall_time, 2.9
// to 5.6 %)".
func (m ControlMetric) InWords() string {
	s := m.Change() + " than in the stored sessions (" + m.Metric
	if i := m.IntervalInWords(); i != "" {
		s += ", " + i
	}
	return s + ")"
}

// Change is the ratio in words: "4.2 % slower"; from twice on "3.1 times slower".
func (m ControlMetric) Change() string {
	word := "slower"
	if m.Ratio < 1 {
		word = "faster"
	}
	text, unit := m.number(m.Ratio)
	return text + unit + " " + word
}

// IntervalInWords is "2.9 to 5.6 %", the end nearer to no change first; "" without one.
func (m ControlMetric) IntervalInWords() string {
	if m.Interval == nil {
		return ""
	}
	near, far := m.Interval[0], m.Interval[1]
	if m.Ratio < 1 {
		near, far = far, near
	}
	from, _ := m.number(near)
	to, unit := m.number(far)
	return from + " to " + to + unit
}

// number prints a ratio as the change is told, and what it is a number of.
func (m ControlMetric) number(ratio float64) (text, unit string) {
	const twice = 2
	switch {
	case m.Ratio >= twice:
		return strconv.FormatFloat(ratio, 'f', 1, 64), " times"
	case m.Ratio <= 1.0/twice:
		return strconv.FormatFloat(1/ratio, 'f', 1, 64), " times"
	case m.Ratio < 1:
		return strconv.FormatFloat((1-ratio)*100, 'f', 1, 64), " %"
	}
	return strconv.FormatFloat((ratio-1)*100, 'f', 1, 64), " %"
}
