package selftest

import (
	"maps"
	"math"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Trial is one session that was slowed down on purpose, judged.
type Trial struct {
	Verdict *verdict.Document
	// Injected are the names of the cells that were, and the share of Amount.Of that was
	// injected; 0 for an amount that is no share.
	Injected map[string]float64
}

// Injected are the trials of one injection.
type Injected struct {
	Amount Amount
	Trials []Trial
}

// Measured is what a self-test came to.
type Measured struct {
	Sessions []*result.Document  // unchanged, in time order
	Stored   []*verdict.Document // each judged against those before it
	Pairs    []*verdict.Document // each second one against the one before it
	Injected []Injected
}

// Budgets are what is put before a suite's own budgets, so that every metric that
// varies is compared, budget or not. They gate nothing and are in no family.
func Budgets(d *result.Document) []budget.Budget {
	var out []budget.Budget
	for _, name := range slices.Sorted(maps.Keys(d.Metrics)) {
		m := d.Metrics[name]
		if m.Class != result.Noisy && m.Class != result.Tail && m.Class != result.Counted {
			continue
		}
		b := budget.Budget{Metric: name, Kind: budget.MaxRegression, Limit: 0.05, Level: budget.Info, Against: budget.AgainstBaseline, Text: "max_regression: 5%"}
		if m.Better == "" {
			b.Kind, b.Text = budget.MaxIncrease, "max_increase: 5%"
		}
		out = append(out, b)
	}
	return out
}

// Fill puts rates, resolutions and detections into a document whose circumstances
// are known.
func (d *Document) Fill(m Measured) {
	d.Stored, d.Pairs = rateOf(m.Stored), rateOf(m.Pairs)
	d.Metrics = metricsOf(m, d.MinSessions)
	d.Injections = nil
	for _, in := range m.Injected {
		d.Injections = append(d.Injections, injectionOf(in))
	}
}

// gated calls f for every gated finding against stored sessions.
func gated(v *verdict.Document, f func(*verdict.Finding, *verdict.Comparison)) {
	for i := range v.Findings {
		x := &v.Findings[i]
		if x.Comparison == nil || !x.Gated {
			continue
		}
		if c := &v.Comparisons[*x.Comparison]; c.Against == budget.AgainstBaseline {
			f(x, c)
		}
	}
}

func rateOf(verdicts []*verdict.Document) Rate {
	r := Rate{Trials: len(verdicts)}
	for _, v := range verdicts {
		before := r.Fails
		gated(v, func(f *verdict.Finding, _ *verdict.Comparison) {
			r.Findings++
			switch {
			case f.Outcome == verdict.Fail:
				r.Fails++
			case f.Grade == verdict.Suspect:
				r.Suspects++
			case f.Grade == verdict.Unproven:
				r.Unproven++
			}
		})
		if r.Fails > before {
			r.Hits++
		}
	}
	r.Interval = interval(r.Hits, r.Trials)
	return r
}

// interval is the exact two-sided 95 % interval of a rate.
func interval(hits, trials int) [2]float64 {
	low, high, err := stats.ProportionBounds(hits, trials, 0.025)
	if err != nil {
		return [2]float64{0, 1}
	}
	return [2]float64{low, high}
}

func metricsOf(m Measured, minSessions int) []Metric {
	byName := map[string]*Metric{}
	pairs, stored := map[string]*effects{}, map[string]*effects{}
	for _, v := range m.Pairs {
		collectEffects(pairs, v, 0)
	}
	for _, v := range m.Stored {
		collectEffects(stored, v, minSessions)
	}
	spreads, control := spreadsOf(m.Sessions, false), spreadsOf(m.Sessions, true)
	for _, from := range []map[string]*effects{pairs, stored} {
		for name, e := range from {
			if byName[name] == nil {
				byName[name] = &Metric{Name: name, Class: string(e.class), Cells: len(e.cells)}
			}
		}
	}
	var out []Metric
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		r := byName[name]
		r.Pairs, r.Stored = pairs[name].resolution(), stored[name].resolution()
		r.Spread, r.Columns = spreads[name].pooled(), spreads[name].each()
		r.Control = control[name].each()
		out = append(out, *r)
	}
	return out
}

// effects are the comparisons of one metric.
type effects struct {
	class   result.Class
	sizes   []float64 // |log ratio|
	budgets []float64 // least budgets that would have been proved to hold
	cells   map[int]bool
}

// collectEffects takes each comparison with at least so many stored sessions.
func collectEffects(into map[string]*effects, v *verdict.Document, sessions int) {
	for i := range v.Comparisons {
		c := &v.Comparisons[i]
		if c.Against != budget.AgainstBaseline || c.Ratio == nil || *c.Ratio <= 0 || c.Sessions < sessions {
			continue
		}
		def := v.Metrics[c.Metric]
		e := into[c.Metric]
		if e == nil {
			e = &effects{class: def.Class, cells: map[int]bool{}}
			into[c.Metric] = e
		}
		e.cells[c.Cell] = true
		e.sizes = append(e.sizes, math.Abs(math.Log(*c.Ratio)))
		if c.RatioInterval == nil {
			continue
		}
		least := c.RatioInterval[1] - 1
		if def.Better == result.Higher {
			least = 1 - c.RatioInterval[0]
		}
		e.budgets = append(e.budgets, max(0, least))
	}
}

