package unit

import (
	"math"
	"strconv"
	"strings"
)

// NotANumber is what Format prints for NaN: absent is never 0.
const NotANumber = "n/a"

// step is one scale of a base unit.
type step struct {
	name   string  // printed behind the number
	factor float64 // base units in one of it
}

// steps returns the scales of a base unit, smallest first, nil for units that
// are scaled by a suffix on the number (counts, a user's own).
func steps(base string) []step {
	switch base {
	case Second:
		return []step{{"ns", 1e-9}, {"\u00b5s", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}
	case Byte:
		return []step{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}
	case Joule, Watt:
		return []step{{"\u00b5" + base, 1e-6}, {"m" + base, 1e-3}, {base, 1}, {"k" + base, 1e3}, {"M" + base, 1e6}}
	case Hertz:
		return []step{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}
	}
	return nil
}

// scale is how a value is printed: divided by factor, with name behind.
type scale struct {
	factor float64
	name   string
	base   string
}

// scaleOf chooses the scale in which v has one to four digits before the point.
// It looks at the rounded value, so 999.6 us is "1.00 ms" and never "1000 us".
func scaleOf(v float64, u string) scale {
	if u == "%" || u == "pp" {
		return scale{1, " " + u, u}
	}
	base, _ := Base(u)
	over, under, isRate := strings.Cut(base, "/")
	tail := ""
	if isRate {
		tail = "/" + under
	}
	list := steps(over)
	if list == nil {
		return suffixScale(v, over, tail)
	}
	if v == 0 {
		return scale{1, " " + over + tail, base}
	}
	chosen := list[0]
	for _, s := range list[1:] {
		if roundTo(math.Abs(v)/s.factor, 3) >= 1 {
			chosen = s
		}
	}
	return scale{chosen.factor, " " + chosen.name + tail, base}
}

// suffixScale is for counts and units of a user's own: 12.3k, 4.56M tok/s. Up to
// four digits are printed as they are.
func suffixScale(v float64, over, tail string) scale {
	name := tail
	if over != One {
		name = over + tail
	}
	if name != "" {
		name = " " + name
	}
	s := scale{1, name, over + tail}
	if roundTo(math.Abs(v), 4) < 1e4 {
		return s
	}
	for _, p := range []step{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}} {
		if roundTo(math.Abs(v)/p.factor, 3) >= 1 {
			s.factor, s.name = p.factor, p.name+name
		}
	}
	return s
}

// Format prints a value that is in the unit u, scaled for people, with three to
// four significant digits: "1.46 µs", "102 MiB", "12.3 %", "1.20 min". Whole
// numbers of bytes and counts stay whole. A value that is not zero never prints
// as zero, zero never with a minus, NaN is "n/a".
func Format(v float64, u string) string {
	if text, special := notFinite(v); special {
		return text
	}
	v = inBase(v, u)
	s := scaleOf(v, u)
	return s.print(v, s.decimals(v))
}

// Signed is Format with a plus before positive values, for changes.
func Signed(v float64, u string) string {
	text := Format(v, u)
	if v > 0 {
		return "+" + text
	}
	return text
}

// Percentage prints a fraction as a percentage: 0.123 is "12.3 %".
func Percentage(fraction float64) string { return Format(fraction*100, "%") }

// FormatPair prints two values of one unit that are held against each other.
// They share a scale when the smaller still has digits to show in it; else each
// is scaled by itself (C59: old 1.10 ms, new 1.46 µs, never 0.00 ms). When they
// differ and the usual digits hide it, more digits are printed.
func FormatPair(a, b float64, u string) (string, string) {
	_, aSpecial := notFinite(a)
	_, bSpecial := notFinite(b)
	if aSpecial || bSpecial {
		return Format(a, u), Format(b, u)
	}
	x, y := inBase(a, u), inBase(b, u)
	large, small := math.Max(math.Abs(x), math.Abs(y)), math.Min(math.Abs(x), math.Abs(y))
	if small == 0 || small < large/10 {
		// Values this far apart differ in any scale. Zero takes the other's.
		s := scaleOf(large, u)
		return printOwn(x, s, u), printOwn(y, s, u)
	}
	s := scaleOf(large, u)
	decimals := s.decimals(large)
	if s.whole(x) && s.whole(y) {
		decimals = 0
	} else if s.whole(large) {
		decimals = usualDecimals(large/s.factor, 3)
	}
	if x == y {
		return s.print(x, decimals), s.print(y, decimals)
	}
	for extra := range 9 {
		p, q := s.print(x, decimals+extra), s.print(y, decimals+extra)
		if p == q {
			continue
		}
		if extra > 0 { // one digit more, or 1.2345 and 1.2346 would look 0.001 apart
			return s.print(x, decimals+extra+1), s.print(y, decimals+extra+1)
		}
		return p, q
	}
	return s.print(x, -1), s.print(y, -1)
}

func printOwn(v float64, other scale, u string) string {
	if v == 0 {
		return other.print(0, 0)
	}
	s := scaleOf(v, u)
	return s.print(v, s.decimals(v))
}

// inBase converts to the base unit; percentages stay what they are, since
// nobody wants to read 12 % as 0.12.
func inBase(v float64, u string) float64 {
	if u == "%" || u == "pp" {
		return v
	}
	_, factor := Base(u)
	if factor == 1 {
		return v
	}
	return scaled(v, factor, 1)
}

// whole reports whether v is printed as the whole number it is.
func (s scale) whole(v float64) bool {
	over, _, isRate := strings.Cut(s.base, "/")
	return s.factor == 1 && !isRate && over != Second && over != Joule && over != Watt &&
		v == math.Trunc(v) && math.Abs(v) < 1e15
}

// decimals is how many digits behind the point v gets in this scale.
func (s scale) decimals(v float64) int {
	if v == 0 || s.whole(v) {
		return 0
	}
	return usualDecimals(v/s.factor, 3)
}

// print writes v in this scale. Very small and very large numbers, which no
// scale holds, are written with an exponent.
func (s scale) print(v float64, decimals int) string {
	x := v / s.factor
	if x != 0 && (math.Abs(x) < 1e-5 || math.Abs(x) >= 1e7 && !s.whole(v)) {
		return strconv.FormatFloat(x, 'e', exponentDigits(decimals, x), 64) + s.name
	}
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return text + s.name
}

// exponentDigits keeps the digits that decimals would have shown, at least two.
func exponentDigits(decimals int, x float64) int {
	if decimals < 0 {
		return -1
	}
	return max(2, decimals+exponent(x, 3))
}

// usualDecimals is the number of decimals that gives x digits significant ones.
func usualDecimals(x float64, digits int) int {
	return max(0, digits-1-exponent(x, digits))
}

// exponent is the decimal exponent of x after rounding to so many digits: 9.996
// rounded to three is 10.0 and has exponent 1.
func exponent(x float64, digits int) int {
	if x == 0 {
		return 0
	}
	text := strconv.FormatFloat(x, 'e', digits-1, 64)
	e, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:]) // FormatFloat always writes an exponent here
	return e
}

// roundTo rounds to so many significant digits, as print does.
func roundTo(x float64, digits int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64) // what FormatFloat wrote parses, or is infinite
	return v
}

func notFinite(v float64) (string, bool) {
	switch {
	case math.IsNaN(v):
		return NotANumber, true
	case math.IsInf(v, 1):
		return "infinite", true
	case math.IsInf(v, -1):
		return "-infinite", true
	}
	return "", false
}
