// Package launch runs one command: it starts it in a session of its own, waits
// for its end by notification, ends it when its time is over, and ends what it
// left behind.
//
// It holds everything that touches processes. It refuses to know what the
// command is for, to judge its exit and to read its output; collect/measure does
// both. Its data is the Exit, and two files.
//
// Linux alone for now: elsewhere Run says so in Exit.Err.
package launch

import (
	"time"
)

// Command is what to run, and how.
type Command struct {
	Argv []string // program and arguments. A program without "/" is looked for in Env's PATH
	Dir  string   // working folder; "" is ours. Relative names in Argv[0] and PATH relate to it
	Env  []string // complete: nothing is added

	Stdin          string // file; "" is /dev/null
	Stdout, Stderr string // files to create (0600), relative to our folder; "" is /dev/null; both may be the same

	// OutputLimit is how many bytes of each file are kept, the first ones. The
	// command is never blocked nor killed for writing more; 0: no limit.
	OutputLimit int64

	Window    time.Duration // ended after it as a matter of course; 0: none
	Timeout   time.Duration // ended after it as a failure; 0: none
	KillAfter time.Duration // between TERM and KILL; 0: KILL follows at once

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
)

// Exit is how a run went.
type Exit struct {
	End      End
	ExitCode int    // when the main process exited by itself (Signal is empty)
	Signal   string // "KILL" without SIG, when a signal ended it, ours or another's
	Killed   bool   // it needed KILL after TERM

	// StartedAt is the moment before the process was made, so Wall contains its
	// making (some 0.5 ms): after exec has succeeded the program may already have
	// run. Wall ends when the kernel reports the end of the main process.
	StartedAt time.Time
	Wall      time.Duration

	// User and System are those of the main process and of the descendants that
	// it waited for. A descendant nobody waited for, as one in Leftover, is not in.
	User, System time.Duration

	// MaxRSS is the largest resident set in bytes as wait4 reports it. It must
	// not be published as the program's: the kernel keeps the high-water mark of
	// a process over fork and exec, so it starts at the mark of this program,
	// whatever the command is. It says no more than "at most that".
	MaxRSS int64

	// Leftover is the number of processes of the command's session or group that
	// were still alive after its main process had ended, and that we ended. After
	// an end that was ours, members of its group are given KillAfter to follow
	// and count only when they needed KILL.
	Leftover int

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
