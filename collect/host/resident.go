package host

import (
	"fmt"
	"os"
)

// ResidentStep is the least difference, in bytes, that the kernel's counts of resident
// memory tell on the machine whose files are under root ("/" but in tests): those in
// /proc/PID/stat, and the peak in a process's rusage. It is a page before Linux 6.2.
// Since then each CPU counts for itself and hands in what it has once that is a batch of
// 32 pages, or of two for each CPU online where those are more (lib/percpu_counter.c,
// compute_batch_value; the counts themselves: include/linux/mm.h, get_mm_counter): what
// is not handed in yet is not in the count. An unchanged program leaves about the same
// behind in every run, a changed one something else.
func ResidentStep(root string) float64 {
	const (
		leastBatch = 32 // pages
		perCPU     = 2  // pages
	)
	r := reader{root: root}
	page := float64(os.Getpagesize())
	if !countsPerCPU(r.text("proc/sys/kernel/osrelease")) {
		return page
	}
	return page * float64(max(leastBatch, perCPU*r.cpusOnline(parseCPUInfo(r.text("proc/cpuinfo")))))
}

// countsPerCPU reports whether a kernel of that release is Linux 6.2 or later; false
// where it does not say.
func countsPerCPU(release string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 6 || major == 6 && minor >= 2
}
