package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// junitElement is what jenkins-junit-10.xsd says of an element that we write.
type junitElement struct {
	required, optional []string
	children           []string
}

func junitSchema() map[string]junitElement {
	result := junitElement{optional: []string{"type", "message"}}
	return map[string]junitElement{
		"testsuites": {optional: []string{"name", "time", "tests", "failures", "errors"}, children: []string{"testsuite"}},
		"testsuite": {required: []string{"name", "tests", "failures", "errors"},
			optional: []string{"group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"},
			children: []string{"testsuite", "properties", "testcase", "system-out", "system-err"}},
		"properties": {children: []string{"property"}},
		"property":   {required: []string{"name", "value"}},
		"testcase": {required: []string{"name"}, optional: []string{"time", "classname", "group"},
			children: []string{"skipped", "error", "failure", "system-out", "system-err"}},
		"skipped": result, "error": result, "failure": result,
		"system-out": {}, "system-err": {},
	}
}

// Of the schema's SUREFIRE_TIME, the part without thousands separators.
var surefireTime = regexp.MustCompile(`^[0-9]*(\.[0-9]{0,3})?$`)

// checkJUnit holds a file against the schema's rules, without xmllint.
func checkJUnit(src []byte) error {
	schema := junitSchema()
	if strings.Contains(string(src), "\x00") {
		return fmt.Errorf("a NUL byte")
	}
	d := xml.NewDecoder(bytes.NewReader(src))
	var path []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			if len(path) != 0 {
				return fmt.Errorf("%s is left open", path)
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			rules, ok := schema[name]
			if !ok || len(path) == 0 && name != "testsuites" ||
				len(path) > 0 && !slices.Contains(schema[path[len(path)-1]].children, name) {
				return fmt.Errorf("<%s> in %s", name, path)
			}
			if err := checkAttributes(e, rules); err != nil {
				return err
			}
			path = append(path, name)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if err := checkCharacters(string(e)); err != nil {
				return err
			}
		}
	}
}

func checkAttributes(e xml.StartElement, rules junitElement) error {
	seen := map[string]bool{}
	for _, a := range e.Attr {
		n := a.Name.Local
		if !slices.Contains(rules.required, n) && !slices.Contains(rules.optional, n) {
			return fmt.Errorf("<%s %s> is not allowed", e.Name.Local, n)
		}
		if n == "time" && e.Name.Local != "testcase" && !surefireTime.MatchString(a.Value) {
			return fmt.Errorf("<%s time=%q>", e.Name.Local, a.Value)
		}
		if err := checkCharacters(a.Value); err != nil {
			return err
		}
		seen[n] = true
	}
	for _, n := range rules.required {
		if !seen[n] {
			return fmt.Errorf("<%s> without %s", e.Name.Local, n)
		}
	}
	return nil
}

func checkCharacters(s string) error {
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' || r == 0xfffe || r == 0xffff {
			return fmt.Errorf("character %U", r)
		}
	}
	return nil
}

