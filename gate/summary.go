package gate

import (
	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// ColumnSummary is what one cell's runs say about one metric, and what stored
// sessions say, whether or not a budget is about it. It decides nothing.
type ColumnSummary struct {
	Metric, Phase, Part string
	N                   int // clean values
	Median              float64
	Interval            *[2]float64 // of the median, 95 %; nil: too few values
	// Reference is the median over the stored sessions' runs of the same cell; nil:
	// there is none, or it cannot be compared.
	Reference *float64
}

// Summarise tells every metric of a cell of a document, in the order of its
// columns. b may be nil.
func Summarise(doc *result.Document, cell int, b *baseline.Baseline) []ColumnSummary {
	views := make([]view, len(doc.Cells))
	for i := range views {
		views[i] = newView(&doc.Cells[i])
	}
	refs := newReferences(doc, views, b)
	v := &views[cell]
	var out []ColumnSummary
	for k := range v.cell.Columns {
		col := &v.cell.Columns[k]
		values := v.values(col)
		if len(values) == 0 {
			continue
		}
		s := ColumnSummary{Metric: col.Metric, Phase: col.Phase, Part: col.Part, N: len(values), Median: median(values)}
		if interval, ok := medianInterval(values); ok {
			s.Interval = &interval
		}
		if ref := refs.fromBaseline(cell, col); !ref.missing() {
			m := median(ref.values)
			s.Reference = &m
		}
		out = append(out, s)
	}
	return out
}
