package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/perfweir/perfweir/collect/parse"
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// readers applies the suite's readers. One that cannot read leaves its metrics
// absent and says why; the others go on.
func (j *job) readers() {
	ended := j.out.Status // what one reader finds decides nothing about the next
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
		j.blame(got)
		if len(got.Measurements) == 0 && ended.OK() && !got.Failed {
			j.nothing(rd, result.AbsentNotReported)
		}
	}
}

// blame takes what a tool says about its own failure. One that says it failed
// has, whatever exit status came through: a pipe or a script may have lost it
// (C27). Its line makes the reason of a run that failed worth reading (C45).
func (j *job) blame(got generic.Reading) {
	d := &j.out.Detail
	switch {
	case j.out.Status.OK() && got.Failed:
		j.out.Status, d.Reason = result.Failed, "its output says that it failed"
		d.StderrTail = tail(j.run.Folder, StderrLog, stderrTail)
	case j.out.Status != result.Failed && j.out.Status != result.Signal:
		return // we ended it, or it never began: that says more
	}
	if got.Why != "" {
		d.Reason += ": " + got.Why
	}
}

// nothing says that a run which ended well has no number of a format. Which
// parts there should have been is not known, so it stands for the whole: nothing
// measured never passes. A run that did not end well is judged by that.
func (j *job) nothing(rd plan.Read, reason string) {
	if f, ok := parse.FormatOf(rd.Format); ok {
		j.add(generic.Missing(f.Metric, "", reason, result.Catalogue()[f.Metric]))
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
	switch cut := j.cut(rd.From); {
	case cut && rd.Count != "":
		return generic.Reading{}, fmt.Errorf("count metric %s: %w", rd.Metric, errCut)
	case cut && rd.Format != "":
		return generic.Reading{}, fmt.Errorf("read %s: %w", rd.Format, errCut)
	}
	text, err := j.text(rd.From)
	if err != nil {
		return generic.Reading{}, err
	}
	switch {
	case rd.Count != "":
		return generic.Count(rd, text, j.exit.Wall.Seconds())
	case rd.Format != "":
		return formatted(rd.Format, text)
	}
	return generic.Pattern(rd, text)
}

// formatted reads what a known tool printed.
func formatted(name string, text []byte) (generic.Reading, error) {
	f, ok := parse.FormatOf(name)
	if !ok {
		return generic.Reading{}, fmt.Errorf("format %q is not known", name)
	}
	return f.Read(text)
}

// errCut marks output that was cut where all of it is needed: matches that are
// counted, results of which the last may be half a line. What a pattern finds in
// cut output it has still found.
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
	if j.out.Status.OK() {
		j.nothing(rd, reason)
	}
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
