package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// csvRow builds lines of RFC 4180 CSV without allocating. Two decisions make the
// files safe for line tools and for spreadsheets:
//
// Text has its control characters made visible (\n, \x1b), so one row is one
// line. Text that a spreadsheet would run as a formula (it begins with =, +, -,
// @ or their full-width forms) gets a leading apostrophe, which spreadsheets
// hide. Numbers never get one: they are written by us, in base units and in full
// precision.
type csvRow struct {
	buf   []byte
	first bool
}

func (r *csvRow) begin() { r.buf, r.first = r.buf[:0], true }

func (r *csvRow) end() { r.buf = append(r.buf, '\n') }

func (r *csvRow) comma() {
	if !r.first {
		r.buf = append(r.buf, ',')
	}
	r.first = false
}

func (r *csvRow) text(s string) {
	r.comma()
	r.buf = appendText(r.buf, s)
}

func (r *csvRow) float(v float64) {
	r.comma()
	r.buf = appendNumber(r.buf, v)
}

func (r *csvRow) maybe(v *float64) {
	if v == nil {
		r.empty()
		return
	}
	r.float(*v)
}

func (r *csvRow) bounds(v *[2]float64) {
	if v == nil {
		r.empty()
		r.empty()
		return
	}
	r.float(v[0])
	r.float(v[1])
}

func (r *csvRow) int(v int) {
	r.comma()
	r.buf = strconv.AppendInt(r.buf, int64(v), 10)
}

func (r *csvRow) bool(v bool) {
	r.comma()
	r.buf = strconv.AppendBool(r.buf, v)
}

func (r *csvRow) empty() { r.comma() }

// appendText appends a text field, quoted where it must be.
func appendText(b []byte, s string) []byte {
	s = visible(s)
	if formula(s) {
		s = "'" + s
	}
	if !strings.ContainsAny(s, ",\";") && s == strings.TrimSpace(s) {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}

// formula reports whether a spreadsheet would compute the text. A tab or a
// carriage return at the start, which some skip, is visible by now.
func formula(s string) bool {
	if s == "" {
		return false
	}
	if strings.IndexByte("=+-@", s[0]) >= 0 {
		return true
	}
	for _, wide := range []string{"＝", "＋", "－", "＠"} {
		if strings.HasPrefix(s, wide) {
			return true
		}
	}
	return false
}

// appendNumber appends the shortest text that reads back as the same number.
// What is not finite is absent, never text.
func appendNumber(b []byte, v float64) []byte {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return b
	case v == math.Trunc(v) && a < 1e15:
		return strconv.AppendInt(b, int64(v), 10)
	case a >= 1e-6 && a < 1e15:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// csvWriter writes rows through one buffer and remembers the first error.
type csvWriter struct {
	out  *bufio.Writer
	name string
	err  error
}

func newCSVWriter(w io.Writer, name string) *csvWriter {
	return &csvWriter{out: bufio.NewWriterSize(w, 1<<16), name: name}
}

func (c *csvWriter) write(b []byte) {
	if c.err == nil {
		_, c.err = c.out.Write(b)
	}
}

func (c *csvWriter) flush() error {
	if c.err == nil {
		c.err = c.out.Flush()
	}
	if c.err != nil {
		return fmt.Errorf("write %s: %w", c.name, c.err)
	}
	return nil
}
