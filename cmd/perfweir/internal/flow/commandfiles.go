package flow

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// commandFiles are the files through which a step talks to GitHub's runner. Code
// under test does not get their names, but it may find them; what it wrote there
// would set variables, PATH or outputs of the steps to come, some of which hold a
// token.
type commandFiles []commandFile

type commandFile struct {
	variable, path string
	was            []byte
}

// commandFileBytes bounds what is kept of one file; the runner makes them empty.
const commandFileBytes = 1 << 20

// watchCommandFiles remembers what is in the step's command files.
func watchCommandFiles(environ []string) (commandFiles, error) {
	var files commandFiles
	for _, name := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"} {
		path := value(environ, name)
		if path == "" {
			continue
		}
		was, err := readCommandFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files = append(files, commandFile{name, path, was})
	}
	return files, nil
}

// readCommandFile reads a regular file without following a link or waiting for a
// FIFO's writer.
func readCommandFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file", path))
	}
	data, err := io.ReadAll(io.LimitReader(f, commandFileBytes+1))
	if err == nil && len(data) > commandFileBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, commandFileBytes)
	}
	return data, err
}

// restore puts every file back to what it was, and names those that somebody else
// had written.
func (c commandFiles) restore() (written []string, err error) {
	for _, f := range c {
		now, rerr := readCommandFile(f.path)
		if rerr == nil && bytes.Equal(now, f.was) || errors.Is(rerr, fs.ErrNotExist) && len(f.was) == 0 {
			continue
		}
		written = append(written, f.variable)
		// Removed first: it may be a link to another file by now, or have a second name.
		rerr = os.RemoveAll(f.path)
		if rerr == nil {
			rerr = os.WriteFile(f.path, f.was, 0o644)
		}
		if rerr != nil {
			err = errors.Join(err, fmt.Errorf("put %s back to what it was: %w", f.variable, rerr))
		}
	}
	return written, err
}
