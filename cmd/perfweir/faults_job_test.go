package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// cancelling gives one stage of a job a context of its own, and returns what ends it.
func (j *job) cancelling(stage string) context.CancelFunc {
	ctx, cancel := context.WithCancel(context.Background())
	j.context = func(at string) context.Context {
		if at == stage {
			return ctx
		}
		return context.Background()
	}
	return cancel
}

// wantCancelled: exit code 130, no verdict, and a check that says so; nothing that
// an earlier push told is written over.
func (s *site) wantCancelled(p *pull, o *outcome) {
	s.t.Helper()
	if o.code() != 130 || o.codes["finish"] != 0 || o.outputs["verdict"] != "no_data" {
		s.t.Fatalf("exit codes %v and outputs %v\n%s", o.codes, o.outputs, o.log)
	}
	c := s.checkOf(p.head)
	if c.Status != "completed" || c.Conclusion != "cancelled" || !strings.Contains(c.Title, "cancelled") {
		s.t.Errorf("check: %+v", c)
	}
	contains(s.t, "summary", o.summary, "no verdict", "cancelled")
	if all := s.gh.Comments(p.number); len(all) != 0 {
		s.t.Errorf("comments: %+v", all)
	}
	s.wantSound(p, o)
}

func TestFaultCancelledWhileMeasuring(t *testing.T) {
	f := newFaultSite(t)
	begun := filepath.Join(t.TempDir(), "begun")
	f.check(syscall.Mkfifo(begun, 0o600))
	waits := strings.Replace(siteSuite, "[cat, value]", "[sh, -c, 'echo >"+begun+"; exec sleep 600']", 1)
	p := f.openPull("main", false, map[string]string{"perfweir.yml": waits})
	j := f.gate(p)
	cancel := j.cancelling("measure")
	go func() {
		_, _ = os.ReadFile(begun) // returns when the command has written
		cancel()
	}()
	o := f.do(j)
	if _, judged := o.codes["judge"]; judged || o.codes["measure"] != 130 {
		t.Errorf("exit codes %v", o.codes)
	}
	f.wantCancelled(p, o)
}

// Cancelled while a limit is waited for, before anything is measured.
func TestFaultCancelledWhilePreparing(t *testing.T) {
	f := newFaultSite(t)
	j := f.gate(f.slow)
	cancel := j.cancelling("prepare")
	f.gh.Fail(ghtest.Fault{Kind: ghtest.SecondaryLimit403, Path: atRuns})
	f.once("GET", atRuns, cancel)
	o := f.do(j)
	if _, measured := o.codes["measure"]; measured || o.codes["prepare"] != 130 {
		t.Errorf("exit codes %v\n%s", o.codes, o.log)
	}
	f.wantCancelled(f.slow, o)
}

// Cancelled while the verdict is being told: the check is completed all the same,
// and there is one comment at most.
func TestFaultCancelledWhileTelling(t *testing.T) {
	f := newFaultSite(t)
	for method, path := range map[string]string{"PATCH": atCheckRun, "POST": atComments} {
		s := f.copy(t)
		j := s.gate(f.slow)
		s.once(method, path, j.cancelling("judge"))
		o := s.do(j)
		if o.outputs["verdict"] != "fail" || o.outputs["exit-code"] != "1" || o.code() == 0 {
			t.Errorf("at %s: exit codes %v and outputs %v\n%s", path, o.codes, o.outputs, o.log)
		}
		if c := s.checkOf(f.slow.head); c.Status != "completed" || c.Conclusion == "success" || c.Conclusion == "neutral" {
			t.Errorf("at %s: check: %+v\n%s", path, c, o.log)
		}
		contains(t, "summary", o.summary, "fail")
		s.wantSound(f.slow, o)
	}
}

// The check of an attempt whose token ended before its verdict stays in progress;
// the next attempt completes it, and tells its own.
func TestFaultTokenEndedThenRunAgain(t *testing.T) {
	f := newFaultSite(t)
	j := f.gate(f.slow)
	afterMeasuring((*site).expireToken)(f.site, &j)
	first := f.do(j)
	f.wants(first, 1, "fail")
	f.gh.SetToken(ghtest.DefaultToken, ghtest.Token{App: "github-actions"})
	again := f.gate(f.slow)
	again.runID, again.attempt = first.runID, 2
	f.wants(f.do(again), 1, "fail")
	var told []string
	for _, c := range f.gh.CheckRuns() {
		if c.HeadSHA == f.slow.head {
			told = append(told, c.Status+" "+c.Conclusion)
		}
	}
	if got := strings.Join(told, ", "); got != "completed cancelled, completed failure" {
		t.Errorf("checks: %s", got)
	}
	contains(t, "comment", f.comment(f.slow).Body, "130 B", "attempt=2")
}

