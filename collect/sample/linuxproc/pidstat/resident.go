package pidstat

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// ResidentStep is the least difference, in bytes, that the kernel's counts of resident
// memory tell on this machine: RSSPages, and the peak in a process's rusage. It is a
// page before Linux 6.2. Since then each CPU counts for itself and hands in what it has
// once that is a batch of 32 pages, or of two for each CPU online where those are more
// (lib/percpu_counter.c, compute_batch_value; the counts themselves: include/linux/mm.h,
// get_mm_counter): what is not handed in yet is not in the count. An unchanged program
// leaves about the same behind in every run, a changed one something else.
func (p *Proc) ResidentStep() float64 {
	const (
		leastBatch = 32 // pages
		perCPU     = 2  // pages
	)
	page := float64(os.Getpagesize())
	if !p.countsPerCPU() {
		return page
	}
	return page * float64(max(leastBatch, perCPU*p.cpusOnline()))
}

// countsPerCPU reports whether the kernel is Linux 6.2 or later; false where it does not
// say.
func (p *Proc) countsPerCPU() bool {
	text, err := os.ReadFile(filepath.Join(p.root, "sys", "kernel", "osrelease"))
	if err != nil {
		return false
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(text), "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > 6 || major == 6 && minor >= 2
}

// cpusOnline counts the lines of single CPUs in /proc/stat, which has those online; 0
// where it cannot be read.
func (p *Proc) cpusOnline() int {
	text, err := os.ReadFile(filepath.Join(p.root, "stat"))
	if err != nil {
		return 0
	}
	n := 0
	for line := range bytes.Lines(text) {
		if number, ok := bytes.CutPrefix(line, []byte("cpu")); ok && len(number) > 0 && number[0] >= '0' && number[0] <= '9' {
			n++
		}
	}
	return n
}
