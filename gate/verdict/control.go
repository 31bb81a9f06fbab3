package verdict

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
