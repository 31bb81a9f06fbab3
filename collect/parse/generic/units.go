package generic

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/perfweir/perfweir/collect/result/unit"
)

// maxUnit is the length of a unit that a program may name, in bytes.
const maxUnit = 64

// factor is what takes a number of unit from to unit to; mismatch is a sentence
// where they do not measure the same thing.
func factor(from, to string) (scale float64, mismatch string) {
	fromBase, a := unit.Base(from)
	toBase, b := unit.Base(to)
	if fromBase != toBase {
		return math.NaN(), fmt.Sprintf("unit %s is not one of %s", Quote(from), unit.Name(toBase))
	}
	return a / b, ""
}

// times multiplies by a factor. A factor that is one over a whole number divides
// instead: 10 ms is 10/1000 s to the last bit, and 10 x 1e-3 is not always.
func times(v, scale float64) float64 {
	if scale > 0 && scale < 1 {
		if inverse := math.Round(1 / scale); math.Abs(scale*inverse-1) < 1e-15 {
			return v / inverse
		}
	}
	return v * scale
}

// printable reports whether a unit can stand in a document: short, and without
// what would break a line.
func printable(word string) bool {
	return len(word) <= maxUnit && !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsPrint(r) || r == unicode.ReplacementChar
	})
}
