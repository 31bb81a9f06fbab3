package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
)

// budgets checks all entries. One entry with several kinds becomes several
// budgets at one place of the file.
func (c *checker) budgets() []budget.Budget {
	var out []budget.Budget
	for i := range c.f.Budgets.items {
		if bf := &c.f.Budgets.items[i]; bf.usable() {
			out = append(out, c.budget(bf)...)
		}
	}
	for i := range out {
		out[i].ID = i
	}
	return out
}

// limit is one kind of an entry.
type limit struct {
	kind budget.Kind
	*quantity
}

// limits are the kinds that an entry gives.
func (bf *budgetFile) limits() []limit {
	var out []limit
	for _, l := range []limit{
		{budget.Max, &bf.Max}, {budget.Min, &bf.Min}, {budget.MaxRegression, &bf.MaxRegression},
		{budget.MaxIncrease, &bf.MaxIncrease}, {budget.MaxDecrease, &bf.MaxDecrease},
	} {
		if l.given() {
			out = append(out, l)
		}
	}
	return out
}

// budget checks one entry.
func (c *checker) budget(bf *budgetFile) []budget.Budget {
	limits := bf.limits()
	if len(limits) == 0 {
		c.problem(bf.mark, "a budget without a limit", "add max, min, max_regression, max_increase or max_decrease")
	}
	c.uses(bf, limits)
	if !bf.Metric.usable() {
		return nil
	}
	m, known := c.metrics[bf.Metric.text]
	if !known {
		c.problem(bf.Metric.mark, fmt.Sprintf("metric %s is not built in, read or declared", quote(bf.Metric.text)), c.unknownMetric(bf.Metric.text))
		return nil
	}
	scope, ok := c.scope(bf)
	if !ok {
		return nil
	}
	var out []budget.Budget
	for _, l := range limits {
		if !l.usable() {
			continue
		}
		b := c.common(bf, l)
		if c.fill(&b, bf, l, m, scope) {
			out = append(out, b)
		}
	}
	c.order(bf, out)
	return out
}

// unknownMetric says what to do about a metric that nothing produces.
func (c *checker) unknownMetric(name string) string {
	if near := nearest(name, c.metricNames()); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "read it in a benchmark, or declare it under metrics when the program reports it"
}

// uses refuses keys that none of the entry's kinds uses.
func (c *checker) uses(bf *budgetFile, limits []limit) {
	relative, absolute := false, false
	for _, l := range limits {
		relative = relative || l.kind.Relative()
		absolute = absolute || !l.kind.Relative()
	}
	if !relative && !absolute {
		return
	}
	const needsRelative, needsAbsolute = "only max_regression, max_increase and max_decrease use it", "only max and min use it"
	for _, u := range []struct {
		key  string
		v    placed
		used bool
		why  string
	}{
		{"min_delta", &bf.MinDelta, relative, needsRelative},
		{"against", &bf.Against, relative, needsRelative},
		{"statistic", &bf.Statistic, absolute, needsAbsolute},
		{"each_run", &bf.EachRun, absolute, needsAbsolute},
	} {
		if u.v.given() && !u.used {
			c.problem(u.v.at(), fmt.Sprintf("%q has no meaning here: %s", u.key, u.why), "remove it")
		}
	}
}

// common is what all kinds of an entry share.
func (c *checker) common(bf *budgetFile, l limit) budget.Budget {
	b := budget.Budget{
		Metric: bf.Metric.text, Kind: l.kind, Cells: bf.Cells.text, Benchmark: bf.Benchmark.text, Variant: bf.Variant.text,
		Input: bf.Input.text, Part: bf.Part.text, Level: budget.Level(orDefault(bf.Level.given(), bf.Level.text, string(budget.Fail))),
		Text:   fmt.Sprintf("%s: %s", l.kind, l.text),
		Source: budget.Source{Path: c.path, Line: bf.line, Column: bf.column},
	}
	return b
}

// fill sets what depends on the kind.
func (c *checker) fill(b *budget.Budget, bf *budgetFile, l limit, m metric, scope []*bench) bool {
	if l.kind.Relative() {
		return c.relative(b, bf, l, m, scope)
	}
	b.Statistic = bf.Statistic.text
	b.EachRun = orDefault(bf.EachRun.given(), bf.EachRun.v, m.count || b.Metric == result.Check || b.Metric == result.ErrorRate)
	v, err := unit.In(l.text, m.def.Unit)
	if err != nil {
		c.problem(l.mark, fmt.Sprintf("%s: %s", l.kind, c.limitError(l.text, m, err)), limitHint(b.Metric, l, m))
		return false
	}
	b.Limit = v
	return true
}

func (c *checker) limitError(text string, m metric, err error) string {
	if q, parseErr := unit.Parse(text); parseErr == nil && q.Unit == "" {
		return fmt.Sprintf("%s has no unit", quote(text))
	}
	return err.Error()
}

