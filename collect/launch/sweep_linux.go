package launch

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// Looks at /proc while processes are ending: the first ones close together,
// because most are gone at once and the next run waits.
const (
	lookFirst = time.Millisecond
	lookLast  = 50 * time.Millisecond
)

// sweep ends what a command left behind. It looks until none is left, because one
// may have been forked while it looked.
type sweep struct {
	p         process
	proc      *pidstat.Proc
	linger    time.Duration // before anything is signalled
	killAfter time.Duration // then, between TERM and KILL
	// ours: the group has had TERM already. Its members count when they needed KILL.
	ours  bool
	known map[pidstat.ID]Process // survivors of earlier runs, which are let be

	seen  map[pidstat.ID]*survivor
	count int // how many were ended by us
}

// survivor is a descendant that was still alive after the main process had ended.
type survivor struct {
	counted, killed bool
}

// run returns those that did not end by KILL. When ctx ends, nothing lingers.
func (s *sweep) run(ctx context.Context) (stuck []pidstat.Stat, err error) {
	s.seen = map[pidstat.ID]*survivor{}
	begun := time.Now()
	for pause := lookFirst; ; pause = min(2*pause, lookLast) {
		if closed(s.p.alone()) {
			return nil, nil
		}
		alive, wait, err := s.look()
		if err != nil {
			s.p.signal(unix.SIGKILL)
			return nil, fmt.Errorf("look for what process %d left behind: %w", s.p.pid(), err)
		}
		if !wait {
			return nil, nil
		}
		if ctx.Err() != nil && s.linger > 0 {
			s.linger, begun = 0, time.Now()
		}
		waited := time.Since(begun) - s.linger
		if waited > s.killAfter+dieWithin {
			if len(alive) == 0 {
				return nil, nil
			}
			return alive, fmt.Errorf("%d processes that process %d left behind did not end by KILL, process %d for one", len(alive), s.p.pid(), alive[0].PID)
		}
		for _, one := range alive {
			if waited >= 0 {
				s.end(one, waited >= s.killAfter)
			}
		}
		s.pause(ctx, pause)
	}
}

// look lists what is to be ended, and reports whether there is reason to look
// again: the launcher says when all is gone, a process that has ended and is not
// yet reaped included; what survived an earlier run keeps it from saying so.
func (s *sweep) look() (alive []pidstat.Stat, again bool, err error) {
	all, err := s.p.members(s.proc)
	if err != nil {
		return nil, false, err
	}
	for _, one := range all {
		if _, ok := s.known[one.ID()]; !ok {
			alive = append(alive, one)
		}
	}
	told := s.p.alone() != nil && len(all) == len(alive)
	return alive, len(alive) > 0 || told, nil
}

func (s *sweep) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	var interrupted <-chan struct{}
	if s.linger > 0 {
		interrupted = ctx.Done()
	}
	select {
	case <-s.p.alone():
	case <-timer.C:
	case <-interrupted:
	}
}

// end sends TERM to a process that is seen for the first time, and KILL once when
// its time is over.
func (s *sweep) end(one pidstat.Stat, timeOver bool) {
	v := s.seen[one.ID()]
	if v == nil {
		v = &survivor{}
		s.seen[one.ID()] = v
		if !s.ours || one.Group != s.p.pid() {
			signal(s.proc, one, unix.SIGTERM)
			signal(s.proc, one, unix.SIGCONT)
			v.counted = true
			s.count++
		}
	}
	if timeOver && !v.killed {
		signal(s.proc, one, unix.SIGKILL)
		v.killed = true
		if !v.counted {
			v.counted = true
			s.count++
		}
	}
}

// signal sends to a process, and to no other that has its number by now. It fails
// when the process is gone, or another user's, which the next look shows.
func signal(proc *pidstat.Proc, one pidstat.Stat, sig syscall.Signal) {
	fd, err := unix.PidfdOpen(one.PID, 0)
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.3
		_ = unix.Kill(one.PID, sig)
		return
	}
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if now, err := proc.Stat(one.PID); err == nil && now.ID() == one.ID() {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	}
}

// list reads all processes that can be read. One that cannot has ended since, or
// is another user's.
func list(proc *pidstat.Proc) ([]pidstat.Stat, error) {
	pids, err := proc.PIDs(nil)
	if err != nil {
		return nil, err
	}
	all := make([]pidstat.Stat, 0, len(pids))
	for _, pid := range pids {
		if s, err := proc.Stat(pid); err == nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// descendants are the processes below root, and those below what starts, in any
// depth. Living and dead: a dead one may have living children for a moment.
func descendants(all []pidstat.Stat, root int, starts func(pidstat.Stat) bool) []pidstat.Stat {
	children := map[int][]pidstat.Stat{}
	var found []pidstat.Stat
	for _, s := range all {
		children[s.Parent] = append(children[s.Parent], s)
		if starts != nil && starts(s) {
			found = append(found, s)
		}
	}
	found = append(found, children[root]...)
	in := map[int]bool{}
	out := found[:0:0]
	for len(found) > 0 {
		s := found[len(found)-1]
		found = found[:len(found)-1]
		if !in[s.PID] {
			in[s.PID] = true
			out = append(out, s)
			found = append(found, children[s.PID]...)
		}
	}
	return out
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
