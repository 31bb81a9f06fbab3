package pidstat

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"syscall"
)

// File is a file of one process or thread, open to be read again and again. It
// stays that process's: once the process has been reaped a read says ErrGone,
// also when its number has been given to another.
type File struct {
	fd   int    // -1 when closed
	what string // "the state of process", for errors
	id   int    // of the process or thread
}

// Close closes the file. A second call does nothing.
func (f *File) Close() {
	if f.fd >= 0 {
		rawClose(f.fd)
	}
	f.fd = -1
}

// OpenStat opens the file that ReadStat reads. The error wraps ErrGone when there
// is no process of that number.
func (p *Proc) OpenStat(pid int) (*File, error) {
	return open(filepath.Join(p.root, strconv.Itoa(pid), "stat"), "the state of process", pid)
}

// ReadStat reads a process through a file of OpenStat, as Stat does.
func (p *Proc) ReadStat(f *File) (Stat, error) {
	n, err := rawReadAt(f.fd, p.buf[:], 0)
	switch {
	case err != nil:
		return Stat{}, explain(f.what, f.id, err)
	case n == 0:
		return Stat{}, explain(f.what, f.id, ErrGone)
	}
	s, err := Parse(p.buf[:n])
	if err != nil {
		return Stat{}, explain(f.what, f.id, err)
	}
	return s, nil
}

// OpenChildren opens the list of the children of one thread; the first thread of
// a process has its number. The error wraps ErrGone when there is no such thread,
// and also when the kernel has no such lists (CONFIG_PROC_CHILDREN).
func (p *Proc) OpenChildren(pid, tid int) (*File, error) {
	return open(filepath.Join(p.root, strconv.Itoa(pid), "task", strconv.Itoa(tid), "children"), "the children of thread", tid)
}

// ReadChildren appends the numbers of the thread's children to pids, those that
// wait to be reaped included. The kernel may leave out one when another ends
// during the read (proc(5)), so that what is not in the list may still be there.
func (p *Proc) ReadChildren(f *File, pids []int) ([]int, error) {
	pid := 0
	for at := int64(0); ; {
		n, err := rawReadAt(f.fd, p.buf[:], at)
		if err != nil {
			return pids, explain(f.what, f.id, err)
		}
		at += int64(n)
		for _, c := range p.buf[:n] {
			switch {
			case c >= '0' && c <= '9' && pid < 1<<24: // PIDs end at 1<<22
				pid = pid*10 + int(c-'0')
			case c == ' ' || c == '\n':
				pids, pid = appendPID(pids, pid), 0
			default:
				return pids, explain(f.what, f.id, errors.New("not a list of numbers"))
			}
		}
		// The kernel fills the page but for what the next number did not fit in.
		if n < len(p.buf)-longestPID {
			return appendPID(pids, pid), nil
		}
	}
}

// longestPID is more than one number takes in the file, space included.
const longestPID = 16

// appendPID leaves out 0, which is what a process of another PID namespace shows.
func appendPID(pids []int, pid int) []int {
	if pid == 0 {
		return pids
	}
	return append(pids, pid)
}

// Threads appends the numbers of the threads of a process to tids.
func (p *Proc) Threads(pid int, tids []int) ([]int, error) {
	return numbers(filepath.Join(p.root, strconv.Itoa(pid), "task"), tids)
}

func open(path, what string, id int) (*File, error) {
	fd, err := rawOpen(path)
	if err != nil {
		return nil, explain(what, id, err)
	}
	return &File{fd, what, id}, nil
}

// explain tells a process that is gone from one that cannot be read.
func explain(what string, id int, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		err = ErrGone
	}
	return fmt.Errorf("read %s %d: %w", what, id, err)
}
