package config

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Defaults of a benchmark.
const (
	defaultTimeout   = 3600 // s: long enough for any run that somebody waits for, short enough to end a hang
	defaultKillAfter = 2    // s
	defaultRetries   = 2    // of a run that was found invalid
	// A relative budget on a noisy metric needs repeats; ten on either side can
	// reach a corrected level (docs/statistics.md). On a counted one two on either
	// side decide, and one never does.
	noisyRepeats, countedRepeats = 10, 2
)

// bench is one benchmark on its way into the plan's form.
type bench struct {
	file     benchmarkFile // with defaults merged in
	name     string
	variants []string // names; one empty name when there are none
	texts    []*str   // everything in which placeholders are replaced
	own      map[string]bool
	repeats  int // that the relative budgets on it call for; 0: none does
	out      plan.Benchmark
}

// finish applies the default that depends on budgets.
func (b *bench) finish() plan.Benchmark {
	if !b.file.Repeats.given() || b.out.AutoLooks {
		b.out.Repeats = max(1, b.repeats)
	}
	return b.out
}

func (c *checker) readBenchmarks() {
	lines := map[string]int{}
	c.benchmarks = make([]bench, 0, len(c.f.Benchmarks.items))
	for i := range c.f.Benchmarks.items {
		bf := &c.f.Benchmarks.items[i]
		if !bf.usable() {
			continue
		}
		if c.name(&bf.Name, "benchmark name") {
			if line := lines[bf.Name.text]; line > 0 {
				c.problem(bf.Name.mark, fmt.Sprintf("benchmark %s is there twice", quote(bf.Name.text)), fmt.Sprintf("give it another name; the first is on line %d", line))
			} else {
				lines[bf.Name.text] = bf.Name.line
			}
			c.notControl(&bf.Name, "benchmark name")
		}
		c.benchmarks = append(c.benchmarks, c.benchmark(bf))
	}
	for i := range c.benchmarks {
		for j := range c.benchmarks[i].file.Was.items {
			was := &c.benchmarks[i].file.Was.items[j]
			c.notControl(was, "earlier name")
			if line := lines[was.text]; line > 0 && c.name(was, "earlier name") {
				c.problem(was.mark, fmt.Sprintf("earlier name %s is the name of a benchmark", quote(was.text)), fmt.Sprintf("remove it, or rename the one on line %d", line))
			}
		}
	}
}

// notControl refuses the control cell's name, whether the suite asks for that cell
// or not: it may later, and stored sessions would have two.
func (c *checker) notControl(name *str, what string) {
	if name.text == result.ControlBenchmark {
		c.problem(name.mark, fmt.Sprintf("%s %s is that of the control cell (gate.control)", what, quote(name.text)), "choose another name")
	}
}

// benchmark checks one benchmark, in the order in which later steps use earlier
// ones.
func (c *checker) benchmark(bf *benchmarkFile) bench {
	b := bench{file: *bf, name: bf.Name.text, own: map[string]bool{}, variants: []string{""}}
	b.inherit(&c.f.Defaults.inheritable)
	f := &b.file
	b.collectTexts()
	if !bf.Inputs.given() && !b.usesInput() {
		f.Inputs = inputs{} // inherited, but this benchmark has no use for files
	}
	c.placeholders(&b)
	b.out = plan.Benchmark{
		Name: b.name, Was: texts(f.Was.items), Description: f.Description.text, Source: c.source(&f.Source),
		Labels: f.Labels.asMap(), Repeats: f.Repeats.n, Warmups: f.Warmups.n, Inputs: c.inputs(&f.Inputs),
		Looks: f.Repeats.file.Looks.list, AutoLooks: f.Repeats.file.Looks.auto,
	}
	c.variantNames(&b)
	b.out.Exec = c.exec(&b)
	for i := range f.Variants.items {
		if v := &f.Variants.items[i]; v.usable() {
			b.out.Variants = append(b.out.Variants, c.variant(&b, v))
		}
	}
	return b
}

// inherit fills what the benchmark does not say from the suite's defaults.
// Labels and environment are merged name by name; everything else is replaced.
func (b *bench) inherit(d *inheritable) {
	own, from := reflect.ValueOf(&b.file.inheritable).Elem(), reflect.ValueOf(d).Elem()
	for i := range own.NumField() {
		if !own.Field(i).Addr().Interface().(placed).given() {
			own.Field(i).Set(from.Field(i))
		}
	}
	b.file.Labels = mergePairs(d.Labels, b.file.Labels)
	e, de := &b.file.Env, &d.Env
	if e.mark != de.mark {
		e.edit.Set = mergePairs(de.edit.Set, e.edit.Set)
		e.edit.Prepend = mergePairs(de.edit.Prepend, e.edit.Prepend)
		e.edit.Unset.items = append(append([]str(nil), de.edit.Unset.items...), e.edit.Unset.items...)
	}
}

