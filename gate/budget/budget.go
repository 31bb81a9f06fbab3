// Package budget holds limits and how they are matched to cells. It is a leaf:
// no statistics, no documents. Its data goes to gate and, through the verdict,
// to the reports.
package budget

// Kind is what a budget limits.
type Kind string

// Kinds. Max and Min are absolute; the others are relative to Against.
const (
	Max           Kind = "max"            // the value may be at most Limit
	Min           Kind = "min"            // the value must be at least Limit
	MaxRegression Kind = "max_regression" // the change in the metric's bad direction; needs a direction
	MaxIncrease   Kind = "max_increase"
	MaxDecrease   Kind = "max_decrease"
)

// Relative reports whether the kind compares with a reference.
func (k Kind) Relative() bool { return k == MaxRegression || k == MaxIncrease || k == MaxDecrease }

// Level is what a broken budget does.
type Level string

// Levels.
const (
	Fail Level = "fail" // gated: counts in the verdict
	Warn Level = "warn" // shown beside the verdict
	Info Level = "info" // shown in the details
)

// What a relative budget is held against.
const (
	AgainstBaseline = "baseline"
	AgainstBase     = "base"     // of a comparison: a budget against the baseline, held against the base build of the same session
	AgainstVariant  = "variant:" // followed by the variant's name: same session, same benchmark and input
)

// Budget is one limit of a suite file, in base units.
type Budget struct {
	ID     int    `json:"id"`
	Metric string `json:"metric"`
	Kind   Kind   `json:"kind"`
	// Limit is in the metric's unit for Max and Min, a fraction (0.05 is 5 %)
	// for relative kinds.
	Limit float64 `json:"limit"`
	// Amount is added to what a relative kind allows, in the metric's unit:
	// "10% + 10ms" allows reference x 1.1 + 0.01.
	Amount float64 `json:"amount,omitempty"`
	// MinDelta must be exceeded as well before a relative kind can fail, in the
	// metric's unit: the larger of both limits counts.
	MinDelta  float64 `json:"min_delta,omitempty"`
	Cells     string  `json:"cells,omitempty"`     // glob over the printed name; empty: all
	Benchmark string  `json:"benchmark,omitempty"` // globs over the fields of the identity
	Variant   string  `json:"variant,omitempty"`
	Input     string  `json:"input,omitempty"`
	Phase     string  `json:"phase,omitempty"` // exact; empty: the whole run
	Part      string  `json:"part,omitempty"`  // glob; empty: every part
	Against   string  `json:"against,omitempty"`
	Level     Level   `json:"level"`
	// Statistic that an absolute kind is compared with: median (default), min, max.
	Statistic string `json:"statistic,omitempty"`
	// EachRun makes one run beyond an absolute limit enough to fail.
	EachRun bool `json:"each_run,omitempty"`
	// Implicit budgets are not in the suite file: crash_rate and error_rate at
	// most 0, every check true. One that is in the suite file replaces them.
	Implicit bool   `json:"implicit,omitempty"`
	Text     string `json:"text,omitempty"` // as the suite file has it: "max_regression: 5%"
	Source   Source `json:"source,omitzero"`
}

// Source is where a budget stands in a suite file.
type Source struct {
	Path   string `json:"path,omitempty"` // relative to the repository's root where there is one
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Commit is set where the file is the comparison commit's; empty: the file is
	// the judged one's (head's; at a desk the working file).
	Commit string `json:"commit,omitempty"`
	// HeadLine is the line of the looser budget in head's file that this one
	// stands in for until the merge: the place to annotate on head. 0: head's file
	// has none; of several it is the first in the file.
	HeadLine int `json:"head_line,omitempty"`
}

// LineOnHead is the line of head's suite file that the budget is about; 0 when
// there is none: it is built in, or deleted.
func (s Source) LineOnHead() int {
	if s.Commit == "" && s.Line > 0 {
		return s.Line
	}
	return s.HeadLine
}
