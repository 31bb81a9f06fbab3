package measure

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/result"
)

// prepare runs the suite's command before the run and reports whether the run may
// start. One that fails makes the run failed: it is part of the definition of what
// is measured, and a number without it would be of something else.
func (j *job) prepare(ctx context.Context) bool {
	if len(j.exec.Prepare) == 0 {
		return true
	}
	exit := j.hook(ctx, j.places.argv(j.exec.Prepare, j.exec.PrepareSh), PrepareLog, j.exec.PrepareTimeout)
	why := hookFailure(exit, j.exec.PrepareTimeout)
	if why == "" {
		return true
	}
	j.out.Status = result.Failed
	if exit.End == launch.EndInterrupted {
		j.out.Status = result.Interrupted
	}
	j.out.Detail.Reason = "prepare: " + why
	j.out.Detail.StderrTail = tail(j.run.Folder, PrepareLog, stderrTail)
	j.warn("the run did not start: prepare: %s", why)
	return false
}

// cleanup runs the suite's command after the run, whatever the run came to and
// also when we were interrupted. Its failure is a warning.
func (j *job) cleanup(ctx context.Context) {
	if len(j.exec.Cleanup) == 0 {
		return
	}
	ctx, stop := outlive(ctx, interruptedCleanup)
	defer stop()
	exit := j.hook(ctx, j.places.argv(j.exec.Cleanup, j.exec.CleanupSh), CleanupLog, j.exec.CleanupTimeout)
	if why := hookFailure(exit, j.exec.CleanupTimeout); why != "" {
		j.warn("cleanup: %s", why)
	}
}

func (j *job) hook(ctx context.Context, argv []string, log string, timeout float64) launch.Exit {
	log = filepath.Join(j.run.Folder, log)
	return j.run.Launcher.Run(ctx, launch.Command{
		Argv: argv, Dir: j.exec.Cwd, Env: j.env,
		Stdout: log, Stderr: log, OutputLimit: j.logLimit,
		Timeout: hookLimit(timeout), KillAfter: hookKillAfter,
	})
}

// hookLimit is the time that a hook has: the suite's limit in seconds, else the
// default.
func hookLimit(timeout float64) time.Duration {
	if timeout > 0 {
		return seconds(timeout)
	}
	return hookTimeout
}

// hookFailure says in words why a hook did not succeed; empty: it did.
func hookFailure(exit launch.Exit, timeout float64) string {
	switch exit.End {
	case launch.EndExited:
		return exitWords(exit)
	case launch.EndInterrupted:
		return "interrupted"
	case launch.EndTimeout:
		return fmt.Sprintf("no end within %v", hookLimit(timeout))
	}
	return fmt.Sprintf("not started: %v", exit.Err)
}

// exitWords says how a command ended by itself; empty: with 0.
func exitWords(exit launch.Exit) string {
	switch {
	case exit.Signal != "":
		return "ended by signal " + exit.Signal
	case exit.ExitCode != 0:
		return fmt.Sprintf("exit %d", exit.ExitCode)
	}
	return ""
}

// interruptedCleanup is how long a cleanup may take once we were told to stop.
const interruptedCleanup = 1500 * time.Millisecond

// outlive returns a context that ends some time after ctx does: what puts things
// right again has to run although everything is to stop.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unregister := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { unregister(); cancel() }
}
