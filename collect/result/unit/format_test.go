package unit

import (
	"math"
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{1.46e-6, "s", "1.46 µs"}, {0, "s", "0 s"}, {1.1e-3, "s", "1.10 ms"}, {72, "s", "1.20 min"}, {5400, "s", "1.50 h"},
		{172800, "s", "2.00 d"}, {59.9, "s", "59.9 s"}, {12.34, "ms", "12.3 ms"}, {2e-12, "s", "0.00200 ns"},
		{2e-19, "s", "2.00e-10 ns"}, {-0.25, "s", "-250 ms"},
		{106954752, "B", "102 MiB"}, {512, "B", "512 B"}, {1023, "B", "1023 B"}, {1024, "B", "1.00 KiB"}, {7, "B", "7 B"},
		{0.5, "B", "0.500 B"}, {3, "KiB", "3.00 KiB"}, {1e18, "B", "909495 TiB"},
		{12.3, "%", "12.3 %"}, {0.5, "pp", "0.500 pp"}, {150, "%", "150 %"},
		{0.41, "J/token", "410 mJ/token"}, {25, "W", "25.0 W"}, {1.2e6, "Hz", "1.20 MHz"}, {3600, "J", "3.60 kJ"},
		{7e-9, "s/op", "7.00 ns/op"}, {1.07e8, "B/s", "102 MiB/s"},
		{45.678, "tok/s", "45.7 tok/s"}, {12345, "tok/s", "12.3k tok/s"}, {7, "1", "7"}, {9999, "1", "9999"},
		{12345, "1", "12.3k"}, {0.123, "1", "0.123"}, {45.6, "1/s", "45.6 /s"}, {7, "frames", "7 frames"},
		{math.NaN(), "s", "n/a"}, {math.Inf(1), "s", "infinite"}, {math.Inf(-1), "1", "-infinite"}, {math.Copysign(0, -1), "s", "0 s"},
		{math.Copysign(0, -1), "1", "0"}, {3e11, "1", "300G"}, {5e-324, "s", "4.94e-315 ns"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// Each boundary is checked at the last float before it and the first behind.
func TestFormatBoundaries(t *testing.T) {
	for _, c := range []struct {
		unit          string
		at            float64
		below, behind string
	}{
		{"s", 0.9995e-3, "999 µs", "1.00 ms"},
		{"s", 9.995e-3, "9.99 ms", "10.0 ms"},
		{"s", 99.95e-3, "99.9 ms", "100 ms"},
		{"s", 0.9995, "999 ms", "1.00 s"},
		{"s", 60 * 0.9995, "60.0 s", "1.00 min"},
		{"B", 1024 * 0.9995, "1023 B", "1.00 KiB"},
		{"W", 0.9995, "999 mW", "1.00 W"},
		{"1", 0.9995, "0.999", "1.00"},
		{"%", 9.995, "9.99 %", "10.0 %"},
	} {
		below := Format(math.Nextafter(c.at, 0)*(1-1e-12), c.unit)
		behind := Format(math.Nextafter(c.at, math.Inf(1))*(1+1e-12), c.unit)
		if below != c.below || behind != c.behind {
			t.Errorf("around %v %s: %q, %q, want %q, %q", c.at, c.unit, below, behind, c.below, c.behind)
		}
	}
}

// Over sixty decades of values: never an unscaled 1000 where a larger scale
// exists, never a zero for what is not zero, never a minus before zero, and the
// text parses back to within its digits.
func TestFormatRoundTrip(t *testing.T) {
	for _, u := range []string{"s", "B", "J", "W", "Hz", "%", "B/s", "J/token"} {
		base, _ := Base(u)
		if u == "%" {
			base = u
		}
		for e := -20.0; e < 20; e += 0.0137 {
			for _, v := range []float64{math.Pow(10, e), math.Nextafter(math.Pow(10, e), 0), -math.Pow(10, e)} {
				text := Format(v, u)
				q, err := Parse(text)
				if err != nil {
					t.Fatalf("Parse(Format(%v, %q) = %q): %v", v, u, text, err)
				}
				got := q.Value
				if u != "%" {
					if got, err = Convert(q.Value, q.Unit, base); err != nil {
						t.Fatalf("Format(%v, %q) = %q: %v", v, u, text, err)
					}
				}
				if math.Abs(got-v) > 0.0051*math.Abs(v) {
					t.Errorf("Format(%v, %q) = %q, which is %v", v, u, text, got)
				}
			}
		}
	}
}

func TestFormatPair(t *testing.T) {
	for _, c := range []struct {
		a, b         float64
		unit         string
		wantA, wantB string
	}{
		{1.1e-3, 1.46e-6, "s", "1.10 ms", "1.46 µs"}, // C59
		{1.2, 0.95, "s", "1.20 s", "0.95 s"},
		{0.95, 1.2, "s", "0.95 s", "1.20 s"},
		{1.2345, 1.2346, "s", "1.2345 s", "1.2346 s"},
		{1.5, 1.5, "s", "1.50 s", "1.50 s"},
		{0, 1.5e-3, "s", "0 ms", "1.50 ms"},
		{0, 0, "s", "0 s", "0 s"},
		{10000, 10001, "B", "9.7656 KiB", "9.7666 KiB"},
		{512, 514, "B", "512 B", "514 B"},
		{1e6, 1e6 + 1, "1", "1.0000000M", "1.0000010M"},
		{7, 7.5, "1", "7.00", "7.50"},
		{math.NaN(), 1, "s", "n/a", "1.00 s"},
		{-1.5, 1.5, "s", "-1.50 s", "1.50 s"},
		{12.3, 4.5, "%", "12.3 %", "4.5 %"},
		{1, math.Nextafter(1, 2), "s", "1 s", "1.0000000000000002 s"},
	} {
		if a, b := FormatPair(c.a, c.b, c.unit); a != c.wantA || b != c.wantB {
			t.Errorf("FormatPair(%v, %v, %q) = %q, %q, want %q, %q", c.a, c.b, c.unit, a, b, c.wantA, c.wantB)
		}
	}
}

func TestFormatPairNeverHides(t *testing.T) {
	for e := -9.0; e < 9; e += 0.31 {
		for f := -9.0; f < 9; f += 0.17 {
			a, b := math.Pow(10, e), math.Pow(10, f)
			for _, u := range []string{"s", "B", "1", "tok/s"} {
				x, y := FormatPair(a, b, u)
				if zero(x) || zero(y) {
					t.Errorf("FormatPair(%v, %v, %q) = %q, %q: a zero", a, b, u, x, y)
				}
				if (a == b) != (x == y) {
					t.Errorf("FormatPair(%v, %v, %q) = %q, %q", a, b, u, x, y)
				}
			}
		}
	}
}

// zero reports whether the number of a text has no digit but 0.
func zero(text string) bool {
	number, _, _ := strings.Cut(text, " ")
	return !strings.ContainsAny(number, "123456789")
}

func TestFormatRatio(t *testing.T) {
	for _, c := range []struct {
		r    float64
		want string
	}{
		{1.075, "+7.5 %"}, {0.5, "-50.0 %"}, {1, "0 %"}, {3.1, "x3.1"}, {2.4, "+140 %"}, {1.0052, "+0.52 %"},
		{0.9995, "-0.050 %"}, {0, "-100 %"}, {0.001, "-99.9 %"}, {0.0001, "-99.99 %"}, {1e-9, "->99.99 %"},
		{math.Nextafter(1, 2), "+<0.001 %"}, {math.Nextafter(1, 0), "-<0.001 %"}, {12.34, "x12.3"}, {1234, "x1234"},
		{math.NaN(), "n/a"}, {math.Inf(1), "n/a"}, {-1, "n/a"}, {1.0996, "+10.0 %"}, {1.00996, "+1.0 %"}, {2.999, "+200 %"},
		{1e300, "x1.0e+300"},
	} {
		if got := FormatRatio(c.r); got != c.want {
			t.Errorf("FormatRatio(%v) = %q, want %q", c.r, got, c.want)
		}
	}
}

func TestSignedAndPercentage(t *testing.T) {
	for got, want := range map[string]string{
		Signed(0.0123, "s"): "+12.3 ms", Signed(-0.0123, "s"): "-12.3 ms", Signed(0, "s"): "0 s", Signed(math.NaN(), "s"): "n/a",
		Percentage(0.123): "12.3 %", Percentage(1.5): "150 %", Percentage(0): "0 %",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Where the scale is 1 the boundary is one float wide. 999.5 is a tie in binary
// as well, and goes to the even side.
func TestFormatBoundaryIsOneFloat(t *testing.T) {
	for _, c := range []struct {
		below        float64
		text, behind string
	}{
		{9.995, "9.99 %", "10.0 %"},
		{math.Nextafter(99.95, 0), "99.9 %", "100 %"},
		{math.Nextafter(999.5, 0), "999 %", "1000 %"},
		{0.9995, "1.00 %", "1.00 %"},
		{math.Nextafter(0.9995, 0), "0.999 %", "1.00 %"},
	} {
		behind := math.Nextafter(c.below, math.Inf(1))
		if a, b := Format(c.below, "%"), Format(behind, "%"); a != c.text || b != c.behind {
			t.Errorf("%v, %v: %q, %q, want %q, %q", c.below, behind, a, b, c.text, c.behind)
		}
	}
}
