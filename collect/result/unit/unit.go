// Package unit is the one place that knows units: it parses quantities as
// people write them, converts them to base units, and scales base units back
// for people. Documents hold base units only (s, B, J, W, Hz, 1, and rates of
// them); whoever prints a number calls Format here, so that a comment, a
// terminal and a page show the same text.
//
// The room is pure and refuses to guess: a unit it does not know is the user's
// own, is its own base, and converts to nothing else. Its data goes to config,
// to the readers of program output and to the reports.
package unit

import (
	"fmt"
	"math"
	"strings"
)

// Base units of the documents.
const (
	Second = "s"
	Byte   = "B"
	Joule  = "J"
	Watt   = "W"
	Hertz  = "Hz"
	One    = "1"
)

// known returns the base unit and the factor of a single unit (no slash).
//
// Decimal and binary prefixes of bytes follow IEC 80000-13: kB is 1000 B and
// KiB is 1024 B. KB is not in the table on purpose: half of the tools mean one
// and half the other, so the reader is asked.
func known(u string) (base string, factor float64, ok bool) {
	switch u {
	case "", One:
		return One, 1, true
	case "%", "pp":
		return One, 0.01, true
	case "s", "sec":
		return Second, 1, true
	case "ms":
		return Second, 1e-3, true
	case "us", "\u00b5s", "\u03bcs": // micro sign and Greek mu look alike; people type both
		return Second, 1e-6, true
	case "ns":
		return Second, 1e-9, true
	case "min":
		return Second, 60, true
	case "h":
		return Second, 3600, true
	case "d":
		return Second, 86400, true
	case "Wh":
		return Joule, 3600, true
	case "mWh":
		return Joule, 3.6, true
	case "kWh":
		return Joule, 3.6e6, true
	}
	for _, b := range []string{Hertz, Byte, Joule, Watt} {
		prefix, found := strings.CutSuffix(u, b)
		if !found {
			continue
		}
		if f, ok := prefixFactor(prefix, b); ok {
			return b, f, true
		}
	}
	return u, 1, false
}

// prefixFactor is what a prefix multiplies the base unit by. Bytes have no
// parts, and hertz are never written in milli.
func prefixFactor(prefix, base string) (float64, bool) {
	switch prefix {
	case "":
		return 1, true
	case "k":
		return 1e3, true
	case "M":
		return 1e6, true
	case "G":
		return 1e9, true
	case "T":
		return 1e12, true
	case "P":
		return 1e15, base == Byte
	}
	if base == Byte {
		return binaryFactor(prefix)
	}
	if base == Hertz {
		return 0, false
	}
	switch prefix {
	case "m":
		return 1e-3, true
	case "u", "\u00b5", "\u03bc":
		return 1e-6, true
	case "n":
		return 1e-9, true
	}
	return 0, false
}

func binaryFactor(prefix string) (float64, bool) {
	power, ok := map[string]int{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}[prefix]
	return math.Ldexp(1, power), ok
}

// Base returns the base unit of u and the factor that converts a value in u to
// it: Base("ms") is "s", 1e-3; Base("MB/s") is "B/s", 1e6; Base("ns/op") is
// "s/op", 1e-9. A unit that is not known is its own base.
func Base(u string) (base string, factor float64) {
	i := strings.LastIndexByte(u, '/')
	if i < 0 {
		base, factor, _ = known(u)
		return base, factor
	}
	over, overFactor, _ := known(u[:i])
	under, underFactor, _ := known(u[i+1:])
	if under == One {
		underFactor = 1 // "x/%" is nobody's unit; do not scale by it
		under = u[i+1:]
	}
	return over + "/" + under, overFactor / underFactor
}

// Convert returns value, which is in from, in to. It is an error when both do
// not measure the same thing, or when the result is not finite.
func Convert(value float64, from, to string) (float64, error) {
	fromBase, fromFactor := Base(from)
	toBase, toFactor := Base(to)
	if fromBase != toBase {
		return 0, fmt.Errorf("convert %q to %q: one is in %s, the other in %s", from, to, Name(fromBase), Name(toBase))
	}
	if from == to {
		return value, finite(value)
	}
	out := scaled(value, fromFactor, toFactor)
	return out, finite(out)
}

// scaled multiplies by from/to. A factor under one is a division by its
// reciprocal: 10 ms is 10/1000 = 0.01 s to the last bit, while 10 x 1e-3 is not
// always the float nearest to the decimal number that was written.
func scaled(value, from, to float64) float64 {
	f := from / to
	if f > 0 && f < 1 {
		if inverse := to / from; inverse == math.Trunc(inverse) {
			return value / inverse
		}
		if inverse := math.Round(1 / f); inverse > 0 && math.Abs(f*inverse-1) < 1e-15 {
			return value / inverse
		}
	}
	return value * f
}

func finite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%v is not a finite number", v)
	}
	return nil
}

// Name is a base unit in words, for messages.
func Name(base string) string {
	switch base {
	case Second:
		return "seconds"
	case Byte:
		return "bytes"
	case Joule:
		return "joules"
	case Watt:
		return "watts"
	case Hertz:
		return "hertz"
	case One:
		return "plain numbers"
	}
	return fmt.Sprintf("%q", base)
}
