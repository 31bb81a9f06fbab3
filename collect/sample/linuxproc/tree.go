package linuxproc

import (
	"errors"
	"time"

	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
	"github.com/perfweir/perfweir/collect/series"
)

// tree reads the processes of one run.
//
// A process belongs to the run when it is in the command's session (the launcher
// gives each command its own), or when its parent belonged to the run or was the
// launcher at the moment it was first seen. It stays a member until it ends, also
// when its parent dies or it makes a session of its own. Without a launcher, what
// starts another session and loses its parent between two ticks is not seen.
//
// A member's files stay open from tick to tick: to read one again takes half
// the time of opening, reading and closing it (BenchmarkReadStat, BenchmarkStat).
type tree struct {
	proc     *pidstat.Proc
	files    files
	pageSize float64
	now      func() time.Time

	main      *member // one of members
	launcher  *member // none of members; nil when there is none
	session   int     // of the command when it leads one, else 0: then it is not its own
	members   map[int]*member
	pastTicks uint64 // CPU time of members that have ended, as last seen
	threads   int    // of all members, as last put
	over      bool

	finder
}

// member is one process of the run, as last seen, and its open files.
type member struct {
	pidstat.Stat
	stat, children *pidstat.File // nil when not kept open
}

func newTree(s *Source, proc *pidstat.Proc, main pidstat.Stat) *tree {
	m := &member{Stat: main}
	t := &tree{
		proc: proc, files: files{proc: proc, most: mostFiles}, pageSize: s.pageSize, now: s.now,
		main: m, members: map[int]*member{main.PID: m},
		finder: finder{strangers: map[int]uint64{}},
	}
	if main.Session == main.PID {
		t.session = main.PID
	}
	if s.launcher > 0 {
		t.launcher = &member{Stat: pidstat.Stat{PID: s.launcher}}
	}
	children, err := proc.OpenChildren(main.PID, main.PID)
	if err == nil {
		children.Close()
		t.walks = true
	}
	return t
}

// Read puts memory, cpu, processes and threads of the tree. It returns
// sample.ErrEnded once the command's own process has ended, whatever it left
// behind: a run ends with its main process.
func (t *tree) Read(b *sample.Batch) error {
	if t.over {
		return sample.ErrEnded
	}
	if t.files.most == 0 {
		t.closeFiles()
	}
	main, err := t.files.read(t.main)
	switch {
	case errors.Is(err, pidstat.ErrGone), err == nil && (main.ID() != t.main.ID() || main.Ended()):
		_ = t.Close()
		return sample.ErrEnded
	case err != nil:
		return err
	}
	t.main.Stat = main
	lost := t.refresh()
	if err := t.find(lost); err != nil {
		return err
	}
	t.put(b)
	return nil
}

// Close ends the reading of the run and closes its files.
func (t *tree) Close() error {
	t.over = true
	t.closeFiles()
	return nil
}

func (t *tree) closeFiles() {
	for _, m := range t.members {
		t.files.close(m)
	}
	if t.launcher != nil {
		t.files.close(t.launcher)
	}
}

// refresh reads every member but the main process again and lets go of those that
// have been reaped; their CPU time stays in the sum, as it was last seen. It
// reports whether a member ended since the last tick: its children have another
// parent now.
func (t *tree) refresh() (lost bool) {
	for pid, m := range t.members {
		if m == t.main {
			continue
		}
		now, err := t.files.read(m)
		switch {
		case errors.Is(err, pidstat.ErrGone), err == nil && now.ID() != m.ID():
			lost = lost || !m.Ended()
			t.pastTicks += m.UserTicks + m.SystemTicks
			t.files.close(m)
			delete(t.members, pid)
		case err == nil:
			lost = lost || now.Ended() && !m.Ended()
			m.Stat = now
		}
	}
	return lost
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
	t.threads = threads
	if whole {
		b.Put(series.Memory, "", "B", float64(pages)*t.pageSize)
	}
	b.Put(series.CPU, "", "s", float64(ticks)/pidstat.TicksPerSecond)
	b.Put(series.Processes, "", "1", float64(processes))
	b.Put(series.Threads, "", "1", float64(threads))
}
