package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/perfweir/perfweir/gate/budget"
)

// AcceptedLine is an accepted change as a suite file has it, in flow style.
func AcceptedLine(x budget.Exception) string {
	var parts []string
	for _, p := range [][2]string{{"cells", x.Cells}, {"part", x.Part}, {"metric", x.Metric}, {"limit", x.Text}} {
		if p[1] != "" {
			parts = append(parts, p[0]+": "+scalar(p[1]))
		}
	}
	return "{" + strings.Join(append(parts, "reason: "+strconv.Quote(x.Reason), "expires: "+scalar(x.Expires)), ", ") + "}"
}

// plainScalar is text that YAML reads as that text wherever it stands.
var plainScalar = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./%-]*$`)

func scalar(s string) string {
	if plainScalar.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// ErrShape says that a suite file has a shape in which no entry can be put: it has
// to be written by hand.
var ErrShape = errors.New("the file has a shape that perfweir does not edit")

// AddAccepted adds an accepted change to a suite file's text and leaves every other
// byte as it is. The file that comes out is one that Parse takes, and it says what
// the old one said and the entry beside it: anything else is an error, and
// ErrShape where the entry itself is right.
func AddAccepted(path string, data []byte, x budget.Exception) ([]byte, error) {
	before, problems := Parse(path, data)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	for _, old := range before.Accepted {
		if old.Cells == x.Cells && old.Metric == x.Metric && old.Part == x.Part && old.Benchmark+old.Variant+old.Input == "" {
			return nil, fmt.Errorf("%s:%d: %s of %s is accepted already: change that entry", path, old.Source.Line, x.Metric, x.Cells)
		}
	}
	line := AcceptedLine(x)
	// Alone at the end it is judged by itself: what is wrong with it is told as that.
	if _, problems := Parse(path, withoutAccepted(data, line)); len(problems) > 0 {
		return nil, errors.New(problemsOfEntry(problems))
	}
	out, err := insertAccepted(data, line)
	if err != nil {
		return nil, err
	}
	after, problems := Parse(path, out)
	if len(problems) > 0 || !addsOne(before, after, x) {
		return nil, ErrShape
	}
	return out, nil
}

// withoutAccepted is the file with the entry in place of those that it has, for
// judging the entry alone. The node is written again, so places mean nothing.
func withoutAccepted(data []byte, line string) []byte {
	var root, entry yaml.Node
	if yaml.Unmarshal(data, &root) != nil || yaml.Unmarshal([]byte("["+line+"]"), &entry) != nil {
		return nil
	}
	top := root.Content[0]
	if at := keyOf(top, "accepted"); at >= 0 {
		top.Content = slices.Delete(top.Content, at, at+2)
	}
	top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "accepted"}, entry.Content[0])
	out, err := yaml.Marshal(&root)
	if err != nil {
		return nil
	}
	return out
}

func problemsOfEntry(problems Problems) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, strings.TrimSuffix(p.What+"; "+p.Instead, "; "))
	}
	return strings.Join(lines, "\n")
}

// keyOf is the position of a key in a mapping's content; -1: it has none.
func keyOf(mapping *yaml.Node, key string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// addsOne reports whether a file says what another one does, with one entry more.
func addsOne(before, after *File, x budget.Exception) bool {
	if len(after.Accepted) != len(before.Accepted)+1 || len(after.Budgets) != len(before.Budgets) ||
		len(after.Quarantine) != len(before.Quarantine) || len(after.Suite.Benchmarks) != len(before.Suite.Benchmarks) {
		return false
	}
	for _, want := range append(slices.Clone(before.Accepted), x) {
		if !slices.ContainsFunc(after.Accepted, func(got budget.Exception) bool {
			// Lines move, and x has its limit as text alone.
			got.Source, got.Limit, got.Amount = want.Source, want.Limit, want.Amount
			return got == want
		}) {
			return false
		}
	}
	return true
}

// insertAccepted finds the place of the entry: behind the last one of a list, or in
// a new list at the end of the file.
func insertAccepted(data []byte, line string) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("read the suite file: %w", err)
	}
	top := root.Content[0]
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	at := keyOf(top, "accepted")
	if at < 0 {
		return appendList(data, top, line, end)
	}
	list := top.Content[at+1]
	switch {
	case list.Kind != yaml.SequenceNode:
		return nil, ErrShape
	case list.Style&yaml.FlowStyle != 0:
		return insertFlow(data, list, line)
	}
	return insertBlock(data, list, line, end)
}

func appendList(data []byte, top *yaml.Node, line, end string) ([]byte, error) {
	if top.Style&yaml.FlowStyle != 0 {
		return nil, ErrShape
	}
	out := slices.Clone(data)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, end...)
	}
	return append(out, "accepted:"+end+"  - "+line+end...), nil
}

// insertBlock puts the entry into a list of dashes, behind the last line of the
// last item.
func insertBlock(data []byte, list *yaml.Node, line, end string) ([]byte, error) {
	last := lastLine(list.Content[len(list.Content)-1])
	at := offsetOf(data, last+1, 1)
	out := slices.Clone(data[:at])
	if at > 0 && out[at-1] != '\n' {
		out = append(out, end...)
	}
	out = append(out, strings.Repeat(" ", list.Column-1)+"- "+line+end...)
	return append(out, data[at:]...), nil
}

// lastLine is the last line that a node begins in, in it or below.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// insertFlow puts the entry before the bracket that closes a list.
func insertFlow(data []byte, list *yaml.Node, line string) ([]byte, error) {
	at := closing(data, offsetOf(data, list.Line, list.Column))
	if at < 0 {
		return nil, ErrShape
	}
	text := bytes.TrimRight(data[:at], " \t\r\n")
	if len(list.Content) > 0 && !bytes.HasSuffix(text, []byte(",")) {
		line = ", " + line
	} else if len(list.Content) > 0 {
		line = " " + line
	}
	return slices.Concat(text, []byte(line), data[at:]), nil
}

// closing is where the bracket that opens at a place is closed; -1: nowhere, or
// not without a comment in between, in which brackets mean nothing.
func closing(data []byte, at int) int {
	depth := 0
	var quote byte
	for i := at; i < len(data); i++ {
		c := data[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#':
			return -1
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// offsetOf is the byte at which a line and column (of characters, both from 1)
// begin; the end of the file where it has no such line.
func offsetOf(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		next := bytes.IndexByte(data[at:], '\n')
		if next < 0 {
			return len(data)
		}
		at += next + 1
	}
	if at == 0 {
		at = len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
	}
	for ; column > 1 && at < len(data); column-- {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}
