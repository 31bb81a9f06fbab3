package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestArchitectureNamesTests: every invariant is kept by a test that exists.
func TestArchitectureNamesTests(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	section := text[strings.Index(text, "## Ten invariants"):]
	named := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(section, -1)
	if len(named) < 10 {
		t.Fatalf("%d tests named, want at least ten", len(named))
	}
	out, err := exec.Command("grep", "-rhoE", "^func Test[A-Za-z0-9]+", "--include=*_test.go", "../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	there := string(out) + "\n"
	for _, n := range named {
		if !strings.Contains(there, "func "+n[1]+"\n") {
			t.Errorf("ARCHITECTURE.md names %s, which is no test", n[1])
		}
	}
}

// TestCommandsAreDocumented: the manual knows every command and exit code.
func TestCommandsAreDocumented(t *testing.T) {
	manual := read(t, "docs/commands.md")
	for _, c := range []string{"ci", "run", "gate", "report", "explain", "accept", "merge", "publish", "baseline save", "baseline pull", "baseline list", "history", "selftest", "init", "validate", "doctor", "schema", "version"} {
		if !strings.Contains(manual, "`perfweir "+c) {
			t.Errorf("docs/commands.md does not tell of perfweir %s", c)
		}
	}
	for _, code := range []string{"| 0 |", "| 1 |", "| 3 |", "| 4 |", "| 130 |"} {
		if !strings.Contains(manual, code) {
			t.Errorf("docs/commands.md does not tell of exit code %s", code)
		}
	}
}

// TestProjectSpeaksOfItself: no absolute path of a machine, in anything tracked.
func TestProjectSpeaksOfItself(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Skip("not a git checkout:", err)
	}
	home := regexp.MustCompile(`(^|[\s"'=(])/(root|home/[a-z]+|Users/[a-z]+)/`)
	for _, f := range strings.Fields(string(out)) {
		if strings.Contains(f, "/testdata/") || strings.HasPrefix(f, "testdata/") {
			continue
		}
		if m := home.FindString(read(t, f)); m != "" && f != "cmd/perfweir/docs_test.go" {
			t.Errorf("%s has the path %q", f, m)
		}
	}
}
