package prepare

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		comm, name string
		want       bool
	}{
		{"ffmpeg", "ffmpeg", true}, {"ffmpeg-5", "ffmpeg", true}, {"ffmpeg", "ffmp", true},
		{"ffm", "ffmpeg", false}, {"xffmpeg", "ffmpeg", false}, {"FFMPEG", "ffmpeg", false},
		{"ffmpeg", "ffm", false}, {"sh", "sh", false}, {"sh", "", false},
		{"a-very-long-nam", "a-very-long-name-of-a-server", true}, {"a-very-long-nax", "a-very-long-name", false},
	} {
		if got := matches(c.comm, []string{"nothing", c.name}); got != c.want {
			t.Errorf("%q matched by %q: %v, want %v", c.comm, c.name, got, c.want)
		}
	}
}

// What is ended, what stays and what is told, for each way a process can be
// protected.
func TestProtected(t *testing.T) {
	all := []string{"init", "kworker", "perfweir", "bash", "Runner", "launcher", "stale", "systemd", "sshd", "leader", "bench", "containerd-shim-runc-v2"}
	for _, c := range []struct {
		name string
		uid  int // ours
		put  func(*fake)
		pid  int
		want string // reason; empty: it is ended
	}{
		{"stale", 1000, func(f *fake) { f.put(200, 1, 200, "stale-1", 0, 1000) }, 200, ""},
		{"what an earlier run left below the launcher", 1000, func(f *fake) { f.put(200, 101, 200, "stale", 0, 1000) }, 200, ""},
		{"pid 1", 0, nil, 1, "first process"},
		{"kernel thread", 0, func(f *fake) { f.put(2, 0, 0, "kworker/0:1", kernelThread, 0) }, 2, "thread of the kernel"},
		{"perfweir itself", 1000, nil, 100, "perfweir itself"},
		{"parent", 1000, nil, 95, "runs below it"},
		{"runner above", 1000, nil, 90, "runs below it"},
		{"launcher", 1000, nil, 101, "started it"},
		{"session leader that is no ancestor", 1000, func(f *fake) {
			f.put(100, 90, 96, "perfweir", 0, 1000)
			f.put(96, 1, 96, "leader", 0, 1000)
		}, 96, "leads the session"},
		{"another runner", 1000, func(f *fake) { f.put(300, 1, 300, "Runner.Worker", 0, 1000) }, 300, "service"},
		{"service with an ending", 0, func(f *fake) { f.put(300, 1, 300, "systemd-journal", 0, 0) }, 300, "service"},
		{"shim of a container", 0, func(f *fake) { f.put(300, 1, 300, "containerd-shim", 0, 0) }, 300, "service"},
		{"sshd of a login", 0, func(f *fake) { f.put(300, 1, 300, "sshd-session", 0, 0) }, 300, "service"},
		{"another user's", 1000, func(f *fake) { f.put(300, 1, 300, "stale", 0, 1001) }, 300, "another user"},
		{"another user's, for root", 0, func(f *fake) { f.put(300, 1, 300, "stale", 0, 1001) }, 300, ""},
		{"owner not known", 1000, func(f *fake) { f.put(300, 1, 300, "stale", 0, 1000); f.file("proc/300/status", "") }, 300, "another user"},
		{"measured by another perfweir", 1000, func(f *fake) {
			f.put(300, 1, 300, "perfweir", 0, 1000)
			f.put(301, 300, 301, "launcher2", 0, 1000)
			f.put(302, 301, 302, "bench", 0, 1000)
		}, 302, "another perfweir runs it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, c.uid)
				if c.put != nil {
					c.put(f)
				}
				victim, _ := f.process(c.pid)
				words := strings.Join(f.EndStale(t.Context(), all), "\n")
				_, alive := f.process(c.pid)
				told := victim.name + " matches stale_processes and stays: "
				if c.want == "" && (alive || !strings.Contains(words, "1 stale process ended before the run: "+victim.name)) ||
					c.want != "" && (!alive || f.signals[c.pid] != "" || !strings.Contains(words, told) || !strings.Contains(words, c.want)) {
					t.Errorf("alive %v, signals %q, words %q", alive, f.signals[c.pid], words)
				}
				for _, w := range f.EndStale(t.Context(), all) {
					t.Errorf("told again: %q", w)
				}
			})
		})
	}
}

func TestTermThenKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1000)
		for pid := 200; pid < 204; pid++ {
			f.put(pid, 1, pid, "stale", 0, 1000)
		}
		f.put(210, 1, 210, "stale\x1b[2J", 0, 1000)
		f.obeys[200], f.obeys[201], f.obeys[210], f.immune[203] = true, true, true, true
		begun := time.Now()
		words := f.EndStale(t.Context(), []string{"stale"})
		want := []string{
			"4 stale processes ended before the run: stale (3), stale?[2J",
			"1 stale process could not be ended and may disturb the run: stale (process 203) for one",
		}
		if diff := cmp.Diff(want, words); diff != "" {
			t.Errorf("words (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[int]string{200: "T", 201: "T", 202: "TK", 203: "TK", 210: "T"}, f.signals); diff != "" {
			t.Errorf("signals (-want +got):\n%s", diff)
		}
		if waited := time.Since(begun); waited < termGrace+dieWithin || waited > termGrace+dieWithin+time.Second {
			t.Errorf("waited %v", waited)
		}
		if f.closed != 5 {
			t.Errorf("%d processes closed, want 5", f.closed)
		}
	})
}

// The number of a process that ended is given to another one between the look and
// the signal: that one is left alone.
func TestNumberUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1000)
		f.put(200, 1, 200, "stale", 0, 1000)
		f.opened = func(int) { f.started(200, 1, 200, "editor", 0, 1000, 9999) }
		if words := f.EndStale(t.Context(), []string{"stale"}); f.signals[200] != "" || words != nil {
			t.Errorf("signals %q, words %q", f.signals[200], words)
		}
	})
	synctest.Test(t, func(t *testing.T) { // and between TERM and KILL
		f := newFake(t, 1000)
		f.put(200, 1, 200, "stale", 0, 1000)
		go func() {
			time.Sleep(termGrace / 2)
			f.started(200, 1, 200, "editor", 0, 1000, 9999)
		}()
		words := f.EndStale(t.Context(), []string{"stale"})
		if f.signals[200] != "T" || len(words) != 1 {
			t.Errorf("signals %q, words %q", f.signals[200], words)
		}
	})
}

func TestStaleIsInterruptible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1000)
		f.put(200, 1, 200, "stale", 0, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		words := f.EndStale(ctx, []string{"stale"})
		if f.signals[200] != "T" || !strings.Contains(fmt.Sprint(words), "could not be ended") {
			t.Errorf("signals %q, words %q", f.signals[200], words)
		}
	})
}

func TestNothingToDo(t *testing.T) {
	f := newFake(t, 1000)
	if words := f.EndStale(t.Context(), nil); words != nil {
		t.Errorf("without names: %q", words)
	}
	if words := f.EndStale(t.Context(), []string{"stale"}); words != nil {
		t.Errorf("without processes: %q", words)
	}
	m := New(t.TempDir() + "/none")
	if words := m.EndStale(t.Context(), []string{"stale"}); len(words) != 1 || !strings.Contains(words[0], "were not looked for") {
		t.Errorf("without /proc: %q", words)
	}
}

// A machine under another root must never signal processes of this one.
func TestOtherRootsAreNotThisMachine(t *testing.T) {
	if _, err := New(t.TempDir()).open(1); err == nil {
		t.Error("a process of this machine was opened")
	}
}

func FuzzParseProcess(f *testing.F) {
	f.Add([]byte("7 (a) b) S 1 7 7 0 -1 4194304 0 0 0 0 1 1 0 0 20 0 1 0 55 1000 10 0"))
	f.Add([]byte("7 (a) S 1"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parseProcess(text)
		if err == nil && !strings.Contains(string(text), "("+p.name+")") {
			t.Errorf("name %q is not in %q", p.name, text)
		}
	})
}
