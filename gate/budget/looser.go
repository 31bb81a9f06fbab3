package budget

import "math"

// SameRule reports whether two budgets say the same kind of thing about the same
// numbers, so that of both only one can hold: one metric, phase, kind and
// reference. Which cells and parts they select is not looked at.
func SameRule(a, b *Budget) bool {
	return a.Metric == b.Metric && a.Phase == b.Phase && a.Kind == b.Kind && a.Against == b.Against
}

// Looser reports whether now lets something pass, or merely shows something, that
// was does not. Both are of the same rule (SameRule), on a cell that both select.
// A budget may be looser than another and stricter at once (a smaller limit at
// level warn): then each is looser than the other, and the old one is kept whole
// rather than mixed with the new one.
func Looser(was, now *Budget) bool {
	return now.Level.strictness() < was.Level.strictness() ||
		now.reach() < was.reach() ||
		!now.within(was)
}

// Stricter reports whether a level does more about a broken budget than another.
func (l Level) Stricter(than Level) bool { return l.strictness() > than.strictness() }

// strictness orders levels; none is Fail, as everywhere.
func (l Level) strictness() int {
	switch l {
	case Info:
		return 0
	case Warn:
		return 1
	}
	return 2
}

// within reports whether everything that b allows is allowed by o. For relative
// kinds that is so for every reference and every session allowance: the floor
// min_delta may rise to the amount that o adds anyway, never above both.
func (b *Budget) within(o *Budget) bool {
	switch b.Kind {
	case Max:
		return atMost(b.Limit, o.Limit)
	case Min:
		return atMost(o.Limit, b.Limit)
	}
	return atMost(b.Limit, o.Limit) && atMost(b.Amount, o.Amount) && atMost(b.MinDelta, max(o.Amount, o.MinDelta))
}

// atMost compares limits to within the rounding of a double, as decisions do: a
// limit that is written in another unit is the same limit. NaN is at most nothing.
func atMost(a, b float64) bool {
	return a <= b || a-b <= 1e-12*max(math.Abs(a), math.Abs(b)) && !math.IsInf(a-b, 0)
}

// reach is how few runs beyond an absolute limit can break it: 2 when one is
// enough, 1 when it takes the median, 0 when it takes all of them.
func (b *Budget) reach() int {
	worst, best := "max", "min"
	if b.Kind == Min {
		worst, best = best, worst
	}
	switch {
	case b.Kind.Relative():
		return 0
	case b.EachRun || b.Statistic == worst:
		return 2
	case b.Statistic == best:
		return 0
	}
	return 1
}
