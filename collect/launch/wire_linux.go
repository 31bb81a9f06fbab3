package launch

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wireVersion is that of the messages; resident/src/launcher.c has the same.
const wireVersion = 1

// What the launcher is asked for.
const (
	opRun    = 1
	opSignal = 2
	opFinish = 3
)

// request is one message to the launcher. With opRun four files come along: the
// specification, then the command's first three.
type request struct {
	Op     uint32
	Signal uint32
	Size   uint64 // of the specification
}

// What the launcher tells.
const (
	tellHello    = 1
	tellStarted  = 2 // or why not
	tellEnded    = 3 // the main process has ended; final when nothing is left
	tellNoneLeft = 4 // final
	tellFinished = 5 // the answer to opFinish; final
)

// steps of a start, as report.Step counts them.
func stepName(step uint32) string {
	names := []string{"start", "make a pipe", "make a process", "make a session", "give it its files",
		"read what to start", "enter its folder", "execute it", "understand the request", "become the sub-reaper"}
	if int(step) < len(names) {
		return names[step]
	}
	return fmt.Sprintf("step %d", step)
}

// stepFolder and stepExec are the steps that depend on what is to be started.
const (
	stepFolder = 6
	stepExec   = 7
)

type usage struct{ User, System, RSS int64 } // us, us, KiB

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// report is one message from the launcher. Sums are over the run.
type report struct {
	Kind, PID  uint32
	Step, Err  uint32 // Err 0: it was started
	Status     uint32 // of the main process, as wait4 has it
	Left       uint32 // 1: the launcher has children
	Reaped     uint32
	Version    uint32
	Start, End int64 // ns, CLOCK_MONOTONIC
	Main, All  usage // of the main process; of all that were reaped, it included
	Own        int64 // us of CPU of the launcher since it began
	Floor      int64 // KiB
}

const reportSize = int(unsafe.Sizeof(report{}))

func (r *report) decode(b []byte) error {
	if len(b) != reportSize {
		return fmt.Errorf("the launcher sent %d bytes, want %d", len(b), reportSize)
	}
	_, err := binary.Decode(b, binary.LittleEndian, r)
	return err
}

// send writes one request and hands the files over.
func send(conn *os.File, q request, files ...*os.File) error {
	text, err := binary.Append(nil, binary.LittleEndian, q)
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var sent error
	err = raw.Write(func(fd uintptr) bool {
		sent = unix.Sendmsg(int(fd), text, rights, nil, unix.MSG_NOSIGNAL)
		return sent != unix.EAGAIN && sent != unix.EINTR
	})
	if err != nil {
		return err
	}
	return sent
}

// specification is what a child of the launcher maps to become the command:
// argc, envc, the offsets of program and folder (0: stay), the offsets of argv and
// 0, those of the environment and 0, and the strings.
func specification(path, dir string, argv, env []string) ([]byte, error) {
	all := slices.Concat(argv, env, []string{path, dir})
	if slices.ContainsFunc(all, func(s string) bool { return strings.IndexByte(s, 0) >= 0 }) {
		return nil, syscall.EINVAL
	}
	head := 8 * (4 + len(argv) + 1 + len(env) + 1)
	var words []uint64
	var text []byte
	put := func(s string) uint64 {
		at := uint64(head + len(text))
		text = append(append(text, s...), 0)
		return at
	}
	words = append(words, uint64(len(argv)), uint64(len(env)), put(path), 0)
	if dir != "" {
		words[3] = put(dir)
	}
	for _, list := range [][]string{argv, env} {
		for _, s := range list {
			words = append(words, put(s))
		}
		words = append(words, 0)
	}
	out, err := binary.Append(make([]byte, 0, head+len(text)), binary.LittleEndian, words)
	return append(out, text...), err
}

// memoryFile makes a file without a name: in memory, else on disk.
func memoryFile(name string, flags int, content []byte) (*os.File, error) {
	var f *os.File
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|flags)
	if err == nil {
		f = os.NewFile(uintptr(fd), name)
	} else {
		if f, err = os.CreateTemp("", name+"-*"); err != nil {
			return nil, err
		}
		if err = os.Remove(f.Name()); err != nil {
			f.Close()
			return nil, err
		}
	}
	if _, err := f.Write(content); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
