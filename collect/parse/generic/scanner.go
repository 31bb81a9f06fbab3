package generic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds of a document that the code under test wrote.
const (
	maxDepth   = 32
	maxMembers = 10_000 // of one object
	maxKey     = 256    // bytes of a name
)

// scanner reads JSON from memory with byte offsets, in the order of the text, one
// expected type at a time. It is not encoding/json because that can neither name
// the place of a wrong type in words nor read what broken printers write for a
// number: NaN, Infinity, -nan(ind), or nothing.
type scanner struct {
	data []byte
	pos  int
	// depth counts the objects and arrays that are open.
	depth int
}

// number is a number as a document gave it.
type number struct {
	value float64 // NaN unless finite
	given bool
	bad   string // what stood there instead of a finite number; empty: finite
}

func (n number) finite() bool { return n.given && n.bad == "" }

func failAt(at int, format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", at, fmt.Sprintf(format, args...))
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// line is the 1-based line of an offset.
func (s *scanner) line(at int) int { return 1 + bytes.Count(s.data[:at], []byte{'\n'}) }

func (s *scanner) expect(c byte, after string) error {
	if got := s.peek(); got != c {
		return failAt(s.pos, "%s after %s, want %q", s.here(), after, c)
	}
	s.pos++
	return nil
}

// here describes what stands at the position.
func (s *scanner) here() string {
	if s.pos >= len(s.data) {
		return "end of text"
	}
	end := min(s.pos+20, len(s.data))
	if i := bytes.IndexAny(s.data[s.pos:end], " ,:}]\n\r\t"); i > 0 {
		end = s.pos + i
	}
	return Quote(string(s.data[s.pos:end]))
}

func (s *scanner) enter() error {
	if s.depth++; s.depth > maxDepth {
		return failAt(s.pos, "nested deeper than %d", maxDepth)
	}
	return nil
}

// object reads an object, member by member; member has to read the value. what
// names the object in errors.
func (s *scanner) object(what string, member func(key string) error) error {
	if s.peek() != '{' {
		return failAt(s.pos, "%s: %s, want an object", what, s.here())
	}
	if err := s.enter(); err != nil {
		return err
	}
	s.pos++
	seen := map[string]bool{}
	for first := true; ; first = false {
		if s.peek() == '}' && first {
			break
		}
		if err := s.member(what, seen, member); err != nil {
			return err
		}
		if s.peek() == '}' {
			break
		}
		if err := s.expect(',', "a member of "+what); err != nil {
			return err
		}
	}
	s.pos++
	s.depth--
	return nil
}

func (s *scanner) member(what string, seen map[string]bool, member func(key string) error) error {
	s.peek()
	at := s.pos
	key, err := s.text("a key of " + what)
	if err != nil {
		return err
	}
	switch {
	case len(key) > maxKey:
		return failAt(at, "%s: a key is longer than %d bytes", what, maxKey)
	case seen[key]:
		return failAt(at, "%s: key %s is given twice", what, Quote(key))
	case len(seen) == maxMembers:
		return failAt(at, "%s: more than %d keys", what, maxMembers)
	}
	seen[key] = true
	if err := s.expect(':', "key "+Quote(key)); err != nil {
		return err
	}
	return member(key)
}

// array reads an array, element by element; element has to read the value.
func (s *scanner) array(what string, element func(i int) error) error {
	if s.peek() != '[' {
		return failAt(s.pos, "%s: %s, want an array", what, s.here())
	}
	if err := s.enter(); err != nil {
		return err
	}
	s.pos++
	for i := 0; ; i++ {
		if s.peek() == ']' && i == 0 {
			break
		}
		if err := element(i); err != nil {
			return err
		}
		if s.peek() == ']' {
			break
		}
		if err := s.expect(',', "an element of "+what); err != nil {
			return err
		}
	}
	s.pos++
	s.depth--
	return nil
}

// text reads a string. Bytes that are not UTF-8 become replacement characters.
func (s *scanner) text(what string) (string, error) {
	if s.peek() != '"' {
		return "", failAt(s.pos, "%s: %s, want a string", what, s.here())
	}
	at := s.pos
	end := at + 1
	for end < len(s.data) && s.data[end] != '"' {
		if s.data[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s.data) {
		return "", failAt(at, "%s: the string does not end", what)
	}
	s.pos = end + 1
	var out string
	if err := json.Unmarshal(s.data[at:s.pos], &out); err != nil {
		return "", failAt(at, "%s: the string holds an escape or control character that JSON does not have", what)
	}
	return out, nil
}

func (s *scanner) boolean(what string) (bool, error) {
	s.peek()
	switch word := s.word(); word {
	case "true", "false":
		s.pos += len(word)
		return word == "true", nil
	}
	return false, failAt(s.pos, "%s: %s, want true or false", what, s.here())
}

// number reads a number, or one of the things that stand where a printer had
// none: NaN, an infinity, null, or nothing before the comma or bracket.
func (s *scanner) number(what string) (number, error) {
	switch s.peek() {
	case ',', '}', ']':
		return number{value: math.NaN(), given: true, bad: "empty"}, nil
	}
	word := s.word()
	v, finite, ok := parseNumber(word)
	if strings.EqualFold(word, "null") {
		finite, ok = false, true
	}
	if !ok || word == "" {
		return number{}, failAt(s.pos, "%s: %s, want a number", what, s.here())
	}
	s.pos += len(word)
	if !finite {
		return number{value: math.NaN(), given: true, bad: word}, nil
	}
	return number{value: v, given: true}, nil
}

// word is the run of bytes at the position that a number or a literal can have.
func (s *scanner) word() string {
	end := s.pos
	for end < len(s.data) && strings.IndexByte(" \t\r\n,:{}[]\"", s.data[end]) < 0 {
		end++
	}
	return string(s.data[s.pos:min(end, s.pos+400)])
}

// skip reads any value and forgets it.
func (s *scanner) skip(what string) error {
	switch c := s.peek(); {
	case c == '{':
		return s.object(what, func(key string) error { return s.skip(what) })
	case c == '[':
		return s.array(what, func(int) error { return s.skip(what) })
	case c == '"':
		_, err := s.text(what)
		return err
	case c == 't', c == 'f':
		_, err := s.boolean(what)
		return err
	default:
		_, err := s.number(what)
		return err
	}
}

// end checks that nothing but white space follows.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.data) {
		return failAt(s.pos, "%s after the end of the document", s.here())
	}
	return nil
}

// join makes the path of a member: metrics.latency, checks."odd name".
func join(path, key string) string {
	if !validName(key) {
		key = strconv.QuoteToASCII(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
