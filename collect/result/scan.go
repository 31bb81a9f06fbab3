package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Bounds of what is read: a document may come from an artifact that the code
// under test wrote. With them what is kept in memory is at most a small multiple
// of the bytes that were read, and never more than maxBytes allows.
const (
	maxBytes  = 1 << 30 // of a document
	maxToken  = 4 << 20 // of one key of the header, or one run's detail
	maxString = 1 << 20
	maxNumber = 1 << 10
	maxDepth  = 64 // of what is skipped

	// MaxCells and MaxRuns bound a document: cells, and runs of one cell.
	MaxCells = 100_000
	MaxRuns  = 1_000_000

	maxColumns  = 100_000 // of one cell
	maxSessions = 1_000
	windowLen   = 64 << 10
)

// scanner reads JSON from a stream through a sliding window. It is written for
// the hot shapes of a results document, long arrays of numbers: encoding/json
// takes five times as long for them.
//
// Slices that it returns lie in the window and hold until the next call.
type scanner struct {
	r    io.Reader
	buf  []byte // the window: read and not yet dropped
	pos  int    // of the next byte, in buf
	off  int64  // of buf[0], in the document
	keep int    // start of what must stay in the window; -1: nothing
	err  error  // of r; io.EOF at its end
	key  []byte // copy of a key that the window may lose
}

func newScanner(r io.Reader, window int) scanner {
	return scanner{r: r, buf: make([]byte, 0, window), keep: -1}
}

// offset is the position in the document of the next byte.
func (s *scanner) offset() int64 { return s.off + int64(s.pos) }

// fill reads more and drops what lies before low, s.pos and s.keep. It returns by
// how much the window moved: positions that the caller holds shrink by that.
func (s *scanner) fill(low int) (moved int, err error) {
	moved = min(low, s.pos)
	if s.keep >= 0 {
		moved = min(moved, s.keep)
		s.keep -= moved
	}
	if moved > 0 {
		s.buf = s.buf[:copy(s.buf, s.buf[moved:])]
		s.pos -= moved
		s.off += int64(moved)
	}
	if len(s.buf) == cap(s.buf) {
		if len(s.buf) >= maxToken {
			return moved, fmt.Errorf("value is longer than %d MiB", maxToken>>20)
		}
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	for range 100 { // a reader that returns nothing for ever is broken
		if s.err != nil {
			break
		}
		var n int
		n, s.err = s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if s.off+int64(len(s.buf)) > maxBytes {
			return moved, fmt.Errorf("document is larger than %d MiB", maxBytes>>20)
		}
		if n > 0 {
			return moved, nil
		}
	}
	switch {
	case s.err == nil:
		return moved, io.ErrNoProgress
	case errors.Is(s.err, io.EOF):
		return moved, errCutOff
	}
	return moved, s.err
}

var errCutOff = errors.New("document ends in the middle")

// next skips white space and returns the byte after it without taking it.
func (s *scanner) next() (byte, error) {
	for {
		for s.pos < len(s.buf) {
			c := s.buf[s.pos]
			if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
				return c, nil
			}
			s.pos++
		}
		if _, err := s.fill(s.pos); err != nil {
			return 0, err
		}
	}
}