// mergePairs puts over on top of under.
func mergePairs(under, over pairs) pairs {
	if !over.given() || under.mark == over.mark {
		return orDefault(over.given(), over, under)
	}
	out := pairs{mark: over.mark}
	seen := map[string]bool{}
	for _, p := range over.entries {
		seen[p.key.text] = true
	}
	for _, p := range under.entries {
		if !seen[p.key.text] {
			out.entries = append(out.entries, p)
		}
	}
	out.entries = append(out.entries, over.entries...)
	return out
}

// collectTexts gathers everything that may hold {input} and {out}.
func (b *bench) collectTexts() {
	f := &b.file
	b.addTexts(f.Run.args, f.Prepare.file.Run.args, f.Cleanup.file.Run.args)
	b.addEnv(&f.Env)
	b.texts = append(b.texts, &f.Stdin)
	for i := range f.Expect.items {
		b.texts = append(b.texts, &f.Expect.items[i].File)
	}
	for i := range f.Read.items {
		r := &f.Read.items[i]
		b.texts = append(b.texts, &r.From, &r.Samples, &r.Checks)
	}
	for i := range f.Variants.items {
		v := &f.Variants.items[i]
		b.addTexts(v.Args.Add.items)
		for j := range v.Args.Set.entries {
			b.texts = append(b.texts, &v.Args.Set.entries[j].value)
		}
		b.addEnv(&v.Env)
		b.texts = append(b.texts, &v.Path)
	}
}

func (b *bench) addTexts(lists ...[]str) {
	for _, l := range lists {
		for i := range l {
			b.texts = append(b.texts, &l[i])
		}
	}
}

func (b *bench) addEnv(e *env) {
	for _, p := range []*pairs{&e.edit.Set, &e.edit.Prepend} {
		for i := range p.entries {
			b.texts = append(b.texts, &p.entries[i].value)
		}
	}
}

func (c *checker) inputs(x *inputs) *plan.Inputs {
	if !x.usable() {
		return nil
	}
	for i := range x.file.Files.items {
		c.glob(&x.file.Files.items[i])
	}
	return &plan.Inputs{Files: texts(x.file.Files.items), Shuffle: x.file.Shuffle.v, Limit: x.file.Limit.n}
}

// glob checks that a pattern can match at all.
func (c *checker) glob(s *str) bool {
	if !s.usable() {
		return !s.given()
	}
	if !doublestar.ValidatePattern(s.text) {
		c.problem(s.mark, fmt.Sprintf("%s is not a glob", quote(s.text)), `close its brackets and braces, or put a backslash before them`)
		return false
	}
	return true
}

// exec is how a run of the benchmark is executed and read.
func (c *checker) exec(b *bench) plan.Exec {
	f := &b.file
	x := plan.Exec{
		Cwd: f.Cwd.text, Stdin: f.Stdin.text, Env: c.env(&f.Env),
		Window:      f.Window.s,
		Keep:        f.Keep.text,
		KillAfter:   orDefault(f.KillAfter.given(), f.KillAfter.s, defaultKillAfter),
		Linger:      f.Linger.s,
		UnitsPerRun: f.UnitsPerRun.v, Requires: texts(f.Requires.items),
	}
	x.Argv, x.Shell = c.command(&f.Run, "run")
	c.beforehand(&f.inheritable, &x)
	x.Timeout = plan.Timeout{Fixed: defaultTimeout + f.Window.s}
	if f.Timeout.usable() {
		x.Timeout = c.timeout(&f.Timeout, b, "")
	}
	c.windowFits(&f.Window, &f.Timeout)
	x.Expect = c.expect(b)
	x.Read = c.readers(b)
	return x
}

// windowFits refuses a window that the timeout would always cut.
func (c *checker) windowFits(w *duration, t *timeout) {
	if w.usable() && t.usable() && t.fixed.usable() && t.fixed.s <= w.s {
		c.problem(t.mark, "the timeout is not longer than the window, so every run would time out", "raise timeout, or remove it")
	}
}

