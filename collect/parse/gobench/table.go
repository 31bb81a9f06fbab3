package gobench

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchfmt"

	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/result"
)

// series is the lines of one benchmark. Its identity is package and printed
// name; both are in the part.
type series struct {
	part    string
	lines   int
	spoilt  bool // one of its lines was not whole
	begun   bool // its name was printed, and no result
	columns []column
}

// column is the numbers of one unit, one a line.
type column struct {
	unit   string
	values []float64
	line   int  // the last that gave one
	twice  bool // some line gave two
}

// table is everything that an output says of its benchmarks, in the order in
// which they were first named.
type table struct {
	series []*series
	byID   map[[2]string]*series // package and name
	units  benchfmt.UnitMetadataMap
	seen   map[string]bool // units
	odd    oddLines
	// infinite are parts with a number that is none.
	infinite  []string
	infinites int
}

func newTable() *table {
	return &table{byID: map[[2]string]*series{}, seen: map[string]bool{}}
}

// seriesOf finds the series of a line; nil for a name that no document can have.
func (t *table) seriesOf(l line) *series {
	id := [2]string{l.pkg, l.name}
	if s, ok := t.byID[id]; ok {
		return s
	}
	part := partOf(l.pkg, l.name)
	if err := usablePart(part); err != nil {
		t.odd.note(l, err.Error())
		t.byID[id] = nil
		return nil
	}
	s := &series{part: part}
	t.byID[id] = s
	t.series = append(t.series, s)
	return s
}

// put takes a number of the series' newest line.
func (s *series) put(unit string, value float64) {
	at := slices.IndexFunc(s.columns, func(c column) bool { return c.unit == unit })
	if at < 0 {
		at = len(s.columns)
		s.columns = append(s.columns, column{unit: unit})
	}
	c := &s.columns[at]
	c.twice = c.twice || c.line == s.lines
	c.line = s.lines
	c.values = append(c.values, value)
}

// measurements are one a series and unit.
func (t *table) measurements() []generic.Measurement {
	var out []generic.Measurement
	metrics := map[string]metric{}
	for _, s := range t.series {
		if len(s.columns) == 0 {
			if s.spoilt || s.begun {
				out = append(out, s.absent(standard(result.TimePerOp)))
			}
			continue
		}
		for i := range s.columns {
			c := &s.columns[i]
			m, known := metrics[c.unit]
			if !known {
				m = metricOf(c.unit, t.units)
				metrics[c.unit] = m
			}
			out = append(out, t.measurement(s, c, m))
		}
	}
	return out
}

// absent is the measurement of a series that has no number at all.
func (s *series) absent(m metric) generic.Measurement {
	reason := result.AbsentNotReported
	if s.spoilt {
		reason = result.AbsentUnreadable
	}
	return generic.Missing(m.name, s.part, reason, m.def)
}

func (t *table) measurement(s *series, c *column, m metric) generic.Measurement {
	switch {
	case s.spoilt:
		return s.absent(m)
	case c.twice:
		return generic.Missing(m.name, s.part, result.AbsentDuplicateName, m.def)
	}
	if slices.ContainsFunc(c.values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		t.notFinite(s.part, c.unit)
		return generic.Missing(m.name, s.part, result.AbsentNotFinite, m.def)
	}
	return generic.Present(m.name, s.part, m.value(generic.Median(c.values)), m.def)
}

func (t *table) notFinite(part, unit string) {
	if t.infinites++; len(t.infinite) < told {
		t.infinite = append(t.infinite, fmt.Sprintf("%s of %s", generic.Quote(unit), generic.Quote(part)))
	}
}

func (t *table) warnings() []string {
	out := t.odd.warnings()
	if t.infinites > 0 {
		out = append(out, "not a finite number: "+listed(t.infinite, t.infinites))
	}
	var begun []string
	n := 0
	for _, s := range t.series {
		if !s.begun {
			continue
		}
		if n++; len(begun) < told {
			begun = append(begun, generic.Quote(s.part))
		}
	}
	if n > 0 {
		out = append(out, fmt.Sprintf("no result behind the name of %s: it did not come so far, or prints to stdout itself (let it print to stderr, or run go test -v)", listed(begun, n)))
	}
	if w := t.repeated(); w != "" {
		out = append(out, w)
	}
	return out
}

// repeated tells of series with several lines, and how far the times of one are
// apart at most.
func (t *table) repeated() string {
	series, least, most := 0, 0, 0
	widest, from, to := "", 1.0, 1.0
	for _, s := range t.series {
		if s.lines < 2 || s.spoilt {
			continue
		}
		if series++; series == 1 {
			least = s.lines
		}
		least, most = min(least, s.lines), max(most, s.lines)
		lo, hi := s.extremes()
		if hi*from > to*lo || widest == "" { // hi/lo is more, without dividing by zero
			widest, from, to = s.part, lo, hi
		}
	}
	if series == 0 {
		return ""
	}
	lines := fmt.Sprint(most)
	if least < most {
		lines = fmt.Sprintf("%d to %d", least, most)
	}
	text := fmt.Sprintf("within_process: %s printed %s lines each: the median of a benchmark's lines is its number in this run, and one run it stays", counted(series, "benchmark", "benchmarks"), lines)
	if from < to {
		text += fmt.Sprintf("; the widest went from %v to %v ns/op (%s)", from, to, generic.Quote(widest))
	}
	return text
}

// extremes are the least and the largest time of the series' lines; 1 and 1
// where it has none.
func (s *series) extremes() (lo, hi float64) {
	for i := range s.columns {
		c := &s.columns[i]
		if c.unit != "ns/op" || c.twice {
			continue
		}
		lo, hi = slices.Min(c.values), slices.Max(c.values)
		if lo >= 0 && !math.IsInf(hi, 0) && !math.IsNaN(lo) && !math.IsNaN(hi) {
			return lo, hi
		}
	}
	return 1, 1
}

// oddLines are result lines that could not be taken as they stand.
type oddLines struct {
	told []string
	n    int
}

func (o *oddLines) note(l line, why string) {
	if o.n++; len(o.told) < told {
		o.told = append(o.told, fmt.Sprintf("line %d: %s: %s", l.number, why, generic.Quote(string(l.text))))
	}
}

func (o *oddLines) warnings() []string {
	out := slices.Clone(o.told)
	if o.n > len(out) {
		out = append(out, counted(o.n-len(out), "more line is no result either", "more lines are no results either"))
	}
	return out
}
