package measure

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// launcher is the tests' one. It ends with them: nobody closes it.
var launcher = sync.OnceValues(func() (*launch.Launcher, error) { return launch.Start(launch.Options{}) })

// shell makes a run of a script of sh.
func shell(t *testing.T, script string) Run {
	t.Helper()
	dir := t.TempDir()
	l, err := launcher()
	if err != nil {
		t.Logf("without the launcher: %v", err)
	}
	return Run{
		Cell: &plan.Cell{Name: "a", Exec: plan.Exec{
			Argv: []string{"sh", "-c", script}, Cwd: dir, KillAfter: 0.2,
		}},
		Attempt: 1, Repeat: 1, Folder: filepath.Join(dir, "runs", "a", "r1.a1"),
		Interval: 10 * time.Millisecond, Environ: os.Environ(), Launcher: l,
	}
}

func find(t *testing.T, o Outcome, metric string) generic.Measurement {
	t.Helper()
	for _, m := range o.Measurements {
		if m.Metric == metric {
			return m
		}
	}
	t.Errorf("there is no measurement %s", metric)
	return generic.Measurement{}
}

func absent(t *testing.T, o Outcome, metric, reason string) {
	t.Helper()
	if m := find(t, o, metric); m.Absent != reason || !math.IsNaN(m.Value) {
		t.Errorf("%s = %v %q, want it absent: %s", metric, m.Value, m.Absent, reason)
	}
}

func value(t *testing.T, o Outcome, metric string, want float64) {
	t.Helper()
	if m := find(t, o, metric); m.Absent != "" || m.Value != want {
		t.Errorf("%s = %v %q, want %v", metric, m.Value, m.Absent, want)
	}
}

func warned(t *testing.T, o Outcome, text string) {
	t.Helper()
	if all := strings.Join(o.Detail.Warnings, "\n"); !strings.Contains(all, text) {
		t.Errorf("warnings %q, want %q", all, text)
	}
}

