package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
)

// sampleMetric is one of the metrics that a reader of samples gives: METRIC_p50
// and so on.
type sampleMetric struct {
	suffix string
	class  result.Class
}

// sampleMetrics are those that the catalogue has for latency.
func sampleMetrics() []sampleMetric {
	return []sampleMetric{
		{"min", result.Noisy}, {"mean", result.Noisy}, {"p50", result.Tail}, {"p90", result.Tail},
		{"p95", result.Tail}, {"p99", result.Tail}, {"p999", result.Tail}, {"max", result.Tail},
	}
}

// readers checks the readers of one benchmark.
func (c *checker) readers(b *bench) []plan.Read {
	var out []plan.Read
	seen := map[string]int{}
	for i := range b.file.Read.items {
		rf := &b.file.Read.items[i]
		if !rf.usable() || !c.readKind(rf) {
			continue
		}
		if rf.Format.given() {
			out = c.format(out, rf, seen)
			continue
		}
		if key := rf.Metric.text + "\x00" + rf.Part.text; rf.Metric.usable() {
			if line := seen[key]; line > 0 {
				c.problem(rf.Metric.mark, fmt.Sprintf("metric %q is read twice", rf.Metric.text), fmt.Sprintf("give one another name or part; the first is on line %d", line))
				continue
			}
			seen[key] = rf.Metric.line
		}
		if rd, ok := c.reader1(b, rf); ok {
			out = append(out, rd)
		}
	}
	return out
}

// format is a reader of a known tool's output. The tool says what its metrics
// are; those that are not of the catalogue are defined under metrics.
func (c *checker) format(out []plan.Read, rf *readFile, seen map[string]int) []plan.Read {
	from := orDefault(rf.From.given(), rf.From.text, "stdout")
	if line := seen["\x00"+from]; line > 0 {
		c.problem(rf.mark, fmt.Sprintf("%s is read twice by a format", quote(from)), fmt.Sprintf("remove one; the first is on line %d", line))
		return out
	}
	seen["\x00"+from] = rf.line
	return append(out, plan.Read{Format: rf.Format.text, From: rf.From.text})
}

// readKind checks that a reader has one kind, and only keys that this kind uses.
func (c *checker) readKind(rf *readFile) bool {
	kinds := map[string]*str{"format": &rf.Format, "pattern": &rf.Pattern, "count": &rf.Count, "samples": &rf.Samples, "checks": &rf.Checks}
	var have []string
	for _, k := range []string{"format", "pattern", "count", "samples", "checks"} {
		if kinds[k].given() {
			have = append(have, k)
		}
	}
	if len(have) != 1 {
		c.problem(rf.mark, fmt.Sprintf("a reader has %d of format, pattern, count, samples and checks", len(have)), "keep one of them")
		return false
	}
	ok := true
	for _, u := range []struct {
		key  string
		s    *str
		used string // kinds that use it
	}{
		{"metric", &rf.Metric, "pattern count samples"}, {"from", &rf.From, "format pattern count"}, {"unit", &rf.Unit, "pattern samples"},
		{"per", &rf.Per, "pattern samples"}, {"better", &rf.Better, "pattern count samples"}, {"class", &rf.Class, "pattern count"},
		{"part", &rf.Part, "pattern count samples"}, {"statistic", &rf.Statistic, "pattern"},
	} {
		if u.s.given() && !containsWord(u.used, have[0]) {
			c.problem(u.s.mark, fmt.Sprintf("%q has no meaning beside %q", u.key, have[0]), needlessHint(u.key, have[0]))
			ok = false
		}
	}
	if containsWord("pattern count samples", have[0]) && !rf.Metric.given() {
		c.problem(rf.mark, fmt.Sprintf("a reader with %q has no metric", have[0]), "add metric: NAME")
		ok = false
	}
	return ok && kinds[have[0]].usable()
}

// needlessHint says what to do about a key that a kind of reader does not use.
func needlessHint(key, kind string) string {
	if kind == "format" && key != "part" && key != "statistic" {
		return "remove it; the tool names its metrics, and one of its own is defined under metrics at the top of the file"
	}
	return "remove it"
}

