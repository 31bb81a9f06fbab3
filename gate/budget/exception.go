package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Exception is an entry of "accepted" or "quarantine" in a suite file: numbers
// that a budget speaks against and that count as excused, until a day.
type Exception struct {
	Metric    string  `json:"metric,omitempty"` // empty (quarantine): every metric of the cells, and whether they ran
	Part      string  `json:"part,omitempty"`   // glob; empty: every part
	Cells     string  `json:"cells,omitempty"`  // glob over the printed name; empty: all
	Benchmark string  `json:"benchmark,omitempty"`
	Variant   string  `json:"variant,omitempty"`
	Input     string  `json:"input,omitempty"`
	Limit     float64 `json:"limit,omitempty"`  // accepted: largest change for the worse, a fraction of the reference
	Amount    float64 `json:"amount,omitempty"` // accepted: added to it, in the metric's unit
	Text      string  `json:"text,omitempty"`   // the limit as the suite file has it: "12%"
	Reason    string  `json:"reason"`
	Expires   string  `json:"expires"` // last day on which it counts, UTC: "2027-03-01"
	Source    Source  `json:"source,omitzero"`
}

// DateLayout is how an expiry is written.
const DateLayout = time.DateOnly

// Selects reports whether the entry's globs select the cell.
func (x *Exception) Selects(t Target) bool {
	b := Budget{Cells: x.Cells, Benchmark: x.Benchmark, Variant: x.Variant, Input: x.Input}
	return b.Selects(t)
}

// Narrow reports whether the entry names cells at all.
func (x *Exception) Narrow() bool {
	return x.Cells != "" || x.Benchmark != "" || x.Variant != "" || x.Input != ""
}

// Covers reports whether the entry is about a metric's part of a cell it selects.
func (x *Exception) Covers(metric, part string) bool {
	return (x.Metric == "" || x.Metric == metric) && (x.Part == "" || matchPart(x.Part, part))
}

// Key is the same for entries that accept the same change for the same reason, until
// whatever day: documents keep it.
func (x *Exception) Key() string {
	h := sha256.New()
	for _, field := range []string{x.Metric, x.Part, x.Cells, x.Benchmark, x.Variant, x.Input, fmt.Sprint(x.Limit), fmt.Sprint(x.Amount), x.Reason} {
		fmt.Fprintf(h, "%d:%s", len(field), field) // lengths keep ("a", "bc") and ("ab", "c") apart
	}
	return hex.EncodeToString(h.Sum(nil)[:keyBytes])
}

const keyBytes = 10 // 80 bits: no two entries of a project have the same

// Left is how many whole days an entry still counts at a moment: 0 on its last
// day, negative once it has expired. A day that cannot be read has expired.
func (x *Exception) Left(at time.Time) int {
	day, err := time.Parse(DateLayout, x.Expires)
	if err != nil {
		return -1
	}
	y, m, d := at.UTC().Date()
	return int(day.Sub(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
}

// Expired reports whether the entry no longer counts at a moment.
func (x *Exception) Expired(at time.Time) bool { return x.Left(at) < 0 }

// Within reports whether everything that x excuses of what both select is excused
// by o as well: no larger limit, no later day, no other metric or part.
func (x *Exception) Within(o *Exception) bool {
	return atMost(x.Limit, o.Limit) && atMost(x.Amount, o.Amount) && x.Expires <= o.Expires &&
		(o.Metric == "" || o.Metric == x.Metric) && (o.Part == "" || o.Part == x.Part || x.Part != "" && matchPart(o.Part, x.Part))
}

// Stricter is what holds where two files each have an entry for the same numbers:
// of limits and days the smaller ones. Its place is was's.
func Stricter(was, now Exception) Exception {
	s := was
	if now.Within(&was) {
		s.Text, s.Reason = now.Text, now.Reason
	}
	s.Limit, s.Amount, s.Expires = min(was.Limit, now.Limit), min(was.Amount, now.Amount), min(was.Expires, now.Expires)
	s.Source.HeadLine = now.Source.Line
	return s
}
