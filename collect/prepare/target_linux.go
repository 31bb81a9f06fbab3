package prepare

import (
	"errors"

	"golang.org/x/sys/unix"
)

// pidfd names a process for as long as it is open, whatever becomes of its number.
type pidfd int

// openProcess opens a process. Where the kernel has no pidfd (before 5.3, or a
// sandbox that forbids it) signals go to the number: between the look at it and
// the signal there is a moment in which it could name another process.
func openProcess(pid int) (target, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case err == nil:
		return pidfd(fd), nil
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return number(pid), nil
	}
	return nil, err
}

func (fd pidfd) signal(kill bool) error {
	return send(kill, func(s unix.Signal) error { return unix.PidfdSendSignal(int(fd), s, nil, 0) })
}

func (fd pidfd) close() { _ = unix.Close(int(fd)) } // nothing was written to it

type number int

func (pid number) signal(kill bool) error {
	return send(kill, func(s unix.Signal) error { return unix.Kill(int(pid), s) })
}

func (number) close() {}

// send sends KILL, or TERM and then CONT: a stopped process does not see TERM.
func send(kill bool, to func(unix.Signal) error) error {
	if kill {
		return to(unix.SIGKILL)
	}
	return errors.Join(to(unix.SIGTERM), to(unix.SIGCONT))
}
