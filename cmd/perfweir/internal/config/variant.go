package config

import (
	"fmt"

	"github.com/perfweir/perfweir/collect/plan"
)

// variantNames checks the names of a benchmark's variants. They come before the
// variants themselves, since a timeout may name one further down.
func (c *checker) variantNames(b *bench) {
	lines := map[string]int{}
	var names []string
	for i := range b.file.Variants.items {
		v := &b.file.Variants.items[i]
		if !v.usable() || !c.name(&v.Name, "variant name") {
			continue
		}
		if line := lines[v.Name.text]; line > 0 {
			c.problem(v.Name.mark, fmt.Sprintf("variant %s is there twice", quote(v.Name.text)), fmt.Sprintf("give it another name; the first is on line %d", line))
			continue
		}
		lines[v.Name.text] = v.Name.line
		names = append(names, v.Name.text)
	}
	if len(names) > 0 {
		b.variants = names
	}
}

// variant checks one edit of a benchmark. The edits are applied by plan.
func (c *checker) variant(b *bench, v *variantFile) plan.Variant {
	out := plan.Variant{
		Name: v.Name.text, Note: v.Note.text, Description: v.Description.text, Source: c.source(&v.Source),
		Remove: texts(v.Args.Remove.items), Add: texts(v.Args.Add.items), Path: v.Path.text,
		Env: c.env(&v.Env), Requires: texts(v.Requires.items),
	}
	for _, p := range v.Args.Set.entries {
		out.Set = append(out.Set, plan.FlagValue{Flag: p.key.text, Value: p.value.text})
	}
	if b.file.Run.usable() && b.file.Run.shell {
		c.noEdits(v)
	}
	if v.Window.usable() {
		out.Window = &v.Window.s
	}
	if v.Timeout.usable() {
		t := c.timeout(&v.Timeout, b, v.Name.text)
		out.Timeout = &t
	}
	window, limit := &v.Window, &v.Timeout
	if !window.given() {
		window = &b.file.Window
	}
	if !limit.given() {
		limit = &b.file.Timeout
	}
	if v.Window.given() || v.Timeout.given() {
		c.variantWindowFits(v, window, limit)
	}
	if v.Repeats.usable() {
		out.Looks, out.AutoLooks = v.Repeats.file.Looks.list, v.Repeats.file.Looks.auto
		if !v.Repeats.file.given() {
			out.Repeats = &v.Repeats.n
		}
	}
	return out
}

// variantWindowFits is windowFits told at the variant's own key.
func (c *checker) variantWindowFits(v *variantFile, w *duration, t *timeout) {
	if !v.Timeout.given() {
		moved := *t
		moved.line, moved.column = v.Window.line, v.Window.column
		t = &moved
	}
	c.windowFits(w, t)
}

// noEdits refuses edits of arguments where there are none: the shell's string is
// one argument.
func (c *checker) noEdits(v *variantFile) {
	for key, m := range map[string]*mark{"args": &v.Args.mark, "path": &v.Path.mark} {
		if m.given() {
			c.problem(*m, fmt.Sprintf("%q cannot edit a run that is one string for the shell", key), "write run as a list, or use env")
		}
	}
}
