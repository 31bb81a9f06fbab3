package budget

import (
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

// Target is what a budget may select: a cell's identity and printed name.
type Target struct{ Name, Benchmark, Variant, Input string }

// Selects reports whether the budget's globs select the cell.
func (b *Budget) Selects(t Target) bool {
	return result.MatchName(b.Cells, t.Name) && result.MatchName(b.Benchmark, t.Benchmark) &&
		result.MatchName(b.Variant, t.Variant) && result.MatchName(b.Input, t.Input)
}

// Narrow reports whether the budget names cells at all. One that does not is
// meant for whatever has the metric; one that does expects it there.
func (b *Budget) Narrow() bool {
	return b.Cells != "" || b.Benchmark != "" || b.Variant != "" || b.Input != ""
}

// Covers reports whether the budget is about a column of a cell it selects.
func (b *Budget) Covers(metric, phase, part string) bool {
	return b.Metric == metric && b.Phase == phase && (b.Part == "" || matchPart(b.Part, part))
}

// matchPart reports whether a glob selects a part. A part is one field, whatever
// slashes a tool put into it, and * stays inside one field: so it matches slashes
// too. "*/BenchmarkNoisy*" is the benchmark of every package, however deep, with
// what is nested below it. As with names, a pattern that stops before a slash
// selects everything behind it.
func matchPart(pattern, part string) bool {
	// No slash is left where * would stop; what stands for one is in no name that
	// can be printed.
	whole := strings.NewReplacer("/", "\x1f")
	return result.MatchName(pattern, part) || result.MatchName(whole.Replace(pattern), whole.Replace(part))
}

// For returns the indices of those budgets among candidates that apply to a
// column: for one metric, phase, kind and reference the last match wins, so
// that a general rule can be followed by its exceptions. Order is kept.
func For(all []Budget, candidates []int, metric, phase, part string) []int {
	var out []int
	for _, i := range candidates {
		b := &all[i]
		if !b.Covers(metric, phase, part) {
			continue
		}
		if at := slices.IndexFunc(out, func(j int) bool { return SameRule(&all[j], b) }); at >= 0 {
			out = slices.Delete(out, at, at+1)
		}
		out = append(out, i)
	}
	return out
}

// Direction is +1 where larger is worse for this budget, -1 where smaller is;
// 0 when the metric's own direction is needed and not known.
func (b *Budget) Direction(better string) float64 {
	switch b.Kind {
	case Max, MaxIncrease:
		return +1
	case Min, MaxDecrease:
		return -1
	}
	switch better {
	case result.Lower:
		return +1
	case result.Higher:
		return -1
	}
	return 0
}

// Allowed is the worst value that a relative budget lets pass for one reference
// value: the fraction and the amount add up, min_delta is a floor of both. The
// fraction is of the reference's magnitude, so a negative reference moves in
// the same direction as a positive one. extra is added to the fraction.
func (b *Budget) Allowed(reference, direction, extra float64) float64 {
	magnitude := reference
	if magnitude < 0 {
		magnitude = -magnitude
	}
	return reference + direction*max((b.Limit+extra)*magnitude+b.Amount, b.MinDelta)
}
