package main

import (
	"flag"
	"io/fs"
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
	there := testNames(t)
	for _, n := range named {
		if !there[n[1]] {
			t.Errorf("ARCHITECTURE.md names %s, which is no test", n[1])
		}
	}
}

// testNames are those of all packages. Files that this process reads itself are
// known to go's cache of test results; those that another program reads are not.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names, function := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "../.." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// commands are all of them, as a user types them.
var commands = []string{"ci", "run", "gate", "report", "explain", "accept", "merge", "publish", "baseline save", "baseline pull", "baseline list", "history", "selftest", "init", "validate", "doctor", "schema", "version"}

// TestCommandsAreDocumented: the manual knows every command, its options and the
// exit codes.
func TestCommandsAreDocumented(t *testing.T) {
	manual := read(t, "docs/commands.md")
	for _, c := range commands {
		if !strings.Contains(manual, "`perfweir "+c) {
			t.Errorf("docs/commands.md does not tell of perfweir %s", c)
		}
		options := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(help(t, strings.Fields(c)...), -1)
		if len(options) == 0 {
			t.Errorf("perfweir %s --help names no option", c)
		}
		for _, o := range options {
			if o[1] != "help" && !regexp.MustCompile(`--`+o[1]+`[^a-z-]`).MatchString(manual) {
				t.Errorf("docs/commands.md does not tell of --%s of perfweir %s", o[1], c)
			}
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