// What is no payload of the event is told as wrong usage, with its path; GitHub is
// not asked about a pull request that nobody named.
func TestFaultMalformedPayload(t *testing.T) {
	f := newFaultSite(t)
	head := strings.Repeat("a", 40)
	for name, text := range map[string]string{
		"empty":          "",
		"cut off":        `{"pull_request": {"num`,
		"a list":         `[]`,
		"null":           `null`,
		"no object":      `{"pull_request": null, "repository": null}`,
		"wrong types":    `{"pull_request": {"number": "7", "head": [], "base": 1}, "repository": {"id": "x"}}`,
		"no number":      `{"pull_request": {"head": {"sha": "` + head + `"}, "base": {"sha": "` + head + `", "ref": "main"}}, "repository": {"id": 4242, "full_name": "acme/widgets"}}`,
		"a negative one": `{"pull_request": {"number": -7, "head": {"sha": "` + head + `", "repo": {"id": 4242}}, "base": {"sha": "` + head + `", "ref": "main"}}, "repository": {"id": 4242, "full_name": "acme/widgets"}}`,
		"no commit":      `{"pull_request": {"number": 7, "head": {"sha": "--upload-pack=evil", "repo": {"id": 4242}}, "base": {"sha": "` + head + `", "ref": "main"}}, "repository": {"id": 4242, "full_name": "acme/widgets"}}`,
		"not ours":       `{"pull_request": {"number": 7, "head": {"sha": "` + head + `", "repo": {"id": 4242}}, "base": {"sha": "` + head + `", "ref": "main"}}, "repository": {"id": 17, "full_name": "eve/widgets"}}`,
		"very deep":      `{"pull_request": ` + strings.Repeat("[", 1_000_000),
		"very large":     `{"pull_request": "` + strings.Repeat("x", 30<<20) + `"}`,
	} {
		path := filepath.Join(t.TempDir(), "event.json")
		f.check(os.WriteFile(path, []byte(text), 0o600))
		j := f.gate(f.slow)
		j.env = map[string]string{"GITHUB_EVENT_PATH": path}
		o := f.do(j)
		if o.codes["prepare"] != 4 || o.codes["finish"] != 4 || o.request != 0 || strings.Contains(o.log, "== measure") {
			t.Errorf("%s: exit codes %v after %d requests\n%s", name, o.codes, o.request, o.log)
		}
		contains(t, name+": log", o.log, "event.json")
		if len(o.log) > 4000 {
			t.Errorf("%s: a log of %d bytes", name, len(o.log))
		}
	}
}

// A runner without the files through which a step tells it something, or with some
// that cannot be written: everything else is told.
func TestFaultNoFilesOfTheStep(t *testing.T) {
	f := newFaultSite(t)
	for _, summary := range []string{"", "/nowhere/summary"} {
		s := f.copy(t)
		j := s.gate(f.slow)
		j.env = map[string]string{"GITHUB_STEP_SUMMARY": summary}
		o := s.do(j)
		s.wants(o, 1, "fail")
		if o.summary != "" || (summary != "") != strings.Contains(o.log, "warning: GITHUB_STEP_SUMMARY") {
			t.Errorf("%q: summary %q\n%s", summary, o.summary, o.log)
		}
		contains(t, "comment", s.comment(f.slow).Body, "130 B")
		if c := s.checkOf(f.slow.head); c.Conclusion != "failure" {
			t.Errorf("check: %+v", c)
		}
	}
}

// What another job left cannot be judged: no_data, told everywhere with the reason.
// An earlier workflow run's results never stand in for it.
func TestFaultsOfJudgingOthers(t *testing.T) {
	f := newFaultSite(t)
	leg := f.gate(f.slow)
	leg.inputs = map[string]string{"mode": "run"}
	run := f.do(leg).runID
	for _, x := range []struct {
		name   string
		strike func(*site, *ghtest.Artifact)
		says   string
	}{
		{"nothing was left", func(_ *site, a *ghtest.Artifact) { a.Name = "other" }, "no job of the workflow run left results"},
		{"the listing is refused", func(s *site, _ *ghtest.Artifact) {
			s.gh.Fail(ghtest.Fault{Kind: ghtest.Integration403, Path: atArtifacts})
		}, "actions: read"},
		{"the listing has no answer", func(s *site, _ *ghtest.Artifact) {
			s.gh.Fail(ghtest.Fault{Kind: ghtest.Status502, Path: atArtifacts})
		}, "502"},
		{"expired", func(_ *site, a *ghtest.Artifact) { a.Expired = true }, "expired"},
		{"truncated on its way", vanishing(ghtest.Fault{Kind: ghtest.TruncatedZip}), "its digest is sha256:"},
		{"a bomb", stored(func([]byte) []byte { return ghtest.ZipBomb("results.json", 1<<30) }), "results.json"},
		{"a path that leads out", stored(func(z []byte) []byte { return ghtest.ZipSlip("../"+stray, resultsOf(t, z)) }), "leads out of the archive"},
		{"a newer schema", document(`perfweir\.results/v1`, "perfweir.results/v2"), "perfweir.results/v2"},
		{"another suite's results", document(`"suite":\{"name":"codec"`, `"suite":{"name":"other"`), `of suite "other"`},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := f.copy(t)
			all := s.gh.State().Artifacts
			s.editSessions(x.strike, all[len(all)-1])
			j := s.gate(f.slow)
			j.inputs, j.runID = map[string]string{"mode": "judge", "upload": "false"}, run
			o := s.do(j)
			s.wants(o, 3, "no_data")
			contains(t, "log", o.log, x.says)
			contains(t, "summary", o.summary, x.says)
			contains(t, "comment", s.comment(f.slow).Body, x.says)
			if c := s.checkOf(f.slow.head); c.Status != "completed" || c.Conclusion != "failure" {
				t.Errorf("check: %+v", c)
			}
			s.wantSound(f.slow, o)
		})
	}
}
