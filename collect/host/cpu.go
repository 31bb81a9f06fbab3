package host

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// cpuInfo is what /proc/cpuinfo says, whose form is another one on every
// architecture.
type cpuInfo struct {
	cpus       int
	models     []string // of each CPU that has one
	microcode  string
	hypervisor string // "yes" or "no" where the CPU's flags are listed (x86)
}

// modelKeys are the names under which architectures give the model: x86,
// LoongArch ("Model Name"), POWER ("cpu"), RISC-V ("uarch"), S/390 has none.
// "Hardware" is what 32-bit ARM kernels call the board's chip.
var modelKeys = []string{"model name", "cpu", "uarch", "hardware"}

func parseCPUInfo(text string) cpuInfo {
	var c cpuInfo
	var arm armCPU
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		k, v = strings.ToLower(strings.TrimSpace(k)), strings.TrimSpace(v)
		switch {
		case k == "processor" || strings.HasPrefix(k, "processor "): // "processor 0:" on S/390
			c.flush(&arm)
			c.cpus++
		case k == "microcode" && c.microcode == "":
			c.microcode = v
		case k == "flags":
			c.hypervisor = "no"
			if slices.Contains(strings.Fields(v), "hypervisor") {
				c.hypervisor = "yes"
			}
		case slices.Contains(modelKeys, k):
			c.models = append(c.models, v)
		default:
			arm.set(k, v)
		}
	}
	c.flush(&arm)
	return c
}

// flush ends the block of one CPU.
func (c *cpuInfo) flush(arm *armCPU) {
	if name := arm.name(); name != "" {
		c.models = append(c.models, name)
	}
	*arm = armCPU{}
}

// model returns the distinct models in their order, joined by " + ".
func (c *cpuInfo) model() string { return joinDistinct(c.models) }

// armCPU is the identity of one ARM core. Their cpuinfo has no model's name: a
// name would need a list of all cores ever made, which is wrong the day after,
// so the numbers are the model.
type armCPU struct{ implementer, part, variant, revision string }

func (a *armCPU) set(key, value string) {
	switch key {
	case "cpu implementer":
		a.implementer = value
	case "cpu part":
		a.part = value
	case "cpu variant":
		a.variant = value
	case "cpu revision":
		a.revision = value
	}
}

// name is "ARM 0x41:0xd0b r4p1": implementer, part, and variant and revision in
// ARM's rNpM form.
func (a *armCPU) name() string {
	if a.implementer == "" || a.part == "" {
		return ""
	}
	name := "ARM " + a.implementer + ":" + a.part
	if v, err := strconv.ParseUint(a.variant, 0, 16); err == nil && a.revision != "" {
		name += " r" + strconv.FormatUint(v, 10) + "p" + a.revision
	}
	return name
}

func joinDistinct(all []string) string {
	var kept []string
	for _, s := range all {
		if s != "" && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " + ")
}

// cpusOnline counts the CPUs that are switched on; 0 when that is not known.
func (r reader) cpusOnline(info cpuInfo) int {
	if n := countCPUs(r.text("sys/devices/system/cpu/online")); n > 0 {
		return n
	}
	return info.cpus
}

// countCPUs counts the members of a list like "0-3,8,10-11"; 0 when it is none.
func countCPUs(list string) int {
	const most = 1 << 20
	n := 0
	for _, part := range strings.Split(list, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 20)
		b, errB := strconv.ParseUint(to, 10, 20)
		if errA != nil || errB != nil || a > b {
			return 0
		}
		if n += int(b-a) + 1; n > most {
			return 0
		}
	}
	return n
}

// turbo says whether the CPU may run above its nominal clock. Intel's driver
// has a switch of its own, the other drivers share one.
func (r reader) turbo() string {
	switch r.text("sys/devices/system/cpu/intel_pstate/no_turbo") {
	case "0":
		return "on"
	case "1":
		return "off"
	}
	return onOff(r.text("sys/devices/system/cpu/cpufreq/boost"))
}

func onOff(digit string) string {
	switch digit {
	case "1":
		return "on"
	case "0":
		return "off"
	}
	return ""
}

// chosen returns the word in brackets of "always [madvise] never".
func chosen(choice string) string {
	_, rest, _ := strings.Cut(choice, "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return word
}

// distribution returns PRETTY_NAME of os-release.
func (r reader) distribution() string {
	text := r.text("etc/os-release")
	if text == "" {
		text = r.text("usr/lib/os-release")
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}

// kibibytes reads "16384 kB" as bytes; 0 when it is no such amount.
func kibibytes(amount string) float64 {
	digits, ok := strings.CutSuffix(amount, " kB")
	n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 53)
	if !ok || err != nil {
		return 0
	}
	return float64(n) * 1024
}

// gibibytes rounds bytes to whole GiB, at least one; empty for none.
func gibibytes(bytes float64) string {
	if bytes <= 0 {
		return ""
	}
	return strconv.FormatFloat(max(1, math.Round(bytes/(1<<30))), 'f', 0, 64) + " GiB"
}
