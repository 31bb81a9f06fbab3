package launch_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// The test binary runs again as the command under test when this is set.
const roleVariable = "PERFWEIR_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// play is a command that behaves in one way. Those that live on print a line
// first, so that a test knows that they have come so far.
func play(role string, args []string) int {
	switch role {
	case "args":
		fmt.Printf("%q", args)
	case "deaf": // to TERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Minute)
	case "polite": // cleans up after TERM
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		<-c
		fmt.Println("bye")
		return 7
	case "burn":
		for begun := time.Now(); time.Since(begun) < 150*time.Millisecond; {
		}
	case "write": // args: bytes to stdout, bytes to stderr, ms to live on
		n := make([]int, 3)
		for i := range n {
			n[i], _ = strconv.Atoi(args[i])
		}
		for _, out := range []struct {
			w io.Writer
			n int
		}{{os.Stdout, n[0]}, {os.Stderr, n[1]}} {
			for chunk := bytes.Repeat([]byte("0123456789abcdef"), 4096); out.n > 0; out.n -= len(chunk) {
				if _, err := out.w.Write(chunk[:min(len(chunk), out.n)]); err != nil {
					return 1
				}
			}
		}
		time.Sleep(time.Duration(n[2]) * time.Millisecond)
	case "burn a second", "never waits", "leaves an orphan", "ignores SIGCHLD":
		return burn(role)
	case "runner": // args: lock file, file for the command's number
		return runner(args[0], args[1])
	}
	return 0
}

func played(t *testing.T, role string, args ...string) launch.Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launch.Command{Argv: append([]string{exe}, args...), Env: []string{roleVariable + "=" + role}, KillAfter: 10 * time.Second}
}

func shell(script string, args ...string) launch.Command {
	return launch.Command{Argv: append([]string{"/bin/sh", "-c", script, "sh"}, args...), Env: []string{"PATH=" + os.Getenv("PATH")}, KillAfter: 10 * time.Second}
}

// inBoth tests commands that the launcher starts, and those that we start for want
// of one.
func inBoth(t *testing.T, test func(*testing.T, *launch.Launcher)) {
	t.Helper()
	t.Run("launcher", func(t *testing.T) { test(t, session(t, launch.Options{})) })
	t.Run("direct", func(t *testing.T) { test(t, nil) })
}

// session is a launcher for the length of a test.
func session(t *testing.T, o launch.Options) *launch.Launcher {
	t.Helper()
	l, err := launch.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// run runs a command and then checks that nothing of its session or group is left.
func run(t *testing.T, l *launch.Launcher, c launch.Command) launch.Exit {
	t.Helper()
	pid, started := 0, c.Started
	c.Started = func(p int) {
		pid = p
		if started != nil {
			started(p)
		}
	}
	x := l.Run(t.Context(), c)
	if pid != 0 {
		wantNothingLeft(t, pid)
	}
	if (x.End == launch.EndNotStarted) != (pid == 0) {
		t.Errorf("end %s, and Started was told %d", x.End, pid)
	}
	return x
}

func wantNothingLeft(t *testing.T, session int) {
	t.Helper()
	for _, s := range leftOf(t, session) {
		t.Errorf("process %d is left: %+v", s.PID, s)
	}
}

// leftOf are the processes of a session or a group that have not ended.
func leftOf(t *testing.T, session int) (left []pidstat.Stat) {
	t.Helper()
	proc := pidstat.Open("/proc")
	pids, err := proc.PIDs(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		s, err := proc.Stat(pid)
		if err == nil && (s.Session == session || s.Group == session) && !s.Ended() {
			left = append(left, s)
		}
	}
	return left
}

// waitFor returns when the file holds the text.
func waitFor(t *testing.T, path, text string) {
	t.Helper()
	for range 5000 {
		if b, _ := os.ReadFile(path); strings.Contains(string(b), text) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Errorf("%s never held %q", path, text)
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestExits(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		for name, c := range map[string]struct {
			script string
			code   int
			signal string
		}{
			"success":           {script: "exit 0"},
			"code":              {script: "exit 3", code: 3},
			"highest code":      {script: "exit 255", code: 255},
			"own signal":        {script: "kill -SEGV $$", signal: "SEGV"},
			"KILL of another":   {script: "kill -9 $$", signal: "KILL"},
			"default TERM":      {script: "kill $$", signal: "TERM"},
			"default HUP":       {script: "kill -HUP $$", signal: "HUP"},
			"default PIPE":      {script: "kill -PIPE $$", signal: "PIPE"},
			"code like signals": {script: "exit 143", code: 143},
		} {
			t.Run(name, func(t *testing.T) {
				x := run(t, l, shell(c.script))
				if x.End != launch.EndExited || x.ExitCode != c.code || x.Signal != c.signal || x.Killed || x.Leftover != 0 || x.Err != nil {
					t.Errorf("got %+v, want exited, code %d, signal %q", x, c.code, c.signal)
				}
				if x.Wall <= 0 || x.StartedAt.IsZero() || x.MaxRSS <= 0 {
					t.Errorf("wall %v, started %v, max rss %d", x.Wall, x.StartedAt, x.MaxRSS)
				}
			})
		}
	})
}

func TestDeathBySignals(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		for _, name := range strings.Fields("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM XCPU XFSZ VTALRM PROF SYS") {
			c := shell("ulimit -c 0; kill -" + name + " $$; exit 9")
			if x := run(t, l, c); x.End != launch.EndExited || x.Signal != name || x.Killed || x.Leftover != 0 || x.Err != nil {
				t.Errorf("%s: got %+v", name, x)
			}
		}
	})
}

