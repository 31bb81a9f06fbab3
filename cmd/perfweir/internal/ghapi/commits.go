package ghapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/go-github/v62/github"
)

// MaxContents is how many bytes of a file Contents gives: what GitHub puts into an
// answer.
const MaxContents = 1 << 20

// Contents reads a file as it is in a commit. It is fs.ErrNotExist when the commit or
// the file in it is not there. A symbolic link to a file of the repository is followed
// by GitHub. path is relative to the repository's root, with slashes.
func (c *Client) Contents(ctx context.Context, path, ref string) ([]byte, error) {
	k := call{what: fmt.Sprintf("read %s of %s", quote(path), short(ref)), permission: readContents}
	escaped, err := escapePath(path)
	if err == nil && ref == "" {
		err = errors.New("no commit is given") // GitHub would take the default branch
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.what, err)
	}
	var raw json.RawMessage
	if _, err := c.get(ctx, k, "contents/"+escaped, url.Values{"ref": {ref}}, &raw); err != nil {
		return nil, err
	}
	b, err := fileOf(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.what, err)
	}
	return b, nil
}

// escapePath makes a path of a repository part of an address.
func escapePath(path string) (string, error) {
	if len(path) > 4096 || strings.ContainsRune(path, 0) {
		return "", errors.New("this is no path")
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if p == "" || p == "." || p == ".." {
			return "", errors.New("a path is relative to the repository's root, without empty parts and without . or .. in it")
		}
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/"), nil
}

// fileOf takes the file out of GitHub's answer.
func fileOf(raw json.RawMessage) ([]byte, error) {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return nil, errors.New("it is a folder, not a file")
	}
	var f struct {
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Content  string `json:"content"`
		Size     int64  `json:"size"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("GitHub's answer: %w", err)
	}
	switch {
	case f.Type != "file":
		return nil, fmt.Errorf("it is a %s, not a file", quote(f.Type))
	case f.Size > MaxContents || f.Encoding == "none" && f.Size > 0:
		return nil, fmt.Errorf("it has %d bytes: more than %d are not read", f.Size, MaxContents)
	case f.Size == 0 && f.Content == "":
		return []byte{}, nil
	case f.Encoding != "base64":
		return nil, fmt.Errorf("GitHub sent it in encoding %s, which we do not know", quote(f.Encoding))
	}
	b, err := base64.StdEncoding.DecodeString(f.Content) // skips the line breaks
	switch {
	case err != nil:
		return nil, fmt.Errorf("GitHub's answer: %w", err)
	case int64(len(b)) != f.Size:
		return nil, fmt.Errorf("GitHub sent %d of %d bytes", len(b), f.Size)
	}
	return b, nil
}

// MergeBase is the newest commit that both have among their ancestors. It is
// fs.ErrNotExist when there is none or a commit is not there. Commits of forks can be
// named: their repositories share objects.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	k := call{what: fmt.Sprintf("compare %s with %s", short(base), short(head)), permission: readContents}
	for _, sha := range []string{base, head} {
		if err := needSHA("commit", sha); err != nil {
			return "", fmt.Errorf("%s: %w", k.what, err)
		}
	}
	// Own types: the answer also has up to 300 changed files with their patches.
	var p struct {
		MergeBase struct {
			SHA string `json:"sha"`
		} `json:"merge_base_commit"`
	}
	if _, err := c.get(ctx, k, "compare/"+base+"..."+head, url.Values{"per_page": {"1"}}, &p); err != nil {
		return "", err
	}
	if err := needSHA("merge_base_commit", p.MergeBase.SHA); err != nil {
		return "", fmt.Errorf("%s: GitHub's answer: %w", k.what, err)
	}
	return p.MergeBase.SHA, nil
}

// Commit gives the tree and the parents of a commit, first parent first.
func (c *Client) Commit(ctx context.Context, sha string) (tree string, parents []string, err error) {
	k := call{what: "read commit " + short(sha), permission: readContents}
	if err := needSHA("commit", sha); err != nil {
		return "", nil, fmt.Errorf("%s: %w", k.what, err)
	}
	var out github.Commit
	if _, err := c.get(ctx, k, "git/commits/"+sha, nil, &out); err != nil {
		return "", nil, err
	}
	tree = out.GetTree().GetSHA()
	if err := needSHA("tree", tree); err != nil {
		return "", nil, fmt.Errorf("%s: GitHub's answer: %w", k.what, err)
	}
	for _, p := range out.Parents {
		if err := needSHA("parent", p.GetSHA()); err != nil {
			return "", nil, fmt.Errorf("%s: GitHub's answer: %w", k.what, err)
		}
		parents = append(parents, p.GetSHA())
	}
	return tree, parents, nil
}

// Ancestors lists commits that are reachable from one, itself first, newest first.
func (c *Client) Ancestors(ctx context.Context, commit string, most int) ([]string, error) {
	k := call{what: "list ancestors of " + short(commit), permission: readContents}
	if err := needSHA("commit", commit); err != nil {
		return nil, fmt.Errorf("%s: %w", k.what, err)
	}
	type entry struct {
		SHA string `json:"sha"`
	}
	// Not list: a page need not be larger than what is wanted.
	var out []string
	for page := 1; len(out) < most && page <= maxPages; {
		query := url.Values{"sha": {commit}, "per_page": {strconv.Itoa(min(most, perPage))}}
		if page > 1 {
			query.Set("page", strconv.Itoa(page))
		}
		var entries []entry
		resp, err := c.get(ctx, k, "commits", query, &entries)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if err := needSHA("commit", e.SHA); err != nil {
				return nil, fmt.Errorf("%s: GitHub's answer: %w", k.what, err)
			}
			out = append(out, e.SHA)
		}
		if resp.NextPage <= page {
			break
		}
		page = resp.NextPage
	}
	return out[:min(len(out), most)], nil
}
