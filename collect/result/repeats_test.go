package result

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRepeats(t *testing.T) {
	for _, tt := range []struct {
		name string
		runs Runs
		want [][]int
	}{
		{"none", Runs{}, nil},
		{"warm-ups are in none", Runs{Repeat: []int{0, 0, 1, 2}}, [][]int{{2}, {3}}},
		{"one that was tried again", Runs{Repeat: []int{1, 2, 2, 3}, Attempt: []int{1, 1, 2, 1}}, [][]int{{0}, {1, 2}, {3}}},
		{"attempts out of order", Runs{Repeat: []int{2, 1, 2}, Attempt: []int{2, 1, 1}}, [][]int{{1}, {2, 0}}},
		{"resumed in another session", Runs{Repeat: []int{1, 2, 2, 3}, Attempt: []int{1, 1, 2, 1}, Session: []int{0, 0, 1, 1}}, [][]int{{0}, {1, 2}, {3}}},
		{"sessions that number their own", Runs{Repeat: []int{1, 2, 1, 2}, Session: []int{0, 0, 1, 1}}, [][]int{{0}, {2}, {1}, {3}}},
		{"and try again", Runs{Repeat: []int{1, 1, 1, 1}, Attempt: []int{1, 2, 1, 2}, Session: []int{0, 0, 1, 1}}, [][]int{{0, 1}, {2, 3}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got [][]int
			for attempts := range tt.runs.Repeats() {
				got = append(got, slices.Clone(attempts))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
