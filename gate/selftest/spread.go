package selftest

import (
	"cmp"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/stats"
)

// column is a metric's numbers of one cell: the log medians of its sessions.
type column struct {
	cell        result.ID
	digest      string // of the cell
	phase, part string
	stats.CellSessions
	counts []int // runs behind each
}

// columns are those of one metric, in the order of their names.
type columns []column

// spreadsOf takes the sessions of an unchanged suite apart by metric: of the control
// cell, or of the suite's own cells. The control cell is alike on every machine of a
// kind, and says nothing of what the suite's cells have in common.
func spreadsOf(docs []*result.Document, control bool) map[string]columns {
	type key struct {
		cell                result.ID
		metric, phase, part string
	}
	at := map[key]int{}
	out := map[string]columns{}
	for number, d := range docs {
		for i := range d.Cells {
			c := &d.Cells[i]
			if c.Control != control {
				continue
			}
			clean := c.Runs.Clean()
			for k := range c.Columns {
				col := &c.Columns[k]
				values := c.Runs.ValuesOf(col, clean, 0)
				med, err := stats.Median(values)
				if err != nil || med <= 0 {
					continue
				}
				of := key{c.ID(), col.Metric, col.Phase, col.Part}
				n, known := at[of]
				if !known {
					n = len(out[col.Metric])
					at[of] = n
					out[col.Metric] = append(out[col.Metric], column{cell: of.cell, digest: c.Digest, phase: of.phase, part: of.part})
				}
				x := &out[col.Metric][n]
				x.Sessions, x.Logs = append(x.Sessions, number), append(x.Logs, math.Log(med))
				x.counts = append(x.counts, len(values))
				x.Resolution = max(x.Resolution, stats.ResolutionSpread(d.Metrics[col.Metric].Step, med))
			}
		}
	}
	for _, c := range out {
		slices.SortFunc(c, func(a, b column) int {
			return cmp.Or(cmp.Compare(a.cell.Benchmark, b.cell.Benchmark), cmp.Compare(a.cell.Variant, b.cell.Variant),
				cmp.Compare(a.cell.Input, b.cell.Input), cmp.Compare(a.phase, b.phase), cmp.Compare(a.part, b.part))
		})
	}
	return out
}

// pooled is the spread of all of them together; nil where there is none to tell.
func (c columns) pooled() *Spread {
	groups := make([][]float64, len(c))
	for i := range c {
		groups[i] = c[i].Logs
	}
	sd, df, err := stats.PooledSpread(groups)
	if err != nil {
		return nil
	}
	s := &Spread{SD: sd, DF: df}
	if a, err := new(stats.Tables).SessionAllowance(stats.SessionSpread{SD: sd, DF: df}, 1, 1, 0.05); err == nil {
		s.Allowance = a
	}
	return s
}

// each is what every column has; none where no column has two sessions.
func (c columns) each() []ColumnSpread {
	cells := make([]stats.CellSessions, len(c))
	for i := range c {
		cells[i] = c[i].CellSessions
	}
	spreads, err := stats.SessionSpreads(cells)
	if err != nil {
		return nil
	}
	out := make([]ColumnSpread, len(c))
	for i, s := range spreads {
		id := c[i].cell
		out[i] = ColumnSpread{Benchmark: id.Benchmark, Variant: id.Variant, Input: id.Input, Phase: c[i].phase, Part: c[i].part,
			Digest: c[i].digest, Repeats: stats.MiddleCount(c[i].counts), SD: s.SD, DF: s.DF}
	}
	return out
}
