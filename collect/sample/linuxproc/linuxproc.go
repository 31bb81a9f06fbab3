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
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// Name is the name of the source in the results document.
const Name = "linuxproc"

// Source reads process trees. Make one with New or NewUnder. It may serve several
// runs at a time: each has its own reader.
type Source struct {
	root     string
	launcher int     // process above the commands that adopts orphans; 0 when there is none
	pageSize float64 // B
	now      func() time.Time
}

// New returns the source that reads the proc folder at root, which is "/proc"
// but in tests.
func New(root string) *Source {
	return &Source{root: root, pageSize: float64(os.Getpagesize()), now: time.Now}
}

// NewUnder is New for commands that a launcher starts: a process that is the
// parent of each command and takes over its orphans (prctl(2),
// PR_SET_CHILD_SUBREAPER). All below it that is not older than the command
// belongs to the run; the launcher itself does not. It runs one command at a time.
func NewUnder(root string, launcher int) *Source {
	s := New(root)
	s.launcher = launcher
	return s
}

// Name returns Name.
func (s *Source) Name() string { return Name }

// NeverWaits: the kernel answers from memory, and takes no lock that a process
// could hold for long (stat and children do not need the memory map's).
func (s *Source) NeverWaits() {}

// Begin returns the reader of the tree whose first process is pid. It keeps files
// open and is an io.Closer. The reasons of its errors are those of the results
// document.
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
	return newTree(s, proc, main), nil
}

// ended is the reader of a run that was over before it was first read.
type ended struct{}

func (ended) Read(*sample.Batch) error { return sample.ErrEnded }
