// Package trend lays stored sessions out over time: what a metric of a cell did,
// where it took another level, where it crept. It is pure: sessions come in as
// values, what a page draws goes out (exhibit.Trend).
//
// It is no gate: a change is named when sessions behind it say so too, which is
// too late for a merge (docs/statistics.md).
package trend

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/stats"
)

// Options select what is looked at.
type Options struct {
	Cells   string   // glob over the cells' names; empty: all
	Metrics []string // names; empty: all
	Control []string // of the control cell, beside Metrics: how the machine was
	// Anchor is the commit, or the beginning of its hash, whose sessions ratios are
	// to; empty: the first session of each series.
	Anchor string
	// ByMachine keeps machines of one kind apart by their names.
	ByMachine bool
}

// Level of the bounds of a drift.
const Level = 0.05

const (
	// recent is how many of the newest sessions tell where a metric is now.
	recent = 5
	// fewest sessions in which a change is looked for: two levels of the least
	// length that stats.DefaultChangeRule knows.
	fewest = 10
)

// Build gives the trend of every metric of every cell that is asked for, in the
// order of the cells' and metrics' names. Sessions may come in any order.
func Build(sessions []baseline.Stored, o Options) []exhibit.Trend {
	sorted := slices.SortedStableFunc(slices.Values(sessions), func(a, b baseline.Stored) int {
		return cmp.Or(a.Session().StartedAt.Compare(b.Session().StartedAt), strings.Compare(a.Session().ID, b.Session().ID))
	})
	c := collector{options: o, names: newestNames(sorted), rows: map[key]*row{}, selected: map[string]bool{}}
	for i := range sorted {
		c.add(sorted[i])
	}
	rows := slices.SortedFunc(maps.Values(c.rows), func(a, b *row) int {
		return cmp.Or(strings.Compare(a.trend.Cell, b.trend.Cell), strings.Compare(a.trend.Metric, b.trend.Metric),
			strings.Compare(a.trend.Phase, b.trend.Phase), strings.Compare(a.trend.Part, b.trend.Part))
	})
	out := make([]exhibit.Trend, len(rows))
	each(len(rows), func(i int) { out[i] = rows[i].finish(o) })
	return slices.DeleteFunc(out, func(t exhibit.Trend) bool { return len(t.Series) == 0 })
}

// newestNames leads every identity of a cell to the one that it has in the newest
// session: a rename keeps its history.
func newestNames(sorted []baseline.Stored) map[result.ID]result.ID {
	names := map[result.ID]result.ID{}
	for _, s := range slices.Backward(sorted) {
		for i := range s.Doc.Cells {
			ids := s.Doc.Cells[i].IDs()
			newest, ok := names[ids[0]]
			if !ok {
				newest = ids[0]
			}
			for _, id := range ids {
				if _, ok := names[id]; !ok {
					names[id] = newest
				}
			}
		}
	}
	return names
}

// key is one trend.
type key struct {
	cell                result.ID
	metric, phase, part string
}

// row is a trend while its sessions come in.
type row struct {
	trend  exhibit.Trend
	series []*stretch
}

// stretch is a series while it grows, with what all of its sessions share.
type stretch struct {
	exhibit.TrendSeries
	like likeness
}

// likeness is what two sessions must have in common to be compared.
type likeness struct {
	host    result.Host
	machine string // "" where machines of one kind are one
	digest  string // of the cell's definition
	metric  result.Metric
}

// same leaves alone what does not change a number: who measured it.
func (l likeness) same(m likeness) bool { return len(l.differences(m)) == 0 }

// differences are what sets two apart, in words, l before m.
func (l likeness) differences(m likeness) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(union(l.host.Strict, m.host.Strict))) {
		a, okA := l.host.Strict[k]
		b, okB := m.host.Strict[k]
		if a != b || okA != okB {
			out = append(out, fmt.Sprintf("%s: %s before, %s here", k, known(a, okA), known(b, okB)))
		}
	}
	if l.machine != m.machine {
		out = append(out, fmt.Sprintf("machine: %q before, %q here", l.machine, m.machine))
	}
	if l.digest != m.digest {
		out = append(out, "another definition of the cell")
	}
	if l.metric.Unit != m.metric.Unit || l.metric.Per != m.metric.Per || l.metric.Better != m.metric.Better || l.metric.Class != m.metric.Class {
		out = append(out, "another definition of the metric")
	}
	return out
}

