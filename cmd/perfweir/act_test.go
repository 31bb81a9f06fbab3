package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// actTools are what a run end to end needs beside Go: act, and the stand-in for
// actions/upload-artifact that .ci/standin.sh builds.
func actTools(t *testing.T) (act, standin string) {
	t.Helper()
	missing := func(what string) {
		if os.Getenv("PERFWEIR_CI") != "" {
			t.Fatalf("%s is missing", what)
		}
		t.Skipf("%s is missing: .ci/run installs it", what)
	}
	act, err := exec.LookPath("act")
	if err != nil {
		missing("act")
	}
	standin = os.Getenv("PERFWEIR_STANDIN")
	if _, err := os.Stat(filepath.Join(standin, "index.mjs")); standin == "" || err != nil {
		missing("the stand-in for upload-artifact (PERFWEIR_STANDIN)")
	}
	if _, err := exec.LookPath("node"); err != nil {
		missing("node")
	}
	return act, standin
}

// actSite is a site whose jobs are run by act, with the real action.yml.
type actSite struct {
	*site
	act, standin, binary string
	artifacts, events    string
	port                 int
}

const actWorkflow = `name: gate
on: [push, pull_request, merge_group]
permissions: {actions: read, contents: read, checks: write, pull-requests: write}
jobs:
  gate:
    runs-on: self-hosted
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8
        with: {persist-credentials: false}
      - id: perfweir
        uses: ./
        with:
          binary: ${{ env.PERFWEIR_TEST_BINARY }}
          allow-forks: "true"
      - if: always()
        shell: bash
        env: {VERDICT: "${{ steps.perfweir.outputs.verdict }}", FAILED: "${{ steps.perfweir.outputs.failed }}"}
        run: echo "told verdict=$VERDICT failed=$FAILED"
`

