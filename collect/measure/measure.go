// Package measure does one run of one cell: prepare, launch, sample, capture,
// reduce, clean up. What goes in is a cell of the plan; what comes out is how the
// run ended and its measurements, for collect to journal.
//
// The room refuses to decide anything about a run beyond its status, to keep
// order or repeats (collect), and to trust what the command leaves: see
// outfile.go. No command that it starts sees a secret of the runner's
// environment: see environ.go. It never returns an error; whatever goes wrong is
// the status of the run, a warning on it, or the reason of an absent value.
package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/prepare"
	"github.com/perfweir/perfweir/collect/result"
)

// Names of our files in a run's folder, and of the folder {out} below it.
const (
	StdoutLog   = "stdout.log"
	StderrLog   = "stderr.log"
	PrepareLog  = "prepare.log" // stdout and stderr
	CleanupLog  = "cleanup.log"
	SamplesFile = "samples.csv"
	MetricsFile = "metrics.json"
	OutFolder   = "out"
)

const (
	defaultLimit = 64 << 20 // bytes, of a log and of an output file that is read
	stderrTail   = 2 << 10  // bytes of stderr that go into the results document

	// hookTimeout ends a prepare or cleanup that hangs and has no limit of its own:
	// nobody watches a night's run.
	hookTimeout = 10 * time.Minute
	// hookKillAfter is the time that a hook has between TERM and KILL.
	hookKillAfter = 5 * time.Second
)

// Run is one execution of a cell's command.
type Run struct {
	Cell    *plan.Cell
	Attempt int
	Repeat  int
	// Folder is the run's own, absolute. Do makes it, and out below it, which is
	// {out}; the caller removes it when nothing in it is worth keeping.
	Folder string
	// Timeout is the resolved limit of the run; 0: none. TimeoutBasis says where
	// it comes from when it was computed ("4 x encode/default").
	Timeout      time.Duration
	TimeoutBasis string
	Interval     time.Duration // between ticks of the samplers; 0: 100 ms
	Limits       plan.Limits
	Environ      []string // the runner's own environment; it is cleaned here
	// Machine is the machine during the session; nil: as it is now.
	Machine *prepare.Machine
	// Launcher starts the command, prepare and cleanup; nil: this program does.
	Launcher *launch.Launcher
}

// Outcome is what one run came to.
type Outcome struct {
	Status       result.Status
	Detail       result.Detail // Folder is left to the caller
	Measurements []generic.Measurement
	StartedAt    time.Time // of the command; of the attempt where it never started
	Sources      []result.Source
}

// job is a run while it is done.
type job struct {
	run      Run
	exec     plan.Exec
	places   places
	env      []string
	begun    time.Time
	outLimit int64 // bytes read from one output file
	logLimit int64 // bytes kept of stdout and of stderr

	exit    launch.Exit
	sampled sampled
	out     Outcome
	// misshapen says, in words, that an output which the suite names is no file.
	misshapen string
	texts     map[string][]byte // stdout and stderr, cleaned for readers
	before    map[file]fs.FileInfo
	root      *os.Root // the run's folder, whatever the command puts in its place
}

// Do executes the run. It returns when the command, everything it started and the
// suite's cleanup have ended. When ctx ends, the command is ended, the status is
// interrupted, and the cleanup still runs.
func Do(ctx context.Context, r Run) Outcome {
	j := newJob(r)
	err := j.makeFolder()
	defer j.close()
	if err != nil {
		j.out.Status, j.out.Detail.Reason = result.SpawnError, err.Error()
		j.notRun()
		return j.finish()
	}
	if j.ready(ctx) {
		j.launch(ctx)
		j.settle()
		j.measure()
	} else {
		j.notRun()
	}
	j.cleanup(ctx)
	return j.finish()
}