func union(a, b map[string]string) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

func known(v string, ok bool) string {
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%q", v)
}

type collector struct {
	options  Options
	names    map[result.ID]result.ID
	rows     map[key]*row
	selected map[string]bool // by name: globs are slow
}

func (c *collector) selects(name string) bool {
	yes, ok := c.selected[name]
	if !ok {
		yes = result.MatchName(c.options.Cells, name)
		c.selected[name] = yes
	}
	return yes
}

// add takes one session.
func (c *collector) add(s baseline.Stored) {
	for i := range s.Doc.Cells {
		cell := &s.Doc.Cells[i]
		if cell.Build != "" && cell.Build != result.BuildHead {
			continue // of another commit than the session's
		}
		id := c.names[cell.ID()]
		name := result.PrintedName(id.Benchmark, id.Variant, id.Input)
		if !c.selects(name) {
			continue
		}
		var clean []int
		for k := range cell.Columns {
			col := &cell.Columns[k]
			if !c.wants(cell, col.Metric) {
				continue
			}
			if clean == nil {
				clean = cell.Runs.Clean()
			}
			c.addColumn(s, cell, col, clean, key{id, col.Metric, col.Phase, col.Part}, name)
		}
	}
}

func (c *collector) wants(cell *result.Cell, metric string) bool {
	o := &c.options
	return len(o.Metrics) == 0 || slices.Contains(o.Metrics, metric) || cell.Control && slices.Contains(o.Control, metric)
}

func (c *collector) addColumn(s baseline.Stored, cell *result.Cell, col *result.Column, clean []int, k key, name string) {
	r := c.rows[k]
	if r == nil {
		r = &row{trend: exhibit.Trend{Cell: name, Metric: k.metric, Phase: k.phase, Part: k.part}}
		c.rows[k] = r
	}
	values := cell.Runs.ValuesOf(col, clean, s.Index)
	if len(values) == 0 {
		r.trend.Gaps++
		return
	}
	session, def := s.Session(), s.Doc.Metrics[col.Metric]
	r.trend.Unit, r.trend.Better = unitText(def), def.Better // the newest session's, in the end
	like := likeness{host: session.Host, digest: cell.Digest, metric: def}
	if c.options.ByMachine {
		like.machine = session.Machine
	}
	build := s.Doc.Builds[result.BuildHead]
	series := r.stretch(like)
	series.Points = append(series.Points, exhibit.TrendPoint{
		Session: session.ID, StartedAt: session.StartedAt, Commit: build.Commit, Dirty: build.Dirty,
		Runs: len(values), Median: median(values),
	})
}

// stretch finds the series of what is alike, the newest first, or begins one.
func (r *row) stretch(like likeness) *stretch {
	for _, s := range slices.Backward(r.series) {
		if s.like.same(like) {
			return s
		}
	}
	s := &stretch{like: like}
	if n := len(r.series); n > 0 {
		s.Apart = r.series[n-1].like.differences(like)
	}
	r.series = append(r.series, s)
	return s
}

func unitText(m result.Metric) string {
	if m.Per != "" {
		return m.Unit + "/" + m.Per
	}
	return m.Unit
}

func (r *row) finish(o Options) exhibit.Trend {
	for _, s := range r.series {
		s.anchor(o.Anchor)
		s.movements()
		r.trend.Series = append(r.trend.Series, s.TrendSeries)
	}
	return r.trend
}

func median(x []float64) float64 {
	m, err := stats.Median(x)
	if err != nil {
		return math.NaN() // values are neither empty nor infinite
	}
	return m
}

// each calls f for 0..n-1 side by side.
func each(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}
