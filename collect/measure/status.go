package measure

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/result"
)

// settle makes the status of a command that was launched, with what is worth
// telling about it.
func (j *job) settle() {
	d := &j.out.Detail
	j.out.Status, d.Reason = j.status()
	switch j.out.Status {
	case result.Timeout:
		d.Timeout, d.TimeoutBasis = j.run.Timeout.Seconds(), j.run.TimeoutBasis
		d.Signal = j.exit.Signal
		d.Ended = j.exit.Wall.Seconds()
	case result.Interrupted:
		d.Ended = j.exit.Wall.Seconds()
	case result.Signal:
		d.Signal = j.exit.Signal
	case result.Failed:
		if code := j.exit.ExitCode; j.exit.End != launch.EndLost {
			d.ExitCode = &code
		}
	}
	j.tellProcesses()
	if j.out.Status.OK() {
		j.expectations()
	}
	if !j.out.Status.OK() {
		d.StderrTail = tail(j.run.Folder, StderrLog, stderrTail)
	}
}

// status is how the command ended, and one sentence why when that is no success.
func (j *job) status() (result.Status, string) {
	switch j.exit.End {
	case launch.EndWindow:
		return result.WindowReached, ""
	case launch.EndTimeout:
		why := fmt.Sprintf("no end within %v", j.run.Timeout)
		if j.run.TimeoutBasis != "" {
			why += " (" + j.run.TimeoutBasis + ")"
		}
		return result.Timeout, why
	case launch.EndInterrupted:
		return result.Interrupted, "stopped from outside"
	case launch.EndLost:
		return result.Failed, "the launcher was killed under it: how it ended is not known"
	case launch.EndExited:
		status, why := result.Success, exitWords(j.exit)
		switch {
		case j.exit.Signal != "":
			status = result.Signal
		case j.exit.ExitCode != 0:
			status = result.Failed
		}
		// Leaving a window early is fine for a program that has nothing left to
		// do, and a crash for one that says so.
		if why != "" && j.exec.Window > 0 {
			why = fmt.Sprintf("left after %v of a window of %v: %s",
				j.exit.Wall.Round(time.Millisecond), seconds(j.exec.Window), why)
		}
		return status, why
	}
	if j.exit.Err != nil {
		return result.SpawnError, j.exit.Err.Error()
	}
	return result.SpawnError, "the command was not started"
}

func (j *job) tellProcesses() {
	if j.exit.Killed && j.out.Status == result.WindowReached {
		j.warn("it did not end on TERM within %v and was killed", seconds(j.exec.KillAfter))
	}
	switch n := j.exit.Leftover; {
	case n == 1:
		j.warn("1 process that it started was still alive when it ended, and was ended")
	case n > 1:
		j.warn("%d processes that it started were still alive when it ended, and were ended", n)
	}
	j.tellStrangers()
	if j.exit.Truncated {
		j.warn("its output was cut at %d bytes (limits: stdout)", j.logLimit)
	}
}

// tellStrangers marks a run as invalid whose numbers are not its own alone: one
// beside which an earlier run's processes went on, or whose launcher was killed.
// Their names are the program's to choose.
func (j *job) tellStrangers() {
	invalid := j.exit.End == launch.EndLost || len(j.exit.Beside) > 0
	for _, p := range j.exit.Survivors {
		j.warn("process %d (%q) that it started did not end by KILL: later runs are invalid while it is there", p.PID, p.Name)
	}
	for _, p := range j.exit.Beside {
		j.warn("invalid: process %d (%q) of an earlier run was still there", p.PID, p.Name)
	}
	if invalid {
		no := false
		j.out.Detail.Valid = &no
	}
}

// expectations checks the outputs that a successful run, or one that reached its
// window, must have left. The first
// that is not there or not right makes the status.
func (j *job) expectations() {
	for _, e := range j.exec.Expect {
		f := j.locate(e.File)
		status, why := j.expect(f, e.StartsWith)
		if why != "" {
			j.out.Status, j.out.Detail.Reason = status, why
			return
		}
	}
}

func (j *job) expect(f file, startsWith []byte) (result.Status, string) {
	opened, info, err := openFile(f.base, f.name, f.shown)
	if errors.Is(err, fs.ErrNotExist) {
		return result.MissingOutput, f.shown + " is not there"
	}
	if err != nil {
		return result.InvalidOutput, err.Error()
	}
	defer opened.Close()
	if err := j.written(f, info); err != nil {
		return result.MissingOutput, err.Error()
	}
	head := make([]byte, len(startsWith))
	n, err := opened.ReadAt(head, 0)
	if string(head[:n]) != string(startsWith) {
		if err != nil && n == 0 && info.Size() == 0 {
			return result.InvalidOutput, f.shown + " is empty"
		}
		return result.InvalidOutput, fmt.Sprintf("%s starts with %x, want %x", f.shown, head[:n], startsWith)
	}
	return result.Success, ""
}
