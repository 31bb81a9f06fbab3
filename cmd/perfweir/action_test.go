package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// The two actions. The second is the first without the upload.
const (
	rootAction = "action.yml"
	runAction  = ".github/actions/run/action.yml"
)

// What users write into their workflows: a name that goes away breaks them.
var (
	actionInputs = []string{"config", "working-directory", "mode", "suite", "machine", "token", "base", "cells", "shard", "publish", "comment",
		"comment-group", "check", "annotations", "summary", "fail-on", "allow-forks", "require-baseline", "expect-machines", "upload",
		"artifact-name", "retention-days", "out", "binary", "download-url", "args"}
	actionOutputs = []string{"verdict", "exit-code", "failed", "inconclusive", "accepted", "not-compared", "baseline-commit", "baseline-sessions",
		"results-path", "report-path", "html-path", "junit-path", "upload-path", "artifact-name", "comment-url", "check-run-url"}
	uploadInputs  = []string{"upload", "retention-days"}
	installInputs = []string{"binary", "download-url"}
)

// actionFile is what we read of an action.yml.
type actionFile struct {
	Name        string            `yaml:"name"`
	Description string            `yaml:"description"`
	Branding    map[string]string `yaml:"branding"`
	Inputs      entries           `yaml:"inputs"`
	Outputs     entries           `yaml:"outputs"`
	Runs        struct {
		Using string     `yaml:"using"`
		Steps []stepFile `yaml:"steps"`
	} `yaml:"runs"`
}

// stepFile is a step of an action or of a workflow.
type stepFile struct {
	ID              string            `yaml:"id"`
	If              string            `yaml:"if"`
	Uses            string            `yaml:"uses"`
	With            map[string]string `yaml:"with"`
	Shell           string            `yaml:"shell"`
	Env             map[string]string `yaml:"env"`
	Run             string            `yaml:"run"`
	ContinueOnError string            `yaml:"continue-on-error"`
}

// entries are inputs or outputs in the order of the file.
type entries []entry

type entry struct {
	Name        string `yaml:"-"`
	Description string `yaml:"description"`
	Default     string `yaml:"default"`
	Value       string `yaml:"value"`
}

func (e *entries) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		one := entry{Name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&one); err != nil {
			return err
		}
		*e = append(*e, one)
	}
	return nil
}

func (e entries) names() (names []string) {
	for _, one := range e {
		names = append(names, one.Name)
	}
	return names
}

func readAction(t *testing.T, name string) *actionFile {
	t.Helper()
	var a actionFile
	d := yaml.NewDecoder(strings.NewReader(read(t, name)))
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &a
}

// scripts are the steps with a script; stages those of them that run the binary.
func (a *actionFile) scripts() []stepFile {
	return slices.DeleteFunc(slices.Clone(a.Runs.Steps), func(s stepFile) bool { return s.Run == "" })
}

func (a *actionFile) stages() []stepFile {
	return slices.DeleteFunc(a.scripts(), func(s stepFile) bool { return s.ID == "install" })
}

func forBoth(t *testing.T, check func(t *testing.T, name string, a *actionFile)) {
	for _, name := range []string{rootAction, runAction} {
		t.Run(name, func(t *testing.T) { check(t, name, readAction(t, name)) })
	}
}

func without(list, some []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(some, s) })
}

