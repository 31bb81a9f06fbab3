package launch

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/launch/resident"
)

// Limits on how long the launcher may take. They are for a launcher that was
// stopped, or a machine that is; a start includes reading the program from disk.
const (
	helloWithin  = 10 * time.Second
	startWithin  = time.Minute
	finishWithin = 5 * time.Second
)

// errLost says that the launcher is gone, or answers no more.
var errLost = errors.New("the launcher was killed or stopped: something that runs as the same user did that")

// link is a launcher that runs.
type link struct {
	proc    *os.Process
	conn    *os.File
	reports chan report   // closed when the launcher is gone
	exited  chan struct{} // closed when it was reaped
	floor   int64         // B
	own     int64         // us of CPU that it had used by its last report
	group   *group        // nil: none could be made

	// emulated is for tests of another architecture's bytes: the emulator has no
	// sub-reaper.
	emulated bool
}

// dial starts the launcher that is embedded.
func dial(o Options) (*link, error) {
	program := resident.Program()
	if program == "" {
		return nil, errors.New("there is no launcher for this architecture")
	}
	k, err := dialMemory(o, program)
	if err == nil {
		return k, nil
	}
	// Memory may be closed to programs (vm.memfd_noexec, a security module).
	k, err2 := dialFile(o, program)
	if err2 == nil {
		return k, nil
	}
	return nil, fmt.Errorf("the launcher cannot start: %w; from a file: %w", err, err2)
}

func dialMemory(o Options, program string) (*link, error) {
	fd, err := unix.MemfdCreate("perfweir", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("perfweir", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "perfweir")
	defer f.Close()
	if _, err := f.WriteString(program); err != nil {
		return nil, err
	}
	// Above the numbers that the new process gives to its files.
	high, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 16)
	if err != nil {
		return nil, err
	}
	defer unix.Close(high)
	return connect(o, fmt.Sprintf("/proc/self/fd/%d", high), "perfweir-launch")
}

func dialFile(o Options, program string) (*link, error) {
	dir, err := os.MkdirTemp("", "perfweir-launch-*") // 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := dir + "/launch"
	if err := os.WriteFile(path, []byte(program), 0o700); err != nil {
		return nil, err
	}
	return connect(o, path, "perfweir-launch")
}

// connect starts a launcher and hears that it is there. Its environment is empty:
// as the parent of every command it could be read by them.
func connect(o Options, path string, argv ...string) (*link, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "launcher")
	defer theirs.Close()
	if err := unix.SetNonblock(pair[0], true); err != nil { // for deadlines
		unix.Close(pair[0])
		return nil, err
	}
	k := &link{conn: os.NewFile(uintptr(pair[0]), "launcher"), reports: make(chan report, 8), exited: make(chan struct{}), emulated: o.emulated}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		k.conn.Close()
		return nil, err
	}
	defer null.Close()
	files := []*os.File{null, null, null, theirs, null}
	if o.Keep != nil {
		files[4] = o.Keep
	}
	k.proc, err = os.StartProcess(path, argv, &os.ProcAttr{Env: []string{}, Files: files, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		k.conn.Close()
		return nil, err
	}
	go k.reap()
	if err := k.hello(); err != nil {
		k.abandon()
		<-k.exited
		return nil, err
	}
	go k.listen()
	if !o.NoGroup {
		k.group = newGroup(k.proc.Pid)
	}
	return k, nil
}

func (k *link) hello() error {
	if err := k.conn.SetReadDeadline(time.Now().Add(helloWithin)); err != nil {
		return err
	}
	r, err := k.receive()
	switch {
	case err != nil:
		return fmt.Errorf("it said nothing: %w", err)
	case r.Kind != tellHello || r.Version != wireVersion:
		return fmt.Errorf("it speaks version %d, want %d", r.Version, wireVersion)
	case r.Err != 0 && !k.emulated:
		return fmt.Errorf("it could not %s: %w", stepName(r.Step), syscall.Errno(r.Err))
	}
	k.floor, k.own = max(r.Floor*1024, highWater(k.proc.Pid)), r.Own
	return k.conn.SetReadDeadline(time.Time{})
}

// highWater is the VmHWM of a process in bytes; 0 when it cannot be read. Since
// Linux 6.2 a process's pages are counted on each CPU and added up in steps of 32
// or more, so that ru_maxrss of one with a few pages is 0, while this file has the
// exact sum again since 6.16.
func highWater(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err == nil {
				return kib * 1024
			}
		}
	}
	return 0
}

func (k *link) receive() (report, error) {
	var r report
	b := make([]byte, reportSize+1)
	n, err := k.conn.Read(b)
	if err != nil {
		return r, err
	}
	return r, r.decode(b[:n])
}

// listen hands reports on until the launcher is gone.
func (k *link) listen() {
	defer close(k.reports)
	for {
		r, err := k.receive()
		if err != nil {
			return
		}
		k.reports <- r // never blocks for long: a run has three at most
	}
}

func (k *link) reap() {
	_, _ = k.proc.Wait()
	close(k.exited)
}

// abandon kills the launcher: it does not answer, or what it waits for does not end.
func (k *link) abandon() {
	_ = k.proc.Kill()
	k.conn.Close()
}

// close lets the launcher end everything that is left, and itself.
func (k *link) close() error {
	k.conn.Close()
	defer k.group.remove()
	if within(k.exited, dieWithin) {
		return nil
	}
	_ = k.proc.Kill()
	<-k.exited
	return fmt.Errorf("end the launcher: what it started did not end within %v of KILL", dieWithin)
}
