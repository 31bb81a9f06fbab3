package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

// invalidMark begins the warnings of a run that say why it is invalid.
const invalidMark = "invalid: "

// invalidReasons are the reasons of the invalid runs of a cell that are not
// warm-ups, with how many runs have each, most frequent first.
func invalidReasons(c *result.Cell) []string {
	counts := map[string]int{}
	for i := range c.Runs.Len() {
		if c.Runs.ValidAt(i) || c.Runs.Warmup(i) {
			continue
		}
		for _, why := range reasonsOfRun(c.Runs.Detail[i].Warnings) {
			counts[why]++
		}
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	out := make([]string, 0, min(len(order), maxReasons))
	for _, why := range order[:min(len(order), maxReasons)] {
		if counts[why] > 1 {
			why = fmt.Sprintf("%s (%d runs)", why, counts[why])
		}
		out = append(out, why)
	}
	return out
}

// reasonsOfRun are the warnings that say why; without one of those nobody knows
// which it was, and all are told.
func reasonsOfRun(warnings []string) []string {
	var out []string
	for _, w := range warnings {
		if why, ok := strings.CutPrefix(w, invalidMark); ok {
			out = append(out, why)
		}
	}
	switch {
	case len(out) > 0:
		return out
	case len(warnings) > 0:
		return warnings
	}
	return []string{"no reason was recorded"}
}
