// Package reduce turns the series of one run into measurements.
//
// It is pure: values in, values out. It holds the rule by which each number is
// made from readings, with its error bound or the reason of its absence. It
// refuses to read anything and to compare runs (the gate does). Its data goes to
// the columns of the results document.
package reduce

import (
	"errors"
	"math"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/series"
)

// MinTicks is the number of readings under which a series is no picture of a
// run: two readings at its edges say nothing of what lay between. The value is
// then absent, too_short.
const MinTicks = 3

// Value is one measurement: a number or the reason why there is none.
type Value struct {
	V      float64 // NaN when absent
	Bound  float64 // largest error of V in V's unit; NaN when it has no known bound
	Absent string  // one of result.Absent...; empty when there is a number
}

// OK reports whether there is a number.
func (v Value) OK() bool { return v.Absent == "" }

// Absent is the value that is not there, for a reason of the results document.
func Absent(reason string) Value {
	return Value{V: math.NaN(), Bound: math.NaN(), Absent: reason}
}

// Exact is a value that is right to within bound.
func Exact(v, bound float64) Value { return Value{V: v, Bound: bound} }

// Peak is the largest reading of a gauge. It has no bound: what rose and fell
// between two ticks was not seen, so the true peak is this or more.
func Peak(s series.Series) Value {
	if why := unfit(s); why != "" {
		return Absent(why)
	}
	peak := s.V[0]
	for _, v := range s.V[1:] {
		peak = max(peak, v)
	}
	return Value{V: peak, Bound: math.NaN()}
}

// Mean is the mean of a gauge over the time from its first to its last reading,
// by the trapezoid rule: readings that came close together do not weigh more.
// It is absent, too_short, too when all readings bear one time stamp.
func Mean(s series.Series) Value {
	if why := unfit(s); why != "" {
		return Absent(why)
	}
	last := s.Len() - 1
	span := s.T[last] - s.T[0]
	if span <= 0 {
		return Absent(result.AbsentTooShort)
	}
	var area sum
	for i := range last {
		// Halves first: the sum of two large readings may overflow.
		area.add((s.T[i+1] - s.T[i]) / span * (s.V[i]/2 + s.V[i+1]/2))
	}
	mean := area.value()
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return Absent(result.AbsentNotFinite)
	}
	return Value{V: mean, Bound: math.NaN()}
}

// unfit returns why nothing can be reduced from the series; empty when it can.
func unfit(s series.Series) string {
	switch err := s.Check(); {
	case errors.Is(err, series.ErrNotFinite):
		return result.AbsentNotFinite
	case err != nil:
		return result.AbsentUnreadable
	case s.Len() < MinTicks:
		return result.AbsentTooShort
	}
	return ""
}

// sum adds with Neumaier's compensation (Z. angew. Math. Mech. 54, 1974), so
// that a day of small steps does not drift.
type sum struct {
	total, lost float64
}

func (s *sum) add(x float64) {
	t := s.total + x
	if math.Abs(s.total) >= math.Abs(x) {
		s.lost += (s.total - t) + x
	} else {
		s.lost += (x - t) + s.total
	}
	s.total = t
}

func (s *sum) value() float64 { return s.total + s.lost }
