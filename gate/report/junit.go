package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// JUnit writes junit.xml in the dialect of Jenkins (junit-10.xsd): one test
// suite a benchmark, in it one test case a cell (its runs) and one a finding,
// failing ones first. Outcomes become passed, failure, error or skipped; an
// outcome that the policy fails is a failure.
//
// The totals of <testsuites> carry no "skipped": the schema has no such
// attribute there. Each <testsuite> has it.
func JUnit(w io.Writer, v *verdict.Document, opts Options) error {
	f := factsOf(v)
	all := junit.Testsuites{Name: xmlLine("perfweir "+v.Suite.Name, maxName)}
	var total float64
	for _, s := range f.junitSuites() {
		s.suite.Time = seconds(s.time)
		total += s.time
		all.Suites = append(all.Suites, *s.suite)
		all.Tests += s.suite.Tests
		all.Failures += s.suite.Failures
		all.Errors += s.suite.Errors
	}
	all.Time = seconds(total)
	out := bufio.NewWriterSize(w, 1<<16)
	if _, err := out.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"); err != nil {
		return fmt.Errorf("write junit.xml: %w", err)
	}
	if err := all.WriteXML(out); err != nil {
		return fmt.Errorf("write junit.xml: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write junit.xml: %w", err)
	}
	return nil
}

// junitSuite is a test suite while it is filled.
type junitSuite struct {
	suite *junit.Testsuite
	time  float64 // s
	worst int     // place of its first case: suites with failures come first
}

// junitCase is a test case with what it is sorted by.
type junitCase struct {
	test  junit.Testcase
	cell  int
	place int
}

// Places of a test case in its suite.
const (
	placeFailure = iota
	placeError
	placeSkipped
	placePassed
)

// junitSuites fills one suite a benchmark, worst first, else in the order of the
// document.
func (f *facts) junitSuites() []*junitSuite {
	cases := map[string][]junitCase{}
	time := map[string]float64{}
	var names []string
	for i := range f.v.Cells {
		c := &f.v.Cells[i]
		if _, ok := cases[c.Benchmark]; !ok {
			names = append(names, c.Benchmark)
		}
		cases[c.Benchmark] = append(cases[c.Benchmark], f.junitCell(i))
		time[c.Benchmark] += cellSeconds(c)
	}
	classes := make([]string, len(f.v.Cells))
	for i := range f.v.Findings {
		x := &f.v.Findings[i]
		if x.Cell < 0 || x.Cell >= len(f.v.Cells) {
			continue
		}
		if classes[x.Cell] == "" {
			classes[x.Cell] = f.className(x.Cell)
		}
		b := f.v.Cells[x.Cell].Benchmark
		cases[b] = append(cases[b], f.junitFinding(i, classes[x.Cell]))
	}
	suites := make([]*junitSuite, 0, len(names))
	for id, name := range names {
		suites = append(suites, f.junitSuite(id, name, time[name], cases[name]))
	}
	slices.SortStableFunc(suites, func(a, b *junitSuite) int { return cmp.Compare(a.worst, b.worst) })
	return suites
}

func (f *facts) junitSuite(id int, benchmark string, time float64, cases []junitCase) *junitSuite {
	slices.SortStableFunc(cases, func(a, b junitCase) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.cell, b.cell))
	})
	s := &junit.Testsuite{Name: xmlLine(f.v.Suite.Name+"."+benchmark, maxName), ID: id}
	s.Testcases = make([]junit.Testcase, 0, len(cases))
	if len(f.v.Sessions) > 0 {
		s.Hostname = xmlLine(f.v.Sessions[0].Machine, maxName)
		s.SetTimestamp(f.v.Sessions[0].StartedAt.UTC())
	}
	s.AddProperty("outcome", string(f.v.Outcome))
	s.AddProperty("exit_code", strconv.Itoa(f.v.ExitCode))
	s.AddProperty("baseline", xmlLine(f.baseline(), maxSentence))
	s.AddProperty("environment", xmlLine(strings.Join(f.environment(), ", "), maxSentence))
	for i := range cases {
		s.AddTestcase(cases[i].test)
	}
	return &junitSuite{suite: s, time: time, worst: cases[0].place}
}