func TestItClosesItsOutput(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := shell("exec <&- >&- 2>&-; sleep 0.05; exit 3")
		c.Stdout = filepath.Join(t.TempDir(), "out")
		if x := run(t, l, c); x.ExitCode != 3 || x.StdoutBytes != 0 || x.Wall < 50*time.Millisecond || x.Err != nil {
			t.Errorf("got %+v", x)
		}
	})
}

func TestItWritesAGiB(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 1 GiB")
	}
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := played(t, "write", strconv.Itoa(1<<30), "0", "0")
		c.Stdout, c.OutputLimit = filepath.Join(t.TempDir(), "out"), 1<<20
		if x := run(t, l, c); x.ExitCode != 0 || x.StdoutBytes != 1<<30 || !x.Truncated || x.Err != nil || len(content(t, c.Stdout)) != 1<<20 {
			t.Errorf("got %+v", x)
		}
	})
}

func TestTimesAreTheCommands(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		x := run(t, l, played(t, "burn"))
		if x.Wall < 150*time.Millisecond || x.User+x.System <= 0 || x.User+x.System > x.Wall*time.Duration(runtime.NumCPU()) {
			t.Errorf("wall %v, user %v, system %v of a loop of 150ms", x.Wall, x.User, x.System)
		}
		// Children that were waited for are in, the same loop run by a shell.
		c := shell(`"$1"; true`, played(t, "").Argv[0])
		c.Env = append(c.Env, roleVariable+"=burn")
		if y := run(t, l, c); y.User+y.System <= 0 || y.Wall < 150*time.Millisecond {
			t.Errorf("wall %v, user %v, system %v of the same loop in a child", y.Wall, y.User, y.System)
		}
	})
}

func TestItsSurroundings(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		if err := os.WriteFile(in, []byte("given\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := shell(`cat; pwd; echo "$A-$HOME"; ps -o sid= -p $$ 2>/dev/null || cut -d' ' -f6 /proc/$$/stat; echo $$; grep flags /proc/self/fdinfo/1; echo problem >&2`)
		c.Stdin, c.Stdout, c.Stderr, c.Dir = in, out, filepath.Join(dir, "err"), dir
		c.Env = append(c.Env, "A=1")
		if x := run(t, l, c); x.ExitCode != 0 || x.Err != nil {
			t.Fatalf("got %+v", x)
		}
		lines := strings.Split(content(t, out), "\n")
		if len(lines) < 6 || lines[0] != "given" || lines[1] != dir || lines[2] != "1-" {
			t.Fatalf("stdin, folder or environment is another: %q", lines)
		}
		if strings.TrimSpace(lines[3]) != lines[4] {
			t.Errorf("session %q, process %q", lines[3], lines[4])
		}
		if flags, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(lines[5], "flags:")), 8, 64); flags&syscall.O_NONBLOCK != 0 || flags&syscall.O_APPEND == 0 {
			t.Errorf("stdout has flags %o: a program may fail on a file that does not block", flags)
		}
		if got := content(t, c.Stderr); got != "problem\n" {
			t.Errorf("stderr %q", got)
		}
		if info, _ := os.Stat(out); info.Mode() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
		// Without files: nothing comes and nothing goes, and no environment is ours.
		t.Setenv("LEAK", "1")
		c = launch.Command{Argv: []string{"/bin/sh", "-c", `test -z "$(cat)" && test -z "$LEAK" && echo x && echo y >&2`}}
		if x := run(t, l, c); x.ExitCode != 0 || x.StdoutBytes != 0 {
			t.Errorf("got %+v", x)
		}
	})
}

func TestArgumentsArriveAsTheyAre(t *testing.T) {
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		args := []string{"", "a b", "$HOME", "'\"\\", "*", "-n\n", "\xff"}
		c := played(t, "args", args...)
		c.Stdout = filepath.Join(t.TempDir(), "out")
		run(t, l, c)
		if got, want := content(t, c.Stdout), fmt.Sprintf("%q", args); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// What MaxRSS must not be taken for: the mark of this program shows through.
func TestMaxRSSIsNoMoreThanAnUpperBound(t *testing.T) {
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	x := run(t, nil, launch.Command{Argv: []string{"/bin/true"}})
	runtime.KeepAlive(ballast)
	if x.MaxRSS < 32<<20 {
		t.Errorf("/bin/true took %d bytes: the mark of the parent does not show any more, and the comment of MaxRSS is wrong", x.MaxRSS)
	}
}
