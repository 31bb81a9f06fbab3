package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// LockName is the lock's file in a folder. It stays when the lock is released:
// removing it would let two processes hold two different files.
const LockName = ".perfweir.lock"

// ErrLocked says that another process writes into the folder.
var ErrLocked = errors.New("another perfweir is writing there")

// Lock is the right to write into a folder. The kernel releases it when the
// process ends, however it ends.
type Lock struct{ f *os.File }

// Acquire locks dir, or says who holds it.
func Acquire(dir string, now time.Time) (*Lock, error) {
	path := filepath.Join(dir, LockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if err := flock(f); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w%s", dir, ErrLocked, holder(f))
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	// Who holds it is for people; that it is held is the kernel's.
	note := fmt.Sprintf("process %d since %s\n", os.Getpid(), now.UTC().Format(time.RFC3339))
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(note), 0)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
	return &Lock{f}, nil
}

// lockPatience is how long a lock whose owner is dead, or gave it back, is tried
// again: what a killed runner had started is ended within a second, and holds it until then.
const (
	lockPatience = 5 * time.Second
	lockPause    = 20 * time.Millisecond
)

func flock(f *os.File) error {
	for waited := time.Duration(0); ; waited += lockPause {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || waited >= lockPatience || ownerAlive(f) {
			return err
		}
		time.Sleep(lockPause)
	}
}

// released is the note of a lock that was given back. It may be held for a moment
// more all the same, by a child that was forked meanwhile and not yet executed.
const released = "released\n"

// ownerAlive reports whether the process that the lock's note names is there; one
// that cannot be told is taken for alive.
func ownerAlive(f *os.File) bool {
	var pid int
	note := make([]byte, 100)
	n, _ := f.ReadAt(note, 0)
	if string(note[:n]) == released {
		return false
	}
	if _, err := fmt.Sscanf(string(note[:n]), "process %d since", &pid); err != nil || pid <= 0 {
		return true
	}
	return !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

func holder(f *os.File) string {
	b, err := io.ReadAll(io.LimitReader(f, 200))
	if text := strings.TrimSpace(string(b)); err == nil && text != "" {
		return ": " + text
	}
	return ""
}

// File is the open file that the lock is on. A process that gets it holds the lock
// too: the kernel keeps it until the last one has closed it.
func (l *Lock) File() *os.File { return l.f }

// Release gives the lock back.
func (l *Lock) Release() error {
	err := l.f.Truncate(0)
	if err == nil {
		_, err = l.f.WriteAt([]byte(released), 0)
	}
	return errors.Join(err, l.f.Close())
}
