// Package host describes the machine of a session: the fingerprint that decides
// whether two sessions may be compared, the machine's name, how busy it was before
// the session began, and how finely it counts memory.
//
// It holds what is read from /proc, /sys and /etc, and how it is written down.
// It refuses to compare (the gate does) and to change anything. Its data goes to
// the sessions of the results document.
//
// What cannot be read is left out: a missing key differs from every value, and
// an empty one would not. Nothing that identifies a person or an installation is
// read: no machine id, serial number, address or user.
package host

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

// Keys of Host.Strict: sessions that differ in one are not comparable.
const (
	KeyCPUModel    = "cpu_model"
	KeyCPUs        = "cpus"         // online
	KeyCPUsAllowed = "cpus_allowed" // where fewer than those: by affinity or cpuset
	KeyCPULimit    = "cpu_limit"    // of the container, in cores; absent: none
	KeyArch        = "architecture"
	KeyMemory      = "memory" // rounded to GiB: the kernel keeps a little, which changes with it
	KeyGovernor    = "governor"
	KeyBoard       = "board" // of the device tree, where there is one
)

// Keys of Host.Soft: a difference is a doubt.
const (
	KeyKernel           = "kernel"
	KeyMicrocode        = "microcode"
	KeyTurbo            = "turbo"
	KeyDistribution     = "distribution"
	KeySMT              = "smt"
	KeyHypervisor       = "hypervisor"
	KeyMemoryLimit      = "memory_limit" // of the container, rounded to GiB
	KeyASLR             = "aslr"
	KeyHugePages        = "transparent_hugepage"
	KeyFrequencyDriver  = "frequency_driver"
	KeyFrequencyMax     = "frequency_max"
	KeyEnergyPreference = "energy_preference"
)

// Fingerprint reads the machine whose files are under root: "/" but in tests.
// Values are what the kernel says, with white space collapsed. It never fails: a
// machine of which nothing can be read has only its architecture.
func Fingerprint(root string) result.Host {
	r := reader{root: root}
	info := parseCPUInfo(r.text("proc/cpuinfo"))
	cpus := r.cpusOnline(info)
	limits := r.limits()
	strict, soft := facts{}, facts{}

	strict.put(KeyCPUModel, info.model())
	strict.count(KeyCPUs, cpus)
	if allowed := countCPUs(field(r.text("proc/self/status"), "Cpus_allowed_list")); allowed < cpus {
		strict.count(KeyCPUsAllowed, allowed)
	}
	if limits.cores > 0 {
		strict.put(KeyCPULimit, strconv.FormatFloat(limits.cores, 'g', 6, 64))
	}
	strict.put(KeyArch, runtime.GOARCH)
	strict.put(KeyMemory, gibibytes(kibibytes(field(r.text("proc/meminfo"), "MemTotal"))))
	strict.put(KeyGovernor, r.distinct("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	strict.put(KeyPowerMode, r.powerMode())
	strict.put(KeyBoard, strings.TrimRight(r.text("proc/device-tree/model"), "\x00"))

	soft.put(KeyKernel, r.text("proc/sys/kernel/osrelease"))
	soft.put(KeyMicrocode, info.microcode)
	soft.put(KeyTurbo, r.turbo())
	soft.put(KeyDistribution, r.distribution())
	soft.put(KeySMT, onOff(r.text("sys/devices/system/cpu/smt/active")))
	soft.put(KeyHypervisor, info.hypervisor)
	soft.put(KeyMemoryLimit, gibibytes(limits.memory))
	soft.put(KeyASLR, r.text("proc/sys/kernel/randomize_va_space"))
	soft.put(KeyHugePages, chosen(r.text("sys/kernel/mm/transparent_hugepage/enabled")))
	soft.put(KeyFrequencyDriver, r.distinct("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_driver"))
	soft.put(KeyFrequencyMax, r.distinct("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_max_freq"))
	soft.put(KeyEnergyPreference, r.distinct("sys/devices/system/cpu/cpu[0-9]*/cpufreq/energy_performance_preference"))
	return result.Host{Strict: strict, Soft: soft}
}

// facts is one side of a fingerprint.
type facts map[string]string

// longest is how much of a value is kept: these are names, and some come from
// firmware.
const longest = 200

// put stores a value in one line without control characters, unless nothing is
// left of it.
func (f facts) put(key, value string) {
	value = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(value, " "))
	value = strings.Join(strings.Fields(value), " ")
	if runes := []rune(value); len(runes) > longest {
		value = string(runes[:longest])
	}
	if value != "" {
		f[key] = value
	}
}

func (f facts) count(key string, n int) {
	if n > 0 {
		f[key] = strconv.Itoa(n)
	}
}

// reader reads small files of the kernel under a root.
type reader struct{ root string }

// largest is how much of a file is read: /proc/cpuinfo of a machine of 1,000
// CPUs has 1.5 MB.
const largest = 4 << 20

// text returns a file's content without white space around it, empty when it
// cannot be read. The kernel refuses some files with an error that depends on
// its version, and none of these errors is for the user to act on.
func (r reader) text(path string) string {
	f, err := os.Open(filepath.Join(r.root, path))
	if err != nil {
		return ""
	}
	defer f.Close()
	var text strings.Builder
	buf := make([]byte, 64<<10)
	for text.Len() < largest {
		n, err := f.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			break
		}
	}
	return strings.TrimSpace(text.String())
}

// distinct returns the different contents of the files of a pattern, sorted by
// first appearance and joined by " + ": CPUs of two kinds may differ.
func (r reader) distinct(pattern string) string {
	paths, err := filepath.Glob(filepath.Join(r.root, pattern))
	if err != nil {
		return ""
	}
	var all []string
	for _, path := range paths {
		rel, err := filepath.Rel(r.root, path)
		if err != nil {
			continue
		}
		all = append(all, r.text(rel))
	}
	return joinDistinct(all)
}

// field returns the value of the first line "name: value" of a text.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