func newJob(r Run) *job {
	j := &job{
		run: r, exec: r.Cell.Exec, begun: time.Now(),
		places:   places{out: filepath.Join(r.Folder, OutFolder), input: r.Cell.InputPath},
		outLimit: limitOr(r.Limits.Out), logLimit: limitOr(r.Limits.Stdout),
		texts: map[string][]byte{},
	}
	j.out.StartedAt = j.begun
	j.env = Environ(r.Environ, j.places.env(j.exec.Env), map[string]string{
		EnvMetrics: filepath.Join(r.Folder, MetricsFile),
		EnvOut:     j.places.out,
	})
	return j
}

func limitOr(limit int64) int64 {
	if limit > 0 {
		return limit
	}
	return defaultLimit
}

func (j *job) makeFolder() error {
	if err := os.MkdirAll(j.places.out, 0o755); err != nil {
		return fmt.Errorf("make the run's folder: %w", err)
	}
	root, err := os.OpenRoot(j.run.Folder)
	if err != nil {
		return fmt.Errorf("open the run's folder: %w", err)
	}
	j.root = root
	// What an earlier, interrupted attempt left must not be read as this one's.
	for _, name := range []string{MetricsFile, SamplesFile} {
		err := os.Remove(filepath.Join(j.run.Folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear the run's folder: %w", err)
		}
	}
	return nil
}

func (j *job) close() {
	if j.root != nil {
		j.root.Close()
	}
}

// launch runs the command under the samplers.
func (j *job) launch(ctx context.Context) {
	var sampling sampling
	j.exit = j.run.Launcher.Run(ctx, launch.Command{
		Argv:        j.places.argv(j.exec.Argv, j.exec.Shell),
		Dir:         j.exec.Cwd,
		Env:         j.env,
		Stdin:       j.places.text(j.exec.Stdin),
		Stdout:      filepath.Join(j.run.Folder, StdoutLog),
		Stderr:      filepath.Join(j.run.Folder, StderrLog),
		OutputLimit: j.logLimit,
		Window:      seconds(j.exec.Window),
		Timeout:     j.run.Timeout,
		KillAfter:   seconds(j.exec.KillAfter),
		Linger:      seconds(j.exec.Linger),
		Started:     func(pid int) { sampling.start(ctx, j.run.Interval, pid) },
	})
	j.sampled = sampling.stop()
	j.out.Sources = append(j.sampled.sources, j.launchSource()...)
	if !j.exit.StartedAt.IsZero() {
		j.out.StartedAt = j.exit.StartedAt
	}
	if j.exit.Err != nil && j.started() {
		j.warn("%v", j.exit.Err)
	}
	if err := j.sampled.write(j.root); err != nil {
		j.warn("%v", err)
	}
}

// started reports whether the command ever ran.
func (j *job) started() bool { return !j.exit.StartedAt.IsZero() }

// finish bounds what the outcome says.
func (j *job) finish() Outcome {
	j.out.Measurements = j.bounded(j.unique(j.out.Measurements))
	j.out.Detail.Warnings = boundedWarnings(j.out.Detail.Warnings)
	return j.out
}

func (j *job) warn(format string, args ...any) {
	j.out.Detail.Warnings = append(j.out.Detail.Warnings, fmt.Sprintf(format, args...))
}

// maxMeasurements of one run are kept. Their line in the journal stays below what
// its reader takes, however long their names are.
const maxMeasurements = 5000

// bounded drops what is beyond the bound; the run's own metrics come first.
func (j *job) bounded(all []generic.Measurement) []generic.Measurement {
	if len(all) <= maxMeasurements {
		return all
	}
	j.warn("%d measurements, of which the first %d were kept", len(all), maxMeasurements)
	return all[:maxMeasurements]
}

// maxWarnings of one run go into the results document.
const maxWarnings = 20

func boundedWarnings(list []string) []string {
	if len(list) <= maxWarnings {
		return list
	}
	more := len(list) - maxWarnings
	return append(list[:maxWarnings:maxWarnings], fmt.Sprintf("and %d more warnings", more))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
