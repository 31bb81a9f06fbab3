package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"

	"github.com/perfweir/perfweir/collect/result/unit"
)

// str is text. Numbers and booleans are taken as they are written (YAML keeps
// 1.10 apart from 1.1 in the source), so that "-l, 3" in a command works.
type str struct {
	mark
	text string
}

func (x *str) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.ScalarNode {
		r.wrong(n, x, s, "text", "write one word or a quoted text")
		return
	}
	x.text = n.Value
	switch enum := words(s.tag, "enum"); {
	case x.text == "":
		r.wrong(n, x, s, "text", "give it a value, or remove the key")
	case strings.ContainsRune(x.text, 0):
		r.wrong(n, x, s, "text without NUL bytes", "remove the \\0")
	case len(enum) > 0 && !slices.Contains(enum, x.text):
		x.spoil()
		if slices.Contains(words(s.tag, "later"), x.text) {
			r.problem(x.mark, fmt.Sprintf("%s %q is not supported by this version", s.key, x.text), "use "+orList(enum))
			return
		}
		r.problem(x.mark, fmt.Sprintf("%q is not a value of %q", x.text, s.key), "use "+orList(enum))
	}
}

func (x *str) schema(tag reflect.StructTag) *jsonschema.Schema {
	if enum := words(tag, "enum"); len(enum) > 0 {
		out := &jsonschema.Schema{Type: "string"}
		for _, w := range enum {
			out.Enum = append(out.Enum, w)
		}
		return out
	}
	return &jsonschema.Schema{Types: []string{"string", "number", "boolean"}, MinLength: ptr(1)}
}

// words splits a tag that lists words.
func words(tag reflect.StructTag, name string) []string {
	if tag.Get(name) == "" {
		return nil
	}
	return strings.Split(tag.Get(name), ",")
}

func orList(list []string) string {
	quoted := make([]string, len(list))
	for i, w := range list {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, " or ")
}

func ptr[T any](v T) *T { return &v }

// integer is a whole decimal number between the tag's min and max.
type integer struct {
	mark
	n int
}

func (x *integer) read(r *reader, n *yaml.Node, s spot) {
	low, high := bounds(s.tag)
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil {
		r.wrong(n, x, s, "a whole number", within(low, high))
		return
	}
	if v < low || v > high {
		r.problem(x.mark, fmt.Sprintf("%q is %d", s.key, v), within(low, high))
		x.spoil()
		return
	}
	x.n = v
}

func within(low, high int) string {
	if low == high {
		return fmt.Sprintf("write %d", low)
	}
	return fmt.Sprintf("write a number from %d to %d", low, high)
}

func (x *integer) schema(tag reflect.StructTag) *jsonschema.Schema {
	low, high := bounds(tag)
	return &jsonschema.Schema{Type: "integer", Minimum: ptr(float64(low)), Maximum: ptr(float64(high))}
}

// bounds of a whole number; without tags 0 and a million, beyond which no count
// of a suite file makes sense.
func bounds(tag reflect.StructTag) (low, high int) {
	low, high = 0, 1_000_000
	if v, err := strconv.Atoi(tag.Get("min")); err == nil {
		low = v
	}
	if v, err := strconv.Atoi(tag.Get("max")); err == nil {
		high = v
	}
	return low, high
}

// number is a finite number above 0.
type number struct {
	mark
	v float64
}

func (x *number) read(r *reader, n *yaml.Node, s spot) {
	isNumber := n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float")
	v, err := strconv.ParseFloat(n.Value, 64)
	if !isNumber || err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		r.wrong(n, x, s, "a finite number above 0", "write it in decimals, for example 1000 or 2.5")
		return
	}
	x.v = v
}

func (x *number) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "number", ExclusiveMinimum: ptr(0.0)}
}

// boolean is true or false; yes and no are text.
type boolean struct {
	mark
	v bool
}

func (x *boolean) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.wrong(n, x, s, "true or false", "write one of the two without quotes")
		return
	}
	x.v = strings.EqualFold(n.Value, "true")
}

func (x *boolean) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean"}
}

// Patterns of the schema for quantities. They are looser than the parser: a
// schema is for an editor's red line, the parser decides.
const (
	numberPattern   = `[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?`
	durationPattern = `^\s*(0|(` + numberPattern + `\s*(ns|us|µs|μs|ms|s|sec|m|min|h|d)\s*)+)$`
	sizePattern     = `^\s*(0|` + numberPattern + `\s*([kMGTP]|[KMGTP]i)?B)\s*$`
	sharePattern    = `^\s*` + numberPattern + `\s*%\s*$`
)

