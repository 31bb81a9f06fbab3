package result

import (
	"fmt"
	"math"
	"strconv"
)

// decimal is a number as it is written: mantissa x 10^exponent.
type decimal struct {
	mantissa uint64
	exponent int
	negative bool
	integer  bool // neither fraction nor exponent
	// inexact: the mantissa does not hold all digits, or the exponent is beyond
	// every float64.
	inexact bool
}

// parseDecimal reads a JSON number at the start of b and returns its length; 0
// when there is none.
func parseDecimal(b []byte) (d decimal, n int) {
	i := 0
	if i < len(b) && b[i] == '-' {
		d.negative = true
		i++
	}
	first := i
	i = d.digits(b, i)
	if i == first || b[first] == '0' && i > first+1 { // no digit; 007
		return d, 0
	}
	d.integer = true
	if i < len(b) && b[i] == '.' {
		d.integer = false
		point := i + 1
		i = d.digits(b, point)
		if i == point {
			return d, 0
		}
		d.exponent = point - i
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		d.integer = false
		return d, d.scale(b, i+1)
	}
	return d, i
}

// digits adds the digits from b[i] on to the mantissa.
func (d *decimal) digits(b []byte, i int) int {
	const room = math.MaxUint64/10 - 1 // times ten plus nine still fits
	m := d.mantissa
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			break
		}
		if m > room {
			d.inexact = true
			continue
		}
		m = m*10 + uint64(c)
	}
	d.mantissa = m
	return i
}

// scale reads the exponent that starts at b[i] and returns the end of the
// number; 0 when there is no digit.
func (d *decimal) scale(b []byte, i int) int {
	negative := false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	first, e := i, 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if e > 10_000 {
			d.inexact = true
			continue
		}
		e = e*10 + int(b[i]-'0')
	}
	if i == first {
		return 0
	}
	if negative {
		e = -e
	}
	d.exponent += e
	return i
}

// tenTo are the powers of ten that a float64 holds exactly.
var tenTo = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// float returns the nearest float64; text is what d was read from.
//
// Where mantissa and power of ten are both exact, one multiplication or division
// rounds once and therefore right (Clinger, How to Read Floating Point Numbers
// Accurately, 1990). Everything else goes to strconv.
func (d *decimal) float(text []byte) (float64, error) {
	if !d.inexact && d.mantissa < 1<<53 && -22 <= d.exponent && d.exponent <= 22 {
		v := float64(d.mantissa)
		if d.negative {
			v = -v
		}
		switch {
		case d.exponent < 0:
			return v / tenTo[-d.exponent], nil
		case d.exponent > 0:
			return v * tenTo[d.exponent], nil
		}
		return v, nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return 0, fmt.Errorf("number %s is not finite", shorten(string(text)))
	}
	return v, nil
}

// number reads a number and returns its text.
func (s *scanner) number() ([]byte, error) {
	_, text, err := s.decimal()
	return text, err
}

// decimal reads a number and returns it as it is written, in parts and as text.
func (s *scanner) decimal() (decimal, []byte, error) {
	first, err := s.next()
	if err != nil {
		return decimal{}, nil, err
	}
	for {
		rest := s.buf[s.pos:]
		d, n := parseDecimal(rest)
		if n > 0 && n < len(rest) {
			s.pos += n
			return d, rest[:n], nil
		}
		// What the window has may be only the start of a number.
		if n == 0 && (len(rest) > maxNumber || !startsNumber(first)) {
			return d, nil, fmt.Errorf("found %q, want a number", first)
		}
		if n > maxNumber {
			return d, nil, fmt.Errorf("number is longer than %d digits", maxNumber)
		}
		if _, err := s.fill(s.pos); err != nil {
			return d, nil, err
		}
	}
}

func startsNumber(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

// plainDecimal reads the common form of a number at the start of b: at most 19
// digits with or without a point, no sign, no exponent, and a byte that ends it.
// It returns length 0 for every other form, which parseDecimal reads.
func plainDecimal(b []byte) (mantissa uint64, fraction, n int) {
	i := 0
	for i < len(b) && b[i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(b[i]-'0')
		i++
	}
	digits := i
	if i == 0 || b[0] == '0' && i > 1 {
		return 0, 0, 0
	}
	if i < len(b) && b[i] == '.' {
		point := i
		i++
		for i < len(b) && b[i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(b[i]-'0')
			i++
		}
		fraction = i - point - 1
		digits = i - 1
		if fraction == 0 {
			return 0, 0, 0
		}
	}
	const fit = 19 // digits in a uint64
	if digits > fit || i == len(b) || b[i]|0x20 == 'e' {
		return 0, 0, 0
	}
	return mantissa, fraction, i
}

// float reads a finite number that next has moved to.
func (s *scanner) float() (float64, error) {
	rest := s.buf[s.pos:]
	if mantissa, fraction, n := plainDecimal(rest); n > 0 {
		s.pos += n
		if mantissa < 1<<53 {
			return float64(mantissa) / tenTo[fraction], nil // see decimal.float
		}
		return strconv.ParseFloat(string(rest[:n]), 64)
	}
	d, text, err := s.decimal()
	if err != nil {
		return 0, err
	}
	return d.float(text)
}

// integer reads a whole number from least to most.
func (s *scanner) integer(least, most int) (int, error) {
	if m, fraction, n := plainDecimal(s.buf[s.pos:]); n > 0 && fraction == 0 && m <= uint64(most) && int(m) >= least {
		s.pos += n
		return int(m), nil
	}
	d, text, err := s.decimal()
	if err != nil {
		return 0, err
	}
	v := int(d.mantissa)
	if d.negative {
		v = -v
	}
	if !d.integer || d.inexact || d.mantissa > math.MaxInt64 || v < least || v > most {
		return 0, fmt.Errorf("found %s, want a whole number from %d to %d", shorten(string(text)), least, most)
	}
	return v, nil
}

// floats appends an array of numbers and nulls to dst; a null is NaN.
func (s *scanner) floats(dst []float64) ([]float64, error) {
	err := s.array(func() error {
		if len(dst) == MaxRuns {
			return fmt.Errorf("more than %d values", MaxRuns)
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		if c == 'n' {
			dst = append(dst, math.NaN())
			return s.literal("null")
		}
		v, err := s.float()
		dst = append(dst, v)
		return err
	})
	return dst, err
}

// integers appends an array of whole numbers from least to most to dst.
func (s *scanner) integers(dst []int, least, most int) ([]int, error) {
	err := s.array(func() error {
		if len(dst) == MaxRuns {
			return fmt.Errorf("more than %d values", MaxRuns)
		}
		v, err := s.integer(least, most)
		dst = append(dst, v)
		return err
	})
	return dst, err
}
