package launch

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// direct is a command that this program started itself, for want of a launcher.
//
// A descendant that left the session and the group (a daemon) is not seen and goes
// on. Signals have their default action in the command, except that HUP and INT
// stay ignored where this program was started with them ignored (nohup, a shell
// script's background): the Go runtime leaves those two as it finds them.
type direct struct {
	*os.Process
	startedAt time.Time
	over      chan struct{} // closed when the main process has ended
	// Valid once over is closed.
	endedAt time.Time
	waitErr error
}

// startDirect makes the process, in a new session and so in a new group, both
// with its number. os.StartProcess gives it default signal handlers, an empty mask
// and the open-files limit that this program was started with.
func startDirect(c *Command, path string, f *files) (process, error) {
	env := c.Env
	if env == nil {
		env = []string{} // nil would be ours
	}
	p := &direct{over: make(chan struct{}), startedAt: time.Now()}
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
// can be signalled safely. finish takes it out.
func (p *direct) wait() {
	defer close(p.over)
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

func (p *direct) pid() int               { return p.Pid }
func (p *direct) began() time.Time       { return p.startedAt }
func (p *direct) ended() <-chan struct{} { return p.over }
func (p *direct) alone() <-chan struct{} { return nil }
func (p *direct) wall() time.Duration    { return p.endedAt.Sub(p.startedAt) }
func (p *direct) lost() bool             { return false }
func (p *direct) abandon()               {}

// signal fails when none is left or when one has become another user's; the sweep
// sees what is left and reports it.
func (p *direct) signal(s syscall.Signal) { _ = unix.Kill(-p.Pid, s) }

// members lists the living processes of the command's session or group. The main
// process is still in the kernel's table, so its number names nobody else's.
func (p *direct) members(proc *pidstat.Proc) ([]pidstat.Stat, error) {
	all, err := list(proc)
	if err != nil {
		return nil, err
	}
	var alive []pidstat.Stat
	for _, s := range all {
		if s.PID != p.Pid && (s.Session == p.Pid || s.Group == p.Pid) && !s.Ended() {
			alive = append(alive, s)
		}
	}
	return alive, nil
}

// finish takes the process out of the kernel's table and reads what it used.
func (p *direct) finish(x *Exit) error {
	state, err := p.Wait()
	if err != nil {
		return errors.Join(p.waitErr, fmt.Errorf("wait for process %d: %w", p.Pid, err))
	}
	x.User, x.System = state.UserTime(), state.SystemTime()
	x.CPU = x.User + x.System
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		x.MaxRSS = int64(u.Maxrss) * 1024 // KiB on Linux
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok {
		x.setStatus(ws)
	}
	return p.waitErr
}
