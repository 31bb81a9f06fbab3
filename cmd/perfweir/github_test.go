package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// wants asserts what a job came to: its exit code, its verdict, and words that its
// log, summary and comment must hold.
func (s *site) wants(o *outcome, code int, verdict string) {
	s.t.Helper()
	if o.code() != code || o.outputs["verdict"] != verdict {
		s.t.Fatalf("exit codes %v and verdict %q, want %d and %q\n%s", o.codes, o.outputs["verdict"], code, verdict, o.log)
	}
}

func contains(t *testing.T, where, text string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not hold %q:\n%s", where, w, text)
		}
	}
}

// comment is the only comment of ours on a pull request.
func (s *site) comment(p *pull) ghtest.Comment {
	s.t.Helper()
	var ours []ghtest.Comment
	for _, c := range s.gh.Comments(p.number) {
		if c.User == "github-actions[bot]" {
			ours = append(ours, c)
		}
	}
	if len(ours) != 1 {
		s.t.Fatalf("%d comments, want one: %+v", len(ours), ours)
	}
	return ours[0]
}

// checkOf is the newest check run on a commit.
func (s *site) checkOf(sha string) ghtest.CheckRun {
	s.t.Helper()
	var newest ghtest.CheckRun
	for _, c := range s.gh.CheckRuns() {
		if c.HeadSHA == sha {
			newest = c
		}
	}
	if newest.ID == 0 {
		s.t.Fatalf("no check run on %s: %+v", sha, s.gh.CheckRuns())
	}
	return newest
}

// The life of a gate: the first pull request has nothing to be compared with,
// nights make a baseline, a change without effect passes, one that costs more
// fails everywhere it is told, the next push updates the same comment, the mended
// one says resolved.
func TestGateOnGitHub(t *testing.T) {
	s := newSite(t)
	first := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: first.event(s)})
	s.wants(o, 0, "no_baseline")
	contains(t, "comment", s.comment(first).Body, "no baseline yet")
	if c := s.checkOf(first.head); c.Status != "completed" || c.Conclusion != "neutral" {
		t.Errorf("check: %+v", c)
	}

	s.nights(5)
	same := s.openPull("main", false, map[string]string{"README": "other words\n"})
	o = s.do(job{event: same.event(s)})
	s.wants(o, 0, "pass")
	if o.outputs["baseline-sessions"] != "5" || o.outputs["baseline-commit"] == "" || o.outputs["comment-url"] == "" || o.outputs["check-run-url"] == "" {
		t.Errorf("outputs: %v", o.outputs)
	}
	if c := s.checkOf(same.head); c.Conclusion != "success" || c.Name != "perfweir / codec" {
		t.Errorf("check: %+v", c)
	}

	slow := s.openPull("main", false, map[string]string{"value": "130\n"})
	o = s.do(job{event: slow.event(s)})
	s.wants(o, 1, "fail")
	told := s.comment(slow)
	contains(t, "comment", told.Body, "fail", "`size`", "100 B", "130 B")
	contains(t, "summary", o.summary, "fail", "`size`", "130 B")
	junit, err := os.ReadFile(o.outputs["junit-path"])
	s.check(err)
	contains(t, "junit.xml", string(junit), "<failure", "cost")
	c := s.checkOf(slow.head)
	contains(t, "check", c.Title, "fail")
	if c.Conclusion != "failure" || len(c.Annotations) != 1 {
		t.Fatalf("check: %+v", c)
	}
	if a := c.Annotations[0]; a.Path != "perfweir.yml" || a.StartLine != 9 || a.Level != "failure" || !strings.Contains(a.Message, "size") {
		t.Errorf("annotation: %+v", a)
	}

	s.pushToPull(slow, map[string]string{"value": "140\n"})
	o = s.do(job{event: slow.event(s)})
	s.wants(o, 1, "fail")
	if again := s.comment(slow); again.ID != told.ID || !strings.Contains(again.Body, "140 B") {
		t.Errorf("the next push did not update the comment: %+v", again)
	}
	s.pushToPull(slow, map[string]string{"value": "101\n"})
	o = s.do(job{event: slow.event(s)})
	s.wants(o, 0, "pass")
	contains(t, "comment", s.comment(slow).Body, "resolved")
}

