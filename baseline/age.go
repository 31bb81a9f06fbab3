package baseline

import (
	"fmt"
	"math"
	"time"
)

// Check says how fresh a baseline that Select chose is. It is stale when the
// newest session that fits is older than the policy allows at startedAt, or when
// there is none: a nightly refresh that fails for weeks must be seen before the
// baseline is gone.
func Check(b *Baseline, p Policy, startedAt time.Time) (stale bool, text string) {
	switch {
	case b.State == Failed:
		return true, "the baseline could not be asked for: " + b.Reason
	case b.Newest.IsZero():
		return true, "there is no baseline: " + b.Reason
	}
	age := startedAt.Sub(b.Newest).Seconds()
	return p.MaxAge > 0 && age > p.MaxAge, newest(age, p.MaxAge)
}

// newest says how old the newest session is, in s.
func newest(age, limit float64) string {
	if limit <= 0 {
		return fmt.Sprintf("the newest session is %s old, and any age is allowed", Days(age))
	}
	return fmt.Sprintf("the newest session is %s old, limit %s", Days(age), Days(limit))
}

// staleness warns of a baseline that gets old: its newest session is beyond half
// of what is allowed, or the refreshes after it failed. "" where nothing is wrong.
func staleness(age, limit float64, failedRefreshes int) string {
	switch {
	case failedRefreshes == 1:
		return newest(age, limit) + ": the last refresh left nothing usable"
	case failedRefreshes > 1:
		return fmt.Sprintf("%s: the last %d refreshes left nothing usable", newest(age, limit), failedRefreshes)
	case limit > 0 && age > limit/2:
		return newest(age, limit)
	}
	return ""
}

// Days is a time in s for people, to the hour: below two days in hours.
func Days(seconds float64) string {
	hours := int(math.Floor(seconds / 3600))
	switch d, h := hours/24, hours%24; {
	case hours < 48:
		return fmt.Sprintf("%d hours", hours)
	case h == 0:
		return fmt.Sprintf("%d days", d)
	default:
		return fmt.Sprintf("%d days %d hours", d, h)
	}
}