func TestStatuses(t *testing.T) {
	starts := []plan.Expect{{File: "{out}/f", StartsWith: []byte{0x7f, 'E'}}}
	for _, c := range []struct {
		name   string
		script string
		edit   func(*Run)
		want   result.Status
		reason string
	}{
		{"success", "exit 0", nil, result.Success, ""},
		{"failed", "echo why >&2; exit 3", nil, result.Failed, "exit 3"},
		{"signal", "kill -SEGV $$", nil, result.Signal, "ended by signal SEGV"},
		{"timeout", "sleep 100", func(r *Run) { r.Timeout = 50 * time.Millisecond }, result.Timeout, "no end within 50ms"},
		{"timeout, TERM ignored", "trap '' TERM; while :; do sleep 0.05; done", func(r *Run) { r.Timeout = 100 * time.Millisecond }, result.Timeout, "no end within 100ms"},
		{"window", "sleep 100", func(r *Run) { r.Cell.Exec.Window = 0.05 }, result.WindowReached, ""},
		{"window, leaves with 0", "exit 0", func(r *Run) { r.Cell.Exec.Window = 60 }, result.Success, ""},
		{"window, leaves with an error", "exit 4", func(r *Run) { r.Cell.Exec.Window = 60 }, result.Failed, "of a window of 1m0s: exit 4"},
		{"no such program", "", func(r *Run) { r.Cell.Exec.Argv = []string{"no-such-program-here"} }, result.SpawnError, "no-such-program-here"},
		{"no such folder", "", func(r *Run) { r.Cell.Exec.Cwd += "/gone" }, result.SpawnError, "gone"},
		{"window, output missing", "sleep 100", func(r *Run) { r.Cell.Exec.Window, r.Cell.Exec.Expect = 0.05, starts }, result.MissingOutput, "{out}/f is not there"},
		{"expected", `printf '\177ELF' > "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.Success, ""},
		{"missing output", "true", func(r *Run) { r.Cell.Exec.Expect = starts }, result.MissingOutput, "{out}/f is not there"},
		{"wrong output", `printf 'MZxx' > "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.InvalidOutput, "{out}/f starts with 4d5a, want 7f45"},
		{"short output", `printf '\177' > "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.InvalidOutput, "starts with 7f, want 7f45"},
		{"empty output", `: > "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.InvalidOutput, "{out}/f is empty"},
		{"a crash is no missing output", "exit 1", func(r *Run) { r.Cell.Exec.Expect = starts }, result.Failed, "exit 1"},
		{"link", `ln -s /etc/passwd "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.InvalidOutput, "{out}/f is a symbolic link, not a file"},
		{"named pipe", `mkfifo "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.InvalidOutput, "{out}/f is a named pipe"},
		{"folder", `mkdir "$PERFWEIR_OUT/f"`, func(r *Run) { r.Cell.Exec.Expect = starts }, result.InvalidOutput, "{out}/f is a folder"},
		{"link on the way", `mkdir "$PERFWEIR_OUT/d"; : > "$PERFWEIR_OUT/d/f"; ln -s d "$PERFWEIR_OUT/l"`,
			func(r *Run) { r.Cell.Exec.Expect = []plan.Expect{{File: "{out}/l/f"}} }, result.InvalidOutput, "l, on the way to {out}/l/f, is a symbolic link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := shell(t, c.script)
			if c.edit != nil {
				c.edit(&r)
			}
			got := Do(t.Context(), r)
			if got.Status != c.want || !strings.Contains(got.Detail.Reason, c.reason) || (c.reason == "") != (got.Detail.Reason == "") {
				t.Errorf("got %s %q, want %s %q", got.Status, got.Detail.Reason, c.want, c.reason)
			}
			if got.StartedAt.IsZero() {
				t.Error("no start")
			}
			for _, m := range got.Measurements {
				if (m.Absent == "") != (!math.IsNaN(m.Value) && !math.IsInf(m.Value, 0)) {
					t.Errorf("%s = %v %q", m.Metric, m.Value, m.Absent)
				}
			}
			if c.want == result.SpawnError {
				absent(t, got, result.MemoryPeakProcess, result.AbsentNotRun)
			}
		})
	}
}

func TestDetail(t *testing.T) {
	r := shell(t, `echo working; printf 'bad \033[31m\377end' >&2; exit 7`)
	got := Do(t.Context(), r)
	if got.Detail.ExitCode == nil || *got.Detail.ExitCode != 7 {
		t.Errorf("exit code %v, want 7", got.Detail.ExitCode)
	}
	if want := "bad \x1b[31m\uFFFDend"; got.Detail.StderrTail != want {
		t.Errorf("tail %q, want %q", got.Detail.StderrTail, want)
	}

	r = shell(t, "echo fine >&2")
	if got := Do(t.Context(), r); got.Detail.StderrTail != "" || got.Detail.ExitCode != nil {
		t.Errorf("success: %+v", got.Detail)
	}

	r = shell(t, "kill -KILL $$")
	if got := Do(t.Context(), r); got.Detail.Signal != "KILL" || got.Detail.ExitCode != nil {
		t.Errorf("killed: %+v", got.Detail)
	}
}

func TestTail(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("x", 5) + strings.Repeat("é", 1500)
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tail(dir, "log", 2047) // in the middle of a character
	if !utf8.ValidString(got) || len(got) != 2046 || !strings.HasSuffix(text, got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
	if got := tail(dir, "gone", 10); got != "" {
		t.Errorf("of no file: %q", got)
	}
}

func TestTimeoutIsCensored(t *testing.T) {
	r := shell(t, "echo frame 1; sleep 100")
	r.Timeout, r.TimeoutBasis = 400*time.Millisecond, "4 x encode/default"
	r.Cell.Exec.UnitsPerRun = 5
	r.Cell.Exec.Read = []plan.Read{{Metric: "frames", Count: "^frame"}}
	got := Do(t.Context(), r)
	absent(t, got, result.WallTime, "timeout")
	absent(t, got, result.Throughput, "timeout")
	if m := find(t, got, result.CPUTime); m.Absent != "" {
		t.Errorf("cpu_time is absent: %s", m.Absent)
	}
	if m := find(t, got, result.MemoryPeak); m.Absent != "" || m.Value <= 0 {
		t.Errorf("memory_peak = %v %q", m.Value, m.Absent)
	}
	value(t, got, "frames", 1)
	d := got.Detail
	if d.Timeout != 0.4 || d.TimeoutBasis != r.TimeoutBasis || d.Signal != "TERM" || d.Ended < 0.4 || !strings.Contains(d.Reason, r.TimeoutBasis) {
		t.Errorf("detail %+v", d)
	}
}

// What a program printed before it crashed is recorded, with the crash (C42, C45).
func TestCrashKeepsMeasurements(t *testing.T) {
	r := shell(t, `echo 'rate 12.5'; echo '{"attempts":4,"errors":1}' > "$PERFWEIR_METRICS"; kill -SEGV $$`)
	r.Cell.Exec.Read = []plan.Read{{Metric: "rate", Pattern: `^rate (\S+)`}}
	got := Do(t.Context(), r)
	if got.Status != result.Signal || got.Detail.Signal != "SEGV" {
		t.Errorf("got %s %+v", got.Status, got.Detail)
	}
	value(t, got, "rate", 12.5)
	value(t, got, result.ErrorRate, 0.25)
	if m := find(t, got, result.WallTime); m.Absent != "" {
		t.Errorf("wall_time is absent: %s", m.Absent)
	}
}

func TestInterrupted(t *testing.T) {
	r := shell(t, "sleep 100")
	log := filepath.Join(r.Cell.Exec.Cwd, "order")
	r.Cell.Exec.Prepare = []string{"touch", filepath.Join(r.Cell.Exec.Cwd, "prepared")}
	r.Cell.Exec.Cleanup = []string{"touch", log}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(r.Folder, StdoutLog)); err == nil {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	got := Do(ctx, r)
	if got.Status != result.Interrupted {
		t.Errorf("got %s %q", got.Status, got.Detail.Reason)
	}
	if m := find(t, got, result.WallTime); m.Absent == "" {
		t.Errorf("wall_time = %v", m.Value)
	}
	if _, err := os.Stat(log); err != nil {
		t.Errorf("no cleanup after an interruption: %v", err)
	}

	again := shell(t, "exit 0") // interrupted before it began
	got = Do(ctx, again)
	absent(t, got, result.WallTime, "not_run")
	if got.Status != result.Interrupted {
		t.Errorf("got %s", got.Status)
	}
}

func TestPrepareAndCleanup(t *testing.T) {
	order := func(r Run) string {
		raw, err := os.ReadFile(filepath.Join(r.Cell.Exec.Cwd, "order"))
		if err != nil {
			t.Error(err)
		}
		return strings.Join(strings.Fields(string(raw)), " ")
	}
	hooks := func(r *Run, prepare string) {
		r.Cell.Exec.Prepare = []string{"sh", "-c", prepare}
		r.Cell.Exec.Cleanup = []string{"sh", "-c", "echo cleanup >> order; test -d {out}"}
	}

	r := shell(t, "echo run >> order")
	hooks(&r, "echo prepare >> order")
	if got := Do(t.Context(), r); got.Status != result.Success || order(r) != "prepare run cleanup" || len(got.Detail.Warnings) > 0 {
		t.Errorf("got %s, %s, %q", got.Status, order(r), got.Detail.Warnings)
	}

	r = shell(t, "echo run >> order; exit 1")
	hooks(&r, "echo prepare >> order")
	if got := Do(t.Context(), r); got.Status != result.Failed || order(r) != "prepare run cleanup" {
		t.Errorf("a failing run: %s, %s", got.Status, order(r))
	}

	r = shell(t, "echo run >> order")
	hooks(&r, "echo prepare >> order; echo no disk >&2; exit 3")
	r.Cell.Exec.Read = []plan.Read{{Metric: "rate", Pattern: `x`}, {Metric: "lat", Samples: "{out}/s"}, {Checks: "{out}/c"}}
	r.Cell.Exec.Expect = []plan.Expect{{File: "{out}/f"}}
	r.Cell.Exec.UnitsPerRun = 1
	got := Do(t.Context(), r)
	if got.Status != result.Failed || got.Detail.Reason != "prepare: exit 3" || got.Detail.StderrTail != "no disk\n" || order(r) != "prepare cleanup" {
		t.Errorf("a failing prepare: %s %+v, %s", got.Status, got.Detail, order(r))
	}
	for _, name := range []string{"wall_time", "cpu_time", "user_time", "system_time", "memory_peak", "memory_peak_process",
		"output_size", "rate", "lat_p50", "check", "throughput"} {
		absent(t, got, name, "not_run")
	}
	warned(t, got, "did not start")

	r = shell(t, "true")
	r.Cell.Exec.Cleanup = []string{"sh", "-c", "exit 5"}
	got = Do(t.Context(), r)
	if got.Status != result.Success {
		t.Errorf("a failing cleanup: %s", got.Status)
	}
	warned(t, got, "cleanup: exit 5")

	r = shell(t, "true")
	r.Cell.Exec.Prepare = []string{"no-such-program-here"}
	if got := Do(t.Context(), r); got.Status != result.Failed || !strings.Contains(got.Detail.Reason, "prepare: not started") {
		t.Errorf("a prepare that is not there: %s %q", got.Status, got.Detail.Reason)
	}
}

// No secret reaches prepare, the command or cleanup (SECURITY: threat model).
func TestNoSecretReachesACommand(t *testing.T) {
	dump := []string{"sh", "-c", "env >> env.log"}
	r := shell(t, "env >> env.log")
	r.Cell.Exec.Prepare, r.Cell.Exec.Cleanup = dump, dump
	r.Environ = append(r.Environ, "GITHUB_TOKEN=s3cret", "ACTIONS_RUNTIME_TOKEN=s3cret", "INPUT_TOKEN=s3cret", "MY_API_KEY=s3cret", "HARMLESS=kept")
	r.Cell.Exec.Env = plan.Env{Set: map[string]string{"TO": "{out}/x"}}
	if got := Do(t.Context(), r); got.Status != result.Success {
		t.Fatalf("got %s %+v", got.Status, got.Detail)
	}
	raw, err := os.ReadFile(filepath.Join(r.Cell.Exec.Cwd, "env.log"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if strings.Contains(text, "s3cret") {
		t.Error("a secret reached a command")
	}
	for _, want := range []string{"HARMLESS=kept", "LC_ALL=C", "NO_COLOR=1", "TO=" + r.Folder + "/out/x", "PERFWEIR_METRICS=" + r.Folder + "/metrics.json", "PERFWEIR_OUT=" + r.Folder + "/out"} {
		if strings.Count(text, want+"\n") != 3 {
			t.Errorf("%s is not in all three environments", want)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	r := shell(t, "")
	in := filepath.Join(r.Cell.Exec.Cwd, "in put")
	if err := os.WriteFile(in, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Cell.InputPath = in
	r.Cell.Exec.Stdin = "{input}"
	r.Cell.Exec.Argv = []string{"sh", "-c", `cat - "$1" > "$2/f"; cp "$2/f" "$2/g"`, "sh", "{input}", "{out}"}
	r.Cell.Exec.Expect = []plan.Expect{{File: "{out}/f"}, {File: "{out}/g"}, {File: "{out}/g", Metric: "copy_size"}}
	got := Do(t.Context(), r)
	if got.Status != result.Success {
		t.Fatalf("got %s %+v", got.Status, got.Detail)
	}
	value(t, got, result.OutputSize, 6)
	value(t, got, "copy_size", 6)

	r = shell(t, "")
	r.Cell.InputPath = in
	r.Cell.Exec.Argv, r.Cell.Exec.Shell = []string{"bash", "-o", "pipefail", "-c", "cat {input} | wc -c"}, true
	r.Cell.Exec.Read = []plan.Read{{Metric: "bytes", Pattern: `\d+`}}
	value(t, Do(t.Context(), r), "bytes", 3)
}
