package exhibit

import "time"

// Trend is a metric of one cell over stored sessions.
type Trend struct {
	Cell   string `json:"cell"` // its newest name
	Metric string `json:"metric"`
	Phase  string `json:"phase,omitempty"`
	Part   string `json:"part,omitempty"`
	Unit   string `json:"unit"`
	Better string `json:"better,omitempty"` // result.Lower, result.Higher; empty: unknown
	// Series are the sessions that may be compared with each other, the one that
	// began first in front. What was measured on another machine, under another
	// definition of the cell or of the metric is a series of its own.
	Series []TrendSeries `json:"series"`
	// Gaps are sessions that have the cell and no number of the metric. Nothing is
	// put in their place.
	Gaps int `json:"gaps,omitempty"`
}

// TrendSeries is one stretch of comparable sessions, oldest first.
type TrendSeries struct {
	// Apart says what sets it apart from the series before it; "" of the first.
	Apart  []string     `json:"apart,omitempty"`
	Anchor TrendAnchor  `json:"anchor"`
	Points []TrendPoint `json:"points"`
	Steps  []TrendStep  `json:"steps,omitempty"`
	Creeps []TrendCreep `json:"creeps,omitempty"`
	Drift  *TrendDrift  `json:"drift,omitempty"`
	// Note says why changes were not looked for; "" where they were.
	Note string `json:"note,omitempty"`
}

// TrendAnchor is what ratios are to.
type TrendAnchor struct {
	Commit string  `json:"commit,omitempty"` // that was asked for; empty: the first session of the series
	Value  float64 `json:"value"`
	// Missing is set where a commit was asked for that no session of the series is of.
	Missing bool `json:"missing,omitempty"`
}

// TrendPoint is one session.
type TrendPoint struct {
	Session   string    `json:"session"`
	StartedAt time.Time `json:"started_at"`
	Commit    string    `json:"commit,omitempty"`
	Dirty     bool      `json:"dirty,omitempty"`
	Runs      int       `json:"runs"` // clean ones behind the median
	Median    float64   `json:"median"`
	Ratio     *float64  `json:"ratio,omitempty"` // to the anchor; nil with a zero or negative value
}

// TrendStep is a change of level: Points[At] is the first of the new one.
type TrendStep struct {
	At    int     `json:"at"`
	Ratio float64 `json:"ratio"`
	P     float64 `json:"p"`
}

// TrendCreep is a stretch over which the metric moved little by little: Points
// From to To, exclusive.
type TrendCreep struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Ratio float64 `json:"ratio"` // along the stretch, steps within it not counted
	P     float64 `json:"p"`
}

// TrendDrift is how far the newest sessions lie from the anchor: the sum of steps
// and creeps that were each within a budget.
type TrendDrift struct {
	Sessions int        `json:"sessions"` // newest ones, behind it
	Anchored int        `json:"anchored"` // sessions of the anchor
	Ratio    float64    `json:"ratio"`
	Interval [2]float64 `json:"interval"` // one-sided bounds, each at Level
	Level    float64    `json:"level"`
}
