package measure

import (
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

const benchmarks = `printf 'pkg: a/x\nBenchmarkA-2 \t 10\t 250 ns/op\t 3 allocs/op\n'`

func goBench(from string) []plan.Read { return []plan.Read{{Format: "go-bench", From: from}} }

func TestFormat(t *testing.T) {
	for script, from := range map[string]string{
		benchmarks: "", benchmarks + " ": "stdout", benchmarks + " >&2": "stderr", benchmarks + ` > "$PERFWEIR_OUT/log"`: "{out}/log",
	} {
		r := shell(t, script)
		r.Cell.Exec.Read = goBench(from)
		got := Do(t.Context(), r)
		if got.Status != result.Success || len(got.Detail.Warnings) > 0 {
			t.Fatalf("%s: got %s %+v", script, got.Status, got.Detail)
		}
		value(t, got, result.TimePerOp, 250e-9)
		value(t, got, result.AllocsPerOp, 3)
		if m := find(t, got, result.TimePerOp); m.Part != "a/x/BenchmarkA-2" {
			t.Errorf("part %q", m.Part)
		}
	}
}

// A run that ended well and printed no result has a number that is absent, so
// that a budget on it is red. One that failed is judged by that, and its numbers
// up to then are kept.
func TestFormatWithoutResults(t *testing.T) {
	for _, c := range []struct {
		name, script, from string
		limit              int64
		status             result.Status
		reason, warning    string
		absent             string // of time_per_op without a part; empty: there is no such measurement
	}{
		{"nothing", "echo hello", "", 0, result.Success, "", `it begins with "hello"`, "not_reported"},
		{"no file", "true", "{out}/log", 0, result.Success, "", "{out}/log", "not_reported"},
		{"cut", benchmarks + "; " + benchmarks, "", 60, result.Success, "", "read go-bench: its output was cut", "unreadable"},
		{"fails", `printf -- '--- FAIL: BenchmarkA\n'; exit 1`, "", 0, result.Failed, `exit 1: "--- FAIL: BenchmarkA"`, "", ""},
		{"fails in silence", "exit 1", "", 0, result.Failed, "exit 1", "the output is empty", ""},
		{"lost status", `printf 'FAIL\ta/x\t0.1s\n' | cat`, "", 0, result.Failed, `its output says that it failed: "FAIL a/x 0.1s"`, "", ""},
		{"killed", `echo 'panic: boom'; kill -9 $$`, "", 0, result.Signal, `ended by signal KILL: "panic: boom"`, "", ""},
		{"printed panic", `echo 'panic: recovered'; ` + benchmarks, "", 0, result.Success, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := shell(t, c.script)
			r.Cell.Exec.Read, r.Limits.Stdout = goBench(c.from), c.limit
			got := Do(t.Context(), r)
			if got.Status != c.status || got.Detail.Reason != c.reason {
				t.Errorf("%s: %s, want %s: %s", got.Status, got.Detail.Reason, c.status, c.reason)
			}
			warned(t, got, c.warning)
			found := ""
			for _, m := range got.Measurements {
				if m.Metric == result.TimePerOp && m.Part == "" {
					found = m.Absent
				}
			}
			if found != c.absent {
				t.Errorf("time_per_op of the whole is absent because of %q, want %q", found, c.absent)
			}
		})
	}
}

func TestFormatKeepsWhatCameBefore(t *testing.T) {
	r := shell(t, benchmarks+`; printf 'BenchmarkB-2 \tpanic: boom\n'; exit 2`)
	r.Cell.Exec.Read = goBench("")
	got := Do(t.Context(), r)
	value(t, got, result.TimePerOp, 250e-9)
	if got.Status != result.Failed || !strings.Contains(got.Detail.Reason, "panic: boom") {
		t.Errorf("%s: %s", got.Status, got.Detail.Reason)
	}
	// A command that never begins measures nothing.
	r = shell(t, "")
	r.Cell.Exec.Argv, r.Cell.Exec.Read = []string{"./no-such-program"}, goBench("")
	got = Do(t.Context(), r)
	for _, m := range got.Measurements {
		if m.Metric == result.TimePerOp {
			t.Errorf("it has %+v", m)
		}
	}
}
