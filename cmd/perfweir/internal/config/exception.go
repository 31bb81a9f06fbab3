package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
)

// acceptedFile is an entry of accepted.
type acceptedFile struct {
	mark   `what:"an accepted change"`
	Metric str      `key:"metric" required:"true" doc:"The metric that got worse."`
	Limit  quantity `key:"limit" required:"true" doc:"How much worse than the baseline it may be: 12%, 10ms or both. A bare number is refused."`
	scopeKeys
	Reason  str  `key:"reason" required:"true" doc:"Why it is taken; shown in every report."`
	Expires date `key:"expires" required:"true" doc:"Last day on which it counts (UTC): 2027-03-01."`
}

// quarantineFile is an entry of quarantine.
type quarantineFile struct {
	mark   `what:"a quarantine"`
	Metric str `key:"metric" doc:"This metric alone. The default is every metric of the cells, and whether they ran."`
	scopeKeys
	Reason  str  `key:"reason" required:"true" doc:"Why it does not count; shown in every report."`
	Expires date `key:"expires" required:"true" doc:"Last day on which it counts (UTC): 2027-03-01."`
}

// date is a day. Whether it is past is never asked here: that depends on the
// session that is judged.
type date struct {
	mark
	text string
}

func (x *date) read(r *reader, n *yaml.Node, s spot) {
	if _, err := time.Parse(budget.DateLayout, n.Value); n.Kind != yaml.ScalarNode || err != nil {
		r.wrong(n, x, s, "a day", "write it as 2027-03-01: year, month, day")
		return
	}
	x.text = n.Value
}

func (x *date) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}`}
}

// accepted checks the accepted changes.
func (c *checker) accepted() []budget.Exception {
	var out []budget.Exception
	for i := range c.f.Accepted.items {
		af := &c.f.Accepted.items[i]
		if !af.usable() {
			continue
		}
		x, m, ok := c.exception(&af.Metric, &af.scopeKeys, &af.Reason, &af.Expires)
		if !ok || !af.Limit.usable() || !c.canAccept(af, m) {
			continue
		}
		amount, err := unit.ParseAmount(af.Limit.text, m.def.Unit)
		switch {
		case errors.Is(err, unit.ErrBare):
			c.problem(af.Limit.mark, fmt.Sprintf("limit: %s is ambiguous", quote(af.Limit.text)), "write "+bothSpellings(strings.TrimSpace(af.Limit.text)))
			continue
		case err != nil:
			c.problem(af.Limit.mark, fmt.Sprintf("limit: %s", err), "write a percentage, an amount or both: "+exampleAmount(m.def.Unit))
			continue
		}
		x.Limit, x.Amount, x.Text = amount.Fraction, amount.Absolute, strings.TrimSpace(af.Limit.text)
		x.Source = budget.Source{Path: c.path, Line: af.line, Column: af.column}
		out = append(out, x)
	}
	return out
}

// canAccept reports whether a change of the metric can be accepted: it has to be
// one that a relative budget may judge.
func (c *checker) canAccept(af *acceptedFile, m metric) bool {
	if m.def.Class == string(result.Level) {
		c.problem(af.Metric.mark, fmt.Sprintf("%s is a level, which has no change to accept", quote(af.Metric.text)), "change its budget, or write a quarantine")
		return false
	}
	return true
}

// quarantine checks the quarantines. One of everything would be a gate that is
// switched off.
func (c *checker) quarantine() []budget.Exception {
	var out []budget.Exception
	for i := range c.f.Quarantine.items {
		qf := &c.f.Quarantine.items[i]
		if !qf.usable() {
			continue
		}
		x, _, ok := c.exception(&qf.Metric, &qf.scopeKeys, &qf.Reason, &qf.Expires)
		if !ok {
			continue
		}
		if !x.Narrow() {
			c.problem(qf.mark, "a quarantine of the whole suite", "add cells, benchmark, variant or input")
			continue
		}
		x.Source = budget.Source{Path: c.path, Line: qf.line, Column: qf.column}
		out = append(out, x)
	}
	return out
}

// exception checks what both kinds of entries have. ok is false where something
// is wrong with what the entry is about.
func (c *checker) exception(name *str, s *scopeKeys, reason *str, expires *date) (x budget.Exception, m metric, ok bool) {
	x = budget.Exception{Metric: name.text, Part: s.Part.text, Cells: s.Cells.text, Benchmark: s.Benchmark.text, Variant: s.Variant.text,
		Input: s.Input.text, Reason: reason.text, Expires: expires.text}
	c.name(reason, "reason")
	bf := &budgetFile{Metric: *name, scopeKeys: *s}
	if !name.given() {
		bf.Metric.text = result.WallTime // which every benchmark gives
	} else {
		known := false
		if m, known = c.metrics[name.text]; name.usable() && !known {
			c.problem(name.mark, fmt.Sprintf("metric %s is not built in, read or declared", quote(name.text)), c.unknownMetric(name.text))
		}
		if !name.usable() || !known {
			return x, m, false
		}
	}
	_, ok = c.scope(bf)
	return x, m, ok && reason.usable() && expires.usable()
}

// defaultAcceptLabel is the label that lets a pull request's own suite file count.
const defaultAcceptLabel = "perfweir-accept"

// acceptLabel checks the name of the label: one that GitHub can have.
func (c *checker) acceptLabel() string {
	s := &c.f.Gate.AcceptLabel
	if !s.usable() || !c.name(s, "label") {
		return defaultAcceptLabel
	}
	const most = 50 // characters: GitHub's limit
	if n := len([]rune(s.text)); n > most {
		c.problem(s.mark, fmt.Sprintf("label %s has %d characters", quote(s.text), n), fmt.Sprintf("use at most %d: GitHub has no longer ones", most))
	}
	return s.text
}
