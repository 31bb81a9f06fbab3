// Package series owns the samples of one run: time-stamped readings, series by
// series, and the form they have in samples.csv.
//
// It holds types and the codec. It refuses to read anything from a machine
// (collect/sample does) and to reduce a series to a number (collect/reduce
// does). Its data goes to both, to the run's folder and to the timelines of the
// exhibits. It imports the standard library alone, and it touches no file.
package series

import (
	"errors"
	"fmt"
	"math"
)

// Metrics of the process tree that more than one room speaks of. They are names
// of series, not of measurements: reduce turns them into those.
const (
	Memory    = "memory"    // sum of the resident sets of the tree, B
	CPU       = "cpu"       // CPU time of the tree since the run's start, s, cumulative
	Processes = "processes" // processes alive, 1
	Threads   = "threads"   // threads alive, 1
)

// Series holds the readings of one metric (and part) in one run, in time order.
// T and V have the same length. A reading that failed is not in the series: a
// gap in T is how absence looks.
type Series struct {
	Metric string
	Part   string    // device, rail, disk; empty for the whole
	Unit   string    // base unit: "B", "s", "W", "1"
	T      []float64 // s since the run's start, never decreasing
	V      []float64 // in Unit, finite
}

// Key is what tells one series of a set from another.
type Key struct {
	Metric, Part, Unit string
}

// Key returns the series' key.
func (s *Series) Key() Key { return Key{s.Metric, s.Part, s.Unit} }

// Len is the number of readings.
func (s *Series) Len() int { return len(s.T) }

// Add appends one reading. The caller sees to it that t does not decrease.
func (s *Series) Add(t, v float64) {
	s.T = append(s.T, t)
	s.V = append(s.V, v)
}

// Sentinels for what makes a series unfit to be stored or reduced.
var (
	// ErrNotFinite marks a reading that is NaN or infinite.
	ErrNotFinite = errors.New("a reading is not a finite number")
	// ErrOrder marks time that runs backwards inside a series.
	ErrOrder = errors.New("time runs backwards")
	// ErrLength marks a series with more times than values, or fewer.
	ErrLength = errors.New("as many times as values are needed")
)

// Check returns the first thing that is wrong with the series, wrapped around
// ErrNotFinite, ErrOrder or ErrLength; nil when it is sound.
func (s *Series) Check() error {
	if len(s.T) != len(s.V) {
		return fmt.Errorf("series %q: %d times, %d values: %w", s.Metric, len(s.T), len(s.V), ErrLength)
	}
	for i, t := range s.T {
		if !finite(t) || !finite(s.V[i]) {
			return fmt.Errorf("series %q, reading %d: %w", s.Metric, i, ErrNotFinite)
		}
		if i > 0 && t < s.T[i-1] {
			return fmt.Errorf("series %q, reading %d: %w", s.Metric, i, ErrOrder)
		}
	}
	return nil
}

// Set is every series of one run. Its order is the order of the sources that
// were read, and is kept by the codec.
type Set struct {
	Series []Series
}

// Find returns the first series of a metric and part; ok is false when the run
// has none, which is not the same as an empty one.
func (s Set) Find(metric, part string) (found Series, ok bool) {
	for i := range s.Series {
		if s.Series[i].Metric == metric && s.Series[i].Part == part {
			return s.Series[i], true
		}
	}
	return Series{}, false
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
