package measure

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/result"
)

const burnVariable = "MEASURE_TEST_BURN"

// The test binary is also the command under test: it uses a second of CPU time,
// itself or in a child that the kernel reaps because nobody wants to.
func TestMain(m *testing.M) {
	switch os.Getenv(burnVariable) {
	case "self":
		var ru syscall.Rusage
		for ru.Utime.Nano()+ru.Stime.Nano() < int64(time.Second) {
			if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
				os.Exit(1)
			}
		}
		os.Exit(0)
	case "ignored child":
		signal.Ignore(syscall.SIGCHLD)
		c := exec.Command("/proc/self/exe")
		c.Env = []string{burnVariable + "=self"}
		_ = c.Run() // there is nothing to wait for, which is an error
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func burning(t *testing.T, how string, l *launch.Launcher) Run {
	t.Helper()
	r := shell(t, "")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.Cell.Exec.Argv = []string{exe}
	r.Cell.Exec.Env.Set = map[string]string{burnVariable: how}
	r.Interval, r.Launcher = 100*time.Millisecond, l
	return r
}

// A process that nobody waits for is in the control group's count, or else in what
// was sampled, and then it is marked.
func TestCPUTimeOfWhatNobodyReaps(t *testing.T) {
	for name, o := range map[string]launch.Options{"group": {}, "sampled": {NoGroup: true}} {
		t.Run(name, func(t *testing.T) {
			l, err := launch.Start(o)
			if err != nil {
				t.Skip(err)
			}
			defer l.Close()
			grouped := l.Run(t.Context(), launch.Command{Argv: []string{"/bin/true"}}).Grouped
			if !o.NoGroup && !grouped {
				t.Skip("no control group can be made here")
			}
			got := Do(t.Context(), burning(t, "ignored child", l))
			cpu := find(t, got, result.CPUTime)
			if cpu.Absent != "" || cpu.Value > 3 {
				t.Errorf("cpu_time = %v %q", cpu.Value, cpu.Absent)
			}
			if grouped {
				if cpu.Value < 0.95 || cpu.Bound != 0 {
					t.Errorf("cpu_time = %v, bound %v", cpu.Value, cpu.Bound)
				}
				if user := find(t, got, result.UserTime); user.Value > 0.9 || user.Bound < 0.85 {
					t.Errorf("user_time = %v, bound %v: it lacks the child", user.Value, user.Bound)
				}
				return
			}
			if cpu.Value < 0.85 || cpu.Bound < 0.8 {
				t.Errorf("cpu_time = %v, bound %v", cpu.Value, cpu.Bound)
			}
			warned(t, got, "nobody waits for")
		})
	}
}

func TestCPUTimeOfAnOrphanThatLingers(t *testing.T) {
	r := shell(t, `"$0" & exit 0`)
	r.Cell.Exec.Argv = append(r.Cell.Exec.Argv, "/proc/self/exe")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.Cell.Exec.Argv[3] = exe
	r.Cell.Exec.Env.Set = map[string]string{burnVariable: "self"}
	r.Cell.Exec.Linger = 120
	got := Do(t.Context(), r)
	if cpu := find(t, got, result.CPUTime); cpu.Value < 0.95 || cpu.Bound != 0 {
		t.Errorf("cpu_time = %v, bound %v", cpu.Value, cpu.Bound)
	}
	if wall := find(t, got, result.WallTime); wall.Value > 0.9 || len(got.Detail.Warnings) > 0 {
		t.Errorf("wall_time = %v, warnings %q", wall.Value, got.Detail.Warnings)
	}
}

// M1: with the launcher it is exact, without it absent, and what is not above the
// launcher's own mark is at most that.
func TestMemoryPeakProcess(t *testing.T) {
	got := Do(t.Context(), shell(t, "sleep 0.2"))
	process, peak := find(t, got, result.MemoryPeakProcess), find(t, got, result.MemoryPeak)
	if process.Value < 256<<10 || process.Value > 8<<20 || process.Bound != 0 {
		t.Errorf("memory_peak_process = %v, bound %v", process.Value, process.Bound)
	}
	if peak.Value < process.Value || peak.Value > 16<<20 {
		t.Errorf("memory_peak = %v, of a process %v", peak.Value, process.Value)
	}
	if want := host.ResidentStep("/"); process.Def.Step != want || peak.Def.Step != want {
		t.Errorf("steps of %v and %v B, this machine counts in %v", process.Def.Step, peak.Def.Step, want)
	}
	if len(got.Sources) != 1 {
		t.Errorf("sources %+v", got.Sources)
	}

	r := shell(t, "exit 0")
	r.Launcher = nil
	absent(t, Do(t.Context(), r), result.MemoryPeakProcess, result.AbsentNoLauncher)

	for name, c := range map[string]struct {
		exit           launch.Exit
		value, bound   float64
		absent, sample string
	}{
		"exact":        {exit: launch.Exit{MaxRSS: 5000, Floor: 4096}, value: 5000},
		"at the floor": {exit: launch.Exit{MaxRSS: 4096, Floor: 4096}, value: 4096, bound: 4096},
		"below it":     {exit: launch.Exit{MaxRSS: 0, Floor: 4096}, value: 4096, bound: 4096},
		"no launcher":  {exit: launch.Exit{MaxRSS: 9999}, absent: result.AbsentNoLauncher},
		"lost":         {exit: launch.Exit{End: launch.EndLost, Floor: 4096}, absent: result.AbsentUnreadable},
		"not told":     {exit: launch.Exit{Floor: 4096, Err: errors.New("x")}, absent: result.AbsentUnreadable},
	} {
		j := job{exit: c.exit}
		_, v := j.memory()
		if v.Absent != c.absent || c.absent == "" && (v.V != c.value || v.Bound != c.bound) {
			t.Errorf("%s: got %+v", name, v)
		}
	}
	j := job{exit: launch.Exit{MaxRSS: 5000, Floor: 4096, CPUFromGroup: true}}
	if _, v := j.memory(); v.V != 5000 || !math.IsNaN(v.Bound) {
		t.Errorf("with processes missing: %+v", v)
	}
}

// killLauncher kills the launcher from below once it has told that the command has
// started: only then does it sleep. Killed before that it has told of no start, and
// then the command is started again, by another one.
const killLauncher = `while read -r _ _ state _ < /proc/$PPID/stat && [ "$state" != S ]; do :; done; kill -9 $PPID; `

// The code under test can kill the launcher: the run is invalid, the next is not.
func TestALostRunIsInvalid(t *testing.T) {
	l, err := launch.Start(launch.Options{})
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	r := shell(t, killLauncher+"sleep 60")
	r.Launcher = l
	got := Do(t.Context(), r)
	if got.Status != result.Failed || got.Detail.Valid == nil || *got.Detail.Valid || got.Detail.ExitCode != nil {
		t.Errorf("got %s %+v", got.Status, got.Detail)
	}
	for _, name := range []string{result.WallTime, result.CPUTime, result.UserTime, result.MemoryPeakProcess} {
		absent(t, got, name, result.AbsentUnreadable)
	}
	r = shell(t, "exit 0")
	r.Launcher = l
	if got := Do(t.Context(), r); got.Status != result.Success || got.Detail.Valid != nil {
		t.Errorf("got %s %+v", got.Status, got.Detail)
	}
}

func TestRunsBesideSurvivorsAreInvalid(t *testing.T) {
	j := &job{exit: launch.Exit{End: launch.EndExited, Beside: []launch.Process{{PID: 7, Name: "a\nb"}}}}
	j.settle()
	if j.out.Detail.Valid == nil || *j.out.Detail.Valid {
		t.Error("a run beside a survivor is valid")
	}
	warned(t, j.out, `process 7 ("a\nb") of an earlier run was still there`)
	j = &job{exit: launch.Exit{End: launch.EndExited, Survivors: []launch.Process{{PID: 8, Name: "stuck"}}}}
	j.settle()
	if j.out.Detail.Valid != nil {
		t.Error("the run that left it is not the one that it disturbs")
	}
	warned(t, j.out, `process 8 ("stuck")`)
}
