package gobench

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/parse/generic"
)

// line is one that names a benchmark.
type line struct {
	number int // in the output, from 1
	pkg    string
	name   string // as printed: Benchmark, all of it, the suffix
	text   []byte
}

// survey is an output, sorted out line by line.
type survey struct {
	results []line   // the benchmark's name with a count of iterations behind
	begun   []line   // the name with something else, or nothing, behind
	long    []line   // longer than any result
	skipped []string // names, as many as are told
	skips   int
	first   []string // the first lines that are not blank, quoted
	failed  bool
	why     string
	weight  int // of why
}

const (
	told       = 3 // as many of one kind are named in a warning
	firstLines = 3 // of the output are quoted where it holds nothing
)

// Lines by which go test and the runtime say that something went wrong, from the
// least telling to the most: of a panic that ends in FAIL the panic is told.
const (
	weightSummary = 1 + iota
	weightFail
	weightDeath
)

// summary is the last line of a package that failed. Programs print lines that
// begin with FAIL too; the time, or what failed, tells them apart.
var summary = regexp.MustCompile(`^FAIL\s+(\S+)\s+(?:\d+(?:\.\d+)?s|\[[a-z ]+ failed\])$`)

func surveyOf(text []byte) *survey {
	s := &survey{}
	pkg, number := "", 0
	for l := range bytes.Lines(text) {
		number++
		l = bytes.TrimSuffix(l, []byte{'\n'})
		trimmed := bytes.TrimSpace(l)
		if len(trimmed) > 0 && len(s.first) < firstLines {
			s.first = append(s.first, generic.Quote(string(trimmed)))
		}
		switch name, isPkg := bytes.CutPrefix(l, []byte("pkg:")); {
		case isPkg:
			pkg = string(bytes.TrimSpace(name))
		case bytes.HasPrefix(l, []byte("Benchmark")):
			s.benchmark(line{number: number, pkg: pkg, text: l})
		case bytes.HasPrefix(l, []byte("Unit ")) && bytes.IndexByte(l, '=') > 0 && len(l) <= maxLine:
			s.results = append(s.results, line{number: number, text: l})
		default:
			if ended := s.told(l); ended != "" && ended == pkg {
				pkg = "" // the next one says its own name, or has none
			}
		}
	}
	return s
}

// benchmark sorts a line that begins like a benchmark's.
func (s *survey) benchmark(l line) {
	end := bytes.IndexFunc(l.text, unicode.IsSpace)
	if end < 0 {
		return // go test -v announces it so
	}
	l.name = string(l.text[:end])
	rest := bytes.TrimLeftFunc(l.text[end:], unicode.IsSpace)
	switch {
	case isCount(firstWord(rest)) && len(l.text) > maxLine:
		s.long = append(s.long, l)
	case isCount(firstWord(rest)):
		s.results = append(s.results, l)
	case isBenchmark(l.name) && bytes.HasPrefix(bytes.TrimLeft(l.text[end:], " "), []byte{'\t'}):
		// go test prints the name, blanks and a tab, and the result when it is there.
		// What stands there instead is the program's, or says why it ended.
		s.begun = append(s.begun, l)
		s.told(rest)
	}
}

func firstWord(text []byte) []byte {
	if end := bytes.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end]
	}
	return text
}

// isCount reports whether a word is a number of iterations.
func isCount(word []byte) bool {
	digits := bytes.TrimPrefix(word, []byte{'-'})
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}

// isBenchmark reports whether go test would run a function of this name.
func isBenchmark(name string) bool {
	c, _ := utf8.DecodeRuneInString(strings.TrimPrefix(name, "Benchmark"))
	return !unicode.IsLower(c)
}

// told reads a line that go test or the runtime prints about what it runs. It
// returns the package that a line ends.
func (s *survey) told(l []byte) (ended string) {
	for _, known := range []struct {
		prefix string
		weight int
	}{{"--- FAIL: ", weightFail}, {"panic: ", weightDeath}, {"fatal error: ", weightDeath}, {"signal: ", weightDeath}} {
		if bytes.HasPrefix(l, []byte(known.prefix)) {
			s.blame(l, known.weight)
			s.failed = s.failed || known.weight == weightFail
			return ""
		}
	}
	if name, ok := bytes.CutPrefix(l, []byte("--- SKIP: Benchmark")); ok {
		if s.skips++; len(s.skipped) < told {
			s.skipped = append(s.skipped, generic.Quote("Benchmark"+string(bytes.TrimSpace(name))))
		}
		return ""
	}
	if match := summary.FindSubmatch(l); match != nil {
		s.blame(l, weightSummary)
		s.failed = true
		return string(match[1])
	}
	if words := bytes.Fields(l); len(words) > 2 && string(words[0]) == "ok" {
		return string(words[1])
	}
	return ""
}

// blame keeps the first of the most telling lines.
func (s *survey) blame(l []byte, weight int) {
	if weight > s.weight {
		s.why, s.weight = generic.Quote(strings.ReplaceAll(string(l), "\t", " ")), weight
	}
}

func (s *survey) warnings() []string {
	var out []string
	if s.skips > 0 {
		out = append(out, fmt.Sprintf("%s skipped: %s", counted(s.skips, "benchmark was", "benchmarks were"), listed(s.skipped, s.skips)))
	}
	if len(s.results) == 0 && len(s.begun) == 0 && s.skips == 0 && !s.failed {
		out = append(out, "no result of a benchmark was found: "+s.beginning())
	}
	return out
}

func (s *survey) beginning() string {
	if len(s.first) == 0 {
		return "the output is empty"
	}
	return "it begins with " + strings.Join(s.first, ", ")
}

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// listed is names, of which there may be more.
func listed(names []string, n int) string {
	text := strings.Join(names, ", ")
	if n > len(names) {
		text += fmt.Sprintf(" and %d more", n-len(names))
	}
	return text
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
