package result

import (
	"cmp"
	"slices"
	"strings"
)

// CompareMetrics orders metric names for people, and columns in a document: what
// a run cost first, then what it did, then every other name alphabetically.
func CompareMetrics(a, b string) int {
	return cmp.Or(cmp.Compare(metricRank(a), metricRank(b)), strings.Compare(a, b))
}

func metricRank(name string) int {
	first := [...]string{
		WallTime, CPUTime, UserTime, SystemTime, MemoryPeak, MemoryPeakProcess, OutputSize, Throughput,
		Attempts, ErrorCount, ErrorRate, Check,
	}
	if i := slices.Index(first[:], name); i >= 0 {
		return i
	}
	return len(first)
}
