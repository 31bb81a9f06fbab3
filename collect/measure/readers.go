package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
)

// readers applies the suite's readers. One that cannot read leaves its metrics
// absent and says why; the others go on.
func (j *job) readers() {
	for _, rd := range j.exec.Read {
		got, err := j.reader(rd)
		if err != nil {
			j.unread(rd, err)
			continue
		}
		j.add(got.Measurements...)
		for _, w := range got.Warnings {
			j.warn("%s", w)
		}
	}
}

func (j *job) reader(rd plan.Read) (generic.Reading, error) {
	switch {
	case rd.Samples != "":
		raw, err := j.read(rd.Samples)
		if err != nil {
			return generic.Reading{}, err
		}
		return generic.Samples(rd, bytes.NewReader(raw))
	case rd.Checks != "":
		raw, err := j.read(rd.Checks)
		if err != nil {
			return generic.Reading{}, err
		}
		return generic.Checks(raw)
	}
	if rd.Count != "" && j.cut(rd.From) {
		return generic.Reading{}, fmt.Errorf("count metric %s: %w", rd.Metric, errCut)
	}
	text, err := j.text(rd.From)
	if err != nil {
		return generic.Reading{}, err
	}
	if rd.Count != "" {
		return generic.Count(rd, text, j.exit.Wall.Seconds())
	}
	return generic.Pattern(rd, text)
}

// errCut marks a count over output that was cut: it is no count of the output.
// What a pattern finds in cut output it has still found.
var errCut = errors.New("its output was cut before the end: raise limits: stdout")

func (j *job) cut(from string) bool {
	switch logOf(from) {
	case StdoutLog:
		return j.exit.StdoutBytes > j.logLimit
	case StderrLog:
		return j.exit.StderrBytes > j.logLimit
	}
	return false
}

// logOf is our file that a reader's from means; empty: a file of the suite's.
func logOf(from string) string {
	switch from {
	case "", "stdout":
		return StdoutLog
	case "stderr":
		return StderrLog
	}
	return ""
}

// text is what a pattern is matched in, cleaned once for all readers.
func (j *job) text(from string) ([]byte, error) {
	name := logOf(from)
	if known, ok := j.texts[from]; ok {
		return known, nil
	}
	var raw []byte
	var err error
	if name == "" {
		raw, err = j.read(from)
	} else {
		raw, _, err = readFile(j.run.Folder, name, name, j.logLimit)
	}
	if err != nil {
		return nil, err
	}
	j.texts[from] = generic.Clean(raw)
	return j.texts[from], nil
}

// unread leaves the metrics of a reader absent.
func (j *job) unread(rd plan.Read, err error) {
	reason := absentFor(err)
	j.add(generic.Absences(rd, reason)...)
	var wrong *kindError
	if errors.As(err, &wrong) && j.misshapen == "" {
		j.misshapen = err.Error()
	}
	// A run that ended badly often leaves no file: that is no news.
	if !errors.Is(err, fs.ErrNotExist) || j.out.Status.OK() {
		j.warn("%v", err)
	}
}

// report reads the document that the program wrote about itself, if it did.
func (j *job) report() {
	raw, _, err := readFile(j.run.Folder, MetricsFile, EnvMetrics, j.outLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var got generic.Reading
	if err == nil {
		got, err = generic.Report(raw, j.exec.UnitsPerRun)
	}
	if err != nil {
		var wrong *kindError
		if errors.As(err, &wrong) && j.misshapen == "" {
			j.misshapen = err.Error()
		}
		j.warn("%v", err)
		return
	}
	j.add(got.Measurements...)
	for _, w := range got.Warnings {
		j.warn("%s", w)
	}
}
