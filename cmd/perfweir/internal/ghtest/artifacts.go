package ghtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const zipType = "application/zip"

func artifactEndpoints() []endpoint {
	needs := []string{"actions:read"}
	base := repositoryPath + "/actions/"
	return []endpoint{
		{"GET", base + "artifacts", paged("name"), needs, listArtifacts},
		{"GET", base + "artifacts/{artifact_id}", nil, needs, getArtifact},
		{"GET", base + "artifacts/{artifact_id}/{archive_format}", nil, needs, downloadArtifact},
		{"GET", base + "runs/{run_id}/artifacts", paged("name", "direction"), needs, listRunArtifacts},
	}
}

// folderArtifact is what was seen of an artifact in Options.Artifacts.
type folderArtifact struct {
	id        int64
	digest    string
	createdAt time.Time // when it was seen first, by the server's clock
}

// artifacts are those of the state and those in the folder, oldest first.
func (s *Server) artifacts() []Artifact {
	all := slices.Clone(s.state.Artifacts)
	if s.options.Artifacts != "" {
		for _, r := range s.state.Runs {
			all = append(all, s.artifactsInFolder(r)...)
		}
	}
	slices.SortStableFunc(all, func(a, b Artifact) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// artifactsInFolder reads what a run has left. A folder that is not there is a run
// without artifacts.
func (s *Server) artifactsInFolder(r Run) []Artifact {
	dir := filepath.Join(s.options.Artifacts, strconv.FormatInt(r.ID, 10))
	names, _ := os.ReadDir(dir)
	var out []Artifact
	for _, n := range names {
		if a, ok := s.artifactInFolder(r, filepath.Join(dir, n.Name()), n.Name()); ok {
			out = append(out, a)
		}
	}
	return out
}

func (s *Server) artifactInFolder(r Run, dir, name string) (Artifact, bool) {
	a := Artifact{RunID: r.ID, Name: name, File: filepath.Join(dir, name+".zip"), ContentType: zipType}
	if _, err := os.Stat(a.File); err != nil { // one file that was not zipped
		files, _ := os.ReadDir(dir)
		if len(files) != 1 {
			return Artifact{}, false
		}
		a.File, a.ContentType = filepath.Join(dir, files[0].Name()), "application/octet-stream"
	}
	body, err := a.bytes()
	if err != nil {
		return Artifact{}, false
	}
	seen, isKnown := s.folder[dir]
	if !isKnown {
		seen = folderArtifact{id: s.nextID(), createdAt: s.now()}
	}
	if digest := digestOf(body); digest != seen.digest {
		if isKnown {
			// act writes over it; GitHub refuses the second upload.
			s.violations = append(s.violations, Violation{"PUT", dir, ruleRequest + ErrConflict.Error()})
		}
		seen.digest = digest
	}
	s.folder[dir] = seen
	a.ID = seen.id
	a.fill(seen.createdAt)
	return a, true
}

// bytes are the artifact as the blob store has it.
func (a Artifact) bytes() ([]byte, error) {
	if a.File != "" {
		return os.ReadFile(a.File)
	}
	return a.Zip, nil
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (c *call) artifact(id int64) *Artifact {
	return find(c.s.artifacts(), func(a *Artifact) bool { return a.ID == id })
}

func (c *call) showArtifact(a Artifact) object {
	body, err := a.bytes()
	if err != nil {
		c.s.violate(c.req, ruleAnswer, "artifact %s: %v", a.Name, err)
	}
	shown := c.exampleItem("artifact-paginated", "artifacts", object{
		"id": a.ID, "name": a.Name, "size_in_bytes": len(body), "expired": a.expired(c.now),
		"created_at": stamp(a.CreatedAt), "updated_at": stamp(a.CreatedAt), "expires_at": stamp(a.ExpiresAt),
		"url": c.link("/actions/artifacts/%d", a.ID), "archive_download_url": c.link("/actions/artifacts/%d/zip", a.ID),
		"digest": digestOf(body), "workflow_run": c.runOfArtifact(a),
	})
	if a.NoDigest {
		delete(shown, "digest")
	}
	if a.NoRun {
		delete(shown, "workflow_run")
	}
	return shown
}

func (c *call) runOfArtifact(a Artifact) any {
	r := c.state().run(a.RunID)
	if r == nil {
		return nil
	}
	run := object{"id": r.ID, "repository_id": c.state().Repository.ID, "head_branch": r.HeadBranch, "head_sha": r.HeadSHA}
	if id := c.headRepositoryID(*r); id != 0 {
		run["head_repository_id"] = id
	}
	return run
}

// filterByName keeps artifacts of the name that is asked for, newest first.
func (c *call) filterByName(all []Artifact) []Artifact {
	kept := slices.DeleteFunc(all, func(a Artifact) bool { return c.query.Has("name") && a.Name != c.query.Get("name") })
	if c.query.Get("direction") != "asc" {
		slices.Reverse(kept)
	}
	return kept
}

func listArtifacts(c *call) answer {
	return list(c, "artifacts", c.filterByName(c.s.artifacts()), c.showArtifact)
}

func listRunArtifacts(c *call) answer {
	run := c.number("run_id")
	if c.state().run(run) == nil {
		return notFound(c.docs)
	}
	ofRun := slices.DeleteFunc(c.s.artifacts(), func(a Artifact) bool { return a.RunID != run })
	return list(c, "artifacts", c.filterByName(ofRun), c.showArtifact)
}

func getArtifact(c *call) answer {
	a := c.artifact(c.number("artifact_id"))
	if a == nil {
		return notFound(c.docs)
	}
	return reply(http.StatusOK, c.showArtifact(*a))
}

func downloadArtifact(c *call) answer {
	a := c.artifact(c.number("artifact_id"))
	switch {
	case a == nil || c.params["archive_format"] != "zip":
		return notFound(c.docs)
	case a.Vanished || a.expired(c.now):
		return refuse(http.StatusGone, fmt.Sprintf("Artifact has expired on %s", stamp(a.ExpiresAt)), c.docs)
	}
	return answer{status: http.StatusFound, header: http.Header{"Location": {c.s.blobLink(*a, c.now)}}}
}
