package gate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// One stored session of ten runs around 100, and the current ones around 115, a
// budget of 2 %: an allowance of 10 % makes it a fail, what a self-test knows may not.
func TestMeasuredSpreadDecides(t *testing.T) {
	around := func(centre float64) column {
		v := make([]float64, 10)
		for i := range v {
			v[i] = centre * (1 + 0.001*float64(i%5-2))
		}
		return column{"wall_time": v}
	}
	judge := func(m *Measured) (*verdict.Finding, *verdict.Comparison, *verdict.Document) {
		old, cur := doc("01", 1), doc("02", 0)
		cell(old, "a", "", around(100))
		cell(cur, "a", "", around(115))
		p := DefaultPolicy()
		p.Measured = m
		v, err := Evaluate(Input{Current: cur, Baseline: stored(old), Budgets: []budget.Budget{regression("wall_time", .02)}, Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		f := own(t, v)
		return f, &v.Comparisons[*f.Comparison], v
	}
	a := Column{Digest: "sha256:a", Metric: "wall_time"}
	known := func(c Column, sd float64, repeats int) *Measured {
		return &Measured{By: "self-test of 20 sessions", Spreads: map[Column]MeasuredSpread{c: {stats.SessionSpread{SD: sd, DF: 19}, repeats}}}
	}
	for _, c := range []struct {
		name    string
		m       *Measured
		outcome verdict.Outcome
		design  string
	}{
		{"nothing known", nil, verdict.Fail, verdict.Unpaired},
		{"sessions differ by 1 %", known(a, .01, 10), verdict.Fail, verdict.Sessions},
		{"sessions differ by 10 %", known(a, .10, 10), verdict.Inconclusive, verdict.Sessions},
		{"of another metric", known(Column{Digest: a.Digest, Metric: "cpu_time"}, .10, 10), verdict.Fail, verdict.Unpaired},
		{"of another definition", known(Column{Digest: "sha256:b", Metric: a.Metric}, .10, 10), verdict.Fail, verdict.Unpaired},
		{"of sessions with more repeats", known(a, .10, 20), verdict.Fail, verdict.Unpaired},
		{"no spread at all", known(a, 0, 10), verdict.Fail, verdict.Sessions},
	} {
		f, cmp, v := judge(c.m)
		if f.Outcome != c.outcome || cmp.Design != c.design {
			t.Errorf("%s: %s by %s, want %s by %s", c.name, f.Outcome, cmp.Design, c.outcome, c.design)
		}
		if by := v.Policy.Measured; (c.m == nil) != (by == "") {
			t.Errorf("%s: the verdict says %q", c.name, by)
		}
		if f.Outcome == verdict.Inconclusive && (f.Grade != verdict.Suspect || f.Settle == nil || f.Settle.Sessions != 5 || f.Allowance != 0) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// randomMeasured is, in half of the cases, a self-test that knows some columns of a
// document.
func randomMeasured(r *rand.Rand, d *result.Document) *Measured {
	if r.IntN(2) == 0 {
		return nil
	}
	m := &Measured{By: "self-test of 20 sessions", Spreads: map[Column]MeasuredSpread{}}
	for i := range d.Cells {
		for _, c := range d.Cells[i].Columns {
			if r.IntN(4) > 0 {
				m.Spreads[Column{d.Cells[i].Digest, c.Metric, c.Phase, c.Part}] =
					MeasuredSpread{stats.SessionSpread{SD: .1 * r.Float64(), DF: 1 + r.IntN(30)}, 1 + r.IntN(10)}
			}
		}
	}
	return m
}

// Two stored sessions that differ by 30 % are believed more than a self-test that
// saw 1 %.
func TestStoredSessionsOverruleTheSelftest(t *testing.T) {
	flat := func(v float64) column { return column{"wall_time": {v, v, v, v, v, v, v, v, v, v}} }
	newer, older, cur := doc("02", 1), doc("01", 2), doc("03", 0)
	cell(newer, "a", "", flat(100))
	cell(older, "a", "", flat(130))
	cell(cur, "a", "", flat(130))
	p := DefaultPolicy()
	p.Measured = &Measured{Spreads: map[Column]MeasuredSpread{
		{Digest: "sha256:a", Metric: "wall_time"}: {stats.SessionSpread{SD: .01, DF: 100}, 10}}}
	v, err := Evaluate(Input{Current: cur, Baseline: stored(newer, older), Budgets: []budget.Budget{regression("wall_time", .02)}, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	if f := own(t, v); f.Outcome != verdict.Inconclusive {
		t.Errorf("%s: %s", f.Outcome, f.Message)
	}
}

// Five sessions tell their spread themselves.
func TestEnoughSessionsNeedNoSelftest(t *testing.T) {
	m := compressors(5)
	m.measured = 20
	text := func(measured *Measured) string {
		rng := rand.New(rand.NewPCG(61, 62))
		cur, old, known := m.history(rng, 5, nil)
		if measured == nil {
			known = nil
		}
		p := DefaultPolicy()
		p.Measured = known
		v, err := Evaluate(Input{Current: cur, Baseline: stored(old...), Budgets: []budget.Budget{regression("wall_time", .1)}, Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		v.Policy.Measured = ""
		var text strings.Builder
		if err := verdict.Encode(&text, v); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	if text(nil) != text(&Measured{}) {
		t.Error("a self-test changed what five stored sessions say")
	}
}

// Sessions that agree to the last byte tell nothing below what the metric resolves: of
// 3 MiB that are counted in steps of 128 KiB, 12 % is no proof of more than 10, and 20 % is.
func TestResolutionIsTheLeastSpread(t *testing.T) {
	const name = result.MemoryPeakProcess
	judge := func(step, change float64) *verdict.Finding {
		flat := func(v float64) column { return column{name: {v, v, v, v, v, v, v, v, v, v}} }
		session := func(commit string, days int, v float64) *result.Document {
			d := doc(commit, days)
			cell(d, "a", "", flat(v))
			def := result.Catalogue()[name]
			def.Step = step
			d.Metrics[name] = def
			return d
		}
		var old []*result.Document
		for i := range 6 {
			old = append(old, session(string(rune('a'+i)), i+1, 3<<20))
		}
		v, err := Evaluate(Input{Current: session("now", 0, (3<<20)*(1+change)), Baseline: stored(old...), Budgets: []budget.Budget{regression(name, .1)}, Policy: DefaultPolicy()})
		if err != nil {
			t.Fatal(err)
		}
		return own(t, v)
	}
	for _, c := range []struct {
		step, change float64
		outcome      verdict.Outcome
		least, most  float64 // of the smallest effect
	}{
		{4096, .12, verdict.Fail, .10, .11},
		{32 * 4096, .12, verdict.Inconclusive, .14, .16},
		{32 * 4096, .20, verdict.Fail, .14, .16},
	} {
		f := judge(c.step, c.change)
		if f.Outcome != c.outcome || f.SmallestEffect == nil || *f.SmallestEffect < c.least || *f.SmallestEffect > c.most {
			t.Errorf("step %v, %+.0f %%: %s, want %s: %s", c.step, 100*c.change, f.Outcome, c.outcome, f.Message)
		}
	}
}
