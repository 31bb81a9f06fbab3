package durable

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobody = 65534

// TestLockOfAnotherUser: a file that another user made serves, in a shared folder.
func TestLockOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("another user's file is made by root only")
	}
	dir := sharedFolder(t)
	path := filepath.Join(dir, MachineLockName)
	put(t, dir, MachineLockName)
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	lock := acquire(t, dir) // root with nobody's file
	if out := asNobody(t, dir); !strings.Contains(out, "waits for process") {
		t.Errorf("nobody, while root holds it: %s", out)
	}
	lock.Release()

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	acquire(t, dir).Release() // root's own
	if out := asNobody(t, dir); !strings.Contains(out, "locked it") {
		t.Errorf("nobody with root's file: %s", out)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := asNobody(t, dir); !strings.Contains(out, "permission denied") {
		t.Errorf("nobody with a file that it may not open: %s", out)
	}
}

func sharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "perfweir-lock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asNobody runs TestClaimant as another user and returns what it printed.
func asNobody(t *testing.T, dir string) string {
	t.Helper()
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "claimant")
	if err := os.WriteFile(bin, program, 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(bin, "-test.run=^TestClaimant$", "-test.v")
	c.Dir, c.Env = "/", []string{"CLAIM=" + dir}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	return string(out)
}

// TestClaimant is the other user's process.
func TestClaimant(t *testing.T) {
	dir := os.Getenv("CLAIM")
	if dir == "" {
		t.Skip("a helper of TestLockOfAnotherUser")
	}
	f, err := tryMachine(filepath.Join(dir, MachineLockName))
	switch {
	case err != nil:
		t.Log(err)
	case f == nil:
		t.Log("waits for", readNote(filepath.Join(dir, MachineLockName)).text)
	default:
		t.Log("locked it")
	}
}
