// Package linuxproc is the source that reads the process tree of a command from
// /proc: resident memory, CPU time, processes and threads.
//
// It holds the rule of which processes belong to a run. It refuses to signal or
// to wait for any (collect/launch does). Its readings go to the sampler.
//
// It works for every user, without cgroups and without capabilities. Linux alone
// has the files; elsewhere the source is absent, not_supported.
package linuxproc

import (
	"errors"
	"fmt"
	"os"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
	"github.com/perfweir/perfweir/collect/series"
)

// Name is the name of the source in the results document.
const Name = "linuxproc"

// Source reads process trees. Make one with New. It may serve several runs at a
// time: each has its own reader.
type Source struct {
	root     string
	pageSize float64 // B
}

// New returns the source that reads the proc folder at root, which is "/proc"
// but in tests.
func New(root string) *Source {
	return &Source{root: root, pageSize: float64(os.Getpagesize())}
}

// Name returns Name.
func (s *Source) Name() string { return Name }

// Begin returns the reader of the tree whose first process is pid. The reasons
// of its errors are those of the results document.
func (s *Source) Begin(pid int) (sample.Reader, error) {
	proc := pidstat.Open(s.root)
	main, err := proc.Stat(pid)
	switch {
	case errors.Is(err, pidstat.ErrGone):
		if _, err := os.Stat(s.root + "/self"); err != nil {
			return nil, errors.New(result.AbsentNotSupported)
		}
		return ended{}, nil
	case errors.Is(err, os.ErrPermission):
		return nil, errors.New(result.AbsentNoPermission)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", result.AbsentUnreadable, err)
	}
	return newTree(proc, main, s.pageSize), nil
}

// ended is the reader of a run that was over before it was first read.
type ended struct{}

func (ended) Read(*sample.Batch) error { return sample.ErrEnded }

// tree reads the processes of one run.
//
// A process belongs to the run when it is in the command's session (the launcher
// gives each command its own), or when its parent belonged to the run at the
// moment it was first seen. It stays a member until it ends, also when its parent
// dies or it makes a session of its own. What starts another session and loses
// its parent between two ticks is not seen.
//
// Cost: one listing of /proc a tick (under 1 us an entry), and some 14 us for
// each member and each process that is new on the machine. Others were judged
// when they were new and are not read again: membership is inherited, so a
// stranger never becomes a member. /proc/PID/task/TID/children would save the
// listing, but needs a file for every thread, misses orphans, and is not built
// into every kernel.
type tree struct {
	proc     *pidstat.Proc
	pageSize float64

	main      pidstat.ID
	session   int // of the command when it leads one, else 0: then it is not its own
	members   map[int]pidstat.Stat
	strangers map[int]uint64 // number of the tick in which they were last listed
	tick      uint64
	pastTicks uint64 // CPU time of members that have ended, as last seen

	pids  []int          // kept for the next tick, as are the following
	fresh []pidstat.Stat // seen for the first time
}

func newTree(proc *pidstat.Proc, main pidstat.Stat, pageSize float64) *tree {
	t := &tree{
		proc: proc, pageSize: pageSize, main: main.ID(),
		members:   map[int]pidstat.Stat{main.PID: main},
		strangers: map[int]uint64{},
	}
	if main.Session == main.PID {
		t.session = main.PID
	}
	return t
}

// Read puts memory, cpu, processes and threads of the tree. It returns
// sample.ErrEnded once the command's own process has ended, whatever it left
// behind: a run ends with its main process.
func (t *tree) Read(b *sample.Batch) error {
	main, err := t.proc.Stat(t.main.PID)
	switch {
	case errors.Is(err, pidstat.ErrGone):
		return sample.ErrEnded
	case err != nil:
		return err
	case main.ID() != t.main || main.Ended():
		return sample.ErrEnded
	}
	t.tick++
	if err := t.admit(); err != nil {
		return err
	}
	t.refresh()
	t.put(b)
	return nil
}

// admit lists the machine's processes and takes in those that belong to the run.
func (t *tree) admit() (err error) {
	if t.pids, err = t.proc.PIDs(t.pids[:0]); err != nil {
		return err
	}
	t.fresh = t.fresh[:0]
	for _, pid := range t.pids {
		if _, ok := t.members[pid]; ok {
			continue
		}
		if _, ok := t.strangers[pid]; ok {
			t.strangers[pid] = t.tick
			continue
		}
		// One that ended since the listing, or that may not be read, is left
		// for the next tick.
		if s, err := t.proc.Stat(pid); err == nil {
			t.fresh = append(t.fresh, s)
		}
	}
	t.inherit()
	for _, s := range t.fresh {
		t.strangers[s.PID] = t.tick
	}
	for pid, last := range t.strangers {
		if last != t.tick { // gone: its number may come back as another process
			delete(t.strangers, pid)
		}
	}
	return nil
}

// inherit moves from fresh to members until nobody else qualifies: a child can
// be listed before its parent when numbers have wrapped around.
func (t *tree) inherit() {
	for moved := true; moved; {
		moved = false
		rest := t.fresh[:0]
		for _, s := range t.fresh {
			if t.belongs(s) {
				t.members[s.PID] = s
				moved = true
			} else {
				rest = append(rest, s)
			}
		}
		t.fresh = rest
	}
}

func (t *tree) belongs(s pidstat.Stat) bool {
	if t.session != 0 && s.Session == t.session {
		return true
	}
	_, ok := t.members[s.Parent]
	return ok
}

// refresh reads every member again and lets go of those that have ended. Their
// CPU time stays in the sum, as it was last seen.
func (t *tree) refresh() {
	for pid, old := range t.members {
		now, err := t.proc.Stat(pid)
		switch {
		case errors.Is(err, pidstat.ErrGone), err == nil && now.ID() != old.ID():
			t.pastTicks += old.UserTicks + old.SystemTicks
			delete(t.members, pid)
		case err == nil:
			t.members[pid] = now
		}
	}
}

// put sums over the members. The children's times that /proc shows beside a
// process's own are left alone: they count a child when its parent reaps it,
// which would count it twice.
func (t *tree) put(b *sample.Batch) {
	ticks := t.pastTicks
	var pages uint64
	var processes, threads int
	whole := true
	for _, s := range t.members {
		ticks += s.UserTicks + s.SystemTicks
		if s.Ended() {
			continue
		}
		processes++
		threads += s.Threads
		pages += s.RSSPages
		if s.State == 'Z' { // its first thread ended and took the figure along
			whole = false
		}
	}
	if whole {
		b.Put(series.Memory, "", "B", float64(pages)*t.pageSize)
	}
	b.Put(series.CPU, "", "s", float64(ticks)/pidstat.TicksPerSecond)
	b.Put(series.Processes, "", "1", float64(processes))
	b.Put(series.Threads, "", "1", float64(threads))
}
