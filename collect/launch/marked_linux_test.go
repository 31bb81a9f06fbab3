package launch

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestEndMarked: what carries the mark goes, in whatever session it is and
// though it ignores TERM; what carries another stays.
func TestEndMarked(t *testing.T) {
	start := func(mark string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", `trap "" TERM; sleep 60; true`)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "A=b", mark}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
		return cmd
	}
	mine, other := start("MARK_OF_TEST=/a/runs/x"), start("MARK_OF_TEST=/b/runs/x")
	time.Sleep(50 * time.Millisecond) // both have begun to sleep
	ended, err := EndMarked("MARK_OF_TEST", "/a/runs/")
	if err != nil || len(ended) == 0 || !strings.Contains(strings.Join(ended, " "), "sleep") {
		t.Fatalf("ended %q, %v", ended, err)
	}
	if err := mine.Wait(); err == nil {
		t.Error("the marked process ended by itself")
	}
	if err := syscall.Kill(other.Process.Pid, 0); err != nil {
		t.Error("the other process is gone:", err)
	}
	if ended, err := EndMarked("MARK_OF_TEST", "/a/runs/"); err != nil || len(ended) > 0 {
		t.Errorf("again: %q, %v", ended, err)
	}
}