func TestJUnitFollowsTheSchema(t *testing.T) {
	for name, v := range documents() {
		if err := checkJUnit(render(t, format{"junit.xml", JUnit, Options{}}, v)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The checker above must see what the schema sees.
func TestJUnitCheckerFindsFaults(t *testing.T) {
	for name, src := range map[string]string{
		"skipped on testsuites": `<testsuites skipped="1"></testsuites>`,
		"no tests attribute":    `<testsuites><testsuite name="a" failures="0" errors="0"></testsuite></testsuites>`,
		"unknown element":       `<testsuites><test/></testsuites>`,
		"wrong parent":          `<testsuites><testcase name="a"/></testsuites>`,
		"four decimals":         `<testsuites time="1.2345"></testsuites>`,
		"exponent":              `<testsuites time="1e9"></testsuites>`,
		"control character":     "<testsuites name=\"\x1b\"></testsuites>",
		"open":                  `<testsuites>`,
	} {
		if checkJUnit([]byte(src)) == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func TestJUnitAgainstXMLLint(t *testing.T) {
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip("xmllint is not installed (package libxml2-utils); TestJUnitFollowsTheSchema checks the same rules")
	}
	for name, v := range documents() {
		path := filepath.Join(t.TempDir(), "junit.xml")
		if err := os.WriteFile(path, render(t, format{"junit.xml", JUnit, Options{}}, v), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(lint, "--noout", "--nonet", "--schema", "testdata/xsd/jenkins-junit-10.xsd", path).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// junitFile is a JUnit file as a reader sees it.
type junitFile struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Name    string       `xml:"name,attr"`
			Class   string       `xml:"classname,attr"`
			Failure *junitResult `xml:"failure"`
			Error   *junitResult `xml:"error"`
			Skipped *junitResult `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}

func readJUnit(t *testing.T, v *verdict.Document) junitFile {
	t.Helper()
	var f junitFile
	if err := xml.Unmarshal(render(t, format{"junit.xml", JUnit, Options{}}, v), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestJUnitOutcomes(t *testing.T) {
	const passed, failure, bad, skipped = "passed", "failure", "error", "skipped"
	cases := []struct {
		name    string
		outcome verdict.Outcome
		grade   string
		gated   bool
		policy  string
		want    string
	}{
		{"pass", verdict.Pass, "", true, "", passed},
		{"fail", verdict.Fail, "", true, "", failure},
		{"fail at level warn", verdict.Fail, "", false, "", passed},
		{"suspect", verdict.Inconclusive, verdict.Suspect, true, "neutral", skipped},
		{"suspect, policy fail", verdict.Inconclusive, verdict.Suspect, true, "fail", failure},
		{"unproven, policy fail", verdict.Inconclusive, verdict.Unproven, true, "fail", passed},
		{"no data", verdict.NoData, "", true, "", bad},
		{"invalid", verdict.Invalid, "", true, "", bad},
		{"interrupted", verdict.Interrupted, "", true, "", bad},
		{"not comparable", verdict.NotComparable, "", true, "", skipped},
		{"no baseline", verdict.NoBaseline, "", true, "neutral", skipped},
		{"no baseline, policy fail", verdict.NoBaseline, "", true, "fail", failure},
		{"new", verdict.New, "", true, "pass", skipped},
		{"suspicious", verdict.Suspicious, "", true, "warn", passed},
		{"suspicious, policy fail", verdict.Suspicious, "", true, "fail", failure},
		{"accepted", verdict.Accepted, "", true, "", skipped},
		{"quarantined", verdict.Quarantined, "", false, "", skipped},
	}
	for _, c := range cases {
		v := codec()
		cell(v, "gzip/l6/go.mod", 3)
		f := absolute(v, 0, 3, c.outcome, 1, "first line\nsecond line")
		f.Grade, f.Gated = c.grade, c.gated
		v.Policy.On = map[string]string{string(c.outcome): c.policy}
		got := passed
		for _, tc := range readJUnit(t, v).Suites[0].Cases {
			for kind, r := range map[string]*junitResult{failure: tc.Failure, bad: tc.Error, skipped: tc.Skipped} {
				if r == nil {
					continue
				}
				got = kind
				if r.Message != "first line" || !strings.HasPrefix(r.Body, "first line\nsecond line\n") {
					t.Errorf("%s: message %q, body %q", c.name, r.Message, r.Body)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestJUnitTellsFailuresFirst(t *testing.T) {
	v := failing()
	f := readJUnit(t, v)
	if want := len(v.Cells) + len(v.Findings); f.Tests != want || f.Failures != 4 || f.Errors != 0 {
		t.Errorf("%d tests, %d failures, %d errors; want %d, 4, 0", f.Tests, f.Failures, f.Errors, want)
	}
	if f.Suites[0].Name != "codec.gzip" {
		t.Errorf("the first suite is %s, want the one with failures", f.Suites[0].Name)
	}
	for i, c := range f.Suites[0].Cases {
		if (c.Failure != nil) != (i < 4) {
			t.Errorf("case %d (%s) is out of order", i, c.Name)
		}
	}
}

// A cell that never ran is an error of its own, also when no budget speaks of it.
func TestJUnitTellsACellThatNeverRan(t *testing.T) {
	for _, s := range readJUnit(t, crashes()).Suites {
		for _, c := range s.Cases {
			if c.Name == "serve/fp32 (runs)" {
				if c.Error == nil || c.Class != "engine.serve[family=edge,lane=v4_1]" {
					t.Errorf("error %v, class %q", c.Error, c.Class)
				}
				return
			}
		}
	}
	t.Error("the cell has no test case")
}

// C46: whatever a name or a message holds, the file stays well-formed and the
// text readable.
func FuzzJUnitText(f *testing.F) {
	for _, s := range []string{nasty, "\x1b[31mred", "]]>", "]]]]>>", "a\r\nb\rc", "\xff", "\ufffe\uffff", "\x00", `"'<&>`, "\u0085\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := failing()
		v.Suite.Name, v.Cells[0].Name, v.Cells[0].Benchmark = s, s, s
		v.Cells[0].Labels = map[string]string{s: s}
		v.Cells[0].FailureReasons, v.Cells[0].Reproduce = []string{s}, s
		v.Sessions[0].Machine, v.Budgets[2].Text = s, s
		for i := range v.Findings {
			v.Findings[i].Message = s
		}
		src := render(t, format{"junit.xml", JUnit, Options{}}, v)
		if err := checkJUnit(src); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if got := readJUnit(t, v); got.Tests != len(v.Cells)+len(v.Findings) || got.Failures != 4 {
			t.Errorf("%d tests, %d failures", got.Tests, got.Failures)
		}
	})
}

func TestSeconds(t *testing.T) {
	for in, want := range map[float64]string{0: "0.000", -1: "0.000", 1.23456: "1.235", 1e9: "1000000000.000", 1e-9: "0.000"} {
		if got := seconds(in); got != want || !surefireTime.MatchString(got) {
			t.Errorf("seconds(%v) = %s, want %s", in, got, want)
		}
	}
}
