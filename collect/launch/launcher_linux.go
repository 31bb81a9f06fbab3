package launch

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// Launcher starts the commands of a session. It is safe for concurrent use; one
// command runs at a time.
type Launcher struct {
	opts Options
	dial func(Options) (*link, error)
	mark string

	busy      sync.Mutex
	link      *link
	absent    string // why there is none
	survivors map[pidstat.ID]Process
}

// Start starts the launcher, once a session and before the first command. The
// Launcher is there in any case: with an error it starts commands from this
// program, and the error says why (Exit.NoLauncher does too).
func Start(o Options) (*Launcher, error) { return startWith(o, dial) }

func startWith(o Options, how func(Options) (*link, error)) (*Launcher, error) {
	l := &Launcher{opts: o, dial: how, mark: rand.Text(), survivors: map[pidstat.ID]Process{}}
	var err error
	if l.link, err = how(o); err != nil {
		l.absent = err.Error()
	}
	return l, err
}

// Floor is the launcher's own memory mark in bytes: no command's peak under it can
// be seen. 0: there is no launcher.
func (l *Launcher) Floor() int64 {
	if l == nil || l.link == nil {
		return 0
	}
	return l.link.floor
}

// Close ends the launcher and whatever it started that is still there.
func (l *Launcher) Close() error {
	if l == nil {
		return nil
	}
	l.busy.Lock()
	defer l.busy.Unlock()
	if l.link == nil {
		return nil
	}
	err := l.link.close()
	l.link, l.absent = nil, "the launcher was closed"
	return err
}

// start starts the command, by the launcher where there is one. absent is why
// there was none.
func (l *Launcher) start(c *Command, path string, f *files) (p process, absent string, err error) {
	if l == nil {
		p, err = startDirect(c, path, f)
		return p, "the command was started without one", err
	}
	// It may have been killed since the last run, and be killed again.
	for range 3 {
		if !l.ready() {
			p, err = startDirect(c, path, f)
			return p, l.absent, err
		}
		p, err = l.link.start(c, path, f, l.mark)
		if !errors.Is(err, errLost) {
			return p, "", err
		}
		l.link.abandon()
		<-l.link.exited
		l.endMarked()
	}
	return nil, "", fmt.Errorf("start %q: %w", c.Argv[0], err)
}

// ready reports whether a launcher runs, and starts another where one was killed.
func (l *Launcher) ready() bool {
	if l.link == nil {
		return false
	}
	if !closed(l.link.exited) {
		return true
	}
	l.link.close()
	link, err := l.dial(l.opts)
	if err != nil {
		l.link, l.absent = nil, err.Error()
		return false
	}
	l.link = link
	return true
}

// endMarked kills what a launcher had started when it was killed under a start.
func (l *Launcher) endMarked() {
	proc := pidstat.Open("/proc")
	all, err := list(proc)
	if err != nil {
		return
	}
	for _, s := range descendants(all, -1, func(s pidstat.Stat) bool { return marked(s.PID, l.mark) }) {
		signal(proc, s, unix.SIGKILL)
	}
}

// marked reports whether a process was started with our mark. Another user's
// cannot be read, and one may have written over it: it is a help, not a proof.
func marked(pid int, mark string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(kv []byte) bool {
		return string(kv) == MarkVariable+"="+mark
	})
}

// remember notes those that did not end, so that later runs know.
func (l *Launcher) remember(stuck ...pidstat.Stat) []Process {
	var named []Process
	for _, s := range stuck {
		if now, err := pidstat.Open("/proc").Stat(s.PID); err == nil {
			s = now
		}
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", s.PID))
		one := Process{s.PID, strings.TrimSuffix(string(comm), "\n")}
		named = append(named, one)
		if l != nil {
			l.survivors[s.ID()] = one
		}
	}
	return named
}

func (l *Launcher) known() map[pidstat.ID]Process {
	if l == nil {
		return nil
	}
	return l.survivors
}

// beside lists the survivors of earlier runs that are still alive.
func (l *Launcher) beside() []Process {
	if l == nil {
		return nil
	}
	var alive []Process
	proc := pidstat.Open("/proc")
	for id, one := range l.survivors {
		now, err := proc.Stat(id.PID)
		if err != nil && errors.Is(err, pidstat.ErrGone) || err == nil && (now.ID() != id || now.Ended()) {
			delete(l.survivors, id)
			continue
		}
		alive = append(alive, one)
	}
	slices.SortFunc(alive, func(a, b Process) int { return a.PID - b.PID })
	return alive
}
