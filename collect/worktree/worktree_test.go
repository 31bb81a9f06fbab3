package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/result"
)

// repository makes a repository with a folder suite/ that holds run.sh, and a file
// beside it.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, root, "init", "--quiet")
	write(t, root, "suite/run.sh", "echo 1\n")
	write(t, root, "beside.txt", "x\n")
	commit(t, root)
	return root
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(gitEnviron(os.Environ()), "HOME="+t.TempDir(),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, root string) {
	t.Helper()
	git(t, root, "add", "-A")
	git(t, root, "commit", "--quiet", "-m", "c")
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func describe(t *testing.T, root string) result.Build {
	t.Helper()
	build, got := Describe(t.Context(), filepath.Join(root, "suite"))
	if got != root {
		t.Errorf("root %q, want %q", got, root)
	}
	return build
}

func TestDescribe(t *testing.T) {
	root := repository(t)
	clean := describe(t, root)
	if clean.Commit != git(t, root, "rev-parse", "HEAD") || clean.Dirty || !strings.HasPrefix(clean.Tree, "sha256:") {
		t.Fatalf("clean: %+v", clean)
	}

	write(t, root, "suite/untracked", "u")
	write(t, root, "beside.txt", "edited\n")
	if got := describe(t, root); got.Dirty || got.Tree != clean.Tree {
		t.Errorf("an untracked file and an edit outside the folder: %+v, want %+v", got, clean)
	}

	write(t, root, "suite/run.sh", "echo 2\n")
	edited := describe(t, root)
	if !edited.Dirty || edited.Tree == clean.Tree || edited.Commit != clean.Commit {
		t.Errorf("edited: %+v, clean %+v", edited, clean)
	}
	git(t, root, "add", "suite/run.sh")
	if staged := describe(t, root); staged.Tree != edited.Tree {
		t.Errorf("staging changed the tree: %+v, %+v", staged, edited)
	}
	write(t, root, "suite/run.sh", "echo 1\n")
	if back := describe(t, root); back.Dirty || back.Tree != clean.Tree {
		t.Errorf("edited back: %+v, want %+v", back, clean)
	}
	if err := os.Chmod(filepath.Join(root, "suite/run.sh"), 0o644); err != nil {
		t.Fatal(err)
	}
	if mode := describe(t, root); !mode.Dirty {
		t.Errorf("no longer executable: %+v", mode)
	}
}

func TestDescribeBinaryEdits(t *testing.T) {
	root := repository(t)
	write(t, root, "suite/data", "\x00\x01\x02")
	commit(t, root)
	write(t, root, "suite/data", "\x00\x01\x03")
	one := describe(t, root)
	write(t, root, "suite/data", "\x00\x01\x04")
	if two := describe(t, root); one.Tree == two.Tree || !two.Dirty {
		t.Errorf("two edits of a binary file have one tree: %+v %+v", one, two)
	}
}

// A commit of something beside the folder changes the commit and not the tree.
func TestDescribeSameTreeAcrossCommits(t *testing.T) {
	root := repository(t)
	before := describe(t, root)
	write(t, root, "beside.txt", "other\n")
	commit(t, root)
	after := describe(t, root)
	if before.Tree != after.Tree || before.Commit == after.Commit {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

func TestDescribeNothing(t *testing.T) {
	dir := t.TempDir()
	if got, root := Describe(t.Context(), dir); got.Commit+got.Tree+root != "" || got.Dirty {
		t.Errorf("outside a repository: %+v %q", got, root)
	}
	if got, root := Describe(t.Context(), filepath.Join(dir, "gone")); got.Commit+got.Tree+root != "" {
		t.Errorf("a folder that is not there: %+v %q", got, root)
	}
	repo := repository(t)
	t.Setenv("PATH", "")
	if got, root := Describe(t.Context(), repo); got.Commit+got.Tree+root != "" || got.Dirty {
		t.Errorf("without git: %+v %q", got, root)
	}
}

func TestDescribeUnborn(t *testing.T) {
	repository(t)
	root, _ := filepath.EvalSymlinks(t.TempDir())
	git(t, root, "init", "--quiet")
	if got, where := Describe(t.Context(), root); got.Commit+got.Tree != "" || where != root {
		t.Errorf("no commit yet: %+v %q", got, where)
	}
}

// The repository's configuration belongs to the code under test: nothing that it
// names may run, and the environment cannot point elsewhere.
func TestDescribeRunsNothing(t *testing.T) {
	root := repository(t)
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	write(t, "/", evil, "#!/bin/sh\ntouch "+mark+"\n")
	for _, key := range []string{"core.fsmonitor", "diff.external", "diff.x.textconv", "diff.x.command", "core.pager", "pager.diff"} {
		git(t, root, "config", key, evil)
	}
	git(t, root, "config", "core.hooksPath", filepath.Dir(evil))
	git(t, root, "config", "color.ui", "always")
	write(t, root, "suite/.gitattributes", "* diff=x\n")
	write(t, root, "suite/run.sh", "echo 3\n")
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_EXTERNAL_DIFF", evil)
	if got := describe(t, root); !got.Dirty || got.Tree == "" {
		t.Errorf("got %+v", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
}

// A user's taste in diffs must not change the identity of the content.
func TestDescribeIgnoresDiffConfiguration(t *testing.T) {
	root := repository(t)
	lines := strings.Repeat("echo 1\n", 20)
	write(t, root, "suite/run.sh", lines+"echo 2\n"+lines)
	commit(t, root)
	write(t, root, "suite/run.sh", lines+"echo 4\n"+lines)
	plain := describe(t, root)
	for key, val := range map[string]string{
		"diff.noprefix": "true", "diff.context": "9", "diff.algorithm": "histogram", "diff.mnemonicPrefix": "true",
		"color.diff": "always", "diff.interHunkContext": "5", "diff.wsErrorHighlight": "all",
	} {
		git(t, root, "config", key, val)
	}
	if got := describe(t, root); got.Tree != plain.Tree {
		t.Errorf("tree %s with another configuration, %s without", got.Tree, plain.Tree)
	}
}

func TestGitEnviron(t *testing.T) {
	got := strings.Join(gitEnviron([]string{"PATH=/bin", "GITHUB_TOKEN=t", "GIT_DIR=/x", "HOME=/h", "SSH_AUTH_SOCK=s"}), " ")
	want := "PATH=/bin HOME=/h LC_ALL=C GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRelative(t *testing.T) {
	root, _ := filepath.EvalSymlinks(t.TempDir())
	inside := filepath.Join(root, "a", "perfweir.yml")
	for _, c := range []struct{ root, path, want string }{
		{root, inside, "a/perfweir.yml"},
		{root, "/etc/passwd", "/etc/passwd"},
		{"", "perfweir.yml", "perfweir.yml"},
	} {
		if got := Relative(c.root, c.path); got != c.want {
			t.Errorf("Relative(%q, %q) = %q, want %q", c.root, c.path, got, c.want)
		}
	}
}

func TestRunBuild(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "make.sh", "#!/bin/sh\necho \"$GREETING from $PWD\"\necho oops >&2\nexit $1\n")
	env := []string{"PATH=" + os.Getenv("PATH"), "GREETING=hello"}
	var log bytes.Buffer
	if err := RunBuild(t.Context(), []string{"./make.sh", "0"}, dir, env, &log); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "hello from ") || !strings.Contains(text, "oops") {
		t.Errorf("log %q", text)
	}
	err := RunBuild(t.Context(), []string{"./make.sh", "3"}, dir, env, &log)
	if err == nil || !strings.Contains(err.Error(), "./make.sh 3: exit status 3") {
		t.Errorf("a failing build: %v", err)
	}
	if err := RunBuild(t.Context(), []string{"no-such-tool-here"}, dir, env, &log); err == nil || !strings.Contains(err.Error(), "not on PATH") {
		t.Errorf("a missing tool: %v", err)
	}
	if err := RunBuild(t.Context(), nil, dir, env, &log); err != nil {
		t.Errorf("no build: %v", err)
	}
}

// A process that the build leaves behind with its log open is no failure.
func TestRunBuildLeavesADaemon(t *testing.T) {
	var log bytes.Buffer
	env := []string{"PATH=" + os.Getenv("PATH")}
	err := runBuild(t.Context(), []string{"sh", "-c", "sleep 300 & echo $!"}, t.TempDir(), env, &log, 50*time.Millisecond)
	if err != nil {
		t.Error(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(log.String())); err == nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	} else {
		t.Errorf("log %q", log.String())
	}
}

// An ended context ends the children of the build's shell too, also those that
// ignore TERM.
func TestRunBuildEnded(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	pidFile := filepath.Join(dir, "pid")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(pidFile); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	script := "trap '' TERM; sleep 300 & echo $! > pid.tmp; mv pid.tmp pid; wait"
	err := runBuild(ctx, []string{"sh", "-c", script}, dir, []string{"PATH=" + os.Getenv("PATH")}, &bytes.Buffer{}, 50*time.Millisecond)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's cause", err)
	}
	raw, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 { // the kernel ends it in its own time
		stat, err := os.ReadFile("/proc/" + strings.TrimSpace(string(raw)) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the build's child still runs")
}

func TestProgramDigests(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	write(t, dir, "run.sh", "one")
	write(t, dir, "data.txt", "two")
	write(t, bin, "tool", "three")
	if err := os.WriteFile(filepath.Join(bin, "plain"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "sub/own.sh", "four")
	write(t, dir, "sub/data.txt", "five")
	write(t, dir, "tools/near", "six")
	var commands []Command
	for _, argv := range [][]string{
		{"./run.sh", "-x", "data.txt", "{input}", "{out}/data.txt", "absent.txt", "pipe", "."},
		{"tool", "run.sh", filepath.Join(dir, "data.txt")},
		{"plain"}, {"no-such-tool"}, {""}, {},
	} {
		commands = append(commands, Command{Argv: argv, Cwd: dir, Path: "/nonexistent::" + bin})
	}
	commands = append(commands,
		Command{Argv: []string{"near", "own.sh", "data.txt"}, Cwd: filepath.Join(dir, "sub"), Path: "../tools"},
		Command{Argv: []string{"tool", "-c", "./sub/own.sh <data.txt | sort>x"}, Shell: true, Cwd: dir, Path: bin})
	got := ProgramDigests(commands, dir)
	want := map[string]string{
		"./run.sh": "one", "data.txt": "two", "tool": "three", "run.sh": "one", filepath.Join(dir, "data.txt"): "two",
		"near": "six", "sub/own.sh": "four", "sub/data.txt": "five", "./sub/own.sh": "four",
	}
	for arg, text := range want {
		file := filepath.Join(t.TempDir(), "f")
		write(t, "/", file, text)
		digest, err := fileDigest(file)
		if err != nil {
			t.Fatal(err)
		}
		if got[arg] != digest {
			t.Errorf("%s: %q, want %q", arg, got[arg], digest)
		}
		delete(got, arg)
	}
	if len(got) > 0 {
		t.Errorf("also %v", got)
	}
}

func TestFileDigest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	write(t, "/", file, "abc")
	got, err := fileDigest(file) // FIPS 180-2, appendix B.1
	if want := "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; err != nil || got != want {
		t.Errorf("got %s %v, want %s", got, err, want)
	}
}
