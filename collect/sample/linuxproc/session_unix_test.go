//go:build unix

package linuxproc_test

import (
	"syscall"
	"testing"
)

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func killSession(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Errorf("end the session: %v", err)
	}
}
