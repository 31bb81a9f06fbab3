// Package docschema makes the JSON Schemas of the documents from their Go types,
// so that they cannot drift apart. It stands here because the rooms that own the
// documents need nothing beyond the standard library.
package docschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/selftest"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Names returns what Schema knows, in the order in which a run makes them.
func Names() []string { return []string{"plan", "results", "verdict", "exhibits", "selftest"} }

// Schema returns the JSON Schema (2020-12) of a document. It describes what this
// version writes; keys that it does not name are allowed, as when a document is
// read.
func Schema(name string) ([]byte, error) {
	s, err := schemaOf(name)
	if err != nil {
		return nil, err
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the schema of %s: %w", name, err)
	}
	return append(out, '\n'), nil
}

func schemaOf(name string) (*jsonschema.Schema, error) {
	opts, err := options()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	var s *jsonschema.Schema
	tag := ""
	switch name {
	case "plan":
		s, err = jsonschema.For[plan.Plan](opts)
		tag = plan.Schema
	case "results":
		s, err = jsonschema.For[result.Document](opts)
		tag = result.Schema
	case "verdict":
		s, err = jsonschema.For[verdict.Document](opts)
		tag = verdict.Schema
	case "exhibits":
		s, err = jsonschema.For[exhibit.Document](opts)
		tag = exhibit.Schema
	case "selftest":
		s, err = jsonschema.For[selftest.Document](opts)
		tag = selftest.Schema
	default:
		return nil, fmt.Errorf("no schema of %q: use one of %s", name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", name, err)
	}
	allowMore(s)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = tag
	s.Properties["schema"] = &jsonschema.Schema{Type: "string", Const: jsonschema.Ptr[any](tag)}
	return s, nil
}

// options has the types whose JSON is not what their Go type alone says.
func options() (*jsonschema.ForOptions, error) {
	detail, err := jsonschema.For[result.Detail](nil)
	if err != nil {
		return nil, err
	}
	text := &jsonschema.Schema{Type: "string"}
	number := &jsonschema.Schema{Types: []string{"null", "number"}} // null: absent, and the column says why
	return &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[result.Values]():         {Type: "array", Items: number},
		reflect.TypeFor[map[int]string]():        byPosition(text),
		reflect.TypeFor[map[int]result.Status](): byPosition(text),
		reflect.TypeFor[map[int]result.Detail](): byPosition(detail),
		reflect.TypeFor[[]byte]():                {Type: "string", ContentEncoding: "base64"},
	}}, nil
}

// byPosition is an object whose keys are 0-based positions in a run list.
func byPosition(value *jsonschema.Schema) *jsonschema.Schema {
	nothing := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return &jsonschema.Schema{
		Type:                 "object",
		PatternProperties:    map[string]*jsonschema.Schema{`^(0|[1-9][0-9]*)$`: value},
		AdditionalProperties: nothing,
	}
}

// allowMore lifts the ban on unknown keys from every object with named keys, and
// allows null for an empty map.
func allowMore(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	switch {
	case s.Properties != nil:
		s.AdditionalProperties = nil
	case s.Type == "object" && s.PatternProperties == nil:
		s.Type, s.Types = "", []string{"null", "object"} // a map, which may be null where a list may
	}
	for _, group := range []map[string]*jsonschema.Schema{s.Properties, s.PatternProperties} {
		for _, child := range group {
			allowMore(child)
		}
	}
	for _, child := range slices.Concat([]*jsonschema.Schema{s.Items, s.AdditionalProperties}, s.PrefixItems) {
		allowMore(child)
	}
}
