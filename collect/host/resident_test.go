package host_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/host"
)

func TestResidentStep(t *testing.T) {
	for _, c := range []struct {
		release string
		cpus    int
		pages   int
	}{
		{"5.15.148-tegra\n", 8, 1},
		{"6.1.0-18-amd64\n", 64, 1},
		{"6.2.0\n", 2, 32},
		{"6.18.44-generic\n", 16, 32},
		{"6.8.0-45-generic\n", 64, 128},
		{"7.0.0-rc1\n", 17, 34},
		{"6.8.0\n", 0, 32}, // a kernel that shows no CPUs
		{"", 64, 1},
		{"unknown\n", 64, 1},
	} {
		files := map[string]string{"proc/sys/kernel/osrelease": c.release}
		if c.cpus > 0 {
			files["sys/devices/system/cpu/online"] = fmt.Sprintf("0-%d\n", c.cpus-1)
		}
		if got, want := host.ResidentStep(machine(t, files)), float64(c.pages*os.Getpagesize()); got != want {
			t.Errorf("Linux %q on %d CPUs: %v B, want %v", strings.TrimSpace(c.release), c.cpus, got, want)
		}
	}
	if got := host.ResidentStep(t.TempDir()); got != float64(os.Getpagesize()) {
		t.Errorf("of a machine that shows nothing: %v B", got)
	}
}
