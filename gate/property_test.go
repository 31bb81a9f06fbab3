package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// documents is how many random pairs of documents each property is tried on.
const documents = 150

// randomCase is a random current document, stored sessions and budgets: several
// metrics, variants, failures, absent values, ties, zeros.
type randomCase struct {
	cur     *result.Document
	stored  []*result.Document
	budgets []budget.Budget
	// measured is what a self-test knows, for judgeWith.
	measured *Measured
}

func newRandomCase(r *rand.Rand) randomCase {
	sessions := r.IntN(8)
	n := 1 + r.IntN(12)
	cells := 1 + r.IntN(4)
	seed := r.Uint64()
	make := func(id string, age int, factor float64) *result.Document {
		rr := rand.New(rand.NewPCG(seed, uint64(age)))
		d := doc(id, age)
		for i := range cells {
			for _, variant := range []string{"a", "b"} {
				c := cell(d, fmt.Sprint("bench", i), variant, column{
					"wall_time":   lognormal(rr, 0.1*float64(i+1)*factor, 0.05, n),
					"cpu_time":    rounded(lognormal(rr, 0.2*factor, 0.1, n), 100),
					"throughput":  lognormal(rr, 100/factor, 0.03, n),
					"output_size": repeat(float64(100+i), n),
					"error_rate":  repeat(0, n),
				})
				damage(rr, c)
			}
		}
		return d
	}
	rc := randomCase{cur: make("current", 0, []float64{1, 1, 1.05, 1.3, 2, 0.4}[r.IntN(6)])}
	step := []float64{1, 1, 1.5, 0.6}[r.IntN(4)] // from some session on
	at := r.IntN(8)
	for s := range sessions {
		level := 1 + 0.03*r.NormFloat64()
		if s < at {
			level *= step
		}
		if r.IntN(8) == 0 {
			level *= 3 // an odd one
		}
		rc.stored = append(rc.stored, make(fmt.Sprint("stored", s), s+1, level))
	}
	limit := []float64{0, 0.02, 0.1, 0.25}[r.IntN(4)]
	rc.budgets = []budget.Budget{
		regression("wall_time", limit), regression("cpu_time", limit), regression("throughput", limit),
		regression("output_size", 0), {Metric: "wall_time", Kind: budget.MaxIncrease, Limit: limit, Variant: "a", Against: "variant:b"},
		{Metric: "wall_time", Kind: budget.Max, Limit: 0.3},
	}
	return rc
}

func lognormal(r *rand.Rand, center, cv float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = center * math.Exp(cv*r.NormFloat64())
	}
	return out
}

func rounded(x []float64, steps float64) []float64 {
	for i := range x {
		x[i] = math.Round(x[i]*steps) / steps
	}
	return x
}

// damage makes some runs fail, some values absent.
func damage(r *rand.Rand, c *result.Cell) {
	for i := range c.Runs.Len() {
		switch r.IntN(30) {
		case 0:
			if c.Runs.Status == nil {
				c.Runs.Status = map[int]result.Status{}
			}
			c.Runs.Status[i] = result.Failed
		case 1:
			col := &c.Columns[r.IntN(len(c.Columns))]
			col.V[i] = math.NaN()
			if col.Absent == nil {
				col.Absent = map[int]string{}
			}
			col.Absent[i] = "not_reported"
		}
	}
}

func (rc randomCase) judge(t *testing.T) *verdict.Document {
	t.Helper()
	var b *baseline.Baseline
	if len(rc.stored) > 0 {
		b = stored(rc.stored...)
	}
	return evaluate(t, rc.cur, b, rc.budgets...)
}

func eachCase(t *testing.T, f func(t *testing.T, r *rand.Rand, rc randomCase)) {
	t.Helper()
	for i := range documents {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		f(t, r, newRandomCase(r))
		if t.Failed() {
			t.Fatalf("case %d", i)
		}
	}
}

// byName indexes findings by what they are about, not by position.
func byName(v *verdict.Document) map[string]verdict.Finding {
	out := map[string]verdict.Finding{}
	for _, f := range v.Findings {
		b := v.Budgets[f.Budget]
		out[fmt.Sprint(v.Cells[f.Cell].Name, " ", f.Metric, f.Part, " ", b.Kind, b.Against, b.Limit)] = f
	}
	return out
}