func containsWord(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// reader1 turns one reader of one kind into the plan's.
func (c *checker) reader1(b *bench, rf *readFile) (plan.Read, bool) {
	out := plan.Read{
		Metric: rf.Metric.text, Part: rf.Part.text, Pattern: rf.Pattern.text, Count: rf.Count.text,
		Samples: rf.Samples.text, Checks: rf.Checks.text, From: rf.From.text, Statistic: rf.Statistic.text,
	}
	if rf.Checks.given() {
		b.own[result.Check] = true
		return out, true
	}
	c.expression(&rf.Pattern, true)
	c.expression(&rf.Count, false)
	if !c.metricName(&rf.Metric) {
		return out, false
	}
	if rf.Unit.given() && (!rf.Unit.usable() || !c.unitWord(&rf.Unit)) {
		return out, false
	}
	ok := false
	switch {
	case rf.Samples.given():
		ok = c.samples(b, rf, &out)
	case rf.Count.given():
		ok = c.count(b, rf, &out)
	default:
		ok = c.pattern(b, rf, &out)
	}
	return out, ok
}

// expression checks that a regular expression compiles and has one number.
func (c *checker) expression(s *str, group bool) {
	if !s.usable() {
		return
	}
	e, err := regexp.Compile(s.text)
	if err != nil {
		c.problem(s.mark, fmt.Sprintf("%s is not a regular expression: %s", quote(s.text), expressionError(err)), "use RE2 syntax, and single quotes so that YAML keeps backslashes")
		return
	}
	if group && e.NumSubexp() > 1 {
		c.problem(s.mark, fmt.Sprintf("%s has %d groups", quote(s.text), e.NumSubexp()), "keep one group round the number and write the others as (?:...)")
	}
}

// expressionError is RE2's message alone; it may quote the expression, which is
// text of the file.
func expressionError(err error) string {
	message := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	return strings.Trim(strconv.Quote(message), `"`)
}

// known returns the definition that a name has before any reader: the
// catalogue's or the table's.
func (c *checker) known(name string) (metric, bool) {
	m, ok := c.metrics[name]
	return m, ok && m.origin != ofReader
}

// pattern defines the metric of a pattern.
func (c *checker) pattern(b *bench, rf *readFile, out *plan.Read) bool {
	return c.define(b, rf, rf.Metric.text, metric{def: c.written(rf, result.Noisy), origin: ofReader, mark: rf.Metric.mark}, out)
}

// count defines the metric of a count, exact unless told otherwise, and its rate.
func (c *checker) count(b *bench, rf *readFile, out *plan.Read) bool {
	def := c.written(rf, result.Exact)
	m := metric{def: def, origin: ofReader, mark: rf.Metric.mark, count: true}
	if !c.define(b, rf, rf.Metric.text, m, out) {
		return false
	}
	counted := c.metrics[rf.Metric.text]
	counted.count = true
	c.metrics[rf.Metric.text] = counted
	rate := metric{origin: ofReader, mark: rf.Metric.mark}
	rate.def = plan.MetricDef{Unit: counted.def.Unit + "/s", Per: counted.def.Per, Better: counted.def.Better, Class: string(result.Noisy)}
	name := rf.Metric.text + "_per_second"
	b.own[name] = true
	return c.add(name, rate)
}

// samples defines the percentiles of a file of samples. Def is the samples' own
// definition; the percentiles' classes follow from their names.
func (c *checker) samples(b *bench, rf *readFile, out *plan.Read) bool {
	written := c.written(rf, result.Noisy)
	for _, s := range sampleMetrics() {
		m := metric{def: written, origin: ofReader, mark: rf.Metric.mark}
		m.def.Class = string(s.class)
		if !c.define(b, rf, rf.Metric.text+"_"+s.suffix, m, out) {
			return false // the others would fail alike
		}
	}
	if out.Def != nil {
		out.Def.Class = string(result.Noisy)
	}
	return true
}

// written is the definition that a reader's own keys give.
func (c *checker) written(rf *readFile, class result.Class) plan.MetricDef {
	base, _ := unit.Base(orDefault(rf.Unit.given(), rf.Unit.text, unit.One))
	return plan.MetricDef{
		Unit: base, Per: rf.Per.text,
		Better: orDefault(rf.Better.usable(), rf.Better.text, result.BetterOf(base)),
		Class:  orDefault(rf.Class.usable(), rf.Class.text, string(class)),
	}
}

// define settles what a metric that a reader gives is. A name of the catalogue
// or the table keeps that definition: the reader may only say the unit it reads.
func (c *checker) define(b *bench, rf *readFile, name string, m metric, out *plan.Read) bool {
	_, factor := unit.Base(orDefault(rf.Unit.given(), rf.Unit.text, unit.One))
	if factor != 1 {
		out.Scale = factor
	}
	b.own[name] = true
	known, isKnown := c.known(name)
	if !isKnown {
		def := m.def
		out.Def = &def
		return c.add(name, m)
	}
	if known.origin == ofTable {
		def := known.def
		out.Def = &def
	}
	return c.agrees(rf, name, known)
}

// agrees checks a reader's keys against a definition that exists.
func (c *checker) agrees(rf *readFile, name string, known metric) bool {
	base, _ := unit.Base(rf.Unit.text)
	switch {
	case known.measured:
		c.problem(rf.Metric.mark, fmt.Sprintf("%q is measured by perfweir itself", name), "give what is read another name")
	case rf.Unit.given() && base != known.def.Unit:
		c.problem(rf.Unit.mark, fmt.Sprintf("%q is in %s, not in %q", name, unit.Name(known.def.Unit), rf.Unit.text), "use a unit of that kind, or another metric name")
	case !rf.Unit.given() && known.def.Unit != unit.One && !rf.Count.given():
		c.problem(rf.Metric.mark, fmt.Sprintf("the unit of the numbers for %q is not said", rf.Metric.text), "add unit, for example unit: "+exampleUnit(known.def.Unit))
	case rf.Count.given() && known.def.Unit != unit.One:
		c.problem(rf.Metric.mark, fmt.Sprintf("%q is in %s, not a count", name, unit.Name(known.def.Unit)), "use another metric name")
	case rf.Per.given() && rf.Per.text != known.def.Per:
		c.problem(rf.Per.mark, fmt.Sprintf("%q is defined already, without per %q", name, rf.Per.text), "remove it, or use another metric name")
	case rf.Better.usable() && rf.Better.text != known.def.Better:
		c.problem(rf.Better.mark, fmt.Sprintf("%q is defined already, with another direction", name), "remove it, or use another metric name")
	case rf.Class.usable() && rf.Class.text != known.def.Class:
		c.problem(rf.Class.mark, fmt.Sprintf("%q is defined already, as %s", name, known.def.Class), "remove it, or use another metric name")
	default:
		return true
	}
	return false
}

func exampleUnit(base string) string {
	switch base {
	case unit.Second:
		return "ms"
	case unit.Byte:
		return "KiB"
	}
	return base
}
