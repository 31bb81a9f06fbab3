package selftest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
)

// Kinds of injection.
const (
	CPU    = "cpu"    // computes before the command
	Sleep  = "sleep"  // waits before the command
	Memory = "memory" // touches memory before the command
	Write  = "write"  // writes a file before the command
)

// Amount is how much is injected: a share of what the cell's own runs take, or a
// fixed amount in s or B.
type Amount struct {
	Kind  string
	Share float64
	Fixed float64
	// Auto is a share of each cell's own: the change that the gate finds there with
	// probability 0.9, as it says itself. See Measured.Effect.
	Auto bool
	Text string
}

// ParseAmount reads "cpu=10%", "cpu=auto", "sleep=50ms", "memory=64MiB", "write=16MiB".
func ParseAmount(text string) (Amount, error) {
	kind, amount, ok := strings.Cut(text, "=")
	a := Amount{Kind: kind, Text: text}
	var err error
	switch {
	case !ok:
		err = fmt.Errorf("want KIND=AMOUNT")
	case amount == "auto" && (kind == CPU || kind == Sleep || kind == Memory):
		a.Auto = true
	case strings.HasSuffix(amount, "%") && (kind == CPU || kind == Sleep || kind == Memory):
		a.Share, err = unit.Percent(amount)
	case kind == CPU || kind == Sleep:
		a.Fixed, err = unit.Duration(amount)
	case kind == Memory || kind == Write:
		var n int64
		n, err = unit.Size(amount)
		a.Fixed = float64(n)
	default:
		err = fmt.Errorf("%q is none of %s, %s, %s and %s", kind, CPU, Sleep, Memory, Write)
	}
	if err == nil && !(a.Share > 0 || a.Fixed > 0 || a.Auto) {
		err = fmt.Errorf("nothing is injected")
	}
	if err != nil {
		return Amount{}, fmt.Errorf("injection %q: %w: write cpu=10%%, sleep=50ms, memory=64MiB or write=16MiB", text, err)
	}
	return a, nil
}

// Of is what a share is a share of: the metric's name.
func (a Amount) Of() string {
	switch a.Kind {
	case Memory:
		return result.MemoryPeakProcess
	case CPU: // on a busy machine a share of wall_time would be many times as much
		return result.CPUTime
	}
	return result.WallTime
}

// Moves reports whether a kind of injection can move a built-in metric. What a
// program reports of itself is moved by none: the work is done before it starts.
func Moves(kind, metric string) bool {
	switch metric {
	case result.WallTime, result.Throughput:
		return true // whatever is done takes time
	case result.CPUTime, result.UserTime, result.SystemTime:
		return kind != Sleep
	case result.MemoryPeak, result.MemoryPeakProcess:
		return kind == Memory
	}
	return kind == Write && (strings.HasPrefix(metric, "io_") || strings.HasPrefix(metric, "disk_"))
}

// script does the work before the command and then becomes the command, so that
// what runs is the same process tree as without. Its first words are iterations,
// seconds, bytes of memory and bytes to write; "-" leaves a kind of work out. Runs
// of the unchanged suite are started through it too and do the same with an amount
// of 0: what the programs below cost by themselves is on both sides.
const script = `i=0
[ "$1" = - ] || while [ "$i" -lt "$1" ]; do i=$((i+1)); done
[ "$2" = - ] || sleep "$2"
[ "$3" = - ] || head -c "$3" /dev/zero | tail -c "$3" >/dev/null
[ "$4" = - ] || head -c "$4" /dev/zero >"$PERFWEIR_OUT/injected"
shift 4
exec "$@"`

// Work is what is done before a command.
type Work struct {
	Kinds      []string // that are done at all, if only with an amount of 0
	Iterations int64    // of an empty loop of the shell
	Seconds    float64
	Memory     int64 // bytes
	Write      int64 // bytes
}

// Wrap is a command line with the work in front.
func (w Work) Wrap(argv []string) []string {
	words := []string{"/bin/sh", "-c", script, "injected"}
	for _, k := range []struct{ kind, amount string }{
		{CPU, fmt.Sprint(w.Iterations)}, {Sleep, fmt.Sprintf("%.6f", w.Seconds)}, {Memory, fmt.Sprint(w.Memory)}, {Write, fmt.Sprint(w.Write)},
	} {
		if !slices.Contains(w.Kinds, k.kind) {
			k.amount = "-"
		}
		words = append(words, k.amount)
	}
	return append(words, argv...)
}

// Costs are what work takes on this machine.
type Costs struct {
	PerSecond float64 // iterations of the loop in a second of CPU time
	// Toucher is what the process that touches memory takes beside that, in bytes.
	Toucher float64
}

// UsualToucher is Costs.Toucher where it cannot be measured: 1.3 to 1.6 MiB with the
// coreutils of Debian 12, as much of the C library as the kernel has at hand.
const UsualToucher = 1_450_000

// Add puts an amount into work, for a cell whose own runs come to reference, in
// the unit of Of.
func (a Amount) Add(w Work, reference float64, costs Costs) Work {
	amount := a.Fixed + a.Share*reference
	switch a.Kind {
	case CPU:
		w.Iterations = int64(amount * costs.PerSecond)
	case Sleep:
		w.Seconds = amount
	case Memory:
		w.Memory = int64(amount)
		if a.Fixed == 0 { // the peak is that of the largest process, not a sum
			w.Memory = int64(max(4096, reference+amount-costs.Toucher))
		}
	case Write:
		w.Write = int64(amount)
	}
	return w
}
