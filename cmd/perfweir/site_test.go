package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// site is a repository at the fake GitHub with a checkout, in which jobs of
// workflows run as the action runs them: a step each, an environment each, output
// files each. It is quick and everything can be made to go wrong; that the action
// itself does the same is shown with act (act_test.go).
type site struct {
	t   *testing.T
	gh  *ghtest.Server
	dir string // checkout
	run int64  // id of the last workflow run
	// waited is how long requests to GitHub would have waited.
	waited time.Duration
	// machine is the runner's name.
	machine string
}

// siteSuite measures what a file says: numbers that do not vary, so that every
// verdict is known beforehand.
const siteSuite = `version: 1
suite: codec
benchmarks:
  - name: size
    run: [cat, value]
    repeats: 1
    read: [{metric: cost, pattern: '(\d+)', unit: B, class: exact}]
budgets:
  - {metric: cost, max_regression: 5%}
baseline: {from: github, max_age: 30d}
exclusive: none
`

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteAt(t, ghtest.New(t))
}

func newSiteAt(t *testing.T, gh *ghtest.Server) *site {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, gh: gh, dir: dir, run: 4700, machine: "perf-1"}
	s.git("init", "-q", "-b", "main", "--template=")
	s.git("remote", "add", "origin", "https://github.com/acme/widgets.git")
	s.commit(map[string]string{"perfweir.yml": siteSuite, "value": "100\n"})
	s.gh.SetBranch("main", s.head())
	return s
}

func (s *site) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.dir
	date := s.gh.Now().Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *site) head() string { return s.git("rev-parse", "HEAD") }

// write changes files of the checkout; an empty text removes one.
func (s *site) write(files map[string]string) {
	s.t.Helper()
	for name, text := range files {
		path := filepath.Join(s.dir, name)
		if text == "" {
			s.check(os.Remove(path))
			continue
		}
		s.check(os.MkdirAll(filepath.Dir(path), 0o755))
		s.check(os.WriteFile(path, []byte(text), 0o644))
	}
}

func (s *site) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// commit commits changed files on what is checked out, and tells GitHub.
func (s *site) commit(files map[string]string) string {
	s.t.Helper()
	s.gh.Advance(time.Minute)
	s.write(files)
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", fmt.Sprintf("change %d", len(s.gh.State().Commits)))
	return s.tell()
}

// tell gives GitHub the commit that is checked out.
func (s *site) tell() string {
	s.t.Helper()
	c := ghtest.Commit{SHA: s.head(), Tree: s.git("rev-parse", "HEAD^{tree}"), Date: s.gh.Now(), Files: map[string]string{}}
	c.Parents = strings.Fields(s.git("log", "-1", "--format=%P"))
	for _, name := range strings.Fields(s.git("ls-tree", "-r", "--name-only", "HEAD")) {
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		s.check(err)
		c.Files[name] = string(data)
	}
	return s.gh.AddCommit(c)
}

// event is a workflow's event: its name, its payload, what is checked out.
type event struct {
	name    string
	sha     string // GITHUB_SHA
	ref     string
	payload map[string]any
}

func (s *site) repository() map[string]any {
	return map[string]any{"id": 4242, "full_name": "acme/widgets", "default_branch": "main"}
}

// push is a push of what is checked out to a branch.
func (s *site) push(branch, before string) event {
	s.gh.SetBranch(branch, s.head())
	if before == "" {
		before = strings.Repeat("0", 40)
	}
	return event{name: "push", sha: s.head(), ref: "refs/heads/" + branch, payload: map[string]any{
		"ref": "refs/heads/" + branch, "before": before, "after": s.head(), "repository": s.repository(), "sender": map[string]any{"login": "ann", "type": "User"}}}
}

// schedule is a nightly workflow on main.
func (s *site) schedule() event {
	s.git("checkout", "-q", "main")
	return event{name: "schedule", sha: s.head(), ref: "refs/heads/main", payload: map[string]any{"schedule": "0 3 * * *", "repository": s.repository()}}
}