// Ten pooled sessions cost at most 30 requests a gate, all steps together.
func TestRequestsOfAGate(t *testing.T) {
	s := newSite(t)
	s.nights(12)
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 1, "fail")
	if o.outputs["baseline-sessions"] != "10" {
		t.Errorf("%s sessions, want 10", o.outputs["baseline-sessions"])
	}
	t.Logf("%d requests", o.request)
	if o.request > 30 {
		t.Errorf("%d requests, want at most 30", o.request)
	}
}

// A merge queue is told by its check alone.
func TestMergeQueue(t *testing.T) {
	s := newSite(t)
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"README": "words\n"})
	s.wants(s.do(job{event: p.event(s)}), 0, "pass")
	before := len(s.gh.State().Comments)
	queue := s.queue(p)
	o := s.do(job{event: queue})
	s.wants(o, 0, "pass")
	if c := s.checkOf(queue.sha); c.Conclusion != "success" || c.Name != "perfweir / codec" {
		t.Errorf("check: %+v", c)
	}
	if n := len(s.gh.State().Comments); n != before {
		t.Errorf("%d comments after, %d before", n, before)
	}
}

// queue is a merge group of a pull request alone: the tree that was measured.
func (s *site) queue(p *pull) event {
	s.t.Helper()
	s.git("checkout", "-q", "--detach", p.mergeCommitted)
	s.git("commit", "-q", "--amend", "--no-edit", "-m", "Merge pull request of the queue")
	sha := s.tell()
	base := s.git("rev-parse", "main")
	return event{name: "merge_group", sha: sha, ref: "refs/heads/gh-readonly-queue/main/pr-1-" + base, payload: map[string]any{
		"action": "checks_requested", "repository": s.repository(), "merge_group": map[string]any{
			"head_sha": sha, "head_ref": "refs/heads/gh-readonly-queue/main/pr-" + itoa(p.number) + "-" + base, "base_sha": base, "base_ref": "refs/heads/main"}}}
}

// With only_if_changed the tree that was measured for the pull request, and passed,
// is not measured again; another one is.
func TestMergeQueueOnlyIfChanged(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": siteSuite + "gate: {merge_group: only_if_changed}\n"})
	s.gh.SetBranch("main", s.head())
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"README": "words\n"})
	queue := s.queue(p)
	o := s.do(job{event: queue})
	if o.codes["measure"] != 0 || !strings.Contains(o.log, "== measure") {
		t.Fatalf("a tree that nothing is known of was not measured:\n%s", o.log)
	}
	s.wants(s.do(job{event: p.event(s)}), 0, "pass")
	o = s.do(job{event: queue})
	s.wants(o, 0, "pass")
	if strings.Contains(o.log, "== measure") {
		t.Errorf("the same tree was measured again:\n%s", o.log)
	}
	if c := s.checkOf(queue.sha); c.Status != "completed" || c.Conclusion != "success" || !strings.Contains(c.Summary, "same tree") {
		t.Errorf("check: %+v", c)
	}
}

// A fork's token may only read: the exit codes are the same, and the report is in
// the summary. On a self-hosted runner its code runs only where that is allowed.
func TestFork(t *testing.T) {
	for value, want := range map[string]int{"100\n": 0, "150\n": 1} {
		s := newSite(t)
		s.nights(1)
		s.gh.SetToken(ghtest.DefaultToken, ghtest.Token{App: "github-actions", ReadOnly: true})
		p := s.openPull("main", true, map[string]string{"value": value, "README": value})
		refused := s.do(job{event: p.event(s)})
		if refused.codes["prepare"] != 4 || strings.Contains(refused.log, "== measure") {
			t.Fatalf("a fork's code ran on a self-hosted runner: %v\n%s", refused.codes, refused.log)
		}
		contains(t, "log", refused.log, "allow-forks")
		o := s.do(job{event: p.event(s), inputs: map[string]string{"allow-forks": "true"}})
		s.wants(o, want, map[int]string{0: "pass", 1: "fail"}[want])
		contains(t, "summary", o.summary, o.outputs["verdict"], "`size`")
		if n := len(s.gh.State().Comments) + len(s.gh.CheckRuns()); n != 0 {
			t.Errorf("%d comments and check runs of a fork's token", n)
		}
		// Its second stage publishes: with the base repository's token, on what GitHub
		// says of the workflow run.
		s.gh.SetToken(ghtest.DefaultToken, ghtest.Token{App: "github-actions"})
		s.git("checkout", "-q", "main")
		second := s.do(job{workflow: "publish.yml", event: event{name: "workflow_run", sha: s.head(), ref: "refs/heads/main", payload: map[string]any{
			"action": "completed", "repository": s.repository(), "workflow_run": map[string]any{"id": o.runID, "run_number": 1, "run_attempt": 1,
				"event": "pull_request", "path": ".github/workflows/gate.yml", "conclusion": "success", "head_sha": p.head, "head_branch": "topic",
				"head_repository": map[string]any{"id": 666, "full_name": "eve/widgets"}}}}})
		s.wants(second, want, map[int]string{0: "pass", 1: "fail"}[want])
		contains(t, "comment", s.comment(p).Body, second.outputs["verdict"], "`size`")
		if c := s.checkOf(p.head); c.Status != "completed" {
			t.Errorf("check: %+v", c)
		}
	}
}

