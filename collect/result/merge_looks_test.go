package result

import "testing"

// What one shard left for want of time is not judged at a look that it never had.
func TestMergedReachesWhatAllReached(t *testing.T) {
	for _, tt := range []struct {
		reached []int
		want    int
	}{{[]int{0, 0}, 0}, {[]int{0, 2}, 2}, {[]int{1, 2}, 1}, {[]int{2, 0, 1}, 1}} {
		parts := make([]part, len(tt.reached))
		for i, r := range tt.reached {
			parts[i].doc = &Document{}
			parts[i].doc.Plan.Reached = r
		}
		if got := reachedByAll(parts); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.reached, got, tt.want)
		}
	}
}

func TestRepeatsAt(t *testing.T) {
	one, three := Cell{Planned: 10}, Cell{Planned: 20, Looks: []int{5, 10, 20}}
	for _, tt := range []struct {
		c          *Cell
		look, want int
	}{{&one, 1, 10}, {&one, 3, 10}, {&one, 0, 10}, {&three, 1, 5}, {&three, 3, 20}, {&three, 4, 20}} {
		if got := tt.c.RepeatsAt(tt.look); got != tt.want {
			t.Errorf("look %d of %v: %d, want %d", tt.look, tt.c.Looks, got, tt.want)
		}
	}
}
