package collect

import (
	"math"
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

func TestPace(t *testing.T) {
	p := lookPlan(t) // x and y: looks after 2, 3 and 5
	cell := func(wall float64, starts ...float64) result.Cell {
		c := result.Cell{Columns: []result.Column{{Metric: result.WallTime}}}
		for i, at := range starts {
			c.Runs.Repeat = append(c.Runs.Repeat, i+1)
			c.Runs.Start = append(c.Runs.Start, at)
			c.Columns[0].V = append(c.Columns[0].V, wall)
		}
		return c
	}
	doc := &result.Document{Cells: []result.Cell{cell(1, 100, 108), cell(3, 102, 110)}}
	doc.Sessions = []result.Session{{ID: "a"}}
	// 13 s from the first start to the last end, 8 s of them in runs.
	onlyY := p.Only(3, func(c int) bool { return c == 1 })
	for _, tt := range []struct {
		sel  plan.Selection
		want float64
	}{{p.All(2), (1 + 3) * 13.0 / 8}, {onlyY, 2 * 3 * 13.0 / 8}, {plan.Selection{Look: 2}, 0}} {
		if spent, needed := Pace(doc, p, tt.sel); spent != 13 || math.Abs(needed-tt.want) > 1e-12 {
			t.Errorf("%+v: spent %g, needed %g; want 13 and %g", tt.sel, spent, needed, tt.want)
		}
	}
	// A run without a time counts as long as it lasted; nothing known at all is
	// shared out by runs.
	doc.Cells[0].Columns[0].V[1] = math.NaN()
	doc.Cells[0].Runs.Detail = map[int]result.Detail{1: {Ended: 2}}
	if _, needed := Pace(doc, p, p.Only(2, func(c int) bool { return c == 0 })); math.Abs(needed-1.5*13/9) > 1e-12 {
		t.Errorf("needed %g", needed)
	}
	doc.Cells = []result.Cell{cell(math.NaN(), 0, 4), cell(math.NaN(), 2, 6)}
	if spent, needed := Pace(doc, p, p.All(2)); spent != 6 || needed != 3 {
		t.Errorf("without times: spent %g, needed %g", spent, needed)
	}
	if spent, needed := Pace(&result.Document{}, p, p.All(2)); spent != 0 || needed != 0 {
		t.Errorf("nothing was run: %g, %g", spent, needed)
	}
}
