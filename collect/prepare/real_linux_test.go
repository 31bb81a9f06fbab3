package prepare

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// orphan starts a script of that name whose parent has ended, as a run's
// leftover has, and returns its number. It waits at a pipe that nobody writes: a
// loop around sleep would fork, and the child is of the same name until it executes.
func orphan(t *testing.T, name, body string) int {
	t.Helper()
	script := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(script+".pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+body+"\nread x <\"$0.pipe\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", `setsid "$0" </dev/null >/dev/null 2>&1 & echo $!`, script).Output()
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	for m := New("/"); ; time.Sleep(5 * time.Millisecond) {
		if p, ok := m.process(pid); ok && p.name == name && p.Parent != os.Getpid() {
			return pid
		}
		if t.Context().Err() != nil {
			t.Fatal("the process did not start")
		}
	}
}

// The name is this test's own, so that nothing else on the machine is ended.
func TestRealProcesses(t *testing.T) {
	name := fmt.Sprintf("pw%dx", os.Getpid())
	m := New("/")
	obeys := orphan(t, name+"a", "")
	ignores := orphan(t, name+"b", "trap '' TERM")
	stopped := orphan(t, name+"c", "kill -STOP $$")

	child := exec.Command("sh", "-c", "read x") // ours: as the launcher is
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = child.Wait() }()
	if p, _ := m.process(child.Process.Pid); newGuard(must(m.look()), m.self).why(p) == "" {
		t.Errorf("our own child %+v would be ended", p)
	}

	words := m.EndStale(t.Context(), []string{name})
	if len(words) != 1 || !strings.HasPrefix(words[0], "3 stale processes ended before the run: ") {
		t.Errorf("words %q", words)
	}
	for _, pid := range []int{obeys, ignores, stopped} {
		if p, ok := m.process(pid); ok && strings.HasPrefix(p.name, name) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

func must(t table, err error) table {
	if err != nil {
		panic(err)
	}
	return t
}

// The process table of this machine says what /proc/self says.
func TestThisProcess(t *testing.T) {
	m := New("/")
	p, ok := m.process(os.Getpid())
	if !ok || p.Parent != os.Getppid() || p.kernel || m.owner(p.PID) != os.Getuid() {
		t.Errorf("got %+v, owner %d", p, m.owner(p.PID))
	}
	if m.owner(1<<30) != -1 {
		t.Error("a process that is not there has an owner")
	}
	f, err := os.Open("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if line, _ := bufio.NewReader(f).ReadString('\n'); strings.TrimSpace(line) != p.name {
		t.Errorf("name %q, want %q", p.name, line)
	}
}

func TestOpenedProcess(t *testing.T) {
	for _, open := range []func(int) (target, error){openProcess, func(pid int) (target, error) { return number(pid), nil }} {
		c := exec.Command("sleep", "100")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		to, err := open(c.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if err := to.signal(false); err != nil {
			t.Error(err)
		}
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
			t.Errorf("ended with %v, want TERM", err)
		}
		if err := to.signal(true); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("a signal to what has ended: %v, want no such process", err)
		}
		to.close()
	}
	if _, err := openProcess(1 << 22); err == nil {
		t.Error("a process beyond the largest number was opened")
	}
}
