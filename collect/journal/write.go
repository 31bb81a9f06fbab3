package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// syncEvery is how far apart syncs are at least while runs are short: each one
// waits for the disk, which the next run might measure.
const syncEvery = time.Second

// file is what a Writer needs of the journal's file.
type file interface {
	io.Writer
	Truncate(size int64) error
	Close() error
	sync() error
}

// Writer appends records. Each is one write, and is with the kernel when Append
// returns: a killed process loses none. What a power cut may take is what was
// appended since the last sync; there is one at most once a second, in Append,
// and one in Close.
//
// After an error of the disk the writer stays broken and every Append returns
// that error; the file is cut back to its last whole record where that works. A
// Writer is for one goroutine.
type Writer struct {
	f      file
	path   string
	size   int64 // of the whole records
	synced time.Time
	now    func() time.Time
	buf    bytes.Buffer
	err    error
}

// Create starts the journal of a plan. A journal that is there already is never
// overwritten.
func Create(path, planDigest string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("journal %s is there already: continue it, or start in another folder", path)
	}
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	w := newWriter(disk{f}, path, 0)
	err = w.Append(Record{Open: &Opened{Schema: Schema, Plan: planDigest}})
	if err == nil {
		err = w.sync()
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		os.Remove(path) // it holds no run
		return nil, err
	}
	return w, nil
}

// ErrEmpty says that a journal has no whole record: there is nothing to resume.
var ErrEmpty = errors.New("it has no whole record")

// Recovered is what an earlier process left in a journal.
type Recovered struct {
	Records []Record
	Dropped int64 // bytes of an unfinished record that were cut off
}

// Open continues a journal after its last whole record. What follows that record
// is cut off, for good: see Read for what that is.
func Open(path string) (*Writer, *Recovered, error) {
	// What was measured may have put a pipe there, which would be waited for.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	w, rec, err := resume(f, path)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return w, rec, nil
}

func resume(f *os.File, path string) (*Writer, *Recovered, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("it is no regular file: whoever made it may remove it")
	}
	records, dropped, err := Read(f)
	if err != nil {
		return nil, nil, err
	}
	if len(records) == 0 {
		return nil, nil, ErrEmpty
	}
	size := info.Size() - dropped
	if dropped > 0 {
		if err := f.Truncate(size); err != nil {
			return nil, nil, fmt.Errorf("cut off an unfinished record: %w", cause(err))
		}
	}
	w := newWriter(disk{f}, path, size)
	return w, &Recovered{records, dropped}, w.sync()
}

func newWriter(f file, path string, size int64) *Writer {
	return &Writer{f: f, path: path, size: size, now: time.Now}
}

// Append writes a record. One that breaks a rule (an infinite value, an absent
// one without a reason) is refused and leaves the journal as it was.
func (w *Writer) Append(rec Record) error {
	if w.err != nil {
		return w.err
	}
	w.buf.Reset()
	if err := encode(&w.buf, &rec); err != nil {
		return fmt.Errorf("append to journal %s: %w", w.path, err)
	}
	if w.buf.Len() > maxLine {
		return fmt.Errorf("append to journal %s: a record of %d bytes, and its reader takes %d", w.path, w.buf.Len(), maxLine)
	}
	n, err := w.f.Write(w.buf.Bytes())
	if err == nil && n < w.buf.Len() {
		err = io.ErrShortWrite
	}
	if err != nil {
		return w.fail("append to", err)
	}
	w.size += int64(n)
	if w.now().Sub(w.synced) < syncEvery {
		return nil
	}
	return w.sync()
}

func (w *Writer) sync() error {
	if err := w.f.sync(); err != nil {
		// What the kernel could not write it may have dropped: a second sync
		// that works says nothing about it.
		return w.fail("sync", err)
	}
	w.synced = w.now()
	return nil
}

// fail breaks the writer for good and cuts off a record that was half written.
func (w *Writer) fail(doing string, err error) error {
	w.err = fmt.Errorf("%s journal %s: %w: the runs before are in it", doing, w.path, cause(err))
	if err := w.f.Truncate(w.size); err != nil {
		w.err = fmt.Errorf("%w (the unfinished record stays, and is cut off when the journal is read: %w)", w.err, cause(err))
	}
	return w.err
}

// Close syncs and closes the journal. It returns the error that broke the
// writer, if one did.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = w.sync()
	}
	if err := w.f.Close(); err != nil && w.err == nil {
		w.err = fmt.Errorf("close journal %s: %w", w.path, cause(err))
	}
	err := w.err
	if w.err == nil {
		w.err = fmt.Errorf("journal %s is closed", w.path)
	}
	return err
}

// cause is what went wrong without the path, which the message has already.
func cause(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// syncFolder makes the name of a new file last. A file system that cannot do
// that says so with EINVAL.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open folder of the journal: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("sync folder of the journal: %w", err)
	}
	return nil
}

// disk is a file whose data alone is synced: its times are of no use.
type disk struct{ *os.File }
