package doctor

import (
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/result"
)

// quiet is a machine as it should be.
func quiet() Facts {
	return Facts{
		Host: result.Host{
			Strict: map[string]string{"cpu_model": "EPYC 7763", "cpus": "8", "memory": "64 GiB", "governor": "performance"},
			Soft:   map[string]string{"kernel": "6.1.0", "turbo": "off", "smt": "off", "aslr": "2", "hypervisor": "no", "distribution": "Debian 12"},
		},
		Load: host.Load{One: 0.02, Five: 0.1}, LoadKnown: true,
		Scaling: host.Scaling{Min: 2e9, Max: 2e9}, ScalingKnown: true,
		Group: host.Group{Version: 2, Folder: "/sys/fs/cgroup"}, GroupWritable: true,
		Temperature: 41.5, Sensor: "x86_pkg_temp", LockFolder: "/run/lock",
	}
}

func TestAQuietMachine(t *testing.T) {
	for _, l := range Examine(quiet()) {
		want := OK
		if l.Topic == "machine" {
			want = Info
		}
		if l.Level != want || l.Do != "" || l.Seen == "" || l.Why == "" {
			t.Errorf("%+v", l)
		}
	}
}

// What each fact changes: one line, and what it says.
func TestExamine(t *testing.T) {
	for _, c := range []struct {
		topic string
		edit  func(*Facts)
		level Level
		seen  string
		do    string
	}{
		{"machine", func(f *Facts) { f.Host.Strict["power_mode"] = "MAXN" }, Info, "EPYC 7763, 8 CPUs, 64 GiB, power mode MAXN, Debian 12, 6.1.0", ""},
		{"load", func(f *Facts) { f.Load.One = 0.7 }, Warn, "0.70 over one minute, 0.10 over five", "top"},
		{"load", func(f *Facts) { f.LoadKnown = false }, Info, "not readable", ""},
		{"governor", func(f *Facts) { f.Host.Strict["governor"] = "performance + powersave" }, Warn, "performance + powersave", "frequency-set"},
		{"governor", func(f *Facts) { delete(f.Host.Strict, "governor") }, Info, "not visible", ""},
		{"turbo", func(f *Facts) { f.Host.Soft["turbo"] = "on" }, Warn, "on", "no_turbo"},
		{"turbo", func(f *Facts) { delete(f.Host.Soft, "turbo") }, Info, "not visible", ""},
		{"clock", func(f *Facts) { f.Scaling.Min = 8e8 }, Info, "scales from 0.80 GHz to 2.00 GHz", "cpupower"},
		{"clock", func(f *Facts) { f.ScalingKnown = false }, Info, "not visible", ""},
		{"smt", func(f *Facts) { f.Host.Soft["smt"] = "on" }, Info, "on", "smt/control"},
		{"aslr", func(f *Facts) { f.Host.Soft["aslr"] = "0" }, Warn, "off", "sysctl"},
		{"virtual machine", func(f *Facts) { f.Host.Soft["hypervisor"] = "yes" }, Warn, "yes", "of its own"},
		{"limits", func(f *Facts) { f.Host.Strict["cpu_limit"] = "2.5" }, Warn, "2.5 cores of CPU time", "cpuset"},
		{"limits", func(f *Facts) { f.Host.Strict["cpus_allowed"] = "3"; f.Host.Soft["memory_limit"] = "4 GiB" }, Info, "3 of 8 CPUs, 4 GiB of memory", ""},
		{"cgroup", func(f *Facts) { f.GroupWritable = false }, Info, "version 2, no group can be made here", "Delegate"},
		{"cgroup", func(f *Facts) { f.Group = host.Group{} }, Info, "not visible", ""},
		{"temperature", func(f *Facts) { f.Sensor = "" }, Info, "no sensor", "cooldown: 5s"},
		{"user", func(f *Facts) { f.Root = true }, Warn, "root", "user of its own"},
		{"secrets", func(f *Facts) { f.Secrets = []string{"A_TOKEN", "GITHUB_TOKEN"} }, Warn, "A_TOKEN, GITHUB_TOKEN", "step"},
		{"lock", func(f *Facts) { f.LockFolder, f.LockWhy = "", "none of /tmp is shared" }, Warn, "none of /tmp is shared", "exclusive: none"},
		{"lock", func(f *Facts) { f.LockHolder = "process 7" }, Info, "/run/lock, held now: process 7", ""},
	} {
		f := quiet()
		c.edit(&f)
		for i, l := range Examine(f) {
			before := Examine(quiet())[i]
			switch {
			case l.Topic != c.topic && l != before:
				t.Errorf("%s also changed %+v", c.topic, l)
			case l.Topic == c.topic && (l.Level != c.level || !strings.Contains(l.Seen, c.seen) || (l.Do != "") != (c.do != "") || !strings.Contains(l.Do, c.do)):
				t.Errorf("%s: %+v, want %s %q, do %q", c.topic, l, c.level, c.seen, c.do)
			}
		}
	}
}

// Root is told what cannot hold.
func TestRootIsTold(t *testing.T) {
	f := quiet()
	f.Root = true
	for _, l := range Examine(f) {
		if l.Topic == "user" && !strings.Contains(l.Why, "can read the environment and files of this process whatever we do") {
			t.Errorf("%+v", l)
		}
	}
}

// Of a machine that tells nothing, nothing is praised or blamed but what is known.
func TestNothingKnown(t *testing.T) {
	for _, l := range Examine(Facts{LockFolder: "/tmp"}) {
		if l.Level == Warn || l.Seen == "" && l.Topic != "machine" {
			t.Errorf("%+v", l)
		}
	}
}