func sameDecision(t *testing.T, a, b *verdict.Document) {
	t.Helper()
	x, y := byName(a), byName(b)
	if len(x) != len(y) || a.Outcome != b.Outcome || a.ExitCode != b.ExitCode {
		t.Fatalf("%d findings %s, then %d findings %s", len(x), a.Outcome, len(y), b.Outcome)
	}
	for name, f := range x {
		g, ok := y[name]
		if !ok || f.Outcome != g.Outcome || f.Grade != g.Grade || !near9(f.P, g.P) {
			t.Errorf("%s: %s %s %s, then %s %s %s", name, f.Outcome, f.Grade, f.Message, g.Outcome, g.Grade, g.Message)
		}
	}
}

func near9(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(*a-*b) <= 1e-9*max(*a, *b)
}

func TestOrderOfRunsAndCellsDoesNotMatter(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		before := rc.judge(t)
		for _, d := range append(rc.stored, rc.cur) {
			r.Shuffle(len(d.Cells), func(i, j int) { d.Cells[i], d.Cells[j] = d.Cells[j], d.Cells[i] })
			for i := range d.Cells {
				shuffleRuns(r, &d.Cells[i])
			}
		}
		sameDecision(t, before, rc.judge(t))
	})
}

func shuffleRuns(r *rand.Rand, c *result.Cell) {
	perm := r.Perm(c.Runs.Len())
	old := c.Runs
	c.Runs = result.Runs{}
	for to, from := range perm {
		c.Runs.Repeat = append(c.Runs.Repeat, old.Repeat[from])
		c.Runs.Block = append(c.Runs.Block, old.Block[from])
		c.Runs.Slot = append(c.Runs.Slot, old.Slot[from])
		c.Runs.Start = append(c.Runs.Start, old.Start[from])
		if s, ok := old.Status[from]; ok {
			if c.Runs.Status == nil {
				c.Runs.Status = map[int]result.Status{}
			}
			c.Runs.Status[to] = s
		}
	}
	for k := range c.Columns {
		col := &c.Columns[k]
		v, absent := col.V, col.Absent
		col.V, col.Absent = make(result.Values, len(v)), nil
		for to, from := range perm {
			col.V[to] = v[from]
			if why, ok := absent[from]; ok {
				if col.Absent == nil {
					col.Absent = map[int]string{}
				}
				col.Absent[to] = why
			}
		}
	}
}

// TestUnitScaleDoesNotMatter: the same numbers in another unit, limits with them.
func TestUnitScaleDoesNotMatter(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		before := rc.judge(t)
		const scale = 1024 // a power of two: products stay exact
		for _, d := range append(rc.stored, rc.cur) {
			for m, def := range d.Metrics {
				def.Step *= scale
				d.Metrics[m] = def
			}
			for i := range d.Cells {
				for k := range d.Cells[i].Columns {
					for j := range d.Cells[i].Columns[k].V {
						d.Cells[i].Columns[k].V[j] *= scale
					}
				}
			}
		}
		for i := range rc.budgets {
			if !rc.budgets[i].Kind.Relative() {
				rc.budgets[i].Limit *= scale
			}
		}
		after := rc.judge(t)
		for i := range after.Budgets { // names of findings hold the limit
			if !after.Budgets[i].Kind.Relative() && !after.Budgets[i].Implicit {
				after.Budgets[i].Limit /= scale
			}
		}
		sameDecision(t, before, after)
	})
}

