package measure

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/prepare"
	"github.com/perfweir/perfweir/collect/result"
)

// machineAt is a machine without processes whose session began at one
// temperature and that now has another, in thousandths of a degree.
func machineAt(t *testing.T, begun, now string) *prepare.Machine {
	t.Helper()
	root := t.TempDir()
	zone := filepath.Join(root, "sys/class/thermal/thermal_zone0")
	for _, dir := range []string{zone, filepath.Join(root, "proc")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set := func(v string) {
		if err := os.WriteFile(filepath.Join(zone, "temp"), []byte(v), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set(begun)
	m := prepare.New(root)
	set(now)
	return m
}

func TestCooldown(t *testing.T) {
	r := shell(t, "true")
	r.Machine = machineAt(t, "40000", "70000")
	r.Cell.Exec.StaleProcesses = []string{"nobody-has-this-name"}
	r.Cell.Exec.Cooldown = plan.Cooldown{Rest: 0.001, Band: 3, Max: 0.01}
	got := Do(t.Context(), r)
	if d := got.Detail; got.Status != result.Success || d.Cooled < 0.01 || d.Temperature == nil || *d.Temperature != 70 {
		t.Errorf("got %s %+v", got.Status, d)
	}
	warned(t, got, "cooldown: still 70.0 °C")

	r = shell(t, "true")
	r.Machine = machineAt(t, "error", "error")
	r.Cell.Exec.Cooldown = plan.Cooldown{Rest: 0.001}
	if got := Do(t.Context(), r); got.Detail.Cooled < 0.001 || got.Detail.Temperature != nil || len(got.Detail.Warnings) > 0 {
		t.Errorf("without a sensor: %+v", got.Detail)
	}

	r = shell(t, "true")
	if got := Do(t.Context(), r); got.Detail.Cooled != 0 || got.Detail.Temperature != nil {
		t.Errorf("without a cooldown: %+v", got.Detail)
	}
}

func TestInterruptedCooldown(t *testing.T) {
	r := shell(t, "true")
	r.Cell.Exec.Prepare = []string{"touch", "prepared"}
	r.Cell.Exec.Cooldown = plan.Cooldown{Rest: 3600}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	got := Do(ctx, r)
	if got.Status != result.Interrupted || got.Detail.Reason != "interrupted before the run began" {
		t.Errorf("got %s %q", got.Status, got.Detail.Reason)
	}
	absent(t, got, result.WallTime, "not_run")
	if _, err := os.Stat(filepath.Join(r.Cell.Exec.Cwd, "prepared")); err == nil {
		t.Error("prepare ran after the interruption")
	}
}

func TestHookTimeouts(t *testing.T) {
	r := shell(t, "true")
	r.Cell.Exec.Prepare, r.Cell.Exec.PrepareTimeout = []string{"sleep", "100"}, 0.05
	if got := Do(t.Context(), r); got.Status != result.Failed || got.Detail.Reason != "prepare: no end within 50ms" {
		t.Errorf("prepare: %s %q", got.Status, got.Detail.Reason)
	}
	r = shell(t, "true")
	r.Cell.Exec.Cleanup, r.Cell.Exec.CleanupTimeout = []string{"sleep", "100"}, 0.05
	got := Do(t.Context(), r)
	if got.Status != result.Success {
		t.Errorf("cleanup: %s", got.Status)
	}
	warned(t, got, "cleanup: no end within 50ms")
	if hookLimit(0) != 10*time.Minute {
		t.Errorf("default %v", hookLimit(0))
	}
}

// A stale process that cannot be ended is told; the run goes on.
func TestStaleProcessesAreTold(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "proc", "77")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	stat := "77 (systemd-logind) S 1 77 77 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 5 1000 10 0"
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644); err != nil {
		t.Fatal(err)
	}
	r := shell(t, "true")
	r.Machine = prepare.New(root)
	r.Cell.Exec.StaleProcesses = []string{"systemd"}
	got := Do(t.Context(), r)
	if got.Status != result.Success || !strings.Contains(strings.Join(got.Detail.Warnings, ""), "systemd-logind matches stale_processes and stays") {
		t.Errorf("got %s %q", got.Status, got.Detail.Warnings)
	}
}
