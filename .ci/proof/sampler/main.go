// Command sampler measures what reading a process tree costs, for
// .ci/proof/sampler.sh.
//
//	sampler SECONDS PYTHON POLLER.PY
//
// For 1, 10 and 100 processes below one parent, one of them spinning and the
// others asleep, it runs our sampler and then the Python poller at 10 Hz for
// SECONDS each, in processes of their own, three times over. It prints the median
// share of one core each took and the ticks that all three kept, and exits 1 when
// twice a goal is exceeded.
//
// It starts itself again as "read PID LAUNCHER SECONDS", which is our sampler.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/sample/linuxproc"
	"github.com/perfweir/perfweir/collect/series"
)

const every = 100 * time.Millisecond

// goals in percent of one core; every tick is to be kept.
var goals = []struct {
	processes int
	percent   float64
}{{1, 0.3}, {10, 0.4}, {100, 2}}

func main() { proof.Main("sampler", run) }

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "read":
		return read(args[1], args[2], args[3])
	case len(args) == 3:
		return compare(args[0], args[1], args[2])
	}
	return fmt.Errorf("usage: sampler SECONDS PYTHON POLLER.PY")
}

// tree is a shell that stands in for the launcher: it starts another in a session
// of its own, which prints its number, with as many processes below it as is said.
const tree = `setsid sh -c 'n=$1
	(while :; do :; done) &
	while [ "$((n -= 1))" -gt 0 ]; do sleep 1000 & done
	echo $$
	wait' sh "$1" &
wait`

// figures are what one sampler did; a line of them is what it prints.
type figures struct {
	percent        float64 // of one core
	kept, expected int     // ticks
	processes      int     // least seen in a tick
}

func (f figures) String() string {
	return fmt.Sprint(f.percent, f.kept, f.expected, f.processes)
}

// read is our sampler, and the CPU time of its process.
func read(pid, launcher, seconds string) error {
	var n [2]int
	for i, s := range []string{pid, launcher} {
		var err error
		if n[i], err = strconv.Atoi(s); err != nil {
			return err
		}
	}
	length, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return err
	}
	begun, cpu := time.Now(), ownCPU()
	s := sample.Start(context.Background(), every, []sample.Source{linuxproc.NewUnder("/proc", n[1])}, n[0])
	time.Sleep(length + every/2) // not on a slot, which it would cut off
	set, stats := s.Stop()
	f := figures{percent: 100 * (ownCPU() - cpu).Seconds() / time.Since(begun).Seconds(), kept: stats[0].Read, expected: stats[0].Expected}
	for _, one := range set.Series {
		if one.Metric == series.Processes {
			f.processes = int(one.V[0])
			for _, v := range one.V {
				f.processes = min(f.processes, int(v))
			}
		}
	}
	_, err = fmt.Println(f)
	return err
}

// ownCPU is the CPU time of this process, user and system.
func ownCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func compare(seconds, python, poller string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	broken := false
	fmt.Println("processes  sampler  core %  goal %  ticks kept")
	for _, goal := range goals {
		ours, theirs, err := measure(self, goal.processes, seconds, python, poller)
		if err != nil {
			return err
		}
		fmt.Printf("%9d  %-7s  %6.2f  %6.1f  %d of %d\n", goal.processes, "ours", ours.percent, goal.percent, ours.kept, ours.expected)
		fmt.Printf("%9d  %-7s  %6.2f  %6s  %d of %d\n", goal.processes, "Python", theirs.percent, "", theirs.kept, theirs.expected)
		// Twice a loss of no tick is none; one in a hundred is left to a busy machine.
		broken = broken || ours.percent > 2*goal.percent || ours.kept*100 < ours.expected*99
	}
	if broken {
		return fmt.Errorf("more than twice a goal, or ticks lost")
	}
	return nil
}

// measure lets both samplers read one tree, one after the other, three times.
func measure(self string, n int, seconds, python, poller string) (ours, theirs figures, err error) {
	launcher := exec.Command("sh", "-c", tree, "sh", strconv.Itoa(n))
	launcher.Stderr = os.Stderr
	out, err := launcher.StdoutPipe()
	if err != nil {
		return ours, theirs, err
	}
	if err := launcher.Start(); err != nil {
		return ours, theirs, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return ours, theirs, err
	}
	main, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return ours, theirs, err
	}
	defer func() { _ = unix.Kill(-main, unix.SIGKILL); _ = launcher.Wait() }()
	pid := strconv.Itoa(main)
	var all [2][]figures
	for range 3 {
		for i, command := range [][]string{{self, "read", pid, strconv.Itoa(launcher.Process.Pid), seconds}, {python, poller, pid, seconds}} {
			f, err := ask(n, command[0], command[1:]...)
			if err != nil {
				return ours, theirs, err
			}
			all[i] = append(all[i], f)
		}
	}
	return median(all[0]), median(all[1]), nil
}

// median is that of the shares, beside the sum of the ticks.
func median(all []figures) (f figures) {
	slices.SortFunc(all, func(a, b figures) int { return cmp.Compare(a.percent, b.percent) })
	f.percent = all[len(all)/2].percent
	for _, one := range all {
		f.kept += one.kept
		f.expected += one.expected
	}
	return f
}

// ask runs a sampler and reads its line. One that did not see the parent and its
// n processes in every tick has measured something else.
func ask(n int, name string, args ...string) (f figures, err error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return f, fmt.Errorf("%s: %w", cmd, err)
	}
	if _, err := fmt.Sscan(string(bytes.TrimSpace(out)), &f.percent, &f.kept, &f.expected, &f.processes); err != nil {
		return f, fmt.Errorf("%s printed %q: %w", cmd, out, err)
	}
	if f.processes != n+1 {
		return f, fmt.Errorf("%s saw %d processes at least, not %d", cmd, f.processes, n+1)
	}
	return f, nil
}
