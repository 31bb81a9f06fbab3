// Package proof is what the programs of the proofs share: how they end, read
// documents, and tell chance from a goal that was missed.
package proof

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/perfweir/perfweir/gate/stats"
)

// Main runs a program with its arguments. An error ends it with 1, which fails the
// script that it is of.
func Main(name string, run func(args []string) error) {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Missed is the error of goals that were missed; nil where none was. It comes last,
// so that the figures are printed either way.
func Missed(goals []string) error {
	if len(goals) == 0 {
		return nil
	}
	return errors.New("missed: " + strings.Join(goals, "; "))
}

// Decode reads a document from a file: read is the Decode of its package.
func Decode[T any](path string, read func(io.Reader) (*T, error)) (*T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return doc, nil
}

// Share is how many of all it was, and the exact 95 % interval of the rate behind
// that: the docs give no share without one.
type Share struct {
	Hits, N      int
	Lower, Upper float64
}

// ShareOf needs at least one trial.
func ShareOf(hits, n int) (s Share, err error) {
	s = Share{Hits: hits, N: n}
	s.Lower, s.Upper, err = stats.ProportionBounds(hits, n, .025)
	return s, err
}

func (s Share) String() string {
	return fmt.Sprintf("%d of %d (%.1f to %.1f %%)", s.Hits, s.N, 100*s.Lower, 100*s.Upper)
}

// TooMany reports whether a rate of most gives so many in at most one of twenty
// proofs. A plain comparison would fail half of the proofs of a gate that is just as
// good as it says.
func TooMany(hits, n int, most float64) bool {
	if n == 0 {
		return false
	}
	lower, _, err := stats.ProportionBounds(hits, n, .05)
	return err != nil || lower > most
}
