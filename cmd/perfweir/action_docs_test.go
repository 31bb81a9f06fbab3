package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const githubManual = "docs/github.md"

// workflowFile is what we read of a workflow.
type workflowFile struct {
	Name        string             `yaml:"name"`
	On          yaml.Node          `yaml:"on"`
	Permissions *map[string]string `yaml:"permissions"`
	Concurrency struct {
		Group string `yaml:"group"`
	} `yaml:"concurrency"`
	Jobs map[string]struct {
		Permissions *map[string]string `yaml:"permissions"`
		Timeout     int                `yaml:"timeout-minutes"`
		Steps       []stepFile         `yaml:"steps"`
	} `yaml:"jobs"`
}

// workflows are ours and the manual's examples, by file name: text.
func workflows(t *testing.T) (ours, examples map[string]string) {
	t.Helper()
	ours, examples = map[string]string{}, map[string]string{}
	files, err := filepath.Glob("../../.github/workflows/*.y*ml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		ours[filepath.Base(f)] = read(t, ".github/workflows/"+filepath.Base(f))
	}
	for _, m := range regexp.MustCompile("(?s)```yaml\n# \\.github/workflows/([a-z-]+\\.yml)\n(.*?)```").FindAllStringSubmatch(read(t, githubManual), -1) {
		if examples[m[1]] != "" {
			t.Errorf("two examples are %s", m[1])
		}
		examples[m[1]] = m[2]
	}
	if len(ours) < 4 || len(examples) < 8 {
		t.Fatalf("%d workflows and %d examples", len(ours), len(examples))
	}
	return ours, examples
}

func forWorkflows(t *testing.T, check func(t *testing.T, text string, w *workflowFile)) {
	ours, examples := workflows(t)
	for kind, list := range map[string]map[string]string{"ours": ours, "example": examples} {
		for name, text := range list {
			t.Run(kind+" "+name, func(t *testing.T) {
				var w workflowFile
				if err := yaml.Unmarshal([]byte(text), &w); err != nil {
					t.Fatal(err)
				}
				check(t, text, &w)
			})
		}
	}
}

// TestWorkflows: what every workflow of ours keeps, and every one that we tell others to write.
func TestWorkflows(t *testing.T) {
	forWorkflows(t, func(t *testing.T, text string, w *workflowFile) {
		if w.Permissions == nil || len(*w.Permissions) != 0 {
			t.Error("the workflow's permissions are not {}")
		}
		if w.Name == "" || w.Concurrency.Group == "" || len(w.Jobs) == 0 {
			t.Errorf("name %q, concurrency group %q, %d jobs", w.Name, w.Concurrency.Group, len(w.Jobs))
		}
		if strings.Contains(text, "pull_request_target") || strings.Contains(text, "secrets.") {
			t.Error("it holds secrets where code of a pull request could be")
		}
		for name, job := range w.Jobs {
			if job.Permissions == nil || len(*job.Permissions) == 0 || job.Timeout == 0 {
				t.Errorf("job %s has the permissions %v and %d minutes", name, job.Permissions, job.Timeout)
			}
			for i, s := range job.Steps {
				if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
					t.Errorf("job %s, step %d leaves a token in the checkout", name, i+1)
				}
				if strings.Contains(s.Run, "${{") {
					t.Errorf("job %s, step %d: an expression inside the script: %s", name, i+1, s.Run)
				}
			}
		}
	})
}

// TestWorkflowsUseTheAction: our action is given inputs that it has.
func TestWorkflowsUseTheAction(t *testing.T) {
	byUse := map[string]string{"./": rootAction, "perfweir/perfweir@COMMIT": rootAction, "perfweir/perfweir/.github/actions/run@COMMIT": runAction}
	used := map[string]int{}
	forWorkflows(t, func(t *testing.T, _ string, w *workflowFile) {
		for _, job := range w.Jobs {
			for _, s := range job.Steps {
				file, ours := byUse[s.Uses]
				if !ours {
					continue
				}
				used[s.Uses]++
				known := readAction(t, file).Inputs.names()
				for input := range s.With {
					if !slices.Contains(known, input) {
						t.Errorf("%s has no input %s", file, input)
					}
				}
			}
		}
	})
	for use := range byUse {
		if used[use] == 0 {
			t.Errorf("nothing uses %s", use)
		}
	}
}

