package host_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/host"
)

func TestReadScaling(t *testing.T) {
	const cpu = "sys/devices/system/cpu/cpu"
	for name, c := range map[string]struct {
		files map[string]string
		want  host.Scaling
		ok    bool
		fixed bool
	}{
		"nothing": {nil, host.Scaling{}, false, false},
		"two kinds of CPU": {map[string]string{
			cpu + "0/cpufreq/cpuinfo_min_freq": "400000\n", cpu + "0/cpufreq/cpuinfo_max_freq": "4700000\n",
			cpu + "4/cpufreq/cpuinfo_min_freq": "300000\n", cpu + "4/cpufreq/cpuinfo_max_freq": "3500000\n",
			cpu + "0/cpufreq/scaling_min_freq": "400000\n", cpu + "0/cpufreq/scaling_max_freq": "4700000\n",
			cpu + "4/cpufreq/scaling_min_freq": "800000\n", cpu + "4/cpufreq/scaling_max_freq": "3500000\n",
		}, host.Scaling{Lowest: 300e6, Highest: 4.7e9, Min: 400e6, Max: 4.7e9}, true, false},
		"held": {map[string]string{
			cpu + "0/cpufreq/scaling_min_freq": "2000000\n", cpu + "0/cpufreq/scaling_max_freq": "2000000\n",
		}, host.Scaling{Min: 2e9, Max: 2e9}, true, true},
		"garbage": {map[string]string{cpu + "0/cpufreq/scaling_min_freq": "<unknown>\n", cpu + "0/cpufreq/scaling_max_freq": "\n"}, host.Scaling{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := host.ReadScaling(machine(t, c.files))
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok || got.Fixed() != c.fixed {
				t.Errorf("ok %v, fixed %v (-want +got):\n%s", ok, got.Fixed(), diff)
			}
		})
	}
}

func TestReadGroups(t *testing.T) {
	const v2 = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for name, c := range map[string]struct {
		cgroup, mounts string
		want           []host.Group
	}{
		"nothing":        {"", "", nil},
		"version 2":      {"0::/user.slice/job\n", v2, []host.Group{{Version: 2, Folder: "/sys/fs/cgroup/user.slice/job"}}},
		"not mounted":    {"0::/user.slice/job\n", "", nil},
		"version 1":      {"4:cpu,cpuacct:/a\n3:memory:/b\n", "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n", []host.Group{{Version: 1, Folder: "/sys/fs/cgroup/cpu/a"}}},
		"both":           {"4:cpuacct:/\n0::/x\n", "31 23 0:27 / /g1 rw - cgroup c rw,cpuacct\n32 23 0:28 / /g2 rw - cgroup2 c rw\n", []host.Group{{1, "/g1"}, {2, "/g2/x"}}},
		"not of v1's":    {"3:memory:/b\nnonsense\n", v2, nil},
		"in a container": {"0::/\n", v2, []host.Group{{2, "/sys/fs/cgroup"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := host.ReadGroups(machine(t, map[string]string{"proc/self/cgroup": c.cgroup, "proc/self/mountinfo": c.mounts}))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
