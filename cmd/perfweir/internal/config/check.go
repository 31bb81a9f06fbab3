package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/plan"
)

// Defaults of the suite file. Those of a benchmark stand with the benchmark.
const (
	defaultInterval    = 0.1 // s
	minInterval        = 0.001
	defaultStdout      = 64 << 20
	defaultOut         = 4 << 30
	defaultCells       = 10_000
	defaultFalseAlarms = 0.05
	defaultSessions    = 10
	defaultMinSessions = 5
)

// maxName bounds the names of suites, benchmarks and variants, in bytes: they
// become check names, folder names and table cells.
const maxName = 200

// checker turns the mirror types into the documents of the other rooms and
// reports what only shows when several places of the file are seen together.
type checker struct {
	*reader
	f          *suiteFile
	metrics    map[string]metric // every metric that some benchmark can produce
	benchmarks []bench
}

func newChecker(r *reader, f *suiteFile) *checker {
	return &checker{reader: r, f: f, metrics: builtin()}
}

// file checks everything in the order in which one part needs another: metrics
// before the benchmarks that read them, benchmarks before the budgets that name
// them, budgets before the repeats that they call for.
func (c *checker) file(data []byte) *File {
	sum := sha256.Sum256(data)
	out := &File{}
	out.Suite.Path = c.path
	out.Suite.Digest = "sha256:" + hex.EncodeToString(sum[:])
	out.Suite.Name = c.suiteName()
	out.Suite.Build, _ = c.command(&c.f.Build, "build")
	out.Suite.Metrics = c.declare()
	c.readBenchmarks()
	out.Budgets = c.budgets()
	out.Accepted, out.Quarantine = c.accepted(), c.quarantine()
	for i := range out.Accepted {
		out.Suite.Accepted = append(out.Suite.Accepted, out.Accepted[i].Key())
	}
	for i := range c.benchmarks {
		out.Suite.Benchmarks = append(out.Suite.Benchmarks, c.benchmarks[i].finish())
	}
	if i := &c.f.Sampling.Interval; i.usable() && i.s < minInterval {
		c.problem(i.mark, "sampling more often than every millisecond would measure the sampler", "write 1ms or more; 100ms is the default")
	}
	out.Suite.Sampling.Interval = orDefault(c.f.Sampling.Interval.given(), c.f.Sampling.Interval.s, defaultInterval)
	l := &c.f.Limits
	out.Suite.Limits = plan.Limits{
		Stdout:  orDefault(l.Stdout.given(), l.Stdout.bytes, defaultStdout),
		Out:     orDefault(l.Out.given(), l.Out.bytes, defaultOut),
		Cells:   orDefault(l.Cells.given(), l.Cells.n, defaultCells),
		Retries: orDefault(l.Retries.given(), l.Retries.n, defaultRetries),
		Time:    l.Time.s,
	}
	out.Gate = c.gate()
	out.Baseline = c.baseline()
	out.Exclusive = c.exclusive()
	return out
}

func orDefault[T any](given bool, v, otherwise T) T {
	if given {
		return v
	}
	return otherwise
}

func (c *checker) suiteName() string {
	s := &c.f.Suite
	if !s.usable() {
		return ""
	}
	if what, instead := suiteFault(s.text); what != "" {
		c.problem(s.mark, what, instead)
		return ""
	}
	return s.text
}

// CheckSuiteName says why a text cannot be the name of a suite, and what to
// write instead. The name of a suite that comes from elsewhere than its file
// follows the same rules.
func CheckSuiteName(name string) error {
	if name == "" {
		return errors.New("the name of a suite is empty; give it one")
	}
	if what, instead := suiteFault(name); what != "" {
		return fmt.Errorf("%s; %s", what, instead)
	}
	return nil
}

