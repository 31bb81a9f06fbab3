package host_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/result"
)

// machine makes a root with the files given: a content, or "@name" for a file of
// testdata.
func machine(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range files {
		if name, ok := strings.CutPrefix(text, "@"); ok {
			b, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFingerprint(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	root := machine(t, map[string]string{
		"proc/cpuinfo":                                     "@cpuinfo_two_cpus",
		"proc/meminfo":                                     "@meminfo_16gb",
		"proc/self/status":                                 "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-1,4\n",
		"proc/sys/kernel/osrelease":                        "6.1.0-18-amd64\n",
		"proc/sys/kernel/randomize_va_space":               "2\n",
		"proc/device-tree/model":                           "NVIDIA Jetson Orin Nano Developer Kit\x00",
		"etc/os-release":                                   "NAME=Debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
		"etc/machine-id":                                   "5e0c1a7f5e0c1a7f5e0c1a7f5e0c1a7f\n",
		"sys/kernel/mm/transparent_hugepage/enabled":       "always [madvise] never\n",
		cpu + "online":                                     "0-5,8\n",
		cpu + "smt/active":                                 "1\n",
		cpu + "intel_pstate/no_turbo":                      "1\n",
		cpu + "cpu0/cpufreq/scaling_governor":              "performance\n",
		cpu + "cpu1/cpufreq/scaling_governor":              "powersave\n",
		cpu + "cpu2/cpufreq/scaling_governor":              "performance\n",
		cpu + "cpu0/cpufreq/scaling_driver":                "intel_pstate\n",
		cpu + "cpu0/cpufreq/scaling_max_freq":              "4100000\n",
		cpu + "cpu0/cpufreq/energy_performance_preference": "performance\n",
	})
	want := result.Host{
		Strict: map[string]string{
			"cpu_model": "Intel(R) Core(TM) i5-8279U CPU @ 2.40GHz", "cpus": "7", "cpus_allowed": "3",
			"architecture": runtime.GOARCH, "memory": "15 GiB", "governor": "performance + powersave",
			"board": "NVIDIA Jetson Orin Nano Developer Kit",
		},
		Soft: map[string]string{
			"kernel": "6.1.0-18-amd64", "turbo": "off", "distribution": "Debian GNU/Linux 12 (bookworm)", "smt": "on",
			"hypervisor": "yes", "aslr": "2", "transparent_hugepage": "madvise", "frequency_driver": "intel_pstate",
			"frequency_max": "4100000", "energy_preference": "performance",
		},
	}
	if diff := cmp.Diff(want, host.Fingerprint(root)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeReadIsLeftOut(t *testing.T) {
	want := result.Host{Strict: map[string]string{"architecture": runtime.GOARCH}, Soft: map[string]string{}}
	for name, files := range map[string]map[string]string{
		"nothing": {},
		"empty":   {"proc/cpuinfo": "", "proc/meminfo": "", "proc/self/cgroup": "\n", "sys/devices/system/cpu/online": "\n", "etc/os-release": "PRETTY_NAME=\"\"\n"},
		"garbage": {
			"proc/cpuinfo": "\x00\xff", "proc/meminfo": "MemTotal: lots\n", "sys/devices/system/cpu/online": "3-1",
			"sys/devices/system/cpu/smt/active": "maybe", "sys/kernel/mm/transparent_hugepage/enabled": "always",
			"proc/self/cgroup": "x\n0::\n4:cpu\n", "proc/self/mountinfo": "cgroup - \n1 2 - cgroup2 x y\n",
			"proc/device-tree/model": "\x00\x01", "proc/self/status": "Cpus_allowed_list:\t0-99999999999\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, host.Fingerprint(machine(t, files))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestModels(t *testing.T) {
	for file, want := range map[string][2]string{ // model, CPUs
		"cpuinfo_one_cpu":  {"Intel(R) Core(TM) i5-7360U CPU @ 2.30GHz", "1"},
		"cpuinfo_two_cpus": {"Intel(R) Core(TM) i5-8279U CPU @ 2.40GHz", "2"},
		"cpuinfo_arm64":    {"ARM 0x41:0xd42 r0p1 + ARM 0x41:0xd08 r4p3", "3"},
		"cpuinfo_arm32":    {"ARMv7 Processor rev 4 (v7l) + BCM2835 + ARM 0x41:0xd03 r0p4", "1"},
		"cpuinfo_power":    {"POWER9, altivec supported", "2"},
		"cpuinfo_s390":     {"", "2"},
	} {
		t.Run(file, func(t *testing.T) {
			h := host.Fingerprint(machine(t, map[string]string{"proc/cpuinfo": "@" + file}))
			if got := [2]string{h.Strict[host.KeyCPUModel], h.Strict[host.KeyCPUs]}; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if _, ok := h.Strict[host.KeyCPUModel]; ok != (want[0] != "") {
				t.Error("a model that is not known is there as an empty one")
			}
			for _, v := range h.Strict {
				if strings.Contains(v, "deadbeef") {
					t.Errorf("%q holds the serial number", v)
				}
			}
		})
	}
}

func TestMemoryIsRounded(t *testing.T) {
	for text, want := range map[string]string{
		"@meminfo_4gb":              "4 GiB",
		"@meminfo_16gb":             "15 GiB",
		"MemTotal:     498684 kB\n": "1 GiB",
		"MemTotal:     0 kB\n":      "",
		"MemTotal:     16 GB\n":     "",
	} {
		if got := host.Fingerprint(machine(t, map[string]string{"proc/meminfo": text})).Strict[host.KeyMemory]; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestContainerLimits(t *testing.T) {
	const (
		v1     = "sys/fs/cgroup/cpu,cpuacct/"
		v1Mem  = "sys/fs/cgroup/memory/"
		v2     = "sys/fs/cgroup/"
		v2Line = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	)
	for name, c := range map[string]struct {
		files      map[string]string
		cores, mem string
	}{
		"v1 in docker": {map[string]string{
			"proc/self/cgroup": "@cgroup_docker_v1", "proc/self/mountinfo": "@mountinfo_docker_v1",
			v1 + "cpu.cfs_quota_us": "600000\n", v1 + "cpu.cfs_period_us": "100000\n",
			v1Mem + "large/memory.limit_in_bytes": "8589934592\n", v1Mem + "memory.limit_in_bytes": "9223372036854771712\n",
		}, "6", "8 GiB"},
		"v1 without": {map[string]string{
			"proc/self/cgroup": "@cgroup_docker_v1", "proc/self/mountinfo": "@mountinfo_docker_v1",
			v1 + "cpu.cfs_quota_us": "-1\n", v1 + "cpu.cfs_period_us": "100000\n", v1Mem + "memory.limit_in_bytes": "9223372036854771712\n",
		}, "", ""},
		"v1 period of zero": {map[string]string{
			"proc/self/cgroup": "@cgroup_docker_v1", "proc/self/mountinfo": "@mountinfo_docker_v1",
			v1 + "cpu.cfs_quota_us": "600000\n", v1 + "cpu.cfs_period_us": "0\n",
		}, "", ""},
		"v1 outside of what is mounted": {map[string]string{
			"proc/self/cgroup": "@cgroup_untranslatable", "proc/self/mountinfo": "@mountinfo_untranslatable",
			"sys/fs/cgroup/cpuacct/cpu.cfs_quota_us": "100000", "sys/fs/cgroup/cpuacct/cpu.cfs_period_us": "100000",
		}, "", ""},
		"v2, the smallest on the way": {map[string]string{
			"proc/self/cgroup": "0::/a/b/c\n", "proc/self/mountinfo": v2Line,
			v2 + "a/b/c/cpu.max": "max 100000", v2 + "a/b/cpu.max": "250000 100000", v2 + "a/cpu.max": "400000 100000\n",
			v2 + "a/memory.max": "2147483648\n", v2 + "a/b/c/memory.max": "max\n",
		}, "2.5", "2 GiB"},
		"v2, quota alone":  {map[string]string{"proc/self/cgroup": "0::/", "proc/self/mountinfo": v2Line, v2 + "cpu.max": "500000"}, "5", ""},
		"v2, three fields": {map[string]string{"proc/self/cgroup": "0::/", "proc/self/mountinfo": v2Line, v2 + "cpu.max": "250000 100000 100"}, "", ""},
		"v2, words":        {map[string]string{"proc/self/cgroup": "0::/", "proc/self/mountinfo": v2Line, v2 + "cpu.max": "asdf 100000"}, "", ""},
		"both, the limit in v1": {map[string]string{
			"proc/self/cgroup": "9:cpu,cpuacct:/job\n0::/job\n", "proc/self/mountinfo": "@mountinfo_both",
			v1 + "job/cpu.cfs_quota_us": "150000\n", v1 + "job/cpu.cfs_period_us": "100000\n",
		}, "1.5", ""},
		"a path that climbs": {map[string]string{"proc/self/cgroup": "0::/../../x\n", "proc/self/mountinfo": v2Line, v2 + "x/cpu.max": "300000 100000"}, "3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := host.Fingerprint(machine(t, c.files))
			if got := h.Strict[host.KeyCPULimit]; got != c.cores {
				t.Errorf("cores %q, want %q", got, c.cores)
			}
			if got := h.Soft[host.KeyMemoryLimit]; got != c.mem {
				t.Errorf("memory %q, want %q", got, c.mem)
			}
		})
	}
}

func TestValuesAreOneBoundedLine(t *testing.T) {
	long := strings.Repeat("ж", 500)
	h := host.Fingerprint(machine(t, map[string]string{
		"proc/cpuinfo": "processor: 0\nmodel name: Fast\x1b[31m   CPU\xff\n", "proc/sys/kernel/osrelease": "6.1\n::error::\r\nx", "proc/device-tree/model": long,
	}))
	if got := h.Strict[host.KeyCPUModel]; got != "Fast [31m CPU" {
		t.Errorf("model %q", got)
	}
	if got := h.Soft[host.KeyKernel]; got != "6.1 ::error:: x" {
		t.Errorf("kernel %q", got)
	}
	if got := h.Strict[host.KeyBoard]; got != long[:400] {
		t.Errorf("board has %d bytes", len(got))
	}
}

func TestThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	h := host.Fingerprint("/")
	for _, key := range []string{host.KeyCPUs, host.KeyArch, host.KeyMemory} {
		if h.Strict[key] == "" {
			t.Errorf("%s is not known here: %v", key, h.Strict)
		}
	}
	if diff := cmp.Diff(h, host.Fingerprint("/")); diff != "" {
		t.Errorf("read twice, it differs:\n%s", diff)
	}
}

func TestMachine(t *testing.T) {
	name := host.Machine(func(key string) string {
		if key == host.MachineVariable {
			return " perf-1\n"
		}
		return ""
	})
	if name != "perf-1" {
		t.Errorf("got %q", name)
	}
	if name := host.Machine(func(string) string { return "" }); name == "" {
		t.Error("a machine without a name")
	}
}

func TestReadLoad(t *testing.T) {
	got, ok := host.ReadLoad(machine(t, map[string]string{"proc/loadavg": "@loadavg"}))
	if want := (host.Load{One: 0.02, Five: 0.04, Fifteen: 0.05}); !ok || got != want {
		t.Errorf("got %+v, %v, want %+v", got, ok, want)
	}
	if got.Note() != "" {
		t.Errorf("an idle machine is noted: %s", got.Note())
	}
	if note := (host.Load{One: 3.5, Five: 1}).Note(); !strings.Contains(note, "load 3.50") {
		t.Errorf("a busy machine is noted as %q", note)
	}
	for _, text := range []string{"", "0.1 0.2", "NaN 0 0", "a b c", "-1 0 0"} {
		if l, ok := host.ReadLoad(machine(t, map[string]string{"proc/loadavg": text})); ok {
			t.Errorf("%q was read as %+v", text, l)
		}
	}
}

func FuzzFingerprint(f *testing.F) {
	f.Add("processor: 0\nmodel name: x\n", "0::/a\n4:cpu:/b\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0-3,8")
	f.Add("CPU implementer: 0x41\nCPU part: 0x1\nCPU variant: 0xff\n", "0::/..\n", "1 2 3 /a\\040b /c x - cgroup y cpu\n", "9-")
	f.Fuzz(func(t *testing.T, cpuinfo, cgroup, mountinfo, online string) {
		// A content that starts with @ would name a file of testdata.
		h := host.Fingerprint(machine(t, map[string]string{
			"proc/cpuinfo": " " + cpuinfo, "proc/self/cgroup": " " + cgroup, "proc/self/mountinfo": " " + mountinfo, "sys/devices/system/cpu/online": " " + online,
		}))
		for _, side := range []map[string]string{h.Strict, h.Soft} {
			for k, v := range side {
				if v == "" || strings.ContainsAny(v, "\n\r\x00\x1b") || v != strings.TrimSpace(v) {
					t.Errorf("%s is %q", k, v)
				}
			}
		}
	})
}
