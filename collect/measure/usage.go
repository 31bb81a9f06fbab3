package measure

import (
	"math"
	"time"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/reduce"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/series"
)

// tickSampled is the wall time under which user_time and system_time say little:
// the kernel charges them by its tick, 1 to 10 ms.
const tickSampled = 100 * time.Millisecond

// sampledSlack is how much more CPU time the sampler must have seen than rusage
// told before processes are missing there: two ticks of /proc's clock.
const sampledSlack = 20 * time.Millisecond

// launchSource tells that commands were started without the launcher, and why.
func (j *job) launchSource() []result.Source {
	if j.run.Launcher == nil || j.exit.NoLauncher == "" {
		return nil
	}
	return []result.Source{{Name: "launch", State: result.SourceAbsent, Reason: result.AbsentNoLauncher + ": " + j.exit.NoLauncher}}
}

// cpuTimes are by rusage. A process whose parent ignores SIGCHLD is missing there:
// its CPU time is the control group's to tell, or, where there is none, what the
// sampler saw of it last, and then the difference is the bound. How it was divided
// is not known, so that the others carry the difference too.
func (j *job) cpuTimes() (cpu, user, system reduce.Value) {
	x := &j.exit
	if x.End == launch.EndLost || x.Err != nil && x.User+x.System == 0 {
		none := reduce.Absent(result.AbsentUnreadable) // waiting failed: no usage was told
		return none, none, none
	}
	told := x.User + x.System
	total, bound := x.CPU, 0.0
	if seen := j.sampledCPU(); !x.Grouped && seen > total+sampledSlack {
		bound = (seen - total).Seconds()
		total = seen
		j.warn("%v of CPU time are of processes that nobody waits for, as last sampled: cpu_time may lack the end of theirs", (seen - told).Round(time.Millisecond))
	}
	missing := (total - told).Seconds()
	cpu = reduce.Exact(total.Seconds(), bound)
	user, system = reduce.Exact(x.User.Seconds(), missing), reduce.Exact(x.System.Seconds(), missing)
	if x.Wall < tickSampled {
		user, system = reduce.Absent(result.AbsentTooShort), reduce.Absent(result.AbsentTooShort)
	}
	return cpu, user, system
}

// sampledCPU is the CPU time of the tree as last sampled; 0 where it was not.
func (j *job) sampledCPU() time.Duration {
	s, ok := j.sampled.set.Find(series.CPU, "")
	if !ok || s.Len() == 0 {
		return 0
	}
	last := s.V[s.Len()-1]
	if !(last >= 0 && last < math.MaxInt32) {
		return 0
	}
	return seconds(last)
}

// memory returns memory_peak and memory_peak_process.
func (j *job) memory() (peak, process reduce.Value) {
	x := &j.exit
	exact := reduce.Exact(float64(x.MaxRSS), 0)
	switch {
	case x.End == launch.EndLost || x.MaxRSS <= 0 && x.Err != nil:
		process = reduce.Absent(result.AbsentUnreadable)
		exact = process
	case x.Floor == 0:
		// The child's own high-water mark holds the memory of this program (Linux
		// carries it over fork and exec): it is nobody's number.
		process = reduce.Absent(result.AbsentNoLauncher)
		exact = process
	case x.MaxRSS <= x.Floor: // at most the launcher's own mark
		process = reduce.Exact(float64(x.Floor), float64(x.Floor))
		exact = reduce.Absent(result.AbsentTooShort)
	default:
		if x.CPUFromGroup {
			exact.Bound = math.NaN()
			j.warn("processes that nobody waits for used CPU time: memory_peak_process may lack theirs")
		}
		process = exact
	}
	if _, ok := j.sampled.set.Find(series.Memory, ""); !ok {
		return reduce.Absent(j.sampled.absence()), process
	}
	return reduce.MemoryPeak(j.sampled.set, exact), process
}
