package linuxproc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc"
	"github.com/perfweir/perfweir/collect/series"
)

// proc is a proc folder whose processes come and go.
type proc struct {
	t    *testing.T
	root string
}

func newProc(t *testing.T) *proc {
	p := &proc{t: t, root: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.root, "self"), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

// process is what the tests vary; the rest of the file is constant.
type process struct {
	pid, parent, session int
	name                 string // "sh" when empty
	state                string // "S" when empty
	user, system         int    // ticks
	threads              int    // 1 when 0
	start                int
	pages                int
}

func (p *proc) set(all ...process) {
	p.t.Helper()
	for _, x := range all {
		if x.name == "" {
			x.name = "sh"
		}
		if x.state == "" {
			x.state = "S"
		}
		x.threads = max(x.threads, 1)
		text := fmt.Sprintf("%d (%s) %s %d %d %d 0 -1 4194560 1 2 3 4 %d %d 999 999 20 0 %d 0 %d 4096000 %d 18446744073709551615 1\n",
			x.pid, x.name, x.state, x.parent, x.session, x.session, x.user, x.system, x.threads, x.start, x.pages)
		dir := filepath.Join(p.root, strconv.Itoa(x.pid))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(text), 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
}

// kill empties the file first: who has it open reads nothing more, as from the kernel.
func (p *proc) kill(pid int) {
	p.t.Helper()
	dir := filepath.Join(p.root, strconv.Itoa(pid))
	if err := os.Truncate(filepath.Join(dir, "stat"), 0); err != nil {
		p.t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		p.t.Fatal(err)
	}
}

// totals is one reading: pages, CPU ticks, processes, threads.
type totals struct{ pages, ticks, processes, threads float64 }

func (p *proc) begin(pid int) sample.Reader {
	p.t.Helper()
	r, err := linuxproc.New(p.root).Begin(pid)
	if err != nil {
		p.t.Fatalf("begin: %v", err)
	}
	p.t.Cleanup(func() { closeReader(p.t, r) })
	return r
}

// closeReader closes a reader that has files; one of a run that was over has none.
func closeReader(t testing.TB, r sample.Reader) {
	t.Helper()
	if c, ok := r.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// read reads once. A metric that was not put is -1.
func read(t *testing.T, r sample.Reader) totals {
	t.Helper()
	var b sample.Batch
	if err := r.Read(&b); err != nil {
		t.Fatalf("read: %v", err)
	}
	value := func(metric string, scale float64) float64 {
		if v, ok := b.Value(metric, ""); ok {
			return v * scale
		}
		return -1
	}
	return totals{
		value(series.Memory, 1/float64(os.Getpagesize())), math.Round(value(series.CPU, 100)),
		value(series.Processes, 1), value(series.Threads, 1),
	}
}

func wantTotals(t *testing.T, r sample.Reader, want totals) {
	t.Helper()
	if diff := cmp.Diff(want, read(t, r), cmp.AllowUnexported(totals{})); diff != "" {
		t.Errorf("pages, ticks, processes, threads (-want +got):\n%s", diff)
	}
}

func wantEnded(t *testing.T, r sample.Reader) {
	t.Helper()
	var b sample.Batch
	if err := r.Read(&b); !errors.Is(err, sample.ErrEnded) {
		t.Errorf("got %v, want ErrEnded", err)
	}
	if _, ok := b.Value(series.Memory, ""); ok {
		t.Error("what the run left behind was counted")
	}
}

func TestTheTreeIsTheSessionAndItsDescendants(t *testing.T) {
	p := newProc(t)
	p.set(
		process{pid: 1, session: 1, pages: 9000, user: 900},
		process{pid: 100, parent: 1, session: 100, pages: 10, user: 1, system: 2, threads: 2},
		process{pid: 101, parent: 100, session: 100, pages: 20, user: 4, name: "a) S 1 (b\n) c"}, // C54
		process{pid: 102, parent: 1, session: 100, pages: 40},                                    // orphan, same session
		process{pid: 103, parent: 101, session: 103, pages: 80},                                  // session of its own
		process{pid: 104, parent: 1, session: 104, pages: 5000, user: 500},                       // somebody else
		process{pid: 99, parent: 103, session: 103, pages: 160},                                  // numbers wrapped around
	)
	wantTotals(t, p.begin(100), totals{310, 7, 5, 6})
}

func TestMembersStayWhenTheirParentDies(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, pages: 1}, process{pid: 101, parent: 100, session: 101, pages: 2}, process{pid: 102, parent: 101, session: 101, pages: 4})
	r := p.begin(100)
	wantTotals(t, r, totals{7, 0, 3, 3})
	p.kill(101)
	p.set(process{pid: 102, parent: 1, session: 101, pages: 4})
	wantTotals(t, r, totals{5, 0, 2, 2})
	p.set(process{pid: 103, parent: 102, session: 103, pages: 8})
	wantTotals(t, r, totals{13, 0, 3, 3})
}

// C54: the CPU time of a process that ended stays, as last seen.
func TestCPUTimeNeverFalls(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, user: 10}, process{pid: 101, parent: 100, session: 100, user: 30, system: 5})
	r := p.begin(100)
	wantTotals(t, r, totals{0, 45, 2, 2})
	p.kill(101)
	wantTotals(t, r, totals{0, 45, 1, 1})
	p.set(process{pid: 101, parent: 100, session: 100, start: 777, user: 2})
	wantTotals(t, r, totals{0, 47, 2, 2})
}

