package durable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// MachineLockName is the file that all perfweir processes of a machine lock.
const MachineLockName = "perfweir-machine.lock"

// MachineFolderVariable names the folder of the machine's lock: for containers
// that share a machine, and for tests.
const MachineFolderVariable = "PERFWEIR_LOCK_DIR"

const (
	askEvery = 200 * time.Millisecond // between attempts at the machine's lock
	sayEvery = time.Minute            // between words about who has it

	// A file that another user is just making is unreadable for the moment between
	// open and chmod.
	openTries = 20
	openPause = 20 * time.Millisecond
)

// Claimant is who asks for the machine. What of it others may see stands in the
// lock's file.
type Claimant struct {
	User  string
	Suite string
	Since time.Time
}

// MachineFolder is where the machine's lock is: override, or the first of the
// folders in which every user may make files and nobody may remove another's. It
// does not depend on who asks, or two users would lock two files.
func MachineFolder(override string) (string, error) {
	if override != "" {
		return override, nil
	}
	return firstShared("/run/lock", "/dev/shm", "/tmp")
}

func firstShared(folders ...string) (string, error) {
	for _, dir := range folders {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() && info.Mode()&os.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0 {
			return dir, nil
		}
	}
	return "", fmt.Errorf("none of %s is a folder that all users share", strings.Join(folders, ", "))
}

// AcquireMachine locks the machine: it waits until no other perfweir of any user
// holds the lock in dir, and tells busy who does, at once and every minute. The
// kernel frees the lock of a process that ended, however it ended.
//
// A process that runs below the holder gets no lock (nil) and does not wait: it
// is measured by the holder, who waits for it.
func AcquireMachine(ctx context.Context, dir string, who Claimant, busy func(holder string, waited time.Duration)) (*Lock, error) {
	path := filepath.Join(dir, MachineLockName)
	begun, said := time.Now(), time.Time{}
	for {
		f, err := tryMachine(path)
		if err != nil {
			return nil, fmt.Errorf("lock the machine: %w", err)
		}
		if f != nil {
			writeNote(path, f, who)
			return &Lock{f}, nil
		}
		note := readNote(path)
		if above(note) {
			return nil, nil
		}
		if now := time.Now(); said.IsZero() || now.Sub(said) >= sayEvery {
			busy(note.text, now.Sub(begun))
			said = now
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the machine's lock: %w", ctx.Err())
		case <-time.After(askEvery):
		}
	}
}

// tryMachine returns the locked file, or nil when another process holds it.
func tryMachine(path string) (*os.File, error) {
	f, err := openMachine(path)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK), err == nil && !named(path, f):
		// In the second case somebody removed the file between open and lock: who
		// comes next locks another one.
		f.Close()
		return nil, nil
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// named reports whether path is still the name of f.
func named(path string, f *os.File) bool {
	here, err := f.Stat()
	there, lerr := os.Lstat(path)
	return err == nil && lerr == nil && os.SameFile(here, there)
}

// openMachine opens the lock's file, and makes it where there is none.
//
// Opening comes first, and only for reading: with fs.protected_regular the kernel
// refuses O_CREAT on another user's file in a shared folder, and a reader's lock
// is as good as a writer's. NONBLOCK keeps a FIFO in its place from hanging us.
func openMachine(path string) (*os.File, error) {
	for try := 1; ; try++ {
		f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if errors.Is(err, fs.ErrNotExist) {
			f, err = createMachine(path)
		}
		switch {
		case err == nil:
			return regular(path, f)
		case errors.Is(err, unix.ELOOP):
			return nil, fmt.Errorf("%s is a symbolic link: whoever made it may remove it", path)
		case try < openTries && (errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrPermission)):
			time.Sleep(openPause)
		default:
			return nil, err
		}
	}
}

// createMachine makes the file for all users: the mode is set on the open file,
// since the umask has its say when it is made.
func createMachine(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o666); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// regular refuses what is no file of its own: a second name could be that of a
// file which somebody wants us to write into.
func regular(path string, f *os.File) (*os.File, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", path, err)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = fmt.Errorf("%s is no regular file: whoever made it may remove it", path)
	case st.Nlink > 1:
		err = fmt.Errorf("%s has another name beside this one: whoever made it may remove it", path)
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// note is what the holder says about itself. Another user may have written it.
type note struct {
	text  string // one line for people
	pid   int    // 0: not said
	space string // PID namespace in which pid is meant
}

// longestNote is how much of the lock's file is read and shown, in bytes.
const longestNote = 300

// writeNote says who holds the lock. A file that another user made may not be
// writable for us (its folder says so); then it says nothing rather than who
// held it last, as far as we may.
func writeNote(path string, locked *os.File, who Claimant) {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return // the lock is held all the same; the note is for people
	}
	defer f.Close()
	if a, err := f.Stat(); err != nil || !sameAs(a, locked) {
		return
	}
	text := fmt.Sprintf("process %d of %s\nuser %s, suite %s, since %s\n", os.Getpid(), pidSpace(), who.User, who.Suite, who.Since.UTC().Format(time.RFC3339))
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(text), 0)
	}
}

func sameAs(a os.FileInfo, f *os.File) bool {
	b, err := f.Stat()
	return err == nil && os.SameFile(a, b)
}

func readNote(path string) note {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return note{text: "an unknown process"}
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, longestNote)) // half of it is still a note
	return parseNote(string(b))
}

// parseNote reads what writeNote wrote, or whatever else is there.
func parseNote(raw string) note {
	first, rest, _ := strings.Cut(raw, "\n")
	var n note
	who := ""
	if process, ok := strings.CutPrefix(first, "process "); ok {
		number, space, _ := strings.Cut(process, " of ")
		if pid, err := strconv.Atoi(number); err == nil && pid > 0 {
			n.pid, n.space = pid, space
			who = fmt.Sprintf("process %d", pid)
		}
	}
	n.text = strings.TrimPrefix(who+", "+oneLine(rest), ", ")
	n.text = strings.TrimSuffix(n.text, ", ")
	if n.text == "" {
		n.text = "an unknown process"
	}
	return n
}

// oneLine keeps what others wrote from driving a terminal.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	return strings.Join(strings.Fields(s), " ")
}

// pidSpace names the PID namespace that our numbers belong to; "here" where
// there are none.
func pidSpace() string {
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "here"
	}
	return space
}

// above reports whether the holder is a process that we run below. A holder of
// another PID namespace never is: its number means nothing here.
func above(n note) bool {
	if n.pid <= 1 || n.space != pidSpace() {
		return false
	}
	for pid, steps := os.Getppid(), 0; pid > 1 && steps < 1000; steps++ {
		if pid == n.pid {
			return true
		}
		pid = parentOf(pid)
	}
	return false
}

// parentOf is the parent of a process, 0 when that is not known.
func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name may hold anything; it ends at the last parenthesis.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

// MachineHolder says who holds the machine's lock in dir, "" when nobody does. It
// makes no file.
func MachineHolder(dir string) (string, error) {
	path := filepath.Join(dir, MachineLockName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return "", fmt.Errorf("the machine's lock cannot be made in %s: %w", dir, err)
		}
		return "", nil
	}
	f, err := tryMachine(path)
	if err != nil {
		return "", fmt.Errorf("look at the machine's lock: %w", err)
	}
	if f == nil {
		return readNote(path).text, nil
	}
	return "", f.Close()
}