// env checks an edit of the environment. PERFWEIR_ variables are how the runner
// talks to the program.
func (c *checker) env(e *env) plan.Env {
	names := append([]str(nil), e.edit.Unset.items...)
	for _, p := range append(append([]pair(nil), e.edit.Set.entries...), e.edit.Prepend.entries...) {
		names = append(names, p.key)
	}
	for i := range names {
		switch n := &names[i]; {
		case !n.usable():
		case strings.ContainsAny(n.text, "= \t\n"):
			c.problem(n.mark, fmt.Sprintf("%s is not the name of a variable", quote(n.text)), "use letters, digits and underscores")
		case strings.HasPrefix(n.text, "PERFWEIR_"):
			c.problem(n.mark, fmt.Sprintf("variable %s is set by perfweir itself", quote(n.text)), "use another name")
		}
	}
	return plan.Env{Set: e.edit.Set.asMap(), Unset: texts(e.edit.Unset.items), Prepend: e.edit.Prepend.asMap()}
}

// timeout checks a timeout; self is the variant it belongs to, "" for the
// benchmark's own.
func (c *checker) timeout(t *timeout, b *bench, self string) plan.Timeout {
	if !t.file.given() {
		return plan.Timeout{Fixed: t.fixed.s}
	}
	f := &t.file
	if f.Factor.usable() && f.Factor.v < 1 {
		c.problem(f.Factor.mark, fmt.Sprintf("factor is %g, which ends runs before the other variant's would", f.Factor.v), "write a factor of 1 and more, for example 4")
	}
	if f.Of.usable() {
		switch {
		case self != "" && f.Of.text == self:
			c.problem(f.Of.mark, fmt.Sprintf("the timeout of variant %s is a factor of itself", quote(self)), "name another variant")
		case !slices.Contains(b.variants, f.Of.text):
			c.problem(f.Of.mark, fmt.Sprintf("benchmark %s has no variant %s", quote(b.name), quote(f.Of.text)), suggest(f.Of.text, named(b.variants)))
		}
	}
	out := plan.Timeout{Factor: f.Factor.v, Of: f.Of.text, Min: f.Min.s, Max: orDefault(f.Max.given(), f.Max.s, max(defaultTimeout, f.Min.s))}
	if f.Min.usable() && f.Max.usable() && f.Min.s > f.Max.s {
		c.problem(f.Min.mark, "min is longer than max", "swap them")
	}
	return out
}

// named drops the empty name of a benchmark without variants.
func named(variants []string) []string {
	if len(variants) == 1 && variants[0] == "" {
		return nil
	}
	return variants
}

// expect checks the outputs that a run must leave.
func (c *checker) expect(b *bench) []plan.Expect {
	var out []plan.Expect
	lines := map[string]int{}
	for i := range b.file.Expect.items {
		e := &b.file.Expect.items[i]
		if !e.usable() || !e.File.usable() {
			continue
		}
		x := plan.Expect{File: e.File.text, StartsWith: c.startsWith(&e.StartsWith), Metric: e.Metric.text}
		m := e.Metric.mark
		switch {
		case e.Metric.given():
			if !c.metricName(&e.Metric) || !c.sizeMetric(&e.Metric) {
				continue
			}
		case i == 0:
			x.Metric, m = result.OutputSize, e.mark
		}
		if line := lines[x.Metric]; x.Metric != "" && line > 0 {
			c.problem(m, fmt.Sprintf("metric %q is recorded twice", x.Metric), fmt.Sprintf("give one another name; the first is on line %d", line))
			continue
		}
		if x.Metric != "" {
			lines[x.Metric], b.own[x.Metric] = m.line, true
		}
		out = append(out, x)
	}
	return out
}

// sizeMetric defines the metric that records a file's size.
func (c *checker) sizeMetric(s *str) bool {
	if s.text == result.OutputSize {
		return true
	}
	size := result.Catalogue()[result.OutputSize]
	def := plan.MetricDef{Unit: size.Unit, Better: size.Better, Class: string(size.Class)}
	return c.add(s.text, metric{def: def, origin: ofReader, mark: s.mark})
}

func (c *checker) startsWith(s *str) []byte {
	if !s.usable() {
		return nil
	}
	digits, isHex := strings.CutPrefix(s.text, "hex:")
	if !isHex {
		return []byte(s.text)
	}
	out, err := hex.DecodeString(digits)
	if err != nil || len(out) == 0 {
		c.problem(s.mark, fmt.Sprintf("%s is not bytes in hexadecimal", quote(s.text)), "write pairs of digits, for example hex:7f454c46")
	}
	return out
}
