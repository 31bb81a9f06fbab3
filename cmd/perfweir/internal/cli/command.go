// Package cli turns flags into options and outcomes into exit codes. It has no
// loops and no rules: one file a subcommand, each a call of flow.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/flow"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/progress"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/publish"
)

// Command is perfweir as a value: its streams, environment and clock are inside,
// so that a test can run it whole.
type Command struct {
	Stdin   io.Reader
	Stdout  io.Writer // the report
	Stderr  io.Writer // what is being done
	Environ []string
	Now     func() time.Time
	// Terminal is set when Stdout is one: colour. Live is set when Stderr is one: a
	// line that moves.
	Terminal, Live bool
	// Sleep waits between requests to GitHub; nil is a real wait.
	Sleep func(ctx context.Context, d time.Duration) error
	// Timeout is how long one request to GitHub may take; 0 is the client's own.
	Timeout time.Duration
	// commands is the stream on which the runner reads workflow commands; nil
	// outside a workflow.
	commands io.Writer
}

// inWorkflow keeps what is printed from being read as workflow commands: names,
// output and files of the code under test are in it.
func (c Command) inWorkflow() Command {
	if c.env("GITHUB_ACTIONS") != "true" {
		return c
	}
	c.commands = c.Stdout
	c.Stdout, c.Stderr = publish.Guard(c.Stdout), publish.Guard(c.Stderr)
	return c
}

// Std is the command of this process.
func Std() Command {
	return Command{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Now: time.Now,
		Terminal: isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "", Live: isTerminal(os.Stderr)}
}

// isTerminal asks for the size of a window: /dev/null is a character device too.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// stopping are the signals that end what is measured. A hang-up that was ignored
// when we were started (nohup) stays so. An interrupt does not: scripts start
// background jobs with it ignored, and still send it on purpose.
func stopping() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// Main runs one command line and returns the exit code. SIGINT, SIGTERM and
// SIGHUP end what is measured; reports are still written then. The next one ends
// this program at once: a cleanup of the suite may hang.
func Main(ctx context.Context, c Command, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, stopping()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	// A reader that went away (head) must not end us in the middle of a run: the
	// writes fail instead.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	defer signal.Stop(pipes)
	code := exitPass
	c = c.inWorkflow()
	root := c.root(&code)
	root.SetArgs(args)
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, syscall.EPIPE) {
		fmt.Fprintf(c.Stderr, "perfweir: %s\n", flow.Words(err))
		return exitOf(err)
	}
	return code
}

// root is the command tree; code receives a verdict's exit code.
func (c Command) root(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:   "perfweir",
		Short: "A performance gate: measure real commands, compare, decide",
		Long: `perfweir runs a matrix of real commands, compares what they cost with a baseline,
and decides every budget with a stated error rate.

Exit codes: 0 pass, 1 a budget is broken, 3 could not decide, 4 wrong usage or
suite file, 130 interrupted.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: %w; `%s --help` lists the options", flow.ErrUsage, err, cmd.CommandPath())
	})
	root.AddCommand(c.ci(code), c.run(code), c.gate(code), c.report(code), c.explain(), c.accept(), c.publish(code), c.merge(), c.baseline(code), c.history(), c.selftest(), c.initCommand(), c.validate(), c.doctor(), c.schema(), c.version())
	for _, cmd := range root.Commands() {
		usageErrors(cmd)
	}
	return root
}

// usageErrors makes wrong arguments exit with 4, like wrong flags.
func usageErrors(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return fmt.Errorf("%w: %w; usage: %s", flow.ErrUsage, err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		usageErrors(sub)
	}
}

// shell is what the stages get of this process.
func (c Command) shell() flow.Shell {
	s := flow.Shell{Environ: c.Environ, Now: c.Now, Log: c.Stderr, Version: versionText()}
	s.Progress = progress.New(c.Stderr, c.Live, c.Now).Draw
	s.Sleep, s.Timeout = c.Sleep, c.Timeout
	if c.commands != nil {
		s.Commands = c.commands
		s.Warn = func(text string) {
			// A warning that cannot be written is in the log all the same.
			_ = publish.WriteCommands(c.commands, []publish.Annotation{{Level: "warning", Title: "perfweir", Message: text}})
		}
	}
	return s
}

// Exit codes. Never 2: a Go panic exits with it.
const (
	exitPass        = gate.ExitPass
	exitUndecided   = gate.ExitUndecided
	exitUsage       = 4
	exitInterrupted = gate.ExitInterrupted
)

// exitOf maps errors to exit codes, here and nowhere else.
func exitOf(err error) int {
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, flow.ErrUsage) || isCobraUsage(err):
		return exitUsage
	}
	return exitUndecided
}

// isCobraUsage recognises what cobra reports without a type: an unknown command.
func isCobraUsage(err error) bool {
	return len(err.Error()) > 15 && err.Error()[:15] == "unknown command"
}
