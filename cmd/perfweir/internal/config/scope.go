package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/perfweir/perfweir/collect/result"
)

// scope returns the benchmarks that a budget can apply to. A budget that can
// apply to nothing guards nothing, and would pass for ever: that is a problem.
func (c *checker) scope(bf *budgetFile) ([]*bench, bool) {
	valid := true
	for _, s := range []*str{&bf.Cells, &bf.Benchmark, &bf.Variant, &bf.Input, &bf.Part} {
		valid = c.glob(s) && valid
	}
	if !valid {
		return nil, false
	}
	var matched, gives []*bench
	for i := range c.benchmarks {
		b := &c.benchmarks[i]
		if !b.matches(bf) {
			continue
		}
		matched = append(matched, b)
		if c.produces(b, bf.Metric.text) {
			gives = append(gives, b)
		}
	}
	switch {
	case len(c.benchmarks) == 0:
		return nil, false // told already
	case len(matched) == 0:
		s, key := bf.narrowest()
		c.problem(s.mark, fmt.Sprintf("%s %s matches no cell of this suite", key, quote(s.text)), c.matchable(s.text, key))
		return nil, false
	case len(gives) == 0:
		c.problem(bf.Metric.mark, fmt.Sprintf("no benchmark that this budget matches gives %q", bf.Metric.text), c.giver(bf.Metric.text))
		return nil, false
	}
	return gives, true
}

// narrowest is the glob to blame: the first that is there, the specific before
// the general.
func (bf *budgetFile) narrowest() (*str, string) {
	for _, g := range []struct {
		s   *str
		key string
	}{{&bf.Cells, "cells"}, {&bf.Benchmark, "benchmark"}, {&bf.Variant, "variant"}} {
		if g.s.given() {
			return g.s, g.key
		}
	}
	return &bf.Input, "input"
}

// matchable says what a glob could have meant.
func (c *checker) matchable(text, key string) string {
	var names []string
	for i := range c.benchmarks {
		b := &c.benchmarks[i]
		switch key {
		case "variant":
			names = append(names, named(b.variants)...)
		case "benchmark":
			names = append(names, b.name)
		case "cells":
			for _, v := range b.variants {
				names = append(names, printed(b.name, v))
			}
		}
	}
	switch {
	case key == "input":
		return "no benchmark that it applies to has inputs; remove it"
	case key == "cells" && slices.ContainsFunc(c.benchmarks, func(b bench) bool { return b.name == text }):
		return fmt.Sprintf("* stays inside one field; write %q for all cells of a benchmark", text+"/**")
	case key == "variant" && len(names) == 0:
		return "no benchmark that it applies to has variants; remove it"
	case len(names) > 12:
		return suggest(text, names[:12])
	}
	return suggest(text, names)
}

// giver says how a built-in metric comes about.
func (c *checker) giver(metric string) string {
	if metric == result.OutputSize {
		return "add expect to the benchmark"
	}
	return "add a reader to the benchmark, or change what the budget matches"
}

// produces reports whether a benchmark can give a metric. What a program reports
// itself cannot be known before it runs, so metrics of the catalogue and the
// table that a report may hold are never excluded.
func (c *checker) produces(b *bench, name string) bool {
	if b.own[name] {
		return true
	}
	m := c.metrics[name]
	return m.origin != ofReader && name != result.OutputSize
}

// matches reports whether a budget's globs can match a cell of the benchmark.
// Which input files there are is not known here.
func (b *bench) matches(bf *budgetFile) bool {
	if bf.Input.given() && !b.file.Inputs.given() {
		return false
	}
	if bf.Benchmark.given() && !glob(bf.Benchmark.text, b.name) {
		return false
	}
	for _, v := range b.variants {
		if bf.Variant.given() && !glob(bf.Variant.text, v) {
			continue
		}
		if !bf.Cells.given() || b.cellMatches(bf.Cells.text, v) {
			return true
		}
	}
	return false
}

func glob(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok && err == nil
}

// printed is a cell's printed name without its input.
func printed(benchmark, variant string) string {
	if variant == "" {
		return benchmark
	}
	return benchmark + "/" + variant
}

func (b *bench) cellMatches(pattern, variant string) bool {
	name := printed(b.name, variant)
	if !b.file.Inputs.given() {
		return glob(pattern, name)
	}
	return couldMatch(pattern, name)
}

// couldMatch reports whether a pattern matches the name with some input's path
// behind it. Braces that hold a slash cannot be cut at slashes; they are let
// through, since a wrong "matches nothing" would refuse a good file.
func couldMatch(pattern, name string) bool {
	if strings.Contains(pattern, "{") {
		return true
	}
	return prefixMatches(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func prefixMatches(pattern, name []string) bool {
	if len(name) == 0 {
		return len(pattern) > 0
	}
	if len(pattern) == 0 {
		return false
	}
	if pattern[0] == "**" {
		return true // the rest may match inside the input's path
	}
	return glob(pattern[0], name[0]) && prefixMatches(pattern[1:], name[1:])
}
