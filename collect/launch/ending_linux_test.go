package launch_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
)

func TestWindowAndTimeoutEndTheGroup(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		for name, c := range map[string]struct {
			window, timeout time.Duration
			want            launch.End
		}{
			"window":       {50 * time.Millisecond, 0, launch.EndWindow},
			"timeout":      {0, 50 * time.Millisecond, launch.EndTimeout},
			"window first": {50 * time.Millisecond, time.Hour, launch.EndWindow},
			"timeout wins": {time.Hour, 50 * time.Millisecond, launch.EndTimeout},
			"both at once": {50 * time.Millisecond, 50 * time.Millisecond, launch.EndWindow},
		} {
			t.Run(name, func(t *testing.T) {
				cmd := shell("sleep 60 & sleep 60 | sleep 60")
				cmd.Window, cmd.Timeout = c.window, c.timeout
				x := run(t, l, cmd)
				if x.End != c.want || x.Signal != "TERM" || x.Killed || x.Leftover != 0 || x.Err != nil {
					t.Errorf("got %+v, want %s by TERM and nothing left over", x, c.want)
				}
				if x.Wall < 50*time.Millisecond {
					t.Errorf("ended after %v", x.Wall)
				}
			})
		}
	})
}

func TestAnEndInTimeIsItsOwn(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := shell("exit 5")
		c.Window, c.Timeout = time.Hour, time.Hour
		if x := run(t, l, c); x.End != launch.EndExited || x.ExitCode != 5 {
			t.Errorf("got %+v", x)
		}
	})
}

func TestInterrupt(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		ctx, cancel := context.WithCancel(t.Context())
		c := shell("sleep 60")
		c.Started = func(int) { cancel() }
		if x := l.Run(ctx, c); x.End != launch.EndInterrupted || x.Signal != "TERM" || x.Err != nil {
			t.Errorf("got %+v", x)
		}
		c.Started = func(int) { t.Error("started after it was interrupted") }
		if x := l.Run(ctx, c); x.End != launch.EndInterrupted || x.Err == nil {
			t.Errorf("got %+v", x)
		}
	})
}

// readyThenCancel interrupts the command once its output holds "ready".
func readyThenCancel(t *testing.T, l *launch.Launcher, c launch.Command) launch.Exit {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pid := 0
	c.Stdout = filepath.Join(t.TempDir(), "out")
	c.Started = func(p int) { pid = p; waitFor(t, c.Stdout, "ready"); cancel() }
	x := l.Run(ctx, c)
	wantNothingLeft(t, pid)
	return x
}

func TestDeafToTERMDiesByKILL(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := played(t, "deaf")
		c.KillAfter = 100 * time.Millisecond
		if x := readyThenCancel(t, l, c); x.End != launch.EndInterrupted || x.Signal != "KILL" || !x.Killed || x.Leftover != 0 || x.Err != nil {
			t.Errorf("got %+v, want KILL after TERM", x)
		}
	})
}

func TestPoliteCleansUpAfterTERM(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := played(t, "polite")
		x := readyThenCancel(t, l, c)
		if x.ExitCode != 7 || x.Signal != "" || x.Killed || x.StdoutBytes != int64(len("ready\nbye\n")) {
			t.Errorf("got %+v, want its own exit 7 after \"bye\"", x)
		}
	})
}

func TestStoppedCommandIsEnded(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := shell("echo ready; kill -STOP $$; echo never")
		c.Window = time.Second
		if x := readyThenCancel(t, l, c); x.Signal != "TERM" || x.Killed {
			t.Errorf("got %+v: a stopped process must not need KILL", x)
		}
	})
}

// The deaf grandchild outlives the shell, whose group had TERM: it alone is left over.
func TestAGroupMemberThatNeededKILLIsLeftOver(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := shell(`"$1" & wait`, played(t, "").Argv[0])
		c.Env = append(c.Env, roleVariable+"=deaf")
		c.KillAfter = 200 * time.Millisecond
		if x := readyThenCancel(t, l, c); x.Signal != "TERM" || x.Killed || x.Leftover != 1 || x.Err != nil {
			t.Errorf("got %+v, want the shell by TERM and one left over", x)
		}
	})
}

func TestWhatIsLeftBehindIsEndedAndCounted(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		for name, c := range map[string]struct {
			script string
			left   int
		}{
			"nothing":            {"sleep 0.01 & wait", 0},
			"two":                {"sleep 60 & sleep 60 &", 2},
			"orphan of an child": {"(sleep 60 & ) ; exit 0", 1},
			"another group":      {"set -m; sleep 60 & exit 0", 1},
			"stopped":            {"sleep 60 & kill -STOP $!", 1},
			"deaf to TERM":       {"trap '' TERM; sleep 60 &", 1},
		} {
			t.Run(name, func(t *testing.T) {
				cmd := shell(c.script)
				cmd.KillAfter = 200 * time.Millisecond
				x := run(t, l, cmd)
				if x.End != launch.EndExited || x.ExitCode != 0 || x.Leftover != c.left || x.Err != nil {
					t.Errorf("got %+v, want %d left over", x, c.left)
				}
			})
		}
	})
}

// The clock stops with the main process, not when what it left behind is gone.
func TestWallEndsWithTheMainProcess(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := shell("trap '' TERM; sleep 60 &")
		c.KillAfter = 2 * time.Second
		begun := time.Now()
		x := run(t, l, c)
		if all := time.Since(begun); x.Wall > all-time.Second {
			t.Errorf("wall %v of %v, which holds 2s of waiting for what was left behind", x.Wall, all)
		}
	})
}
