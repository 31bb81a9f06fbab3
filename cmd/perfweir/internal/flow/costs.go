package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"slices"

	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/gate/selftest"
)

// injectionCosts measures what injections take on this machine.
func (s Shell) injectionCosts(ctx context.Context) (c selftest.Costs, err error) {
	if c.PerSecond, err = loopRate(ctx, 5); err != nil {
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
// has: the median of some tries, the shell's own start taken off.
func loopRate(ctx context.Context, tries int) (float64, error) {
	const iterations = 200_000
	var rates []float64
	for range tries {
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
// in bytes, by the launcher, whose children have no mark of ours: the mean over sizes
// that lie within three steps (host.ResidentStep): one size alone would be off by half of
// one.
func toucherSize(ctx context.Context, l *launch.Launcher) (float64, error) {
	const (
		least = 1 << 20 // the shell itself takes less
		sizes = 33
		tries = 3
	)
	apart := 3 * int64(host.ResidentStep("/")) / (sizes - 1)
	sum := 0.0
	for i := range int64(sizes) {
		memory := least + i*apart
		peaks, err := toucherPeaks(ctx, l, memory, tries)
		if err != nil {
			return 0, err
		}
		for _, peak := range peaks {
			sum += peak - float64(memory)
		}
	}
	return max(0, sum/(sizes*tries)), nil
}

// toucherPeaks are the peaks of some runs of the process that touches so much memory,
// in bytes.
func toucherPeaks(ctx context.Context, l *launch.Launcher, memory int64, runs int) ([]float64, error) {
	var out []float64
	for range runs {
		x := l.Run(ctx, launch.Command{Argv: selftest.Work{Kinds: []string{selftest.Memory}, Memory: memory}.Wrap([]string{"true"})})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case x.Err != nil:
			return nil, fmt.Errorf("self-test: try the injection of memory: %w", x.Err)
		case x.End != launch.EndExited || x.ExitCode != 0:
			return nil, fmt.Errorf("self-test: try the injection of memory: exit code %d %s", x.ExitCode, x.Signal)
		}
		out = append(out, float64(x.MaxRSS))
	}
	return out, nil
}

// fitMemory is the amount, near to memory, whose process peaks at so many bytes: see
// fitPeak. Where nothing can be measured it is memory.
func fitMemory(ctx context.Context, memory int64, peak float64) (int64, error) {
	const runs = 7
	l, err := launch.Start(launch.Options{})
	if err != nil {
		return memory, nil // who measured what injections cost has said it
	}
	defer l.Close()
	return fitPeak(memory, peak, int64(host.ResidentStep("/")), func(at int64) ([]float64, error) { return toucherPeaks(ctx, l, at, runs) })
}

// fitPeak is the amount, near to memory, whose peaks have the least mean distance from
// peak: peaks come in steps, so that a session's median of one size lies a step beside
// that of the next, which is some percent of a small command and more than its sessions
// differ by. Sizes in the middle of a step count with what lies to either side of them:
// beside the sampler a run may have a page more or less than here, which decides at the
// edge of one.
func fitPeak(memory int64, peak float64, step int64, peaksOf func(memory int64) ([]float64, error)) (int64, error) {
	const (
		page   = 4 << 10
		apart  = 8 // sizes in a step
		most   = 5 // sizes to either side: beyond half a step the same comes again
		beside = 2 // sizes
	)
	var sizes []int64
	var off []float64
	for i := int64(-most - beside); i <= most+beside; i++ {
		at := max(page, memory+i*step/apart)
		peaks, err := peaksOf(at)
		if err != nil {
			return 0, err
		}
		sum := 0.0
		for _, got := range peaks {
			sum += math.Abs(got - peak)
		}
		sizes, off = append(sizes, at), append(off, sum)
	}
	best, nearest := memory, math.Inf(1)
	for i := beside; i < len(sizes)-beside; i++ {
		sum := 0.0
		for _, o := range off[i-beside : i+beside+1] {
			sum += o
		}
		if sum < nearest {
			best, nearest = sizes[i], sum
		}
	}
	return best, nil
}