// maxDuration is ten years in seconds. Ages of baselines stay below it, and far
// above it a clock in nanoseconds overflows: a longest time would become none.
const maxDuration = 3650 * 24 * 3600

// duration is in seconds.
type duration struct {
	mark
	s float64
}

func (x *duration) read(r *reader, n *yaml.Node, s spot) {
	if bare(n) && n.Value != "0" {
		r.wrong(n, x, s, "a duration", fmt.Sprintf("give it a unit, for example %ss or %sms", clipped(n.Value), clipped(n.Value)))
		return
	}
	v, err := unit.Duration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.wrong(n, x, s, "a duration", "write it as 150s, 10ms, 1m30s, 2h or 30d")
		return
	}
	if v > maxDuration {
		r.wrong(n, x, s, "at most 3650d", "write a time that somebody waits for, or remove the key")
		return
	}
	if v == 0 && s.tag.Get("positive") == "true" {
		r.wrong(n, x, s, "longer than nothing", "write it as 150s, or remove the key")
		return
	}
	x.s = v
}

func (x *duration) schema(reflect.StructTag) *jsonschema.Schema {
	return textOrZero(durationPattern)
}

// textOrZero is a quantity with its unit, or the 0 that needs none.
func textOrZero(pattern string) *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: pattern},
		{Type: "integer", Const: ptr(any(0))},
	}}
}

// bare reports whether the node is a number without a unit.
func bare(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	q, err := unit.Parse(n.Value)
	return err == nil && q.Unit == ""
}

func clipped(s string) string { return strings.Trim(quote(s), `"`) }

// size is a number of bytes, above 0.
type size struct {
	mark
	bytes int64
}

func (x *size) read(r *reader, n *yaml.Node, s spot) {
	if bare(n) {
		r.wrong(n, x, s, "a size", fmt.Sprintf("give it a unit, for example %sMiB or %skB", clipped(n.Value), clipped(n.Value)))
		return
	}
	if strings.HasSuffix(strings.TrimSpace(n.Value), "KB") {
		r.wrong(n, x, s, "a size", "KB means 1000 bytes to some and 1024 to others; write kB (1000) or KiB (1024)")
		return
	}
	v, err := unit.Size(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v <= 0 {
		r.wrong(n, x, s, "a size above 0", "write it as 512B, 10kB, 64MiB or 1.5GiB")
		return
	}
	x.bytes = v
}

func (x *size) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: sizePattern}
}

// share is a fraction, written as a percentage.
type share struct {
	mark
	v float64
}

func (x *share) read(r *reader, n *yaml.Node, s spot) {
	if bare(n) {
		r.wrong(n, x, s, "a percentage", "write "+bothSpellings(n.Value))
		return
	}
	v, err := unit.Percent(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.wrong(n, x, s, "a percentage", "write it as 5% or 0.5%")
		return
	}
	x.v = v
}

func (x *share) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: sharePattern}
}

// bothSpellings offers the two readings of a bare number where a percentage is
// meant: 5 may be 5% or 500%, 0.05 may be 0.05% or 5%.
func bothSpellings(text string) string {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v*100, 0) {
		return "a percentage such as 5%"
	}
	// Twelve digits drop the dust of the multiplication: 0.07 x 100.
	return fmt.Sprintf("%s%% or %s%%, whichever is meant", strconv.FormatFloat(v, 'g', 12, 64), strconv.FormatFloat(v*100, 'g', 12, 64))
}

// quantity is a limit as it is written; what it may be depends on the metric and
// is decided where that is known.
type quantity struct {
	mark
	text string
}

func (x *quantity) read(r *reader, n *yaml.Node, s spot) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!bool" || n.Value == "" {
		r.wrong(n, x, s, "a limit", "write a number with its unit, for example 5%, 10ms or 1.5GiB")
		return
	}
	x.text = n.Value
}

func (x *quantity) schema(reflect.StructTag) *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"string", "number"}, MinLength: ptr(1)}
}

// later is a key of a later version. It is known, so that its message is not
// "did you mean", and it is refused, so that nobody relies on it.
type later struct{ mark }

func (x *later) read(r *reader, _ *yaml.Node, s spot) {
	r.problem(x.mark, fmt.Sprintf("%q is not supported by this version", s.key), "remove it")
	x.spoil()
}

func (x *later) schema(reflect.StructTag) *jsonschema.Schema { return nil }
