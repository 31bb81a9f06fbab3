package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// committed writes a file, commits it and returns the commit. Its message looks
// like more lines of the commit's head.
func committed(t *testing.T, dir, name, text string) string {
	t.Helper()
	write(t, dir, name, text)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "--quiet", "-m", "change "+name+"\n\nparent nothing\ntree nothing")
	return git(t, dir, "rev-parse", "HEAD")
}

// forked is a repository whose main has moved on since a branch left it, and the
// merge of both as GitHub makes it.
type forked struct{ dir, fork, main, topic, merge string }

func newForked(t *testing.T) forked {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	f := forked{dir: t.TempDir()}
	git(t, f.dir, "init", "-q", "-b", "main")
	committed(t, f.dir, "a.txt", "1")
	f.fork = committed(t, f.dir, "sub/b.txt", "old")
	git(t, f.dir, "checkout", "-q", "-b", "topic")
	f.topic = committed(t, f.dir, "sub/b.txt", "new")
	git(t, f.dir, "checkout", "-q", "main")
	f.main = committed(t, f.dir, "a.txt", "2")
	git(t, f.dir, "checkout", "-q", "--detach")
	git(t, f.dir, "merge", "--quiet", "--no-ff", "-m", "Merge topic into main", f.topic)
	f.merge = git(t, f.dir, "rev-parse", "HEAD")
	return f
}

func TestReadCommit(t *testing.T) {
	f := newForked(t)
	shallow := t.TempDir()
	git(t, shallow, "clone", "-q", "--depth=1", "file://"+f.dir, "clone")
	for _, dir := range []string{f.dir, filepath.Join(shallow, "clone")} {
		c, err := ReadCommit(t.Context(), dir, "HEAD")
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != f.merge || len(c.Parents) != 2 || c.Parents[0] != f.main || c.Parents[1] != f.topic || c.Tree != git(t, f.dir, "rev-parse", "HEAD^{tree}") {
			t.Errorf("%s: %+v, want %s with parents %s and %s", dir, c, f.merge, f.main, f.topic)
		}
	}
	for _, rev := range []string{"nowhere", "--help", "HEAD:a.txt"} {
		if c, err := ReadCommit(t.Context(), f.dir, rev); err == nil {
			t.Errorf("%s is a commit: %+v", rev, c)
		}
	}
}

func TestMergeBase(t *testing.T) {
	f := newForked(t)
	if got := MergeBase(t.Context(), f.dir, f.main, f.topic); got != f.fork {
		t.Errorf("got %q, want %q", got, f.fork)
	}
	git(t, f.dir, "checkout", "-q", "--orphan", "other")
	other := committed(t, f.dir, "c.txt", "3")
	if got := MergeBase(t.Context(), f.dir, f.main, other); got != "" {
		t.Errorf("unrelated histories have the base %q", got)
	}
}

func TestFileAt(t *testing.T) {
	f := newForked(t)
	for _, tt := range []struct{ commit, path, want string }{
		{f.fork, "sub/b.txt", "old"}, {f.topic, "sub/b.txt", "new"}, {f.merge, "./a.txt", "2"},
	} {
		// From below the root, too: paths are the root's.
		got, err := FileAt(t.Context(), filepath.Join(f.dir, "sub"), tt.commit, tt.path, 100)
		if err != nil || string(got) != tt.want {
			t.Errorf("%.7s:%s: %q, %v; want %q", tt.commit, tt.path, got, err, tt.want)
		}
	}
	if _, err := FileAt(t.Context(), f.dir, f.fork, "none.yml", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for name, read := range map[string]func() ([]byte, error){
		"an unknown commit": func() ([]byte, error) {
			return FileAt(t.Context(), f.dir, strings.Repeat("1", 40), "a.txt", 100)
		},
		"a folder":          func() ([]byte, error) { return FileAt(t.Context(), f.dir, f.fork, "sub", 100) },
		"more than allowed": func() ([]byte, error) { return FileAt(t.Context(), f.dir, f.fork, "sub/b.txt", 2) },
	} {
		if data, err := read(); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// A commit that a shallow clone lacks is fetched by its hash; a whole clone stays
// whole.
func TestFetch(t *testing.T) {
	f := newForked(t)
	git(t, f.dir, "config", "uploadpack.allowAnySHA1InWant", "true")
	place := t.TempDir()
	git(t, place, "clone", "-q", "--depth=1", "file://"+f.dir, "shallow")
	git(t, place, "clone", "-q", "file://"+f.dir, "whole")
	git(t, f.dir, "checkout", "-q", f.fork)
	late := committed(t, f.dir, "late.txt", "4")
	for name, want := range map[string]string{"shallow": f.main, "whole": late} {
		dir := filepath.Join(place, name)
		if Has(t.Context(), dir, want) {
			t.Fatalf("%s has %s before", name, want)
		}
		if err := Fetch(t.Context(), dir, "file://"+f.dir, want, "hush"); err != nil {
			t.Fatal(err)
		}
		if !Has(t.Context(), dir, want) {
			t.Errorf("%s lacks %s after", name, want)
		}
		if config := git(t, dir, "config", "--list"); strings.Contains(config, "hush") || strings.Contains(config, "extraheader") {
			t.Errorf("the token was left in the configuration:\n%s", config)
		}
	}
	whole := filepath.Join(place, "whole")
	if git(t, whole, "rev-parse", "--is-shallow-repository") != "false" {
		t.Error("a whole clone was made shallow")
	}
	if err := Fetch(t.Context(), whole, "file://"+f.dir, strings.Repeat("1", 40), ""); err == nil || !strings.Contains(err.Error(), "1111") {
		t.Errorf("a commit that is nowhere: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Fetch(ended, whole, "file://"+f.dir, late, ""); err == nil {
		t.Error("fetched after the end of its context")
	}
}

func TestCredentials(t *testing.T) {
	dir := newForked(t).dir
	if got := Credentials(t.Context(), dir); len(got) != 0 {
		t.Errorf("credentials of a plain repository: %q", got)
	}
	// As actions/checkout leaves them: in the repository, or in a file beside it.
	git(t, dir, "config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic aHVzaA==")
	if got := Credentials(t.Context(), dir); len(got) != 1 || got[0] != "http.https://github.com/.extraheader" {
		t.Errorf("got %q", got)
	}
	git(t, dir, "config", "--unset", "http.https://github.com/.extraheader")
	file := filepath.Join(t.TempDir(), "credentials.config")
	if err := os.WriteFile(file, []byte("[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic aHVzaA==\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "config", "includeIf.gitdir:"+filepath.Join(dir, ".git")+".path", file)
	if got := Credentials(t.Context(), dir); len(got) != 1 {
		t.Errorf("in an included file: %q", got)
	}
}

// A server says what it likes: that it says much is no failure.
func TestFetchFromATalkativeServer(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' x >&2\necho the end >&2\n! [ -e " + filepath.Join(bin, "fail") + " ]\n"
	write(t, bin, "git", script)
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := Fetch(t.Context(), bin, "https://git.example/x", strings.Repeat("1", 40), ""); err != nil {
		t.Errorf("%.200s", err)
	}
	write(t, bin, "fail", "")
	err := Fetch(t.Context(), bin, "https://git.example/x", strings.Repeat("1", 40), "")
	if err == nil || !strings.HasSuffix(err.Error(), "the end") || len(err.Error()) > gitOutput+1000 {
		t.Errorf("%.200v", err)
	}
}
