// Package doctor says what makes a machine noisy, or unsafe to measure code of
// others on, and what to do about it. It is pure: what was found out about the
// machine comes in as Facts, and goes out as lines for a person.
//
// It refuses to change anything and to decide anything: whether sessions may be
// compared is the gate's.
package doctor

import (
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/result"
)

// Facts are what was found out about a machine.
type Facts struct {
	Host result.Host // fingerprint; a missing key was not readable

	Load      host.Load
	LoadKnown bool

	Scaling      host.Scaling
	ScalingKnown bool

	Group         host.Group // in which processes of a run could be counted; Version 0: none is visible
	GroupWritable bool

	Temperature float64 // °C; used when Sensor is known
	Sensor      string  // "x86_pkg_temp"; empty: no sensor can be read

	Root    bool
	Secrets []string // names of variables of the environment, never values

	LockFolder string // empty: none that all users share
	LockWhy    string // why there is none, or why the lock cannot be used
	LockHolder string // who measures at the moment; empty: nobody
}

// Level is how much a line matters.
type Level string

// Levels.
const (
	OK   Level = "ok"   // as it should be
	Info Level = "info" // good to know, or not to be known
	Warn Level = "warn" // makes numbers noisy or the machine unsafe
)

// Line is one thing that was looked at.
type Line struct {
	Level Level
	Topic string
	Seen  string
	Why   string // it matters
	Do    string // empty: nothing
}

// Examine looks at all facts, always in the same order.
func Examine(f Facts) []Line {
	return []Line{
		machine(f), load(f), governor(f), turbo(f), scaling(f), smt(f), layout(f), virtual(f), container(f),
		groups(f), sensors(f), root(f), secrets(f), lock(f),
	}
}

func machine(f Facts) Line {
	var parts []string
	for _, key := range []string{host.KeyCPUModel, host.KeyBoard, host.KeyCPUs, host.KeyMemory, host.KeyPowerMode} {
		v := f.Host.Strict[key]
		switch {
		case v == "":
			continue
		case key == host.KeyCPUs:
			v += " CPUs"
		case key == host.KeyPowerMode:
			v = "power mode " + v
		}
		parts = append(parts, v)
	}
	for _, key := range []string{host.KeyDistribution, host.KeyKernel} {
		if v := f.Host.Soft[key]; v != "" {
			parts = append(parts, v)
		}
	}
	return Line{Info, "machine", strings.Join(parts, ", "), "sessions are compared only with sessions of a machine like this one", ""}
}

func load(f Facts) Line {
	l := Line{OK, "load", "not readable", "what else runs takes CPU, caches and memory bandwidth from what is measured", ""}
	switch {
	case !f.LoadKnown:
		l.Level = Info
	case f.Load.Note() != "":
		l.Level, l.Do = Warn, "find it with `top` and end it, or measure on a machine of its own"
		fallthrough
	default:
		l.Seen = fmt.Sprintf("%.2f over one minute, %.2f over five", f.Load.One, f.Load.Five)
	}
	return l
}

func governor(f Facts) Line {
	l := Line{Level: OK, Topic: "governor", Seen: f.Host.Strict[host.KeyGovernor],
		Why: "any other than performance raises the clock only after a load was seen, so short runs are slow"}
	switch l.Seen {
	case "performance":
	case "":
		l.Level, l.Seen = Info, "not visible"
	default:
		l.Level, l.Do = Warn, "as root: cpupower frequency-set -g performance"
	}
	return l
}

func turbo(f Facts) Line {
	l := Line{Level: OK, Topic: "turbo", Seen: f.Host.Soft[host.KeyTurbo],
		Why: "the clock above the nominal one depends on heat and on how many CPUs are busy"}
	switch l.Seen {
	case "":
		l.Level, l.Seen = Info, "not visible"
	case "on":
		l.Level = Warn
		l.Do = "as root: echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 >/sys/devices/system/cpu/cpufreq/boost"
	}
	return l
}

func scaling(f Facts) Line {
	l := Line{Level: OK, Topic: "clock", Seen: "not visible", Why: "the same work takes another time at another clock"}
	switch s := f.Scaling; {
	case !f.ScalingKnown:
		l.Level = Info
	case s.Fixed():
		l.Seen = "held to " + gigahertz(s.Max)
	default:
		l.Seen = fmt.Sprintf("scales from %s to %s", gigahertz(s.Min), gigahertz(s.Max))
		l.Level, l.Do = Info, "where numbers scatter: hold it to one frequency that the cooling can keep, as root with cpupower frequency-set -d F -u F"
	}
	return l
}

func gigahertz(hz float64) string { return fmt.Sprintf("%.2f GHz", hz/1e9) }

