package linuxproc

import (
	"errors"
	"time"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// finder is how a tree finds processes that are new in the run.
//
// The walk asks the kernel for the children of each thread of the run and, where
// there is one, of the launcher: it costs by the size of the tree. The scan lists
// all processes of the machine (under 1 us each) and reads those that are new on
// it (some 10 us each); strangers are not read again: membership is inherited, so
// a stranger never becomes a member.
//
// The scan sees what the walk cannot: orphans of the command's session that no
// launcher adopts, and a child that the kernel left out of a list. It also takes
// the place of the walk where that is not to be had or has more to read.
type finder struct {
	walks     bool           // the kernel has lists of children
	began     time.Time      // the first scan
	scanned   time.Time      // the last one
	scans     uint64         // so far
	strangers map[int]uint64 // number of the scan in which they were last listed
	pids      []int          // of the last scan

	fresh    []pidstat.Stat // memory for the next tick, as are the following: seen for the first time
	queue    []*member      // whose children are asked for
	tids     []int
	children []int
}

// scanAtLeast is the longest time between two scans beside the walk.
const scanAtLeast = time.Second

// find takes in the processes that are new in the run. lost says that a member
// has ended.
func (t *tree) find(lost bool) error {
	now := t.now()
	if t.walks && !t.due(now, lost) && t.threads <= len(t.pids) {
		t.walk()
		return nil
	}
	if t.began.IsZero() {
		t.began = now
	}
	t.scanned = now
	return t.scan()
}

// due says whether to scan whatever that costs. Without a launcher the children
// of what has ended may be anywhere, and so may those of what came and went
// between two ticks; so a young run is scanned after a tenth of its age, and an
// orphan of its session is missed for no more than a tenth of the run.
func (t *tree) due(now time.Time, lost bool) bool {
	since := now.Sub(t.scanned)
	if t.began.IsZero() || since >= scanAtLeast {
		return true
	}
	return t.launcher == nil && (lost || since >= now.Sub(t.began)/10)
}

// walk asks for the children of every member, of those that it finds, and last of
// the launcher: what lost its parent during the walk is there by then.
func (t *tree) walk() {
	t.queue = t.queue[:0]
	for _, m := range t.members {
		t.queue = append(t.queue, m)
	}
	t.follow(0)
	if t.launcher == nil {
		return
	}
	// How many threads the launcher has is not known before.
	s, err := t.files.read(t.launcher)
	if errors.Is(err, pidstat.ErrGone) {
		t.files.close(t.launcher)
		t.launcher = nil
	}
	if err != nil {
		return
	}
	t.launcher.Stat = s
	n := len(t.queue)
	t.queue = append(t.queue, t.launcher)
	t.follow(n)
}

// follow goes through the queue from n on, and what that adds to it.
func (t *tree) follow(n int) {
	for ; n < len(t.queue); n++ {
		t.children = t.childrenOf(t.queue[n], t.children[:0])
		for _, pid := range t.children {
			if _, ok := t.members[pid]; !ok {
				t.admit(pid)
			}
		}
	}
}

// childrenOf appends the children of all threads of a process. What cannot be
// read has ended, or is left to the next scan.
func (t *tree) childrenOf(m *member, pids []int) []int {
	if m.Ended() {
		return pids
	}
	t.tids = append(t.tids[:0], m.PID)
	if m.Threads > 1 {
		t.tids, _ = t.proc.Threads(m.PID, t.tids[:0])
	}
	for _, tid := range t.tids {
		pids, _ = t.files.readChildren(m, tid, pids)
	}
	return pids
}

// admit takes in a process that the walk found.
func (t *tree) admit(pid int) {
	m := &member{Stat: pidstat.Stat{PID: pid}}
	s, err := t.files.read(m)
	if err != nil || !t.young(s) {
		t.files.close(m)
		return
	}
	m.Stat = s
	t.members[pid] = m
	delete(t.strangers, pid)
	t.queue = append(t.queue, m)
}

// young tells what may be below the command from what an earlier one left under
// the launcher.
func (t *tree) young(s pidstat.Stat) bool { return s.StartTicks >= t.main.StartTicks }

// scan lists the machine's processes and takes in those that belong to the run.
func (t *tree) scan() (err error) {
	if t.pids, err = t.proc.PIDs(t.pids[:0]); err != nil {
		return err
	}
	t.scans++
	t.fresh = t.fresh[:0]
	for _, pid := range t.pids {
		if _, ok := t.members[pid]; ok {
			continue
		}
		if _, ok := t.strangers[pid]; ok {
			t.strangers[pid] = t.scans
			continue
		}
		// One that ended since the listing, or that may not be read, is left
		// for the next scan.
		if s, err := t.proc.Stat(pid); err == nil {
			t.fresh = append(t.fresh, s)
		}
	}
	t.inherit()
	for _, s := range t.fresh {
		t.strangers[s.PID] = t.scans
	}
	for pid, last := range t.strangers {
		if last != t.scans { // gone: its number may come back as another process
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
				t.members[s.PID] = &member{Stat: s}
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
	if t.launcher != nil && s.Parent == t.launcher.PID {
		return t.young(s)
	}
	_, ok := t.members[s.Parent]
	return ok
}
