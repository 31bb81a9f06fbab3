package control

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// File is the program where commands are started from: in memory, and sealed, so
// that no command that is measured can put another one in its place.
type File struct{ f *os.File }

// Open makes the file. The error says why the program cannot be run here.
func Open() (*File, error) {
	if program == "" {
		return nil, ErrNone
	}
	const name = "perfweir-control"
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.WriteString(program); err != nil {
		f.Close()
		return nil, fmt.Errorf("write it into memory: %w", err)
	}
	const seals = unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("seal it: %w", err)
	}
	return &File{f}, nil
}

// Command is how it is started: it is its own standard input, which every command
// has open under the same name. By our number it could not be found, since nobody
// looks into this process.
func (c *File) Command() (argv []string, stdin string) {
	return []string{"/proc/self/fd/0"}, fmt.Sprintf("/proc/self/fd/%d", c.f.Fd())
}

// Close gives the memory back.
func (c *File) Close() error { return c.f.Close() }
