package generic

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
)

// reportSource is the source of what a program measured of itself.
const reportSource = "report"

// metricName is the form of a metric's name.
var metricName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,127}$`)

func validName(s string) bool { return metricName.MatchString(s) }

// report is a program's document as it was read, before anything follows from it.
type report struct {
	attempts, errors, units, duration number
	latencies                         int // samples of the metric latency
	kinds                             Reading
	metrics                           Reading
	checks                            Reading
}

// Report reads the document that a program wrote about itself (see the package's
// documentation). unitsPerAttempt is the suite's units_per_run, 0 for none.
func Report(raw []byte, unitsPerAttempt float64) (Reading, error) {
	doc, warnings, err := readReport(raw)
	if err != nil {
		return Reading{}, fmt.Errorf("read the metrics document: %w", err)
	}
	out := Reading{Warnings: warnings}
	out.add(doc.metrics.Measurements...)
	out.add(doc.totals(unitsPerAttempt, &out)...)
	out.add(doc.kinds.Measurements...)
	out.add(doc.checks.Measurements...)
	out.Warnings = slices.Concat(out.Warnings, doc.metrics.Warnings, doc.kinds.Warnings, doc.checks.Warnings)
	if twice := duplicate(out.Measurements); twice != "" {
		return Reading{}, fmt.Errorf("read the metrics document: metric %s is given twice", twice)
	}
	return out, nil
}

func readReport(raw []byte) (report, []string, error) {
	s := &scanner{data: raw}
	var doc report
	var notes Reading
	err := s.object("the document", func(key string) error {
		switch key {
		case "metrics":
			return s.metrics(&doc)
		case "attempts":
			return s.total(key, &doc.attempts, &notes, true)
		case "errors":
			return s.total(key, &doc.errors, &notes, true)
		case "units":
			return s.total(key, &doc.units, &notes, false)
		case "duration":
			return s.total(key, &doc.duration, &notes, false)
		case "counts":
			return s.counts(&doc.kinds)
		case "checks":
			return s.checks(key, &doc.checks)
		}
		notes.warn("key %s is not known and was skipped", Quote(key))
		return s.skip(key)
	})
	if err == nil {
		err = s.end()
	}
	return doc, notes.Warnings, err
}

// quantity reads a number that cannot be negative and, where whole, has no
// fraction. One that is not finite is noted.
func (s *scanner) quantity(path string, notes *Reading, whole bool) (number, error) {
	s.peek()
	at := s.pos
	n, err := s.number(path)
	if err != nil {
		return n, err
	}
	if !n.finite() {
		s.noteBad(path, at, n, notes)
		return n, nil
	}
	if n.value < 0 {
		return n, failAt(at, "%s: %v is negative", path, n.value)
	}
	if whole && n.value != math.Trunc(n.value) {
		return n, failAt(at, "%s: %v is not a whole number", path, n.value)
	}
	return n, nil
}

func (s *scanner) total(path string, to *number, notes *Reading, whole bool) (err error) {
	*to, err = s.quantity(path, notes, whole)
	return err
}

func (s *scanner) noteBad(path string, at int, n number, notes *Reading) {
	notes.warn("%s (line %d) is %s, not a finite number", path, s.line(at), Quote(n.bad))
}

// counts reads whole numbers, plain or by kind.
func (s *scanner) counts(out *Reading) error {
	return s.object("counts", func(metric string) error {
		path := join("counts", metric)
		if err := s.usable(path, metric); err != nil {
			return err
		}
		def := named(metric, result.Level, reportSource)
		if s.peek() != '{' {
			n, err := s.quantity(path, out, true)
			out.add(Present(metric, "", n.value, def))
			return err
		}
		total := 0.0
		err := s.object(path, func(kind string) error {
			if kind == "" {
				return failAt(s.pos, "%s: a kind has no name", path)
			}
			n, err := s.quantity(join(path, kind), out, true)
			total += n.value // NaN stays: a sum of what is known is not the sum
			out.add(Present(metric, kind, n.value, def))
			return err
		})
		out.add(Present(metric, "", total, def))
		return err
	})
}

// usable checks the name of a metric that a program gives.
func (s *scanner) usable(path, metric string) error {
	if !validName(metric) {
		return failAt(s.pos, "%s: a metric's name has lower case letters, digits and underscores", path)
	}
	if slices.Contains(reserved(), metric) {
		return failAt(s.pos, "%s: perfweir measures %s itself: choose another name", path, metric)
	}
	return nil
}

// reserved are the metrics that a program's document cannot name: they are
// measured from outside, or follow from keys of their own.
func reserved() []string {
	return []string{
		result.WallTime, result.CPUTime, result.UserTime, result.SystemTime, result.MemoryPeak,
		result.MemoryPeakProcess, result.OutputSize, result.CrashRate, result.ErrorRate,
		result.ErrorCount, result.Attempts, result.Check,
	}
}

// totals makes the measurements that follow from the keys of the document itself.
func (d *report) totals(unitsPerAttempt float64, out *Reading) []Measurement {
	defs := result.Catalogue()
	var list []Measurement
	attempts := d.attempts
	if !attempts.given && !d.errors.given && d.latencies > 0 {
		attempts = number{value: float64(d.latencies), given: true}
	}
	if attempts.given {
		list = append(list, Present(result.Attempts, "", attempts.value, defs[result.Attempts]))
	}
	if d.errors.given {
		list = append(list, Present(result.ErrorCount, "", d.errors.value, defs[result.ErrorCount]))
		list = append(list, d.errorRate(defs[result.ErrorRate], out))
	}
	if m, ok := d.throughput(attempts, unitsPerAttempt, defs[result.Throughput]); ok {
		list = append(list, m)
	}
	return list
}

// errorRate is errors / attempts. Of no attempts it is absent: a rate over nothing
// is not a rate of nothing.
func (d *report) errorRate(def result.Metric, out *Reading) Measurement {
	switch {
	case !d.attempts.given, d.attempts.value == 0:
		return Missing(result.ErrorRate, "", result.AbsentNotReported, def)
	case d.errors.value > d.attempts.value:
		out.warn("errors: %v of %v attempts", d.errors.value, d.attempts.value)
		return Missing(result.ErrorRate, "", result.AbsentUnreadable, def)
	}
	return Present(result.ErrorRate, "", d.errors.value/d.attempts.value, def)
}

// throughput is units per second of the program's own duration. It is left out
// where the document speaks neither of units nor of a duration.
func (d *report) throughput(attempts number, unitsPerAttempt float64, def result.Metric) (Measurement, bool) {
	if !d.units.given && !d.duration.given {
		return Measurement{}, false
	}
	units := d.units
	if !units.given && attempts.given && unitsPerAttempt > 0 {
		units = number{value: unitsPerAttempt * attempts.value, given: true, bad: attempts.bad}
	}
	switch {
	case !units.given && !d.units.given && unitsPerAttempt <= 0:
		return Measurement{}, false // a duration alone promises no throughput
	case !units.given, !d.duration.given:
		return Missing(result.Throughput, "", result.AbsentNotReported, def), true
	case d.duration.value == 0:
		return Missing(result.Throughput, "", result.AbsentTooShort, def), true
	}
	return Present(result.Throughput, "", units.value/d.duration.value, def), true
}

// duplicate returns the first metric that has two values for one part, or "".
func duplicate(list []Measurement) string {
	type key struct{ metric, part string }
	seen := make(map[key]bool, len(list))
	for _, m := range list {
		k := key{m.Metric, m.Part}
		if seen[k] {
			return m.Metric
		}
		seen[k] = true
	}
	return ""
}
