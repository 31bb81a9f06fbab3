package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Writer writes a document cell by cell. Same header and cells, same bytes: map
// keys are in order, numbers in their shortest form, one cell a line.
//
// What is the default is left out (status success) and an empty list is the same
// as none, so Decode returns what was encoded but for the difference of nil and
// empty. An error leaves the document unfinished.
type Writer struct {
	w      io.Writer
	header *Header
	buf    []byte
	keys   []int // scratch
	cells  int
	seen   map[ID]bool
	err    error
}

// NewWriter writes the header. A header without a schema tag gets the current
// one. The header must not change until Close.
func NewWriter(w io.Writer, h *Header) (*Writer, error) {
	if h.Schema != "" && h.Schema != Schema {
		return nil, CheckSchema(h.Schema, Schema)
	}
	if err := checkHeader(h); err != nil {
		return nil, fmt.Errorf("encode results: %w", err)
	}
	head, err := marshal(writtenHeader(h))
	if err != nil {
		return nil, fmt.Errorf("encode results: %w", err)
	}
	out := &Writer{w: w, header: h, seen: map[ID]bool{}}
	out.buf = append(out.buf, head[:len(head)-1]...) // cells come before the brace
	out.buf = append(out.buf, ",\n\"cells\":["...)
	return out, nil
}

// Write adds a cell. It is refused when it breaks a rule of the document: a
// slice of another length than the run list, a value without a reason for being
// absent, an infinite value, an identity that is there already.
func (w *Writer) Write(c *Cell) error {
	if w.err != nil {
		return w.err
	}
	if err := w.add(c); err != nil {
		w.err = fmt.Errorf("encode results: cell %d (%q): %w", w.cells, shorten(c.Name), err)
	}
	w.cells++
	return w.err
}

func (w *Writer) add(c *Cell) error {
	if err := checkCell(w.header, c); err != nil {
		return err
	}
	if w.seen[c.ID()] {
		return errTwice
	}
	w.seen[c.ID()] = true
	if w.cells == MaxCells {
		return fmt.Errorf("more than %d cells", MaxCells)
	}
	if w.cells > 0 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '\n')
	if err := w.cell(c); err != nil {
		return err
	}
	if len(w.buf) < windowLen {
		return nil
	}
	return w.flush()
}

var errTwice = errors.New("a cell of this identity is there already")

// Close ends the document. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	w.buf = append(w.buf, "\n]}\n"...)
	if w.err = w.flush(); w.err != nil {
		return w.err
	}
	w.err = errors.New("encode results: the document is closed")
	return nil
}

