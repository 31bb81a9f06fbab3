package generic

import "bytes"

// Clean returns text as a reader of lines wants it: without the escape sequences
// of a terminal (CSI and OSC), and with only the last state of a line that was
// drawn over itself with carriage returns, as progress bars do. CR LF becomes LF.
// Every other byte stays as it is. Tools colour even into a pipe, and a colour
// between a number and its separator makes a pattern match nothing. The result
// may share memory with raw.
func Clean(raw []byte) []byte {
	if bytes.IndexByte(raw, esc) >= 0 {
		raw = stripEscapes(raw)
	}
	if bytes.IndexByte(raw, '\r') >= 0 {
		raw = lastStates(raw)
	}
	return raw
}

const (
	esc = 0x1b
	bel = 0x07
)

func stripEscapes(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, esc)
		if i < 0 {
			return append(out, raw...)
		}
		out = append(out, raw[:i]...)
		raw = raw[i:]
		n := sequence(raw)
		if n == 0 { // not a sequence: the byte is data
			out = append(out, raw[0])
			n = 1
		}
		raw = raw[n:]
	}
	return out
}

// sequence returns the length of the complete CSI or OSC sequence that b begins
// with, 0 for none. Forms: ECMA-48, 5.4 (CSI: parameter bytes 0x30-0x3f,
// intermediate bytes 0x20-0x2f, one final byte 0x40-0x7e) and xterm's OSC, ended
// by BEL or ESC \. One that does not end on its line is no sequence: otherwise a
// torn one would swallow the rest of the output.
func sequence(b []byte) int {
	if len(b) < 3 {
		return 0
	}
	switch b[1] {
	case '[':
		i := 2
		for i < len(b) && b[i] >= 0x30 && b[i] <= 0x3f {
			i++
		}
		for i < len(b) && b[i] >= 0x20 && b[i] <= 0x2f {
			i++
		}
		if i < len(b) && b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
	case ']':
		for i := 2; i < len(b) && b[i] != '\n'; i++ {
			if b[i] == bel {
				return i + 1
			}
			if b[i] == '\\' && b[i-1] == esc {
				return i + 1
			}
		}
	}
	return 0
}

// lastStates keeps of every line what stands after its last carriage return;
// those at the line's very end only return the cursor and go first.
func lastStates(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for line := range bytes.Lines(raw) {
		body, ended := bytes.CutSuffix(line, []byte{'\n'})
		body = bytes.TrimRight(body, "\r")
		if i := bytes.LastIndexByte(body, '\r'); i >= 0 {
			body = body[i+1:]
		}
		out = append(out, body...)
		if ended {
			out = append(out, '\n')
		}
	}
	return out
}
