package ghtest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
)

// descriptionGzip is GitHub's description of its API, cut (testdata/README.md).
//
//go:embed testdata/description.json.gz
var descriptionGzip []byte

// description is what GitHub says of its API: the operations for the referee, and
// the example bodies that answers are made from. It does not change once loaded.
type description struct {
	doc      *openapi3.T
	examples map[string]json.RawMessage
}

var loadDescription = sync.OnceValues(func() (*description, error) {
	text, err := gunzip(descriptionGzip)
	if err != nil {
		return nil, fmt.Errorf("the embedded description: %w", err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("the embedded description: %w", err)
	}
	var parts struct {
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return nil, fmt.Errorf("the embedded description: %w", err)
	}
	d := &description{doc: doc, examples: map[string]json.RawMessage{}}
	for name, e := range parts.Components.Examples {
		d.examples[name] = e.Value
	}
	return d, d.correct()
})

func gunzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

const repositoryPath = "/repos/{owner}/{repo}"

// correct changes the description where GitHub is known to send something else:
// null for the repository of a fork that was deleted.
func (d *description) correct() error {
	for _, field := range []string{"workflow-run.head_repository", "pull-request-simple.head.repo", "pull-request.head.repo"} {
		names := strings.Split(field, ".")
		schema := d.doc.Components.Schemas[names[0]]
		for _, name := range names[1 : len(names)-1] {
			if schema != nil {
				schema = schema.Value.Properties[name]
			}
		}
		last := names[len(names)-1]
		if schema == nil || schema.Value.Properties[last] == nil {
			return fmt.Errorf("the embedded description has no %s", field)
		}
		nullable := *schema.Value.Properties[last].Value
		nullable.Nullable = true
		schema.Value.Properties[last] = &openapi3.SchemaRef{Value: &nullable}
	}
	return nil
}

// operation finds a method of a path template.
func (d *description) operation(method, template string) (*openapi3.PathItem, *openapi3.Operation) {
	item := d.doc.Paths.Value(template)
	if item == nil {
		return nil, nil
	}
	return item, item.GetOperation(method)
}

type object = map[string]any

// example is a fresh copy of an example body, told as if it came from the server
// at api and were about a repository. It panics on a name that is not there: the
// names are ours, not input.
func (d *description) example(name, api, repository string) any {
	text, ok := d.examples[name]
	if !ok {
		panic("ghtest: the description has no example " + name)
	}
	told := retold(api, repository).Replace(string(text))
	var value any
	if err := json.Unmarshal([]byte(told), &value); err != nil {
		panic("ghtest: example " + name + ": " + err.Error())
	}
	return value
}

func retold(api, repository string) *strings.Replacer {
	return strings.NewReplacer("https://api.github.com", api, "octocat/Hello-World", repository, "octocat/hello-world", repository,
		"octo-org/octo-repo", repository, "octo-org/octo-docs", repository, "github/hello-world", repository)
}
