package gate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

// looked makes a document one with looks: runs are of the look that their repeat
// belongs to.
func looked(d *result.Document, looks ...int) *result.Document {
	d.Plan.Looks = looks
	for i := range d.Cells {
		c := &d.Cells[i]
		c.Looks, c.Planned = slices.Clone(looks), looks[len(looks)-1]
		c.Runs.Look = nil
		for _, repeat := range c.Runs.Repeat {
			at, _ := slices.BinarySearch(looks, repeat)
			c.Runs.Look = append(c.Runs.Look, at+1)
		}
	}
	return d
}

// measured is what of a whole document was measured up to a look, when each cell
// went on to the looks that goOn says.
func measured(whole *result.Document, look int, goOn map[int]map[int]bool) *result.Document {
	d := *whole
	if d.Plan.Reached = look; look == len(d.Plan.Looks) {
		d.Plan.Reached = 0
	}
	d.Cells = make([]result.Cell, len(whole.Cells))
	for i := range whole.Cells {
		d.Cells[i] = only(&whole.Cells[i], func(run int) bool {
			l := whole.Cells[i].Runs.LookAt(run)
			return l <= look && (l == 1 || goOn[l][i])
		})
	}
	return &d
}

// only is a cell with some of its runs.
func only(c *result.Cell, keep func(run int) bool) result.Cell {
	out := *c
	out.Runs = result.Runs{}
	out.Columns = make([]result.Column, len(c.Columns))
	for k := range out.Columns {
		out.Columns[k] = result.Column{Metric: c.Columns[k].Metric, Phase: c.Columns[k].Phase, Part: c.Columns[k].Part}
	}
	for i := range c.Runs.Len() {
		if !keep(i) {
			continue
		}
		n := out.Runs.Len()
		out.Runs.Repeat = append(out.Runs.Repeat, c.Runs.Repeat[i])
		out.Runs.Block = append(out.Runs.Block, c.Runs.Block[i])
		out.Runs.Slot = append(out.Runs.Slot, c.Runs.Slot[i])
		out.Runs.Start = append(out.Runs.Start, c.Runs.Start[i])
		out.Runs.Look = append(out.Runs.Look, c.Runs.LookAt(i))
		if s, ok := c.Runs.Status[i]; ok {
			if out.Runs.Status == nil {
				out.Runs.Status = map[int]result.Status{}
			}
			out.Runs.Status[n] = s
		}
		if d, ok := c.Runs.Detail[i]; ok {
			if out.Runs.Detail == nil {
				out.Runs.Detail = map[int]result.Detail{}
			}
			out.Runs.Detail[n] = d
		}
		for k := range c.Columns {
			col := &out.Columns[k]
			col.V = append(col.V, c.Columns[k].V[i])
			if why, ok := c.Columns[k].Absent[i]; ok {
				if col.Absent == nil {
					col.Absent = map[int]string{}
				}
				col.Absent[n] = why
			}
		}
	}
	return out
}

// live measures look by look, as flow does, and returns the last verdict, what
// was measured, and the verdict at each look.
func live(t *testing.T, whole *result.Document, judge func(*result.Document) *verdict.Document) (*verdict.Document, *result.Document, []*verdict.Document) {
	t.Helper()
	return liveBy(t, whole, judge, Undecided)
}

// liveBy is live with what says which rows of a verdict go on.
func liveBy(t *testing.T, whole *result.Document, judge func(*result.Document) *verdict.Document, next func(*verdict.Document) []int) (*verdict.Document, *result.Document, []*verdict.Document) {
	t.Helper()
	goOn := map[int]map[int]bool{}
	var all []*verdict.Document
	for look := 1; ; look++ {
		d := measured(whole, look, goOn)
		v := judge(d)
		all = append(all, v)
		cells := next(v)
		if look == len(whole.Plan.Looks) || len(cells) == 0 {
			return v, d, all
		}
		goOn[look+1] = map[int]bool{}
		for _, i := range cells {
			row := &v.Cells[i]
			for k := range whole.Cells { // the cell, and its twin on the base build, where it has one
				if c := &whole.Cells[k]; c.Benchmark == row.Benchmark && c.Variant == row.Variant && c.Input == row.Input {
					goOn[look+1][k] = true
				}
			}
		}
		if last := len(whole.Cells) - 1; whole.Cells[last].Control {
			goOn[look+1][last] = true
		}
	}
}

// newLookedCase is a random case whose current document has looks.
func newLookedCase(r *rand.Rand) randomCase {
	rc := newRandomCase(r)
	looks := [][]int{{3, 6, 12}, {5, 10, 20}, {4, 9}, {6, 10, 20}, {2, 5, 8, 14}, {7}}[r.IntN(6)]
	last := looks[len(looks)-1]
	factor := []float64{1, 1.02, 1.1, 1.3, 0.5}[r.IntN(5)]
	for i := range rc.cur.Cells {
		c := &rc.cur.Cells[i]
		fresh := cell(doc("x", 0), c.Benchmark, c.Variant, column{
			"wall_time":   lognormal(r, 0.1*float64(i/2+1)*factor, []float64{0.002, 0.03, 0.1}[r.IntN(3)], last),
			"cpu_time":    rounded(lognormal(r, 0.2*factor, 0.1, last), 100),
			"throughput":  lognormal(r, 100/factor, 0.03, last),
			"output_size": repeat(float64(100+i), last),
			"error_rate":  repeat(0, last),
		})
		damage(r, fresh)
		*c = *fresh
	}
	looked(rc.cur, looks...)
	return rc
}

