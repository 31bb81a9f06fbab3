package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"
)

// reader walks the nodes of one file into the mirror types and collects what is
// wrong on the way. It never stops at the first problem.
type reader struct {
	path     string
	problems Problems
	warnings Problems
}

func (r *reader) problem(m mark, what, instead string) {
	r.problems = append(r.problems, Problem{r.path, m.line, m.column, what, instead})
}

func (r *reader) warn(m mark, what, instead string) {
	r.warnings = append(r.warnings, Problem{r.path, m.line, m.column, what, instead})
}

// spot is where a value stands: the key it belongs to and what the field's tag
// says about it. The tags of the mirror types are:
//
//	key       the key in the file
//	doc       one sentence for the schema
//	required  "true": the key must be there
//	enum      allowed words, separated by commas
//	later     words of enum that a later version allows
//	min, max  of a whole number, or of the length of a list
//	positive  "true": a duration or number must be above 0
type spot struct {
	key string
	tag reflect.StructTag
}

// leaf is a mirror type that reads its node itself; the others are structs whose
// fields are the keys of a mapping. A type that is read in one way only has its
// schema beside the reader, so both cannot drift apart.
type leaf interface {
	read(r *reader, n *yaml.Node, s spot)
	schema(tag reflect.StructTag) *jsonschema.Schema
}

// placed is any mirror value; all embed mark.
type placed interface {
	place(line, column int)
	at() mark
	given() bool
	usable() bool
	spoil()
}

// value reads n into v, a pointer to a mirror type.
func (r *reader) value(n *yaml.Node, v any, s spot) {
	m := placeOf(n)
	v.(placed).place(m.line, m.column)
	if isNull(n) {
		if _, isLater := v.(*later); !isLater {
			r.problem(m, fmt.Sprintf("%q has no value", s.key), "give it one, or remove the key")
			v.(placed).spoil()
			return
		}
	}
	if l, ok := v.(leaf); ok {
		l.read(r, n, s)
		return
	}
	r.mapping(n, reflect.ValueOf(v).Elem(), s)
}

// wrong reports that the node is not what the key takes, and marks v as bad.
func (r *reader) wrong(n *yaml.Node, v placed, s spot, want, instead string) {
	r.problem(placeOf(n), fmt.Sprintf("%q must be %s, not %s", s.key, want, describe(n)), instead)
	v.spoil()
}

// describe names a node for a message, bounded: it is text of the file.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	return quote(n.Value)
}

// quote shows a text of the file in a message: escaped, at most 60 bytes.
func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "..."
	}
	return strconv.Quote(s)
}

// field is one key that a mapping may have.
type field struct {
	spot
	value    reflect.Value // zero where only the type is asked about
	typ      reflect.Type
	required bool
}

// fieldsOf lists the keys of a mirror struct, those of embedded structs too, in
// the order of the declaration.
func fieldsOf(t reflect.Type, v reflect.Value) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		var fv reflect.Value
		if v.IsValid() {
			fv = v.Field(i)
		}
		if f.Anonymous && f.Type != reflect.TypeFor[mark]() {
			out = append(out, fieldsOf(f.Type, fv)...)
			continue
		}
		if key := f.Tag.Get("key"); key != "" {
			out = append(out, field{spot{key, f.Tag}, fv, f.Type, f.Tag.Get("required") == "true"})
		}
	}
	return out
}

// whatOf is what a mirror struct is called in messages: "a benchmark".
func whatOf(t reflect.Type) string {
	f, _ := t.FieldByName("mark")
	return f.Tag.Get("what")
}

// mapping reads a mapping into a mirror struct.
func (r *reader) mapping(n *yaml.Node, v reflect.Value, s spot) {
	what := whatOf(v.Type())
	if n.Kind != yaml.MappingNode {
		r.problem(placeOf(n), fmt.Sprintf("%s must be a mapping, not %s", what, describe(n)), "write its keys, one a line")
		v.Addr().Interface().(placed).spoil()
		return
	}
	fields := fieldsOf(v.Type(), v)
	byKey := make(map[string]field, len(fields))
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		byKey[f.key] = f
		if f.typ != reflect.TypeFor[later]() {
			names = append(names, f.key)
		}
	}
	seen := r.pairs(n, what, func(key, value *yaml.Node) {
		f, ok := byKey[key.Value]
		if !ok {
			r.problem(placeOf(key), fmt.Sprintf("%s is not a key of %s", quote(key.Value), what), suggest(key.Value, names))
			return
		}
		if f.typ == reflect.TypeFor[later]() {
			value = key // the key's place says more than the value's
		}
		r.value(value, f.value.Addr().Interface(), f.spot)
	})
	for _, f := range fields {
		if f.required && !seen[f.key] {
			r.problem(placeOf(n), fmt.Sprintf("%s has no %q", what, f.key), "add it")
		}
	}
}

// pairs calls f for each key of a mapping, once a key: the second of two equal
// keys is a problem, since YAML readers disagree on which one counts.
func (r *reader) pairs(n *yaml.Node, what string, f func(key, value *yaml.Node)) map[string]bool {
	seen := make(map[string]bool, len(n.Content)/2)
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			r.problem(placeOf(key), fmt.Sprintf("a key of %s must be text, not %s", what, describe(key)), "quote braces and brackets that are text")
			continue
		}
		if seen[key.Value] {
			r.problem(placeOf(key), fmt.Sprintf("key %s is there twice", quote(key.Value)), fmt.Sprintf("keep one; the first is on line %d", lines[key.Value]))
			continue
		}
		seen[key.Value], lines[key.Value] = true, key.Line
		f(key, value)
	}
	return seen
}
