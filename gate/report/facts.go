package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// facts is a verdict in the order in which it is told, with what every format
// counts the same way.
type facts struct {
	v     *verdict.Document
	by    [verdict.Held + 1][]int // findings by standing, worst first
	cells []int                   // cells, worst first
	bare  []int                   // red cells that no finding explains: gone, never run
	gated int
	tally map[verdict.Outcome]count
	// ownOutcome marks the cells whose outcome no gated finding has.
	ownOutcome []bool
}

// count is how many gated findings, and how many cells through them or by
// themselves, have an outcome.
type count struct{ findings, cells int }

func factsOf(v *verdict.Document) *facts {
	f := &facts{v: v, cells: v.CellsWorstFirst()}
	for _, i := range v.WorstFirst() {
		s := v.StandingOf(i)
		f.by[s] = append(f.by[s], i)
	}
	explained := make([]bool, len(v.Cells))
	for _, i := range f.by[verdict.Broken] {
		if c := v.Findings[i].Cell; c >= 0 && c < len(explained) {
			explained[c] = true
		}
	}
	for _, i := range f.cells {
		if v.Cells[i].Outcome.Red() && !explained[i] {
			f.bare = append(f.bare, i)
		}
	}
	f.count()
	f.ownOutcome = ownOutcomes(v)
	return f
}

func ownOutcomes(v *verdict.Document) []bool {
	own := make([]bool, len(v.Cells))
	for i := range own {
		own[i] = true
	}
	for i := range v.Findings {
		x := &v.Findings[i]
		if x.Gated && x.Cell >= 0 && x.Cell < len(own) && x.Outcome == v.Cells[x.Cell].Outcome {
			own[x.Cell] = false
		}
	}
	return own
}

func (f *facts) count() {
	f.tally = map[verdict.Outcome]count{}
	type at struct {
		cell    int
		outcome verdict.Outcome
	}
	seen := map[at]bool{}
	add := func(cell int, o verdict.Outcome, findings int) {
		c := f.tally[o]
		c.findings += findings
		if !seen[at{cell, o}] {
			seen[at{cell, o}] = true
			c.cells++
		}
		f.tally[o] = c
	}
	for i := range f.v.Findings {
		x := &f.v.Findings[i]
		if x.Gated {
			f.gated++
		}
		if f.v.Decides(x) || x.Outcome == verdict.Quarantined {
			add(x.Cell, x.Outcome, 1)
		}
	}
	for _, i := range f.bare {
		add(i, f.v.Cells[i].Outcome, 0)
	}
}

// unproven counts the gated unproven findings.
func (f *facts) unproven() int {
	n := 0
	for _, i := range f.by[verdict.Undecided] {
		if f.v.Findings[i].Gated {
			n++
		}
	}
	return n
}

func (f *facts) cell(i int) *verdict.Cell {
	if i < 0 || i >= len(f.v.Cells) {
		return &verdict.Cell{}
	}
	return &f.v.Cells[i]
}

func (f *facts) budget(i int) *budget.Budget {
	if i < 0 || i >= len(f.v.Budgets) {
		return &budget.Budget{}
	}
	return &f.v.Budgets[i]
}

// comparison of a finding; nil for an absolute budget.
func (f *facts) comparison(x *verdict.Finding) *verdict.Comparison {
	if x.Comparison == nil || *x.Comparison < 0 || *x.Comparison >= len(f.v.Comparisons) {
		return nil
	}
	return &f.v.Comparisons[*x.Comparison]
}

// unitOf is the unit of a metric as unit.Format takes it: "J/token".
func (f *facts) unitOf(metric string) string { return unitText(f.v.Metrics[metric]) }

func unitText(m result.Metric) string {
	if m.Per == "" {
		return m.Unit
	}
	return m.Unit + "/" + m.Per
}

// crashed counts the first attempts of a cell that crashed, and those whose
// numbers may be compared.
func crashed(c *verdict.Cell) (crashes, clean int) {
	for s, n := range c.Statuses {
		switch {
		case result.Status(s).OK():
			clean += n
		case result.Status(s).Crashed():
			crashes += n
		}
	}
	return crashes, clean
}

// tableMetrics chooses the clean values that the matrix table shows: the usual
// ones first, then those that a budget names, then what most cells have. A
// metric with a part comes last: a tool with a hundred parts is a table of its own.
func (f *facts) tableMetrics(most int) []string {
	type candidate struct {
		key         string
		rank, cells int
	}
	cells := map[string]int{}
	for i := range f.v.Cells {
		for k := range f.v.Cells[i].Clean {
			cells[k]++
		}
	}
	usual := []string{result.WallTime, result.CPUTime, result.MemoryPeak, result.Throughput, result.OutputSize}
	named := map[string]bool{}
	for i := range f.v.Budgets {
		named[f.v.Budgets[i].Metric] = true
	}
	list := make([]candidate, 0, len(cells))
	for k, n := range cells {
		metric, part := splitKey(k)
		rank := slices.Index(usual, metric)
		switch {
		case part != "":
			rank = len(usual) + 2
		case rank < 0 && named[metric]:
			rank = len(usual)
		case rank < 0:
			rank = len(usual) + 1
		}
		list = append(list, candidate{k, rank, n})
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(a.rank-b.rank, b.cells-a.cells, strings.Compare(a.key, b.key))
	})
	keys := make([]string, 0, most)
	for _, c := range list[:min(most, len(list))] {
		keys = append(keys, c.key)
	}
	return keys
}
