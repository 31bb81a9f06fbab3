package launch

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// The command writes straight to its files. A pipe with a copier in between
// would cost a copy on the machine that is being measured, would block the
// command when the copier is late, and would stay open as long as any process
// it left behind. RLIMIT_FSIZE would kill it, and for its other files too.
//
// So the limit is kept from outside: while the command runs, the file is looked
// at a few times a second, and the part beyond the limit is given back to the
// disk by punching a hole. The file keeps its size, so what was written is known
// to the byte; at the end it is cut to the limit. Between two looks a command can
// use as much disk as it can write in that time.
const (
	trimEvery = 100 * time.Millisecond
	trimAbove = 1 << 20 // B; smaller excess waits for the end
)

// output is one file that the command writes to. The zero value is /dev/null.
type output struct {
	file    *os.File
	limit   int64
	trimmed int64 // size up to which a hole was punched
	lost    int64 // bytes that were cut away where holes are not possible
}

// createOutput makes the file. It is opened for appending, because then a file
// that was cut goes on at its end and not at the writer's old place, and because
// stdout and stderr may be the same file. A link in its place is not followed
// and a pipe is not opened: an earlier run may have left either.
func createOutput(path string, limit int64) (*output, error) {
	if path == "" {
		return &output{}, nil
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("create the output file %q: something else is in its place", path)
	}
	const flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND | syscall.O_NOFOLLOW
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the output file: %w", err)
	}
	return &output{file: f, limit: limit}, nil
}

// trim gives back the disk that the file uses beyond the limit.
func (o *output) trim() {
	if o.file == nil || o.limit <= 0 {
		return
	}
	size, err := o.size()
	if err != nil || size < max(o.limit, o.trimmed)+trimAbove {
		return
	}
	const punch = 0x02 | 0x01 // FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
	fd := int(o.file.Fd())
	if err := syscall.Fallocate(fd, punch, o.limit, size-o.limit); err == nil {
		o.trimmed = size
		return
	}
	// No holes on this file system: cut. What the command writes between the two
	// calls is lost from the count, so Exit.StdoutBytes may be a little low.
	if o.file.Truncate(o.limit) == nil {
		o.lost += size - o.limit
	}
}

// settle cuts the file to the limit, closes it and returns what was written.
func (o *output) settle() (written int64, truncated bool, err error) {
	if o.file == nil {
		return 0, false, nil
	}
	size, err := o.size()
	written = size + o.lost
	if err == nil && o.limit > 0 && size > o.limit {
		err = o.file.Truncate(o.limit)
	}
	if err = errors.Join(err, o.file.Close()); err != nil {
		err = fmt.Errorf("keep the output %q: %w", o.file.Name(), err)
	}
	return written, o.limit > 0 && written > o.limit, err
}

func (o *output) size() (int64, error) {
	info, err := o.file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// files are the three files of a command.
type files struct {
	stdin          *os.File
	null           *os.File
	stdout, stderr *output
	shared         bool // stderr goes to stdout's file
}

func openFiles(c *Command) (*files, error) {
	f := &files{stdout: &output{}, stderr: &output{}}
	if err := f.open(c); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *files) open(c *Command) (err error) {
	if f.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	f.stdin = f.null
	if c.Stdin != "" {
		if f.stdin, err = openInput(c.Stdin); err != nil {
			return err
		}
	}
	if f.stdout, err = createOutput(c.Stdout, c.OutputLimit); err != nil {
		return err
	}
	if f.shared = c.Stderr != "" && c.Stderr == c.Stdout; f.shared {
		return nil
	}
	f.stderr, err = createOutput(c.Stderr, c.OutputLimit)
	return err
}

// openInput refuses a named pipe and a folder: opening the one would wait for a
// writer, for ever, and reading the other fails in a way that looks like the
// command's own fault.
func openInput(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open stdin: %w", err)
	}
	if m := info.Mode(); m.IsDir() || m&(os.ModeNamedPipe|os.ModeSocket) != 0 {
		return nil, fmt.Errorf("open stdin: %q is not a file that can be read", path)
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open stdin: %w", err)
	}
	return in, nil
}

// list returns the files in the order of their numbers in the command.
func (f *files) list() []*os.File {
	or := func(o *output) *os.File {
		if o.file != nil {
			return o.file
		}
		return f.null
	}
	list := []*os.File{f.stdin, or(f.stdout), or(f.stderr)}
	if f.shared {
		list[2] = list[1]
	}
	return list
}

// keep keeps the limit until the returned function is called. It begins after the
// first while: most commands are over by then.
func (f *files) keep() (end func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	late := time.AfterFunc(trimEvery, func() {
		defer close(done)
		f.watch(quit)
	})
	return func() {
		if close(quit); !late.Stop() {
			<-done
		}
	}
}

func (f *files) watch(quit <-chan struct{}) {
	ticker := time.NewTicker(trimEvery)
	defer ticker.Stop()
	for {
		f.stdout.trim()
		f.stderr.trim()
		select {
		case <-ticker.C:
		case <-quit:
			return
		}
	}
}

// settle closes all files and writes into the exit what became of the output.
func (f *files) settle(x *Exit) {
	var outErr, errErr error
	var outCut, errCut bool
	x.StdoutBytes, outCut, outErr = f.stdout.settle()
	x.StderrBytes, errCut, errErr = f.stderr.settle()
	x.Truncated = outCut || errCut
	x.Err = errors.Join(x.Err, outErr, errErr)
	f.stdout, f.stderr = nil, nil
	f.close()
}

// close closes what is open.
func (f *files) close() {
	if f.stdin != nil && f.stdin != f.null {
		f.stdin.Close()
	}
	if f.null != nil {
		f.null.Close()
	}
	for _, o := range []*output{f.stdout, f.stderr} {
		if o != nil && o.file != nil {
			o.file.Close()
		}
	}
}
