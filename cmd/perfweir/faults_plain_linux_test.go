package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// In a plain shell, all stages in one process and none of the files that a runner
// gives to a step: the verdict is told to GitHub all the same.
func TestFaultPlainShell(t *testing.T) {
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }) // it hides the process that holds a token
	f := newFaultSite(t)
	for slow, p := range map[bool]*pull{true: f.slow, false: f.same} {
		j := f.gate(p)
		f.run++
		j.runID, j.attempt, j.workflow = f.run, 1, "gate.yml"
		j.env = map[string]string{"GITHUB_OUTPUT": "", "GITHUB_STEP_SUMMARY": "", "GITHUB_ACTIONS": "", "RUNNER_TEMP": "", "PERFWEIR_INPUT_OUT": t.TempDir()}
		o := &outcome{runID: j.runID}
		code, outputs, _ := f.step(j, o, "all", t.TempDir(), true, nil, []string{"ci"})
		want, verdict, conclusion := verdicts(asEver, slow)
		if code != want || len(outputs) != 0 {
			t.Errorf("exit code %d, want %d; outputs %v\n%s", code, want, outputs, o.log)
		}
		contains(t, "log", o.log, verdict)
		contains(t, "comment", f.comment(p).Body, verdict)
		if c := f.checkOf(p.head); c.Status != "completed" || c.Conclusion != conclusion {
			t.Errorf("check: %+v", c)
		}
		f.wantSound(p, o)
	}
}
