// Package report renders verdicts: one file a format. Each renderer is a pure
// function from a document to bytes: the same document gives the same bytes,
// whatever the time, the locale or the terminal. Width, colour and size are
// options.
//
// The room refuses to decide, to count anew what the gate counted, and to invent
// a number. Everything that came from the code under test (names, notes, reasons,
// output) is data: each renderer makes control characters visible, escapes what
// its format would read as more than text, and bounds the length.
//
// Its data goes to files, to the terminal and, later, to publish.
package report

// Options are what a renderer may be told beside the document. The zero value
// is good for all of them.
type Options struct {
	// Key, when not empty, makes Markdown begin with the hidden line
	// "<!-- perfweir:KEY -->", by which a comment is found again.
	Key string
	// Bytes is the most that Markdown may write; 0 is DefaultBytes. Less than
	// MinBytes is raised to it.
	Bytes int
	// Width is the number of terminal columns; 0 is 100. It is held between 80
	// and 120.
	Width int
	// Color lets Terminal use ANSI colours.
	Color bool
	// Rows is the most rows that Terminal writes into all its tables together;
	// 0 is 60.
	Rows int
	// Full names where the whole report is ("perfweir-out/findings.csv"); it is
	// said where something is left out.
	Full string
	// Half limits Comment to one half of the report.
	Half Half
}

// Limits of Markdown. GitHub refuses a comment of more than 65,536 characters,
// and the message does not say how it counts; bytes with room to spare are safe.
const (
	DefaultBytes = 60_000
	MinBytes     = 8_000
)

const (
	defaultWidth = 100
	minWidth     = 80
	maxWidth     = 120
	defaultRows  = 60
)

func (o Options) bytes() int {
	if o.Bytes == 0 {
		return DefaultBytes
	}
	return max(o.Bytes, MinBytes)
}

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return min(max(o.Width, minWidth), maxWidth)
}

func (o Options) rows() int {
	if o.Rows <= 0 {
		return defaultRows
	}
	return o.Rows
}

// full is where a reader finds what is left out.
func (o Options) full() string {
	if o.Full == "" {
		return "verdict.json"
	}
	return o.Full
}