func (w *Writer) flush() error {
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Encode writes a whole document.
func Encode(w io.Writer, d *Document) error {
	out, err := NewWriter(w, &d.Header)
	if err != nil {
		return err
	}
	for i := range d.Cells {
		if err := out.Write(&d.Cells[i]); err != nil {
			return err
		}
	}
	return out.Close()
}

// writtenHeader is h in the form of the file: required lists and maps are there
// even when empty, times are in UTC.
func writtenHeader(h *Header) Header {
	out := *h
	out.Schema = Schema
	if out.Builds == nil {
		out.Builds = map[string]Build{}
	}
	if out.Metrics == nil {
		out.Metrics = map[string]Metric{}
	}
	if out.Plan.Looks == nil {
		out.Plan.Looks = []int{}
	}
	out.Sessions = make([]Session, len(h.Sessions))
	for i, s := range h.Sessions {
		s.StartedAt = s.StartedAt.UTC()
		if s.Host.Strict == nil {
			s.Host.Strict = map[string]string{}
		}
		out.Sessions[i] = s
	}
	return out
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}

func (w *Writer) cell(c *Cell) error {
	w.text(`{"name":`, c.Name)
	w.text(`,"benchmark":`, c.Benchmark)
	w.optional(`,"variant":`, c.Variant)
	w.optional(`,"input":`, c.Input)
	w.text(`,"build":`, c.Build)
	w.texts(`,"was":`, c.Was)
	w.text(`,"digest":`, c.Digest)
	w.texts(`,"argv":`, c.Argv)
	w.labels(c.Labels)
	w.optional(`,"note":`, c.Note)
	w.optional(`,"source":`, c.Source)
	if c.Control {
		w.buf = append(w.buf, `,"control":true`...)
	}
	w.buf = append(w.buf, `,"planned":`...)
	w.buf = appendInt(w.buf, c.Planned)
	w.ints(`,"looks":`, c.Looks, true)
	if err := w.runs(&c.Runs); err != nil {
		return err
	}
	w.buf = append(w.buf, `,"columns":[`...)
	for i := range c.Columns {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.column(&c.Columns[i])
	}
	w.buf = append(w.buf, ']', '}')
	return nil
}

func (w *Writer) runs(r *Runs) error {
	w.ints(`,"runs":{"repeat":`, r.Repeat, false)
	w.ints(`,"attempt":`, r.Attempt, true)
	w.ints(`,"look":`, r.Look, true)
	w.ints(`,"block":`, r.Block, false)
	w.ints(`,"slot":`, r.Slot, false)
	w.ints(`,"session":`, r.Session, true)
	w.buf = append(w.buf, `,"start":`...)
	w.buf = appendFloats(w.buf, r.Start)
	w.status(r.Status)
	if len(r.Detail) > 0 {
		w.buf = append(w.buf, `,"detail":`...)
		for n, i := range sortKeys(w, r.Detail) {
			w.position(n, i)
			detail, err := marshal(r.Detail[i])
			if err != nil {
				return fmt.Errorf("detail of run %d: %w", i, err)
			}
			w.buf = append(w.buf, detail...)
		}
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, '}')
	return nil
}

func (w *Writer) status(m map[int]Status) {
	n := 0
	for _, i := range sortKeys(w, m) {
		if m[i] == "" || m[i] == Success {
			continue
		}
		if n == 0 {
			w.buf = append(w.buf, `,"status":`...)
		}
		w.position(n, i)
		w.buf = appendString(w.buf, string(m[i]))
		n++
	}
	if n > 0 {
		w.buf = append(w.buf, '}')
	}
}

func (w *Writer) column(c *Column) {
	w.text(`{"metric":`, c.Metric)
	w.optional(`,"phase":`, c.Phase)
	w.optional(`,"part":`, c.Part)
	w.buf = append(w.buf, `,"v":`...)
	w.buf = appendFloats(w.buf, c.V)
	if len(c.Bound) > 0 {
		w.buf = append(w.buf, `,"bound":`...)
		w.buf = appendFloats(w.buf, c.Bound)
	}
	if len(c.Absent) > 0 {
		w.buf = append(w.buf, `,"absent":`...)
		for n, i := range sortKeys(w, c.Absent) {
			w.position(n, i)
			w.buf = appendString(w.buf, c.Absent[i])
		}
		w.buf = append(w.buf, '}')
	}
	w.buf = append(w.buf, '}')
}

// position writes the n-th key of an object that is kept by position.
func (w *Writer) position(n, i int) {
	sep := byte(',')
	if n == 0 {
		sep = '{'
	}
	w.buf = append(w.buf, sep, '"')
	w.buf = appendInt(w.buf, i)
	w.buf = append(w.buf, '"', ':')
}

// sortKeys returns the keys of m in order, in w's scratch.
func sortKeys[V any](w *Writer, m map[int]V) []int {
	w.keys = w.keys[:0]
	for k := range m {
		w.keys = append(w.keys, k)
	}
	slices.Sort(w.keys)
	return w.keys
}

func (w *Writer) text(key, s string) {
	w.buf = append(w.buf, key...)
	w.buf = appendString(w.buf, s)
}

func (w *Writer) optional(key, s string) {
	if s != "" {
		w.text(key, s)
	}
}

func (w *Writer) texts(key string, list []string) {
	for i, s := range list {
		if i == 0 {
			w.buf = append(append(w.buf, key...), '[')
		} else {
			w.buf = append(w.buf, ',')
		}
		w.buf = appendString(w.buf, s)
	}
	if len(list) > 0 {
		w.buf = append(w.buf, ']')
	}
}

func (w *Writer) labels(m map[string]string) {
	names := make([]string, 0, len(m))
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	for i, k := range names {
		if i == 0 {
			w.buf = append(w.buf, `,"labels":{`...)
		} else {
			w.buf = append(w.buf, ',')
		}
		w.buf = appendString(w.buf, k)
		w.text(":", m[k])
	}
	if len(names) > 0 {
		w.buf = append(w.buf, '}')
	}
}

func (w *Writer) ints(key string, list []int, optional bool) {
	if optional && len(list) == 0 {
		return
	}
	w.buf = append(append(w.buf, key...), '[')
	for i, v := range list {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = appendInt(w.buf, v)
	}
	w.buf = append(w.buf, ']')
}

// appendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, as encoding/json has it.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		i++
	}
	return append(b, '"')
}