// pull is a pull request; fork is its head's repository where that is another.
type pull struct {
	number         int
	head, base     string // commits
	baseRef        string
	fork           bool
	mergeCommitted string
}

// openPull makes a branch with changed files, its pull request into a branch, and
// GitHub's merge commit, which is checked out.
func (s *site) openPull(base string, fork bool, files map[string]string) *pull {
	s.t.Helper()
	p := &pull{baseRef: base, fork: fork}
	s.git("checkout", "-q", base)
	p.base = s.head()
	branch := fmt.Sprintf("topic-%d", len(s.gh.State().Pulls))
	s.git("checkout", "-q", "-b", branch)
	p.head = s.commit(files)
	head := ghtest.Ref{Ref: branch, SHA: p.head}
	if fork {
		head.Repo = ghtest.Fork{FullName: "eve/widgets", ID: 666}
	}
	p.number = s.gh.AddPull(ghtest.Pull{User: "ann", Head: head, Base: ghtest.Ref{Ref: base, SHA: p.base}})
	s.merge(p, branch)
	return p
}

// pushToPull adds a commit to a pull request's branch.
func (s *site) pushToPull(p *pull, files map[string]string) {
	s.t.Helper()
	branch := ""
	s.gh.Edit(func(st *ghtest.State) {
		for i := range st.Pulls {
			if st.Pulls[i].Number == p.number {
				branch = st.Pulls[i].Head.Ref
			}
		}
	})
	s.git("checkout", "-q", branch)
	p.head = s.commit(files)
	s.gh.Edit(func(st *ghtest.State) {
		for i := range st.Pulls {
			if st.Pulls[i].Number == p.number {
				st.Pulls[i].Head.SHA = p.head
			}
		}
	})
	s.merge(p, branch)
}

// merge makes GitHub's merge commit of a pull request and checks it out.
func (s *site) merge(p *pull, branch string) {
	s.git("checkout", "-q", "--detach", p.baseRef)
	s.git("merge", "-q", "--no-ff", "-m", "Merge "+branch, branch)
	p.mergeCommitted = s.tell()
}

// event is the pull request's event.
func (p *pull) event(s *site) event {
	head := map[string]any{"sha": p.head, "ref": "topic", "repo": map[string]any{"id": 4242, "full_name": "acme/widgets"}}
	if p.fork {
		head["repo"] = map[string]any{"id": 666, "full_name": "eve/widgets"}
	}
	return event{name: "pull_request", sha: p.mergeCommitted, ref: fmt.Sprintf("refs/pull/%d/merge", p.number), payload: map[string]any{
		"action": "synchronize", "number": p.number, "repository": s.repository(), "sender": map[string]any{"login": "ann", "type": "User"},
		"pull_request": map[string]any{"number": p.number, "head": head,
			"base": map[string]any{"sha": p.base, "ref": p.baseRef, "repo": map[string]any{"id": 4242, "full_name": "acme/widgets"}}}}}
}

// job is one job of a workflow.
type job struct {
	event    event
	workflow string            // file; "" is gate.yml
	inputs   map[string]string // of the action
	env      map[string]string // beside the runner's
	// between is called after a stage.
	between func(stage string)
	attempt int
	runID   int64 // 0: a new workflow run
	noToken bool
	// timeout is of one request; 0 is the client's own.
	timeout time.Duration
	// context is a stage's, for jobs that are cancelled; nil is none.
	context func(stage string) context.Context
}

// outcome is what a job came to.
type outcome struct {
	codes   map[string]int // by stage: prepare, measure, judge, finish
	outputs map[string]string
	summary string
	log     string // of all stages, both streams
	request int    // requests to the API
	runID   int64
}

// code is what the job's result would be: the worst of its steps.
func (o *outcome) code() int {
	for _, stage := range []string{"prepare", "measure", "judge", "finish"} {
		if c := o.codes[stage]; c != 0 {
			return c
		}
	}
	return 0
}