// TestActionInterface: names of inputs and outputs, as users write them.
func TestActionInterface(t *testing.T) {
	forBoth(t, func(t *testing.T, name string, a *actionFile) {
		inputs := actionInputs
		if name == runAction {
			inputs = without(inputs, uploadInputs)
		}
		if diff := cmp.Diff(inputs, a.Inputs.names()); diff != "" {
			t.Errorf("inputs (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(actionOutputs, a.Outputs.names()); diff != "" {
			t.Errorf("outputs (-want +got):\n%s", diff)
		}
		for _, e := range slices.Concat(a.Inputs, a.Outputs) {
			if e.Description == "" || !strings.HasSuffix(e.Description, ".") {
				t.Errorf("%s has the description %q", e.Name, e.Description)
			}
		}
		for _, o := range a.Outputs {
			want := "${{ steps.judge.outputs." + o.Name + " || steps.finish.outputs." + o.Name + " || steps.prepare.outputs." + o.Name + " }}"
			if o.Value != want {
				t.Errorf("output %s is %s, want %s", o.Name, o.Value, want)
			}
		}
		if a.Name == "" || a.Description == "" || a.Branding["icon"] == "" || a.Branding["color"] == "" || a.Runs.Using != "composite" {
			t.Errorf("name %q, description %q, branding %v, using %q", a.Name, a.Description, a.Branding, a.Runs.Using)
		}
	})
}

func variable(input string) string {
	return "PERFWEIR_INPUT_" + strings.ToUpper(strings.ReplaceAll(input, "-", "_"))
}

// TestActionInputsByEnvironment: a script is never made of an input, and every
// input reaches every stage, which reads what it needs.
func TestActionInputsByEnvironment(t *testing.T) {
	forBoth(t, func(t *testing.T, name string, a *actionFile) {
		if len(a.stages()) != 4 {
			t.Fatalf("%d stages, want prepare, measure, judge, finish", len(a.stages()))
		}
		for _, s := range a.scripts() {
			if strings.Contains(s.Run, "${{") {
				t.Errorf("step %s: an expression inside the script: %s", s.ID, s.Run)
			}
			want := map[string]string{}
			for _, input := range without(a.Inputs.names(), append(installInputs, "token")) {
				want[variable(input)] = "${{ inputs." + input + " }}"
			}
			if name == runAction {
				want[variable("upload")] = "false"
			}
			if s.ID == "install" {
				want = map[string]string{variable("binary"): "${{ inputs.binary }}", variable("download-url"): "${{ inputs.download-url }}"}
			}
			got := maps.Clone(s.Env)
			maps.DeleteFunc(got, func(k, _ string) bool { return !strings.HasPrefix(k, "PERFWEIR_INPUT_") })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("step %s (-want +got):\n%s", s.ID, diff)
			}
		}
	})
}

// TestActionTokenStaysOut: three steps hold the token; the one that runs code of
// the repository holds nothing that is secret.
func TestActionTokenStaysOut(t *testing.T) {
	forBoth(t, func(t *testing.T, _ string, a *actionFile) {
		holds := []string{"prepare", "judge", "finish"}
		seen := 0
		for _, s := range a.Runs.Steps {
			for k, v := range s.Env {
				secret := strings.Contains(v, "token") || strings.Contains(v, "secrets")
				switch {
				case k == "PERFWEIR_TOKEN" && v == "${{ inputs.token }}" && slices.Contains(holds, s.ID):
					seen++
				case k == "PERFWEIR_TOKEN" || secret:
					t.Errorf("step %s has %s: %s", s.ID, k, v)
				}
			}
			for k, v := range s.With {
				if strings.Contains(v, "token") || strings.Contains(v, "secrets") {
					t.Errorf("step %s hands on %s: %s", s.ID, k, v)
				}
			}
		}
		if seen != len(holds) {
			t.Errorf("%d steps hold the token, want %d", seen, len(holds))
		}
	})
}

