package prepare

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// fake is a machine of files: processes that are written down and end by being
// removed.
type fake struct {
	*Machine
	t       *testing.T
	obeys   map[int]bool   // ends on TERM
	immune  map[int]bool   // does not end on KILL either
	signals map[int]string // "T", "TK"
	opened  func(pid int)  // called when a process is opened
	closed  int
}

func newFake(t *testing.T, uid int) *fake {
	t.Helper()
	f := &fake{t: t, obeys: map[int]bool{}, immune: map[int]bool{}, signals: map[int]string{}}
	f.Machine = New(t.TempDir())
	f.self, f.uid = 100, uid
	f.Machine.open = func(pid int) (target, error) {
		if f.opened != nil {
			f.opened(pid)
		}
		if _, err := os.Stat(f.path(pid)); err != nil {
			return nil, syscall.ESRCH
		}
		return &fakeTarget{f, pid}, nil
	}
	f.put(1, 0, 1, "init", 0, 0)
	f.put(90, 1, 90, "Runner.Listener", 0, 1000)
	f.put(95, 90, 95, "bash", 0, 1000)
	f.put(100, 95, 95, "perfweir", 0, 1000)
	f.put(101, 100, 101, "launcher", 0, 1000)
	return f
}

func (f *fake) path(pid int) string { return filepath.Join(f.root, "proc", strconv.Itoa(pid)) }

func (f *fake) put(pid, parent, session int, name string, flags uint32, uid int) {
	f.started(pid, parent, session, name, flags, uid, 7000+pid)
}

func (f *fake) started(pid, parent, session int, name string, flags uint32, uid, start int) {
	f.t.Helper()
	stat := fmt.Sprintf("%d (%s) S %d %d %d 0 -1 %d 0 0 0 0 1 1 0 0 20 0 1 0 %d 1000 10 0", pid, name, parent, session, session, flags, start)
	status := fmt.Sprintf("Name:\t%s\nUid:\t%d\t%d\t%d\t%d\n", name, uid, uid, uid, uid)
	f.file("proc/"+strconv.Itoa(pid)+"/stat", stat)
	f.file("proc/"+strconv.Itoa(pid)+"/status", status)
}

func (f *fake) file(path, text string) {
	f.t.Helper()
	path = filepath.Join(f.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) remove(pid int) {
	if err := os.RemoveAll(f.path(pid)); err != nil {
		f.t.Error(err)
	}
}

type fakeTarget struct {
	f   *fake
	pid int
}

func (x *fakeTarget) signal(kill bool) error {
	if kill {
		x.f.signals[x.pid] += "K"
	} else {
		x.f.signals[x.pid] += "T"
	}
	if !kill && x.f.obeys[x.pid] || kill && !x.f.immune[x.pid] {
		x.f.remove(x.pid)
	}
	return nil
}

func (x *fakeTarget) close() { x.f.closed++ }
