package pidstat_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/sample/linuxproc/pidstat"
)

// Real files, and C54: the command's name ends at the last parenthesis.
func TestParse(t *testing.T) {
	for name, want := range map[string]pidstat.Stat{
		"systemd":                     {PID: 1, State: 'S', Group: 1, Session: 1, UserTicks: 107, SystemTicks: 461, Threads: 1, StartTicks: 128, RSSPages: 3313},
		"name_with_parenthesis":       {PID: 2001, State: 'S', Parent: 1888, Group: 2001, Session: 1888, Threads: 1, StartTicks: 75513, RSSPages: 297},
		"name_with_newline":           {PID: 2001, State: 'S', Parent: 1888, Group: 2001, Session: 1888, Threads: 1, StartTicks: 75513, RSSPages: 297},
		"name_with_inner_parentheses": {PID: 1020, State: 'R', Parent: 28378, Group: 1020, Session: 28378, Threads: 1, StartTicks: 10839175, RSSPages: 155},
		"vim":                         {PID: 26231, State: 'R', Parent: 5392, Group: 7446, Session: 5392, UserTicks: 1677, SystemTicks: 44, Threads: 1, StartTicks: 82375, RSSPages: 1981},
		"five_threads":                {PID: 27079, State: 'S', Parent: 1, Group: 27079, Session: 1, UserTicks: 58125, SystemTicks: 15, Threads: 5, StartTicks: 4289574, RSSPages: 138},
		"extreme_cpu_fields":          {PID: 33, State: 'S', Parent: 2, Threads: 1, StartTicks: 5},
		"idle_kernel_thread":          {PID: 11, State: 'I', Parent: 2, SystemTicks: 346, Threads: 1, StartTicks: 32},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := pidstat.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// C54, its smallest input: the name is "a) S 1 (b\n) c".
func TestParseNameThatLooksLikeFields(t *testing.T) {
	got, err := pidstat.Parse([]byte("12 (a) S 1 (b\n) c) R 1 12 12 0 -1 0 0 0 0 0 7 8 0 0 20 0 3 0 99 4096 5 0\n"))
	want := pidstat.Stat{PID: 12, State: 'R', Parent: 1, Group: 12, Session: 12, UserTicks: 7, SystemTicks: 8, Threads: 3, StartTicks: 99, RSSPages: 5}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestParseRefuses(t *testing.T) {
	const fields = "R 1 12 12 0 -1 0 0 0 0 0 7 8 0 0 20 0 3 0 99 4096 5"
	for name, text := range map[string]string{
		"nothing":         "",
		"no name":         "12 " + fields,
		"no number":       "(sh) " + fields,
		"word as number":  "self (sh) " + fields,
		"cut":             "12 (sh) R 1 12",
		"cut by one":      "12 (sh) " + strings.TrimSuffix(fields, " 5"),
		"long state":      "12 (sh) RR" + fields[1:],
		"negative CPU":    "12 (sh) " + strings.Replace(fields, " 7 ", " -7 ", 1),
		"CPU beyond int":  "12 (sh) " + strings.Replace(fields, " 7 ", " 99999999999999999999 ", 1),
		"parens reversed": ")12( " + fields,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := pidstat.Parse([]byte(text)); !errors.Is(err, pidstat.ErrFormat) {
				t.Errorf("got %+v, %v, want ErrFormat", got, err)
			}
		})
	}
}

func TestEnded(t *testing.T) {
	for _, c := range []struct {
		state   byte
		threads int
		want    bool
	}{{'R', 1, false}, {'Z', 1, true}, {'Z', 0, true}, {'Z', 3, false}, {'X', 1, true}, {'T', 1, false}} {
		s := pidstat.Stat{State: c.state, Threads: c.threads}
		if s.Ended() != c.want {
			t.Errorf("state %c with %d threads: ended is %v", c.state, c.threads, s.Ended())
		}
	}
}

func TestProc(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"7/stat": "7 (sh) S 1 7 7 0 -1 0 0 0 0 0 7 8 0 0 20 0 3 0 99 4096 5\n", "9/stat": "garbage", "uptime": "1 1\n", "0/stat": "", "self/stat": "",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := pidstat.Open(root)
	pids, err := p.PIDs(nil)
	if err != nil || len(pids) != 2 || pids[0]+pids[1] != 16 {
		t.Errorf("processes are %v, %v; want 7 and 9", pids, err)
	}
	if s, err := p.Stat(7); err != nil || s.ID() != (pidstat.ID{PID: 7, StartTicks: 99}) {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := p.Stat(8); !errors.Is(err, pidstat.ErrGone) {
		t.Errorf("a process that is not there: %v, want ErrGone", err)
	}
	if _, err := p.Stat(9); !errors.Is(err, pidstat.ErrFormat) || errors.Is(err, pidstat.ErrGone) {
		t.Errorf("garbage: %v, want ErrFormat", err)
	}
	if _, err := pidstat.Open(filepath.Join(root, "none")).PIDs(nil); err == nil {
		t.Error("a proc folder that is not there is listed")
	}
}

func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*_*")
	if err != nil || len(names) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "sh")
	}
	// Whatever stands in the name, the rest reads the same.
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		_, _ = pidstat.Parse(text)
		got, err := pidstat.Parse([]byte("12 (" + name + ") R 1 12 11 0 -1 0 0 0 0 0 7 8 0 0 20 0 3 0 99 4096 5\n"))
		want := pidstat.Stat{PID: 12, State: 'R', Parent: 1, Group: 12, Session: 11, UserTicks: 7, SystemTicks: 8, Threads: 3, StartTicks: 99, RSSPages: 5}
		if err != nil || got != want {
			t.Errorf("name %q: got %+v, %v", name, got, err)
		}
	})
}

func BenchmarkStat(b *testing.B) {
	p := pidstat.Open("/proc")
	pid := os.Getpid()
	if _, err := p.Stat(pid); err != nil {
		b.Skip(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Stat(pid); err != nil {
			b.Fatal(err)
		}
	}
}
