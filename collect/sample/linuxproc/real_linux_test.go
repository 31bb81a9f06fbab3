package linuxproc_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc"
	"github.com/perfweir/perfweir/collect/series"
)

// script is a shell in a session of its own. It is asked and answers by lines.
type script struct {
	t   *testing.T
	pid int
	in  io.Writer
	out *bufio.Reader
}

func startScript(t *testing.T, text string) *script {
	t.Helper()
	cmd := exec.Command("sh", "-c", text)
	cmd.SysProcAttr = ownSession()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { killSession(t, cmd.Process.Pid); _ = cmd.Wait() })
	return &script{t, cmd.Process.Pid, in, bufio.NewReader(out)}
}

func (s *script) hear() string {
	s.t.Helper()
	line, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("the script said %q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

func (s *script) tell() {
	s.t.Helper()
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		s.t.Fatal(err)
	}
}

// walker is a reader that has scanned once, long ago, and walks from now on, where
// the kernel has lists of children.
func walker(t *testing.T, src *linuxproc.Source, pid int) (sample.Reader, *clock) {
	t.Helper()
	c := &clock{now: time.Unix(1000, 0)}
	src.SetClock(func() time.Time { return c.now })
	r, err := src.Begin(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeReader(t, r) })
	read(t, r)
	c.add(10 * time.Second)
	read(t, r)
	return r, c
}

func wantProcesses(t *testing.T, r sample.Reader, want float64) {
	t.Helper()
	if got := read(t, r); got.processes != want {
		t.Errorf("got %+v, want %v processes", got, want)
	}
}

// A chain of forks grows during the run, each in a session of its own.
func TestRealForkChain(t *testing.T) {
	s := startScript(t, `read go
		setsid sh -c 'setsid sh -c "setsid sh -c \"echo ready; sleep 60; :\"; :"; :' & wait`)
	r, _ := walker(t, linuxproc.New("/proc"), s.pid)
	wantProcesses(t, r, 1)
	s.tell()
	s.hear()
	got := read(t, r) // the last of the chain starts its sleep after it said so
	if got.processes < 4 || got.processes > 5 || got.threads != got.processes {
		t.Errorf("got %+v, want the chain of 4 shells and its sleep", got)
	}
}

// A double fork in the session: init, or who adopts for it, has the orphan.
func TestRealOrphanOfTheSession(t *testing.T) {
	s := startScript(t, `read go; (sleep 60 &); echo ready; read go`)
	r, c := walker(t, linuxproc.New("/proc"), s.pid)
	wantProcesses(t, r, 1)
	s.tell()
	s.hear()
	c.add(time.Second)
	wantProcesses(t, r, 2)
	wantProcesses(t, r, 2)
}

// A daemon, out of the session and without its parent, below a sub-reaper: here
// the test itself is one.
func TestRealDaemonBelowTheLauncher(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	s := startScript(t, `read go; (setsid sleep 60 & echo $!); echo ready; read go`)
	r, _ := walker(t, linuxproc.NewUnder("/proc", os.Getpid()), s.pid)
	wantProcesses(t, r, 1)
	s.tell()
	daemon, err := strconv.Atoi(s.hear())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Wait4(daemon, nil, 0, nil) }()
	defer func() { _ = unix.Kill(daemon, unix.SIGKILL) }()
	s.hear()
	wantProcesses(t, r, 2)
	wantProcesses(t, r, 2)
}