// do runs a job as action.yml does.
func (s *site) do(j job) *outcome {
	s.t.Helper()
	j.workflow = orText(j.workflow, "gate.yml")
	j.attempt = max(j.attempt, 1)
	if j.runID == 0 {
		s.run++
		j.runID = s.run
		s.gh.AddRun(ghtest.Run{ID: j.runID, Number: int(j.runID - 4700), Path: ".github/workflows/" + j.workflow, Event: j.event.name,
			HeadBranch: strings.TrimPrefix(j.event.ref, "refs/heads/"), HeadSHA: s.headOf(j.event), Head: forkOf(j.event), Status: "in_progress"})
	}
	before := len(s.gh.Requests())
	o := &outcome{codes: map[string]int{}, outputs: map[string]string{}, runID: j.runID}
	temp := s.t.TempDir()
	steps := map[string]map[string]string{}
	run := func(stage string, token bool, args ...string) string {
		code, outputs, ended := s.step(j, o, stage, temp, token, steps, args)
		o.codes[stage] = code
		steps[stage] = outputs
		maps.Copy(o.outputs, outputs)
		if j.between != nil {
			j.between(stage)
		}
		return ended
	}
	ended := map[string]string{}
	ended["prepare"] = run("prepare", true, "ci", "--stage", "prepare")
	if ended["prepare"] == "success" && steps["prepare"]["proceed"] == "true" {
		ended["measure"] = run("measure", false, "ci", "--stage", "measure")
		if ended["measure"] != "cancelled" {
			ended["judge"] = run("judge", true, "ci", "--stage", "judge")
		}
	}
	if path := steps["judge"]["upload-path"]; path != "" && j.inputs["upload"] != "false" {
		s.upload(j.runID, steps["judge"]["artifact-name"], path)
	}
	steps["ended"] = ended
	run("finish", true, "publish", "--finish")
	o.request = 0
	for _, r := range s.gh.Requests()[before:] {
		if r.Host == "api" {
			o.request++
		}
	}
	s.gh.Edit(func(st *ghtest.State) {
		for i := range st.Runs {
			if st.Runs[i].ID == j.runID {
				st.Runs[i].Status, st.Runs[i].Conclusion = "completed", "success"
				if o.code() != 0 {
					st.Runs[i].Conclusion = "failure"
				}
			}
		}
	})
	return o
}

// forkOf is where the API says that the head of the workflow run lives.
func forkOf(e event) ghtest.Fork {
	p, ok := e.payload["pull_request"].(map[string]any)
	if !ok {
		return ghtest.Fork{}
	}
	repo := p["head"].(map[string]any)["repo"].(map[string]any)
	if repo["id"] == 4242 {
		return ghtest.Fork{}
	}
	return ghtest.Fork{FullName: repo["full_name"].(string), ID: int64(repo["id"].(int))}
}

// headOf is what the API says the workflow run is of.
func (s *site) headOf(e event) string {
	if p, ok := e.payload["pull_request"].(map[string]any); ok {
		return p["head"].(map[string]any)["sha"].(string)
	}
	return e.sha
}

