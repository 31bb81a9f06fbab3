package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Reader reads a document cell by cell. It trusts nothing: sizes are bounded and
// every rule that Writer keeps is checked again.
type Reader struct {
	s      scanner
	header Header
	cells  int // read so far
	name   string
	seen   map[ID]bool
	err    error // what Next returns from now on
	keep   keeper
	inside cellReader
}

// NewReader reads the header: everything before the cells. Errors name the byte
// where reading stopped; a document of another kind or of a newer version is
// refused in words (see CheckSchema).
func NewReader(r io.Reader) (*Reader, error) {
	out := &Reader{s: newScanner(r, windowLen), seen: map[ID]bool{}, keep: keeper{known: map[string]string{}}}
	if err := out.readHeader(); err != nil {
		return nil, err
	}
	return out, nil
}

// Header is what precedes the cells. It belongs to the reader until the last
// cell is read.
func (r *Reader) Header() *Header { return &r.header }

// Next returns the next cell, or io.EOF after the last one and a well-formed end
// of the document. Errors name the cell and the byte.
func (r *Reader) Next() (*Cell, error) {
	var c Cell
	if err := r.next(&c); err != nil {
		return nil, err
	}
	return &c, nil
}

// Decode reads a whole document.
func Decode(r io.Reader) (*Document, error) {
	in, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	d := &Document{Header: in.header}
	for {
		var c Cell
		if err := in.next(&c); errors.Is(err, io.EOF) {
			return d, nil
		} else if err != nil {
			return nil, err
		}
		d.Cells = append(d.Cells, c)
	}
}

func (r *Reader) next(c *Cell) error {
	if r.err != nil {
		return r.err
	}
	done, err := r.advance()
	switch {
	case err != nil:
		r.err = fmt.Errorf("read results: byte %d: %w", r.s.offset(), err)
	case done:
		r.err = io.EOF
	default:
		r.name = ""
		if err := r.readCell(c); err != nil {
			r.err = fmt.Errorf("read results: cell %d (%q), byte %d: %w", r.cells, shorten(r.name), r.s.offset(), err)
		}
		r.cells++
	}
	return r.err
}

// advance moves to the next cell, or past the end of the document.
func (r *Reader) advance() (done bool, err error) {
	s := &r.s
	if r.cells == 0 {
		c, err := s.next()
		if err != nil || c != ']' {
			return false, err
		}
		s.pos++
		return true, r.finish()
	}
	again, err := s.more(']')
	if err != nil || again {
		return false, err
	}
	return true, r.finish()
}

// finish reads what follows the cells: keys that this version does not know.
func (r *Reader) finish() error {
	for {
		again, err := r.s.more('}')
		if err != nil {
			return err
		}
		if !again {
			return r.s.end()
		}
		key, err := r.s.memberKey()
		if err != nil {
			return err
		}
		if key := string(key); key == "cells" || headerField(&Header{}, key) != nil {
			return fmt.Errorf("key %q after the cells: cells has to be the last key", key)
		}
		if err := r.s.skip(0); err != nil {
			return err
		}
	}
}

// readHeader reads up to the bracket that opens the cells.
func (r *Reader) readHeader() error {
	s := &r.s
	fail := func(err error) error { return fmt.Errorf("read results: byte %d: %w", s.offset(), err) }
	if err := s.take('{'); err != nil {
		return fmt.Errorf("%w: byte %d: %w", CheckSchema("", Schema), s.offset(), err)
	}
	seen := map[string]bool{}
	for first := true; ; first = false {
		if c, err := s.next(); err != nil {
			return fail(err)
		} else if c == '}' {
			return fail(r.schemaOr(errors.New("the document has no cells")))
		}
		if !first {
			if err := s.take(','); err != nil {
				return fail(err)
			}
		}
		key, err := s.memberKey()
		if err != nil {
			return fail(err)
		}
		name := string(key)
		if name == "cells" {
			break
		}
		if err := r.headerKey(name, seen); err != nil {
			return fail(err)
		}
	}
	if err := r.schemaOr(nil); err != nil {
		return fail(err)
	}
	if err := s.take('['); err != nil {
		return fail(err)
	}
	normalizeHeader(&r.header)
	if err := checkHeader(&r.header); err != nil {
		return fail(err)
	}
	return nil
}

