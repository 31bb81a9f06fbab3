package linuxproc

import (
	"errors"
	"syscall"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// mostFiles is how many files one run keeps open: two for each of 256 processes.
// Beyond it files are opened for each reading, which is slower and as right. Half
// of the smallest usual limit (ulimit -n) is left to the rest of the program.
const mostFiles = 512

// files reads the files of members and keeps them open, up to a limit.
type files struct {
	proc       *pidstat.Proc
	kept, most int
}

// read reads the state of a process.
func (fs *files) read(m *member) (pidstat.Stat, error) {
	if m.stat != nil {
		return fs.proc.ReadStat(m.stat)
	}
	f, err := fs.proc.OpenStat(m.PID)
	if err != nil {
		return pidstat.Stat{}, fs.opened(err)
	}
	if !fs.keep(&m.stat, f) {
		defer f.Close()
	}
	return fs.proc.ReadStat(f)
}

// readChildren appends the children of one thread of a process. The list of the
// first thread is kept open, which is the only one of most processes.
func (fs *files) readChildren(m *member, tid int, pids []int) ([]int, error) {
	if tid == m.PID && m.children != nil {
		return fs.proc.ReadChildren(m.children, pids)
	}
	f, err := fs.proc.OpenChildren(m.PID, tid)
	if err != nil {
		return pids, fs.opened(err)
	}
	if tid != m.PID || !fs.keep(&m.children, f) {
		defer f.Close()
	}
	return fs.proc.ReadChildren(f, pids)
}

// keep puts an open file in its place, if there is room for one more.
func (fs *files) keep(place **pidstat.File, f *pidstat.File) bool {
	if fs.kept >= fs.most {
		return false
	}
	*place = f
	fs.kept++
	return true
}

// opened looks at why a file did not open: where the program has too many, no
// more are kept from now on.
func (fs *files) opened(err error) error {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		fs.most = 0
	}
	return err
}

// close closes what is kept of a process.
func (fs *files) close(m *member) {
	for _, place := range []**pidstat.File{&m.stat, &m.children} {
		if *place != nil {
			(*place).Close()
			*place = nil
			fs.kept--
		}
	}
}
