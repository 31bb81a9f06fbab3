package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
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

// tooFewValid reports whether less than half of the repeats that were due of a cell
// is valid: what is left then is chosen by whatever disturbed the rest.
func (v *view) tooFewValid(due int) bool {
	return v.invalid > 0 && (len(v.clean) == 0 || 2*(v.seen-v.invalid) < max(due, v.seen))
}

// invalidText says how many runs of a cell are invalid, and why; "" where none is.
func (v *view) invalidText() string {
	if v.invalid == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d runs invalid: %s", v.invalid, v.seen, strings.Join(invalidReasons(v.cell), "; "))
}

// noneClean says why there is no run of a cell to compare with.
func (v *view) noneClean(of string) string {
	why := ""
	for _, i := range v.first {
		why = first(why, v.cell.Runs.Detail[i].Reason)
	}
	text := "no run of " + of + " ended well"
	switch {
	case v.seen == 0:
		return of + " was not measured"
	case v.invalid == v.seen:
		text, why = "every run of "+of+" was invalid", strings.Join(invalidReasons(v.cell), "; ")
	case v.invalid > 0:
		why = first(why, strings.Join(invalidReasons(v.cell), "; "))
	}
	if why != "" {
		why = " (" + why + ")"
	}
	return text + why
}

// reasonTooFewValid: a test could have decided with the runs that were planned up to
// its look, and cannot with the valid ones.
const reasonTooFewValid = "too_few_valid_runs"

// lostToInvalid reports whether a test cannot reach its level for the runs that
// were found invalid, and could have with all that were planned up to a look.
func (e *evaluation) lostToInvalid(t *test, cell, look int) bool {
	v := e.views[cell]
	if look > 0 {
		v = v.upTo(look)
	}
	planned := v.cell.RepeatsAt(look)
	need := e.need()
	if v.invalid == 0 || stats.Reaches(t.minP, need) {
		return false
	}
	switch t.contrast.design {
	case verdict.Paired:
		return stats.SmallestNPaired(need) <= planned
	case verdict.Unpaired:
		n := stats.SmallestNUnpaired(need)
		return n <= planned && n <= len(t.contrast.x)
	}
	return false
}

// softSessions are the stored sessions whose machine differs from this one in soft
// facts.
func softSessions(here result.Host, stored []baseline.Stored) map[*result.Session]bool {
	differ := map[*result.Session]bool{}
	for _, s := range stored {
		if len(baseline.SoftDifferences(here, s.Session().Host)) > 0 {
			differ[s.Session()] = true
		}
	}
	return differ
}

// softWarnings list the soft facts in which this machine differs from those of the
// stored sessions, a line a fact and value.
func softWarnings(in Input) []string {
	if in.Baseline == nil {
		return nil
	}
	counts := map[string]int{}
	for _, s := range in.Baseline.Sessions {
		for key, d := range baseline.SoftDifferences(in.Current.Sessions[0].Host, s.Session().Host) {
			counts[fmt.Sprintf("%s is %q here and %q in", key, d[0], d[1])]++
		}
	}
	var out []string
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %d of %d stored sessions: differences may be the machine's", text, counts[text], len(in.Baseline.Sessions)))
	}
	return out
}