func smt(f Facts) Line {
	l := Line{Level: OK, Topic: "smt", Seen: f.Host.Soft[host.KeySMT],
		Why: "two threads of one core share its units and caches: a neighbour slows what is measured"}
	switch l.Seen {
	case "":
		l.Level, l.Seen = Info, "not visible"
	case "on":
		l.Level, l.Do = Info, "where numbers scatter, as root: echo off >/sys/devices/system/cpu/smt/control"
	}
	return l
}

func layout(f Facts) Line {
	l := Line{Level: OK, Topic: "aslr", Seen: f.Host.Soft[host.KeyASLR],
		Why: "each run gets another memory layout, and repeats average over it; without it one lucky layout looks like a change"}
	switch l.Seen {
	case "":
		l.Level, l.Seen = Info, "not visible"
	case "0":
		l.Level, l.Seen, l.Do = Warn, "off", "as root: sysctl kernel.randomize_va_space=2"
	default:
		l.Seen = "on"
	}
	return l
}

func virtual(f Facts) Line {
	l := Line{Level: OK, Topic: "virtual machine", Seen: f.Host.Soft[host.KeyHypervisor], Why: "neighbours on the same host take time that is not seen from inside"}
	switch l.Seen {
	case "":
		l.Level, l.Seen = Info, "not visible"
	case "yes":
		l.Level, l.Do = Warn, "judge small changes on a machine of its own"
	}
	return l
}

func container(f Facts) Line {
	l := Line{Level: OK, Topic: "limits", Seen: "none", Why: "a group that has used up its share of CPU stands still until the next period, 100 ms as a rule"}
	var parts []string
	if v := f.Host.Strict[host.KeyCPULimit]; v != "" {
		l.Level, l.Do = Warn, "give the container whole CPUs (a cpuset) in place of a quota"
		parts = append(parts, v+" cores of CPU time")
	}
	if v := f.Host.Strict[host.KeyCPUsAllowed]; v != "" {
		parts = append(parts, v+" of "+f.Host.Strict[host.KeyCPUs]+" CPUs")
	}
	if v := f.Host.Soft[host.KeyMemoryLimit]; v != "" {
		parts = append(parts, v+" of memory")
	}
	if len(parts) > 0 {
		l.Seen = strings.Join(parts, ", ")
		if l.Level == OK {
			l.Level = Info
		}
	}
	return l
}

func groups(f Facts) Line {
	l := Line{Level: OK, Topic: "cgroup", Why: "in a group of its own a run's CPU time is exact, also that of processes nobody waits for"}
	switch {
	case f.Group.Version == 0:
		l.Level, l.Seen = Info, "not visible"
	case f.GroupWritable:
		l.Seen = fmt.Sprintf("version %d, groups can be made", f.Group.Version)
	default:
		l.Level, l.Seen = Info, fmt.Sprintf("version %d, no group can be made here", f.Group.Version)
		l.Do = "where programs leave processes behind: start perfweir by systemd-run --user --scope -p Delegate=yes"
	}
	return l
}

func sensors(f Facts) Line {
	l := Line{OK, "temperature", "no sensor can be read", "a hot machine lowers its clock; `cooldown: {band: 3}` waits until it is as cool as in the beginning", ""}
	if f.Sensor == "" {
		l.Level, l.Do = Info, "use a plain rest, `cooldown: 5s`, where runs heat the machine"
		return l
	}
	l.Seen = fmt.Sprintf("%.1f °C, %s", f.Temperature, f.Sensor)
	return l
}

func root(f Facts) Line {
	l := Line{OK, "user", "not root", "code under test runs as the same user", ""}
	if f.Root {
		l.Level, l.Seen = Warn, "root"
		l.Why = "code under test runs as root too: it can read the environment and files of this process whatever we do, and change the machine"
		l.Do = "run it as a user of its own that may do nothing else"
	}
	return l
}

func secrets(f Facts) Line {
	l := Line{OK, "secrets", "none in the environment", "commands get none of them, but the shell or the runner above may hold the same and be read by code under test", ""}
	if len(f.Secrets) > 0 {
		l.Level, l.Seen = Warn, strings.Join(f.Secrets, ", ")
		l.Do = "measure in a step, or a shell, that does not have them"
	}
	return l
}

func lock(f Facts) Line {
	l := Line{OK, "lock", f.LockFolder, "two sessions that measure at once disturb each other, so the second one waits (`exclusive: machine`)", ""}
	switch {
	case f.LockWhy != "":
		l.Level, l.Seen, l.Do = Warn, f.LockWhy, "mend it, or write `exclusive: none` where nothing else measures"
	case f.LockHolder != "":
		l.Level, l.Seen = Info, f.LockFolder+", held now: "+f.LockHolder
	}
	return l
}
