// Package pidstat reads /proc/PID/stat, the one file that tells what a process
// is, whose child it is and what it has used, and the lists of processes, of a
// process's threads and of a thread's children.
//
// It holds the parser and a reader of a proc folder that can be another root in
// tests. It refuses to decide which processes belong to a run; its readings go
// to the sampler of the process tree (linuxproc) and to the launcher, which
// looks for what a command left behind.
//
// prometheus/procfs has such a parser. This one takes under 60 % of its time, nearly all
// of it in the kernel, and allocates a tenth (BenchmarkStat), which counts where
// the file is read for every process at every tick.
package pidstat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// TicksPerSecond is the unit of the CPU times in the file. It is USER_HZ, a
// constant of the kernel's interface to programs, and 100 on every architecture
// that Go runs on, whatever the kernel's own CONFIG_HZ is. Were it another, CPU
// times would be off by a constant factor on that machine; getconf CLK_TCK tells.
const TicksPerSecond = 100

// Stat is what of the file is needed. The command's name is left out: it is the
// program's to choose, and nothing here depends on it.
type Stat struct {
	PID         int
	State       byte // 'R', 'S', 'D', 'T', 'Z', ...: proc(5)
	Parent      int
	Group       int    // process group
	Session     int    // session: the PID of the process that made it
	UserTicks   uint64 // in TicksPerSecond, of all threads, dead ones included
	SystemTicks uint64
	Threads     int
	StartTicks  uint64 // since boot; with PID it is the identity of a process
	RSSPages    uint64 // resident set; before Linux 6.2 up to 64 pages a thread off, since then as host.ResidentStep says
}

// ID tells two processes apart that had the same number one after the other.
type ID struct {
	PID        int
	StartTicks uint64
}

// ID returns the identity of the process.
func (s *Stat) ID() ID { return ID{s.PID, s.StartTicks} }

// Ended reports whether the process runs no more and waits to be reaped. A
// process whose first thread has ended while others run shows Z too, and has not.
func (s *Stat) Ended() bool {
	return s.State == 'X' || s.State == 'x' || s.State == 'Z' && s.Threads <= 1
}

// Errors of this package.
var (
	// ErrGone says that the process has ended since its number was known.
	ErrGone = errors.New("the process is gone")
	// ErrFormat says that the text is not the content of /proc/PID/stat.
	ErrFormat = errors.New("not the form of /proc/PID/stat")
)

// Numbers of fields after the command's name, counted from 0; proc(5) counts
// from 1 and the first of these is its field 3.
const (
	fieldState       = 0
	fieldParent      = 1
	fieldGroup       = 2
	fieldSession     = 3
	fieldUserTicks   = 11
	fieldSystemTicks = 12
	fieldThreads     = 17
	fieldStartTicks  = 19
	fieldRSSPages    = 21
)

// Parse reads the content of /proc/PID/stat, whole: the command's name may hold
// spaces, parentheses and newlines, so it ends at the last ')'.
func Parse(text []byte) (Stat, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 1 || end < open {
		return Stat{}, ErrFormat
	}
	pid, ok := parseUint(bytes.TrimRight(text[:open], " "))
	if !ok {
		return Stat{}, ErrFormat
	}
	s := Stat{PID: int(pid)}
	rest := text[end+1:]
	for n := 0; n <= fieldRSSPages; n++ {
		rest = bytes.TrimLeft(rest, " ")
		var field []byte
		if i := bytes.IndexAny(rest, " \n"); i >= 0 {
			field, rest = rest[:i], rest[i:]
		} else {
			field, rest = rest, nil
		}
		if !s.set(n, field) {
			return Stat{}, ErrFormat
		}
	}
	return s, nil
}

// set stores one field; false when it is needed and has no sense.
func (s *Stat) set(n int, field []byte) bool {
	if len(field) == 0 {
		return false
	}
	if n == fieldState {
		s.State = field[0]
		return len(field) == 1
	}
	var to *int
	var to64 *uint64
	switch n {
	case fieldParent:
		to = &s.Parent
	case fieldGroup:
		to = &s.Group
	case fieldSession:
		to = &s.Session
	case fieldThreads:
		to = &s.Threads
	case fieldUserTicks:
		to64 = &s.UserTicks
	case fieldSystemTicks:
		to64 = &s.SystemTicks
	case fieldStartTicks:
		to64 = &s.StartTicks
	case fieldRSSPages:
		to64 = &s.RSSPages
	default:
		return true // kernels have shown odd values in fields that we do not need
	}
	v, ok := parseUint(field)
	if to64 != nil {
		*to64 = v
	} else {
		*to = int(v)
	}
	return ok
}

// parseUint reads digits. The largest value is that of a signed 64-bit number:
// the kernel prints these fields from one, and sums of some stay in a uint64.
func parseUint(digits []byte) (uint64, bool) {
	const most = 1<<63 - 1
	var v uint64
	for _, c := range digits {
		if c < '0' || c > '9' || v > (most-9)/10 {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, len(digits) > 0
}

// Proc reads a proc folder. It keeps a buffer and is not safe for concurrent use.
type Proc struct {
	root string
	buf  [4096]byte // a page, of which the kernel gives one a call; the file has some 350 bytes, and a name of 64 at most
}

// Open returns a reader of the proc folder at root, "/proc" but in tests.
func Open(root string) *Proc { return &Proc{root: root} }

// Stat reads one process. The error wraps ErrGone when there is none of that
// number, also when it ended between open and read.
func (p *Proc) Stat(pid int) (Stat, error) {
	f, err := p.OpenStat(pid)
	if err != nil {
		return Stat{}, err
	}
	defer f.Close()
	return p.ReadStat(f)
}

// PIDs appends the numbers of all processes that this user may see to pids, in
// the kernel's order (ascending).
func (p *Proc) PIDs(pids []int) ([]int, error) {
	pids, err := numbers(p.root, pids)
	if err != nil {
		return pids, fmt.Errorf("list processes: %w", err)
	}
	return pids, nil
}

// numbers appends the names in a folder that are positive numbers.
func numbers(folder string, to []int) ([]int, error) {
	d, err := os.Open(folder)
	if err != nil {
		return to, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return to, err
	}
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil && n > 0 {
			to = append(to, n)
		}
	}
	return to, nil
}