func TestANumberThatComesBackIsAnotherProcess(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, user: 10}, process{pid: 101, parent: 100, session: 100, start: 5, user: 30, pages: 3}, process{pid: 102, parent: 1, session: 1})
	r := p.begin(100)
	wantTotals(t, r, totals{3, 40, 2, 2})
	// A member's number goes to a stranger, seen as such a tick later.
	p.set(process{pid: 101, parent: 1, session: 1, start: 9, user: 5000, pages: 5000})
	wantTotals(t, r, totals{0, 40, 1, 1})
	wantTotals(t, r, totals{0, 40, 1, 1})
	// A stranger's number goes to a member, with a tick between.
	p.kill(102)
	wantTotals(t, r, totals{0, 40, 1, 1})
	p.set(process{pid: 102, parent: 100, session: 100, start: 11, user: 1, pages: 7})
	wantTotals(t, r, totals{7, 41, 2, 2})
}

func TestZombies(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 100, session: 100, pages: 5}, process{pid: 101, parent: 100, session: 100, state: "Z", user: 9})
	r := p.begin(100)
	wantTotals(t, r, totals{5, 9, 1, 1})
	// The first thread of a living process has ended: its memory is not known.
	p.set(process{pid: 101, parent: 100, session: 100, state: "Z", user: 9, threads: 4})
	wantTotals(t, r, totals{-1, 9, 2, 5})
}

func TestTheRunEndsWithItsMainProcess(t *testing.T) {
	for name, end := range map[string]func(*proc){
		"gone":    func(p *proc) { p.kill(100) },
		"zombie":  func(p *proc) { p.set(process{pid: 100, session: 100, state: "Z"}) },
		"another": func(p *proc) { p.set(process{pid: 100, session: 100, start: 8}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProc(t)
			p.set(process{pid: 100, session: 100, pages: 5}, process{pid: 101, parent: 100, session: 100, pages: 50})
			r := p.begin(100)
			wantTotals(t, r, totals{55, 0, 2, 2})
			end(p)
			wantEnded(t, r)
		})
	}
	p := newProc(t)
	wantEnded(t, p.begin(100)) // over before the first read
}

func TestAProcessOfAnotherSessionIsFollowedByItsChildrenAlone(t *testing.T) {
	p := newProc(t)
	p.set(process{pid: 50, session: 50, pages: 1000}, process{pid: 100, parent: 50, session: 50, pages: 1},
		process{pid: 101, parent: 100, session: 50, pages: 2}, process{pid: 102, parent: 50, session: 50, pages: 1000})
	wantTotals(t, p.begin(100), totals{3, 0, 2, 2})
}

func TestBeginSaysWhyItIsAbsent(t *testing.T) {
	_, err := linuxproc.New(filepath.Join(t.TempDir(), "proc")).Begin(1)
	if err == nil || err.Error() != result.AbsentNotSupported {
		t.Errorf("got %v, want %s", err, result.AbsentNotSupported)
	}
	p := newProc(t)
	p.set(process{pid: 1, state: "SS"})
	if _, err := linuxproc.New(p.root).Begin(1); err == nil {
		t.Error("read a file of another form")
	}
}

// A real tree: a shell of its own session with two children, one in the background.
func TestRealTree(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	cmd := exec.Command("sh", "-c", "sleep 60 & sleep 60 | { echo ready; cat; }; wait")
	cmd.SysProcAttr = ownSession()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	defer func() { killSession(t, cmd.Process.Pid); _ = cmd.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the shell said %q, %v", line, err)
	}
	r, err := linuxproc.New("/proc").Begin(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader(t, r)
	got := read(t, r)
	if got.processes < 3 || got.processes > 5 || got.threads < got.processes || got.pages < 3 || got.ticks < 0 {
		t.Errorf("got %+v, want the shell and its children", got)
	}
	killSession(t, cmd.Process.Pid)
	_ = cmd.Wait()
	wantEnded(t, r)
}

func BenchmarkTick(b *testing.B) {
	r, err := linuxproc.New("/proc").Begin(os.Getpid())
	if err != nil {
		b.Skip(err)
	}
	defer closeReader(b, r)
	b.ReportAllocs()
	for b.Loop() {
		var batch sample.Batch
		if err := r.Read(&batch); err != nil {
			b.Fatal(err)
		}
	}
}
