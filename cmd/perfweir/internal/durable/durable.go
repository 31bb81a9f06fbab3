// Package durable keeps what must survive: files that are written whole or not
// at all, the lock that lets one process write into a folder, and the layout of
// an output folder. It knows no document.
package durable

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile writes a file whole: to a temporary name in the same folder, synced,
// renamed, and the folder synced, so that after a crash at any moment there is
// the old file or the new one. Errors name the file itself; a temporary file
// that could not be finished is removed.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+name+".*.tmp")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()           // closing twice is harmless here
			os.Remove(f.Name()) // nothing was promised about it
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	b := bufio.NewWriterSize(f, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// Open opens a file that a command may have put in the place of ours. What is no
// regular file is refused: a FIFO would be waited for, a device never end.
func Open(path string) (*os.File, error) {
	return openRegular(path, os.O_RDONLY)
}

// Append opens a file to add to, as Open does; one that is not there is made.
func Append(path string) (*os.File, error) {
	return openRegular(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND)
}

func openRegular(path string, flag int) (*os.File, error) {
	irregular := fmt.Errorf("%s is no regular file: whoever made it may remove it", path)
	f, err := os.OpenFile(path, flag|unix.O_NONBLOCK, 0o644)
	if errors.Is(err, unix.ENXIO) { // a pipe that nobody reads
		return nil, irregular
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = irregular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// syncFolder makes a rename last. File systems that cannot sync a folder say so
// with EINVAL, and there is nothing more to do on them.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}