// TestLooksReplay: whoever judges comes to the same bytes: the live loop, a second
// judge who reads the documents, and each look's verdict agrees with what the
// whole says of it. 1,000 random documents with looks.
func TestLooksReplay(t *testing.T) {
	cases := manyOf(1000)
	stops := map[string]int{}
	for i := range cases {
		r := rand.New(rand.NewPCG(uint64(i), 77))
		rc := newLookedCase(r)
		var b *baseline.Baseline
		if len(rc.stored) > 0 {
			b = stored(rc.stored...)
		}
		p := DefaultPolicy()
		if p.Control = i%2 == 0; p.Control {
			rc.lookedControl(r)
		}
		p.Measured = randomMeasured(r, rc.cur)
		judge := func(d *result.Document) *verdict.Document {
			return judgedInput(t, Input{Current: d, Baseline: b, Budgets: rc.budgets, Policy: p, Command: "perfweir ci"})
		}
		last, d, all := live(t, rc.cur, judge)
		if got, want := asBytes(t, judge(reread(t, d))), asBytes(t, last); !bytes.Equal(got, want) {
			t.Fatalf("case %d: a second judge comes to other bytes", i)
		}
		for look, v := range all {
			agree(t, i, look+1, v, last)
		}
		for i := range last.Findings {
			for _, why := range last.Findings[i].Reasons {
				stops[why]++
			}
		}
		for _, c := range last.Cells {
			if len(rc.cur.Plan.Looks) > 1 {
				stops[c.Stop]++
			}
			if c.Seen != c.Expected() {
				t.Fatalf("case %d: cell %s saw %d of %d repeats", i, c.Name, c.Seen, c.Expected())
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	for _, why := range []string{stopDecided, stopLooks, stopFutility, reasonSlowMachine, reasonFastMachine} {
		if stops[why] < manyOf(20) {
			t.Errorf("cells stopped, and findings were doubted, %v: too few by %s for a test", stops, why)
		}
	}
	if stops[stopTime] > 0 || stops[""] > 0 {
		t.Errorf("cells stopped %v, and all looks were there", stops)
	}
}

// agree holds the verdict at a look against the last one: what had stopped by
// then stands as it stood.
func agree(t *testing.T, n, look int, then, last *verdict.Document) {
	t.Helper()
	after := byName(last)
	for name, f := range byName(then) {
		row := then.Cells[f.Cell]
		if f.Look == 0 || row.Stop == stopTime {
			continue
		}
		g, ok := after[name]
		if !ok || f.Look != g.Look || f.Outcome != g.Outcome || !reflect.DeepEqual(f.P, g.P) || !reflect.DeepEqual(f.PAdjusted, g.PAdjusted) || f.Level != g.Level {
			t.Errorf("case %d, look %d: %s was %s at look %d (p %v), and is %s at look %d (p %v)", n, look, name, f.Outcome, f.Look, f.PAdjusted, g.Outcome, g.Look, g.PAdjusted)
		}
	}
	for i, c := range then.Cells {
		if c.Stop != stopTime && (c.Look != last.Cells[i].Look || c.Stop != last.Cells[i].Stop) {
			t.Errorf("case %d, look %d: cell %s had stopped at look %d by %s, and stops at %d by %s", n, look, c.Name, c.Look, c.Stop, last.Cells[i].Look, last.Cells[i].Stop)
		}
	}
}

func asBytes(t *testing.T, v *verdict.Document) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reread is a document as it comes back from its file.
func reread(t *testing.T, d *result.Document) *result.Document {
	t.Helper()
	var text bytes.Buffer
	if err := result.Encode(&text, d); err != nil {
		t.Fatal(err)
	}
	out, err := result.Decode(&text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lookedControl adds a control cell to the documents of a case with looks. In the
// current one it changes its state in the middle.
func (rc randomCase) lookedControl(r *rand.Rand) {
	n := rc.cur.Plan.Looks[len(rc.cur.Plan.Looks)-1]
	times := func(center, state float64) []float64 {
		return slices.Concat(lognormal(r, center*state, .02, n/2), lognormal(r, center, .02, n-n/2))
	}
	state := []float64{1, 1.1, 1.3, .8}[r.IntN(4)]
	damage(r, withControl(rc.cur, times(.04, state), times(.035, state)))
	looked(rc.cur, rc.cur.Plan.Looks...)
	for _, d := range rc.stored {
		damage(r, withControl(d, lognormal(r, .04, .02, 10), lognormal(r, .035, .02, 10)))
	}
}
