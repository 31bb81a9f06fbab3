package flow

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/launch"
)

// The injection of memory is of the size whose process peaks where it is wanted, by the
// median of some runs.
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
	got, err := fitMemory(t.Context(), int64(want-toucher), want)
	if err != nil {
		t.Fatal(err)
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

// Of a process whose peak goes up in steps, of 32 pages at 17, 49, 81, ..., and one run
// in three a step later, the size is found that stays nearest to what is wanted.
func TestFitPeak(t *testing.T) {
	const page = 4 << 10
	for _, tt := range []struct {
		name                     string
		step, from, want, chosen int64 // pages
	}{
		{"there already, away from the edges of the step", 32, 96, 96, 92},
		{"a step too small", 32, 100, 128, 120},
		{"a step too large", 32, 120, 96, 100},
		{"beyond what is tried", 32, 300, 100, 280},
		{"nothing below a page", 32, 3, 0, 1},
		{"the larger steps of many CPUs", 128, 300, 384, 364},
	} {
		peaks := func(memory int64) ([]float64, error) {
			steps := (memory/page + tt.step/2 - 1) / tt.step
			low, high := float64(steps*tt.step*page), float64((steps+1)*tt.step*page)
			return []float64{low, low, high}, nil
		}
		got, err := fitPeak(tt.from*page, float64(tt.want*page), tt.step*page, peaks)
		if err != nil || got != tt.chosen*page {
			t.Errorf("%s: %d pages (%v), want %d", tt.name, got/page, err, tt.chosen)
		}
	}
	broken := errors.New("no process")
	if _, err := fitPeak(page, page, page, func(int64) ([]float64, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}
