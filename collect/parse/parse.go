// Package parse lists the formats of known tools, by hand: one line a format,
// each with the room that reads it. A new family is a new sub-package and its
// lines here, and the word in the suite file's grammar.
//
// The room is pure and has no other code. collect/measure asks it what the
// format of a reader means.
package parse

import (
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/parse/gobench"
	"github.com/perfweir/perfweir/collect/result"
)

// Format is what one tool prints or writes.
type Format struct {
	Name string // in suite files
	// Metric is one that every good output of the tool has. A run without any
	// measurement says so under this name: nothing measured never passes.
	Metric string
	// Read reads what one run printed, bounded and never trusting it. The error is
	// for an output that cannot be read at all.
	Read func(raw []byte) (generic.Reading, error)
}

// Formats returns all formats in the order of their names. The slice is fresh.
func Formats() []Format {
	return []Format{
		{"go-bench", result.TimePerOp, gobench.Read},
	}
}

// FormatOf finds a format by its name.
func FormatOf(name string) (Format, bool) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}