// TestUsesArePinned: actions of others by full hash, with their version beside it,
// and one hash a version.
func TestUsesArePinned(t *testing.T) {
	ours, examples := workflows(t)
	texts := map[string]string{rootAction: read(t, rootAction), runAction: read(t, runAction)}
	maps.Copy(texts, ours)
	for name, text := range examples {
		texts[githubManual+" "+name] = regexp.MustCompile(`uses: perfweir/perfweir(/\.github/actions/run)?@COMMIT\n`).ReplaceAllString(text, "\n")
	}
	uses := regexp.MustCompile(`(?m)^.*\buses:.*$`)
	pinned := regexp.MustCompile(`^\s*(?:- )?uses: ([a-z-]+/[a-z-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
	hashes := map[string]string{}
	for name, text := range texts {
		for _, line := range uses.FindAllString(text, -1) {
			if strings.HasSuffix(line, " ./") {
				continue
			}
			m := pinned.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: want owner/name@FULL-HASH # vX.Y.Z: %s", name, line)
				continue
			}
			key := m[1] + " " + m[3]
			if h := hashes[key]; h != "" && h != m[2] {
				t.Errorf("%s is %s and %s", key, h, m[2])
			}
			hashes[key] = m[2]
		}
	}
	if len(hashes) < 6 {
		t.Errorf("only %d actions found: %v", len(hashes), hashes)
	}
	if hashes["actions/upload-artifact v7.0.0"] == "" {
		t.Error("the action does not upload with upload-artifact v7.0.0")
	}
}

// TestActionTables: the tables of inputs and outputs say what action.yml says,
// wherever a text has their marks.
func TestActionTables(t *testing.T) {
	a := readAction(t, rootAction)
	tables := map[string]string{"inputs": "| input | default | means |\n| --- | --- | --- |\n", "outputs": "| output | is |\n| --- | --- |\n"}
	for _, e := range a.Inputs {
		def := ""
		if e.Default != "" {
			def = "`" + e.Default + "`"
		}
		tables["inputs"] += fmt.Sprintf("| `%s` | %s | %s |\n", e.Name, def, e.Description)
	}
	for _, e := range a.Outputs {
		tables["outputs"] += fmt.Sprintf("| `%s` | %s |\n", e.Name, e.Description)
	}
	seen := 0 // both of the manual, and the inputs in the README
	for _, name := range []string{githubManual, "README.md"} {
		text := read(t, name)
		want := text
		for mark, table := range tables {
			between := regexp.MustCompile(`(?s)<!-- ` + mark + ` -->\n.*?<!-- /` + mark + ` -->`)
			seen += len(between.FindAllString(text, -1))
			want = between.ReplaceAllLiteralString(want, "<!-- "+mark+" -->\n"+table+"<!-- /"+mark+" -->")
		}
		if text == want {
			continue
		}
		if !*update {
			t.Errorf("the tables of %s are not those of action.yml: rewrite them with -update", name)
		} else if err := os.WriteFile(filepath.Join("../..", name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if seen != 3 {
		t.Errorf("%d tables found, want 3", seen)
	}
}

// TestGithubManual: what a maintainer must know is there.
func TestGithubManual(t *testing.T) {
	manual := read(t, githubManual)
	for _, must := range []string{"GitHub lets neutral pass", "persist-credentials: false", "`contents: read`", "`actions: read`", "`checks: write`",
		"`pull-requests: write`", "`statuses: write`", "pull_request_target", "perfweir / SUITE"} {
		if !strings.Contains(manual, must) {
			t.Errorf("%s does not tell of %s", githubManual, must)
		}
	}
	for _, mode := range []string{"baseline", "judge", "publish", "rejudge"} {
		if !strings.Contains(manual, "mode: "+mode+"\n") {
			t.Errorf("%s has no example of mode %s", githubManual, mode)
		}
	}
}

// TestReleaseKnowsItsVersion: the linker sets a variable by its name and says
// nothing when there is none.
func TestReleaseKnowsItsVersion(t *testing.T) {
	for _, script := range []string{".github/actions/install.sh", ".ci/release.sh"} {
		if !strings.Contains(read(t, script), "internal/cli.release=") {
			t.Errorf("%s does not set the version", script)
		}
	}
	files, err := filepath.Glob("internal/cli/*.go")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f string) bool {
		return regexp.MustCompile(`(?m)^(var )?\s*release\s+string$`).MatchString(read(t, "cmd/perfweir/"+f))
	}) {
		t.Error("package cli has no `var release string`, which the linker is to set: a released binary would not know its version")
	}
}
