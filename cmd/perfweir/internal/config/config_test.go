package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// suites returns the suite files of one folder of testdata/config; a folder that
// is empty is a failure, or a test of nothing would pass.
func suites(t testing.TB, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../../../testdata/config", folder, "*.yml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no suite files in testdata/config/%s: %v", folder, err)
	}
	return names
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOK(t *testing.T) {
	for _, name := range suites(t, "ok") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, problems := Parse(filepath.Base(name), read(t, name))
			if len(problems) > 0 {
				t.Fatalf("problems:\n%s", problems)
			}
			if len(f.Warnings) > 0 {
				t.Errorf("warnings:\n%s", f.Warnings)
			}
		})
	}
}

func TestErr(t *testing.T) {
	names := suites(t, "err")
	if len(names) < 45 {
		t.Errorf("%d err files, want 45 at least", len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			f, problems := Parse(filepath.Base(name), read(t, name))
			if f != nil || len(problems) == 0 {
				t.Fatal("no problem was found")
			}
			golden := strings.TrimSuffix(name, ".yml") + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(problems.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, golden)); problems.String() != want {
				t.Errorf("problems:\n%swant:\n%s", problems, want)
			}
		})
	}
}

func TestDefaultIsSilent(t *testing.T) {
	f, problems := Parse("perfweir.yml", Default())
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", problems)
	}
	if len(f.Warnings) > 0 || len(f.Suite.Benchmarks) == 0 || len(f.Budgets) == 0 {
		t.Errorf("%d warnings, %d benchmarks, %d budgets", len(f.Warnings), len(f.Suite.Benchmarks), len(f.Budgets))
	}
}

// The schema accepts every ok file and refuses every file whose shape is wrong,
// so that an editor's red line and Parse agree.
func TestSchema(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, data []byte) error {
		return resolved.Validate(jsonValue(t, name, data))
	}
	if err := check("default", Default()); err != nil {
		t.Errorf("the default suite: %v", err)
	}
	for _, name := range suites(t, "ok") {
		if err := check(name, read(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	shapes := 0
	for _, name := range suites(t, "err") {
		if strings.HasPrefix(filepath.Base(name), "shape_") {
			shapes++
			if err := check(name, read(t, name)); err == nil {
				t.Errorf("%s: the schema accepts it", name)
			}
		}
	}
	if shapes == 0 {
		t.Error("no err file is named shape_*")
	}
}

func TestSchemaIsDescribed(t *testing.T) {
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Schema()
	if err != nil || !bytes.Equal(text, again) {
		t.Error("two calls differ")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	var visit func(path string, s *jsonschema.Schema)
	visit = func(path string, s *jsonschema.Schema) {
		for key, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", path, key)
			}
			visit(path+"."+key, p)
		}
		if s.Items != nil {
			visit(path+"[]", s.Items)
		}
		for _, a := range s.AnyOf {
			visit(path, a)
		}
	}
	visit("", &s)
	if _, ok := s.Properties["sampling"].Properties["sources"]; ok {
		t.Error("a key of a later version is in the schema")
	}
}

// jsonValue is the file as a JSON reader sees it.
func jsonValue(t *testing.T, name string, data []byte) any {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever the bytes are, Parse ends, and says either a file or problems that
// stand in the file.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"ok", "err"} {
		for _, name := range suites(f, folder) {
			f.Add(read(f, name))
		}
	}
	f.Add(Default())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, problems := Parse("x.yml", data)
		if (file == nil) == (len(problems) == 0) {
			t.Fatalf("file %v with %d problems", file, len(problems))
		}
		lines := bytes.Count(data, []byte("\n")) + 2
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Line > lines && p.Line > bytes.Count(data, []byte("\r"))+lines {
				t.Errorf("%s: the file has %d lines", p, lines)
			}
			if p.What == "" || p.Instead == "" || strings.ContainsAny(p.String(), "\n\x00\x1b") {
				t.Errorf("a problem that is not one clean line: %q", p.String())
			}
		}
	})
}

// A suite's name from elsewhere follows the rules of the file.
func TestCheckSuiteName(t *testing.T) {
	for name, ok := range map[string]bool{
		"codec": true, "codec, arm64": true, "größe": true, "": false, "a/b": false, "..": false, " a": false, "a\n": false, "a\xff": false, strings.Repeat("x", 201): false,
	} {
		if err := CheckSuiteName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
		if name == "" || strings.Contains(name, "\n") || !utf8.ValidString(name) {
			continue // the file cannot hold these at all
		}
		_, problems := Parse("s.yml", []byte("version: 1\nsuite: '"+name+"'\nbenchmarks: [{name: a, run: [a]}]\n"))
		if (len(problems) == 0) != ok {
			t.Errorf("%q in a file: %s", name, problems)
		}
	}
}

// The suites that the project runs on itself say nothing that is wrong or odd.
func TestOwnSuites(t *testing.T) {
	names, err := filepath.Glob("../../../../testdata/*/perfweir.yml")
	if err != nil || len(names) < 2 {
		t.Fatalf("suites %q: %v", names, err)
	}
	for _, name := range names {
		f, problems := Parse(name, read(t, name))
		if len(problems) > 0 {
			t.Errorf("problems:\n%s", problems)
		} else if len(f.Warnings) > 0 {
			t.Errorf("warnings:\n%s", f.Warnings)
		}
	}
}
