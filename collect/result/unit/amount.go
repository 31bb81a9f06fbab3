package unit

import (
	"errors"
	"fmt"
	"strings"
)

// Amount is how far a relative budget lets a value move from its reference:
// reference x (1 + Fraction) + Absolute.
type Amount struct {
	Fraction float64 // 0.05 is 5 %
	Absolute float64 // in the metric's base unit
}

// ErrBare is returned for a bare number: 5 may mean 5 % or five times, 0.05 may
// mean 5 % or 0.05 %.
var ErrBare = errors.New("a bare number is ambiguous")

// ParseAmount reads a fraction, an amount or both joined by a plus: "5%",
// "10ms", "0.5pp", "10% + 10ms". base is the metric's base unit; for a share or
// a count (unit "1") an amount is in percentage points, or a bare number behind
// the plus ("10% + 3"). Signs are refused: the budget's kind says the direction
// (C10). Bare 0 is allowed, it means the same in every reading.
func ParseAmount(s, base string) (Amount, error) {
	var out Amount
	terms := strings.Split(s, "+")
	if len(terms) > 2 {
		return out, fmt.Errorf("%q has more than a fraction and an amount", clip(s))
	}
	seenFraction, seenAbsolute := false, false
	for i, term := range terms {
		fraction, v, err := parseTerm(term, base, i > 0)
		if err != nil {
			return Amount{}, err
		}
		if fraction && seenFraction || !fraction && seenAbsolute {
			return Amount{}, fmt.Errorf("%q has two terms of one kind; join a fraction and an amount", s)
		}
		if fraction {
			out.Fraction, seenFraction = v, true
		} else {
			out.Absolute, seenAbsolute = v, true
		}
	}
	return out, nil
}

// parseTerm reads one term; fraction tells a percentage from an amount.
func parseTerm(term, base string, second bool) (fraction bool, v float64, err error) {
	q, err := Parse(term)
	if err != nil {
		return false, 0, err
	}
	if q.Value < 0 {
		return false, 0, fmt.Errorf("%q is negative; the budget's kind says the direction", strings.TrimSpace(term))
	}
	switch {
	case q.Unit == "%":
		return true, q.Value / 100, nil
	case q.Unit == "" && q.Value == 0:
		return !second, 0, nil
	case q.Unit == "" && !(second && base == One):
		return false, 0, fmt.Errorf("%q: %w", strings.TrimSpace(term), ErrBare)
	}
	v, err = In(term, base)
	return false, v, err
}
