// Package prepare brings the machine into the state in which a run starts: it
// ends stale processes and lets the machine cool down. What is set before a run
// and undone after it belongs here too.
//
// It holds what touches the machine as a whole. It refuses to start anything, to
// know what is measured, and to fail a run: what did not work comes back as
// words, which measure puts among the run's warnings.
package prepare

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// Times of ending a process.
const (
	// termGrace is what a stale process has between TERM and KILL: enough to write
	// its files, and the next run waits for it.
	termGrace = 2 * time.Second
	// dieWithin is how long a process may take to end by KILL before it is given
	// up: one that waits for a device does not end before the device answers.
	dieWithin = 2 * time.Second

	lookFirst = 5 * time.Millisecond // between looks at the processes, doubled each time
	lookLast  = 100 * time.Millisecond
)

// Machine is the machine during one session: what it was like when the session
// began, and what has been told about it. It serves one run at a time.
type Machine struct {
	root string
	self int // our process
	uid  int // our user

	start Temperature // of the session
	told  map[string]bool
	open  func(pid int) (target, error)
}

// target is one process that signals can be sent to; it names the same process
// for as long as it is open.
type target interface {
	signal(kill bool) error // KILL, else TERM
	close()
}

// New looks at the machine whose files are under root, "/" but in tests, at the
// beginning of a session. The temperature of this moment is what later runs are
// held against.
func New(root string) *Machine {
	m := &Machine{root: root, told: map[string]bool{}, open: openProcess}
	m.self, m.uid = identity()
	if filepath.Clean(root) != "/" {
		// The numbers under another root are not those of this kernel.
		m.open = func(pid int) (target, error) {
			return nil, fmt.Errorf("process %d is not of this machine", pid)
		}
	}
	m.start = ReadTemperature(root)
	return m
}

// once reports whether something has not been told in this session, and notes
// that it has.
func (m *Machine) once(what string) bool {
	if m.told[what] {
		return false
	}
	m.told[what] = true
	return true
}

// process is one entry of the process table.
type process struct {
	pidstat.Stat
	name   string // comm: at most 15 bytes, and the program's to choose
	kernel bool   // a thread of the kernel
}

// shown is a name as it may be printed.
func shown(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
}

func celsius(v float64) string {
	if math.IsNaN(v) {
		return "unknown"
	}
	return fmt.Sprintf("%.1f °C", v)
}
