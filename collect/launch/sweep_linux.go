package launch

import (
	"fmt"
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

// survivor is a process of the command's session or group that was still alive
// after the main process had ended.
type survivor struct {
	counted, killed bool
}

// sweep ends what the command left behind and returns how many processes that
// were. It looks until none is left, because one may have been forked while it
// looked; what is there after killAfter gets KILL. With ours, the group has had
// TERM already: its members are given the time and count when they needed KILL.
//
// The main process is still in the kernel's table (see wait), so its number
// names nobody else's session.
func (p *process) sweep(killAfter time.Duration, ours bool) (count int, err error) {
	proc := pidstat.Open("/proc")
	seen := map[pidstat.ID]*survivor{}
	begun := time.Now()
	for pause := lookFirst; ; pause = min(2*pause, lookLast) {
		alive, err := p.members(proc)
		if err != nil {
			p.signalGroup(unix.SIGKILL)
			return count, fmt.Errorf("look for what process %d left behind: %w", p.Pid, err)
		}
		if len(alive) == 0 {
			return count, nil
		}
		waited := time.Since(begun)
		if waited > killAfter+dieWithin {
			return count, fmt.Errorf("%d processes that process %d left behind did not end by KILL, process %d for one", len(alive), p.Pid, alive[0].PID)
		}
		for _, s := range alive {
			if p.end(s, seen, waited >= killAfter, ours && s.Group == p.Pid) {
				count++
			}
		}
		time.Sleep(pause)
	}
}

// end sends TERM to a process that is seen for the first time, and KILL once
// when its time is over. It reports whether the process counts from now on.
func (p *process) end(s pidstat.Stat, seen map[pidstat.ID]*survivor, timeOver, hadTerm bool) (counts bool) {
	v := seen[s.ID()]
	if v == nil {
		v = &survivor{}
		seen[s.ID()] = v
		if !hadTerm {
			_ = unix.Kill(s.PID, unix.SIGTERM)
			_ = unix.Kill(s.PID, unix.SIGCONT)
			v.counted, counts = true, true
		}
	}
	if timeOver && !v.killed {
		_ = unix.Kill(s.PID, unix.SIGKILL)
		v.killed = true
		if !v.counted {
			v.counted, counts = true, true
		}
	}
	return counts
}

// members lists the living processes of the command's session or group.
func (p *process) members(proc *pidstat.Proc) ([]pidstat.Stat, error) {
	pids, err := proc.PIDs(nil)
	if err != nil {
		return nil, err
	}
	var alive []pidstat.Stat
	for _, pid := range pids {
		// One that cannot be read has ended since, or is another user's.
		s, err := proc.Stat(pid)
		if err == nil && pid != p.Pid && (s.Session == p.Pid || s.Group == p.Pid) && !s.Ended() {
			alive = append(alive, s)
		}
	}
	return alive, nil
}
