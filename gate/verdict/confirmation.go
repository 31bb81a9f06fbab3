package verdict

// Confirmed is the paired re-measurement, against the base commit, of a finding
// that stored sessions had called a fail or a suspect: its outcome is the
// finding's. The finding's comparison stays the stored one.
type Confirmed struct {
	Commit   string      `json:"commit"`
	Ratio    *float64    `json:"ratio"`              // nil with a zero or negative value
	Interval *[2]float64 `json:"interval,omitempty"` // two-sided, at twice the one-sided level; nil: too few blocks, or exact values
	N        int         `json:"n"`                  // blocks
	Look     int         `json:"look,omitempty"`     // at which it was decided, or given up; of confirmations with more than one
	Outcome  Outcome     `json:"outcome"`
}

// Confirmation is how what stored sessions left in doubt was measured again, beside
// the base build. It has a family and looks of its own, which share
// Policy.FalseAlarms anew.
type Confirmation struct {
	Commit string  `json:"commit"`
	Family int     `json:"family"` // tests that share the error rate
	Looks  []int   `json:"looks"`  // blocks in all at each planned look
	Cells  []Again `json:"cells"`
}

// Again is a cell that was measured again.
type Again struct {
	Cell    int `json:"cell"`    // index into Document.Cells
	Planned int `json:"planned"` // blocks, at all looks that were planned for it
	Seen    int `json:"seen"`    // runs of head
	// Look is that at which the cell stopped, and Stop why, in the words of Cell;
	// absent where there was one look.
	Look int    `json:"look,omitempty"`
	Stop string `json:"stop,omitempty"`
}