// suiteFault is what is wrong with a suite's name, "" when nothing is. It becomes
// the name of an artifact, and GitHub refuses those with any of these characters.
func suiteFault(name string) (what, instead string) {
	if what, instead = nameFault(name, "suite name"); what != "" {
		return what, instead
	}
	if i := strings.IndexAny(name, `"':<>|*?/\`); i >= 0 {
		return fmt.Sprintf("suite name %s holds %q, which no artifact may be named with", quote(name), name[i]), "use letters, digits, blanks, dots, dashes"
	}
	if strings.Trim(name, ".") == "" {
		return fmt.Sprintf("suite name %s is a folder's, and sessions are kept under it", quote(name)), "use letters, digits, blanks, dots, dashes"
	}
	return "", ""
}

// name reports whether a name can be printed as it is.
func (c *checker) name(s *str, what string) bool {
	if !s.usable() {
		return false
	}
	fault, instead := nameFault(s.text, what)
	if fault != "" {
		c.problem(s.mark, fault, instead)
	}
	return fault == ""
}

// nameFault is what is wrong with a name, "" when nothing is.
func nameFault(name, kind string) (what, instead string) {
	switch {
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Sprintf("%s %s holds a character that cannot be printed", kind, quote(name)), "use letters, digits, punctuation and plain blanks"
	case strings.TrimSpace(name) != name:
		return fmt.Sprintf("%s %s starts or ends with a blank", kind, quote(name)), "remove it"
	case len(name) > maxName:
		return fmt.Sprintf("%s %s has %d bytes", kind, quote(name), len(name)), fmt.Sprintf("use at most %d", maxName)
	}
	return "", ""
}

// sourcePattern is PATH:LINE.
var sourcePattern = regexp.MustCompile(`^[^:\s][^:]*:[1-9][0-9]*$`)

func (c *checker) source(s *str) string {
	if s.usable() && !sourcePattern.MatchString(s.text) {
		c.problem(s.mark, fmt.Sprintf("source %s is not a place in a file", quote(s.text)), "write PATH:LINE, for example cmd/serve/main.go:88")
	}
	return s.text
}

// Shell strings run under bash with pipefail, so that a program that fails in
// front of a pipe fails the run (C27).
func shellArgv(text string) []string { return []string{"bash", "-o", "pipefail", "-c", text} }

// swallow finds what turns a failure into success in a shell string.
var swallow = regexp.MustCompile(`\|\|\s*(true|:|exit\s+0)(\s|;|$)`)

// command returns the argv of a command and whether it is a shell string.
func (c *checker) command(x *command, key string) ([]string, bool) {
	if !x.usable() {
		return nil, false
	}
	if x.shell {
		if found := swallow.FindString(x.args[0].text); found != "" {
			c.warn(x.mark, fmt.Sprintf("%q hides a failure behind %q", key, strings.TrimSpace(strings.TrimRight(found, "; "))),
				"remove it, so that a crash is seen")
		}
		return shellArgv(x.args[0].text), true
	}
	argv := texts(x.args)
	for i := range x.args {
		switch a := &x.args[i]; a.text {
		case "|", "||", "&&", ";", ">", ">>", "<", "2>&1", "&":
			c.warn(a.mark, fmt.Sprintf("%q in a list is passed to the program as an argument", a.text), fmt.Sprintf("write %s as one string for the shell, or remove it", key))
		}
	}
	return argv, false
}

func texts(items []str) []string {
	if len(items) == 0 {
		return nil
	}
	out := make([]string, len(items))
	for i := range items {
		out[i] = items[i].text
	}
	return out
}

// asMap returns the entries of pairs without their order.
func (x *pairs) asMap() map[string]string {
	if len(x.entries) == 0 {
		return nil
	}
	out := make(map[string]string, len(x.entries))
	for _, p := range x.entries {
		out[p.key.text] = p.value.text
	}
	return out
}

// coinFlip is the error rate at which a gate is none any more: a coin decides as well.
const coinFlip = 0.5

func (c *checker) gate() Gate {
	g := &c.f.Gate
	if a := &g.FalseAlarms; a.usable() && (a.v <= 0 || a.v >= coinFlip) {
		c.problem(a.mark, fmt.Sprintf("false_alarms is %g%%", a.v*100), "write a percentage above 0% and below 50%")
	}
	on := map[string]string{
		"inconclusive": "neutral", "no_baseline": "neutral", "not_comparable": "neutral",
		"suspicious": "warn", "gone": "fail", "new": "pass",
	}
	for _, f := range fieldsOf(reflect.TypeFor[onFile](), reflect.ValueOf(&g.On).Elem()) {
		if s := f.value.Addr().Interface().(*str); s.usable() {
			on[f.key] = s.text
		}
	}
	return Gate{
		FalseAlarms: orDefault(g.FalseAlarms.given(), g.FalseAlarms.v, defaultFalseAlarms),
		Require:     g.Require.text,
		On:          on,
		AcceptLabel: c.acceptLabel(),
		MergeGroup:  orDefault(g.MergeGroup.given(), g.MergeGroup.text, Measure),
		Reference:   g.Reference.text,
		Control:     g.Control.v,
	}
}
