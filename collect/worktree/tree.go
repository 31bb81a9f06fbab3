package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// checkoutTimeout bounds the checkout of one commit: a large tree with filters
// (LFS) on a slow disk.
const checkoutTimeout = 15 * time.Minute

// Tree is a commit checked out beside the repository's own working tree.
type Tree struct {
	Dir  string // absolute; it stands where the root of the working tree does
	repo string
}

// Checkout checks a commit, given by its full hash, out into dir, which must not
// be there or be what an earlier Checkout of the same repository left there: that is removed.
// Hooks do not run, submodules are not checked out (see Submodules), nothing is
// fetched.
func Checkout(ctx context.Context, repo, commit, dir string) (*Tree, error) {
	if !isHash(commit) {
		return nil, fmt.Errorf("git worktree: %q is no full hash of a commit", commit)
	}
	t := &Tree{Dir: dir, repo: repo}
	if err := t.Remove(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkoutTimeout)
	defer cancel()
	said, err := answer(gitCommand(ctx, repo, "worktree", "add", "--quiet", "--detach", "--end-of-options", dir, commit))
	if err == nil {
		return t, nil
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no end after %v", checkoutTimeout)
	}
	return nil, errors.Join(fmt.Errorf("git worktree add %s: %w: %s", commit, err, said), t.Remove())
}

// Remove takes the tree and what git knows of it away, whatever was put there.
// It is done when the work was stopped, too, so no context ends it.
func (t *Tree) Remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	if err := removeAll(t.Dir); err != nil {
		return fmt.Errorf("remove the worktree %s: %w", t.Dir, err)
	}
	if !known(ctx, t.repo, t.Dir) {
		return nil
	}
	if said, err := answer(gitCommand(ctx, t.repo, "worktree", "remove", "--force", "--force", "--end-of-options", t.Dir)); err != nil {
		// An older git refuses what is not there any more.
		if _, perr := answer(gitCommand(ctx, t.repo, "worktree", "prune")); perr != nil {
			return fmt.Errorf("git worktree remove %s: %w: %s", t.Dir, err, said)
		}
	}
	return nil
}

// known reports whether git has a worktree at dir on its list.
func known(ctx context.Context, repo, dir string) bool {
	var list bytes.Buffer
	if err := run(ctx, repo, &bounded{to: &list, left: commitBytes}, "worktree", "list", "--porcelain"); err != nil {
		return true // ask it to be removed
	}
	return slices.Contains(strings.Split(list.String(), "\n"), "worktree "+dir)
}

// removeAll removes folders that may not be written to, as well: module caches are
// made so.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walked := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(p, 0o700) // before it is read
		}
		return err
	})
	if walked != nil {
		return walked
	}
	return os.RemoveAll(path)
}

// Submodules names the submodules that a commit has, at most so many.
func Submodules(ctx context.Context, dir, commit string, most int) []string {
	var out bytes.Buffer
	// Reading stops when enough is there: then the rest does not fit, which is no failure.
	_ = run(ctx, dir, &bounded{to: &out, left: treeBytes}, "ls-tree", "-r", "--full-tree", "-z", "--end-of-options", commit)
	var names []string
	for entry := range strings.SplitSeq(out.String(), "\x00") {
		if what, name, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(what, "160000 ") && len(names) < most {
			names = append(names, name)
		}
	}
	return names
}

// treeBytes bounds the list of a tree's files: about 500,000 of them.
const treeBytes = 64 << 20

// Tracked reports whether git has a file of the repository around dir under
// version control.
func Tracked(ctx context.Context, dir, file string) bool {
	var out bytes.Buffer
	err := run(ctx, dir, &bounded{to: &out, left: gitOutput}, "ls-files", "--error-unmatch", "-z", "--", ":(literal)"+file)
	return err == nil && out.Len() > 0
}

// isHash reports whether a text is a full hash: what is no hash could be read as
// something else.
func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}
