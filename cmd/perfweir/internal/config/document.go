package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Bounds of a suite file, in bytes and levels. Real ones are a few KiB and six
// levels deep; a file beyond these is a mistake or an attack.
const (
	MaxBytes = 1 << 20
	maxDepth = 32
)

// document turns the bytes into the one mapping that a suite file is, or reports
// why that is not possible.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > MaxBytes {
		r.problem(mark{line: 1, column: 1}, fmt.Sprintf("the file has %d bytes", len(data)), "a suite file has at most 1 MiB; is this the right file?")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !r.text(data) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root, next yaml.Node
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		r.problem(mark{line: 1, column: 1}, "the file is empty", `start with "version: 1", or let "perfweir init" write a suite file`)
		return nil
	case err != nil:
		r.syntax(data, err)
		return nil
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		r.problem(placeOf(&next), "a second document starts here", `keep one suite a file, without "---" between parts`)
		return nil
	case !errors.Is(err, io.EOF):
		r.syntax(data, err)
		return nil
	}
	top := root.Content[0]
	if isNull(top) {
		r.problem(mark{line: 1, column: 1}, "the file is empty", `start with "version: 1", or let "perfweir init" write a suite file`)
		return nil
	}
	if !r.plain(top, 0) {
		return nil
	}
	return top
}

// text refuses bytes that are not the characters YAML may hold, which the parser
// would refuse without saying where.
func (r *reader) text(data []byte) bool {
	line, column := 1, 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.problem(mark{line: line, column: column}, fmt.Sprintf("byte 0x%02x is not UTF-8", data[i]), "save the file as UTF-8")
			return false
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f:
			r.problem(mark{line: line, column: column}, fmt.Sprintf("control character 0x%02x", c), `remove it, or write it as an escape in double quotes`)
			return false
		case c == '\n':
			line, column = line+1, 0
		}
		column++
		i += size
	}
	return true
}

// syntaxLine is how yaml.v3 names the place of a syntax error.
var syntaxLine = regexp.MustCompile(`^line (\d+): `)

// parserError matches the errors whose line yaml.v3 counts from 0; it counts the
// scanner's from 1 (yaml.v3, decode.go, func fail).
var parserError = regexp.MustCompile(`^did not find expected (<|node content|'-' indicator|key|',' or)`)

// syntax reports an error of the YAML parser. It knows the line at best.
func (r *reader) syntax(data []byte, err error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	m := mark{line: 1, column: 1}
	if found := syntaxLine.FindStringSubmatch(message); found != nil {
		m.line, _ = strconv.Atoi(found[1]) // the pattern has digits only; out of range keeps 0, which is mended below
		message = message[len(found[0]):]
	}
	if parserError.MatchString(message) {
		m.line++
	}
	m.line = max(m.line, 1)
	if line, column := tabIndent(data); line > 0 {
		r.problem(mark{line: line, column: column}, "a tab in the indentation", "YAML is indented with spaces only")
		return
	}
	r.problem(m, "not YAML: "+message, syntaxHint(message))
}

func syntaxHint(message string) string {
	switch {
	case strings.Contains(message, "anchor"):
		return "anchors are not supported; write the value out, or put it in defaults"
	case strings.Contains(message, "mapping values are not allowed"):
		return "quote text that holds a colon, and check the indentation"
	case strings.Contains(message, "cannot start any token"):
		return "quote text that starts with one of @ ` % and check for tabs"
	}
	return "check the indentation, quotes and brackets of this line and the one before"
}

// tabIndent finds the first tab in the indentation of a line, 0 when there is
// none. Tabs there are legal inside block text only, so this is asked only after
// the parser gave up.
func tabIndent(data []byte) (line, column int) {
	n := 0
	for l := range bytes.Lines(data) {
		n++
		indent := len(l) - len(bytes.TrimLeft(l, " \t"))
		if i := bytes.IndexByte(l[:indent], '\t'); i >= 0 && len(bytes.TrimSpace(l)) > 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

// plain refuses what makes a suite file say something else than it shows:
// anchors, aliases, merge keys, explicit tags, and nesting without an end. The
// walk that follows then meets only mappings, lists and scalars.
func (r *reader) plain(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		r.problem(placeOf(n), fmt.Sprintf("nested deeper than %d levels", maxDepth), "is this the right file?")
		return false
	}
	ok := true
	switch {
	case n.Kind == yaml.AliasNode:
		r.problem(placeOf(n), fmt.Sprintf("alias %q", "*"+n.Value), "aliases are not supported; write the value out, or put it in defaults")
		return false
	case n.Anchor != "":
		r.problem(placeOf(n), fmt.Sprintf("anchor %q", "&"+n.Anchor), "anchors are not supported; write the value out, or put it in defaults")
		ok = false
	case n.Tag == "!!merge":
		r.problem(placeOf(n), `merge key "<<"`, "merge keys are not supported; write the values out, or put them in defaults")
		ok = false
	case n.Style&yaml.TaggedStyle != 0:
		r.problem(placeOf(n), fmt.Sprintf("tag %q", n.Tag), "tags are not supported; remove it, and quote the value where it is text")
		ok = false
	}
	for _, child := range n.Content {
		ok = r.plain(child, depth+1) && ok
	}
	return ok
}

func placeOf(n *yaml.Node) mark { return mark{line: max(n.Line, 1), column: max(n.Column, 1)} }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }
