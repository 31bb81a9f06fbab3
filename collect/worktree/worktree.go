// Package worktree tells which revision of a program is measured, and builds it:
// facts from git, the build command, the digests of the programs that a suite
// names. Its data goes to the plan and, as result.Build, to the results document.
//
// The room refuses to fail a measurement for want of git: outside a repository, or
// without the program, the facts are absent. It refuses to trust the repository
// too: its configuration and hooks belong to the code under test, so git runs
// without hooks, file system monitors, external diffs and prompts, with a short
// list of environment variables, and in bounded time.
package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path/filepath"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

// Root is the root of the working tree around dir; "" outside a repository.
func Root(ctx context.Context, dir string) string {
	return line(ctx, dir, "rev-parse", "--show-toplevel")
}

// Describe says which revision the suite's folder dir holds, and returns the root
// of its working tree. Outside a repository, in one without a commit, or without
// git, what cannot be known is empty; Describe never fails.
//
// Build.Tree covers the tracked content of dir as it is on disk: the tree that the
// commit has there, and every uncommitted edit. Files that git does not track are
// in neither. Where the edits could not be read (time limit), Tree is empty and
// Dirty is true: it is not known to be clean.
func Describe(ctx context.Context, dir string) (build result.Build, root string) {
	root = Root(ctx, dir)
	if root == "" {
		return result.Build{}, ""
	}
	build.Commit = line(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if build.Commit == "" {
		return build, root
	}
	sum := sha256.New()
	prefix := strings.TrimSuffix(line(ctx, dir, "rev-parse", "--show-prefix"), "/")
	// An untracked folder has no tree in the commit: its name stands for nothing.
	fmt.Fprintf(sum, "%s\n", line(ctx, dir, "rev-parse", "--verify", "--quiet", "HEAD:"+prefix))
	edits := &counted{to: sum}
	// Every option that a configuration could set and that changes the text is
	// given, so that two machines agree.
	err := run(ctx, dir, edits, "diff", "--binary", "--full-index", "--no-ext-diff", "--no-textconv",
		"--no-color", "--no-renames", "--diff-algorithm=myers", "--unified=3", "--no-indent-heuristic",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--ignore-submodules=none",
		"-O/dev/null", "HEAD", "--", ".")
	build.Dirty = err != nil || edits.n > 0
	if err == nil {
		build.Tree = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return build, root
}

// counted passes bytes on to a hash and counts them.
type counted struct {
	to hash.Hash
	n  int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.to.Write(p)
}

// Relative returns path as it is shown: relative to root, with slashes, where it
// lies below it; else as given.
func Relative(root, path string) string {
	if root == "" {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	// git prints the root without symbolic links; the path may go through one.
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}