func newActSite(t *testing.T) *actSite {
	t.Helper()
	act, standin := actTools(t)
	a := &actSite{act: act, standin: standin, artifacts: t.TempDir(), events: t.TempDir()}
	a.binary = filepath.Join(t.TempDir(), "perfweir")
	build := exec.Command("go", "build", "-o", a.binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.port = listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	gh := ghtest.New(t, func(o *ghtest.Options) { o.Artifacts, o.Now = a.artifacts, time.Now })
	a.site = newSiteAt(t, gh)
	files := map[string]string{".github/workflows/gate.yml": actWorkflow, ".gitignore": "/.binary\n"}
	for _, name := range []string{"action.yml", ".github/actions/install.sh", ".github/actions/checksums.txt"} {
		data, err := os.ReadFile(filepath.Join("../..", name))
		a.check(err)
		files[name] = string(data)
	}
	a.commit(files)
	a.gh.SetBranch("main", a.head())
	return a
}

// do runs the workflow for an event, as the next workflow run.
func (a *actSite) do(e event) (code int, log string) {
	a.t.Helper()
	a.run++
	a.gh.AddRun(ghtest.Run{ID: a.run, Number: int(a.run - 4700), Path: ".github/workflows/gate.yml", Event: e.name, HeadBranch: strings.TrimPrefix(e.ref, "refs/heads/"),
		HeadSHA: a.headOf(e), Head: forkOf(e), Status: "in_progress"})
	payload, err := json.Marshal(e.payload)
	a.check(err)
	path := filepath.Join(a.events, fmt.Sprintf("%d.json", a.run))
	a.check(os.WriteFile(path, payload, 0o644))
	cmd := exec.Command(a.act, e.name, "-e", path, "-P", "self-hosted=-self-hosted", "--no-cache-server",
		"--artifact-server-addr", "127.0.0.1", "--artifact-server-port", fmt.Sprint(a.port), "--artifact-server-path", a.artifacts,
		"--action-cache-path", filepath.Join(a.events, "cache"), "-s", "GITHUB_TOKEN="+ghtest.DefaultToken,
		"--env", "GITHUB_API_URL="+a.gh.URL(), "--env", fmt.Sprintf("GITHUB_RUN_ID=%d", a.run), "--env", fmt.Sprintf("GITHUB_RUN_NUMBER=%d", a.run-4700),
		"--env", "GITHUB_RUN_ATTEMPT=1", "--env", "GITHUB_REPOSITORY_ID=4242", "--env", "RUNNER_NAME=perf-1", "--env", "RUNNER_ENVIRONMENT=self-hosted",
		"--env", "GITHUB_WORKFLOW_REF=acme/widgets/.github/workflows/gate.yml@"+e.ref, "--env", "PERFWEIR_TEST_BINARY="+a.binary, "--env", "PERFWEIR_LOCK_DIR="+a.events,
		"--local-repository", uploadArtifact+"="+a.standin)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "HOME="+a.events)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	a.gh.Edit(func(st *ghtest.State) {
		for i := range st.Runs {
			if st.Runs[i].ID == a.run {
				st.Runs[i].Status, st.Runs[i].Conclusion = "completed", map[bool]string{true: "success", false: "failure"}[err == nil]
			}
		}
	})
	if err != nil && cmd.ProcessState == nil {
		a.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

const uploadArtifact = "actions/upload-artifact@bbbca2ddaa5d8feaa63e36b76fdaad77386f024f"

// The real action.yml under a runner: five pushes make a baseline; a pull request
// with the same code passes, comments and completes its check; a slower one fails
// with its cell named everywhere; the next push updates the comment; the mended
// one says resolved; a merge group has its check alone; a fork's token, which may
// not write, ends with the same exit codes and the report in the summary.
func TestActionUnderAct(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of a program that other tests run in process")
	}
	a := newActSite(t)
	for i := range 5 {
		a.git("checkout", "-q", "main")
		before := a.head()
		a.commit(map[string]string{"README": strings.Repeat("words\n", i+1)})
		if code, log := a.do(a.push("main", before)); code != 0 {
			t.Fatalf("push %d: exit code %d\n%s", i+1, code, log)
		}
	}
	same := a.openPull("main", false, map[string]string{"README": "other words\n"})
	a.gate(same, 0, "pass")
	contains(t, "comment", a.comment(same).Body, "**pass**", "5 sessions")
	if c := a.checkOf(same.head); c.Status != "completed" || c.Conclusion != "success" {
		t.Errorf("check: %+v", c)
	}

	slow := a.openPull("main", false, map[string]string{"value": "130\n"})
	log := a.gate(slow, 1, "fail")
	told := a.comment(slow)
	contains(t, "comment", told.Body, "**fail**", "`size`", "130 B")
	contains(t, "summary", log[strings.Index(log, "Summary - "):], "`size`", "130 B")
	c := a.checkOf(slow.head)
	if c.Conclusion != "failure" || len(c.Annotations) != 1 || c.Annotations[0].Path != "perfweir.yml" || !strings.Contains(c.Annotations[0].Message, "size") {
		t.Errorf("check: %+v", c)
	}
	contains(t, "check", c.Summary, "`size`", "130 B")
	contains(t, "junit.xml", a.report("junit.xml"), "<failure", "size", "cost")

	a.pushToPull(slow, map[string]string{"value": "140\n"})
	a.gate(slow, 1, "fail")
	if again := a.comment(slow); again.ID != told.ID || !strings.Contains(again.Body, "140 B") {
		t.Errorf("the next push did not update the comment: %+v", again)
	}
	a.pushToPull(slow, map[string]string{"value": "101\n"})
	a.gate(slow, 0, "pass")
	contains(t, "comment", a.comment(slow).Body, "resolved")

	comments := len(a.gh.State().Comments)
	queue := a.queue(same)
	if code, log := a.do(queue); code != 0 {
		t.Errorf("merge group: exit code %d\n%s", code, log)
	}
	if c := a.checkOf(queue.sha); c.Conclusion != "success" {
		t.Errorf("check of the merge group: %+v", c)
	}
	if n := len(a.gh.State().Comments); n != comments {
		t.Errorf("%d comments after the merge group, %d before", n, comments)
	}

	// A fork's token may read, and every write is answered with 403.
	a.gh.SetToken(ghtest.DefaultToken, ghtest.Token{App: "github-actions", ReadOnly: true})
	checks := len(a.gh.CheckRuns())
	for value, want := range map[string]int{"100\n": 0, "130\n": 1} {
		fork := a.openPull("main", true, map[string]string{"value": value, "README": "fork " + value})
		log := a.gate(fork, want, map[int]string{0: "pass", 1: "fail"}[want])
		contains(t, "summary", log[strings.Index(log, "Summary - "):], "`size`")
	}
	if n, m := len(a.gh.State().Comments), len(a.gh.CheckRuns()); n != comments || m != checks {
		t.Errorf("a fork's token wrote: %d comments and %d check runs, want %d and %d", n, m, comments, checks)
	}
}

// gate runs the workflow of a pull request and asserts exit code and verdict.
func (a *actSite) gate(p *pull, code int, verdict string) (log string) {
	a.t.Helper()
	before := len(a.gh.Requests())
	got, log := a.do(p.event(a.site))
	if got != code || !strings.Contains(log, "told verdict="+verdict+" ") {
		a.t.Fatalf("exit code %d, want %d and verdict %s\n%s", got, code, verdict, log)
	}
	requests := 0
	for _, r := range a.gh.Requests()[before:] {
		if r.Host == "api" {
			requests++
		}
	}
	if requests > 30 {
		a.t.Errorf("%d requests, want at most 30", requests)
	}
	a.t.Logf("pull request %d: verdict %s, %d requests", p.number, verdict, requests)
	return log
}

// report reads a file of the reports that the last workflow run left.
func (a *actSite) report(name string) string {
	a.t.Helper()
	const artifact = "perfweir-reports-codec-perf-1-1of1-a1"
	r, err := zip.OpenReader(filepath.Join(a.artifacts, fmt.Sprint(a.run), artifact, artifact+".zip"))
	a.check(err)
	defer r.Close()
	f, err := r.Open(name)
	a.check(err)
	defer f.Close()
	data, err := io.ReadAll(f)
	a.check(err)
	return string(data)
}
