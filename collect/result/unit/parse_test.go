package unit

import (
	"errors"
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	for in, want := range map[string]float64{
		"150s": 150, "10ms": 0.01, "2h": 7200, "500us": 0.0005, "500µs": 0.0005, "500\u03bcs": 0.0005,
		"1m30s": 90, "1m": 60, "1min": 60, "1.5h": 5400, "30d": 2592000, "250ns": 250e-9, "1 m 30 s": 90,
		"0": 0, "0s": 0, "0.3s": 0.3, "1h0.5s": 3600.5, " 5s ": 5, "1e3s": 1000, "100ms": 0.1,
	} {
		got, err := Duration(in)
		if err != nil || got != want {
			t.Errorf("Duration(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "5", "0.5", "-5s", "5x", "5B", "s", "1s1s", "1s1m", "1m 30", "inf s", "nan", "1e999s",
		"0x10s", "1_000s", "1,5s", "5 %", "1..5s", ".s", "1.s", "+5s", "1h1d"} {
		if got, err := Duration(in); err == nil {
			t.Errorf("Duration(%q) = %v, want an error", in, got)
		}
	}
}

func TestSize(t *testing.T) {
	for in, want := range map[string]int64{
		"1.5GiB": 1610612736, "64MiB": 67108864, "10kB": 10000, "512B": 512, "0": 0, "4 GiB": 1 << 32, "1MB": 1e6,
		"1.1GiB": 1181116006, "1TB": 1e12, "2PiB": 2 << 50,
	} {
		got, err := Size(in)
		if err != nil || got != want {
			t.Errorf("Size(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"512", "-1B", "1KB", "1Kib", "1kb", "1mB", "9e15kB", "10 s", "1 G", ""} {
		if got, err := Size(in); err == nil {
			t.Errorf("Size(%q) = %v, want an error", in, got)
		}
	}
}

// C33: any non-negative finite percentage.
func TestPercent(t *testing.T) {
	for in, want := range map[string]float64{"5%": 0.05, "0.5%": 0.005, "150%": 1.5, "0%": 0, "100 %": 1, "1e3%": 10} {
		got, err := Percent(in)
		if err != nil || got != want {
			t.Errorf("Percent(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"5", "-5%", "%", "5pp", "NaN%", "1e999%", "5%%"} {
		if got, err := Percent(in); err == nil {
			t.Errorf("Percent(%q) = %v, want an error", in, got)
		}
	}
}

func TestAmount(t *testing.T) {
	for _, c := range []struct {
		in, base string
		want     Amount
	}{
		{"5%", "s", Amount{Fraction: 0.05}},
		{"10ms", "s", Amount{Absolute: 0.01}},
		{"10% + 10ms", "s", Amount{0.1, 0.01}},
		{"10ms+10%", "s", Amount{0.1, 0.01}},
		{"0.5pp", "1", Amount{Absolute: 0.005}},
		{"1% + 0.5pp", "1", Amount{0.01, 0.005}},
		{"10% + 3", "1", Amount{0.1, 3}},
		{"0", "s", Amount{}},
		{"0%", "B", Amount{}},
		{"150%", "s", Amount{Fraction: 1.5}},
		{"5% + 1.5MiB", "B", Amount{0.05, 1.5 * (1 << 20)}},
		{"3tok/s", "tok/s", Amount{Absolute: 3}},
		{"10% + 1m", "s", Amount{0.1, 60}},
	} {
		got, err := ParseAmount(c.in, c.base)
		if err != nil || got != c.want {
			t.Errorf("ParseAmount(%q, %q) = %+v, %v, want %+v", c.in, c.base, got, err, c.want)
		}
	}
	for _, c := range []struct{ in, base string }{
		{"5% + 5%", "s"}, {"10ms + 10ms", "s"}, {"10MiB", "s"}, {"5% + 1ms + 1ms", "s"}, {"", "s"}, {"+5%", "s"},
		{"-5%", "s"}, {"5%+", "s"}, {"10% + 3", "s"}, {"0.5pp", "s"}, {"nan%", "s"},
	} {
		if got, err := ParseAmount(c.in, c.base); err == nil {
			t.Errorf("ParseAmount(%q, %q) = %+v, want an error", c.in, c.base, got)
		}
	}
}

// C10: 10 % written as 0.1 must not be read as anything.
func TestAmountRefusesBareNumbers(t *testing.T) {
	for _, in := range []string{"5", "0.05", "0.1", "1e-3"} {
		if _, err := ParseAmount(in, "1"); !errors.Is(err, ErrBare) {
			t.Errorf("ParseAmount(%q) = %v, want ErrBare", in, err)
		}
	}
}

func TestIn(t *testing.T) {
	for _, c := range []struct {
		in, base string
		want     float64
	}{
		{"1.5GiB", "B", 1610612736}, {"25 W", "W", 25}, {"800mW", "W", 0.8}, {"1.5MHz", "Hz", 1.5e6}, {"2Wh", "J", 7200},
		{"5%", "1", 0.05}, {"3", "1", 3}, {"-3", "1", -3}, {"0", "s", 0}, {"10 MB/s", "B/s", 1e7}, {"30tok/s", "tok/s", 30},
		{"5m", "s", 300}, {"120/min", "1/s", 2}, {"-40 dB", "dB", -40},
	} {
		got, err := In(c.in, c.base)
		if err != nil || got != c.want {
			t.Errorf("In(%q, %q) = %v, %v, want %v", c.in, c.base, got, err, c.want)
		}
	}
	for _, c := range []struct{ in, base string }{{"5", "s"}, {"5ms", "B"}, {"5 tok/s", "req/s"}, {"five", "1"}, {"1KB", "B"}} {
		if got, err := In(c.in, c.base); err == nil {
			t.Errorf("In(%q, %q) = %v, want an error", c.in, c.base, got)
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		v        float64
		from, to string
		want     float64
	}{
		{10, "ms", "s", 0.01}, {3, "KiB", "B", 3072}, {250, "mW", "W", 0.25}, {1.2, "MHz", "Hz", 1.2e6}, {1, "h", "s", 3600},
		{1, "s", "ms", 1000}, {7, "ns/op", "s/op", 7e-9}, {2, "MB/s", "B/s", 2e6}, {120, "req/min", "req/s", 2},
		{5, "frames", "frames", 5}, {50, "%", "1", 0.5}, {1024, "KiB", "MiB", 1}, {3, "uJ", "J", 3e-6},
	} {
		got, err := Convert(c.v, c.from, c.to)
		if err != nil || math.Abs(got-c.want) > 1e-15*math.Abs(c.want) {
			t.Errorf("Convert(%v, %q, %q) = %v, %v, want %v", c.v, c.from, c.to, got, err, c.want)
		}
	}
	for _, c := range []struct {
		v        float64
		from, to string
	}{
		{1, "ms", "B"}, {1, "frames", "s"}, {1, "tok/s", "req/s"}, {math.NaN(), "s", "s"}, {math.Inf(1), "ms", "s"},
		{math.MaxFloat64, "h", "s"},
	} {
		if got, err := Convert(c.v, c.from, c.to); err == nil {
			t.Errorf("Convert(%v, %q, %q) = %v, want an error", c.v, c.from, c.to, got)
		}
	}
}

// A written decimal becomes the float nearest to the decimal in base units.
func TestConvertIsExactForDecimals(t *testing.T) {
	for ms := 1; ms < 2000; ms++ {
		got, err := Convert(float64(ms), "ms", "s")
		if want := float64(ms) / 1000; err != nil || got != want {
			t.Fatalf("Convert(%d ms) = %v, %v, want %v", ms, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"150s", "1m30s", "1.5GiB", "5%", "10% + 10ms", "0.5pp", "-3", "1e999", "KB", "µs", "\xff", "0x1p4", "1.", ".5", "12.3 tok/s", "1 KiB"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := Duration(s); err == nil && (finite(v) != nil || v < 0) {
			t.Errorf("Duration(%q) = %v", s, v)
		}
		if v, err := Size(s); err == nil && v < 0 {
			t.Errorf("Size(%q) = %v", s, v)
		}
		if v, err := Percent(s); err == nil && (finite(v) != nil || v < 0) {
			t.Errorf("Percent(%q) = %v", s, v)
		}
		if a, err := ParseAmount(s, Second); err == nil && (finite(a.Fraction) != nil || finite(a.Absolute) != nil || a.Fraction < 0 || a.Absolute < 0) {
			t.Errorf("ParseAmount(%q) = %v", s, a)
		}
		if q, err := Parse(s); err == nil {
			Format(q.Value, q.Unit)
		}
	})
}
