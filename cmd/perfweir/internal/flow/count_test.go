package flow

import (
	"bytes"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/collect/plan"
)

// What is said before the first run about the tests that share the error rate.
func TestAnnouncedTests(t *testing.T) {
	const (
		goBench = `[{format: go-bench}]`
		rails   = `[{metric: rail, pattern: 'gpu (\d+)', part: gpu, class: noisy, better: lower}, {metric: rail, pattern: 'cpu (\d+)', part: cpu, class: noisy, better: lower}]`
		latency = `[{metric: lat, samples: "{out}/lat", unit: ms, part: read}, {metric: lat, samples: "{out}/lat2", unit: ms, part: write}]`
		open    = ": parts that a tool prints are tests of their own"
	)
	for _, tt := range []struct{ name, read, budgets, want string }{
		{"of each metric", `[]`, "{metric: wall_time, max_regression: 5%}, {metric: cpu_time, max_regression: 5%}", "2 tests"},
		{"the last one counts", `[]`, "{metric: wall_time, max_regression: 5%}, {metric: wall_time, max_regression: 9%, level: warn}", ""},
		{"not the tool's", goBench, "{metric: wall_time, max_regression: 5%}", "1 test"},
		{"of a tool", goBench, "{metric: time_per_op, max_regression: 5%}", "at least 1 test" + open},
		{"of a part of a tool", goBench, `{metric: time_per_op, max_regression: 5%, part: "*/BenchmarkA*"}`, "at least 1 test" + open},
		{"one with its exceptions", goBench, `{metric: time_per_op, max_regression: 5%}, {metric: time_per_op, max_regression: 9%, part: "*/BenchmarkA*"}, {metric: time_per_op, max_regression: 9%, part: "*/BenchmarkB*", level: warn}`, "at least 1 test" + open},
		{"an exception that is overridden", goBench, `{metric: time_per_op, max_regression: 9%, part: "*/BenchmarkA*"}, {metric: time_per_op, max_regression: 5%, level: warn}`, ""},
		{"of two kinds", goBench, `{metric: time_per_op, max_regression: 5%, part: "*a*"}, {metric: time_per_op, max_decrease: 50%, part: "*b*"}, {metric: wall_time, max_regression: 5%}`, "at least 3 tests" + open},
		{"parts that readers name", rails, "{metric: rail, max_regression: 5%}", "2 tests"},
		{"one of them", rails, "{metric: rail, max_regression: 5%, part: gpu}", "1 test"},
		{"one of them only warns", rails, "{metric: rail, max_regression: 5%}, {metric: rail, max_regression: 5%, part: gpu, level: warn}", "1 test"},
		{"percentiles of parts", latency, "{metric: lat_p50, max_regression: 5%}", "2 tests"},
	} {
		text := "version: 1\nsuite: s\nbenchmarks: [{name: a, run: [a], read: " + tt.read + "}]\nbudgets: [" + tt.budgets + "]\n"
		file, problems := config.Parse("s.yml", []byte(text))
		if len(problems) > 0 {
			t.Errorf("%s: %s", tt.name, problems)
			continue
		}
		b := &file.Suite.Benchmarks[0]
		p := &plan.Plan{Cells: []plan.Cell{{Name: "a", Benchmark: "a", Repeats: 10, Exec: b.Exec}}}
		var log bytes.Buffer
		Shell{Log: &log}.announce(&suite{file: file}, p)
		_, got, _ := strings.Cut(log.String(), "shared by ")
		if got, _, _ = strings.Cut(got, "\n"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Too few repeats are told of what is known, which may be more.
func TestAnnouncedRepeats(t *testing.T) {
	file, problems := config.Parse("s.yml", []byte(`
version: 1
suite: s
benchmarks: [{name: a, run: [a], read: [{format: go-bench}], repeats: 2}]
budgets: [{metric: time_per_op, max_regression: 5%}]
`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := &plan.Plan{Cells: []plan.Cell{{Name: "a", Benchmark: "a", Repeats: 2, Exec: file.Suite.Benchmarks[0].Exec}}}
	var log bytes.Buffer
	Shell{Log: &log}.warnShort(&suite{file: file}, p, nil)
	if want := "2 repeats cannot prove a regression against one stored session of as many among at least 1 test: 3 repeats would do"; !strings.Contains(log.String(), want) {
		t.Errorf("%s\nwant %s", log.String(), want)
	}
}
