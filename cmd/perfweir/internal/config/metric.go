package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
)

// origin is where a metric's definition comes from.
type origin int

const (
	ofCatalogue origin = iota
	ofTable            // the suite file's metrics
	ofReader           // a benchmark's read or expect
)

// metric is a definition and what budgets need to know about it.
type metric struct {
	def    plan.MetricDef
	origin origin
	// measured metrics are perfweir's own; a reader must not write them.
	measured bool
	count    bool // a number of matches: limits hold for each run
	mark     mark // of the first definition in the file
}

// builtin is the catalogue as metrics.
func builtin() map[string]metric {
	out := map[string]metric{}
	for name, m := range result.Catalogue() {
		out[name] = metric{
			def:      plan.MetricDef{Unit: m.Unit, Per: m.Per, Better: m.Better, Class: string(m.Class)},
			measured: m.Source != "report",
		}
	}
	return out
}

// metricName is snake_case, as the catalogue's names are.
var metricName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func (c *checker) metricName(s *str) bool {
	if !s.usable() {
		return false
	}
	if !metricName.MatchString(s.text) || len(s.text) > 100 {
		c.problem(s.mark, fmt.Sprintf("metric name %s is not in snake_case", quote(s.text)), "use small letters, digits and single underscores, for example decode_rate")
		return false
	}
	return true
}

// declare checks the table of metrics that programs report themselves.
func (c *checker) declare() map[string]plan.MetricDef {
	var out map[string]plan.MetricDef
	for i := range c.f.Metrics.items {
		name, m := &c.f.Metrics.names[i], &c.f.Metrics.items[i]
		if !c.metricName(name) || !m.usable() {
			continue
		}
		if _, exists := c.metrics[name.text]; exists {
			c.problem(name.mark, fmt.Sprintf("%q is a built-in metric", name.text), "remove the definition, or choose another name")
			continue
		}
		def := plan.MetricDef{Unit: m.Unit.text, Per: m.Per.text, Better: m.Better.text, Class: orDefault(m.Class.given(), m.Class.text, string(result.Noisy))}
		if base, _ := unit.Base(def.Unit); m.Unit.usable() && base != def.Unit && c.unitWord(&m.Unit) {
			c.problem(m.Unit.mark, fmt.Sprintf("%q is not a base unit", def.Unit), fmt.Sprintf("write %q; programs say in which unit they report", base))
		}
		def.Better = orDefault(def.Better == "", result.BetterOf(def.Unit), def.Better)
		c.metrics[name.text] = metric{def: def, origin: ofTable, mark: name.mark}
		if out == nil {
			out = map[string]plan.MetricDef{}
		}
		out[name.text] = def
	}
	return out
}

// unitWord reports whether a unit can be one: a word without blanks.
func (c *checker) unitWord(s *str) bool {
	q, err := unit.Parse("1" + s.text)
	if err != nil || strings.ContainsFunc(s.text, func(r rune) bool { return !unicode.IsPrint(r) }) || q.Unit != s.text && s.text != unit.One || len(s.text) > 32 {
		c.problem(s.mark, fmt.Sprintf("%s is not a unit", quote(s.text)), "write one word, for example ms, MiB, tok/s or frames")
		return false
	}
	return true
}

// add notes that a reader produces a metric. Two definitions of one name must be
// the same, since the document has one table.
func (c *checker) add(name string, m metric) bool {
	old, exists := c.metrics[name]
	if !exists {
		c.metrics[name] = m
		return true
	}
	if old.def == m.def {
		old.count = old.count || m.count
		c.metrics[name] = old
		return true
	}
	where := "the built-in one"
	if old.mark.given() {
		where = fmt.Sprintf("the one on line %d", old.mark.line)
	}
	c.problem(m.mark, fmt.Sprintf("metric %q is %s here, but %s is %s", name, inWords(m.def), where, inWords(old.def)), "use one definition, or two names")
	return false
}

// inWords is a definition in words, for a message.
func inWords(d plan.MetricDef) string {
	per, better := "", "no direction"
	if d.Per != "" {
		per = " per " + d.Per
	}
	if d.Better != "" {
		better = d.Better + " is better"
	}
	return fmt.Sprintf("in %q%s, %s, %s", d.Unit, per, d.Class, better)
}

// metricNames are all names that a budget may use, in order.
func (c *checker) metricNames() []string {
	names := make([]string, 0, len(c.metrics))
	for n := range c.metrics {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
