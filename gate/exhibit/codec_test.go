package exhibit

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodec(t *testing.T) {
	want := &Document{Schema: Schema, Suite: "codec", Omitted: 2, Strips: []Strip{
		{Cell: "encode/<b2>", Metric: "wall_time", Unit: "s", Current: Series{Label: "01KB", Block: []int{1, 2}, Values: []float64{1.5, 1.25}},
			Reference: []Series{{Label: "variant:default", Block: []int{1}, Values: []float64{0}}}},
		{Cell: "serve", Metric: "wall_time", Unit: "s", Current: Series{Label: "01KB", Block: []int{}, Values: []float64{}}},
	}}
	var text bytes.Buffer
	if err := Encode(&text, want); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "\n"); n != 1+1+2 {
		t.Errorf("%d lines, want one for each strip:\n%s", n, &text)
	}
	got, err := Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCodecRefuses(t *testing.T) {
	strip := func(s Series) *Document { return &Document{Strips: []Strip{{Reference: []Series{s}}}} }
	for want, d := range map[string]*Document{
		"strip 0: reference 0: 1 blocks, 2 values": strip(Series{Block: []int{1}, Values: []float64{1, 2}}),
		"strips 0:":                        strip(Series{Block: []int{1}, Values: []float64{math.NaN()}}),
		"not a perfweir exhibits document": {Schema: "perfweir.plan/v1"},
	} {
		if err := Encode(io.Discard, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Encode: %v, want %q", err, want)
		}
	}
	for text, want := range map[string]string{
		`[]`:                                `not a perfweir exhibits document (schema "")`,
		`{"schema":"perfweir.exhibits/v2"}`: `perfweir.exhibits/v2 is newer than this version reads (v1): use a newer perfweir`,
		`{"schema":"perfweir.exhibits/v1","strips":[{"current":{"block":[1],"values":[]}}]}`:    `strip 0: current: 1 blocks, 0 values`,
		`{"schema":"perfweir.exhibits/v1","strips":[{"current":{"block":[1],"values":["x"]}}]}`: `read exhibits`,
	} {
		if _, err := Decode(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Decode(%s): %v, want %q", text, err, want)
		}
	}
}