// step runs one command with the environment of a step, and reads what it left
// for the runner.
func (s *site) step(j job, o *outcome, stage, temp string, token bool, steps map[string]map[string]string, args []string) (code int, outputs map[string]string, ended string) {
	s.t.Helper()
	folder := filepath.Join(temp, "files", stage)
	s.check(os.MkdirAll(folder, 0o755))
	payload, err := json.Marshal(j.event.payload)
	s.check(err)
	eventPath := filepath.Join(temp, "event.json")
	if _, err := os.Stat(eventPath); err != nil {
		s.check(os.WriteFile(eventPath, payload, 0o644))
	}
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": temp, "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/widgets", "GITHUB_REPOSITORY_ID": "4242",
		"GITHUB_API_URL": s.gh.URL(), "GITHUB_SERVER_URL": "https://github.invalid", "GITHUB_EVENT_NAME": j.event.name, "GITHUB_EVENT_PATH": eventPath,
		"GITHUB_SHA": j.event.sha, "GITHUB_REF": j.event.ref, "GITHUB_RUN_ID": fmt.Sprint(j.runID), "GITHUB_RUN_NUMBER": fmt.Sprint(j.runID - 4700),
		"GITHUB_RUN_ATTEMPT": fmt.Sprint(j.attempt), "GITHUB_WORKFLOW_REF": "acme/widgets/.github/workflows/" + j.workflow + "@" + j.event.ref,
		"RUNNER_TEMP": temp, "RUNNER_NAME": s.machine, "RUNNER_ENVIRONMENT": "self-hosted", "PERFWEIR_LOCK_DIR": temp,
		"PERFWEIR_INPUT_CONFIG": filepath.Join(s.dir, "perfweir.yml"),
	}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		env[name] = filepath.Join(folder, name)
		s.check(os.WriteFile(env[name], nil, 0o644))
	}
	for name, v := range j.inputs {
		env["PERFWEIR_INPUT_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))] = v
	}
	if token && !j.noToken {
		env["PERFWEIR_TOKEN"] = ghtest.DefaultToken
	}
	if p := steps["prepare"]; p != nil {
		env["PERFWEIR_VERDICT"], env["PERFWEIR_EXIT_CODE"] = steps["judge"]["verdict"], steps["judge"]["exit-code"]
		env["PERFWEIR_CONTEXT_OUT"], env["PERFWEIR_CONTEXT_DIGEST"] = p["out"], p["context-digest"]
	}
	for name, v := range steps["ended"] {
		env["PERFWEIR_OUTCOME_"+strings.ToUpper(name)] = v
	}
	maps.Copy(env, j.env)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	var log bytes.Buffer
	ctx := context.Background()
	if j.context != nil {
		ctx = j.context(stage)
	}
	code = cli.Main(ctx, cli.Command{Stdin: strings.NewReader(""), Stdout: &log, Stderr: &log, Environ: list,
		Now: s.gh.Now, Sleep: s.sleep, Timeout: j.timeout}, args)
	o.log += "== " + stage + "\n" + log.String()
	summary, err := os.ReadFile(filepath.Join(folder, "GITHUB_STEP_SUMMARY"))
	s.check(err)
	o.summary += string(summary)
	data, err := os.ReadFile(filepath.Join(folder, "GITHUB_OUTPUT"))
	s.check(err)
	for _, name := range []string{"GITHUB_ENV", "GITHUB_PATH"} {
		if left, err := os.ReadFile(env[name]); err != nil || len(left) > 0 {
			s.t.Errorf("%s after %s holds %q, %v", name, stage, left, err)
		}
	}
	ended = map[bool]string{true: "success", false: "failure"}[code == 0]
	if code == 130 {
		ended = "cancelled"
	}
	return code, readOutputs(s.t, string(data)), ended
}

// sleep waits on GitHub's clock.
func (s *site) sleep(ctx context.Context, d time.Duration) error {
	s.waited += d
	s.gh.Advance(d)
	return ctx.Err()
}

// readOutputs reads a step's outputs by the runner's grammar.
func readOutputs(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for text != "" {
		head, rest, _ := strings.Cut(text, "\n")
		name, delimiter, ok := strings.Cut(head, "<<")
		value, after, found := strings.Cut(rest, "\n"+delimiter+"\n")
		if !found && strings.HasPrefix(rest, delimiter+"\n") {
			value, after, found = "", rest[len(delimiter)+1:], true
		}
		if !ok || !found {
			t.Fatalf("no output of the runner's grammar: %q", text)
		}
		out[name], text = value, after
	}
	return out
}

// upload gives a workflow run an artifact of a folder's files, as upload-artifact
// makes it.
func (s *site) upload(run int64, name, dir string) {
	s.t.Helper()
	s.gh.AddArtifact(run, name, zipOf(s.t, dir))
}

func zipOf(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to, err := w.Create(filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		from, err := os.Open(path)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(to, from)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// nights lets a workflow measure main so many times, a day apart.
func (s *site) nights(n int) {
	s.t.Helper()
	for range n {
		s.gh.Advance(24 * time.Hour)
		if o := s.do(job{event: s.schedule(), inputs: map[string]string{"mode": "baseline"}}); o.code() != 0 {
			s.t.Fatalf("a nightly run ended with %v\n%s", o.codes, o.log)
		}
	}
}
