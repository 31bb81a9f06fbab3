package gate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// view is a cell with its runs sorted out: which may be compared, which count
// into the crash rate.
type view struct {
	cell *result.Cell
	// clean are positions of runs whose numbers may be compared: not a warm-up,
	// the last attempt of their repeat, ended well, valid. In order of block.
	clean []int
	// first are positions of first attempts, interrupted ones left out.
	first []int
	seen  int // repeats whose last attempt was not interrupted
	// invalid counts repeats whose last attempt is invalid, lost are where those are.
	invalid int
	lost    []int
}

func newView(c *result.Cell) view {
	r := &c.Runs
	v := view{cell: c, clean: make([]int, 0, r.Len()), first: make([]int, 0, r.Len())}
	for attempts := range r.Repeats() {
		for _, i := range attempts {
			if r.StatusAt(i) != result.Interrupted {
				v.first = append(v.first, i)
				break
			}
		}
		v.addLast(attempts[len(attempts)-1])
	}
	byBlock := func(i, j int) int {
		return cmp.Or(cmp.Compare(r.SessionAt(i), r.SessionAt(j)), cmp.Compare(r.Block[i], r.Block[j]), cmp.Compare(i, j))
	}
	slices.SortFunc(v.clean, byBlock)
	slices.SortFunc(v.first, byBlock)
	return v
}

// addLast sorts the last attempt of a repeat.
func (v *view) addLast(i int) {
	s := v.cell.Runs.StatusAt(i)
	if s == result.Interrupted {
		return
	}
	v.seen++
	if !v.cell.Runs.ValidAt(i) {
		v.invalid, v.lost = v.invalid+1, append(v.lost, i)
	} else if s.OK() {
		v.clean = append(v.clean, i)
	}
}

// column finds a column of the cell; nil when it has none.
func (v *view) column(metric, phase, part string) *result.Column {
	for i := range v.cell.Columns {
		if c := &v.cell.Columns[i]; c.Metric == metric && c.Phase == phase && c.Part == part {
			return c
		}
	}
	return nil
}

// point is one clean value and the place it was measured in.
type point struct {
	value          float64
	session, block int
}

// values are the clean, present values of a column, in order.
func (v *view) values(c *result.Column) []float64 {
	return v.appendValues(make([]float64, 0, len(v.clean)), c, allSessions)
}

const allSessions = -1

// appendValues appends the clean values of one session of the cell's document,
// or of all of them.
func (v *view) appendValues(out []float64, c *result.Column, session int) []float64 {
	for _, i := range v.clean {
		if session != allSessions && v.cell.Runs.SessionAt(i) != session {
			continue
		}
		if x := c.V[i]; !math.IsNaN(x) && !math.IsInf(x, 0) {
			out = append(out, x)
		}
	}
	return out
}

func (v *view) points(c *result.Column) []point {
	out := make([]point, 0, len(v.clean))
	for _, i := range v.clean {
		if x := c.V[i]; !math.IsNaN(x) && !math.IsInf(x, 0) {
			out = append(out, point{x, v.cell.Runs.SessionAt(i), v.cell.Runs.Block[i]})
		}
	}
	return out
}

// absence is why a column has no clean value: the reason most runs give.
func (v *view) absence(c *result.Column) string {
	counts := map[string]int{}
	for _, i := range v.clean {
		if r := c.Absent[i]; r != "" {
			counts[r]++
		}
	}
	best := ""
	for r, n := range counts {
		if n > counts[best] || n == counts[best] && r < best {
			best = r
		}
	}
	return best
}

// crashRate over first attempts; NaN when there is none.
func (v *view) crashRate() float64 {
	if len(v.first) == 0 {
		return math.NaN()
	}
	return float64(v.crashes()) / float64(len(v.first))
}

func (v *view) crashes() int {
	n := 0
	for _, i := range v.first {
		if v.cell.Runs.StatusAt(i).Crashed() {
			n++
		}
	}
	return n
}

// timeOf is how long a run took, whatever its status; NaN when that is not known.
func (v *view) timeOf(i int) float64 {
	if d, ok := v.cell.Runs.Detail[i]; ok && d.Ended > 0 {
		return d.Ended
	}
	if c := v.column(result.WallTime, "", ""); c != nil {
		return c.V[i]
	}
	return math.NaN()
}

// Bounds of what a row tells about failed runs.
const maxReasons = 3

// row is the cell's line of the matrix table.
func (v *view) row(command string) verdict.Cell {
	c := v.cell
	r := verdict.Cell{
		Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build,
		Labels: c.Labels, Note: c.Note, Source: c.Source, Planned: c.Planned, Seen: v.seen,
		Statuses: map[string]int{}, Look: v.look(), Clean: map[string]float64{},
	}
	if command != "" {
		r.Reproduce = command + " --cells " + ShellQuote(result.QuoteName(c.Name))
	}
	if rate := v.crashRate(); !math.IsNaN(rate) {
		r.CrashRate = &rate
	}
	for _, i := range v.first {
		s := c.Runs.StatusAt(i)
		r.Statuses[string(s)]++
		if !s.Crashed() {
			continue
		}
		if t := v.timeOf(i); !math.IsNaN(t) {
			r.TimeToFailure = append(r.TimeToFailure, t)
		}
		if why := c.Runs.Detail[i].Reason; why != "" && len(r.FailureReasons) < maxReasons && !slices.Contains(r.FailureReasons, why) {
			r.FailureReasons = append(r.FailureReasons, why)
		}
	}
	if why := v.invalidText(); why != "" {
		r.Reasons = append(r.Reasons, why)
	}
	for i := range c.Columns {
		col := &c.Columns[i]
		if col.Phase != "" || col.Metric == result.Check {
			continue
		}
		if x := v.values(col); len(x) > 0 {
			r.Clean[columnName(col)] = median(x)
		}
		if peak := v.peak(col); strings.HasSuffix(col.Metric, "_peak") && !math.IsNaN(peak) {
			if r.Peaks == nil {
				r.Peaks = map[string]float64{}
			}
			r.Peaks[columnName(col)] = peak
		}
	}
	return r
}

// look is the last look that a run of the cell belongs to; 0 without a run.
func (v *view) look() int {
	last := 0
	for _, i := range v.first {
		last = max(last, v.cell.Runs.LookAt(i))
	}
	return last
}

// peak is the largest value over all runs but warm-ups; NaN when there is none.
func (v *view) peak(c *result.Column) float64 {
	peak := math.NaN()
	for i, x := range c.V {
		if !v.cell.Runs.Warmup(i) && !math.IsNaN(x) && !math.IsInf(x, 0) && !(x <= peak) {
			peak = x
		}
	}
	return peak
}

func columnName(c *result.Column) string {
	if c.Part == "" {
		return c.Metric
	}
	return c.Metric + ":" + c.Part
}