// pull_request_target holds secrets: nothing is run.
func TestPullRequestTarget(t *testing.T) {
	s := newSite(t)
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	e := p.event(s)
	e.name = "pull_request_target"
	o := s.do(job{event: e})
	if o.codes["prepare"] != 4 || strings.Contains(o.log, "== measure") {
		t.Errorf("%v\n%s", o.codes, o.log)
	}
	contains(t, "log", o.log, "pull_request_target", "workflow_run")
}

// A token that the checkout left in the repository is warned of; a fork's code is
// not run beside it.
func TestPersistedCredentials(t *testing.T) {
	s := newSite(t)
	s.nights(1)
	s.git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic aHVzaA==")
	p := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 0, "pass")
	contains(t, "log", o.log, "::warning", "persist-credentials: false")
	fork := s.openPull("main", true, map[string]string{"README": "more words\n"})
	o = s.do(job{event: fork.event(s), inputs: map[string]string{"allow-forks": "true"}})
	if o.codes["prepare"] != 4 || strings.Contains(o.log, "== measure") {
		t.Errorf("%v\n%s", o.codes, o.log)
	}
}

// A matrix over machines: legs measure and publish nothing, the last job judges
// what is there, says what is missing, and writes one comment and one check.
func TestMatrixOverMachines(t *testing.T) {
	s := newSite(t)
	leg := func(machine string, e event, inputs map[string]string, run int64) *outcome {
		s.machine = machine
		return s.do(job{event: e, inputs: inputs, runID: run})
	}
	for range 2 {
		night := leg("orin", s.schedule(), map[string]string{"mode": "run"}, 0)
		leg("xavier", s.schedule(), map[string]string{"mode": "run"}, night.runID)
	}
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	first := leg("orin", p.event(s), map[string]string{"mode": "run"}, 0)
	if first.code() != 0 || first.outputs["verdict"] != "" || len(s.gh.CheckRuns()) != 0 {
		t.Fatalf("a leg judged or told: %v %v\n%s", first.codes, first.outputs, first.log)
	}
	judging := map[string]string{"mode": "judge", "expect-machines": "orin, xavier", "upload": "false"}
	o := leg("hosted", p.event(s), judging, first.runID)
	s.wants(o, 1, "fail")
	contains(t, "comment", s.comment(p).Body, "orin", "xavier")
	leg("xavier", p.event(s), map[string]string{"mode": "run"}, first.runID)
	o = leg("hosted", p.event(s), judging, first.runID)
	s.wants(o, 1, "fail")
	body := s.comment(p).Body
	contains(t, "comment", body, "orin", "xavier", "130 B")
	if strings.Contains(body, "never reported") {
		t.Errorf("a machine that reported is told as missing:\n%s", body)
	}
}

// What is measured writes into the files through which the runner is steered:
// they are emptied, and it is said. (site.step fails the test where anything is
// left.)
func TestCommandFilesOfTheStep(t *testing.T) {
	s := newSite(t)
	script := "cat value; for f in $(find \"$(dirname \"$(dirname \"$(dirname \"$PERFWEIR_OUT\")\")\")\"/../.. -name 'GITHUB_*'); do echo 'LD_PRELOAD=/tmp/evil.so' >>$f; done"
	s.commit(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "[cat, value]", "'"+strings.ReplaceAll(script, "'", "''")+"'", 1)})
	o := s.do(job{event: s.push("main", "")})
	s.wants(o, 0, "no_baseline")
	contains(t, "log", o.log, "GITHUB_ENV", "it was emptied")
	contains(t, "summary", o.summary, "GITHUB_ENV")
}

func itoa(n int) string { return strconv.Itoa(n) }
