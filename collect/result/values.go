package result

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// MarshalJSON writes NaN as null; encoding/json alone would refuse it. An
// infinite value is an error.
func (v Values) MarshalJSON() ([]byte, error) {
	for i, x := range v {
		if math.IsInf(x, 0) {
			return nil, fmt.Errorf("value %d is infinite", i)
		}
	}
	return appendFloats(nil, v), nil
}

// UnmarshalJSON reads null as NaN.
func (v *Values) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	s := newScanner(bytes.NewReader(data), len(data)+1)
	list, err := s.floats(nil)
	if err != nil {
		return err
	}
	*v = list
	return nil
}

// appendFloats appends a list of numbers; NaN is null.
func appendFloats(b []byte, list []float64) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFloat(b, v)
	}
	return append(b, ']')
}

// appendFloat appends the shortest text that reads back as v, in the form of
// encoding/json: an exponent below 1e-6 and from 1e21 on.
func appendFloat(b []byte, v float64) []byte {
	const exactly = 1 << 53 // whole numbers below have no other shortest form
	size := math.Abs(v)
	switch {
	case math.IsNaN(v):
		return append(b, "null"...)
	case size < exactly && v == math.Trunc(v) && v != 0:
		return strconv.AppendInt(b, int64(v), 10)
	case size >= 1e-6 && size < 1e21 || v == 0:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, v, 'e', -1, 64)
	if n := len(b); n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

func appendInt(b []byte, v int) []byte { return strconv.AppendInt(b, int64(v), 10) }
