package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Kinds of artifacts, as their names begin.
const (
	resultsKind = "perfweir-results-"
	reportsKind = "perfweir-reports-"
)

// Bounds in bytes: of a part of a name, before hyphens are doubled, and of the
// whole, which is also a file's name where archives are kept.
const (
	maxPart = 44
	maxName = 255
)

// Name is the name of the artifact with the results that one machine left of one
// suite: "perfweir-results-codec-perf-1-1of1-a2". GitHub wants names that are
// unique in a workflow run, attempts and legs of a matrix included. A shard is
// written "2/3" or "2of3"; "" is the whole.
//
// Suite and machine are cleaned to letters, digits, dot, underscore and hyphen of
// ASCII. Where that changes one, a short hash of it is appended: two that differ
// stay different. A hyphen of a suite is doubled, so that what follows a single
// one is the machine, and suite "a" does not find the artifacts of suite "a-b".
func Name(suite, machine, shard string, attempt int) string {
	return resultsKind + tail(suite, machine, shard, attempt)
}

// ReportName is the name of the artifact with the reports about those results.
func ReportName(suite, machine, shard string, attempt int) string {
	return reportsKind + tail(suite, machine, shard, attempt)
}

// Prefix is how the names of all results of a suite begin. Where a hyphen follows
// it they are another suite's: those of "a-b" begin "perfweir-results-a--b-".
func Prefix(suite string) string { return resultsKind + suitePart(suite) + "-" }

func tail(suite, machine, shard string, attempt int) string {
	return fmt.Sprintf("%s-%s-%s-a%d", suitePart(suite), machinePart(machine), shardPart(shard), max(attempt, 1))
}

func suitePart(suite string) string { return strings.ReplaceAll(clean(suite, false), "-", "--") }

func machinePart(machine string) string { return clean(machine, false) }

// shardPart has no hyphen: shard and attempt are read from the end of a name.
func shardPart(shard string) string {
	if shard == "" {
		return wholeShard
	}
	return clean(strings.Replace(shard, "/", "of", 1), true)
}

// wholeShard is all of the matrix.
const wholeShard = "1of1"

// clean keeps what a name may have and appends a hash where it changed anything,
// or where the text looks as if it had.
func clean(text string, noHyphen bool) string {
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() < maxPart; i++ {
		if c := text[i]; isNameByte(c) && !(c == '-' && (noHyphen || b.Len() == 0)) {
			b.WriteByte(c)
		} else {
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		b.WriteByte('_')
	}
	if cleaned := b.String(); cleaned == text && !looksHashed(text) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return b.String() + "." + hex.EncodeToString(sum[:hashBytes])
}

// hashBytes are twice as many hexadecimal digits.
const hashBytes = 4

func looksHashed(text string) bool {
	i := len(text) - 2*hashBytes - 1
	return i >= 0 && text[i] == '.' && isHex(text[i+1:])
}

func isHex(s string) bool {
	for i := range len(s) {
		if !strings.Contains("0123456789abcdef", s[i:i+1]) {
			return false
		}
	}
	return s != ""
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// named is what an artifact's name says.
type named struct {
	Artifact
	machine, shard string // as cleaned
	attempt        int
}

// label is the name without what all of its suite have in common.
func (n named) label() string { return fmt.Sprintf("%s-%s-a%d", n.machine, n.shard, n.attempt) }

// parse reads the name of an artifact with results of a suite; ok is false for
// the name of anything else.
func parse(a Artifact, suite string) (n named, ok bool) {
	rest, found := strings.CutPrefix(a.Name, Prefix(suite))
	if !found || len(a.Name) > maxName {
		return named{}, false
	}
	for i := range len(rest) {
		if !isNameByte(rest[i]) {
			return named{}, false
		}
	}
	rest, attempt, okAttempt := cutLast(rest, "-a")
	machine, shard, okShard := cutLast(rest, "-")
	number, err := strconv.Atoi(attempt)
	if !okAttempt || !okShard || err != nil || number < 1 || strconv.Itoa(number) != attempt {
		return named{}, false
	}
	// A hyphen that follows the single one belonged to a doubled one: the suite is
	// another, whose name begins like this one's.
	if machine == "" || shard == "" || machine[0] == '-' {
		return named{}, false
	}
	return named{Artifact: a, machine: machine, shard: shard, attempt: number}, true
}

// IsResults reports whether a name is that of results of the suite.
func IsResults(name, suite string) bool {
	_, ok := parse(Artifact{Name: name}, suite)
	return ok
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
