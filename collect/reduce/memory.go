package reduce

import (
	"math"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/series"
)

// MemoryPeak is the measurement memory_peak of a run: the larger of the largest
// sampled sum of resident sets over the process tree (series.Memory of set) and
// process, the measurement memory_peak_process, where that is there.
//
// The two see different things. The sampled sum sees all processes together but
// only at ticks; the other sees one process, at every moment. So each is a floor
// of the truth, and the larger one is nearer. When no tick saw a second process
// and the exact figure is the larger, it is the answer and its bound holds;
// otherwise there is no bound.
//
// It is absent with Peak's reasons, under MinTicks readings above all, even when
// process is there: one process of an unknown number is not the run's memory.
// A set without the series is not_run.
func MemoryPeak(set series.Set, process Value) Value {
	memory, ok := set.Find(series.Memory, "")
	if !ok {
		return Absent(result.AbsentNotRun)
	}
	peak := Peak(memory)
	if !peak.OK() || !process.OK() || math.IsNaN(process.V) || process.V < peak.V {
		return peak
	}
	if !single(set) {
		process.Bound = math.NaN()
	}
	return process
}

// single reports whether every tick saw one process.
func single(set series.Set) bool {
	s, ok := set.Find(series.Processes, "")
	if !ok {
		return false
	}
	most := Peak(s)
	return most.OK() && most.V <= 1
}
