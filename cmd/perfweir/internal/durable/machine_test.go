package durable

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

var somebody = Claimant{User: "ann", Suite: "codec", Since: time.Unix(0, 0)}

func never(t *testing.T) func(string, time.Duration) {
	return func(holder string, _ time.Duration) { t.Helper(); t.Errorf("waits for %q", holder) }
}

func acquire(t *testing.T, dir string) *Lock {
	t.Helper()
	l, err := AcquireMachine(t.Context(), dir, somebody, never(t))
	if err != nil || l == nil {
		t.Fatalf("lock %v, %v", l, err)
	}
	return l
}

func TestMachineLock(t *testing.T) {
	dir := t.TempDir()
	old := unix.Umask(0o077) // the file is for all users whatever ours is
	first := acquire(t, dir)
	unix.Umask(old)
	info, err := os.Lstat(filepath.Join(dir, MachineLockName))
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("file %v, %v, want mode 0666", info, err)
	}
	want := fmt.Sprintf("process %d, user ann, suite codec, since 1970-01-01T00:00:00Z", os.Getpid())
	if holder, err := MachineHolder(dir); holder != want || err != nil {
		t.Errorf("holder %q, %v, want %q", holder, err, want)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
		defer cancel()
		var said []time.Duration
		l, err := AcquireMachine(ctx, dir, somebody, func(holder string, waited time.Duration) {
			said = append(said, waited.Round(time.Second))
			if holder != want {
				t.Errorf("waits for %q, want %q", holder, want)
			}
		})
		if l != nil || !errors.Is(err, context.DeadlineExceeded) || fmt.Sprint(said) != "[0s 1m0s 2m0s]" {
			t.Errorf("lock %v, %v; said after %v", l, err, said)
		}
	})
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if holder, err := MachineHolder(dir); holder != "" || err != nil {
		t.Errorf("a free lock is held by %q, %v", holder, err)
	}
	acquire(t, dir).Release()
	if holder, err := MachineHolder(t.TempDir()); holder != "" || err != nil {
		t.Errorf("where there was no lock: %q, %v", holder, err)
	}
}

// One that is removed while it is held is no name of the lock any more: nobody
// may think that it locked the machine with it.
func TestMachineLockRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, MachineLockName)
	f, err := openMachine(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !named(path, f) {
		t.Error("the file is not what its name says")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if named(path, f) {
		t.Error("a removed file has a name")
	}
	acquire(t, dir).Release()
	if named(path, f) {
		t.Error("another file is taken for this one")
	}
}

func TestMachineLockRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"link":        {func(p string) error { return os.Symlink(p+".victim", p) }, "is a symbolic link"},
		"folder":      {func(p string) error { return os.Mkdir(p, 0o755) }, "is no regular file"},
		"FIFO":        {func(p string) error { return unix.Mkfifo(p, 0o666) }, "is no regular file"},
		"second name": {func(p string) error { return os.Link(filepath.Join(filepath.Dir(p), "victim"), p) }, "has another name"},
		"no folder":   {func(p string) error { return os.RemoveAll(filepath.Dir(p)) }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			put(t, dir, "victim")
			if err := c.put(filepath.Join(dir, MachineLockName)); err != nil {
				t.Fatal(err)
			}
			l, err := AcquireMachine(t.Context(), dir, somebody, never(t))
			if l != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("lock %v, %v, want %q", l, err, c.want)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "victim")); err == nil && string(b) != "old" {
				t.Errorf("the other file holds %q", b)
			}
		})
	}
}

func TestMachineFolder(t *testing.T) {
	shared, own, plain := t.TempDir(), t.TempDir(), t.TempDir()
	for dir, mode := range map[string]os.FileMode{shared: 0o777 | os.ModeSticky, own: 0o700 | os.ModeSticky, plain: 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(shared, link); err != nil {
		t.Fatal(err)
	}
	if got, err := firstShared(filepath.Join(own, "none"), own, plain, link, shared, "/tmp"); got != shared || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, shared)
	}
	if got, err := firstShared(own, plain); err == nil {
		t.Errorf("got %q, want an error", got)
	}
	if got, err := MachineFolder("/elsewhere"); got != "/elsewhere" || err != nil {
		t.Errorf("an override: %q, %v", got, err)
	}
	if got, err := MachineFolder(""); err != nil || !filepath.IsAbs(got) {
		t.Errorf("this machine: %q, %v", got, err)
	}
}

// What another user wrote into the file is shown on a terminal.
func TestNotes(t *testing.T) {
	for raw, want := range map[string]note{
		"process 12 of pid:[4026531836]\nuser ann, suite s\n": {"process 12, user ann, suite s", 12, "pid:[4026531836]"},
		"process 12 of here":                     {"process 12", 12, "here"},
		"":                                       {"an unknown process", 0, ""},
		"\n\n":                                   {"an unknown process", 0, ""},
		"process -4 of here\nuser ann":           {"user ann", 0, ""},
		"process 9\n\x1b[2Jgone\nperfweir: ok":   {"process 9, [2Jgone perfweir: ok", 9, ""},
		"process 99999999999999999999 of x\na\n": {"a", 0, ""},
	} {
		if got := parseNote(raw); got != want {
			t.Errorf("%q: %+v, want %+v", raw, got, want)
		}
	}
}

func FuzzNote(f *testing.F) {
	f.Add("process 12 of pid:[4026531836]\nuser ann, suite s, since 2026-01-01T00:00:00Z\n")
	f.Add("process x\n\x00\x1b]0;\xff")
	f.Fuzz(func(t *testing.T, raw string) {
		n := parseNote(raw)
		if n.text == "" || n.pid < 0 || strings.ContainsFunc(n.text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %+v", raw, n)
		}
	})
}

// A holder that is an ancestor is known by its number and its namespace.
func TestAbove(t *testing.T) {
	parent := os.Getppid()
	for _, c := range []struct {
		n    note
		want bool
	}{
		{note{pid: parent, space: pidSpace()}, parent > 1},
		{note{pid: parent, space: "pid:[1]"}, false},
		{note{pid: os.Getpid(), space: pidSpace()}, false},
		{note{pid: 1, space: pidSpace()}, false},
		{note{}, false},
		{note{pid: 1 << 22, space: pidSpace()}, false},
	} {
		if got := above(c.n); got != c.want {
			t.Errorf("%+v: %v, want %v", c.n, got, c.want)
		}
	}
}
