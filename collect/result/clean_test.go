package result

import (
	"math"
	"slices"
	"testing"
)

func TestClean(t *testing.T) {
	invalid := false
	r := Runs{
		Repeat:  []int{0, 1, 2, 2, 3, 4, 5},
		Attempt: []int{1, 1, 1, 2, 1, 1, 1},
		Session: []int{0, 0, 0, 0, 0, 0, 1},
		Status:  map[int]Status{2: Timeout, 4: Interrupted},
		Detail:  map[int]Detail{5: {Valid: &invalid}},
	}
	clean := r.Clean()
	if want := []int{1, 3, 6}; !slices.Equal(clean, want) {
		t.Fatalf("clean runs %v, want %v", clean, want)
	}
	c := &Column{V: Values{9, 1, 2, 3, 4, 5, 6}}
	if got := r.ValuesOf(c, clean, 0); !slices.Equal(got, []float64{1, 3}) {
		t.Errorf("values of session 0: %v", got)
	}
	if got := r.ValuesOf(c, clean, 1); !slices.Equal(got, []float64{6}) {
		t.Errorf("values of session 1: %v", got)
	}
	c.V[3] = math.NaN()
	if got := r.ValuesOf(c, clean, 0); !slices.Equal(got, []float64{1}) {
		t.Errorf("values with an absent one: %v", got)
	}
}
