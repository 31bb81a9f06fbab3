package launch

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// managed is a command that the launcher started.
type managed struct {
	k         *link
	id        int
	mark      string
	size      int64 // B of its specification
	startedAt time.Time
	groupCPU  time.Duration // of the control group, before
	ownCPU    int64         // us of the launcher, before

	over  chan struct{} // the main process has ended
	none  chan struct{} // and nothing is left
	final chan struct{} // no report will come
	// Each is written before the channel beside it is closed.
	end    report        // over; Kind is 0 when it is not known
	length time.Duration // over
	last   report        // final
	gone   bool          // final: the launcher is
}

// start has the launcher start a command.
func (k *link) start(c *Command, path string, f *files, mark string) (process, error) {
	env := append(append([]string{}, c.Env...), MarkVariable+"="+mark)
	spec, err := specification(path, c.Dir, c.Argv, env)
	if err != nil {
		return nil, explain(c, path, err)
	}
	file, err := memoryFile("perfweir-command", 0, spec)
	if err != nil {
		return nil, fmt.Errorf("start %q: write its arguments: %w", c.Argv[0], err)
	}
	defer file.Close()
	p := &managed{k: k, mark: mark, size: int64(len(spec)), ownCPU: k.own, groupCPU: k.group.usage(),
		over: make(chan struct{}), none: make(chan struct{}), final: make(chan struct{})}
	list := f.list()
	if err := send(k.conn, request{Op: opRun, Size: uint64(len(spec))}, file, list[0], list[1], list[2]); err != nil {
		return nil, fmt.Errorf("%w (%w)", errLost, err)
	}
	r, err := k.started()
	if err != nil {
		return nil, err
	}
	if r.Err != 0 {
		errno := syscall.Errno(r.Err)
		if r.Step != stepFolder && r.Step != stepExec {
			return nil, fmt.Errorf("start %q: the launcher could not %s: %w", c.Argv[0], stepName(r.Step), errno)
		}
		return nil, explain(c, path, errno)
	}
	p.id, p.startedAt = int(r.PID), moment(r.Start)
	go p.follow()
	return p, nil
}

// started waits for the answer to opRun. What an earlier run had still to say is
// dropped.
func (k *link) started() (report, error) {
	timer := time.NewTimer(startWithin)
	defer timer.Stop()
	for {
		select {
		case r, ok := <-k.reports:
			if !ok {
				return r, errLost
			}
			if r.Kind == tellStarted {
				return r, nil
			}
		case <-timer.C:
			k.abandon()
			return report{}, errLost
		}
	}
}

// moment is a reading of CLOCK_MONOTONIC as a time of ours.
func moment(ns int64) time.Time {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return time.Now()
	}
	return time.Now().Add(-time.Duration(t.Nano() - ns))
}

// follow takes the run's reports.
func (p *managed) follow() {
	defer close(p.final)
	for r := range p.k.reports {
		p.last = r
		p.k.own = r.Own
		switch r.Kind {
		case tellEnded:
			p.end, p.length = r, time.Duration(r.End-r.Start)
			close(p.over)
			if r.Left != 0 {
				continue
			}
			close(p.none)
			return
		case tellNoneLeft:
			close(p.none)
			return
		case tellFinished:
			return
		}
	}
	p.gone = true
	if p.end.Kind == 0 {
		p.length = time.Since(p.startedAt)
		close(p.over)
	}
}

func (p *managed) pid() int               { return p.id }
func (p *managed) began() time.Time       { return p.startedAt }
func (p *managed) ended() <-chan struct{} { return p.over }
func (p *managed) wall() time.Duration    { return p.length }
func (p *managed) lost() bool             { return closed(p.final) && p.gone }

func (p *managed) alone() <-chan struct{} {
	if p.lost() {
		return nil
	}
	return p.none
}

func (p *managed) abandon() {
	p.k.abandon()
	<-p.final
}

// signal asks the launcher: it alone knows that the group is still the command's,
// because it alone reaps.
func (p *managed) signal(s syscall.Signal) {
	_ = send(p.k.conn, request{Op: opSignal, Signal: uint32(s)})
}

// members lists the launcher's descendants: it is their sub-reaper, so they stay
// that whatever they do. When it was killed they are found by their mark, and the
// main process is one of them.
func (p *managed) members(proc *pidstat.Proc) ([]pidstat.Stat, error) {
	all, err := list(proc)
	if err != nil {
		return nil, err
	}
	root, starts := p.k.proc.Pid, func(pidstat.Stat) bool { return false }
	if p.lost() {
		root = -1
		starts = func(s pidstat.Stat) bool { return s.Session == p.id || marked(s.PID, p.mark) }
	}
	var alive []pidstat.Stat
	for _, s := range descendants(all, root, starts) {
		if !s.Ended() && (s.PID != p.id || root < 0) {
			alive = append(alive, s)
		}
	}
	return alive, nil
}

func (p *managed) finish(x *Exit) error {
	if !closed(p.final) {
		if err := send(p.k.conn, request{Op: opFinish}); err != nil || !within(p.final, finishWithin) {
			p.abandon()
		}
	}
	x.Floor = p.floor()
	if p.end.Kind == 0 || p.gone {
		x.End = EndLost
		return fmt.Errorf("run process %d: %w", p.id, errLost)
	}
	x.setStatus(syscall.WaitStatus(p.end.Status))
	x.User, x.System = micros(p.last.All.User), micros(p.last.All.System)
	x.MaxRSS = p.last.All.RSS * 1024
	x.CPU = x.User + x.System
	p.askGroup(x)
	if !closed(p.none) && len(x.Survivors) == 0 && x.Leftover == 0 && len(x.Beside) == 0 {
		return errors.New("the launcher has children that nobody sees")
	}
	return nil
}

// floor is the launcher's mark, and what its child mapped of the specification:
// the kernel maps files in pieces of up to 64 KiB.
func (p *managed) floor() int64 {
	const piece = 64 << 10
	return p.k.floor + (p.size+piece-1)/piece*piece
}

// Under this, what the control group counted more than rusage is no lost process:
// a process's last microseconds, after it has told its usage, and the launcher's.
const (
	groupSlack      = 2 * time.Millisecond
	groupSlackShare = 0.01
)

// askGroup takes the group's count where processes are missing from the sums.
func (p *managed) askGroup(x *Exit) {
	after := p.k.group.usage()
	if p.groupCPU < 0 || after < 0 {
		return
	}
	x.Grouped = true
	total := after - p.groupCPU - micros(p.last.Own-p.ownCPU)
	if missing := total - x.CPU; missing > max(groupSlack, time.Duration(groupSlackShare*float64(total))) {
		x.CPU, x.CPUFromGroup = total, true
	}
}
