package ghtest

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// location is where an artifact's download is sent to.
func location(t *testing.T, c client, id int64) string {
	t.Helper()
	return c.do(t, "GET", fmt.Sprintf("%s/actions/artifacts/%d/zip", repo, id), nil).want(t, 302).header.Get("Location")
}

func TestDownload(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	link := location(t, c, w.artifact)
	if !strings.HasPrefix(link, s.BlobURL()+"/") || strings.HasPrefix(link, s.URL()) || !strings.Contains(link, ".zip?") {
		t.Errorf("link %s is not to the blob host", link)
	}
	got := c.as("").do(t, "GET", link, nil).want(t, 200)
	if got.text != string(w.zip) || got.header.Get("Content-Type") != "application/zip" {
		t.Errorf("%d bytes of %s, want %d", len(got.text), got.header.Get("Content-Type"), len(w.zip))
	}
	listed := c.do(t, "GET", fmt.Sprintf("%s/actions/artifacts/%d", repo, w.artifact), nil).want(t, 200).object(t)
	if listed["digest"] != digestOf(w.zip) || listed["size_in_bytes"] != float64(len(w.zip)) {
		t.Errorf("listed %v", listed)
	}
}

func TestTokenAtTheBlobHostIsRefusedAndTold(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	got := c.do(t, "GET", location(t, c, w.artifact), nil).want(t, 400) // with the token
	if !strings.Contains(got.text, "<Code>InvalidAuthenticationInfo</Code>") || got.header.Get("Content-Type") != "application/xml" {
		t.Errorf("%v %s", got.header, got.text)
	}
	wantRule(t, s, "token leaked")
}

func TestLinksLiveOneMinute(t *testing.T) {
	s, w := world(t)
	c := clientOf(s).as(DefaultToken)
	link := location(t, c, w.artifact)
	anonymous := c.as("")
	s.Advance(time.Minute)
	anonymous.do(t, "GET", link, nil).want(t, 200)
	s.Advance(time.Second)
	if got := anonymous.do(t, "GET", link, nil).want(t, 403); !strings.Contains(got.text, "AuthenticationFailed") {
		t.Errorf("%s", got.text)
	}
	fresh := location(t, c, w.artifact)
	for _, forged := range []string{
		strings.Replace(fresh, fmt.Sprint(w.artifact), fmt.Sprint(w.artifact+1), 1),
		strings.Replace(fresh, "sig=", "sig=A", 1),
		s.BlobURL() + "/artifacts/1/x.zip",
	} {
		anonymous.do(t, "GET", forged, nil).want(t, 403)
	}
}

func TestArtifactsThatAreGone(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	expired := s.AddArtifact(w.run, "expired", w.zip, func(a *Artifact) { a.Expired = true })
	vanished := s.AddArtifact(w.run, "vanished", w.zip, func(a *Artifact) { a.Vanished = true })
	for id, listedAsExpired := range map[int64]bool{expired: true, vanished: false} {
		listed := c.do(t, "GET", fmt.Sprintf("%s/actions/artifacts/%d", repo, id), nil).want(t, 200).object(t)
		if listed["expired"] != listedAsExpired {
			t.Errorf("%v: expired is %v", listed["name"], listed["expired"])
		}
		c.do(t, "GET", fmt.Sprintf("%s/actions/artifacts/%d/zip", repo, id), nil).want(t, 410)
	}
	s.Advance(artifactDays * 24 * time.Hour)
	c.do(t, "GET", fmt.Sprintf("%s/actions/artifacts/%d/zip", repo, w.artifact), nil).want(t, 410)
}

func TestNamesAreUniqueInARun(t *testing.T) {
	var told spy
	s := New(&told)
	sha := s.AddCommit(Commit{})
	one, other := s.AddRun(Run{HeadSHA: sha}), s.AddRun(Run{HeadSHA: sha})
	s.AddArtifact(one, "results", nil)
	s.AddArtifact(other, "results", nil)
	if len(told.fatal) != 0 {
		t.Fatalf("another run's name is taken: %q", told.fatal)
	}
	s.AddArtifact(one, "results", nil)
	if len(told.fatal) != 1 {
		t.Errorf("a second artifact of one name is taken")
	}
	s.Close()
}

