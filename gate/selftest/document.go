// Package selftest owns the self-test document (perfweir.selftest/v1): what the
// gate did on this machine with a suite in which nothing changed (A/A), and with
// one that was slowed down on purpose. It is pure: verdicts and results come in,
// rates with their intervals go out.
package selftest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/perfweir/perfweir/collect/result"
)

// Schema is the tag of the document.
const Schema = "perfweir.selftest/v1"

// LeastSessions is how many sessions tell their spread: fewer leave bounds so wide
// that the allowance is better.
const LeastSessions = 10

// Document is a whole self-test.
type Document struct {
	Schema    string      `json:"schema"`
	Suite     string      `json:"suite"`
	Machine   string      `json:"machine"`
	Host      result.Host `json:"host"`
	StartedAt time.Time   `json:"started_at"`
	Seconds   float64     `json:"seconds"` // in all
	Version   string      `json:"version,omitempty"`
	// Sessions of the unchanged suite that were measured, of so many asked for.
	Sessions    int     `json:"sessions"`
	Asked       int     `json:"asked"`
	Cells       int     `json:"cells"`
	Runs        int     `json:"runs"` // in one session
	FalseAlarms float64 `json:"false_alarms"`
	MinSessions int     `json:"min_sessions"`
	// Stored: each session judged against those before it, as the gate does.
	// The trials share stored sessions, so the interval is an approximation.
	Stored Rate `json:"stored"`
	// Pairs: each second session judged against the one before it alone. No session
	// is in two trials: the interval is exact.
	Pairs      Rate        `json:"pairs"`
	Metrics    []Metric    `json:"metrics"`
	Injections []Injection `json:"injections,omitempty"`
}

// Rate is how many of some trials went wrong.
type Rate struct {
	Trials   int        `json:"trials"`   // sessions judged
	Hits     int        `json:"hits"`     // with a false fail
	Interval [2]float64 `json:"interval"` // two-sided 95 %, Clopper and Pearson; 0 to 1 without a trial
	Findings int        `json:"findings"` // gated ones against stored sessions
	Fails    int        `json:"fails"`    // of those
	Suspects int        `json:"suspects"`
	Unproven int        `json:"unproven"`
}

// Metric is how finely a metric is resolved.
type Metric struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	Cells int    `json:"cells"`
	// Spread between sessions on the log scale, pooled over the cells; nil where
	// there is none to tell.
	Spread *Spread `json:"spread,omitempty"`
	// Columns are each cell's own: what the gate takes its session allowance from.
	Columns []ColumnSpread `json:"columns,omitempty"`
	// Control is the control cell's, where there was one.
	Control []ColumnSpread `json:"control,omitempty"`
	// Pairs: against one stored session. Stored: against at least MinSessions.
	Pairs  *Resolution `json:"pairs,omitempty"`
	Stored *Resolution `json:"stored,omitempty"`
}

// Spread is a standard deviation and on how much it rests.
type Spread struct {
	SD float64 `json:"sd"`
	DF int     `json:"df"`
	// Allowance is what a budget must be widened by when one session is held
	// against one stored session, one-sided at 5 %.
	Allowance float64 `json:"allowance"`
}

// ColumnSpread is the spread between sessions of one cell's metric, between its own
// and what the cells have in common (stats.SessionSpreads).
type ColumnSpread struct {
	Benchmark string  `json:"benchmark"`
	Variant   string  `json:"variant,omitempty"`
	Input     string  `json:"input,omitempty"`
	Phase     string  `json:"phase,omitempty"`
	Part      string  `json:"part,omitempty"`
	Digest    string  `json:"digest"`  // of the cell: the spread is of this definition
	Repeats   int     `json:"repeats"` // behind a session's median, as most have
	SD        float64 `json:"sd"`
	DF        int     `json:"df"`
}

// Resolution is what comparisons of unchanged programs came to.
type Resolution struct {
	Comparisons int     `json:"comparisons"`
	Largest     float64 `json:"largest"` // relative effect, either way
	// Floor is the 95th percentile of the size of the effects; nil under 20.
	Floor *float64 `json:"floor,omitempty"`
	// Budget is the least budget that nine of ten comparisons would have proved to
	// hold, at the planned repeats; nil under 10 with an interval.
	Budget *float64 `json:"budget,omitempty"`
}

// Injection is a known slowdown and who noticed.
type Injection struct {
	Text      string           `json:"text"` // "cpu=10%"
	Kind      string           `json:"kind"`
	Sessions  int              `json:"sessions"`
	Metrics   []Detection      `json:"metrics"`
	Elsewhere map[string]Count `json:"elsewhere"` // by metric: cells that were left alone
}

// Detection is what the gate said of a metric in the cells that were slowed down.
type Detection struct {
	Metric string `json:"metric"`
	// Moves is set where the injection can move the metric; where it cannot, each
	// fail is a false one.
	Moves bool `json:"moves"`
	Count
	Rate     [2]float64 `json:"rate"`                // of fails, two-sided 95 %
	Ratio    *float64   `json:"ratio,omitempty"`     // median over the findings
	MinRatio *float64   `json:"min_ratio,omitempty"` // least
	// Injected is the median change that was injected, as a ratio: of the metric that the
	// amount is a share of, nil for others and for fixed amounts. With "auto" it is what
	// the gate said that it finds with probability 0.9.
	Injected *float64 `json:"injected,omitempty"`
}

// Count is findings by what was decided.
type Count struct {
	Findings int `json:"findings"`
	Fails    int `json:"fails"`
	Suspects int `json:"suspects"`
}

// Encode writes a document; the same one gives the same bytes.
func Encode(w io.Writer, d *Document) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("encode self-test: %w", err)
	}
	return nil
}

// Decode reads a document; one of a newer major version is refused in words.
func Decode(r io.Reader) (*Document, error) {
	var d Document
	if err := json.NewDecoder(io.LimitReader(r, 64<<20)).Decode(&d); err != nil {
		return nil, fmt.Errorf("read self-test: %w", err)
	}
	if err := result.CheckSchema(d.Schema, Schema); err != nil {
		return nil, err
	}
	for i := range d.Metrics {
		m := &d.Metrics[i]
		if err := cmp.Or(checkSpreads(m.Columns, "columns"), checkSpreads(m.Control, "control")); err != nil {
			return nil, fmt.Errorf("read self-test: metrics[%d].%w", i, err)
		}
	}
	return &d, nil
}

// checkSpreads refuses what tells no spread, or not of what.
func checkSpreads(columns []ColumnSpread, name string) error {
	for k, c := range columns {
		switch {
		case !(c.SD >= 0) || math.IsInf(c.SD, 1) || c.DF < 1 || c.Repeats < 1:
			return fmt.Errorf("%s[%d]: no spread: sd %v on %d degrees of freedom, %d repeats", name, k, c.SD, c.DF, c.Repeats)
		case c.Digest == "":
			return fmt.Errorf("%s[%d]: no digest says which definition of the cell it is of", name, k)
		}
	}
	return nil
}