func limitHint(metric string, l limit, m metric) string {
	return fmt.Sprintf("%s is in %s; write for example %s: %s", metric, unit.Name(m.def.Unit), l.kind, exampleLimit(m.def.Unit))
}

func exampleLimit(base string) string {
	switch base {
	case unit.Second:
		return "150ms"
	case unit.Byte:
		return "1.5GiB"
	case unit.Joule:
		return "20J"
	case unit.Watt:
		return "25W"
	case unit.Hertz:
		return "1.5GHz"
	case unit.One:
		return "3 or 5%"
	}
	return "30" + base
}

// relative sets what a budget against a reference needs.
func (c *checker) relative(b *budget.Budget, bf *budgetFile, l limit, m metric, scope []*bench) bool {
	if !c.canCompare(l, b.Metric, m) {
		return false
	}
	amount, err := unit.ParseAmount(l.text, m.def.Unit)
	switch {
	case errors.Is(err, unit.ErrBare):
		c.problem(l.mark, fmt.Sprintf("%s: %s is ambiguous", l.kind, quote(l.text)), "write "+bothSpellings(strings.TrimSpace(l.text)))
		return false
	case err != nil:
		c.problem(l.mark, fmt.Sprintf("%s: %s", l.kind, err), fmt.Sprintf("write a percentage, an amount or both: %s", exampleAmount(m.def.Unit)))
		return false
	}
	b.Limit, b.Amount = amount.Fraction, amount.Absolute
	if bf.MinDelta.usable() {
		if b.MinDelta, err = unit.In(bf.MinDelta.text, m.def.Unit); err != nil || b.MinDelta < 0 || strings.Contains(bf.MinDelta.text, "%") {
			c.problem(bf.MinDelta.mark, fmt.Sprintf("min_delta: %s is not an amount in %s", quote(bf.MinDelta.text), unit.Name(m.def.Unit)),
				"write for example min_delta: "+exampleDelta(m.def.Unit))
			return false
		}
		b.Text += ", min_delta: " + bf.MinDelta.text
	}
	var ok bool
	if b.Against, ok = c.against(&bf.Against, scope); !ok {
		return false
	}
	for _, s := range scope {
		s.repeats = max(s.repeats, repeatsFor(result.Class(m.def.Class)))
	}
	return true
}

// repeatsFor is how many repeats a relative budget on a metric of a class calls for.
func repeatsFor(class result.Class) int {
	switch class {
	case result.Noisy, result.Tail:
		return noisyRepeats
	case result.Counted:
		return countedRepeats
	}
	return 1
}

func exampleAmount(base string) string {
	return "5%, " + exampleDelta(base) + ", 10% + " + exampleDelta(base)
}

func exampleDelta(base string) string {
	switch base {
	case unit.Second:
		return "10ms"
	case unit.Byte:
		return "64KiB"
	case unit.One:
		return "0.5pp"
	}
	return "1" + base
}

// canCompare reports whether a metric can have a relative budget of this kind.
func (c *checker) canCompare(l limit, name string, m metric) bool {
	switch {
	case m.def.Class == string(result.Level):
		c.problem(l.mark, fmt.Sprintf("%s: %q is a level, which is not compared with a reference", l.kind, name), "write an absolute limit: max or min")
	case l.kind == budget.MaxRegression && m.def.Better == "":
		c.problem(l.mark, fmt.Sprintf("max_regression: nobody said which direction of %q is better", name), "add better: lower or better: higher to its definition, or use max_increase or max_decrease")
	default:
		return true
	}
	return false
}

// against checks the reference of a relative budget.
func (c *checker) against(s *str, scope []*bench) (string, bool) {
	if !s.given() {
		return budget.AgainstBaseline, true
	}
	name, isVariant := strings.CutPrefix(s.text, budget.AgainstVariant)
	switch {
	case !s.usable():
		return "", false
	case s.text == budget.AgainstBaseline:
		return s.text, true
	case !isVariant || name == "":
		c.problem(s.mark, fmt.Sprintf("against %s", quote(s.text)), "write baseline, or variant:NAME")
		return "", false
	}
	var all []string
	for _, b := range scope {
		if slices.Contains(b.variants, name) {
			return s.text, true
		}
		all = append(all, named(b.variants)...)
	}
	c.problem(s.mark, fmt.Sprintf("no benchmark of this budget has a variant %s", quote(name)), suggest(name, all))
	return "", false
}

// order refuses a minimum above the maximum: nothing could pass.
func (c *checker) order(bf *budgetFile, made []budget.Budget) {
	if !bf.Max.usable() || !bf.Min.usable() || len(made) < 2 || made[0].Kind != budget.Max || made[1].Kind != budget.Min {
		return
	}
	if made[1].Limit > made[0].Limit {
		c.problem(bf.Min.mark, fmt.Sprintf("min: %s is above max: %s", quote(bf.Min.text), quote(bf.Max.text)), "swap them")
	}
}
