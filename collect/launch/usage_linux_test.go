package launch_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// needs skips a test whose tools are not there. Where everything must run, as in
// CI, it fails instead.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil && os.Getenv("PERFWEIR_CI") != "" {
		t.Fatalf("%s is needed: %v", program, err)
	}
	if err != nil {
		t.Skipf("no %s here", program)
	}
	return path
}

// burn uses a second of CPU time, itself or in a child that it treats badly.
func burn(role string) int {
	if role == "burn a second" {
		var ru syscall.Rusage
		for ru.Utime.Nano()+ru.Stime.Nano() < int64(time.Second) {
			if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
				return 1
			}
		}
		return 0
	}
	if role == "ignores SIGCHLD" {
		signal.Ignore(syscall.SIGCHLD)
	}
	child, err := os.StartProcess("/proc/self/exe", []string{"burner"}, &os.ProcAttr{Env: []string{roleVariable + "=burn a second"}})
	switch {
	case err != nil:
		return 1
	case role == "ignores SIGCHLD":
		_, _ = child.Wait() // until the kernel has reaped it
	case role == "never waits":
		for proc := pidstat.Open("/proc"); ; time.Sleep(5 * time.Millisecond) {
			if s, err := proc.Stat(child.Pid); err != nil || s.Ended() {
				break
			}
		}
	}
	return 0
}

func TestEveryDescendantsCPUTimeCounts(t *testing.T) {
	l := session(t, launch.Options{})
	for _, role := range []string{"burn a second", "never waits", "leaves an orphan", "ignores SIGCHLD"} {
		t.Run(role, func(t *testing.T) {
			c := played(t, role)
			c.Linger = 2 * time.Minute // ends with the orphan
			x := run(t, l, c)
			if x.End != launch.EndExited || x.ExitCode != 0 || x.Leftover != 0 || x.Err != nil {
				t.Fatalf("got %+v", x)
			}
			lost := role == "ignores SIGCHLD"
			if lost && !x.Grouped {
				t.Skip("no control group can be made here: collect/measure tests that case")
			}
			if x.CPU < 950*time.Millisecond || x.CPU > 3*time.Second || x.CPUFromGroup != lost {
				t.Errorf("CPU time %v, by the group: %v", x.CPU, x.CPUFromGroup)
			}
			if !lost && x.CPU != x.User+x.System {
				t.Errorf("CPU time %v is not %v + %v", x.CPU, x.User, x.System)
			}
		})
	}
}

func TestNoLingerEndsTheOrphan(t *testing.T) {
	x := run(t, session(t, launch.Options{}), shell("(while :; do :; done) & exit 0"))
	if x.End != launch.EndExited || x.Leftover != 1 || x.CPU <= 0 || x.Err != nil {
		t.Errorf("got %+v, want one that burned and was ended", x)
	}
}

func TestLingerIsOverSometime(t *testing.T) {
	c := shell("sleep 60 &")
	c.Linger = 50 * time.Millisecond
	inBoth(t, func(t *testing.T, l *launch.Launcher) {
		if x := run(t, l, c); x.Leftover != 1 || x.Wall > 10*time.Second || x.Err != nil {
			t.Errorf("got %+v", x)
		}
	})
}

const mib = 1 << 20

// touch compiles a program that touches as many MiB as its argument says.
func touch(t *testing.T) string {
	t.Helper()
	cc := needs(t, "cc")
	dir := t.TempDir()
	source := `#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	size_t n = (size_t)atoi(argv[argc - 1]) << 20;
	volatile char *p = malloc(n);
	memset((void *)p, 1, n);
	return !p[n / 2];
}`
	if err := os.WriteFile(dir+"/touch.c", []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(cc, "-O1", "-o", dir+"/touch", dir+"/touch.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir + "/touch"
}

// M1: a command's peak memory is its own, whatever the runner holds.
func TestPeakMemoryIsTheCommandsOwn(t *testing.T) {
	ballast := make([]byte, 300*mib)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	l := session(t, launch.Options{})
	if l.Floor() <= 0 || l.Floor() > mib/2 {
		t.Errorf("the launcher's own mark is %d bytes", l.Floor())
	}
	small := func() int64 {
		x := l.Run(t.Context(), launch.Command{Argv: []string{"/bin/true"}})
		if x.Err != nil || x.Floor < l.Floor() || x.MaxRSS <= x.Floor || x.NoLauncher != "" {
			t.Fatalf("got %+v", x)
		}
		return x.MaxRSS
	}
	if got := small(); got >= 2*mib {
		t.Errorf("/bin/true took %d bytes", got)
	}
	big := touch(t)
	for range 3 {
		x := run(t, l, launch.Command{Argv: []string{big, "64"}})
		if x.ExitCode != 0 || x.MaxRSS < 64*mib || x.MaxRSS > 67*mib {
			t.Errorf("64 MiB took %.1f MiB: %+v", float64(x.MaxRSS)/mib, x)
		}
	}
	if got := small(); got >= 2*mib {
		t.Errorf("/bin/true after it took %d bytes", got)
	}
	// A large environment is the command's memory and must not stay the launcher's.
	x := run(t, l, launch.Command{Argv: []string{"/bin/true"}, Env: slices.Repeat([]string{"X=" + strings.Repeat("x", 60<<10)}, 12)})
	if x.Err != nil || x.Floor < l.Floor()+12*60<<10 {
		t.Errorf("got %+v", x)
	}
	runs := 3000
	if testing.Short() {
		runs = 200
	}
	for range runs {
		if got := small(); got >= 2*mib {
			t.Fatalf("/bin/true took %d bytes", got)
		}
	}
	if ballast[4096] != 1 {
		t.Error("unreachable: the ballast must live until here")
	}
}

// The largest of all processes, also of one that lost its parent.
func TestPeakMemoryOfAnOrphan(t *testing.T) {
	big := touch(t)
	c := shell(`(exec "$1" 40 &) ; exit 0`, big)
	c.Linger = time.Minute
	if x := run(t, session(t, launch.Options{}), c); x.MaxRSS < 40*mib || x.MaxRSS > 43*mib || x.Err != nil {
		t.Errorf("got %+v", x)
	}
}

func TestTheGroupIsRemoved(t *testing.T) {
	l, err := launch.Start(launch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := launch.GroupPath(l)
	if path == "" {
		l.Close()
		t.Skip("no control group can be made here")
	}
	if _, err := os.Stat(filepath.Join(path, "cgroup.procs")); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", path, err)
	}
}
