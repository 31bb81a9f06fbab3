package launch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// dieWithin is how long a process may take to vanish after KILL. One that does
// not is stuck in the kernel (a dead disk or driver) or another user's, and
// waiting for it would hang the session.
const dieWithin = 10 * time.Second

// process is a command that was started, by the launcher or by this program.
type process interface {
	pid() int
	began() time.Time
	ended() <-chan struct{} // closed when the main process has
	alone() <-chan struct{} // closed when no descendant is left either; nil: not told
	lost() bool             // the launcher was killed under it
	wall() time.Duration    // valid once it has ended
	signal(syscall.Signal)  // to the main process's group, while that one is not reaped
	finish(*Exit) error     // after it has ended and what it left was ended: how, and what it used
	abandon()               // when it does not end
	// members lists the descendants that are alive, without the main process.
	members(*pidstat.Proc) ([]pidstat.Stat, error)
}

// Run runs the command without a launcher: see Launcher.Run.
func Run(ctx context.Context, c Command) Exit { return (*Launcher)(nil).Run(ctx, c) }

// Run runs the command and returns when it has ended, when everything it started
// has, and when its output files are closed. It does not return an error: how it
// went, not started included, is in the Exit. One command runs at a time; others
// wait. A nil Launcher starts the command from this program.
func (l *Launcher) Run(ctx context.Context, c Command) Exit {
	if l != nil {
		l.busy.Lock()
		defer l.busy.Unlock()
	}
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
	beside := l.beside()
	p, absent, err := l.start(&c, path, f)
	if err != nil {
		f.close()
		return Exit{End: EndNotStarted, Err: err, NoLauncher: absent}
	}
	end := func() {}
	if c.OutputLimit > 0 {
		end = f.keep()
	}
	x := Exit{StartedAt: p.began(), NoLauncher: absent, Beside: beside}
	l.supervise(ctx, &c, p, &x)
	end()
	f.settle(&x)
	return x
}

// interruptedKillAfter is the most that a command gets between TERM and KILL once
// we were told to stop: a GitHub runner waits 7.5 s between its SIGINT and its
// SIGTERM, and the cleanup and the reports have to fit in as well.
const interruptedKillAfter = 1500 * time.Millisecond

// supervise waits for the end of the run, or brings it about.
func (l *Launcher) supervise(ctx context.Context, c *Command, p process, x *Exit) {
	if c.Started != nil {
		c.Started(p.pid())
	}
	x.End = await(ctx, c, p)
	if ctx.Err() != nil {
		c.KillAfter = min(c.KillAfter, interruptedKillAfter)
	}
	if x.End != EndExited {
		x.Killed = terminate(p, c.KillAfter)
	}
	select {
	case <-p.ended():
	default: // KILL did not help
		x.Wall = time.Since(p.began())
		x.Err = fmt.Errorf("process %d did not end within %v of KILL: it is stuck in the kernel, or the launcher was stopped", p.pid(), dieWithin)
		if p.abandon(); !closed(p.ended()) {
			x.Survivors = l.remember(pidstat.Stat{PID: p.pid()})
			return
		}
	}
	l.clear(ctx, c, p, x)
}

// clear ends what a command left behind, and reads what all of it used.
func (l *Launcher) clear(ctx context.Context, c *Command, p process, x *Exit) {
	s := sweep{p: p, proc: pidstat.Open("/proc"), killAfter: c.KillAfter, ours: x.End != EndExited, known: l.known()}
	if x.End == EndExited && !p.lost() {
		s.linger = c.Linger
	}
	stuck, sweepErr := s.run(ctx)
	x.Wall, x.Leftover = p.wall(), s.count
	x.Survivors = l.remember(stuck...)
	x.Err = errors.Join(x.Err, p.finish(x), sweepErr)
}

// await returns why the run is over. A process that has ended by itself when its
// time is over, at the same moment, has ended by itself.
func await(ctx context.Context, c *Command, p process) End {
	after, end := c.limit()
	var over <-chan time.Time
	if after > 0 {
		timer := time.NewTimer(time.Until(p.began().Add(after)))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-p.ended():
	case <-over:
	case <-ctx.Done():
		end = EndInterrupted
	}
	select {
	case <-p.ended():
		return EndExited
	default:
		return end
	}
}

// terminate ends the main process and its group, and reports whether it took KILL.
func terminate(p process, killAfter time.Duration) (killed bool) {
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT) // a stopped process would keep TERM pending
	if within(p.ended(), killAfter) {
		return false
	}
	p.signal(unix.SIGKILL)
	within(p.ended(), dieWithin)
	return true
}

// within reports whether the channel was closed in time.
func within(c <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}

// setStatus says how the main process ended.
func (x *Exit) setStatus(ws syscall.WaitStatus) {
	if ws.Signaled() {
		x.Signal = signalName(ws.Signal())
	} else {
		x.ExitCode = ws.ExitStatus()
	}
}

// signalName is "KILL" for SIGKILL, and the number for one without a name
// (real-time signals).
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	return fmt.Sprint(int(s))
}
