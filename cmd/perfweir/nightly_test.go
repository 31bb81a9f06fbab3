package main

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// list runs `baseline list --check` as the nightly workflow does, or from a desk
// that names the repository.
func (s *site) list(args ...string) (code int, text string) {
	s.t.Helper()
	var out bytes.Buffer
	environ := []string{"PATH=/usr/bin:/bin", "GITHUB_REPOSITORY=acme/widgets", "GITHUB_REPOSITORY_ID=4242", "GITHUB_API_URL=" + s.gh.URL(),
		"GITHUB_TOKEN=" + ghtest.DefaultToken,
		"GITHUB_WORKFLOW_REF=acme/widgets/.github/workflows/gate.yml@refs/heads/main", "GITHUB_REF=refs/heads/main", "PERFWEIR_MACHINE=" + s.machine}
	code = cli.Main(context.Background(), cli.Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: environ, Now: s.gh.Now, Sleep: s.sleep},
		append([]string{"baseline", "list", "--check", "--from", "github", "-c", filepath.Join(s.dir, "perfweir.yml")}, args...))
	return code, out.String()
}

// The nightly workflow is red where the baseline is too old, whatever left it so.
func TestBaselineListCheck(t *testing.T) {
	s := newSite(t)
	s.write(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "max_age: 30d", "max_age: 5d, workflow: gate.yml, branch: main", 1)})
	if code, text := s.list(); code != 3 {
		t.Errorf("no session at all: exit code %d\n%s", code, text)
	}
	s.nights(2)
	code, text := s.list()
	if code != 0 {
		t.Errorf("fresh sessions: exit code %d\n%s", code, text)
	}
	contains(t, "list", text, "2 sessions taken", "workflow gate.yml on main")

	// The job that looks after it may run on any machine.
	s.gh.Edit(func(st *ghtest.State) {
		for i := range st.Artifacts {
			st.Artifacts[i].Zip = otherMachine(t, st.Artifacts[i].Zip)
		}
	})
	if code, text = s.list(); code != 3 {
		t.Errorf("sessions of another machine: exit code %d\n%s", code, text)
	}
	if code, text = s.list("--any-machine"); code != 0 {
		t.Errorf("of any machine: exit code %d\n%s", code, text)
	}

	// Four refreshes leave nothing.
	for range 4 {
		s.gh.Advance(24 * time.Hour)
		s.run++
		s.gh.AddRun(ghtest.Run{ID: s.run, Number: int(s.run - 4700), Path: ".github/workflows/gate.yml", Event: "schedule", HeadBranch: "main", HeadSHA: s.head(), Conclusion: "failure"})
	}
	code, text = s.list("--any-machine")
	if code != 0 {
		t.Errorf("4 days old, limit 5: exit code %d\n%s", code, text)
	}
	contains(t, "list", text, "4 days old, limit 5 days", "the last 4 refreshes left nothing usable")
	s.gh.Advance(48 * time.Hour)
	if code, text = s.list("--any-machine"); code != 3 {
		t.Errorf("6 days old, limit 5: exit code %d\n%s", code, text)
	}

	// That it could not be asked for is no age: another exit, and other words.
	s.gh.Fail(ghtest.Fault{Kind: ghtest.Integration403, Path: "/actions/workflows/*/runs"})
	code, text = s.list()
	if code != 3 || !strings.Contains(text, "actions: read") {
		t.Errorf("a refused listing: exit code %d\n%s", code, text)
	}
}

// --from says where to look, whatever the suite says.
func TestBaselineListFrom(t *testing.T) {
	s := newSite(t)
	s.nights(2)
	s.write(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "from: github", "from: folder", 1)})
	code, text := s.list()
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, text)
	}
	contains(t, "list", text, "workflow gate.yml on main", "2 sessions taken")
}

// A pull request hears that its baseline gets old.
func TestOldBaselineIsTold(t *testing.T) {
	s := newSite(t)
	s.nights(1)
	s.gh.Advance(20 * 24 * time.Hour)
	p := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 0, "pass")
	contains(t, "comment", s.comment(p).Body, "20 days", "limit 30 days")
}

// Servers without an API for artifacts keep baselines in a folder of the runner.
func TestBaselineInAFolder(t *testing.T) {
	s := newSite(t)
	folder := t.TempDir()
	s.commit(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "from: github", "from: folder, dir: "+folder, 1)})
	s.gh.SetBranch("main", s.head())
	s.nights(2)
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 1, "fail")
	if o.outputs["baseline-sessions"] != "2" {
		t.Errorf("outputs: %v", o.outputs)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.json")); err != nil || len(left) != 2 {
		t.Errorf("%d sessions in the folder, %v: a pull request added its own, or a night did not", len(left), err)
	}
}

// otherMachine is an archive of results with another processor in them.
func otherMachine(t *testing.T, archive []byte) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var entries []ghtest.Entry
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, ghtest.Entry{Name: f.Name, Data: bytes.Replace(data, []byte(`"strict":{`), []byte(`"strict":{"a_key":"of another machine",`), 1)})
	}
	return ghtest.Zip(entries...)
}
