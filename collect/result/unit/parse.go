package unit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxText bounds a quantity's text: nobody writes longer ones, and messages
// quote it.
const maxText = 64

// Quantity is a number and the unit written behind it; Unit is empty for a bare
// number.
type Quantity struct {
	Value float64
	Unit  string
}

// Parse reads one number with an optional unit: "1.5GiB", "64 MiB", "-3", "12
// tok/s". The number is decimal, with an optional fraction and exponent; signs,
// hexadecimal, "inf" and "nan" follow the rule that a limit is a number that a
// person can check: a minus is read, the others are refused.
func Parse(s string) (Quantity, error) {
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		return Quantity{}, fmt.Errorf("a quantity of %d bytes is too long", len(s))
	}
	end := numberEnd(s)
	if end == 0 {
		return Quantity{}, fmt.Errorf("%q does not start with a number", s)
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || finite(v) != nil {
		return Quantity{}, fmt.Errorf("%q is not a finite number", s[:end])
	}
	u := strings.TrimSpace(s[end:])
	if err := checkUnit(u); err != nil {
		return Quantity{}, fmt.Errorf("%q: %w", s, err)
	}
	return Quantity{v + 0, u}, nil // + 0: "-0" is 0
}

// numberEnd returns the length of the decimal number that s starts with, 0 when
// there is none. An "e" belongs to it only with digits behind.
func numberEnd(s string) int {
	i := 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	whole := digits(s[i:])
	i += whole
	if i < len(s) && s[i] == '.' {
		fraction := digits(s[i+1:])
		if whole+fraction == 0 || fraction == 0 {
			return 0
		}
		i += 1 + fraction
	} else if whole == 0 {
		return 0
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if n := digits(s[j:]); n > 0 {
			i = j + n
		}
	}
	return i
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// checkUnit refuses what cannot be a unit: blanks and control characters inside,
// or something that continues the number ("1.2.3", "1_000").
func checkUnit(u string) error {
	if u == "" {
		return nil
	}
	if u == "KB" || strings.HasPrefix(u, "KB/") {
		return errors.New("KB means 1000 bytes to some and 1024 to others; write kB (1000) or KiB (1024)")
	}
	if strings.ContainsFunc(u, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\ufffd' }) {
		return errors.New("a unit has no blanks in it")
	}
	if c := u[0]; c >= '0' && c <= '9' || strings.IndexByte("._,+-", c) >= 0 {
		return fmt.Errorf("%q is not a unit", u)
	}
	return nil
}

// In reads a quantity and returns it in the base unit given: In("1.5GiB", "B")
// is 1610612736. A bare number is refused unless it is 0 or base is "1"; a share
// ("5%") is a number of unit "1".
func In(s, base string) (float64, error) {
	q, err := Parse(s)
	if err != nil {
		return 0, err
	}
	if q.Unit == "" && (q.Value == 0 || base == One) {
		return q.Value, nil
	}
	if q.Unit == "" {
		return 0, fmt.Errorf("%q has no unit", strings.TrimSpace(s))
	}
	if q.Unit == "m" && base == Second {
		q.Unit = "min" // as in durations: nobody budgets metres
	}
	v, err := Convert(q.Value, q.Unit, base)
	if err != nil {
		return 0, fmt.Errorf("%q is not in %s", strings.TrimSpace(s), Name(base))
	}
	return v, nil
}

// Duration reads a duration in seconds: "150s", "10ms", "500us", "1m30s", "30d".
// Here m is minutes. It must not be negative; a bare number is refused unless it
// is 0.
func Duration(s string) (float64, error) {
	rest := strings.TrimSpace(s)
	if rest == "" || len(rest) > maxText {
		return 0, fmt.Errorf("%q is not a duration", clip(s))
	}
	if rest == "0" {
		return 0, nil
	}
	total := 0.0
	for last := math.Inf(1); rest != ""; {
		var part, step float64
		var err error
		if part, step, rest, err = durationPart(rest); err != nil {
			return 0, fmt.Errorf("%q is not a duration: %w", s, err)
		}
		if step >= last {
			return 0, fmt.Errorf("%q is not a duration: larger units come first, each once", s)
		}
		total, last = total+part, step
	}
	if err := finite(total); err != nil {
		return 0, fmt.Errorf("%q is not a duration: %w", s, err)
	}
	return total, nil
}

// durationPart reads one number with its unit off the front of s.
func durationPart(s string) (seconds, step float64, rest string, err error) {
	end := numberEnd(s)
	if end == 0 || s[0] == '-' {
		return 0, 0, "", fmt.Errorf("%q does not start with a number", s)
	}
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, 0, "", fmt.Errorf("%q is not a finite number", s[:end])
	}
	s = strings.TrimLeft(s[end:], " ")
	n := strings.IndexAny(s, "0123456789 ")
	if n < 0 {
		n = len(s)
	}
	name := s[:n]
	if name == "" {
		return 0, 0, "", errors.New("a number has no unit")
	}
	if name == "m" {
		name = "min"
	}
	base, factor, _ := known(name)
	if base != Second {
		return 0, 0, "", fmt.Errorf("%q is not a unit of time", name)
	}
	return scaled(v, factor, 1), factor, strings.TrimLeft(s[n:], " "), nil
}

// Size reads a number of bytes, rounded to a whole one: "1.5GiB", "64MiB",
// "10kB", "512B". It must not be negative nor beyond 2^53, where a float64 stops
// counting bytes. A bare number is refused unless it is 0.
func Size(s string) (int64, error) {
	v, err := In(s, Byte)
	if err != nil {
		return 0, err
	}
	if v < 0 || v > 1<<53 {
		return 0, fmt.Errorf("%q is out of range", strings.TrimSpace(s))
	}
	return int64(math.Round(v)), nil
}

// Percent reads a percentage as a fraction: "5%" is 0.05. Any non-negative
// finite one, also of 100 and more (C33).
func Percent(s string) (float64, error) {
	q, err := Parse(s)
	if err != nil {
		return 0, err
	}
	if q.Unit != "%" || q.Value < 0 {
		return 0, fmt.Errorf("%q is not a percentage", strings.TrimSpace(s))
	}
	return q.Value / 100, nil
}

func clip(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}
