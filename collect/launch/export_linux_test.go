package launch

import (
	"os"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// GroupPath is the folder of a launcher's control group; "": it has none.
func GroupPath(l *Launcher) string {
	if l.link.group == nil {
		return ""
	}
	return l.link.group.path
}

// StartEmulated starts a launcher that is built for another architecture.
func StartEmulated(emulator, program string) (*Launcher, error) {
	return startWith(Options{emulated: true}, func(o Options) (*link, error) { return connect(o, emulator, emulator, program) })
}

// StartFromFile starts the launcher as where memory cannot be executed.
func StartFromFile(program []byte) (*Launcher, error) {
	return startWith(Options{}, func(o Options) (*link, error) { return dialFile(o, string(program)) })
}

// StartNone is a launcher that could not start.
func StartNone(err error) (*Launcher, error) {
	return startWith(Options{}, func(Options) (*link, error) { return nil, err })
}

// Remember makes a process one that survived KILL.
func Remember(l *Launcher, p *os.Process) { l.remember(pidstat.Stat{PID: p.Pid}) }
