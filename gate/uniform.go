package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
)

// From where on cells that moved alike are told as a shift of the whole.
const (
	uniformLevel = 0.05 // error of "they moved at all", a side: five cells can reach it
	uniformShift = 0.03 // below it the machine's usual drift is not worth a word
	uniformShare = 0.8  // of the cells, around the middle
	uniformWidth = 0.25 // of the shift: how far from the middle a cell may be
	uniformFloor = 0.01 // and at least so far, on the log scale
)

// doubtUniform says of metrics whose cells nearly all moved by about the same factor
// that this is how another state of the machine looks. A change that touches every
// program looks the same, so it is a doubt and a warning and never an outcome.
// Comparisons inside one session have the machine on both sides and are left out.
func (e *evaluation) doubtUniform() {
	type key struct{ metric, phase string }
	members := map[key][]int{}
	var order []key
	for i := range e.out.Comparisons {
		c := &e.out.Comparisons[i]
		class := e.in.Current.Metrics[c.Metric].Class
		if c.Against != budget.AgainstBaseline || c.Part != "" || c.Ratio == nil || *c.Ratio <= 0 || class != result.Noisy {
			continue
		}
		k := key{c.Metric, c.Phase}
		if members[k] == nil {
			order = append(order, k)
		}
		members[k] = e.addCell(members[k], i)
	}
	for _, k := range order {
		e.doubtMetric(members[k])
	}
}

// addCell appends a comparison of a metric. Where tests of a cell stopped at more
// than one look, the comparison with most runs counts.
func (e *evaluation) addCell(members []int, i int) []int {
	if n := len(members); n > 0 {
		last, c := &e.out.Comparisons[members[n-1]], &e.out.Comparisons[i]
		if last.Cell == c.Cell {
			if c.N[0] > last.N[0] {
				members[n-1] = i
			}
			return members
		}
	}
	return append(members, i)
}

// doubtMetric looks at one metric's comparisons, one a cell.
func (e *evaluation) doubtMetric(comparisons []int) {
	logs := make([]float64, len(comparisons))
	for k, i := range comparisons {
		logs[k] = math.Log(*e.out.Comparisons[i].Ratio)
	}
	middle, alike, ok := uniform(logs)
	if !ok {
		return
	}
	n := 0
	for k, i := range comparisons {
		if alike[k] {
			n++
			c := &e.out.Comparisons[i]
			c.Doubts = append(slices.Clip(c.Doubts), doubtUniform)
		}
	}
	metric := e.out.Comparisons[comparisons[0]].Metric
	e.out.Warnings = append(e.out.Warnings, fmt.Sprintf("%s: %d of %d cells moved by about %s: %s",
		metric, n, len(comparisons), unit.FormatRatio(math.Exp(middle)), e.whoMoved(metric, middle)))
}

// whoMoved says what a shift of the whole comes from, as far as the control cell
// tells.
func (e *evaluation) whoMoved(metric string, middle float64) string {
	var m *movement
	sense := senseOfTime(e.in.Current.Metrics[metric])
	if e.control != nil && sense != 0 {
		m = e.controlNow(controlMetric(metric))
	}
	switch {
	case m != nil && m.steady:
		return fmt.Sprintf("the control cell did not move (%s), so the change is the likelier cause; a comparison in one session proves it", unit.FormatRatio(*m.Ratio))
	case m.proven() && math.Abs(middle-sense*m.log) <= uniformReach(middle):
		return fmt.Sprintf("the control cell was %s, by about as much: it is the machine rather than the change", m.inWords())
	case m.proven():
		return fmt.Sprintf("the control cell was %s: the machine is not in the state it was in, which is not all of it; only a comparison in one session tells the rest", m.inWords())
	}
	return "that is how a machine in another state looks, rather than a change; one that touches all of them looks alike, and only a comparison in one session tells which"
}

// uniformReach is how far from the middle is about as much.
func uniformReach(middle float64) float64 { return max(uniformWidth*math.Abs(middle), uniformFloor) }

// uniform reports whether log ratios lie close around a middle that is not 0, and
// which of them do.
func uniform(logs []float64) (middle float64, alike []bool, ok bool) {
	common, err := stats.NewCommonShift(logs, uniformLevel)
	if err != nil || !common.OK || common.Lower <= 0 && common.Upper >= 0 {
		return 0, nil, false
	}
	middle = common.Estimate
	if math.Abs(middle) < math.Log1p(uniformShift) {
		return middle, nil, false
	}
	width := uniformReach(middle)
	alike = make([]bool, len(logs))
	n := 0
	for i, v := range logs {
		if alike[i] = math.Abs(v-middle) <= width; alike[i] {
			n++
		}
	}
	return middle, alike, float64(n) >= uniformShare*float64(len(logs))
}
