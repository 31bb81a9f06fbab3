package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// place is a real path for a tree: git prints real ones.
func place(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "tree")
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// nothingLeft: neither the folder nor what git knows of it.
func nothingLeft(t *testing.T, repo, dir string) {
	t.Helper()
	if _, err := os.Lstat(dir); err == nil {
		t.Errorf("%s is still there", dir)
	}
	if list := git(t, repo, "worktree", "list", "--porcelain"); strings.Contains(list, dir) {
		t.Errorf("git still lists it: %s", list)
	}
}

func TestCheckout(t *testing.T) {
	f := newForked(t)
	dir := place(t)
	// A hook of the repository is code under test.
	write(t, f.dir, ".git/hooks/post-checkout", "#!/bin/sh\ntouch "+filepath.Join(f.dir, "hooked")+"\n")
	if err := os.Chmod(filepath.Join(f.dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree, err := Checkout(t.Context(), filepath.Join(f.dir, "sub"), f.fork, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, filepath.Join(dir, "sub/b.txt")); got != "old" {
		t.Errorf("sub/b.txt is %q, want the commit's", got)
	}
	if got := text(t, filepath.Join(f.dir, "sub/b.txt")); got != "new" {
		t.Errorf("the working tree's own is %q", got)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "hooked")); err == nil {
		t.Error("a hook of the repository ran")
	}
	if b, root := Describe(t.Context(), dir); root != dir || b.Commit != f.fork || b.Dirty {
		t.Errorf("the tree is described as %+v", b)
	}
	// A build leaves folders that nobody may write to.
	write(t, dir, "cache/mod/go.mod", "module x")
	if err := os.Chmod(filepath.Join(dir, "cache/mod"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, f.dir, dir)
	if err := tree.Remove(); err != nil {
		t.Errorf("removed twice: %v", err)
	}
}

// What a killed run left is no obstacle, whatever is missing of it.
func TestCheckoutAfterAKill(t *testing.T) {
	f := newForked(t)
	for name, spoil := range map[string]func(dir string) error{
		"all of it":  func(string) error { return nil },
		"no folder":  os.RemoveAll,
		"no link":    func(dir string) error { return os.Remove(filepath.Join(dir, ".git")) },
		"other file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o644) },
	} {
		dir := place(t)
		if _, err := Checkout(t.Context(), f.dir, f.fork, dir); err != nil {
			t.Fatal(err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		tree, err := Checkout(t.Context(), f.dir, f.main, dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := text(t, filepath.Join(dir, "a.txt")); got != "2" {
			t.Errorf("%s: a.txt is %q", name, got)
		}
		if err := tree.Remove(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, f.dir, dir)
	}
}

func TestCheckoutFails(t *testing.T) {
	f := newForked(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name, commit, want string
		ctx                context.Context
	}{
		{"a name", "main", "no full hash", t.Context()},
		{"an option", "--force", "no full hash", t.Context()},
		{"not there", strings.Repeat("1", 40), "git worktree add " + strings.Repeat("1", 40), t.Context()},
		{"ended", f.main, "git worktree add", ended},
	} {
		dir := place(t)
		if _, err := Checkout(tt.ctx, f.dir, tt.commit, dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		nothingLeft(t, f.dir, dir)
	}
}

func TestSubmodulesAndTracked(t *testing.T) {
	f := newForked(t)
	if got := Submodules(t.Context(), f.dir, f.main, 5); len(got) != 0 {
		t.Errorf("submodules %q of a commit without any", got)
	}
	for _, name := range []string{"lib/one", "lib/two"} {
		git(t, f.dir, "update-index", "--add", "--cacheinfo", "160000,"+f.main+","+name)
	}
	git(t, f.dir, "commit", "-q", "-m", "submodules")
	if got := Submodules(t.Context(), f.dir, git(t, f.dir, "rev-parse", "HEAD"), 1); !slices.Equal(got, []string{"lib/one"}) {
		t.Errorf("submodules %q, want the first", got)
	}
	write(t, f.dir, "sub/own.txt", "")
	for file, want := range map[string]bool{"sub/b.txt": true, "sub/own.txt": false, "sub/*.txt": false, "../etc": false} {
		if got := Tracked(t.Context(), f.dir, file); got != want {
			t.Errorf("%s is tracked: %v", file, got)
		}
	}
}
