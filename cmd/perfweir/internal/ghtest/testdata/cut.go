//go:build ignore

// Cut takes GitHub's description of its REST API and leaves the operations that
// a client of ours may call, with every component they reach. What is left is
// unchanged, word for word.
//
//	npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
//	go run cut.go -from package/generated/api.github.com.json -to description.json.gz
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
)

const repository = "/repos/{owner}/{repo}"

// wanted are the operations by path. One that is added here needs an endpoint in
// the package above; a test compares the two.
var wanted = map[string][]string{
	"/rate_limit":                     {"get"},
	"/user":                           {"get"},
	repository:                        {"get"},
	repository + "/actions/artifacts": {"get"},
	repository + "/actions/artifacts/{artifact_id}":                  {"get"},
	repository + "/actions/artifacts/{artifact_id}/{archive_format}": {"get"},
	repository + "/actions/runs":                                     {"get"},
	repository + "/actions/runs/{run_id}":                            {"get"},
	repository + "/actions/runs/{run_id}/artifacts":                  {"get"},
	repository + "/actions/workflows/{workflow_id}":                  {"get"},
	repository + "/actions/workflows/{workflow_id}/runs":             {"get"},
	repository + "/check-runs":                                       {"post"},
	repository + "/check-runs/{check_run_id}":                        {"get", "patch"},
	repository + "/check-runs/{check_run_id}/annotations":            {"get"},
	repository + "/collaborators/{username}/permission":              {"get"},
	repository + "/commits":                                          {"get"},
	repository + "/commits/{commit_sha}/pulls":                       {"get"},
	repository + "/commits/{ref}":                                    {"get"},
	repository + "/commits/{ref}/check-runs":                         {"get"},
	repository + "/compare/{basehead}":                               {"get"},
	repository + "/contents/{path}":                                  {"get"},
	repository + "/git/commits/{commit_sha}":                         {"get"},
	repository + "/issues/comments/{comment_id}":                     {"get", "patch", "delete"},
	repository + "/issues/{issue_number}":                            {"get"},
	repository + "/issues/{issue_number}/comments":                   {"get", "post"},
	repository + "/issues/{issue_number}/events":                     {"get"},
	repository + "/issues/{issue_number}/labels":                     {"get"},
	repository + "/pulls":                                            {"get"},
	repository + "/pulls/{pull_number}":                              {"get"},
	repository + "/statuses/{sha}":                                   {"post"},
}

// always are schemas of answers that GitHub gives to any operation and that not
// every operation lists.
var always = []string{"#/components/schemas/basic-error", "#/components/schemas/validation-error"}

type object = map[string]any

func main() {
	log.SetFlags(0)
	from := flag.String("from", "api.github.com.json", "the whole description")
	to := flag.String("to", "description.json.gz", "where the cut one goes")
	flag.Parse()
	if err := run(*from, *to); err != nil {
		log.Fatal(err)
	}
}

func run(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var whole object
	if err := json.Unmarshal(b, &whole); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	part, err := cut(whole)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	text, err := json.Marshal(part) // with sorted keys: the same cut, the same bytes
	if err != nil {
		return err
	}
	var z bytes.Buffer
	w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Printf("%d paths, %d bytes, %d packed\n", len(wanted), len(text), z.Len())
	return os.WriteFile(to, z.Bytes(), 0o644)
}

func cut(whole object) (object, error) {
	paths := object{}
	for path, methods := range wanted {
		item, ok := whole["paths"].(object)[path].(object)
		if !ok {
			return nil, fmt.Errorf("no path %s", path)
		}
		kept := object{}
		for key, value := range item {
			isMethod := slices.Contains([]string{"get", "put", "post", "patch", "delete"}, key)
			if !isMethod || slices.Contains(methods, key) {
				kept[key] = value
			}
		}
		for _, m := range methods {
			if kept[m] == nil {
				return nil, fmt.Errorf("no operation %s %s", m, path)
			}
		}
		paths[path] = kept
	}
	components := object{}
	if err := reach(whole, components, paths); err != nil {
		return nil, err
	}
	for _, ref := range always {
		if err := reach(whole, components, object{"$ref": ref}); err != nil {
			return nil, err
		}
	}
	return object{"openapi": whole["openapi"], "info": whole["info"], "servers": whole["servers"],
		"externalDocs": whole["externalDocs"], "paths": paths, "components": components}, nil
}

// reach copies into kept every component that value refers to, and what those
// refer to.
func reach(whole, kept object, value any) error {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			if err := reach(whole, kept, v); err != nil {
				return err
			}
		}
	case object:
		for key, v := range value {
			ref, isText := v.(string)
			if isText && (key == "$ref" || strings.HasPrefix(ref, "#/components/")) {
				if err := keep(whole, kept, ref); err != nil {
					return err
				}
				continue
			}
			if err := reach(whole, kept, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func keep(whole, kept object, ref string) error {
	parts := strings.Split(ref, "/")
	if len(parts) != 4 || parts[0] != "#" || parts[1] != "components" {
		return fmt.Errorf("reference %q is not to a component", ref)
	}
	kind, name := parts[2], parts[3]
	value, ok := whole["components"].(object)[kind].(object)[name]
	if !ok {
		return fmt.Errorf("no component %s", ref)
	}
	if kept[kind] == nil {
		kept[kind] = object{}
	}
	if kept[kind].(object)[name] != nil {
		return nil
	}
	kept[kind].(object)[name] = value
	return reach(whole, kept, value)
}
