package flow

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/gate/selftest"
)

// injectionCosts measures what injections take on this machine.
func (s Shell) injectionCosts(ctx context.Context) (c selftest.Costs, err error) {
	if c.PerSecond, err = loopRate(ctx); err != nil {
		return c, err
	}
	l, err := launch.Start(launch.Options{})
	if err != nil {
		s.say("the injection of memory is taken to be of its usual size: its process cannot be measured: %v", err)
		c.Toucher = selftest.UsualToucher
		return c, nil
	}
	defer l.Close()
	c.Toucher, err = toucherSize(ctx, l)
	return c, err
}

// loopRate is how many iterations of the injection's loop a second of CPU time
// has: the median of five tries, the shell's own start taken off.
func loopRate(ctx context.Context) (float64, error) {
	const iterations = 200_000
	var rates []float64
	for range 5 {
		idle, err := cpuOf(ctx, 0)
		if err != nil {
			return 0, err
		}
		busy, err := cpuOf(ctx, iterations)
		if err != nil {
			return 0, err
		}
		if busy > idle {
			rates = append(rates, iterations/(busy-idle))
		}
	}
	if len(rates) == 0 {
		return 0, errors.New("self-test: the injection's loop takes no time that can be measured")
	}
	slices.Sort(rates)
	return rates[len(rates)/2], nil
}

// cpuOf is the CPU time of a command that does nothing behind so many iterations, in s.
func cpuOf(ctx context.Context, iterations int64) (float64, error) {
	argv := selftest.Work{Kinds: []string{selftest.CPU}, Iterations: iterations}.Wrap([]string{"true"})
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("self-test: try the injection: %w", err)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// toucherSize is what the injection's process that touches memory takes beside that,
// in bytes: the median of eleven tries by the launcher, whose children have no mark of
// ours.
func toucherSize(ctx context.Context, l *launch.Launcher) (float64, error) {
	const memory = 2 << 20 // small commands feel the difference; the shell itself takes less than both together
	argv := selftest.Work{Kinds: []string{selftest.Memory}, Memory: memory}.Wrap([]string{"true"})
	var sizes []int64
	for range 11 {
		x := l.Run(ctx, launch.Command{Argv: argv})
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case x.Err != nil:
			return 0, fmt.Errorf("self-test: try the injection of memory: %w", x.Err)
		case x.End != launch.EndExited || x.ExitCode != 0:
			return 0, fmt.Errorf("self-test: try the injection of memory: exit code %d %s", x.ExitCode, x.Signal)
		}
		sizes = append(sizes, x.MaxRSS-memory)
	}
	slices.Sort(sizes)
	return float64(max(0, sizes[len(sizes)/2])), nil
}
