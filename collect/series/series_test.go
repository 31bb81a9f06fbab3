package series_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/series"
)

func encode(t *testing.T, set series.Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := series.Encode(&b, set); err != nil {
		t.Fatalf("encode: %v", err)
	}
	return b.String()
}

func TestEncodeHasTheDocumentedForm(t *testing.T) {
	got := encode(t, series.Set{Series: []series.Series{
		{Metric: "memory", Unit: "B", T: []float64{0.000412, 0.1}, V: []float64{2203648, 2207744}},
		{Metric: "gpu_power", Part: "gpu0", Unit: "W", T: []float64{0.000501, 0.1}, V: []float64{31.5, 32}},
		{Metric: "empty", Unit: "1"},
	}})
	want := "t,memory B,gpu_power[gpu0] W,empty 1\n" +
		"0.000412,2203648,,\n" +
		"0.000501,,31.5,\n" +
		"0.1,2207744,32,\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples.csv (-want +got):\n%s", diff)
	}
}

func TestDecodeGivesBackWhatWasEncoded(t *testing.T) {
	sets := map[string]series.Set{
		"nothing":        {},
		"no readings":    {Series: []series.Series{{Metric: "cpu", Unit: "s"}}},
		"same time":      {Series: []series.Series{{Metric: "a", Unit: "1", T: []float64{1, 1, 1}, V: []float64{3, 1, 2}}, {Metric: "b", Unit: "1", T: []float64{1}, V: []float64{9}}}},
		"extremes":       {Series: []series.Series{{Metric: "a", Unit: "1", T: []float64{0, 5e-324}, V: []float64{math.MaxFloat64, -math.SmallestNonzeroFloat64}}}},
		"unit tells":     {Series: []series.Series{{Metric: "a", Unit: "B"}, {Metric: "a", Unit: "s"}}},
		"names are data": {Series: []series.Series{{Metric: "=cmd|' /C calc'!A0", Part: "a],\"\r\n%[ \xff\x00", Unit: "µJ/кадр"}, {Metric: "", Part: "-", Unit: ""}}},
	}
	for name, want := range sets {
		t.Run(name, func(t *testing.T) {
			text := encode(t, want)
			got, err := series.Decode(strings.NewReader(text))
			if err != nil {
				t.Fatalf("decode: %v\n%s", err, text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("round trip (-want +got):\n%s", diff)
			}
			if strings.ContainsAny(strings.SplitN(text, "\n", 2)[0], "\"='\r\x00") {
				t.Errorf("heading holds what a spreadsheet acts on: %q", text)
			}
		})
	}
}

func TestDecodeReadsWhatASpreadsheetSaved(t *testing.T) {
	got, err := series.Decode(strings.NewReader("\"t\",\"memory B\"\r\n\"0.5\",\"4096\"\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := series.Set{Series: []series.Series{{Metric: "memory", Unit: "B", T: []float64{0.5}, V: []float64{4096}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"empty file":        "",
		"another file":      "time,memory B\n",
		"no unit":           "t,memory\n",
		"open bracket":      "t,power[gpu0 W\n",
		"empty part":        "t,power[] W\n",
		"raw quote":         "t,\"a\"\"b 1\"\n",
		"broken escape":     "t,a%2 1\n",
		"small hex":         "t,a%2c 1\n",
		"column twice":      "t,a 1,a 1\n",
		"too many cells":    "t,a 1\n0,1,2\n",
		"too few cells":     "t,a 1,b 1\n0,1\n",
		"row without value": "t,a 1\n0,\n",
		"no time":           "t,a 1\n,1\n",
		"not a number":      "t,a 1\n0,fast\n",
		"NaN":               "t,a 1\n0,NaN\n",
		"infinity":          "t,a 1\n0,-Inf\n",
		"time is infinite":  "t,a 1\ninf,1\n",
		"overflow":          "t,a 1\n0,1e999\n",
		"time goes back":    "t,a 1\n2,1\n1,1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := series.Decode(strings.NewReader(text)); err == nil {
				t.Errorf("decoded %q as %+v", text, got)
			}
		})
	}
}

func TestEncodeRefusesAndWritesNothing(t *testing.T) {
	one := func(s series.Series) series.Set { return series.Set{Series: []series.Series{s}} }
	for name, c := range map[string]struct {
		set  series.Set
		want error
	}{
		"NaN":            {one(series.Series{T: []float64{0}, V: []float64{math.NaN()}}), series.ErrNotFinite},
		"infinite time":  {one(series.Series{T: []float64{math.Inf(1)}, V: []float64{0}}), series.ErrNotFinite},
		"time goes back": {one(series.Series{T: []float64{1, 0.5}, V: []float64{0, 0}}), series.ErrOrder},
		"lengths differ": {one(series.Series{T: []float64{1}}), series.ErrLength},
		"key twice":      {series.Set{Series: []series.Series{{Metric: "a"}, {Metric: "a"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := series.Encode(&b, c.set)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if b.Len() != 0 {
				t.Errorf("wrote %q", b.String())
			}
		})
	}
}

func TestFind(t *testing.T) {
	set := series.Set{Series: []series.Series{{Metric: "a", Part: "x", Unit: "1"}, {Metric: "a", Unit: "B"}}}
	if s, ok := set.Find("a", ""); !ok || s.Unit != "B" {
		t.Errorf("found %+v, %v", s, ok)
	}
	if _, ok := set.Find("b", ""); ok {
		t.Error("found a series that is not there")
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"t\n",
		"t,memory B,gpu_power[gpu0] W\n0.1,2,\n0.1,,3\n",
		"t,a%5B 1\n-0,1\n0,-0\n",
		"\"t\",\"a 1\"\r\n\r\n0,1\r\n",
		"t,µs[ж] s\n1e-7,0x1p-2\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		set, err := series.Decode(bytes.NewReader(in))
		if err != nil {
			return
		}
		again, err := series.Decode(strings.NewReader(encode(t, set)))
		if err != nil {
			t.Fatalf("own output refused: %v", err)
		}
		if diff := cmp.Diff(set, again); diff != "" {
			t.Errorf("decode, encode, decode changed it (-first +second):\n%s", diff)
		}
	})
}
