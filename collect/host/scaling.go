package host

import (
	"slices"
	"strings"
)

// Scaling is the range of the CPUs' clocks in Hz; 0 is not known. Of CPUs that
// differ the widest range is given.
type Scaling struct {
	Lowest, Highest float64 // what the hardware can do
	Min, Max        float64 // what it is held to
}

// Fixed reports whether the clocks are held to one frequency.
func (s Scaling) Fixed() bool { return s.Min > 0 && s.Min == s.Max }

// ReadScaling reads the machine whose files are under root; ok is false where
// the kernel does not scale clocks, or does not show it, as in most virtual
// machines.
func ReadScaling(root string) (s Scaling, ok bool) {
	r := reader{root}
	const folder = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/"
	s.Lowest, _ = r.extremes(folder + "cpuinfo_min_freq")
	_, s.Highest = r.extremes(folder + "cpuinfo_max_freq")
	s.Min, _ = r.extremes(folder + "scaling_min_freq")
	_, s.Max = r.extremes(folder + "scaling_max_freq")
	return s, s.Min > 0 && s.Max > 0
}

// extremes of files that hold kHz, in Hz.
func (r reader) extremes(pattern string) (low, high float64) {
	for _, text := range strings.Split(r.distinct(pattern), " + ") {
		v := number(text) * 1000
		if v <= 0 {
			continue
		}
		low, high = smaller(low, v), max(high, v)
	}
	return low, high
}

// Group is a cgroup of this process: where processes of a run could be counted
// in a group of their own.
type Group struct {
	Version int    // 1 or 2
	Folder  string // below root
}

// ReadGroups lists the cgroups in which this process is and whose folder it can
// see: the one of version 2, and that of version 1 which counts CPU time.
func ReadGroups(root string) []Group {
	r := reader{root}
	mounts := parseMounts(r.text("proc/self/mountinfo"))
	var out []Group
	for line := range strings.Lines(r.text("proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimRight(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		version, controller := 1, "cpuacct"
		switch {
		case parts[0] == "0" && parts[1] == "":
			version, controller = 2, ""
		case !slices.Contains(strings.Split(parts[1], ","), controller):
			continue
		}
		own := ""
		r.climb(mounts, controller, parts[2], func(folder string) {
			if own == "" {
				own = folder // the first one is its own, the others are above
			}
		})
		if own != "" {
			out = append(out, Group{version, own})
		}
	}
	return out
}
