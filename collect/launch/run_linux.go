package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// dieWithin is how long a process may take to vanish after KILL. One that does
// not is stuck in the kernel (a dead disk or driver), and waiting for it would
// hang the session.
const dieWithin = 10 * time.Second

// Run runs the command and returns when it has ended, when everything of its
// session and group has, and when its output files are closed. It does not
// return an error: how it went, not started included, is in the Exit.
//
// A process that left the session and the group (a daemon) is not seen and goes
// on. Signals have their default action in the command, except that HUP and INT
// stay ignored where this program was started with them ignored (nohup, a shell
// script's background): the Go runtime leaves those two as it finds them.
func Run(ctx context.Context, c Command) Exit {
	if err := ctx.Err(); err != nil {
		return Exit{End: EndInterrupted, Err: fmt.Errorf("start a command: %w", err)}
	}
	path, err := lookUp(&c)
	if err != nil {
		return Exit{End: EndNotStarted, Err: err}
	}
	f, err := openFiles(&c)
	if err != nil {
		return Exit{End: EndNotStarted, Err: err}
	}
	p, err := start(&c, path, f)
	if err != nil {
		f.close()
		return Exit{End: EndNotStarted, Err: err}
	}
	var watcher sync.WaitGroup
	stop := make(chan struct{})
	if c.OutputLimit > 0 {
		watcher.Go(func() { f.watch(stop) })
	}
	x := p.supervise(ctx, &c)
	close(stop)
	watcher.Wait()
	f.settle(&x)
	return x
}

// process is a command that was started.
type process struct {
	*os.Process
	startedAt time.Time

	// The following are written by the waiting goroutine before it closes ended.
	ended   chan struct{}
	endedAt time.Time
	waitErr error
}

// start makes the process, in a new session and so in a new group, both with its
// number. os.StartProcess gives it default signal handlers, an empty mask and
// the open-files limit that this program was started with.
func start(c *Command, path string, f *files) (*process, error) {
	env := c.Env
	if env == nil {
		env = []string{} // nil would be ours
	}
	p := &process{ended: make(chan struct{}), startedAt: time.Now()}
	var err error
	p.Process, err = os.StartProcess(path, c.Argv, &os.ProcAttr{
		Dir: c.Dir, Env: env, Files: f.list(), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		var inner *os.PathError
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, explain(c, path, err)
	}
	go p.wait()
	return p, nil
}

// wait stops the clock when the main process ends. It leaves the process in the
// kernel's table (WNOWAIT): as long as it is there, its number, which is also the
// number of its group and session, cannot become somebody else's, and the group
// can be signalled safely. reap takes it out.
func (p *process) wait() {
	defer close(p.ended)
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			p.endedAt = time.Now()
			if err != nil {
				p.waitErr = fmt.Errorf("wait for process %d: %w", p.Pid, err)
			}
			return
		}
	}
}

func (p *process) supervise(ctx context.Context, c *Command) Exit {
	x := Exit{StartedAt: p.startedAt}
	if c.Started != nil {
		c.Started(p.Pid)
	}
	x.End = p.await(ctx, c)
	if x.End != EndExited {
		x.Killed = p.terminate(c.KillAfter)
	}
	select {
	case <-p.ended:
	default: // KILL did not help
		x.Wall = time.Since(p.startedAt)
		x.Err = fmt.Errorf("process %d did not end within %v of KILL: it is stuck in the kernel and still there", p.Pid, dieWithin)
		return x
	}
	x.Wall = p.endedAt.Sub(p.startedAt)
	left, sweepErr := p.sweep(c.KillAfter, x.End != EndExited)
	x.Leftover = left
	x.Err = errors.Join(p.waitErr, p.reap(&x), sweepErr)
	return x
}

// await returns why the run is over. A process that has ended by itself when its
// time is over, at the same moment, has ended by itself.
func (p *process) await(ctx context.Context, c *Command) End {
	after, end := c.limit()
	var over <-chan time.Time
	if after > 0 {
		timer := time.NewTimer(time.Until(p.startedAt.Add(after)))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-p.ended:
	case <-over:
	case <-ctx.Done():
		end = EndInterrupted
	}
	select {
	case <-p.ended:
		return EndExited
	default:
		return end
	}
}

// terminate ends the main process and its group, and reports whether it took KILL.
func (p *process) terminate(killAfter time.Duration) (killed bool) {
	p.signalGroup(unix.SIGTERM)
	p.signalGroup(unix.SIGCONT) // a stopped process would keep TERM pending
	if p.endsWithin(killAfter) {
		return false
	}
	p.signalGroup(unix.SIGKILL)
	p.endsWithin(dieWithin)
	return true
}

func (p *process) endsWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// signalGroup sends to every process of the group. It fails when none is left
// or when one has become another user's; sweep sees what is left and reports it.
func (p *process) signalGroup(s syscall.Signal) { _ = unix.Kill(-p.Pid, s) }

// reap takes the process out of the kernel's table and reads what it used.
func (p *process) reap(x *Exit) error {
	state, err := p.Wait()
	if err != nil {
		return fmt.Errorf("wait for process %d: %w", p.Pid, err)
	}
	x.User, x.System = state.UserTime(), state.SystemTime()
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		x.MaxRSS = int64(u.Maxrss) * 1024 // KiB on Linux
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		x.Signal = signalName(ws.Signal())
	} else {
		x.ExitCode = state.ExitCode()
	}
	return nil
}

// signalName is "KILL" for SIGKILL, and the number for one without a name
// (real-time signals).
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return fmt.Sprint(int(s))
}
