package main

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stub stands in for perfweir: it writes down what it was called with and does what
// the test put into the file STAGE.sh.
const stub = `#!/usr/bin/env bash
[ "$1" != version ] || { echo "perfweir stub"; exit; }
stage=${*: -1} stage=${stage#--}
echo "$*" >>"$STUB/calls"
env -0 >"$STUB/$stage.env"
if [ -e "$STUB/$stage.sh" ]; then source "$STUB/$stage.sh"; fi
`

// prepares is what the first stage says for the others.
const prepares = "echo proceed=true >>\"$GITHUB_OUTPUT\"\necho context-digest=sha256:00 >>\"$GITHUB_OUTPUT\"\necho out=/out >>\"$GITHUB_OUTPUT\"\n"

// judges is a verdict that is to be uploaded; its paths are of several lines.
const judges = `cat >>"$GITHUB_OUTPUT" <<'X'
verdict=fail
exit-code=1
artifact-name=perfweir-results-codec-perf-1-1of1-a1
upload-path<<MARK
/out/results.json
/out/plan.json
MARK
reports-artifact-name=perfweir-reports-codec-perf-1-1of1-a1
reports-path=/out/report.md
X
`

// stubJob is a job whose perfweir is the stub.
func stubJob(t *testing.T, action string, stages map[string]string) *actionJob {
	t.Helper()
	j := newActionJob(t, action)
	dir := t.TempDir()
	binary := filepath.Join(dir, "given")
	if err := os.WriteFile(binary, []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	j.inputs["binary"] = binary
	j.env["STUB"] = dir
	for stage, script := range stages {
		if err := os.WriteFile(filepath.Join(dir, stage+".sh"), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// calls are the command lines that reached the stub.
func (j *actionJob) calls() []string {
	b, err := os.ReadFile(filepath.Join(j.env["STUB"], "calls"))
	if err != nil {
		j.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// stageEnv is the environment that a stage was started with.
func (j *actionJob) stageEnv(stage string) map[string]string {
	b, err := os.ReadFile(filepath.Join(j.env["STUB"], stage+".env"))
	if err != nil {
		j.t.Fatal(err)
	}
	vars := map[string]string{}
	for kv := range strings.SplitSeq(string(b), "\x00") {
		k, v, _ := strings.Cut(kv, "=")
		vars[k] = v
	}
	return vars
}

// TestActionFlow: which steps run, what the job's result is and what it says, for
// each way in which a stage can end.
func TestActionFlow(t *testing.T) {
	const prepare, measure, judge, finish = "ci --stage prepare", "ci --stage measure", "ci --stage judge", "publish --finish"
	all := []string{prepare, measure, judge, finish}
	for _, tt := range []struct {
		name    string
		stages  map[string]string
		calls   []string
		failed  bool
		uploads int
		verdict string
	}{
		{"all well", map[string]string{"prepare": prepares, "judge": judges}, all, false, 2, "fail"},
		{"a broken budget", map[string]string{"prepare": prepares, "judge": judges + "exit 1"}, all, true, 2, "fail"},
		{"measuring broke", map[string]string{"prepare": prepares, "measure": "exit 3", "judge": judges}, all, true, 2, "fail"},
		{"a crash", map[string]string{"prepare": prepares, "measure": "kill -9 $$", "judge": "kill -9 $$", "finish": "echo verdict=interrupted >>\"$GITHUB_OUTPUT\""}, all, true, 0, "interrupted"},
		{"nothing left to do", map[string]string{"prepare": "echo proceed=false >>\"$GITHUB_OUTPUT\"\necho verdict=pass >>\"$GITHUB_OUTPUT\""}, []string{prepare, finish}, false, 0, "pass"},
		{"refused", map[string]string{"prepare": "exit 4"}, []string{prepare, finish}, true, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, action := range []string{rootAction, runAction} {
				j := stubJob(t, action, tt.stages)
				j.run()
				if diff := cmp.Diff(tt.calls, j.calls()); diff != "" {
					t.Errorf("%s: calls (-want +got):\n%s", action, diff)
				}
				if j.failed != tt.failed || j.output("verdict") != tt.verdict {
					t.Errorf("%s: failed %v, verdict %q, want %v, %q", action, j.failed, j.output("verdict"), tt.failed, tt.verdict)
				}
				if want := map[string]int{rootAction: tt.uploads}[action]; len(j.uploads) != want {
					t.Errorf("%s: %d uploads, want %d: %v", action, len(j.uploads), want, j.uploads)
				}
			}
		})
	}
}

// TestActionUploads: names and paths are the judging stage's, whole.
func TestActionUploads(t *testing.T) {
	forged := "echo upload-path=/etc/shadow >>\"$GITHUB_OUTPUT\"\necho artifact-name=forged >>\"$GITHUB_OUTPUT\"\n"
	j := stubJob(t, rootAction, map[string]string{"prepare": prepares, "measure": forged, "judge": judges})
	j.inputs["retention-days"] = "9"
	j.run()
	want := []map[string]string{
		{"name": "perfweir-results-codec-perf-1-1of1-a1", "path": "/out/results.json\n/out/plan.json", "if-no-files-found": "error", "retention-days": "9"},
		{"name": "perfweir-reports-codec-perf-1-1of1-a1", "path": "/out/report.md", "if-no-files-found": "warn", "retention-days": "9"},
	}
	if diff := cmp.Diff(want, j.uploads); diff != "" {
		t.Errorf("uploads (-want +got):\n%s", diff)
	}
	j = stubJob(t, rootAction, map[string]string{"prepare": prepares, "judge": judges})
	j.inputs["upload"] = "false"
	if j.run(); len(j.uploads) != 0 {
		t.Errorf("upload: false uploads %v", j.uploads)
	}
}

// TestActionHandsOver: what each stage sees of inputs, of the earlier stages and of
// the token. The values are as hostile as an input may be.
func TestActionHandsOver(t *testing.T) {
	j := stubJob(t, rootAction, map[string]string{"prepare": prepares})
	hostile := `$(touch "$STUB/run") "; touch $STUB/run; ` + "`touch $STUB/run`\nsecond line"
	for _, input := range without(actionInputs, append(slices.Clone(installInputs), "token")) {
		j.inputs[input] = input + hostile
	}
	j.inputs["token"] = "ghs_secret"
	j.run()
	for _, stage := range []string{"prepare", "measure", "judge", "finish"} {
		vars := j.stageEnv(stage)
		for _, input := range without(actionInputs, append(slices.Clone(installInputs), "token")) {
			if vars[variable(input)] != input+hostile {
				t.Errorf("%s sees %s as %q", stage, input, vars[variable(input)])
			}
		}
		if got := vars["PERFWEIR_TOKEN"] == "ghs_secret"; got != (stage != "measure") {
			t.Errorf("%s holds the token: %v", stage, got)
		}
		if stage != "prepare" && (vars["PERFWEIR_CONTEXT_DIGEST"] != "sha256:00" || vars["PERFWEIR_CONTEXT_OUT"] != "/out") {
			t.Errorf("%s does not know what was prepared: %q", stage, vars["PERFWEIR_CONTEXT_DIGEST"])
		}
		for k, v := range vars {
			if stage == "measure" && strings.Contains(v, "ghs_secret") {
				t.Errorf("measure sees the token in %s", k)
			}
		}
	}
	if vars := j.stageEnv("finish"); vars["PERFWEIR_OUTCOME_PREPARE"]+vars["PERFWEIR_OUTCOME_MEASURE"]+vars["PERFWEIR_OUTCOME_JUDGE"] != "successsuccesssuccess" {
		t.Errorf("finish does not know how the stages ended: %v", vars)
	}
	if _, err := os.Stat(filepath.Join(j.env["STUB"], "run")); err == nil {
		t.Error("an input was run")
	}
}

// TestActionRefusesAnotherBinary: code under test that replaces the binary gets no
// token, and the job fails.
func TestActionRefusesAnotherBinary(t *testing.T) {
	for name, replace := range map[string]string{
		"replaced": `printf '#!/bin/sh\necho "$PERFWEIR_TOKEN" >"$STUB/stolen"\n' >"$PERFWEIR_BIN"`,
		"removed":  `rm "$PERFWEIR_BIN"`,
	} {
		t.Run(name, func(t *testing.T) {
			j := stubJob(t, rootAction, map[string]string{"prepare": prepares, "measure": replace})
			j.run()
			if diff := cmp.Diff([]string{"ci --stage prepare", "ci --stage measure"}, j.calls()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(j.env["STUB"], "stolen")); err == nil {
				t.Error("another program got the token")
			}
			if !j.failed || j.steps["judge"].code != 4 || j.steps["finish"].code != 4 || !strings.Contains(j.steps["judge"].log, "::error title=perfweir::") {
				t.Errorf("failed %v, judge exit %d: %s", j.failed, j.steps["judge"].code, j.steps["judge"].log)
			}
		})
	}
}

// TestActionShellIsClean: lines that code under test left for later steps' shells
// are not run by the steps that hold the token.
func TestActionShellIsClean(t *testing.T) {
	j := stubJob(t, rootAction, map[string]string{"prepare": prepares,
		"measure": `echo 'echo "$PERFWEIR_TOKEN" >"$STUB/stolen"' >"$STUB/lines"; echo "BASH_ENV=$STUB/lines" >>"$GITHUB_ENV"`})
	j.run()
	if _, err := os.Stat(filepath.Join(j.env["STUB"], "stolen")); err == nil {
		t.Error("BASH_ENV of the measuring step was read by a later one")
	}
	if j.failed || len(j.calls()) != 4 {
		t.Errorf("failed %v, calls %v", j.failed, j.calls())
	}
}

// TestActionCancelReachesTheBinary: the runner signals the shell that it started
// and waits; in each stage that process is the binary.
func TestActionCancelReachesTheBinary(t *testing.T) {
	// A background job of a shell has SIGINT ignored, and so would have what it
	// starts: a signal that is handled here is back to its default there.
	handled := make(chan os.Signal, 1)
	signal.Notify(handled, os.Interrupt)
	defer signal.Stop(handled)
	const wait = `trap 'echo INT >>"$STUB/signals"; exit 130' INT
trap 'echo TERM >>"$STUB/signals"; exit 143' TERM
echo ready
mkfifo "$STUB/never"
while :; do read -r <>"$STUB/never" || true; done
`
	for stage, after := range map[string][]string{
		"prepare": {"ci --stage prepare", "publish --finish"},
		"measure": {"ci --stage prepare", "ci --stage measure", "publish --finish"},
		"judge":   {"ci --stage prepare", "ci --stage measure", "ci --stage judge", "publish --finish"},
	} {
		for name, signal := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM} {
			t.Run(stage+" "+name, func(t *testing.T) {
				stages := map[string]string{"prepare": prepares}
				stages[stage] += wait
				j := stubJob(t, rootAction, stages)
				j.cancelIn, j.signal = stage, signal
				j.run()
				if diff := cmp.Diff(after, j.calls()); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				got, err := os.ReadFile(filepath.Join(j.env["STUB"], "signals"))
				if err != nil || string(got) != name+"\n" {
					t.Errorf("the binary saw %q, %v", got, err)
				}
				if o := j.stageEnv("finish")["PERFWEIR_OUTCOME_"+strings.ToUpper(stage)]; o != "cancelled" {
					t.Errorf("finish hears that %s was %q", stage, o)
				}
			})
		}
	}
}