// An exec changes nothing: not the identity, not the CPU time so far.
func TestRealExec(t *testing.T) {
	s := startScript(t, `n=0; while [ $n -lt 50000 ]; do n=$((n + 1)); done; echo ready; read go; exec sh -c 'echo exec; read go'`)
	r, err := linuxproc.New("/proc").Begin(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader(t, r)
	s.hear()
	before := read(t, r)
	s.tell()
	s.hear()
	after := read(t, r)
	if before.processes != 1 || after.processes != 1 || after.ticks < before.ticks {
		t.Errorf("%+v before and %+v after the exec", before, after)
	}
}

// M4: processes that come and go while they are read. No reading fails, and the
// CPU time of the tree never falls.
func TestRealChurn(t *testing.T) {
	s := startScript(t, `for i in 1 2 3; do while :; do /bin/true; (:; (:)); done & done; echo ready; wait`)
	s.hear()
	for name, src := range map[string]*linuxproc.Source{"session": linuxproc.New("/proc"), "launcher": linuxproc.NewUnder("/proc", os.Getpid())} {
		t.Run(name, func(t *testing.T) {
			r, err := src.Begin(s.pid)
			if err != nil {
				t.Fatal(err)
			}
			defer closeReader(t, r)
			last := 0.0
			for range 300 {
				got := read(t, r)
				if got.processes < 4 || got.processes > 30 {
					t.Fatalf("got %+v, want the shell, its three loops and what they run", got)
				}
				if got.ticks < last {
					t.Fatalf("CPU time fell from %v to %v ticks", last, got.ticks)
				}
				last = got.ticks
			}
		})
	}
}

// M4: the time of a child that ended stays, once: also after its parent has
// reaped it, whose own account of children then holds it too.
func TestRealCPUTimeOfAChildThatEnded(t *testing.T) {
	s := startScript(t, `sh -c 'n=0; while [ $n -lt 100000 ]; do n=$((n + 1)); done; echo done; read go'; echo reaped; read go`)
	r, err := linuxproc.New("/proc").Begin(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader(t, r)
	s.hear()
	alive := read(t, r)
	s.tell()
	s.hear()
	reaped := read(t, r)
	// The shell's own work between the two is far below what the child used.
	if alive.ticks < 2 || reaped.ticks < alive.ticks || reaped.ticks > alive.ticks*1.5 || reaped.processes != 1 {
		t.Errorf("%+v with the child and %+v without", alive, reaped)
	}
}

// The walk and a scan by a new reader say the same of a tree that rests.
func TestRealTreeIsTheSameBothWays(t *testing.T) {
	s := startScript(t, `read go; n=0; while [ $n -lt 20 ]; do n=$((n + 1)); sh -c 'sleep 60 & wait' & done; echo ready; wait`)
	walks, _ := walker(t, linuxproc.New("/proc"), s.pid)
	s.tell()
	s.hear()
	a := read(t, walks)
	for deadline := time.Now().Add(time.Minute); a.processes != 41 && time.Now().Before(deadline); a = read(t, walks) {
		time.Sleep(time.Millisecond) // until all have started theirs
	}
	scans, err := linuxproc.New("/proc").Begin(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader(t, scans)
	b := read(t, scans)
	if a.processes != 41 || a.processes != b.processes || a.threads != b.threads {
		t.Errorf("the walk says %+v and the scan %+v; want 41 processes", a, b)
	}
}

// openFiles counts the files that this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

func TestNoFileIsLeftOpen(t *testing.T) {
	s := startScript(t, `sleep 60 & sleep 60 & echo ready; wait`)
	s.hear()
	before := openFiles(t)
	for range 1000 {
		r, err := linuxproc.NewUnder("/proc", os.Getpid()).Begin(s.pid)
		if err != nil {
			t.Fatal(err)
		}
		read(t, r)
		read(t, r)
		closeReader(t, r)
		wantEnded(t, r)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, %d before 1,000 runs", after, before)
	}
	// Through the sampler, which closes when the last reading is over.
	for range 100 {
		sampler := sample.Start(t.Context(), time.Millisecond, []sample.Source{linuxproc.New("/proc")}, s.pid)
		time.Sleep(3 * time.Millisecond)
		sampler.Stop()
	}
	for deadline := time.Now().Add(10 * time.Second); openFiles(t) != before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d files are open, %d before 100 runs of the sampler", openFiles(t), before)
		}
	}
}

// A run that ends by itself closes its files with its last reading.
func TestTheLastReadClosesTheFiles(t *testing.T) {
	before := openFiles(t)
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = ownSession()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started := openFiles(t) // with the pidfd of the command
	r, err := linuxproc.New("/proc").Begin(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	read(t, r)
	if kept := openFiles(t); kept <= started {
		t.Errorf("%d files open before and %d after a reading: none is kept", started, kept)
	}
	killSession(t, cmd.Process.Pid)
	_ = cmd.Wait()
	wantEnded(t, r)
	if after := openFiles(t); after != before {
		t.Errorf("%d files open before the run and %d after", before, after)
	}
}

// bigTree is a tree of n processes, each with a list of children.
func bigTree(p *proc, n int) sample.Reader {
	for pid := 100; pid < 100+n; pid++ {
		p.set(process{pid: pid, parent: pid - 1, session: 100, pages: 1, user: 1})
		p.lists(pid, pid, pid+1)
	}
	r, _ := p.settled(linuxproc.New(p.root), 100)
	return r
}

func TestOpenFilesAreBounded(t *testing.T) {
	p := newProc(t)
	before := openFiles(t)
	const n = linuxproc.MostFiles + 50
	r := bigTree(p, n)
	for range 3 {
		wantTotals(t, r, totals{n, n, n, n})
		if kept := openFiles(t) - before; kept > linuxproc.MostFiles {
			t.Errorf("%d files are kept open", kept)
		}
	}
	// What is not kept open is told apart by its start.
	p.set(process{pid: 100 + n - 1, parent: 1, session: 1, start: 5, pages: 1000})
	wantTotals(t, r, totals{n - 1, n, n - 1, n - 1})
	closeReader(t, r)
	if after := openFiles(t); after != before {
		t.Errorf("%d files open before the run and %d after", before, after)
	}
}

// Where the whole program has too many files open, one reading may fail; those
// that follow do without files of their own.
func TestNoFileLeftForTheSampler(t *testing.T) {
	p := newProc(t)
	r := bigTree(p, 60)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	low := old
	low.Cur = uint64(openFiles(t) + 10)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
			t.Error(err)
		}
	}()
	failed := 0
	for range 4 {
		var b sample.Batch
		if err := r.Read(&b); err != nil {
			if errors.Is(err, sample.ErrEnded) {
				t.Fatal(err)
			}
			failed++
			continue
		}
		if n, _ := b.Value(series.Processes, ""); n != 60 {
			t.Errorf("%v processes, want 60", n)
		}
	}
	if failed > 1 {
		t.Errorf("%d readings of 4 failed", failed)
	}
	wantTotals(t, r, totals{60, 60, 60, 60})
}

// BenchmarkTree is a tick of trees of several sizes, scans included.
func BenchmarkTree(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			cmd := exec.Command("sh", "-c", `n=$1; while [ $n -gt 0 ]; do n=$((n - 1)); sleep 1000 & done; echo ready; wait`, "sh", strconv.Itoa(n))
			cmd.SysProcAttr = ownSession()
			out, err := cmd.StdoutPipe()
			if err != nil {
				b.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			defer func() { killSession(b, cmd.Process.Pid); _ = cmd.Wait() }()
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				b.Fatal(err)
			}
			r, err := linuxproc.New("/proc").Begin(cmd.Process.Pid)
			if err != nil {
				b.Fatal(err)
			}
			defer closeReader(b, r)
			b.ReportAllocs()
			for b.Loop() {
				var batch sample.Batch
				if err := r.Read(&batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
