package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing wrong with a suite file, or worth a second look: where,
// what, and what to write instead. Line and Column are 1-based; columns count
// characters.
type Problem struct {
	Path         string
	Line, Column int
	What         string
	Instead      string
}

// String is the line a user sees.
func (p Problem) String() string {
	text := fmt.Sprintf("%s:%d:%d: %s", p.Path, p.Line, p.Column, p.What)
	if p.Instead != "" {
		text += "; " + p.Instead
	}
	return text
}

// Problems are all problems of one file, in the order of the file.
type Problems []Problem

// String has one problem a line.
func (ps Problems) String() string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Err is nil when there are no problems.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return errors.New(strings.TrimSuffix(ps.String(), "\n"))
}

// sorted returns the problems in the order of the file, each once: what is wrong
// in defaults would otherwise be told for every benchmark that inherits it.
func (ps Problems) sorted() Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(ps)
}

// mark is the place of a value in the file; the zero mark belongs to a value
// that is not there. bad is set on a value that is there and could not be read:
// its own problem is told already, so later checks leave it alone.
type mark struct {
	line, column int
	bad          bool
}

func (m *mark) place(line, column int) { m.line, m.column = line, column }

func (m *mark) at() mark { return *m }

// given reports whether the file has the value at all.
func (m *mark) given() bool { return m.line > 0 }

func (m *mark) spoil() { m.bad = true }

// usable reports whether the file has the value and it could be read.
func (m *mark) usable() bool { return m.given() && !m.bad }
