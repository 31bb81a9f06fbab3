package collect

import (
	"math"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Pace is how long measuring took so far, in seconds, and how long a selection
// will take at that pace: each cell's runs as long as they were, and what came
// between runs in proportion.
func Pace(doc *result.Document, p *plan.Plan, sel plan.Selection) (spent, needed float64) {
	type span struct{ from, to float64 }
	sessions := make([]span, len(doc.Sessions))
	for i := range sessions {
		sessions[i] = span{math.Inf(1), math.Inf(-1)}
	}
	mean := make([]float64, len(doc.Cells)) // of a cell's runs
	all, runs := 0.0, 0
	for i := range doc.Cells {
		c := &doc.Cells[i]
		for k := range c.Runs.Len() {
			length := lengthOf(c, k)
			s := &sessions[c.Runs.SessionAt(k)]
			s.from, s.to = min(s.from, c.Runs.Start[k]), max(s.to, c.Runs.Start[k]+length)
			mean[i] += length / float64(c.Runs.Len())
			all, runs = all+length, runs+1
		}
	}
	for _, s := range sessions {
		if s.to > s.from {
			spent += s.to - s.from
		}
	}
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		switch {
		case r.Repeat == 0 || !sel.Has(r) || runs == 0:
		case all > 0:
			needed += mean[r.Cell] * max(1, spent/all)
		default:
			needed += spent / float64(runs)
		}
	}
	return spent, needed
}

// lengthOf is how long a run took; 0 when that is not known.
func lengthOf(c *result.Cell, run int) float64 {
	if d := c.Runs.Detail[run]; d.Ended > 0 {
		return d.Ended
	}
	for i := range c.Columns {
		if col := &c.Columns[i]; col.Metric == result.WallTime && col.Phase == "" && col.Part == "" && col.V[run] > 0 {
			return col.V[run]
		}
	}
	return 0
}
