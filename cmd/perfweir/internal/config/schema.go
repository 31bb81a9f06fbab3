package config

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns the JSON Schema (draft 2020-12) of a suite file, made from the
// types that read it. It sees shapes: keys, types, words, the form of
// quantities. What needs two places of the file at once only Parse sees.
func Schema() ([]byte, error) {
	s := schemaOf(reflect.TypeFor[suiteFile](), "")
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "perfweir suite file"
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the schema of the suite file: %w", err)
	}
	return append(out, '\n'), nil
}

// schemaOf returns the schema of a mirror type. A key of a later version has
// none, so the schema refuses it like an unknown one.
func schemaOf(t reflect.Type, tag reflect.StructTag) *jsonschema.Schema {
	if l, ok := reflect.New(t).Interface().(leaf); ok {
		s := l.schema(tag)
		if s != nil {
			s.Description = tag.Get("doc")
		}
		return s
	}
	s := &jsonschema.Schema{
		Type:                 "object",
		Description:          tag.Get("doc"),
		Properties:           map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fieldsOf(t, reflect.Value{}) {
		property := schemaOf(f.typ, f.tag)
		if property == nil {
			continue
		}
		s.Properties[f.key] = property
		s.PropertyOrder = append(s.PropertyOrder, f.key)
		if f.required {
			s.Required = append(s.Required, f.key)
		}
	}
	return s
}
