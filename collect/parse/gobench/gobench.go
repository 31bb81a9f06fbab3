// Package gobench reads the output of go test -bench, plain or as the events of
// go test -json, and of compiled test binaries: text in, measurements of one run
// out, to collect/measure.
//
// A benchmark is a part of the run. Its name is the package and the full printed
// name with a slash between, "github.com/acme/x/BenchmarkGet/size=1-8", whether
// the output holds one package or many: a package that joins later renames
// nothing (C01). The suffix -8 stays, since another number of processors is
// another measurement. Output that names no package gives the printed name alone.
//
// What stands behind a number is its unit, and a unit is a metric: ns/op is
// time_per_op, B/op bytes_per_op, allocs/op allocs_per_op, MB/s
// bytes_per_second; of a unit of the benchmark's own see metricOf.
//
// Lines of one benchmark (-count) are one process that repeated itself: they
// become one number, their median, and a warning says so. They are never runs.
//
// The room is pure. It refuses to open files, to know how the process ended, and
// to guess: a line that is not whole gives no number, and takes those of its
// benchmark with it. All of the text was written by the code under test.
package gobench

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/perfweir/perfweir/collect/parse/generic"
)

// source is that of every metric that is read here.
const source = "go-bench"

// Bounds of one output. A large module prints some thousand results in tens of
// units; what is beyond was not printed by benchmarks.
const (
	maxResults = 100_000  // lines
	maxLine    = 16 << 10 // bytes of one of them
	maxUnits   = 500
)

// Read reads what one run printed. Results before a failure are kept; that the
// tool failed is in the reading, with the line that says why. An output without
// any result is no error: it has no measurement, and a warning quotes its first
// lines (C05). It is an error where there is more than one can have printed.
func Read(raw []byte) (generic.Reading, error) {
	s := surveyOf(plainText(generic.Clean(raw)))
	t := newTable()
	if err := t.fill(s); err != nil {
		return generic.Reading{}, fmt.Errorf("read the output of go test -bench: %w", err)
	}
	for _, l := range s.long {
		t.spoil(l, fmt.Sprintf("it has more than %d bytes", maxLine))
	}
	t.begun(s.begun)
	out := generic.Reading{
		Measurements: t.measurements(), Warnings: slices.Concat(s.warnings(), t.warnings()),
		Failed: s.failed, Why: s.why,
	}
	return out, nil
}

// fill parses the result lines of a survey. The reader of benchfmt is given
// nothing else, so that the number of a line is its index; which package a line
// belongs to is the survey's to say.
func (t *table) fill(s *survey) error {
	if len(s.results) > maxResults {
		return fmt.Errorf("more than %d result lines", maxResults)
	}
	var text bytes.Buffer
	for _, l := range s.results {
		text.Write(l.text)
		text.WriteByte('\n')
	}
	reader := benchfmt.NewReader(&text, "")
	for reader.Scan() {
		_, n := reader.Result().Pos()
		switch record := reader.Result().(type) {
		case *benchfmt.Result:
			if err := t.add(s.results[n-1], record); err != nil {
				return err
			}
		case *benchfmt.SyntaxError:
			if l := s.results[n-1]; l.name != "" { // else a sentence about units
				t.spoil(l, record.Msg)
			}
		}
	}
	t.units = reader.Units()
	return reader.Err()
}

// add takes the numbers of one line.
func (t *table) add(l line, r *benchfmt.Result) error {
	if r.Iters < 1 {
		t.spoil(l, "it ran no iteration")
		return nil
	}
	s := t.seriesOf(l)
	if s == nil {
		return nil
	}
	s.lines++
	for _, v := range r.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" { // as printed: our own conversion keeps the last digit
			value, unit = v.OrigValue, v.OrigUnit
		}
		if !usableUnit(unit) {
			t.odd.note(l, fmt.Sprintf("unit %s cannot be one", generic.Quote(unit)))
			continue
		}
		if t.seen[unit] = true; len(t.seen) > maxUnits {
			return fmt.Errorf("more than %d units", maxUnits)
		}
		s.put(unit, value)
	}
	return nil
}

// spoil takes a line that is not whole. What the benchmark's other lines say is
// then only a part, so it has no numbers.
func (t *table) spoil(l line, why string) {
	if s := t.seriesOf(l); s != nil {
		s.spoilt = true
	}
	t.odd.note(l, why)
}

// begun notes benchmarks whose name was printed and no result behind it.
func (t *table) begun(lines []line) {
	for _, l := range lines {
		if s := t.seriesOf(l); s != nil && s.lines == 0 && !s.spoilt {
			s.begun = true
		}
	}
}

// partOf is the part that a benchmark is of the run.
func partOf(pkg, name string) string {
	if pkg == "" {
		return name
	}
	return pkg + "/" + name
}

// usablePart reports whether a part can stand in documents and reports.
func usablePart(part string) error {
	const maxPart = 1000 // bytes; a table-driven name is long, a page is no name
	switch {
	case len(part) > maxPart:
		return fmt.Errorf("its name has more than %d bytes", maxPart)
	case strings.ContainsFunc(part, unprintable):
		return errors.New("its name holds what cannot be printed")
	}
	return nil
}
