package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

// snoop looks for what its runner knows, as code under test could: its own
// environment and open files, and those of every process above it that it may read.
const snoop = `#!/bin/sh
exec 2>/dev/null
env
for f in /proc/self/fd/*; do case $f in */[012]) ;; *) timeout 1 cat $f </dev/null;; esac; done
p=$PPID
while [ "$p" -gt 1 ]; do
	echo "above: $(cat /proc/$p/comm)"
	tr '\0' '\n' </proc/$p/environ
	for f in /proc/$p/fd/*; do case $f in */[012]) ;; *) timeout 1 dd if=$f bs=4096 count=1;; esac; done
	p=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$p/status)
done
exit 0
`

const snoopSuite = "version: 1\nsuite: snoop\nbuild: ./snoop >built.txt\nbenchmarks: [{name: a, run: ./snoop >seen.txt}]\n"

// asUser runs perfweir as a user who is not root, in a folder of its own with
// the suite above, and returns the folder.
func asUser(t *testing.T, env []string, secret string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "perfweir-user") // the parents of t.TempDir are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"perfweir": program, "snoop": []byte(snoop), "perfweir.yml": []byte(snoopSuite)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	open, err := os.CreateTemp(t.TempDir(), "secret")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if _, err := open.WriteString(secret); err != nil {
		t.Fatal(err)
	}
	if err := open.Chmod(0o644); err != nil { // no path leads others to it: only the open file does
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, "perfweir"), "run", "-o", "out")
	c.Args[0] = "perfweir"
	c.Dir = dir
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PERFWEIR_LOCK_DIR=" + dir}, env...)
	c.ExtraFiles = []*os.File{open}
	if os.Getuid() == 0 {
		if err := chownAll(dir); err != nil {
			t.Fatal(err)
		}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("perfweir: %v\n%s", err, &out)
	}
	return dir
}

func chownAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
}

func slurp(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNothingOfTheRunnerIsSeen: what the build and a benchmark of another step's
// token can read of the runner as the same user, not root, is nothing.
func TestNothingOfTheRunnerIsSeen(t *testing.T) {
	dir := asUser(t, []string{"GITHUB_TOKEN=hush-token", "MARK=visible"}, "hush-file")
	for _, name := range []string{"built.txt", "seen.txt"} {
		seen := slurp(t, dir, name)
		if strings.Contains(seen, "hush") {
			t.Errorf("%s: a secret was seen:\n%s", name, seen)
		}
		if !strings.Contains(seen, "MARK=visible") || !strings.Contains(seen, "above: perfweir") {
			t.Errorf("%s: the spy did not look:\n%s", name, seen)
		}
	}
	if results := slurp(t, dir, "out/results.json"); !strings.Contains(results, `"wall_time"`) || strings.Contains(results, "hush") {
		t.Errorf("results:\n%s", results)
	}

	// The test of the test: a runner that has no secret is not hidden, and the spy
	// then sees its environment and its open file.
	dir = asUser(t, []string{"MARK=visible"}, "plain-file")
	seen := slurp(t, dir, "seen.txt")
	if strings.Count(seen, "MARK=visible") < 2 || !strings.Contains(seen, "plain-file") {
		t.Errorf("the spy sees nothing where nothing is hidden:\n%s", seen)
	}
}

// TestRootCannotHide: as root the above cannot hold, and doctor says so.
func TestRootCannotHide(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: TestNothingOfTheRunnerIsSeen holds for this user")
	}
	t.Log("root reads every process: nothing can hide the runner's environment and files from code under test that runs as root")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "doctor")
	c.Args[0] = "perfweir"
	c.Env = []string{"GITHUB_TOKEN=hush-token", "PERFWEIR_LOCK_DIR=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("doctor: %v\n%s", err, out)
	}
	for _, want := range []string{"warn  user: root", "whatever we do", "warn  secrets: GITHUB_TOKEN"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("doctor does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "hush") {
		t.Errorf("doctor prints a secret:\n%s", out)
	}
}
