package publish

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/report"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Levels of an annotation (GitHub's words).
const (
	levelFailure = "failure"
	levelWarning = "warning"
	levelNotice  = "notice"
)

var levels = [...]string{levelFailure, levelWarning, levelNotice} // the worst first

// Limits of annotations. GitHub takes 64 KB and 255 bytes (C16).
const (
	mostAnnotations = 200
	longestMessage  = 64_000
	longestPath     = 1_000
)

// remark is an annotation that gathers the cells of one budget.
type remark struct {
	Annotation
	first string // the worst cell's sentence
	cells map[string]bool
}

// annotations says once a budget, at its line, what is wrong: the worst cell by
// name and how many others. A budget that stands in no line of the head's suite
// file is told at the benchmark's source, else at the suite file's first line.
// beyond is how many places the bound left out; the worst come first.
func annotations(r Report, o Options) (list []Annotation, beyond int) {
	g := &remarks{o: o, at: map[string]*remark{}, several: len(r.Parts) > 1}
	for _, p := range r.Parts {
		g.part(p)
	}
	for _, m := range r.Missing {
		g.add(levelFailure, g.top(), "missing", "a machine never reported", m, m+" was expected and never reported")
	}
	if r.Broken != "" {
		g.add(levelFailure, g.top(), "broken", "no verdict", "", r.Broken)
	}
	slices.SortStableFunc(g.order, func(a, b *remark) int {
		return slices.Index(levels[:], a.Level) - slices.Index(levels[:], b.Level)
	})
	for _, m := range g.order {
		if len(list) == mostAnnotations {
			return list, len(g.order) - mostAnnotations
		}
		list = append(list, m.finished())
	}
	return list, 0
}

// remarks gathers annotations, the worst first.
type remarks struct {
	o       Options
	order   []*remark
	at      map[string]*remark // by budget and place
	several bool               // machines
	part0   string
	suite   string // path of the suite file
}

// place is a line of a file.
type place struct {
	path string
	line int
}

// part gathers the findings of one machine.
func (g *remarks) part(p Part) {
	v := p.Verdict
	g.suite, g.part0 = v.Suite.Path, p.Name()
	for _, i := range bareCells(v) {
		c := &v.Cells[i]
		why := strings.Join(append(slices.Clone(c.Reasons), c.FailureReasons...), ", ")
		g.add(levelFailure, g.placeOf(nil, c), "cell", "a cell is not complete", g.cellName(c), report.Words(string(c.Outcome))+": "+why)
	}
	for _, l := range v.Loosened {
		g.add(levelNotice, g.onHead(l.Source), "loosened "+l.Text, "loosened", "", report.Loosened(&l, v.AcceptedBy))
	}
	for _, i := range v.WorstFirst() {
		f := &v.Findings[i]
		level := levelWarning
		switch v.StandingOf(i) {
		case verdict.Broken:
			level = levelFailure
		case verdict.Doubted, verdict.Surprising, verdict.Warned:
		default:
			return // what follows is not worse
		}
		b, c := budgetOf(v, f), cellOf(v, f)
		text := f.Message
		if c.Reproduce != "" {
			text += "; to reproduce: " + c.Reproduce
		}
		g.add(level, g.placeOf(b, c), budgetKey(b), f.Metric+": "+b.Text, g.cellName(c), text)
	}
}

func (g *remarks) cellName(c *verdict.Cell) string {
	if g.several {
		return c.Name + " on " + g.part0
	}
	return c.Name
}

// add tells of a cell, at a place that may be told of already.
func (g *remarks) add(level string, at place, key, title, cell, text string) {
	if at.path == "" {
		return // nobody would see it
	}
	key = fmt.Sprintf("%s\x00%s\x00%d", key, at.path, at.line)
	if m := g.at[key]; m != nil {
		m.cells[cell] = true
		return
	}
	if cell != "" {
		text = cell + ": " + text
	}
	m := &remark{first: text, cells: map[string]bool{cell: true}}
	m.Annotation = Annotation{Path: at.path, StartLine: at.line, EndLine: at.line, Level: level,
		Title: report.Plain(CheckName(g.o.Suite)+": "+strings.TrimSuffix(title, ": "), longestTitle)}
	g.at[key] = m
	g.order = append(g.order, m)
}

// finished bounds what was gathered.
func (m *remark) finished() Annotation {
	a := m.Annotation
	more := ""
	switch n := len(m.cells) - 1; n {
	case 0:
	case 1:
		more = "; and 1 more cell"
	default:
		more = fmt.Sprintf("; and %d more cells", n)
	}
	a.Message = report.Plain(m.first, longestMessage-len(more)) + more
	return a
}

func budgetKey(b *budget.Budget) string {
	return strings.Join([]string{b.Metric, string(b.Kind), b.Against, b.Phase, b.Part, b.Cells, b.Benchmark, b.Variant, b.Input,
		b.Statistic, strconv.FormatFloat(b.Limit, 'g', -1, 64)}, "\x00")
}

// top is the first line of the suite file.
func (g *remarks) top() place {
	for _, p := range []string{g.o.SuitePath, g.suite} {
		if inside(p) {
			return place{p, 1}
		}
	}
	return place{}
}

// onHead is the line of head's suite file that a budget is about. One that the
// comparison commit's file decided stands in that file.
func (g *remarks) onHead(s budget.Source) place {
	file := s.Path
	if s.Commit != "" {
		file = g.top().path
	}
	if line := s.LineOnHead(); line > 0 && inside(file) {
		return place{file, line}
	}
	return place{}
}

// placeOf is the line at which a reader of the head's files finds what is told.
func (g *remarks) placeOf(b *budget.Budget, c *verdict.Cell) place {
	if b != nil {
		if at := g.onHead(b.Source); at.path != "" {
			return at
		}
	}
	if file, line, ok := strings.Cut(c.Source, ":"); ok || file != "" {
		line, _, _ = strings.Cut(line, ":")
		n, err := strconv.Atoi(line)
		if err != nil || n < 1 {
			n = 1
		}
		if inside(file) {
			return place{file, n}
		}
	}
	return g.top()
}

// inside reports whether a path names a file of the repository: GitHub refuses a
// whole request for one that does not.
func inside(p string) bool {
	return p != "" && len(p) <= longestPath && p == report.Plain(p, longestPath) && !path.IsAbs(p) && path.Clean(p) == p &&
		p != "." && p != ".." && !strings.HasPrefix(p, "../") && !strings.Contains(p, `\`)
}
