package result

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// readNumber reads text as the only element of a column.
func readNumber(text string) (float64, error) {
	s := newScanner(strings.NewReader("["+text+"]"), 16)
	list, err := s.floats(nil)
	if err == nil && len(list) != 1 {
		err = strconv.ErrSyntax
	}
	if err != nil {
		return 0, err
	}
	return list[0], s.end()
}

func checkNumber(t *testing.T, text string) {
	t.Helper()
	want, wantErr := strconv.ParseFloat(text, 64)
	if !json.Valid([]byte(text)) {
		wantErr = strconv.ErrSyntax
	}
	got, err := readNumber(text)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: error = %v, want %v", text, err, wantErr)
	}
	if err == nil && math.Float64bits(got) != math.Float64bits(want) {
		t.Fatalf("%q = %v (%x), want %v (%x)", text, got, math.Float64bits(got), want, math.Float64bits(want))
	}
}

func TestNumbersEqualStrconv(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "0.0", "-0.0e5", "1", "1.5", "0.1", "1e5", "1E5", "1e+5", "1e-5", "123456789012345", "9007199254740991",
		"9007199254740992", "9007199254740993", "9007199254740993.0", "18446744073709551615", "18446744073709551616",
		"0.30000000000000004", "1.7976931348623157e308", "1.7976931348623159e308", "5e-324", "2e-324", "1e22", "1e23",
		"8.5e22", "123456789e22", "0.000000000000000000000001", "1.0000000000000000000000000000001", "1e400", "1e-400",
		"1e99999999999999999999", "0e99999999999999999999", "10000000000000000000", "9999999999999999999", "0.9999999999999999999",
		"", "-", "+1", ".5", "1.", "01", "-01", "1e", "1e+", "0x10", "1_000", "Inf", "nan", "1 2", "00", "1.e5", "--1",
		strings.Repeat("9", 400), "0." + strings.Repeat("0", 300) + "1",
	} {
		checkNumber(t, text)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		v := math.Float64frombits(rnd.Uint64())
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		checkNumber(t, strconv.FormatFloat(v, "efg"[rnd.IntN(3)], rnd.IntN(20)-1, 64))
		checkNumber(t, strconv.FormatUint(rnd.Uint64()>>rnd.IntN(64), 10)+"."+strconv.FormatUint(rnd.Uint64()>>rnd.IntN(64), 10))
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range []string{"0", "-12.5e-3", "9007199254740993", "1e23", "01", "1e400", "0.30000000000000004"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "null" || len(text) > maxNumber || strings.TrimSpace(text) != text {
			return
		}
		if text != "" && !strings.ContainsAny(text[:1], "-0123456789") || strings.ContainsAny(text, " \t\r\n,]") {
			return
		}
		checkNumber(t, text)
	})
}

// What is written is what encoding/json writes, and reads back as the same bits.
func TestFloatsAreWrittenInTheirShortestForm(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	check := func(v float64) {
		t.Helper()
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendFloat(nil, v); string(got) != string(want) {
			t.Fatalf("%v is written %s, want %s", v, got, want)
		}
		if back, err := readNumber(string(want)); err != nil || math.Float64bits(back) != math.Float64bits(v) {
			t.Fatalf("%s reads back as %v (%v)", want, back, err)
		}
	}
	for _, v := range []float64{0, math.Copysign(0, -1), 1e-6, 9.9e-7, 1e-10, 1e20, 1e21, 1e22, -1e21, 1 << 53, 1<<53 + 2,
		123456789012345680, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1, -5, 1e15} {
		check(v)
	}
	for range 100_000 {
		check(randomFloat(rnd))
	}
}
