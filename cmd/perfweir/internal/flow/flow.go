// Package flow runs the stages in order, over documents: plan, baseline,
// measure, judge, tell. It holds the only loops that go from one stage back to
// another, and every file that perfweir writes outside a run's folder. It has no
// rules of its own: what runs is decided by plan, what is taken as a baseline by
// baseline, what the numbers mean by gate, how they look by report.
package flow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/verdict"
)

// ErrUsage marks what the caller did wrong: options, suite file. Anything else
// is something that could not be done.
var ErrUsage = errors.New("usage")

// Words is an error for people: the mark of wrong usage is for exit codes.
func Words(err error) string {
	text := err.Error()
	if errors.Is(err, ErrUsage) {
		text = strings.TrimPrefix(text, ErrUsage.Error()+": ")
	}
	return text
}

// Shell is what the stages need of the world.
type Shell struct {
	Environ []string
	Now     func() time.Time
	Log     io.Writer // what is being done, for a person; not the report
	// Progress draws measuring; nil draws nothing.
	Progress func(Progress)
	Version  string
	// Sleep waits between requests to GitHub; nil is a real wait.
	Sleep func(ctx context.Context, d time.Duration) error
	// Timeout is how long one request to GitHub may take; 0 is the client's own.
	Timeout time.Duration
	// Commands is where workflow commands are written, past what keeps the text of
	// code under test from being read as some; nil outside a workflow.
	Commands io.Writer
	// Warn tells a workflow's reader in the annotations of the job; nil: Log alone.
	Warn func(text string)
}

// warn says what should not be overlooked.
func (s Shell) warn(format string, args ...any) {
	s.say("warning: "+format, args...)
	if s.Warn != nil {
		s.Warn(Visible(fmt.Sprintf(format, args...)))
	}
}

func (s Shell) say(format string, args ...any) {
	// Names of cells and commands may hold anything.
	fmt.Fprintf(s.Log, "perfweir: %s\n", Visible(fmt.Sprintf(format, args...)))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Options are what a user said on the command line.
type Options struct {
	Config string // suite file
	Out    string // output folder
	Fresh  bool   // remove what an earlier run left in Out
	Resume bool   // go on with what an earlier run left there
	// RetryFailed tries again what went wrong; with Resume.
	RetryFailed bool
	Cells       string  // glob
	Repeats     int     // 0: as the suite says
	Seed        *uint64 // nil: drawn
	Baseline    string  // folder or file; empty: the suite's
	From        string  // where baselines come from; empty: as the suite says
	Shard       string  // "2/3": the second of three parts of the matrix; empty: all of it
	Suite       string  // name of the suite; empty: the file's
	Machine     string  // name of this machine; empty: its own
	AnyMachine  bool    // stored sessions of other machines too: for lists
	Job         JobOptions
	// pair is the base build that is measured beside head; nil: a desk's --base says.
	pair *pairing
}

// suite is a suite file that was read, with the places around it.
type suite struct {
	file *config.File
	root string // absolute folder of the suite file
}

// load reads and checks the suite file. Warnings are said, problems returned.
func (s Shell) load(o Options) (*suite, error) {
	path := o.Config
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: no suite file %s: `perfweir init` writes one, -c names another", ErrUsage, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: read suite file: %w", ErrUsage, err)
	}
	file, problems := config.Parse(path, data)
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if w := file.Warnings.String(); w != "" {
		fmt.Fprint(s.Log, "warning: ", strings.ReplaceAll(strings.TrimSuffix(w, "\n"), "\n", "\nwarning: "), "\n")
	}
	if o.Suite != "" {
		if err := config.CheckSuiteName(o.Suite); err != nil {
			return nil, fmt.Errorf("%w: --suite %q: %w", ErrUsage, o.Suite, err)
		}
		file.Suite.Name = o.Suite
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", path, err)
	}
	return &suite{file: file, root: filepath.Dir(abs)}, nil
}

// Validate checks a suite file and expands nothing.
func (s Shell) Validate(path string) error {
	_, err := s.load(Options{Config: path})
	return err
}

// policy is the gate's policy as the suite file has it.
func (s *suite) policy() gate.Policy {
	p := gate.DefaultPolicy()
	p.FalseAlarms = s.file.Gate.FalseAlarms
	p.Require = s.file.Gate.Require
	p.Control = s.file.Gate.Control
	if n := s.file.Baseline.MinSessions; n > 0 {
		p.MinSessions = n
	}
	for outcome, action := range s.file.Gate.On {
		p.On[verdict.Outcome(outcome)] = action
	}
	return p
}
