package exhibit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Bounds of a document: a page with more is neither read nor quick.
const (
	DefaultStrips = 500
	MaxValues     = 20_000
)

// Reference is one stored session that was compared with.
type Reference struct {
	Label   string // session id
	Doc     *result.Document
	Session int // index into Doc.Sessions
}

// Build takes the raw values behind the findings of a verdict: a strip for each
// comparison, the worst finding first, until limit strips (0: DefaultStrips) or
// MaxValues values are reached. A strip that is too large for what is left is
// passed over, and counted in Omitted. Warm-ups, attempts that were repeated,
// invalid runs and runs that did not end well are in no strip: they were not
// compared.
func Build(cur *result.Document, refs []Reference, v *verdict.Document, limit int) Document {
	if limit <= 0 {
		limit = DefaultStrips
	}
	b := builder{cur: cur, refs: refs, v: v, cells: index(cur)}
	for _, r := range refs {
		b.refCells = append(b.refCells, index(r.Doc))
	}
	out := Document{Schema: Schema, Suite: v.Suite.Name, Strips: []Strip{}}
	left := MaxValues
	for _, at := range b.comparisons() {
		c := &v.Comparisons[at]
		if len(out.Strips) == limit || c.N[0]+c.N[1] > left {
			out.Omitted++
			continue
		}
		s := b.strip(c)
		if n := s.values(); n > left {
			out.Omitted++
		} else {
			left -= n
			out.Strips = append(out.Strips, s)
		}
	}
	return out
}

type builder struct {
	cur      *result.Document
	refs     []Reference
	v        *verdict.Document
	cells    map[result.ID]int
	refCells []map[result.ID]int
}

func index(doc *result.Document) map[result.ID]int {
	m := map[result.ID]int{}
	if doc == nil {
		return m
	}
	for i := range doc.Cells {
		m[doc.Cells[i].ID()] = i
	}
	return m
}

// comparisons returns the comparisons that findings are about, each once, in the
// order of their worst finding.
func (b *builder) comparisons() []int {
	seen := make([]bool, len(b.v.Comparisons))
	var out []int
	for _, i := range b.v.WorstFirst() {
		c := b.v.Findings[i].Comparison
		if c == nil || *c < 0 || *c >= len(seen) || seen[*c] {
			continue
		}
		seen[*c] = true
		out = append(out, *c)
	}
	return out
}

func (b *builder) strip(c *verdict.Comparison) Strip {
	s := Strip{Metric: c.Metric, Phase: c.Phase, Part: c.Part}
	m := b.v.Metrics[c.Metric]
	s.Unit = m.Unit
	if m.Per != "" {
		s.Unit += "/" + m.Per
	}
	if c.Cell < 0 || c.Cell >= len(b.v.Cells) {
		return s
	}
	cell := &b.v.Cells[c.Cell]
	s.Cell = cell.Name
	id := result.ID{Benchmark: cell.Benchmark, Variant: cell.Variant, Input: cell.Input, Build: cmp.Or(cell.Build, result.BuildHead)}
	at, ok := b.cells[id]
	if !ok {
		return s
	}
	cur := &b.cur.Cells[at]
	s.Current = series("current", cur, c, -1)
	if len(b.cur.Sessions) == 1 {
		s.Current.Label = b.cur.Sessions[0].ID
	}
	s.Reference = b.references(c, cur)
	return s
}

// references are the stored sessions' values, or those of another variant or of the
// base build of the same session.
func (b *builder) references(c *verdict.Comparison, cur *result.Cell) []Series {
	id := cur.ID()
	if c.Against == budget.AgainstBase {
		id.Build = result.BuildBase
		if at, ok := b.cells[id]; ok {
			return []Series{series(c.Against, &b.cur.Cells[at], c, -1)}
		}
		return nil // it was measured again, in a document of its own
	}
	if variant, ok := strings.CutPrefix(c.Against, budget.AgainstVariant); ok {
		id.Variant = variant
		if at, ok := b.cells[id]; ok {
			return []Series{series(c.Against, &b.cur.Cells[at], c, -1)}
		}
		return nil
	}
	var out []Series
	for i, r := range b.refs {
		stored := b.stored(i, cur)
		if stored == nil || stored.Digest != cur.Digest || r.Doc.Metrics[c.Metric].Unit != b.cur.Metrics[c.Metric].Unit {
			continue // there is none, or it was not compared
		}
		if s := series(r.Label, stored, c, r.Session); len(s.Values) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// stored is a cell in reference i, under its own name or an earlier one.
func (b *builder) stored(i int, cur *result.Cell) *result.Cell {
	for _, id := range cur.IDs() {
		if at, ok := b.refCells[i][id]; ok {
			return &b.refs[i].Doc.Cells[at]
		}
	}
	return nil
}

// series takes the clean runs' values of one column; session -1 means all.
func series(label string, cell *result.Cell, c *verdict.Comparison, session int) Series {
	s := Series{Label: label, Block: []int{}, Values: []float64{}}
	i := slices.IndexFunc(cell.Columns, func(col result.Column) bool {
		return col.Metric == c.Metric && col.Phase == c.Phase && col.Part == c.Part
	})
	if i < 0 {
		return s
	}
	r := &cell.Runs
	values := cell.Columns[i].V
	for _, run := range r.Clean() {
		if session >= 0 && r.SessionAt(run) != session {
			continue
		}
		if run >= len(values) || math.IsNaN(values[run]) || math.IsInf(values[run], 0) {
			continue
		}
		block := 0
		if run < len(r.Block) {
			block = r.Block[run]
		}
		s.Block = append(s.Block, block)
		s.Values = append(s.Values, values[run])
	}
	return s
}

func (s *Strip) values() int {
	n := len(s.Current.Values)
	for i := range s.Reference {
		n += len(s.Reference[i].Values)
	}
	return n
}
