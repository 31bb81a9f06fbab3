package worktree

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Commit is what the object of a commit says. Unlike `git log` it names the
// parents in a shallow clone too.
type Commit struct {
	ID, Tree string
	Parents  []string
}

// commitBytes bounds a commit object: its message is the code under test's.
const commitBytes = 1 << 20

// ReadCommit reads a commit ("HEAD", a hash) of the repository around dir.
func ReadCommit(ctx context.Context, dir, rev string) (Commit, error) {
	id := line(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if id == "" {
		return Commit{}, fmt.Errorf("git: no commit %s in %s", rev, dir)
	}
	var out bytes.Buffer
	if err := run(ctx, dir, &bounded{to: &out, left: commitBytes}, "cat-file", "commit", id); err != nil {
		return Commit{}, err
	}
	c := Commit{ID: id}
	for l := range strings.Lines(out.String()) {
		key, value, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		switch key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "":
			return c, nil // the message follows
		}
	}
	return c, nil
}

// MergeBase is the best common ancestor of two commits, "" where git does not
// know one: unrelated histories, or a shallow clone.
func MergeBase(ctx context.Context, dir, a, b string) string {
	return line(ctx, dir, "merge-base", "--end-of-options", a, b)
}

// FileAt reads a file as a commit has it, at most so many bytes. path is relative
// to the root of the working tree. The error is fs.ErrNotExist where the commit
// has no such file, another where the commit is not there or the file is no file.
func FileAt(ctx context.Context, dir, commit, path string, most int) ([]byte, error) {
	if !Has(ctx, dir, commit) {
		return nil, fmt.Errorf("git: commit %s is not in %s", commit, dir)
	}
	// A path that begins with ./ would relate to dir.
	object := commit + ":" + filepath.ToSlash(filepath.Clean(path))
	switch kind := line(ctx, dir, "cat-file", "-t", object); kind {
	case "blob":
	case "":
		return nil, fmt.Errorf("git: %s: %w", object, fs.ErrNotExist)
	default:
		return nil, fmt.Errorf("git: %s is a %s, not a file", object, kind)
	}
	var out bytes.Buffer
	if err := run(ctx, dir, &bounded{to: &out, left: most}, "cat-file", "blob", object); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Has reports whether the commit is in the repository around dir.
func Has(ctx context.Context, dir, commit string) bool {
	return line(ctx, dir, "cat-file", "-t", commit) == "commit"
}

// fetchTimeout bounds the fetch of one commit.
const fetchTimeout = 5 * time.Minute

// Fetch brings one commit, without tags and in a shallow clone without its
// history, from url into the repository around dir. The token goes to git through its environment, where
// /proc shows it to this user alone, and never to its command line, its
// configuration or a file. Nothing of the repository's hooks runs.
func Fetch(ctx context.Context, dir, url, commit, token string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	args := []string{"-c", "protocol.ext.allow=never",
		"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance"}
	// Asked for in a whole clone, a depth would cut that clone's history.
	if line(ctx, dir, "rev-parse", "--is-shallow-repository") == "true" {
		args = append(args, "--depth=1")
	}
	cmd := gitCommand(ctx, dir, append(args, "--end-of-options", url, commit)...)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_NO_LAZY_FETCH=") })
	if token != "" {
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
		cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT=2",
			// An empty value drops what a checkout may have left: two headers are refused.
			"GIT_CONFIG_KEY_0=http."+url+".extraheader", "GIT_CONFIG_VALUE_0=",
			"GIT_CONFIG_KEY_1=http."+url+".extraheader", "GIT_CONFIG_VALUE_1=AUTHORIZATION: basic "+basic)
	}
	if said, err := answer(cmd); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no end after %v", fetchTimeout)
		}
		return fmt.Errorf("git fetch %s: %w: %s", commit, err, said)
	}
	return nil
}

// Credentials names the configuration entries of the repository around dir that
// hold a credential: actions/checkout leaves its token there unless it is told
// persist-credentials: false. Values are not returned.
func Credentials(ctx context.Context, dir string) []string {
	var out bytes.Buffer
	// Exits with 1 where nothing matches.
	_ = run(ctx, dir, &bounded{to: &out, left: gitOutput}, "config", "--includes", "--name-only", "--get-regexp", `^http\..*\.extraheader$`)
	names := strings.Fields(out.String())
	slices.Sort(names)
	return slices.Compact(names)
}
