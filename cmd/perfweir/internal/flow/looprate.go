package flow

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"github.com/perfweir/perfweir/gate/selftest"
)

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
