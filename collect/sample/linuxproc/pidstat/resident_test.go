package pidstat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		root := t.TempDir()
		stat := "cpu  1 2 3 4\n"
		for i := range c.cpus {
			stat += fmt.Sprintf("cpu%d 1 2 3 4\n", 2*i)
		}
		stat += "intr 5 6\ncpuset 7\n"
		for name, text := range map[string]string{"sys/kernel/osrelease": c.release, "stat": stat} {
			if text == "" {
				continue
			}
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := Open(root).ResidentStep(), float64(c.pages*os.Getpagesize()); got != want {
			t.Errorf("Linux %q on %d CPUs: %v B, want %v", strings.TrimSpace(c.release), c.cpus, got, want)
		}
	}
	if got := Open(filepath.Join(t.TempDir(), "none")).ResidentStep(); got != float64(os.Getpagesize()) {
		t.Errorf("without /proc: %v B", got)
	}
}
