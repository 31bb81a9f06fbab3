package ghtest

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
)

func contentEndpoints() []endpoint {
	return []endpoint{{"GET", repositoryPath + "/contents/{path}", []string{"ref"}, []string{"contents:read"}, getContents}}
}

// maxInline is the largest file whose text the JSON form holds.
const maxInline = 1 << 20

func getContents(c *call) answer {
	commit := c.state().commit(c.query.Get("ref"))
	if commit == nil {
		return refuse(http.StatusNotFound, "No commit found for the ref "+c.query.Get("ref"), c.docs)
	}
	files := c.state().files(commit)
	wanted := strings.Trim(c.params["path"], "/")
	text, isFile := files[wanted]
	if !isFile {
		return c.folder(files, wanted)
	}
	if strings.Contains(c.req.Header.Get("Accept"), "raw") {
		return answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/vnd.github.raw; charset=utf-8"}}, body: []byte(text), isRaw: true}
	}
	return reply(http.StatusOK, c.showFile(wanted, text))
}

func (c *call) showFile(name, text string) object {
	encoding, content := "base64", wrapped(base64.StdEncoding.EncodeToString([]byte(text)))
	if len(text) > maxInline {
		encoding, content = "none", ""
	}
	return c.example("content-file-response-if-content-is-a-file", mergeObjects(c.contentLinks(name, blobHash(text)),
		object{"type": "file", "size": len(text), "encoding": encoding, "content": content}))
}

func (c *call) contentLinks(name, hash string) object {
	self, git, page := c.link("/contents/%s", name), c.link("/git/blobs/%s", hash), c.page("/blob/%s/%s", c.state().Repository.DefaultBranch, name)
	return object{"name": path.Base(name), "path": name, "sha": hash, "url": self, "git_url": git, "html_url": page, "download_url": page,
		"_links": object{"self": self, "git": git, "html": page}}
}

// folder lists what is directly below a path, if anything is.
func (c *call) folder(files map[string]string, wanted string) answer {
	entries := map[string]object{}
	for _, name := range sortedKeys(files) {
		rest, ok := strings.CutPrefix(name, wanted+"/")
		if !ok {
			continue
		}
		child, _, isDeeper := strings.Cut(rest, "/")
		full, kind, size := wanted+"/"+child, "file", len(files[name])
		if isDeeper {
			kind, size = "dir", 0
		}
		entries[child] = mergeObjects(c.contentLinks(full, blobHash(files[name])), object{"type": kind, "size": size})
	}
	if len(entries) == 0 {
		return notFound(c.docs)
	}
	shown := []object{}
	for _, child := range sortedKeys(entries) {
		shown = append(shown, entries[child])
	}
	return reply(http.StatusOK, shown)
}

// blobHash is git's hash of a file.
func blobHash(text string) string {
	sum := sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(text), text)))
	return hex.EncodeToString(sum[:])
}

// wrapped breaks base64 into lines of 60, as GitHub does.
func wrapped(text string) string {
	var b strings.Builder
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	b.WriteString(text + "\n")
	return b.String()
}
