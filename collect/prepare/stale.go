package prepare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// victim is a stale process that is being ended.
type victim struct {
	process
	handle target
	termed bool
	killed bool
}

// EndStale ends the processes whose names start with one of names: TERM, then
// KILL after a short time. A name of less than four bytes matches nothing.
//
// It never ends what keeps the machine or this job alive (see guard), nor
// another user's process; root may end those of all users. A process is its
// number and its start time, looked at again before each signal: a number that
// was given to another process meanwhile is left alone.
//
// The words that come back belong to the run: what was ended, what did not end
// and, once a session, what matched and stays. When ctx ends, it stops waiting.
func (m *Machine) EndStale(ctx context.Context, names []string) (words []string) {
	if len(names) == 0 {
		return nil
	}
	found := map[pidstat.ID]*victim{}
	defer func() {
		for _, v := range found {
			v.handle.close()
		}
	}()
	begun := time.Now()
	for pause := lookFirst; ; pause = min(2*pause, lookLast) {
		stale, stays, err := m.stale(names)
		if err != nil {
			return append(words, fmt.Sprintf("stale processes were not looked for: %v", err))
		}
		words = append(words, m.tellStays(stays)...)
		waited := time.Since(begun)
		alive := m.end(stale, found, waited >= termGrace)
		if len(alive) == 0 {
			return append(words, ended(found, nil)...)
		}
		if waited > termGrace+dieWithin || !pauseFor(ctx, pause) {
			return append(words, ended(found, alive)...)
		}
	}
}

// stale lists the processes to end, and those that match and stay with the
// reason.
func (m *Machine) stale(names []string) (stale []process, stays map[process]string, err error) {
	t, err := m.look()
	if err != nil {
		return nil, nil, err
	}
	g := newGuard(t, m.self)
	stays = map[process]string{}
	for _, pid := range slices.Sorted(maps.Keys(t)) {
		p := t[pid]
		if !matches(p.name, names) {
			continue
		}
		why := g.why(p)
		if why == "" && m.uid != 0 && m.owner(pid) != m.uid {
			why = "it belongs to another user"
		}
		if why != "" {
			stays[p] = why
			continue
		}
		stale = append(stale, p)
	}
	return stale, stays, nil
}

// tellStays says, once a session for a name and a reason, what matches and stays.
func (m *Machine) tellStays(stays map[process]string) []string {
	var words []string
	for p, why := range stays {
		text := fmt.Sprintf("%s matches stale_processes and stays: %s", shown(p.name), why)
		if m.once(text) {
			words = append(words, text)
		}
	}
	slices.Sort(words)
	return words
}

// end sends the signal that each process is due, and returns those that are
// still there. One that cannot be signalled stays among them.
func (m *Machine) end(stale []process, found map[pidstat.ID]*victim, kill bool) (alive []process) {
	for _, p := range stale {
		v := found[p.ID()]
		if v == nil {
			handle, err := m.open(p.PID)
			if err != nil {
				if !errors.Is(err, syscall.ESRCH) {
					alive = append(alive, p)
				}
				continue
			}
			v = &victim{process: p, handle: handle}
			found[p.ID()] = v
		}
		if !m.still(p) {
			continue
		}
		alive = append(alive, p)
		if !v.termed || kill && !v.killed {
			v.termed, v.killed = true, kill
			// An error is seen at the next look: it is gone, or still there.
			_ = v.handle.signal(kill)
		}
	}
	return alive
}

// still reports whether the number means the same process as before.
func (m *Machine) still(p process) bool {
	now, ok := m.process(p.PID)
	return ok && now.ID() == p.ID() && now.name == p.name
}

// ended says what came of it.
func ended(found map[pidstat.ID]*victim, alive []process) (words []string) {
	survivor := map[pidstat.ID]bool{}
	for _, p := range alive {
		survivor[p.ID()] = true
	}
	count, n := map[string]int{}, 0
	for id, v := range found {
		if v.termed && !survivor[id] {
			count[shown(v.name)]++
			n++
		}
	}
	if n > 0 {
		list := slices.Sorted(maps.Keys(count))
		for i, name := range list {
			if count[name] > 1 {
				list[i] = fmt.Sprintf("%s (%d)", name, count[name])
			}
		}
		words = append(words, fmt.Sprintf("%s ended before the run: %s", plural(n, "stale process", "stale processes"), strings.Join(list, ", ")))
	}
	if len(alive) > 0 {
		words = append(words, fmt.Sprintf("%s could not be ended and may disturb the run: %s (process %d) for one",
			plural(len(alive), "stale process", "stale processes"), shown(alive[0].name), alive[0].PID))
	}
	return words
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// identity is our process and user.
func identity() (self, uid int) { return os.Getpid(), os.Getuid() }

// pauseFor waits; false when ctx ended first.
func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
