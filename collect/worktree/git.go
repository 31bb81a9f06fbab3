package worktree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	gitTimeout = 60 * time.Second // a cold diff of a large tree on a slow disk
	gitOutput  = 64 << 10         // bytes of an answer of one line
)

// line returns the single line that git answers in dir, "" for none, more than
// one, or any failure.
func line(ctx context.Context, dir string, args ...string) string {
	var out bytes.Buffer
	if err := run(ctx, dir, &bounded{to: &out, left: gitOutput}, args...); err != nil {
		return ""
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if strings.Contains(text, "\n") {
		return ""
	}
	return text
}

// run executes git in dir and writes its standard output to out.
func run(ctx context.Context, dir string, out io.Writer, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := gitCommand(ctx, dir, args...)
	cmd.Stdout = out
	endGroup(cmd, syscall.SIGKILL, time.Second)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("git %s in %s: %w", args[0], dir, err)
	}
	return nil
}

// answer runs git, which may write, and returns what it said to its user, in one
// line. The time limit is the context's.
func answer(cmd *exec.Cmd) (said string, err error) {
	var text tail
	cmd.Stdout, cmd.Stderr = &text, &text
	endGroup(cmd, syscall.SIGTERM, time.Second)
	err = cmd.Run()
	return strings.Join(strings.Fields(string(text)), " "), err
}

// gitCommand is git in dir, as this room trusts it.
func gitCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	// The repository's own configuration may name programs to run. Its filters do
	// run: without them a file that a filter stores (LFS) would always differ.
	safe := []string{"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}
	cmd := exec.CommandContext(ctx, "git", slices.Concat(safe, args)...)
	cmd.Dir, cmd.Env = dir, gitEnviron(os.Environ())
	return cmd
}

// gitEnviron keeps the few variables that git needs to find itself and the user's
// configuration (safe.directory stands there). Everything else stays out, above
// all secrets and GIT_DIR and its kin, which would answer for another repository.
func gitEnviron(environ []string) []string {
	keep := []string{"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"}
	var out []string
	for _, kv := range environ {
		if name, _, _ := strings.Cut(kv, "="); slices.Contains(keep, name) {
			out = append(out, kv)
		}
	}
	return append(out,
		"LC_ALL=C",
		"GIT_OPTIONAL_LOCKS=0",  // a question must not write the index
		"GIT_TERMINAL_PROMPT=0", // nor wait for an answer
		"GIT_NO_LAZY_FETCH=1",   // nor ask the network
	)
}

// endGroup gives the command a process group of its own, and makes the end of its
// context a signal to the whole group: a shell that is killed alone leaves its
// children behind. grace is the time until it is killed and its pipes are closed.
func endGroup(cmd *exec.Cmd, sig syscall.Signal, grace time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, sig) }
	cmd.WaitDelay = grace
}

// tail keeps the end of what git says: a filter or a server may say anything.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if len(*t) > gitOutput {
		*t = append((*t)[:0], (*t)[len(*t)-gitOutput/2:]...)
	}
	return len(p), nil
}

// bounded refuses what goes beyond its limit.
type bounded struct {
	to   io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, fmt.Errorf("more output than expected")
	}
	b.left -= len(p)
	return b.to.Write(p)
}
