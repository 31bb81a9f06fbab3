package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

const (
	// markedWait is how long killed processes may take to be gone: one in an
	// uninterruptible sleep goes when its system call returns.
	markedWait = 5 * time.Second
	// environLimit is how much of a process's environment is read.
	environLimit = 1 << 20
)

// EndMarked kills every process whose environment has the variable name with a
// value that begins with prefix, and returns them as "comm (pid)": what a killed
// runner left behind is known by the run's folder in its environment, wherever
// it went. Nobody waits for what it still does, so it gets no TERM. What does not
// go is an error that names it. A process that we may not look into is not ours.
func EndMarked(name, prefix string) ([]string, error) {
	want := []byte("\x00" + name + "=" + prefix)
	proc := pidstat.Open("/proc")
	var ended []string
	for deadline := time.Now().Add(markedWait); ; time.Sleep(10 * time.Millisecond) {
		pids, err := proc.PIDs(nil)
		if err != nil {
			return ended, fmt.Errorf("list processes: %w", err)
		}
		left := ""
		for _, pid := range pids {
			if pid == os.Getpid() || !killMarked(proc, pid, want) {
				continue
			}
			left = describe(pid)
			if !slices.Contains(ended, left) {
				ended = append(ended, left)
			}
		}
		if left == "" {
			return ended, nil
		}
		if time.Now().After(deadline) {
			return ended, fmt.Errorf("%s is still there after KILL", left)
		}
	}
}

// killMarked signals a process that carries the mark and has not ended. The
// pidfd is opened before the process is looked at, so that a number which is
// given away meanwhile cannot hit another.
func killMarked(proc *pidstat.Proc, pid int, want []byte) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, environLimit))
	if err != nil || !bytes.Contains(append([]byte{0}, env...), want) {
		return false
	}
	if stat, err := proc.Stat(pid); err != nil || stat.Ended() {
		return false
	}
	unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	return true
}

func describe(pid int) string {
	comm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("%q (%d)", bytes.TrimSpace(comm), pid)
}
