package config

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// list is a list of one mirror type.
type list[T any] struct {
	mark
	items []T
}

func (x *list[T]) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, x, s, "a list", "write [a, b], or one item a line behind a dash")
		return
	}
	if low, _ := strconv.Atoi(s.tag.Get("min")); len(n.Content) < low {
		r.problem(x.mark, fmt.Sprintf("%q is empty", s.key), "add an item, or remove the key")
		x.spoil()
		return
	}
	x.items = make([]T, len(n.Content))
	for i, item := range n.Content {
		r.value(item, &x.items[i], spot{key: s.key})
	}
}

func (x *list[T]) schema(tag reflect.StructTag) *jsonschema.Schema {
	out := &jsonschema.Schema{Type: "array", Items: schemaOf(reflect.TypeFor[T](), "")}
	if low, err := strconv.Atoi(tag.Get("min")); err == nil {
		out.MinItems = &low
	}
	return out
}

// table is a mapping from names to one mirror type.
type table[T any] struct {
	mark
	names []str
	items []T
}

func (x *table[T]) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, x, s, "a mapping from names", "write NAME: {...}, one a line")
		return
	}
	x.items = make([]T, 0, len(n.Content)/2)
	r.pairs(n, strconv.Quote(s.key), func(key, value *yaml.Node) {
		var name str
		r.value(key, &name, spot{key: s.key})
		var item T
		r.value(value, &item, spot{key: key.Value})
		x.names, x.items = append(x.names, name), append(x.items, item)
	})
}

func (x *table[T]) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: schemaOf(reflect.TypeFor[T](), "")}
}

// pair is one entry of pairs, as written.
type pair struct{ key, value str }

// pairs is a mapping from text to text that keeps its order.
type pairs struct {
	mark
	entries []pair
}

func (x *pairs) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, x, s, "a mapping", "write NAME: value, one a line")
		return
	}
	r.pairs(n, strconv.Quote(s.key), func(key, value *yaml.Node) {
		var p pair
		r.value(key, &p.key, spot{key: s.key})
		r.value(value, &allowEmpty{&p.value}, spot{key: key.Value})
		x.entries = append(x.entries, p)
	})
}

func (x *pairs) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}}
}

// allowEmpty reads text that may be empty: the value of a variable or a flag.
type allowEmpty struct{ *str }

func (x *allowEmpty) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.ScalarNode && n.Value == "" {
		return
	}
	x.str.read(r, n, s)
}

// command is a list that is executed as it stands, or a string for the shell.
type command struct {
	mark
	args  []str
	shell bool // args holds the one string
}

func (x *command) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.SequenceNode {
		x.readList(r, n, s)
		return
	}
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.wrong(n, x, s, "a command", "write [program, argument, ...], or one string for the shell")
		return
	}
	var text str
	r.value(n, &text, s)
	x.args, x.shell, x.bad = []str{text}, true, text.bad
}

func (x *command) readList(r *reader, n *yaml.Node, s spot) {
	if len(n.Content) == 0 {
		r.problem(x.mark, fmt.Sprintf("%q is an empty list", s.key), "name the program, or remove the key")
		x.spoil()
		return
	}
	x.args = make([]str, len(n.Content))
	for i, arg := range n.Content {
		if i == 0 {
			r.value(arg, &x.args[i], s)
			continue
		}
		r.value(arg, &allowEmpty{&x.args[i]}, s)
	}
}

func (x *command) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", MinLength: ptr(1)},
		{Type: "array", MinItems: ptr(1), Items: &jsonschema.Schema{Types: []string{"string", "number", "boolean"}}},
	}}
}

// env is a plain mapping of variables, or {set, unset, prepend}. A mapping is
// taken for the second form when one of these keys holds a list or a mapping,
// which no variable can.
type env struct {
	mark
	edit envFile
}

