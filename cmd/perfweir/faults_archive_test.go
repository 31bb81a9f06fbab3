package main

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// TestFaultsOfArtifacts: an artifact that cannot be used is not taken, with the
// reason, and the next older session is. Where there is no other there is no
// baseline, unless what was stored did not arrive.
func TestFaultsOfArtifacts(t *testing.T) {
	before := strays(t)
	meetAll(t, []fault{
		{"truncated on its way", newest(vanishing(ghtest.Fault{Kind: ghtest.TruncatedZip})), older("its digest is sha256:", "GitHub lists sha256:")},
		{"truncated on its way and there is no other", all(vanishing(ghtest.Fault{Kind: ghtest.TruncatedZip})),
			told{come: couldNotAsk, says: []string{"could not be read", "its digest is sha256:"}}},
		{"truncated as it was stored", newest(stored(func(z []byte) []byte { return ghtest.ZipTruncated(z, 100) })), older("cannot be read, it may be cut off")},
		{"truncated as it was stored and there is no other", all(stored(func(z []byte) []byte { return ghtest.ZipTruncated(z, 100) })),
			told{come: none, rejects: []string{"cannot be read, it may be cut off"}}},
		{"a bomb that says it is small", newest(stored(func([]byte) []byte { return ghtest.ZipBomb("results.json", 1<<30) })), older("results.json")},
		{"a bomb that says how large it is", newest(stored(func([]byte) []byte { return ghtest.ZipRatio("results.json", 200<<20) })), older("inflates to more than 200 times its size")},
		{"more than a document may have", newest(stored(func([]byte) []byte { return ghtest.ZipRatio("results.json", 1<<30) })), older("1073741824 bytes large")},
		{"very many entries", newest(stored(func([]byte) []byte { return ghtest.ZipMany(500) })), older("has 500 entries")},
		{"a path that leads out", newest(stored(func(z []byte) []byte { return ghtest.ZipSlip("../"+stray, resultsOf(t, z)) })), older("leads out of the archive")},
		{"an absolute path", newest(stored(func(z []byte) []byte { return ghtest.ZipSlip("/tmp/"+stray, resultsOf(t, z)) })), older("has an absolute path")},
		{"a path of another system", newest(stored(func(z []byte) []byte { return ghtest.ZipSlip(`..\`+stray, resultsOf(t, z)) })), older("has a backslash in its name")},
		{"a symbolic link", newest(stored(func([]byte) []byte { return ghtest.ZipSymlink("results.json", "/etc/passwd") })), older("is a symbolic link")},
		{"one name twice", newest(stored(func(z []byte) []byte { r := resultsOf(t, z); return ghtest.ZipDuplicates("results.json", r, r) })), older("is in the archive twice")},
		{"encrypted", newest(stored(func(z []byte) []byte { return ghtest.ZipEncrypted("results.json", resultsOf(t, z)) })), older("is encrypted")},
		{"no results in it", newest(stored(func([]byte) []byte { return ghtest.ZipFile("readme.txt", []byte("words")) })), older("has no results.json")},
		{"no zip in it", newest(stored(func([]byte) []byte { return []byte("words") })), older("is no zip archive")},
		{"the wrong content type", newest(vanishing(ghtest.Fault{Kind: ghtest.WrongType})), told{}},
		{"a page of HTML in its place", newest(vanishing(ghtest.Fault{Kind: ghtest.HTMLPage})), older("its digest is sha256:")},
		{"uploaded unzipped", newest(func(s *site, a *ghtest.Artifact) {
			a.Zip, a.ContentType = resultsOf(s.t, a.Zip), "application/json"
		}), older("uploaded unzipped", "archive: true")},
		{"410 though it is listed", newest(func(_ *site, a *ghtest.Artifact) { a.Vanished = true }), older("GitHub has it no more", "410")},
		{"410 though they are listed and there is no other", all(func(_ *site, a *ghtest.Artifact) { a.Vanished = true }),
			told{come: none, says: []string{"GitHub has it no more"}}},
		{"expired", newest(func(_ *site, a *ghtest.Artifact) { a.Expired = true }), older("expired")},
		{"expired and there is no other", all(func(_ *site, a *ghtest.Artifact) { a.Expired = true }), told{come: none, says: []string{"expired"}}},
		{"a digest is not listed", all(func(_ *site, a *ghtest.Artifact) { a.NoDigest = true }), told{}},
	})
	if after := strays(t); len(after) > len(before) {
		t.Errorf("files were left: %v", after)
	}
}

// TestFaultsOfResults: what a stored document says is held against what GitHub
// says of the workflow run, and against this machine and this suite.
func TestFaultsOfResults(t *testing.T) {
	meetAll(t, []fault{
		{"no document", newest(document(`^.*`, "words")), older("results.json")},
		{"a newer schema", newest(document(`perfweir\.results/v1`, "perfweir.results/v2")), older("perfweir.results/v2", "newer")},
		{"an older schema", newest(document(`perfweir\.results/v1`, "perfweir.results/v0")), older("perfweir.results/v0")},
		{"a newer schema and there is no other", all(document(`perfweir\.results/v1`, "perfweir.results/v2")), told{come: none, says: []string{"perfweir.results/v2"}}},
		{"a number that is none", newest(document(`"v":\[100\]`, `"v":[NaN]`)), older("results.json")},
		{"another machine", newest(document(`"cpu_model":"[^"]*"`, `"cpu_model":"EPYC 7763"`)), older("other machine", "EPYC 7763")},
		{"another machine and there is no other", all(document(`"cpu_model":"[^"]*"`, `"cpu_model":"EPYC 7763"`)),
			told{come: incomparable, says: []string{"of another machine"}}},
		{"another cell digest and there is no other", all(document(`("cells":\[\s*\{.*?"digest":"sha256:)..`, "${1}00")), told{come: incomparable, rejects: []string{"definition changed"}, sessions: 2}},
		{"another workflow run's results", newest(document(`("workflow_run":\{[^}]*"id":)\d+`, "${1}17")), older("says it is of workflow run 17")},
		{"another commit's results", newest(document(`"commit":"[0-9a-f]{8}`, `"commit":"00000000`)), older("says it is of commit 00000000")},
	})
}

// older is what comes of a session that is not taken, for these reasons.
func older(rejects ...string) told { return told{rejects: rejects, sessions: 1} }

// TestFaultsOfPassports: whose sessions are taken. Every stranger says that main
// needs 1,000 bytes, by which the pull request would pass.
func TestFaultsOfPassports(t *testing.T) {
	meetAll(t, []fault{
		{"a fork's branch called main", stranger(func(r *ghtest.Run) {
			r.Event, r.Head = "pull_request", ghtest.Fork{FullName: "eve/widgets", ID: 666}
		}), told{rejects: []string{"of a fork (repository 666)"}}},
		{"a fork's branch called main and a push", stranger(func(r *ghtest.Run) { r.Head = ghtest.Fork{FullName: "eve/widgets", ID: 666} }),
			told{rejects: []string{"of a fork (repository 666)"}}},
		{"a fork that is gone", stranger(func(r *ghtest.Run) { r.Head = ghtest.Fork{Gone: true} }), told{rejects: []string{"of a fork that is gone"}}},
		{"a fork's branch called main and there is no other", func(s *site, j *job) {
			stranger(func(r *ghtest.Run) { r.Head = ghtest.Fork{FullName: "eve/widgets", ID: 666} })(s, j)
			s.gh.Edit(func(st *ghtest.State) { st.Artifacts = st.Artifacts[2:] })
		}, told{come: none, says: []string{"of a fork (repository 666)"}}},
		{"a pull request of this repository", stranger(func(r *ghtest.Run) { r.Event = "pull_request" }), told{rejects: []string{`of event "pull_request"`}}},
		{"a commit that is not before the comparison commit", func(s *site, j *job) {
			stranger(func(r *ghtest.Run) { r.HeadSHA = s.headOf(j.event) })(s, j)
		}, told{rejects: []string{"is not before"}}},
		{"this very workflow run", func(s *site, j *job) {
			s.run++
			j.runID, j.attempt = s.run, 2
			stranger(func(r *ghtest.Run) { r.ID, r.Attempt = j.runID, 2 })(s, j)
		}, told{rejects: []string{"this very workflow run"}}},
	})
}

// TestFaultsAreAllThatIsWrong: what is refused above is taken where it is not a stranger's.
func TestFaultsAreAllThatIsWrong(t *testing.T) {
	f := newFaultSite(t)
	s := f.copy(t)
	j := s.gate(f.slow)
	stranger(func(*ghtest.Run) {})(s.site, &j)
	s.gh.Edit(func(st *ghtest.State) { st.Artifacts = st.Artifacts[2:] })
	o := s.do(j)
	s.wants(o, 0, "suspicious")
	contains(t, "comment", s.comment(f.slow).Body, "1000 B", "130 B")
}

// newest strikes the newer session of main.
func newest(strike func(*site, *ghtest.Artifact)) func(*site, *job) {
	return func(s *site, _ *job) { s.editSessions(strike, s.sessions()[1]) }
}

// all strikes every session of main.
func all(strike func(*site, *ghtest.Artifact)) func(*site, *job) {
	return func(s *site, _ *job) { s.editSessions(strike, s.sessions()...) }
}

func (s *site) editSessions(strike func(*site, *ghtest.Artifact), list ...ghtest.Artifact) {
	for i := range list {
		strike(s, &list[i])
	}
	s.gh.Edit(func(st *ghtest.State) {
		for _, a := range list {
			for i := range st.Artifacts {
				if st.Artifacts[i].ID == a.ID {
					st.Artifacts[i] = a
				}
			}
		}
	})
}

// stored changes the bytes at the blob store, of which GitHub lists the digest.
func stored(change func([]byte) []byte) func(*site, *ghtest.Artifact) {
	return func(_ *site, a *ghtest.Artifact) { a.Zip = change(a.Zip) }
}

// vanishing is a fault of the blob store with one artifact.
func vanishing(x ghtest.Fault) func(*site, *ghtest.Artifact) {
	return func(s *site, a *ghtest.Artifact) {
		x.Blob, x.Path = true, "/artifacts/"+itoa(int(a.ID))+"/*"
		s.gh.Fail(x)
	}
}

// document changes the results in an archive.
func document(pattern, to string) func(*site, *ghtest.Artifact) {
	return func(s *site, a *ghtest.Artifact) {
		text := resultsOf(s.t, a.Zip)
		re := regexp.MustCompile("(?s)" + pattern)
		if !re.Match(text) {
			s.t.Fatalf("the results hold no %s:\n%s", pattern, text)
		}
		a.Zip = ghtest.ZipFile("results.json", re.ReplaceAll(text, []byte(to)))
	}
}

// resultsOf are the results in an archive of ours.
func resultsOf(t *testing.T, archive []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	var f fs.File
	if err == nil {
		f, err = z.Open("results.json")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// stranger adds a workflow run on main, newer than all, whose artifact says that
// 1,000 bytes are right. It is good but for what change makes of it.
func stranger(change func(*ghtest.Run)) func(*site, *job) {
	return func(s *site, _ *job) {
		r := ghtest.Run{ID: 800_000, Path: ".github/workflows/gate.yml", Event: "push", HeadBranch: "main", HeadSHA: s.git("rev-parse", "main"), CreatedAt: s.gh.Now().Add(-time.Minute)}
		change(&r)
		s.gh.AddRun(r)
		own := s.sessions()[1]
		a := ghtest.Artifact{Zip: own.Zip}
		document(`"v":\[100\]`, `"v":[1000]`)(s, &a)
		document(`"commit":"[0-9a-f]*"`, `"commit":"`+r.HeadSHA+`"`)(s, &a)
		document(`"workflow_run":\{[^}]*\},?`, "")(s, &a)
		s.gh.AddArtifact(r.ID, own.Name, a.Zip)
	}
}

// stray is what hostile archives call the file that must not come to be.
const stray = "perfweir-faults-stray.json"

// strays are the files of that name in the machine's temporary folder.
func strays(t *testing.T) (list []string) {
	t.Helper()
	top := os.TempDir()
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, stray) {
			list = append(list, path)
		}
		if err != nil && d != nil && d.IsDir() {
			return fs.SkipDir // of somebody else
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
