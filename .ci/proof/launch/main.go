// Command launch measures how late the clock of a run stops, for
// .ci/proof/launch.sh.
//
//	launch PROGRAM RUNS
//
// PROGRAM prints CLOCK_MONOTONIC in ns as the last thing it does. It is run by the
// launcher, and by a parent that looks every 5 ms whether it has ended.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/collect/launch"
)

// goal is the longest median delay of the launcher. Twice of it fails.
const goal = 300 * time.Microsecond

func main() { proof.Main("launch", run) }

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: launch PROGRAM RUNS")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 1 {
		return fmt.Errorf("%q is no number of runs", args[1])
	}
	dir, err := os.MkdirTemp("", "launch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	l, err := launch.Start(launch.Options{})
	if err != nil {
		return err
	}
	defer l.Close()
	notified, err := repeat(n, out, func() (int64, error) {
		x := l.Run(context.Background(), launch.Command{Argv: []string{args[0]}, Stdout: out})
		ago := time.Since(x.StartedAt.Add(x.Wall))
		return now() - int64(ago), x.Err
	})
	if err != nil {
		return err
	}
	polled, err := repeat(n/10+1, out, func() (int64, error) { return poll(args[0], out) })
	if err != nil {
		return err
	}
	fmt.Printf("| stop of the clock | median | 99 %% |\n| --- | --- | --- |\n")
	fmt.Printf("| the launcher, by notification | %v | %v |\n", quantile(notified, 0.5), quantile(notified, 0.99))
	fmt.Printf("| looking every 5 ms | %v | %v |\n", quantile(polled, 0.5), quantile(polled, 0.99))
	if m := quantile(notified, 0.5); m > 2*goal {
		return fmt.Errorf("the median delay %v is over twice the goal of %v", m, goal)
	}
	return nil
}

// repeat returns how long after the program's own last reading each clock stopped.
func repeat(n int, out string, once func() (stopped int64, err error)) ([]time.Duration, error) {
	var delays []time.Duration
	for range n {
		stopped, err := once()
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		said, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return nil, err
		}
		delays = append(delays, time.Duration(stopped-said))
	}
	slices.Sort(delays)
	return delays, nil
}

// poll is how a runner stops its clock that sleeps between looks.
func poll(program, out string) (int64, error) {
	f, err := os.Create(out)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	c := exec.Command(program)
	c.Stdout = f
	if err := c.Start(); err != nil {
		return 0, err
	}
	for {
		var status unix.WaitStatus
		if pid, err := unix.Wait4(c.Process.Pid, &status, unix.WNOHANG, nil); pid != 0 || err != nil {
			return now(), err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))].Round(time.Microsecond)
}
