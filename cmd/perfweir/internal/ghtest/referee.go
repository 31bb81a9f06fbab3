package ghtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// Violation is a rule that a request or an answer broke.
type Violation struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Rule   string `json:"rule"`
}

func (v Violation) String() string { return v.Method + " " + v.Path + ": " + v.Rule }

// Rules of the referee that are no rule of the description begin with these.
const (
	ruleRequest    = "request: "
	ruleAnswer     = "answer: " // the fake's own mistake
	ruleUnknown    = "unknown: "
	ruleNotModeled = "not modelled: "
	ruleHeader     = "header: "
	ruleForeign    = "foreign: "
	ruleLeak       = "token leaked: "
)

// referee holds requests and answers of one operation against the description.
type referee struct {
	route  *routers.Route
	params map[string]string
}

func (d *description) referee(method, template string, params map[string]string) (referee, bool) {
	item, op := d.operation(method, template)
	if op == nil {
		return referee{}, false
	}
	return referee{&routers.Route{Spec: d.doc, Path: template, PathItem: item, Method: method, Operation: op}, params}, true
}

func refereeOptions() *openapi3filter.Options {
	o := &openapi3filter.Options{
		MultiError:          true,
		AuthenticationFunc:  openapi3filter.NoopAuthenticationFunc,
		SkipSettingDefaults: true, // else the referee adds them to the request that it judges
	}
	o.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return "/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
	})
	return o
}

// input is what the referee's library wants to know of a request.
func (r referee) input(req *http.Request, body []byte) *openapi3filter.RequestValidationInput {
	judged := &http.Request{Method: req.Method, URL: req.URL, Header: req.Header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body))}
	return &openapi3filter.RequestValidationInput{Request: judged, PathParams: r.params, Route: r.route, Options: refereeOptions()}
}

// request tells what the description does not allow. GitHub would refuse it.
func (r referee) request(req *http.Request, body []byte) []string {
	return reasons(openapi3filter.ValidateRequest(context.Background(), r.input(req, body)))
}

// unknown tells what GitHub would ignore in silence: parameters and properties
// that the description does not name.
func (r referee) unknown(query url.Values, body []byte) []string {
	var out []string
	for name := range query {
		if !slices.Contains(r.queryNames(), name) {
			out = append(out, "query parameter "+name)
		}
	}
	if schema := r.bodySchema(); schema != nil {
		var value any
		if json.Unmarshal(body, &value) == nil { // else the request has failed already
			out = append(out, unknownProperties(schema, value, "")...)
		}
	} else if len(body) > 0 {
		out = append(out, "a body")
	}
	slices.Sort(out)
	return out
}

func (r referee) queryNames() []string {
	var names []string
	for _, list := range []openapi3.Parameters{r.route.PathItem.Parameters, r.route.Operation.Parameters} {
		for _, p := range list {
			if p.Value.In == "query" {
				names = append(names, p.Value.Name)
			}
		}
	}
	return names
}

func (r referee) bodySchema() *openapi3.Schema {
	if r.route.Operation.RequestBody == nil {
		return nil
	}
	media := r.route.Operation.RequestBody.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	return media.Schema.Value
}

// unknownProperties walks a value along its schema. What any branch of a oneOf,
// anyOf or allOf names is known.
func unknownProperties(schema *openapi3.Schema, value any, at string) []string {
	var out []string
	switch value := value.(type) {
	case object:
		known := properties(schema)
		if len(known) == 0 {
			return nil
		}
		for name, v := range value {
			if known[name] == nil {
				out = append(out, "property "+at+"/"+name)
				continue
			}
			out = append(out, unknownProperties(known[name], v, at+"/"+name)...)
		}
	case []any:
		if schema.Items == nil {
			return nil
		}
		for i, v := range value {
			out = append(out, unknownProperties(schema.Items.Value, v, fmt.Sprintf("%s/%d", at, i))...)
		}
	}
	return out
}

func properties(schema *openapi3.Schema) map[string]*openapi3.Schema {
	out := map[string]*openapi3.Schema{}
	for _, branch := range slices.Concat(schema.OneOf, schema.AnyOf, schema.AllOf) {
		for name, s := range properties(branch.Value) {
			out[name] = s
		}
	}
	for name, p := range schema.Properties {
		out[name] = p.Value
	}
	return out
}

// answer tells what the description does not allow in an answer of the fake.
func (r referee) answer(req *http.Request, a answer) []string {
	if r.route.Operation.Responses.Status(a.status) == nil {
		return r.generalError(a)
	}
	in := (&openapi3filter.ResponseValidationInput{RequestValidationInput: r.input(req, nil), Status: a.status, Header: a.header, Options: refereeOptions()})
	in.Options.ExcludeResponseBody = a.isRaw
	return reasons(openapi3filter.ValidateResponse(context.Background(), in.SetBodyBytes(a.body)))
}

// general are the statuses that GitHub gives to any operation, listed or not.
var general = []int{400, 401, 403, 404, 409, 410, 422, 429}

func (r referee) generalError(a answer) []string {
	if !slices.Contains(general, a.status) {
		return []string{fmt.Sprintf("the description has no status %d here", a.status)}
	}
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		return []string{err.Error()}
	}
	schema := r.route.Spec.Components.Schemas["basic-error"]
	if a.status == http.StatusUnprocessableEntity {
		schema = r.route.Spec.Components.Schemas["validation-error"]
	}
	return reasons(schema.Value.VisitJSON(value, openapi3.MultiErrors()))
}

// reasons makes short lines of the library's errors, which quote whole schemas
// and values.
func reasons(err error) []string {
	switch err := err.(type) { // not errors.As: a list of errors is "as" its first one
	case nil:
		return nil
	case openapi3.MultiError:
		var out []string
		for _, e := range err {
			out = append(out, reasons(e)...)
		}
		return out
	case *openapi3filter.RequestError:
		if err.Err != nil {
			return prefixed(where(err), reasons(err.Err))
		}
	case *openapi3filter.ResponseError:
		if err.Err != nil {
			return reasons(err.Err)
		}
	case *openapi3.SchemaError:
		return []string{"/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return []string{line}
}

func where(err *openapi3filter.RequestError) string {
	switch {
	case err.Parameter != nil:
		return "parameter " + err.Parameter.Name + " "
	case err.RequestBody != nil:
		return "body "
	}
	return ""
}

func prefixed(prefix string, lines []string) []string {
	for i := range lines {
		lines[i] = prefix + lines[i]
	}
	return lines
}