// schemaOr is err, or the more telling fact that no schema tag was there.
func (r *Reader) schemaOr(err error) error {
	if e := CheckSchema(r.header.Schema, Schema); e != nil {
		return e
	}
	return err
}

func (r *Reader) headerKey(name string, seen map[string]bool) error {
	field := headerField(&r.header, name)
	if field == nil {
		return r.s.skip(0)
	}
	if seen[name] {
		return fmt.Errorf("key %q is there twice", name)
	}
	seen[name] = true
	switch name {
	case "sessions":
		return readList(&r.s, &r.header.Sessions, maxSessions, name)
	case "dealt":
		return readList(&r.s, &r.header.Dealt, MaxCells, name)
	}
	raw, err := r.s.raw()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := json.Unmarshal(raw, field); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name == "schema" {
		return CheckSchema(r.header.Schema, Schema)
	}
	return nil
}

// readList reads a list of the header one by one: "{}" takes 3 bytes in the file
// and hundreds in memory, so their number has to be bounded before they are kept;
// and what is bounded in bytes is one of them, not the list.
func readList[E any](s *scanner, list *[]E, most int, name string) error {
	if c, err := s.next(); err != nil {
		return err
	} else if c == 'n' {
		return s.literal("null")
	}
	return s.array(func() error {
		if len(*list) == most {
			return fmt.Errorf("%s: more than %d", name, most)
		}
		raw, err := s.raw()
		if err != nil {
			return fmt.Errorf("%s %d: %w", name, len(*list), err)
		}
		var one E
		if err := json.Unmarshal(raw, &one); err != nil {
			return fmt.Errorf("%s %d: %w", name, len(*list), err)
		}
		*list = append(*list, one)
		return nil
	})
}

// headerField is where a key of the header is read to; nil: unknown.
func headerField(h *Header, key string) any {
	switch key {
	case "schema":
		return &h.Schema
	case "suite":
		return &h.Suite
	case "plan":
		return &h.Plan
	case "builds":
		return &h.Builds
	case "sessions":
		return &h.Sessions
	case "metrics":
		return &h.Metrics
	case "skipped":
		return &h.Skipped
	case "dealt":
		return &h.Dealt
	}
	return nil
}

// normalizeHeader makes nil of empty lists and maps, and times UTC.
func normalizeHeader(h *Header) {
	emptyMap(&h.Builds)
	for name, b := range h.Builds {
		emptyMap(&b.Programs)
		h.Builds[name] = b
	}
	emptyMap(&h.Metrics)
	emptyList(&h.Plan.Looks)
	emptyList(&h.Plan.Shards)
	emptyList(&h.Skipped)
	emptyList(&h.Dealt)
	for i := range h.Dealt {
		emptyList(&h.Dealt[i].Was)
	}
	emptyList(&h.Sessions)
	for i := range h.Sessions {
		s := &h.Sessions[i]
		s.StartedAt = s.StartedAt.UTC()
		emptyMap(&s.Host.Strict)
		emptyMap(&s.Host.Soft)
		emptyList(&s.Sources)
	}
}

func emptyMap[K comparable, V any](m *map[K]V) {
	if len(*m) == 0 {
		*m = nil
	}
}

func emptyList[E any](l *[]E) {
	if len(*l) == 0 {
		*l = nil
	}
}

// keeper holds what was read beyond the window, in few large pieces: a document
// has two million numbers, and a slice of its own for each column would be half
// a million allocations.
type keeper struct {
	known  map[string]string // each repeated text once
	floats []float64
	ints   []int
}

const (
	pieceLen = 8 << 10 // numbers
	maxKnown = 1 << 16 // texts
)

// text returns b as a string that equal texts share.
func (k *keeper) text(b []byte) string {
	if s, ok := k.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(k.known) < maxKnown && len(s) < 256 {
		k.known[s] = s
	}
	return s
}

// copyFloats and copyInts return a copy; nil for none.
func (k *keeper) copyFloats(v []float64) []float64 { return copyInto(&k.floats, v) }
func (k *keeper) copyInts(v []int) []int           { return copyInto(&k.ints, v) }

func copyInto[E any](piece *[]E, v []E) []E {
	n := len(v)
	if n == 0 {
		return nil
	}
	if cap(*piece)-len(*piece) < n {
		*piece = make([]E, 0, max(n, pieceLen))
	}
	start := len(*piece)
	*piece = append(*piece, v...)
	return (*piece)[start : start+n : start+n]
}