// TestActionStepsEndInExec: the runner signals the process that it started.
func TestActionStepsEndInExec(t *testing.T) {
	ends := map[string]string{
		"prepare": `exec "$PERFWEIR_BIN" ci --stage prepare`,
		"measure": `exec "$PERFWEIR_BIN" ci --stage measure`,
		"judge":   `exec "$PERFWEIR_BIN" ci --stage judge`,
		"finish":  `exec "$PERFWEIR_BIN" publish --finish`,
	}
	forBoth(t, func(t *testing.T, _ string, a *actionFile) {
		first := strings.SplitAfter(a.stages()[0].Run, "\n")[0]
		for _, s := range a.scripts() {
			lines := strings.Split(strings.TrimSpace(s.Run), "\n")
			last := lines[len(lines)-1]
			if s.Shell != "bash" || !strings.HasPrefix(last, "exec ") || s.ID != "install" && last != ends[s.ID] {
				t.Errorf("step %s, shell %s, ends in %s", s.ID, s.Shell, last)
			}
			if s.ID == "install" {
				continue
			}
			if len(lines) != 2 || lines[0]+"\n" != first || !strings.Contains(first, "exit 4") {
				t.Errorf("step %s does not begin with the check of the binary: %s", s.ID, s.Run)
			}
			if s.Env["PERFWEIR_BIN"] != "${{ steps.install.outputs.path }}" || s.Env["PERFWEIR_SHA256"] != "${{ steps.install.outputs.sha256 }}" {
				t.Errorf("step %s takes the binary from elsewhere than the install step's outputs", s.ID)
			}
			for k, v := range s.Env {
				if strings.HasPrefix(k, "PERFWEIR_CONTEXT_") && !strings.HasPrefix(v, "${{ steps.prepare.outputs.") {
					t.Errorf("step %s: %s is %s: only what was known before the code under test ran", s.ID, k, v)
				}
			}
		}
	})
}

// TestActionNames: every input and step that an expression names is there, and
// steps that are named ran before.
func TestActionNames(t *testing.T) {
	reference := regexp.MustCompile(`\b(inputs|steps)\.([a-z-]+)`)
	forBoth(t, func(t *testing.T, _ string, a *actionFile) {
		inputs, before := a.Inputs.names(), []string{}
		check := func(place, text string) {
			for _, m := range reference.FindAllStringSubmatch(text, -1) {
				if known := map[string][]string{"inputs": inputs, "steps": before}[m[1]]; !slices.Contains(known, m[2]) {
					t.Errorf("%s: %s is not known there: %s", place, m[0], text)
				}
			}
		}
		for _, s := range a.Runs.Steps {
			for _, text := range slices.Concat([]string{s.If, s.ContinueOnError}, slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.With))) {
				check("step "+s.ID, text)
			}
			before = append(before, s.ID)
		}
		for _, o := range a.Outputs {
			check("output "+o.Name, o.Value)
		}
	})
}

// TestRunAction: the action without the upload is made of the other one.
func TestRunAction(t *testing.T) {
	want := withoutUpload(t, read(t, rootAction))
	path := filepath.Join("../..", runAction)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, read(t, runAction)); diff != "" {
		t.Errorf("%s (-want +got), rewrite it with -update:\n%s", runAction, diff)
	}
}

// withoutUpload makes the second action of the first: what is between the marks
// goes, and so do lines that name what went.
func withoutUpload(t *testing.T, text string) string {
	t.Helper()
	text = regexp.MustCompile(`(?m)^ *# \[upload\n(?s:.*?)# upload\]\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^.*inputs\.retention-days.*\n`).ReplaceAllString(text, "")
	_, text, found := strings.Cut(text, "\nname: perfweir\n")
	if !found {
		t.Fatal("no name: perfweir")
	}
	for _, r := range []struct {
		from, to string
		times    int
	}{
		{"${{ inputs.upload }}", "'false'", 4},
		{`"$GITHUB_ACTION_PATH/.github/actions/install.sh"`, `"$GITHUB_ACTION_PATH/../install.sh"`, 1},
		{"description: A performance gate. ", "description: A performance gate, without the upload of its results. ", 1},
		{"\n\n\n", "\n\n", 1},
	} {
		if n := strings.Count(text, r.from); n != r.times {
			t.Fatalf("%q is there %d times, want %d", r.from, n, r.times)
		}
		text = strings.ReplaceAll(text, r.from, r.to)
	}
	return "# Made of action.yml by go test ./cmd/perfweir -run TestRunAction -update\n" +
		"# The same without the upload, for servers that upload-artifact does not run on.\nname: perfweir run\n" + text
}