func (x *env) read(r *reader, n *yaml.Node, s spot) {
	if isEnvEdit(n) {
		r.value(n, &x.edit, s)
		x.bad = x.edit.bad
		return
	}
	r.value(n, &x.edit.Set, s)
	x.bad = x.edit.Set.bad
}

func isEnvEdit(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if (key == "set" || key == "unset" || key == "prepend") && n.Content[i+1].Kind != yaml.ScalarNode {
			return true
		}
	}
	return false
}

func (x *env) schema(tag reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{(&pairs{}).schema(tag), schemaOf(reflect.TypeFor[envFile](), "")}}
}

// inputs is a list of globs, or {files, shuffle, limit}.
type inputs struct {
	mark
	file inputsFile
}

func (x *inputs) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.SequenceNode {
		s.tag = `min:"1"`
		r.value(n, &x.file.Files, s)
		x.bad = x.file.Files.bad
		return
	}
	r.value(n, &x.file, s)
	x.bad = x.file.bad
}

func (x *inputs) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		(&list[str]{}).schema(`min:"1"`), schemaOf(reflect.TypeFor[inputsFile](), ""),
	}}
}

// expects is one expected output, or a list of them.
type expects struct {
	mark
	items []expectFile
}

func (x *expects) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.SequenceNode {
		var l list[expectFile]
		r.value(n, &l, s)
		x.items, x.bad = l.items, l.bad
		return
	}
	x.items = make([]expectFile, 1)
	r.value(n, &x.items[0], s)
	x.bad = x.items[0].bad
}

func (x *expects) schema(reflect.StructTag) *jsonschema.Schema {
	one := schemaOf(reflect.TypeFor[expectFile](), "")
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{one, {Type: "array", Items: one.CloneSchemas()}}}
}

// repeats is a whole number, or {looks}.
type repeats struct {
	mark
	n    int
	file repeatsFile
}

func (x *repeats) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.MappingNode {
		r.value(n, &x.file, s)
		x.bad = x.file.bad || !x.file.Looks.usable()
		return
	}
	var i integer
	r.value(n, &i, s)
	x.n, x.bad = i.n, i.bad
}

func (x *repeats) schema(tag reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{(&integer{}).schema(tag), schemaOf(reflect.TypeFor[repeatsFile](), "")}}
}

// looks is a list of whole numbers, or auto.
type looks struct {
	mark
	list []int
	auto bool
}

const autoLooks = "auto"

func (x *looks) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.ScalarNode && n.Value == autoLooks {
		x.auto = true
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, x, s, "a list of repeats or auto", "write [5, 10, 20], or auto")
		return
	}
	for _, item := range n.Content {
		var i integer
		r.value(item, &i, spot{key: s.key, tag: `min:"1" max:"10000"`})
		x.list, x.bad = append(x.list, i.n), x.bad || i.bad
	}
	if x.bad {
		return
	}
	if why := plan.CheckLooks(x.list); why != "" {
		r.problem(x.mark, why, "write at most five numbers that rise, the first of them 2 or more, for example [5, 10, 20]")
		x.spoil()
	}
}

func (x *looks) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Enum: []any{autoLooks}},
		{Type: "array", MinItems: ptr(1), MaxItems: ptr(result.MaxLooks),
			Items: &jsonschema.Schema{Type: "integer", Minimum: ptr(1.0), Maximum: ptr(10000.0)}},
	}}
}

// timeout is a duration, or {factor, of, min, max}.
type timeout struct {
	mark
	fixed duration
	file  timeoutFile
}

func (x *timeout) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind == yaml.MappingNode {
		r.value(n, &x.file, s)
		x.bad = x.file.bad
		return
	}
	s.tag = `positive:"true"`
	r.value(n, &x.fixed, s)
	x.bad = x.fixed.bad
}

func (x *timeout) schema(tag reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{(&duration{}).schema(tag), schemaOf(reflect.TypeFor[timeoutFile](), "")}}
}