func (e *effects) resolution() *Resolution {
	if e == nil {
		return nil
	}
	r := &Resolution{Comparisons: len(e.sizes), Largest: math.Expm1(slices.Max(e.sizes))}
	if p, err := stats.Percentile(e.sizes, 0.95); err == nil {
		p = math.Expm1(p)
		r.Floor = &p
	}
	if p, err := stats.Percentile(e.budgets, 0.9); err == nil {
		r.Budget = &p
	}
	return r
}

func injectionOf(in Injected) Injection {
	out := Injection{Text: in.Amount.Text, Kind: in.Amount.Kind, Sessions: len(in.Trials), Elsewhere: map[string]Count{}}
	byMetric := map[string]*Detection{}
	ratios, shares := map[string][]float64{}, []float64{}
	for _, t := range in.Trials {
		gated(t.Verdict, func(f *verdict.Finding, c *verdict.Comparison) {
			share, injected := t.Injected[t.Verdict.Cells[f.Cell].Name]
			if !injected {
				n := out.Elsewhere[f.Metric]
				n.add(f)
				out.Elsewhere[f.Metric] = n
				return
			}
			d := byMetric[f.Metric]
			if d == nil {
				d = &Detection{Metric: f.Metric, Moves: Moves(in.Amount.Kind, f.Metric)}
				byMetric[f.Metric] = d
			}
			d.add(f)
			if c.Ratio != nil {
				ratios[f.Metric] = append(ratios[f.Metric], *c.Ratio)
			}
			if share > 0 && f.Metric == in.Amount.Of() {
				shares = append(shares, 1+share)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(byMetric)) {
		d := byMetric[name]
		d.Rate = interval(d.Fails, d.Findings)
		if r := ratios[name]; len(r) > 0 {
			least := slices.Min(r)
			d.MinRatio = &least
			if med, err := stats.Median(r); err == nil {
				d.Ratio = &med
			}
		}
		if med, err := stats.Median(shares); err == nil && name == in.Amount.Of() {
			d.Injected = &med
		}
		out.Metrics = append(out.Metrics, *d)
	}
	return out
}

func (n *Count) add(f *verdict.Finding) {
	n.Findings++
	switch {
	case f.Outcome == verdict.Fail:
		n.Fails++
	case f.Grade == verdict.Suspect:
		n.Suspects++
	}
}

// Typical is the median over sessions of a cell's median of a metric; 0 when it
// was not measured.
func Typical(docs []*result.Document, id result.ID, metric string) float64 {
	var medians []float64
	for _, d := range docs {
		for i := range d.Cells {
			c := &d.Cells[i]
			if c.ID() != id {
				continue
			}
			for k := range c.Columns {
				if col := &c.Columns[k]; col.Metric == metric && col.Phase == "" && col.Part == "" {
					if m, err := stats.Median(c.Runs.ValuesOf(col, c.Runs.Clean(), 0)); err == nil {
						medians = append(medians, m)
					}
				}
			}
		}
	}
	m, err := stats.Median(medians)
	if err != nil {
		return 0
	}
	return m
}

// Effect is the relative change of a metric of a cell that the gate would call a
// fail with probability 0.9: what it says in the newest session that it judged,
// and where it says nothing (of what passed), by the same rule from the spread
// between the sessions so far. 0 where nothing is known of it.
func (m *Measured) Effect(cell, metric string) float64 {
	if len(m.Stored) == 0 {
		return 0
	}
	v := m.Stored[len(m.Stored)-1]
	effect := 0.0
	gated(v, func(f *verdict.Finding, c *verdict.Comparison) {
		if f.Metric != metric || v.Cells[f.Cell].Name != cell {
			return
		}
		if f.SmallestEffect != nil {
			effect = *f.SmallestEffect
			return
		}
		spread := spreadsOf(m.Sessions, false)[metric].pooled()
		if spread == nil || f.Allowed == nil || !(c.Reference > 0) {
			return
		}
		level := stats.LookLevel(v.Policy.FalseAlarms, len(v.Policy.Looks)) / float64(max(1, v.Policy.Family))
		shift, ok := new(stats.Tables).SmallestShiftSessions(spread.SD, spread.DF, max(1, c.Sessions), 1, level)
		if !ok {
			return
		}
		if x, ok := stats.IncreaseBeyond(math.Abs(*f.Allowed/c.Reference-1), shift); ok {
			effect = x
		}
	})
	return effect
}