// end requires that nothing but white space follows.
func (s *scanner) end() error {
	c, err := s.next()
	switch {
	case errors.Is(err, errCutOff):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%q after the end of the document", c)
}

// take requires c as the next byte.
func (s *scanner) take(c byte) error {
	got, err := s.next()
	if err != nil {
		return err
	}
	if got != c {
		return fmt.Errorf("found %q, want %q", got, c)
	}
	s.pos++
	return nil
}

// more reads what follows an element: it takes a comma, which means that there is
// another, or the closing byte.
func (s *scanner) more(closing byte) (bool, error) {
	c, err := s.next()
	if err != nil {
		return false, err
	}
	if c != ',' && c != closing {
		return false, fmt.Errorf("found %q, want ',' or %q", c, closing)
	}
	s.pos++
	return c == ',', nil
}

// list reads an array or an object: opening, elements, closing.
func (s *scanner) list(opening, closing byte, element func() error) error {
	if err := s.take(opening); err != nil {
		return err
	}
	if c, err := s.next(); err != nil {
		return err
	} else if c == closing {
		s.pos++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if again, err := s.more(closing); err != nil || !again {
			return err
		}
	}
}

// array reads an array; element reads one of its elements.
func (s *scanner) array(element func() error) error { return s.list('[', ']', element) }

// object reads an object; member reads the value of key, which holds until then.
// A null is the same as a key that is not there.
func (s *scanner) object(member func(key []byte) error) error {
	return s.list('{', '}', func() error {
		key, err := s.memberKey()
		if err != nil {
			return err
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		if c == 'n' {
			return s.literal("null")
		}
		return member(key)
	})
}

// memberKey reads a key, the colon and the white space after it.
func (s *scanner) memberKey() ([]byte, error) {
	key, err := s.str()
	if err != nil {
		return nil, err
	}
	if s.pos+1 < len(s.buf) && s.buf[s.pos] == ':' && s.buf[s.pos+1] > ' ' {
		s.pos++
		return key, nil
	}
	s.key = append(s.key[:0], key...)
	if err := s.take(':'); err != nil {
		return nil, err
	}
	_, err = s.next()
	return s.key, err
}

// str reads a string.
func (s *scanner) str() ([]byte, error) {
	if err := s.take('"'); err != nil {
		return nil, err
	}
	start, i := s.pos, s.pos
	plain := true // neither escapes nor bytes beyond ASCII
	for {
		for i < len(s.buf) {
			c := s.buf[i]
			switch {
			case c == '"':
				s.pos = i + 1
				if plain {
					return s.buf[start:i], nil
				}
				return decodeString(s.buf[start-1 : i+1])
			case c == '\\':
				plain = false
				i++ // whatever follows is not the end
			case c < ' ':
				return nil, fmt.Errorf("control character %q in a string", c)
			case c >= utf8.RuneSelf:
				plain = false
			}
			i++
		}
		if i-start > maxString {
			return nil, fmt.Errorf("string is longer than %d MiB", maxString>>20)
		}
		moved, err := s.fill(start - 1)
		start, i = start-moved, i-moved
		if err != nil {
			return nil, err
		}
	}
}

// decodeString returns the text of a quoted string that is not plain ASCII.
func decodeString(quoted []byte) ([]byte, error) {
	text := quoted[1 : len(quoted)-1]
	escaped := false
	for _, c := range text {
		escaped = escaped || c == '\\'
	}
	if !escaped && utf8.Valid(text) {
		return text, nil
	}
	var v string
	if err := json.Unmarshal(quoted, &v); err != nil {
		return nil, err
	}
	return []byte(v), nil
}

// literal requires null, true or false.
func (s *scanner) literal(word string) error {
	for i := range len(word) {
		if s.pos == len(s.buf) {
			if _, err := s.fill(s.pos); err != nil {
				return err
			}
		}
		if s.buf[s.pos] != word[i] {
			return fmt.Errorf("found %q, want %s", s.buf[s.pos], word)
		}
		s.pos++
	}
	return nil
}

// skip reads a value of any kind and drops it.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	c, err := s.next()
	if err != nil {
		return err
	}
	switch c {
	case '{':
		return s.list('{', '}', func() error {
			if _, err := s.memberKey(); err != nil {
				return err
			}
			return s.skip(depth + 1)
		})
	case '[':
		return s.array(func() error { return s.skip(depth + 1) })
	case '"':
		_, err := s.str()
		return err
	case 'n':
		return s.literal("null")
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	}
	_, err = s.number()
	return err
}

// raw reads a value of any kind and returns its bytes.
func (s *scanner) raw() ([]byte, error) {
	if _, err := s.next(); err != nil {
		return nil, err
	}
	s.keep = s.pos
	err := s.skip(0)
	start := s.keep
	s.keep = -1
	if err != nil {
		return nil, err
	}
	return s.buf[start:s.pos], nil
}