// junitCell is the test case of a cell's runs: whether it ran, and how. An
// outcome that one of its findings explains is told there, not here.
func (f *facts) junitCell(i int) junitCase {
	c := &f.v.Cells[i]
	t := junit.Testcase{
		Name:      xmlLine(c.Name, maxName) + " (runs)",
		Classname: f.className(i),
		Time:      seconds(cellSeconds(c)),
	}
	first := fmt.Sprintf("%d of %s seen", c.Seen, plural(c.Expected(), "planned run"))
	if s := statusText(c); s != "" {
		first += ": " + s
	}
	lines := append([]string{first}, wordsOf(c.Reasons)...)
	lines = append(lines, c.FailureReasons...)
	if c.Reproduce != "" {
		lines = append(lines, "reproduce: "+c.Reproduce)
	}
	body := xmlBody(strings.Join(lines, "\n"))
	outcome := verdict.Pass
	if f.ownOutcome[i] {
		outcome = c.Outcome
	}
	place := f.setResult(&t, outcome, xmlLine(first, maxSentence), body)
	return junitCase{t, i, place}
}

// junitFinding is the test case of finding i.
func (f *facts) junitFinding(i int, class string) junitCase {
	x := &f.v.Findings[i]
	b := f.budget(x.Budget)
	what := metricText(x.Metric, x.Phase, x.Part) + " (" + f.budgetText(b) + ")"
	if name := f.since(f.comparison(x)); name != "" {
		what += " since " + name // a case of its own beside that of the newest sessions
	}
	name := xmlLine(f.cell(x.Cell).Name, maxName) + " " + xmlLine(what, maxName)
	t := junit.Testcase{Name: name, Classname: class}
	outcome := x.Outcome
	if !f.v.Decides(x) && outcome != verdict.Quarantined {
		outcome = verdict.Pass // it does not decide
	}
	if outcome == verdict.Pass && x.Confirmed == nil {
		return junitCase{t, x.Cell, placePassed}
	}
	message, _, _ := strings.Cut(strings.TrimSpace(x.Message), "\n")
	place := f.setResult(&t, outcome, xmlLine(message, maxSentence), xmlBody(f.findingBody(i)))
	return junitCase{t, x.Cell, place}
}

// findingBody is everything that is known about a finding, in lines.
func (f *facts) findingBody(i int) string {
	x := &f.v.Findings[i]
	r := f.findingRow(i)
	lines := []string{x.Message, "outcome: " + r.outcome}
	if r.reference != none {
		lines = append(lines, "reference: "+r.reference)
	}
	if r.current != none {
		lines = append(lines, "current: "+r.current)
	}
	if r.change != none {
		lines = append(lines, "change: "+r.change)
	}
	lines = append(lines, "budget: "+r.budget)
	if r.place != "" {
		lines = append(lines, "at: "+r.place)
	}
	if r.why != "" && r.why != x.Message {
		lines = append(lines, "why: "+r.why)
	}
	if c := f.cell(x.Cell); c.Reproduce != "" {
		lines = append(lines, "reproduce: "+c.Reproduce)
	}
	return strings.Join(lines, "\n")
}

// setResult gives a test case its result and returns its place. The table is
// that of the exit codes: what the policy fails is a failure here too.
func (f *facts) setResult(t *junit.Testcase, o verdict.Outcome, message, body string) int {
	r := &junit.Result{Message: message, Type: string(o), Data: body}
	switch {
	case o == verdict.Pass || o == verdict.Suspicious && !f.v.Policy.Stops(o):
		if body != "" {
			t.SystemOut = &junit.Output{Data: body}
		}
		return placePassed
	case o == verdict.NoData || o == verdict.Invalid || o == verdict.Interrupted:
		t.Error = r
		return placeError
	case f.v.Policy.Stops(o):
		t.Failure = r
		return placeFailure
	}
	t.Skipped = r
	return placeSkipped
}

// className is what CI groups by: suite, benchmark, labels. A point in it would
// be read as a package.
func (f *facts) className(i int) string {
	c := &f.v.Cells[i]
	name := f.v.Suite.Name + "." + c.Benchmark
	var labels []string
	for _, k := range sortedKeys(c.Labels) {
		labels = append(labels, strings.ReplaceAll(k+"="+c.Labels[k], ".", "_"))
	}
	if len(labels) > 0 {
		name += "[" + strings.Join(labels, ",") + "]"
	}
	return xmlLine(name, maxName)
}

// cellSeconds is about how long a cell's clean runs took together.
func cellSeconds(c *verdict.Cell) float64 {
	_, clean := crashed(c)
	return c.Clean[result.WallTime] * float64(clean)
}

// seconds prints a time as the schema's pattern wants it: digits, a point, three
// digits.
func seconds(s float64) string {
	if !(s > 0) || math.IsInf(s, 0) {
		s = 0
	}
	return strconv.FormatFloat(s, 'f', 3, 64)
}
