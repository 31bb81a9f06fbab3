package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func put(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		path := filepath.Join(dir, n)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "old"
		if n == Plan {
			text = `{"schema":"perfweir.plan/v1"}`
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// TestWriteFile: a write that fails leaves the old file and nothing else.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, dir, "f")
	broken := errors.New("out of ideas")
	err := WriteFile(path, func(w io.Writer) error {
		fmt.Fprint(w, "half")
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("err = %v, want one that wraps the writer's and names the file", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" || names(t, dir) != "f" {
		t.Errorf("after a failed write: %q, folder %s", b, names(t, dir))
	}
	if err := WriteFile(path, func(w io.Writer) error { _, err := fmt.Fprint(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "new" || names(t, dir) != "f" {
		t.Errorf("after a write: %q, folder %s", b, names(t, dir))
	}
	if err := WriteFile(filepath.Join(dir, "none", "f"), func(io.Writer) error { return nil }); err == nil || !strings.Contains(err.Error(), filepath.Join("none", "f")) {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	l, err := Acquire(dir, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(dir, time.Unix(9, 0))
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d since 1970-01-01T00:00:00Z", os.Getpid())) {
		t.Errorf("second writer: %v, want who holds it", err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	l, err = Acquire(dir, time.Unix(9, 0))
	if err != nil {
		t.Fatal("a released lock is still held:", err)
	}
	l.Release()
}

// TestLockOfADeadOwner: what a killed runner had started holds its lock for a
// moment; that is waited for.
func TestLockOfADeadOwner(t *testing.T) {
	dir := t.TempDir()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, LockName))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "process %d since 1970-01-01T00:00:00Z\n", gone.Process.Pid)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { f.Close() })
	l, err := Acquire(dir, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

// TestClaim: nothing that is not ours is ever removed.
func TestClaim(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		fresh bool
		want  string // error
		left  string
	}{
		{name: "empty", left: ""},
		{name: "earlier run", files: []string{Plan, Journal}, want: "--fresh removes it", left: LockName + " journal.jsonl plan.json"},
		{name: "earlier run, fresh", files: []string{Plan, Journal, "runs/a/r1.a1/out/x", "baseline/a.json", ".plan.json.123.tmp", "notes.txt"}, fresh: true, left: "notes.txt"},
		{name: "somebody's folder", files: []string{"thesis.tex"}, want: "holds thesis.tex", left: "thesis.tex"},
		{name: "somebody's folder, fresh", files: []string{"runs/mine", "thesis.tex"}, fresh: true, want: "not an output folder", left: "runs thesis.tex"},
		{name: "somebody's results, fresh", files: []string{"results.json", "runs/mine", "baseline/mine"}, fresh: true, want: "not an output folder", left: "baseline results.json runs"},
		{name: "killed in the first write", files: []string{LockName, ".plan.json.123.tmp"}, left: ""},
		{name: "only a lock", files: []string{LockName}, left: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, tt.files...)
			before := names(t, dir)
			lock, err := Claim(dir, tt.fresh, time.Unix(0, 0))
			if err == nil {
				// Until the new run begins, the earlier one is there.
				if got := strings.ReplaceAll(names(t, dir), LockName, ""); strings.TrimSpace(got) != strings.TrimSpace(strings.ReplaceAll(before, LockName, "")) {
					t.Errorf("claimed, the folder holds %q, had %q", got, before)
				}
				if err := Clear(dir); err != nil {
					t.Error(err)
				}
				lock.Release()
				os.Remove(filepath.Join(dir, LockName))
			}
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
			if got := names(t, dir); got != tt.left {
				t.Errorf("left %q, want %q", got, tt.left)
			}
		})
	}
}

// TestClaimOfAFolderInUse: it is told who writes there, not that it is old.
func TestClaimOfAFolderInUse(t *testing.T) {
	dir := t.TempDir()
	lock, err := Claim(dir, false, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	put(t, dir, Plan)
	if _, err := Claim(dir, false, time.Unix(0, 0)); !errors.Is(err, ErrLocked) {
		t.Errorf("err = %v, want one that names the writer", err)
	}
}

// TestFreshFollowsNoLink: a link in the place of a folder of ours is removed,
// what it names stays.
func TestFreshFollowsNoLink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	put(t, dir, Plan)
	put(t, elsewhere, "precious")
	if err := os.Symlink(elsewhere, filepath.Join(dir, Runs)); err != nil {
		t.Fatal(err)
	}
	lock, err := Claim(dir, true, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	if names(t, dir) != LockName || names(t, elsewhere) != "precious" {
		t.Errorf("left %q here and %q there", names(t, dir), names(t, elsewhere))
	}
}

// TestFreshRemovesReadOnlyFolders: what a program left in its {out} must not
// keep the folder from being used again. Root is not held by permissions, so
// this says something for other users only.
func TestFreshRemovesReadOnlyFolders(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, Plan, "runs/k/r1.a1/out/mod/go.mod", "runs/k/r1.a1/out/dark/x")
	for name, mode := range map[string]os.FileMode{"mod": 0o555, "dark": 0} {
		if err := os.Chmod(filepath.Join(dir, "runs/k/r1.a1/out", name), mode); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := Claim(dir, true, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	if names(t, dir) != LockName {
		t.Errorf("left %q", names(t, dir))
	}
}

// A lock that was given back is free, though a child that was forked meanwhile
// still has it open: the next one waits for that child and tells of nobody.
func TestLockAfterARelease(t *testing.T) {
	dir := t.TempDir()
	l, err := Acquire(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "0.2")
	child.ExtraFiles = []*os.File{l.File()}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Acquire(dir, time.Now())
	if err != nil {
		t.Fatalf("a lock that nobody holds: %v", err)
	}
	if _, err := Acquire(dir, time.Now()); !errors.Is(err, ErrLocked) {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := errors.Join(again.Release(), child.Wait()); err != nil {
		t.Error(err)
	}
}
