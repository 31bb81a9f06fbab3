package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/perfweir/perfweir/"

// rooms are the import rules of ARCHITECTURE.md as data: what each package may
// import of ours (std is judged by impure below), and why. A package that is not
// here fails the test: decide where it belongs first.
var rooms = map[string]struct {
	may []string // of this module
	lib []string // of others, by prefix
	why string
}{
	"collect/result":                   {nil, []string{"github.com/bmatcuk/doublestar/v4"}, "a document: its readers must not inherit machinery"},
	"collect/result/unit":              {nil, nil, "units are arithmetic"},
	"collect/series":                   {nil, nil, "a document of samples, standard library only"},
	"collect/plan":                     {[]string{"collect/result"}, nil, "pure: suites in, plan out"},
	"collect/journal":                  {[]string{"collect/result", "collect/plan"}, []string{"golang.org/x/sys/unix"}, "the log and its fold; fdatasync"},
	"collect/reduce":                   {[]string{"collect/result", "collect/series"}, nil, "pure: series in, measurements out"},
	"collect/parse/generic":            {[]string{"collect/result", "collect/result/unit", "collect/plan"}, nil, "pure: text in, measurements out"},
	"collect/parse/gobench":            {[]string{"collect/result", "collect/result/unit", "collect/parse/generic"}, []string{"golang.org/x/perf/"}, "pure: what go test -bench prints"},
	"collect/parse":                    {[]string{"collect/result", "collect/parse/generic", "collect/parse/gobench"}, nil, "the list of formats: pure"},
	"collect/prepare":                  {[]string{"collect/sample/linuxproc/pidstat"}, []string{"golang.org/x/sys/unix"}, "the machine before a run, nothing about what is measured"},
	"collect/control":                  {nil, []string{"golang.org/x/sys/unix"}, "the bytes of one small program, and where they are started from"},
	"collect/launch/resident":          {nil, nil, "the bytes of one small program"},
	"collect/launch":                   {[]string{"collect/launch/resident", "collect/sample/linuxproc/pidstat"}, []string{"golang.org/x/sys/unix"}, "one process, nothing about what it means"},
	"collect/sample":                   {[]string{"collect/result", "collect/series"}, nil, "the tick loop knows no source"},
	"collect/sample/linuxproc":         {[]string{"collect/result", "collect/sample", "collect/sample/linuxproc/pidstat", "collect/series"}, nil, "a source"},
	"collect/sample/linuxproc/pidstat": {nil, nil, "one line of the kernel, parsed"},
	"collect/host":                     {[]string{"collect/result"}, []string{"github.com/prometheus/procfs"}, "reads the machine"},
	"collect/worktree":                 {[]string{"collect/result"}, nil, "the only room that runs git"},
	"collect/measure": {[]string{"collect/host", "collect/result", "collect/result/unit", "collect/plan", "collect/launch", "collect/prepare", "collect/sample", "collect/sample/linuxproc", "collect/sample/linuxproc/pidstat", "collect/series", "collect/reduce", "collect/parse", "collect/parse/generic"},
		[]string{"golang.org/x/sys/unix"}, "one run"},
	"collect": {[]string{"collect/result", "collect/plan", "collect/journal", "collect/measure"}, nil, "order and journalling, nothing about one run"},

	"baseline":            {[]string{"collect/result"}, nil, "pure: candidates in, baseline out"},
	"baseline/localdir":   {[]string{"collect/result", "baseline"}, nil, "reads a folder"},
	"baseline/sourcetest": {[]string{"collect/result", "baseline"}, nil, "what every source must do; imported by tests alone"},

	"baseline/artifact": {[]string{"collect/result", "baseline"}, nil, "what earlier workflow runs left; it knows no HTTP"},

	"gate/budget":   {[]string{"collect/result"}, nil, "a leaf: limits and what they select"},
	"gate/stats":    {nil, []string{"gonum.org/v1/gonum/"}, "the only room with distributions"},
	"gate/verdict":  {[]string{"collect/result", "gate/budget"}, nil, "a document"},
	"gate":          {[]string{"collect/result", "collect/result/unit", "baseline", "gate/budget", "gate/stats", "gate/verdict"}, nil, "pure: documents in, verdict out"},
	"gate/exhibit":  {[]string{"collect/result", "gate/verdict", "gate/budget"}, nil, "a document"},
	"gate/trend":    {[]string{"collect/result", "baseline", "gate/stats", "gate/exhibit"}, nil, "pure: stored sessions in, what a page draws out"},
	"gate/selftest": {[]string{"collect/result", "collect/result/unit", "gate/budget", "gate/stats", "gate/verdict"}, nil, "a document: verdicts of sessions in which nothing changed, counted"},
	"gate/report": {[]string{"collect/result", "collect/result/unit", "gate/budget", "gate/verdict", "gate/exhibit", "gate/selftest"},
		[]string{"github.com/jstemmer/go-junit-report/v2/junit"}, "renderers see documents, never statistics"},
	"gate/publish": {[]string{"gate/budget", "gate/verdict", "gate/report"}, []string{"github.com/sethvargo/go-githubactions"}, "tells verdicts; it knows no HTTP"},

	"cmd/perfweir":                       {[]string{"cmd/perfweir/internal/cli"}, nil, "ten lines"},
	"cmd/perfweir/internal/cli":          {[]string{"cmd/", "gate", "gate/report", "gate/publish", "gate/verdict"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/kballard/go-shellquote", "golang.org/x/sys/unix"}, "flags to options, outcomes to exit codes"},
	"cmd/perfweir/internal/config":       {[]string{"collect/result", "collect/result/unit", "collect/plan", "baseline", "gate/budget"}, []string{"gopkg.in/yaml.v3", "github.com/google/jsonschema-go", "github.com/bmatcuk/doublestar/v4"}, "the only YAML"},
	"cmd/perfweir/internal/docschema":    {[]string{"collect/result", "collect/plan", "gate/verdict", "gate/exhibit", "gate/selftest", "gate/budget"}, []string{"github.com/google/jsonschema-go"}, "documents stay free of schema machinery"},
	"cmd/perfweir/internal/doctor":       {[]string{"collect/host", "collect/result"}, nil, "pure: facts of a machine in, words out"},
	"cmd/perfweir/internal/durable":      {nil, []string{"golang.org/x/sys/unix"}, "files and locks, no documents"},
	"cmd/perfweir/internal/ghapi":        {[]string{"baseline/artifact", "gate/publish"}, []string{"github.com/google/go-github/v62"}, "the one GitHub client: the ports' types, no rules"},
	"cmd/perfweir/internal/ghtest":       {nil, []string{"github.com/getkin/kin-openapi"}, "GitHub's API for tests and for act; imported by tests alone"},
	"cmd/perfweir/internal/ghtest/stand": {[]string{"cmd/perfweir/internal/ghtest"}, nil, "the fake as a program"},
	"cmd/perfweir/internal/progress":     {[]string{"cmd/perfweir/internal/flow"}, nil, "draws events"},
	"cmd/perfweir/internal/flow":         {[]string{"collect", "baseline", "gate", "cmd/"}, []string{"github.com/bmatcuk/doublestar/v4", "github.com/oklog/ulid/v2", "golang.org/x/sys/unix"}, "only here does everything meet"},
}

// pure packages take values and return values: none of impure is imported.
var pure = []string{"collect/result", "collect/result/unit", "collect/series", "collect/plan", "collect/reduce", "collect/parse", "collect/parse/generic", "collect/parse/gobench",
	"baseline", "baseline/artifact", "gate", "gate/budget", "gate/publish", "gate/stats", "gate/verdict", "gate/exhibit", "gate/trend", "gate/selftest", "gate/report", "cmd/perfweir/internal/doctor"}

var impure = []string{"os", "os/exec", "net", "net/http", "syscall", "math/rand"}

// problems judges one package's imports.
func problems(pkg string, imports []string) []string {
	room, ok := rooms[pkg]
	if !ok {
		return []string{fmt.Sprintf("package %s has no rule: add one to rooms, with its reason, and to ARCHITECTURE.md", pkg)}
	}
	var out []string
	for _, imp := range imports {
		ours, isOurs := strings.CutPrefix(imp, module)
		switch {
		case isOurs:
			if !slices.ContainsFunc(room.may, func(m string) bool {
				return ours == m || allowsBelow(pkg, m) && strings.HasPrefix(ours, strings.TrimSuffix(m, "/")+"/")
			}) {
				out = append(out, fmt.Sprintf("%s imports %s: %s", pkg, ours, room.why))
			}
		case strings.Contains(strings.Split(imp, "/")[0], "."):
			if !slices.ContainsFunc(room.lib, func(l string) bool { return strings.HasPrefix(imp, l) }) {
				out = append(out, fmt.Sprintf("%s imports %s: %s", pkg, imp, room.why))
			}
		case imp == "C":
			out = append(out, fmt.Sprintf("%s uses cgo: only collect/sample/nvidia may, once it is there", pkg))
		case slices.Contains(pure, pkg) && slices.Contains(impure, imp):
			out = append(out, fmt.Sprintf("%s imports %s: it is pure", pkg, imp))
		}
	}
	return out
}

// allowsBelow: flow and cli may import a whole stage.
func allowsBelow(pkg, rule string) bool {
	return pkg == "cmd/perfweir/internal/flow" || strings.HasSuffix(rule, "/")
}

func TestImports(t *testing.T) {
	root := "../.."
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		for _, i := range parsed.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports[pkg] = append(imports[pkg], name)
		}
		if imports[pkg] == nil {
			imports[pkg] = []string{}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(imports) < 15 {
		t.Fatalf("only %d packages found", len(imports))
	}
	for pkg, list := range imports {
		for _, p := range problems(pkg, list) {
			t.Error(p)
		}
	}
	architecture, err := os.ReadFile(path.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range rooms {
		if imports[pkg] == nil {
			t.Errorf("rooms has %s, which does not exist", pkg)
		}
		if name := path.Base(pkg); !strings.Contains(string(architecture), name+"/") {
			t.Errorf("ARCHITECTURE.md does not name %s/", name)
		}
	}
}

// TestImportsCatchesWrongOnes: the test of the test.
func TestImportsCatchesWrongOnes(t *testing.T) {
	for _, tt := range []struct{ pkg, imp, want string }{
		{"gate", "os", "it is pure"},
		{"gate", module + "collect/measure", "documents in, verdict out"},
		{"gate/report", module + "gate/stats", "never statistics"},
		{"gate/report", "gonum.org/v1/gonum/stat", "never statistics"},
		{"collect/plan", "gopkg.in/yaml.v3", "suites in, plan out"},
		{"collect", module + "gate", "order and journalling"},
		{"gate/verdict", "C", "cgo"},
		{"somewhere/new", "fmt", "has no rule"},
		{"cmd/perfweir/internal/flow", module + "gate/stats", ""},
		{"gate", module + "gate/stats", ""},
	} {
		got := strings.Join(problems(tt.pkg, []string{tt.imp}), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s importing %s: %q, want %q", tt.pkg, tt.imp, got, tt.want)
		}
	}
}

// TestNoClockBelowTheShell: pure packages have no time of their own.
func TestNoClockBelowTheShell(t *testing.T) {
	for _, pkg := range pure {
		files, _ := filepath.Glob(filepath.Join("../..", pkg, "*.go"))
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, call := range []string{"time.Now(", "time.Since(", "os.Getenv(", "time.Sleep("} {
				if strings.Contains(string(b), call) {
					t.Errorf("%s calls %s)", f, call)
				}
			}
		}
	}
}
