package result

import (
	"slices"
	"strings"
)

// Names of the built-in metrics that more than one room speaks of.
const (
	WallTime          = "wall_time"
	CPUTime           = "cpu_time"
	UserTime          = "user_time"
	SystemTime        = "system_time"
	MemoryPeak        = "memory_peak"
	MemoryPeakProcess = "memory_peak_process"
	OutputSize        = "output_size"
	CrashRate         = "crash_rate"
	ErrorRate         = "error_rate"
	ErrorCount        = "error_count"
	Attempts          = "attempts"
	Throughput        = "throughput"
	Check             = "check"
	TimePerOp         = "time_per_op"
	BytesPerOp        = "bytes_per_op"
	AllocsPerOp       = "allocs_per_op"
	BytesPerSecond    = "bytes_per_second"
)

// Catalogue returns the definitions of the built-in metrics by name. A user's
// or a tool's metric brings its definition along; the document carries its own
// table. The map is fresh at every call.
func Catalogue() map[string]Metric {
	return map[string]Metric{
		WallTime:   {Unit: "s", Better: Lower, Class: Noisy, Source: "launch", Step: 1e-9},
		CPUTime:    {Unit: "s", Better: Lower, Class: Noisy, Source: "rusage", Step: 1e-6},
		UserTime:   {Unit: "s", Better: Lower, Class: Noisy, Source: "rusage", Step: 0.01},
		SystemTime: {Unit: "s", Better: Lower, Class: Noisy, Source: "rusage", Step: 0.01},
		// Largest sum of resident sets over the process tree, sampled. A session's own
		// step of both is in its document: see host.ResidentStep.
		MemoryPeak: {Unit: "B", Better: Lower, Class: Noisy, Source: "linuxproc", Step: 4096},
		// Largest resident set of one process, from the launcher.
		MemoryPeakProcess: {Unit: "B", Better: Lower, Class: Noisy, Source: "launch", Step: 4096},
		// Bytes of the file that the benchmark's expect names.
		OutputSize: {Unit: "B", Better: Lower, Class: Exact, Source: "out", Step: 1},
		// Share of runs that did not end in success or window_reached. It is
		// counted by the gate from statuses and never stored as a column.
		CrashRate:  {Unit: "1", Better: Lower, Class: Level, Source: "status"},
		ErrorRate:  {Unit: "1", Better: Lower, Class: Level, Source: "report"},
		ErrorCount: {Unit: "1", Better: Lower, Class: Level, Source: "report", Step: 1},
		Attempts:   {Unit: "1", Better: Higher, Class: Noisy, Source: "report", Step: 1},
		Throughput: {Unit: "1/s", Better: Higher, Class: Noisy, Source: "report"},
		// A named boolean, 1 or 0; the part is its name.
		Check: {Unit: "1", Better: Higher, Class: Exact, Source: "report", Step: 1},

		// What a benchmark inside a program prints of one operation. Allocations
		// and their bytes hardly move; where an operation's share of them depends
		// on how often it ran, they move a little.
		TimePerOp:      {Unit: "s", Per: "op", Better: Lower, Class: Noisy, Source: "report"},
		BytesPerOp:     {Unit: "B", Per: "op", Better: Lower, Class: Counted, Source: "report"},
		AllocsPerOp:    {Unit: "1", Per: "op", Better: Lower, Class: Counted, Source: "report"},
		BytesPerSecond: {Unit: "B/s", Better: Higher, Class: Noisy, Source: "report"},

		"latency_min":        {Unit: "s", Better: Lower, Class: Noisy, Source: "report"},
		"latency_mean":       {Unit: "s", Better: Lower, Class: Noisy, Source: "report"},
		"latency_p50":        {Unit: "s", Better: Lower, Class: Tail, Source: "report"},
		"latency_p90":        {Unit: "s", Better: Lower, Class: Tail, Source: "report"},
		"latency_p95":        {Unit: "s", Better: Lower, Class: Tail, Source: "report"},
		"latency_p99":        {Unit: "s", Better: Lower, Class: Tail, Source: "report"},
		"latency_p999":       {Unit: "s", Better: Lower, Class: Tail, Source: "report"},
		"latency_max":        {Unit: "s", Better: Lower, Class: Tail, Source: "report"},
		"time_to_first_byte": {Unit: "s", Better: Lower, Class: Noisy, Source: "report"},
		"handshake_time":     {Unit: "s", Better: Lower, Class: Noisy, Source: "report"},
	}
}

// BetterOf is the direction that a base unit has by itself (C08): time, memory,
// energy and power are costs, bytes a second are gains. Another unit has none.
func BetterOf(base string) string {
	over, _, isRate := strings.Cut(base, "/")
	switch {
	case base == "B/s":
		return Higher
	case over == "s", over == "J", over == "W", over == "B" && !isRate:
		return Lower
	}
	return ""
}

// BuiltinNames returns the names of the catalogue in order.
func BuiltinNames() []string {
	m := Catalogue()
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
