package measure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// A run's files were written by the code under test. They are reached through an
// os.Root, no link is followed, only regular files are opened, never in a way that
// could block, and no more is read than a bound.

// kindError says that a name stands for something else than a file.
type kindError struct{ name, kind string }

func (e *kindError) Error() string { return fmt.Sprintf("%s is a %s, not a file", e.name, e.kind) }

// kind names what is no regular file; empty for one.
func kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// openFile opens the regular file name below base. shown is its name in messages.
// A file that is not there satisfies errors.Is(err, fs.ErrNotExist).
func openFile(base, name, shown string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", shown, err)
	}
	defer root.Close()
	seen, err := lookAt(root, name, shown)
	if err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", shown, err)
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = errors.New("it was replaced while it was opened")
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("open %s: %w", shown, err)
	}
	return f, info, nil
}

// lookAt checks every step of the way to name: folders, and a file at the end.
func lookAt(root *os.Root, name, shown string) (info fs.FileInfo, err error) {
	steps := strings.Split(filepath.ToSlash(filepath.Clean(name)), "/")
	for i := range steps {
		info, err = root.Lstat(filepath.Join(steps[:i+1]...))
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", shown, err)
		}
		last := i == len(steps)-1
		if k := kind(info.Mode()); last && k != "" || !last && k != "folder" {
			if !last {
				shown = strings.Join(steps[:i+1], "/") + ", on the way to " + shown + ","
			}
			return nil, &kindError{shown, k}
		}
	}
	return info, nil
}

// readFile reads a whole regular file of at most limit bytes.
func readFile(base, name, shown string, limit int64) ([]byte, fs.FileInfo, error) {
	f, info, err := openFile(base, name, shown)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", shown, err)
	}
	if int64(len(raw)) > limit {
		return nil, nil, fmt.Errorf("read %s: it is larger than %d bytes (limits: out)", shown, limit)
	}
	return raw, info, nil
}

// file is a file that a suite names, in the root it is reached through.
type file struct {
	base, name string
	shown      string // as the suite has it
	ours       bool   // below {out}, so nothing but this run can have written it
}

// locate resolves a file of the suite: below the run's own folder where it is
// there, else below the command's folder, else by its own.
func (j *job) locate(suite string) file {
	path := j.places.text(suite)
	if !filepath.IsAbs(path) {
		path = filepath.Join(j.exec.Cwd, path)
	}
	for i, base := range []string{j.places.out, j.exec.Cwd} {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) && base != "" {
			return file{base, rel, suite, i == 0}
		}
	}
	return file{filepath.Dir(path), filepath.Base(path), suite, false}
}

// How far the stamp of a file may lag behind the clock. File systems stamp with
// the kernel's coarse clock, whose tick is 10 ms at most; some in whole seconds or
// two, or by another machine's clock.
const (
	clockTick  = 10 * time.Millisecond
	clockSlack = 2 * time.Second
)

// errStale marks a file outside {out} that was there before the run.
var errStale = errors.New("it was not written by this run")

// written refuses a file that an earlier run left: read again, its numbers would
// pass for this run's.
func (j *job) written(f file, info fs.FileInfo) error {
	if f.ours {
		return nil
	}
	if info.ModTime().Before(j.begun.Add(-clockSlack)) || j.untouched(f, info) {
		return fmt.Errorf("%s: %w", f.shown, errStale)
	}
	return nil
}

// untouched reports whether a file is as it was before the run: fast runs follow
// each other within the slack. A stamp in whole seconds says too little for that.
func (j *job) untouched(f file, info fs.FileInfo) bool {
	before, was := j.before[f]
	stamp := info.ModTime()
	return was && os.SameFile(before, info) && before.Size() == info.Size() && before.ModTime().Equal(stamp) &&
		stamp.Nanosecond() != 0 && stamp.Before(j.begun.Add(-clockTick))
}

// lookBefore notes the files outside {out} that the suite reads, as they are
// before the run.
func (j *job) lookBefore() {
	var names []string
	for _, e := range j.exec.Expect {
		names = append(names, e.File)
	}
	for _, rd := range j.exec.Read {
		names = append(names, rd.Samples, rd.Checks)
		if logOf(rd.From) == "" {
			names = append(names, rd.From)
		}
	}
	j.before = map[file]fs.FileInfo{}
	for _, name := range names {
		if name == "" {
			continue
		}
		f := j.locate(name)
		if info, err := os.Lstat(filepath.Join(f.base, f.name)); err == nil && !f.ours {
			j.before[f] = info
		}
	}
}

// read reads a file that the suite names.
func (j *job) read(suite string) ([]byte, error) {
	f := j.locate(suite)
	raw, info, err := readFile(f.base, f.name, f.shown, j.outLimit)
	if err == nil {
		err = j.written(f, info)
	}
	return raw, err
}

// tail returns the end of a log of ours, at most limit bytes, as valid UTF-8.
// Control characters stay: they are data, and whoever shows them escapes them.
func tail(base, name string, limit int64) string {
	f, info, err := openFile(base, name, name)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw := make([]byte, min(info.Size(), limit))
	n, err := f.ReadAt(raw, info.Size()-int64(len(raw)))
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	raw = raw[:n]
	if int64(n) < info.Size() { // begin with a whole character
		for i := 0; i < utf8.UTFMax && len(raw) > 0 && !utf8.RuneStart(raw[0]); i++ {
			raw = raw[1:]
		}
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}
