package launch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
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

// gone reports whether the process ends in time.
func gone(pid int, within time.Duration) bool {
	proc := pidstat.Open("/proc")
	for begun := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if s, err := proc.Stat(pid); err != nil || s.Ended() {
			return true
		}
		if time.Since(begun) > within {
			return false
		}
	}
}

func number(t *testing.T, path string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(content(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// parentOf starts a command that tells who started it.
func parentOf(t *testing.T, l *launch.Launcher) int {
	t.Helper()
	c := shell("echo $PPID")
	c.Stdout = filepath.Join(t.TempDir(), "out")
	run(t, l, c)
	return number(t, c.Stdout)
}

// daemon leaves the session, the group, its parent and the folder, is deaf to TERM
// and writes its number to the file that is the script's first argument.
const daemon = `setsid sh -c 'sh -c "$2" sh "$1" &' sh "$1" 'cd /; trap "" TERM HUP; echo $$ > "$1.tmp"; mv "$1.tmp" "$1"; while :; do sleep 60; done'
while ! test -e "$1"; do sleep 0.01; done; `

func TestADaemonIsEnded(t *testing.T) {
	needs(t, "setsid")
	l := session(t, launch.Options{})
	file := filepath.Join(t.TempDir(), "pid")
	c := shell(daemon+"exit 4", file)
	c.KillAfter = 100 * time.Millisecond
	x := run(t, l, c)
	if x.End != launch.EndExited || x.ExitCode != 4 || x.Leftover < 1 || x.Err != nil || len(x.Survivors) != 0 {
		t.Errorf("got %+v", x)
	}
	if pid := number(t, file); !gone(pid, 0) {
		t.Errorf("the daemon %d is still there", pid)
	}
}

// What the command gets: nothing of ours but what it must.
func TestSignalsFilesAndLimitsAreDefaults(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	seen := map[string]string{}
	const open = "grep -E '^Sig(Blk|Ign)|^NoNewPrivs|^Seccomp:' /proc/self/status; ulimit -Sn; ulimit -Hn; umask; nice"
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		c := launch.Command{Argv: []string{"/bin/sh", "-c", open}, Stdout: out}
		c.Env = []string{"PATH=" + os.Getenv("PATH")}
		if x := run(t, l, c); x.ExitCode != 0 {
			t.Fatalf("got %+v", x)
		}
		seen[t.Name()] = content(t, out)
	})
	text := seen[t.Name()+"/launcher"]
	if text != seen[t.Name()+"/direct"] {
		t.Errorf("by the launcher %s\nby us %s", text, seen[t.Name()+"/direct"])
	}
	if !strings.Contains(text, "SigBlk:\t0000000000000000") || !strings.Contains(text, "SigIgn:\t0000000000000000") {
		t.Errorf("got %s", text)
	}
	// Files that we were given, and those of the launcher.
	l := session(t, launch.Options{Keep: os.Stderr})
	if x := run(t, l, launch.Command{Argv: []string{"/bin/ls", "/proc/self/fd"}, Stdout: out}); x.Err != nil || content(t, out) != "0\n1\n2\n3\n" {
		t.Errorf("it has the files %q", content(t, out))
	}
}

func TestTheLaunchersEnvironmentIsEmpty(t *testing.T) {
	t.Setenv("SECRET_OF_OURS", "x")
	l := session(t, launch.Options{})
	c := shell("cat /proc/$PPID/environ; cat /proc/$PPID/comm; env | grep -c ^" + launch.MarkVariable + "=")
	c.Stdout = filepath.Join(t.TempDir(), "out")
	run(t, l, c)
	if got := content(t, c.Stdout); got != "perfweir-launch\n1\n" {
		t.Errorf("got %q", got)
	}
}

// runner is a perfweir that is killed: it holds a lock and runs a daemon and a
// command that do not end.
func runner(lock, file string) int {
	f, err := os.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil || syscall.Flock(int(f.Fd()), syscall.LOCK_EX) != nil {
		return 1
	}
	l, err := launch.Start(launch.Options{Keep: f})
	if err != nil {
		return 1
	}
	c := launch.Command{Argv: []string{"/bin/sh", "-c", daemon + `echo $$ $PPID > "$1.tmp"; mv "$1.tmp" "$1.main"; while :; do sleep 60; done`, "sh", file},
		Env: []string{"PATH=" + os.Getenv("PATH")}}
	l.Run(context.Background(), c)
	return 2 // it does not come back
}

// held reports whether somebody holds the lock.
func held(t *testing.T, lock string) bool {
	t.Helper()
	f, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func TestKillOfTheRunnerEndsItsCommand(t *testing.T) {
	needs(t, "setsid")
	dir := t.TempDir()
	lock, file := dir+"/lock", dir+"/pid"
	c := exec.Command("/proc/self/exe", lock, file)
	c.Env = append(os.Environ(), roleVariable+"=runner")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, file+".main", "\n")
	var main, launcher int
	numbers := strings.Fields(content(t, file+".main"))
	if len(numbers) == 2 {
		main, _ = strconv.Atoi(numbers[0])
		launcher, _ = strconv.Atoi(numbers[1])
	}
	daemon := number(t, file)
	if main == 0 || launcher == 0 || gone(main, 0) || gone(daemon, 0) {
		t.Fatalf("command %d, daemon %d, launcher %d", main, daemon, launcher)
	}
	// A stopped launcher shows that the lock is held by it, not by its runner.
	if err := syscall.Kill(launcher, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	if !held(t, lock) || gone(main, 0) {
		t.Error("the lock is free while the command runs")
	}
	_ = syscall.Kill(launcher, syscall.SIGCONT)
	for _, pid := range []int{main, daemon, launcher} {
		if !gone(pid, time.Second) {
			t.Errorf("process %d is there a second after its runner was killed", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if held(t, lock) {
		t.Error("the lock is held, and nothing is left")
	}
}

func TestKillOfTheLauncherIsSeen(t *testing.T) {
	needs(t, "setsid")
	l := session(t, launch.Options{})
	file := filepath.Join(t.TempDir(), "pid")
	c := shell(daemon+"kill -9 $PPID; while :; do sleep 60; done", file)
	c.KillAfter = 100 * time.Millisecond
	x := run(t, l, c)
	if x.End != launch.EndLost || x.Err == nil || len(x.Survivors) != 0 {
		t.Errorf("got %+v, want it lost", x)
	}
	if pid := number(t, file); !gone(pid, time.Second) {
		t.Errorf("the daemon %d is still there", pid)
	}
	if x := run(t, l, shell("exit 3")); x.End != launch.EndExited || x.ExitCode != 3 || x.Err != nil || x.NoLauncher != "" {
		t.Errorf("the next run: %+v", x)
	}
	// Between two runs.
	old := parentOf(t, l)
	_ = syscall.Kill(old, syscall.SIGKILL)
	gone(old, time.Minute)
	if now := parentOf(t, l); now == old || now == os.Getpid() {
		t.Errorf("started by %d, once by %d, and we are %d", now, old, os.Getpid())
	}
}

func TestAStoppedLauncherHangsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what a command has between KILL and its end")
	}
	l := session(t, launch.Options{})
	c := shell("kill -STOP $PPID; while :; do sleep 60; done")
	c.Timeout, c.KillAfter = 100*time.Millisecond, 100*time.Millisecond
	if x := run(t, l, c); x.End != launch.EndLost || x.Err == nil {
		t.Errorf("got %+v", x)
	}
	if x := run(t, l, shell("exit 3")); x.ExitCode != 3 || x.Err != nil {
		t.Errorf("the next run: %+v", x)
	}
}

func TestSurvivorsAreNamedInLaterRuns(t *testing.T) {
	l := session(t, launch.Options{})
	survivor := exec.Command("sleep", "1000")
	if err := survivor.Start(); err != nil {
		t.Fatal(err)
	}
	launch.Remember(l, survivor.Process)
	if x := run(t, l, shell("exit 0")); len(x.Beside) != 1 || x.Beside[0] != (launch.Process{PID: survivor.Process.Pid, Name: "sleep"}) {
		t.Errorf("got %+v", x)
	}
	_ = survivor.Process.Kill()
	_ = survivor.Wait()
	if x := run(t, l, shell("exit 0")); len(x.Beside) != 0 {
		t.Errorf("got %+v, and it is gone", x)
	}
}

// One that is the launcher's descendant: it is let be, and later runs go on.
func TestASurvivorIsLetBe(t *testing.T) {
	needs(t, "setsid")
	l := session(t, launch.Options{})
	file := filepath.Join(t.TempDir(), "pid")
	c := shell(`setsid sleep 1000 & echo $! >"$1.tmp"; mv "$1.tmp" "$1"`, file)
	c.Started = func(int) {
		waitFor(t, file, "\n")
		p, err := os.FindProcess(number(t, file))
		if err != nil {
			t.Fatal(err)
		}
		launch.Remember(l, p)
	}
	x := l.Run(t.Context(), c)
	pid := number(t, file)
	if x.End != launch.EndExited || gone(pid, 0) {
		t.Fatalf("got %+v, daemon %d", x, pid)
	}
	for range 2 {
		x := run(t, l, shell("sleep 60 & exit 3"))
		if x.ExitCode != 3 || x.Leftover != 1 || x.Err != nil || len(x.Beside) != 1 || x.Beside[0].PID != pid {
			t.Errorf("got %+v", x)
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	gone(pid, time.Minute)
	if x := run(t, l, shell("exit 3")); x.ExitCode != 3 || x.Err != nil || len(x.Beside) != 0 {
		t.Errorf("got %+v", x)
	}
}

func TestWithoutALauncher(t *testing.T) {
	l, err := launch.StartNone(errors.New("no room"))
	if err == nil || l.Floor() != 0 {
		t.Fatalf("%v, floor %d", err, l.Floor())
	}
	defer l.Close()
	if x := run(t, l, shell("exit 3")); x.ExitCode != 3 || x.Floor != 0 || x.NoLauncher != "no room" || x.Err != nil {
		t.Errorf("got %+v", x)
	}
}

func TestFromAFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	l, err := launch.StartFromFile([]byte(content(t, "resident/launcher_"+runtime.GOARCH)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if x := run(t, l, shell("exit 3")); x.ExitCode != 3 || x.Floor == 0 || x.Err != nil {
		t.Errorf("got %+v", x)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v %v", left, err)
	}
	if l, err := launch.StartFromFile([]byte("no program")); err == nil || l == nil {
		t.Errorf("text was started: %v", err)
	}
}

// The bytes for arm64, on a machine that is none. The emulator has no sub-reaper,
// so orphans are another machine's to test.
func TestArm64UnderAnEmulator(t *testing.T) {
	emulator := needs(t, "qemu-aarch64-static")
	program := filepath.Join(t.TempDir(), "launcher")
	if err := os.WriteFile(program, []byte(content(t, "resident/launcher_arm64")), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := launch.StartEmulated(emulator, program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, c := range map[string]struct {
		script, signal string
		code           int
	}{
		"success": {script: "exit 0"},
		"code":    {script: "exit 3", code: 3},
		"signal":  {script: "kill -SEGV $$", signal: "SEGV"},
	} {
		t.Run(name, func(t *testing.T) {
			x := run(t, l, shell(c.script))
			if x.End != launch.EndExited || x.ExitCode != c.code || x.Signal != c.signal || x.Leftover != 0 || x.Err != nil {
				t.Errorf("got %+v", x)
			}
			if x.Wall <= 0 || x.User+x.System <= 0 || x.MaxRSS <= 0 {
				t.Errorf("wall %v, user %v, system %v, memory %d", x.Wall, x.User, x.System, x.MaxRSS)
			}
		})
	}
	x := run(t, l, launch.Command{Argv: []string{"/dev/null"}})
	if x.End != launch.EndNotStarted || !strings.Contains(x.Err.Error(), "not a file that can be executed") {
		t.Errorf("got %+v", x)
	}
	c := shell("trap '' TERM; sleep 60 & sleep 60")
	c.Window, c.KillAfter = 50*time.Millisecond, 50*time.Millisecond
	session := 0
	c.Started = func(pid int) { session = pid }
	if x := l.Run(t.Context(), c); x.End != launch.EndWindow || x.Signal != "KILL" || !x.Killed || x.Err != nil {
		t.Errorf("got %+v", x)
	}
	// Its orphans are killed with the group and are no children of the launcher's
	// here: it cannot wait for their end.
	for deadline := time.Now().Add(10 * time.Second); len(leftOf(t, session)) > 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	wantNothingLeft(t, session)
}