// TestSwapOfSides: what fails by its numbers one way passes the other way.
func TestSwapOfSides(t *testing.T) {
	swapped := 0
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		if len(rc.stored) == 0 {
			return
		}
		rc.stored = rc.stored[:1]
		there := byName(rc.judge(t))
		rc.cur, rc.stored[0] = rc.stored[0], rc.cur
		back := byName(rc.judge(t))
		for name, f := range there {
			if f.P == nil || f.Outcome != verdict.Fail || f.Metric == "error_rate" {
				continue
			}
			g := back[name]
			if g.Comparison == nil || g.Metric != f.Metric {
				continue
			}
			if b := rc.budgets[4]; f.Metric == b.Metric && f.Message != "" && g.P != nil && f.Allowance == 0 {
				continue // against a variant: swapping documents does not swap its sides
			}
			swapped++
			if g.Outcome != verdict.Pass && g.Outcome != verdict.Suspicious {
				t.Errorf("%s fails one way and is %s the other: %s / %s", name, g.Outcome, f.Message, g.Message)
			}
		}
	})
	if swapped == 0 {
		t.Fatal("no finding was tried")
	}
}

// TestMonotoneInTheBudget: a wider budget never makes a finding worse.
func TestMonotoneInTheBudget(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		rc.budgets = rc.budgets[:1] // one budget: the family stays the same
		var last map[string]verdict.Finding
		for _, limit := range []float64{0, 0.01, 0.05, 0.1, 0.3, 1, 3} {
			rc.budgets[0].Limit = limit
			v := rc.judge(t)
			now := map[string]verdict.Finding{}
			for _, f := range v.Findings {
				if !v.Budgets[f.Budget].Implicit {
					now[v.Cells[f.Cell].Name] = f
				}
			}
			for name, f := range now {
				g, ok := last[name]
				if ok && rank(f) < rank(g) {
					t.Errorf("%s at %v is %s %s, worse than %s %s at a smaller budget", name, limit, f.Outcome, f.Grade, g.Outcome, g.Grade)
				}
			}
			last = now
		}
	})
}

// rank orders decisions about one comparison, worst first. Suspicious is a pass
// by the numbers.
func rank(f verdict.Finding) int {
	switch {
	case f.Outcome == verdict.Fail:
		return 0
	case f.Grade == verdict.Suspect:
		return 1
	case f.Grade == verdict.Unproven:
		return 2
	}
	return 3
}

// TestNothingNeverPasses: NaN, Inf and nothing have no pass in them.
func TestNothingNeverPasses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	values := map[string][]float64{
		"absent": {nan, nan, nan, nan, nan}, "infinite": {inf, inf, inf, inf, inf}, "minus infinity": {-inf, -inf, -inf, -inf, -inf},
		"mixed": {nan, inf, nan, -inf, nan},
	}
	good := around(1, 0.01, 5, 1)
	for name, bad := range values {
		for _, b := range []budget.Budget{regression("wall_time", 0.5), {Metric: "wall_time", Kind: budget.Max, Limit: 10}, {Metric: "wall_time", Kind: budget.Min, Limit: 0},
			{Metric: "wall_time", Kind: budget.MaxDecrease, Limit: 0.5}} {
			cur, ref := doc("02", 0), doc("01", 1)
			cell(cur, "x", "", column{"wall_time": bad, "cpu_time": good})
			cell(ref, "x", "", column{"wall_time": good, "cpu_time": good})
			f := own(t, evaluate(t, cur, stored(ref), b))
			if f.Outcome != verdict.NoData {
				t.Errorf("%s current under %s: %s (%s), want no_data", name, b.Kind, f.Outcome, f.Message)
			}
			if b.Kind.Relative() {
				f = own(t, evaluate(t, ref, stored(cur), b))
				if f.Outcome == verdict.Pass {
					t.Errorf("%s reference under %s passes: %s", name, b.Kind, f.Message)
				}
			}
		}
	}
	empty := doc("02", 0)
	if v := evaluate(t, empty, nil); v.Outcome != verdict.NoData || v.ExitCode != ExitUndecided {
		t.Errorf("a document without cells is %s, exit %d", v.Outcome, v.ExitCode)
	}
}

// TestSameBytesAtAnyParallelism: DESIGN rule 14.
func TestSameBytesAtAnyParallelism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		rc.randomControl(r)
		rc.measured = randomMeasured(r, rc.cur)
		var want []byte
		for _, procs := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(procs)
			got, err := json.Marshal(rc.judgeWith(t, true))
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Fatalf("other bytes at GOMAXPROCS %d", procs)
			}
		}
	})
}
