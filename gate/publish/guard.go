package publish

import (
	"fmt"
	"io"
)

// Guard returns a writer under which no line is a workflow command. A program that
// is measured may print one ("::add-mask::", "##[command]"), and so may a name of
// its own; whatever we print of it goes through here, our own commands do not.
//
// The runner (ActionCommand.cs) takes a line for a command when it begins, after
// any white space, with two colons, or when it holds "##[" anywhere. A backslash
// goes between the characters of both. It is put in as the bytes come, so nothing
// is held back, whatever is split over several writes.
func Guard(w io.Writer) io.Writer { return &guard{w: w, blank: true} }

type guard struct {
	w      io.Writer
	blank  bool // nothing but what may be white space is on the line so far
	colon  bool // and then one colon
	hashes int  // at the end of the line so far, at most two
}

// Write never reports more bytes than it was given, nor fewer without an error.
func (g *guard) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+8)
	for _, c := range p {
		if g.colon && c == ':' || g.hashes == 2 && c == '[' {
			out = append(out, '\\')
		}
		out = append(out, c)
		g.step(c)
	}
	if _, err := g.w.Write(out); err != nil {
		return 0, fmt.Errorf("write to the log: %w", err)
	}
	return len(p), nil
}

func (g *guard) step(c byte) {
	g.colon = g.blank && c == ':'
	switch {
	case c == '\n' || c == '\r':
		g.blank = true
	case c > ' ' && c < 0x7f:
		// Bytes of other characters may be white space that the runner trims.
		g.blank = false
	}
	if c == '#' {
		g.hashes = min(g.hashes+1, 2)
	} else {
		g.hashes = 0
	}
}
