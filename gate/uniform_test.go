package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Cells that all became 7 % slower are told as a shift of the whole: a warning and
// a doubt of each, and no outcome is another for it.
func TestUniformShift(t *testing.T) {
	run := func(factors ...float64) *verdict.Document {
		cur, ref := doc("02", 0), doc("01", 1)
		for i, f := range factors {
			name := fmt.Sprintf("c%d", i)
			cell(cur, name, "", column{"wall_time": around(f, 0.01, 10, i)})
			cell(ref, name, "", column{"wall_time": around(1, 0.01, 10, i)})
		}
		return evaluate(t, cur, stored(ref), regression("wall_time", 0.05))
	}
	doubted := func(v *verdict.Document) int {
		n := 0
		for i := range v.Comparisons {
			if slices.Contains(v.Comparisons[i].Doubts, doubtUniform) {
				n++
			}
		}
		return n
	}
	for _, tt := range []struct {
		name    string
		factors []float64
		doubts  int
	}{
		{"all alike", []float64{1.07, 1.07, 1.075, 1.07, 1.065, 1.07}, 6},
		{"all but one", []float64{1.07, 1.07, 1.075, 1.3, 1.065, 1.07}, 5},
		{"faster", []float64{0.93, 0.93, 0.93, 0.93, 0.935}, 5},
		{"too few cells", []float64{1.07, 1.07, 1.07, 1.07}, 0},
		{"the half of them", []float64{1.07, 1.07, 1.07, 1, 1, 1}, 0},
		{"by different factors", []float64{1.05, 1.1, 1.2, 1.4, 1.8}, 0},
		{"nothing moved", []float64{1.01, 1, 1, 0.99, 1, 1}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := run(tt.factors...)
			told := strings.Contains(strings.Join(v.Warnings, "\n"), fmt.Sprintf("wall_time: %d of %d cells moved by about", tt.doubts, len(tt.factors)))
			if n := doubted(v); n != tt.doubts || told != (tt.doubts > 0) {
				t.Errorf("%d doubts, want %d; warnings %q", n, tt.doubts, v.Warnings)
			}
		})
	}
	// The one cell that is really slower fails beside the shift of the others.
	v := run(1.07, 1.07, 1.07, 1.6, 1.07, 1.07)
	if v.Outcome != verdict.Fail || v.Counts.Findings[verdict.Fail] != 1 {
		t.Errorf("%s: %v", v.Outcome, v.Counts.Findings)
	}
}
