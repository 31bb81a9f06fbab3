package launch_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
)

// A daemon in a session of its own keeps stdout open: nobody may wait for it.
func TestADaemonThatHoldsTheOutputHangsNobody(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		if _, err := os.Stat("/usr/bin/setsid"); err != nil {
			t.Skip("no setsid here")
		}
		dir := t.TempDir()
		c := shell(`setsid sh -c 'echo $$ > "$1"; exec sleep 60' sh "$1" & while ! test -s "$1"; do sleep 0.01; done; echo done`, dir+"/pid")
		c.Stdout, c.OutputLimit, c.Timeout = dir+"/out", 100, time.Minute
		x := run(t, l, c)
		if pid, err := strconv.Atoi(strings.TrimSpace(content(t, dir+"/pid"))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if x.End != launch.EndExited || content(t, c.Stdout) != "done\n" {
			t.Errorf("got %+v", x)
		}
	})
}

func TestOutputLimit(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		const limit = 1000
		dir := t.TempDir()
		for name, c := range map[string]struct {
			out, err, lives int
		}{
			"under":                   {999, 0, 0},
			"at the limit":            {1000, 1000, 0},
			"one more":                {1001, 0, 0},
			"stderr alone":            {10, 5000, 0},
			"much, and it lives on":   {5 << 20, 3 << 20, 400},
			"more than a pipe's room": {1 << 20, 0, 0},
		} {
			t.Run(name, func(t *testing.T) {
				cmd := played(t, "write", strconv.Itoa(c.out), strconv.Itoa(c.err), strconv.Itoa(c.lives))
				cmd.Stdout, cmd.Stderr, cmd.OutputLimit = dir+"/out", dir+"/err", limit
				x := run(t, l, cmd)
				if x.End != launch.EndExited || x.ExitCode != 0 || x.Err != nil {
					t.Fatalf("the command was harmed: %+v", x)
				}
				if x.StdoutBytes != int64(c.out) || x.StderrBytes != int64(c.err) || x.Truncated != (max(c.out, c.err) > limit) {
					t.Errorf("stdout %d, stderr %d, truncated %v", x.StdoutBytes, x.StderrBytes, x.Truncated)
				}
				want := strings.Repeat("0123456789abcdef", 1+limit/16)
				if got := content(t, cmd.Stdout); got != want[:min(c.out, limit)] {
					t.Errorf("stdout holds %d bytes, want the first %d", len(got), min(c.out, limit))
				}
				if got := content(t, cmd.Stderr); got != want[:min(c.err, limit)] {
					t.Errorf("stderr holds %d bytes, want the first %d", len(got), min(c.err, limit))
				}
			})
		}
		t.Run("none", func(t *testing.T) {
			cmd := played(t, "write", "3000000", "0", "0")
			cmd.Stdout = dir + "/out"
			if x := run(t, l, cmd); x.StdoutBytes != 3000000 || x.Truncated || len(content(t, cmd.Stdout)) != 3000000 {
				t.Errorf("got %+v", x)
			}
		})
		t.Run("one file for both", func(t *testing.T) {
			cmd := shell("echo a; echo b >&2; echo c")
			cmd.Stdout, cmd.Stderr = dir+"/both", dir+"/both"
			if x := run(t, l, cmd); x.StdoutBytes != 6 || x.StderrBytes != 0 || content(t, cmd.Stdout) != "a\nb\nc\n" {
				t.Errorf("got %+v, %q", x, content(t, cmd.Stdout))
			}
		})
	})
}

// While the command runs, the disk beyond the limit is given back.
func TestOutputLimitHoldsOnTheDiskToo(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := played(t, "write", strconv.Itoa(8<<20), "0", "60000")
		c.Stdout, c.OutputLimit = filepath.Join(t.TempDir(), "out"), 4096
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var blocks []int64
		c.Started = func(int) {
			go func() {
				defer cancel()
				var st syscall.Stat_t
				for range 2000 {
					if syscall.Stat(c.Stdout, &st) == nil && st.Blocks > 0 {
						blocks = append(blocks, st.Blocks*512)
						if st.Blocks*512 < 1<<20 && (st.Size == 8<<20 || slices.Max(blocks) > 4<<20) {
							return
						}
					}
					time.Sleep(5 * time.Millisecond)
				}
			}()
		}
		x := l.Run(ctx, c)
		if x.End != launch.EndInterrupted || x.StdoutBytes != 8<<20 || !x.Truncated || len(content(t, c.Stdout)) != 4096 {
			t.Errorf("got %+v with %d bytes kept", x, len(content(t, c.Stdout)))
		}
		if len(blocks) == 0 || blocks[len(blocks)-1] >= 1<<20 {
			t.Errorf("bytes of disk, as seen: %d", blocks)
		}
	})
}
