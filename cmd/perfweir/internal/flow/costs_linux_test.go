package flow

import (
	"math"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/launch"
)

// The injection of memory is of the size whose process peaks where it is wanted, by the
// median of some runs; a start that is too high is corrected as far as it is tried.
func TestFitMemory(t *testing.T) {
	const (
		page = 4 << 10
		want = 6 << 20
	)
	l, err := launch.Start(launch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	toucher, err := toucherSize(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	start := int64(want - toucher)
	for _, tt := range []struct {
		name      string
		from      int64
		low, high int64 // of what is chosen, pages from start
	}{
		{"near", start, -20, 20},
		{"much too large", start + 400*page, 380, 395},
		{"much too small", start - 400*page, -395, -380},
	} {
		got, err := fitMemory(t.Context(), tt.from, want)
		if err != nil {
			t.Fatal(err)
		}
		if pages := (got - start) / page; pages < tt.low || pages > tt.high {
			t.Errorf("%s: %d pages from the start, want %d to %d", tt.name, pages, tt.low, tt.high)
		}
		if tt.name != "near" {
			continue
		}
		peaks, err := toucherPeaks(t.Context(), l, got, 11)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(peaks)
		if off := math.Abs(peaks[5]-want) / page; off > 48 { // a step is 32
			t.Errorf("the median peak is %.0f pages off", off)
		}
	}
}
