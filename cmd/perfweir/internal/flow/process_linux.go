package flow

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// hideProcess closes /proc/PID/environ, fd, mem and the debugger's door of this
// process to others of the same user, and keeps files that were open when we
// started from what we start. What we start is visible again: the kernel resets
// the mark at exec.
func hideProcess() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make this process unreadable: %w", err)
	}
	// Linux before 5.11 does not know the flag; then inherited files stay open in
	// commands, as they are in any program that does nothing about them.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	return nil
}

// writable reports whether this user may make something in a folder; on a
// read-only mount nobody may.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
