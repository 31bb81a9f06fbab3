// Package launch runs one command: it starts it in a session of its own, waits
// for its end by notification, ends it when its time is over, and ends what it
// left behind.
//
// It holds everything that touches processes. It refuses to know what the
// command is for, to judge its exit and to read its output; collect/measure does
// both. Its data is the Exit, and two files.
//
// Commands are started by the launcher, a resident program of a few KiB (package
// resident), so that a command's peak memory is its own and every descendant is
// counted. Where that cannot run, this program starts them itself, and the Exit
// says what it therefore does not know.
//
// Linux alone for now: elsewhere Run says so in Exit.Err.
package launch

import (
	"os"
	"time"
)

// MarkVariable is a variable that the launcher adds to a command's environment.
// Its value is random, the same for all commands of a session. What a command
// started and what lost every parent, because the launcher itself was killed, is
// found by it.
const MarkVariable = "PERFWEIR_RUN"

// Options of a session's launcher.
type Options struct {
	// Keep is a file that stays open until everything that was started has ended,
	// also when this program is killed: a lock that is held on it (flock) lasts as
	// long. nil: none.
	Keep *os.File
	// NoGroup leaves the control group out that counts what nobody reaps.
	NoGroup bool

	emulated bool // see link
}

// Command is what to run, and how.
type Command struct {
	Argv []string // program and arguments. A program without "/" is looked for in Env's PATH
	Dir  string   // working folder; "" is ours. Relative names in Argv[0] and PATH relate to it
	Env  []string // complete, but for MarkVariable

	Stdin          string // file; "" is /dev/null
	Stdout, Stderr string // files to create (0600), relative to our folder; "" is /dev/null; both may be the same

	// OutputLimit is how many bytes of each file are kept, the first ones. The
	// command is never blocked nor killed for writing more; 0: no limit.
	OutputLimit int64

	Window    time.Duration // ended after it as a matter of course; 0: none
	Timeout   time.Duration // ended after it as a failure; 0: none
	KillAfter time.Duration // between TERM and KILL; 0: KILL follows at once

	// Linger is how long descendants that are alive when the command has ended by
	// itself may go on before they are ended. Their CPU time counts.
	Linger time.Duration

	// Started is called once the command runs, before Run waits for it; may be
	// nil. It must not block for long: a window that ends meanwhile ends late.
	Started func(pid int)
}

// End is why a run is over.
type End string

// Ends of a run.
const (
	EndExited      End = "exited"      // by itself: with an exit code, or by a signal that is not ours
	EndWindow      End = "window"      // by us, after the window
	EndTimeout     End = "timeout"     // by us, after the timeout
	EndInterrupted End = "interrupted" // by us, because the context was cancelled
	EndNotStarted  End = "not_started" // it never ran: Err says why
	EndLost        End = "lost"        // the launcher was killed under it: how it ended is not known
)

// Process names a process for a person.
type Process struct {
	PID  int
	Name string // as the kernel has it (comm): the program's to choose
}

// Exit is how a run went.
type Exit struct {
	End      End
	ExitCode int    // when the main process exited by itself (Signal is empty)
	Signal   string // "KILL" without SIG, when a signal ended it, ours or another's
	Killed   bool   // it needed KILL after TERM

	// StartedAt is the moment before the process was made, so Wall contains its
	// making (some 0.3 ms): after exec has succeeded the program may already have
	// run. Wall ends when the kernel reports the end of the main process. The
	// launcher reads both on its own clock, so that no delay of ours is in it.
	StartedAt time.Time
	Wall      time.Duration

	// User and System are those of the main process and, with the launcher, of
	// every descendant that was reaped until the run was over. Without it, of the
	// main process and the descendants that it waited for.
	User, System time.Duration

	// CPU is User and System, or what the control group counted where that is more:
	// a process whose parent ignores SIGCHLD is reaped by the kernel and by nobody
	// else, and its usage is told to nobody. CPUFromGroup says that it is so, and
	// then User, System and MaxRSS lack those processes.
	CPU          time.Duration
	CPUFromGroup bool
	Grouped      bool // a control group was there: CPU is complete

	// MaxRSS is the largest resident set of one process in bytes, of all that were
	// reaped. The kernel keeps the high-water mark of a process over fork and exec,
	// so it starts at the mark of whoever started the command, which is Floor: a
	// value that is not above Floor means "at most Floor". With Floor 0 the command
	// was started by this program, whose mark is not known, and MaxRSS says no more
	// than "at most that"; NoLauncher says why. Since Linux 6.2 the kernel itself
	// may lack up to some 32 pages for each CPU that a process ran on.
	MaxRSS     int64
	Floor      int64
	NoLauncher string

	// Leftover is the number of processes of the command that were still alive
	// after its main process had ended (and Linger was over), and that we ended.
	// After an end that was ours, members of its group are given KillAfter to
	// follow and count only when they needed KILL.
	Leftover int
	// Survivors are those of them that did not end by KILL. Beside are survivors of
	// earlier runs that were alive when this one began: its numbers hold theirs.
	Survivors, Beside []Process

	StdoutBytes, StderrBytes int64 // written, also beyond the limit
	Truncated                bool  // one of the files holds less than was written

	// Err is why it did not start, or why waiting for it, clearing up after it or
	// keeping its output failed. With an End other than not_started the command ran.
	Err error
}

// limit returns when the run is ended by us, and as what; 0 when it is not. The
// window wins where both are the same.
func (c *Command) limit() (after time.Duration, as End) {
	if c.Window > 0 && (c.Timeout <= 0 || c.Window <= c.Timeout) {
		return c.Window, EndWindow
	}
	return max(c.Timeout, 0), EndTimeout
}
