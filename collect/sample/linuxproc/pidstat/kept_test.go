package pidstat_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// childrenOf writes a list of children and reads it.
func childrenOf(t *testing.T, text string) ([]int, error) {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "7", "task", "8")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "children"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := pidstat.Open(root)
	f, err := p.OpenChildren(7, 8)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return p.ReadChildren(f, nil)
}

func TestReadChildren(t *testing.T) {
	var long strings.Builder
	var many []int
	for pid := 95_000; pid < 105_000; pid++ { // over pages, numbers cut at their ends
		fmt.Fprintf(&long, "%d ", pid)
		many = append(many, pid)
	}
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"none":                  {"", nil},
		"one":                   {"12 ", []int{12}},
		"no space at the end":   {"12 4194304", []int{12, 4194304}},
		"another PID namespace": {"0 12 0 ", []int{12}},
		"many":                  {long.String(), many},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := childrenOf(t, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, text := range []string{"sh", "12 -1 ", "99999999999999999999 "} {
		if got, err := childrenOf(t, text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// The kernel's own lists, and a file that outlives its process.
func TestKeptFilesOfARealProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	p := pidstat.Open("/proc")
	stat, err := p.OpenStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer stat.Close()
	for range 2 {
		if s, err := p.ReadStat(stat); err != nil || s.PID != pid || s.Parent != os.Getpid() {
			t.Errorf("got %+v, %v", s, err)
		}
	}
	if all := ownChildren(t, p); !slices.Contains(all, pid) {
		t.Errorf("children are %v, without %d", all, pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if s, err := p.ReadStat(stat); !errors.Is(err, pidstat.ErrGone) {
		t.Errorf("got %+v, %v; want ErrGone", s, err)
	}
	if _, err := p.OpenStat(pid); !errors.Is(err, pidstat.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	if _, err := p.OpenChildren(pid, pid); !errors.Is(err, pidstat.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	if all := ownChildren(t, p); slices.Contains(all, pid) {
		t.Errorf("children are %v, with %d, which was reaped", all, pid)
	}
}

// ownChildren joins the lists of the threads of this process.
func ownChildren(t *testing.T, p *pidstat.Proc) (all []int) {
	t.Helper()
	tids, err := p.Threads(os.Getpid(), nil)
	if err != nil || len(tids) == 0 {
		t.Fatalf("threads are %v, %v", tids, err)
	}
	for _, tid := range tids {
		f, err := p.OpenChildren(os.Getpid(), tid)
		if errors.Is(err, pidstat.ErrGone) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if all, err = p.ReadChildren(f, all); err != nil && !errors.Is(err, pidstat.ErrGone) {
			t.Error(err)
		}
		f.Close()
	}
	return all
}

func BenchmarkReadStat(b *testing.B) {
	p := pidstat.Open("/proc")
	f, err := p.OpenStat(os.Getpid())
	if err != nil {
		b.Skip(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.ReadStat(f); err != nil {
			b.Fatal(err)
		}
	}
}