func TestOldServersTellLess(t *testing.T) {
	s, w := world(t)
	id := s.AddArtifact(w.run, "old", w.zip, func(a *Artifact) { a.NoDigest, a.NoRun = true, true })
	listed := clientOf(s).do(t, "GET", fmt.Sprintf("%s/actions/artifacts/%d", repo, id), nil).want(t, 200).object(t)
	if listed["digest"] != nil || listed["workflow_run"] != nil {
		t.Errorf("listed %v", listed)
	}
}

// put writes what act's artifact server leaves.
func put(t *testing.T, dir, run, name, file string, content []byte) {
	t.Helper()
	folder := filepath.Join(dir, run, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, file), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestArtifactsInTheFolderOfAct(t *testing.T) {
	dir := t.TempDir()
	s, w := world(t, func(o *Options) { o.Artifacts = dir })
	c := clientOf(s)
	list := fmt.Sprintf("%s/actions/runs/%d/artifacts", repo, w.run)
	names := func() (out []string, digests map[string]any, ids map[string]int64) {
		digests, ids = map[string]any{}, map[string]int64{}
		for _, a := range c.do(t, "GET", list+"?direction=asc", nil).want(t, 200).object(t)["artifacts"].([]any) {
			a := a.(object)
			name := a["name"].(string)
			out, digests[name], ids[name] = append(out, name), a["digest"], int64(a["id"].(float64))
		}
		return out, digests, ids
	}
	run := fmt.Sprint(w.run)
	put(t, dir, run, "session", "session.zip", w.zip)
	put(t, dir, run, "report", "report.json", []byte("{}"))
	put(t, dir, "999", "elsewhere", "elsewhere.zip", w.zip)
	got, digests, ids := names()
	if len(got) != 3 || digests["session"] != digestOf(w.zip) {
		t.Fatalf("listed %v %v; a run that is not known has no artifacts", got, digests)
	}
	blob := c.as("").do(t, "GET", location(t, c, ids["session"]), nil).want(t, 200)
	if !bytes.Equal([]byte(blob.text), w.zip) {
		t.Errorf("%d bytes", len(blob.text))
	}
	plain := c.as("").do(t, "GET", location(t, c, ids["report"]), nil).want(t, 200)
	if plain.text != "{}" || plain.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%v %q", plain.header, plain.text)
	}
	if err := s.Replace(s.State()); err != nil {
		t.Fatal(err)
	}
	if got, _, again := names(); again["session"] != ids["session"] || len(got) != 3 || len(s.Artifacts()) != 3 {
		t.Errorf("a state that was read and set again: %v %v", got, again)
	}

	put(t, dir, run, "session", "session.zip", ZipFile("results.json", []byte("other")))
	names()
	wantRule(t, s, "409")
}

func TestRunsTellWhereTheyComeFrom(t *testing.T) {
	s, w := world(t)
	fork := s.AddRun(Run{HeadSHA: w.head, HeadBranch: "main", Event: "pull_request", Head: Fork{FullName: "mallory/widgets", ID: 666}})
	gone := s.AddRun(Run{HeadSHA: w.head, HeadBranch: "main", Head: Fork{Gone: true}})
	c := clientOf(s)
	r := c.do(t, "GET", fmt.Sprintf("%s/actions/runs/%d", repo, fork), nil).want(t, http.StatusOK).object(t)
	if h := r["head_repository"].(object); h["id"] != 666.0 || h["full_name"] != "mallory/widgets" || r["repository"].(object)["id"] != 4242.0 {
		t.Errorf("fork %v", r["head_repository"])
	}
	r = c.do(t, "GET", fmt.Sprintf("%s/actions/runs/%d", repo, gone), nil).want(t, http.StatusOK).object(t)
	if r["head_repository"] != nil || r["head_repository_id"] != nil {
		t.Errorf("gone %v %v", r["head_repository"], r["head_repository_id"])
	}
	onMain := c.do(t, "GET", repo+"/actions/runs?branch=main", nil).want(t, http.StatusOK).object(t)
	if onMain["total_count"] != 3.0 {
		t.Errorf("branch=main finds %v runs, want the forks' too", onMain["total_count"])
	}
}
