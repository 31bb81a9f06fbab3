package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/baseline"
	parser "github.com/perfweir/perfweir/collect/parse"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
)

// parse parses a suite of the benchmarks and what follows them.
func parse(t *testing.T, text string) *File {
	t.Helper()
	f, problems := Parse("dir/s.yml", []byte("version: 1\nsuite: s\n"+text))
	if len(problems) > 0 {
		t.Fatalf("problems:\n%s", problems)
	}
	return f
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestDefaultsOfTheFile(t *testing.T) {
	f := parse(t, "benchmarks: [{name: a, run: [a]}]\n")
	equal(t, "gate", f.Gate, Gate{FalseAlarms: 0.05, On: map[string]string{
		"inconclusive": "neutral", "no_baseline": "neutral", "not_comparable": "neutral", "suspicious": "warn", "gone": "fail", "new": "pass",
	}, AcceptLabel: "perfweir-accept", MergeGroup: Measure})
	equal(t, "baseline", f.Baseline, baseline.Policy{Machine: baseline.SameKind, Sessions: 10, MinSessions: 5})
	equal(t, "sampling", f.Suite.Sampling, plan.Sampling{Interval: 0.1})
	equal(t, "limits", f.Suite.Limits, plan.Limits{Stdout: 64 << 20, Out: 4 << 30, Cells: 10000, Retries: 2})
	equal(t, "benchmark", f.Suite.Benchmarks, []plan.Benchmark{{
		Name: "a", Repeats: 1, Exec: plan.Exec{Argv: []string{"a"}, Timeout: plan.Timeout{Fixed: 3600}, KillAfter: 2},
	}})
	if f.Suite.Path != "dir/s.yml" || !strings.HasPrefix(f.Suite.Digest, "sha256:") {
		t.Errorf("path %q, digest %q", f.Suite.Path, f.Suite.Digest)
	}
}

func TestBenchmarkContent(t *testing.T) {
	f := parse(t, `
build: make -j2
defaults: {env: {A: 1, B: 2}, labels: {lane: cpu, family: x}, warmups: 2, timeout: 15m}
benchmarks:
  - name: enc
    run: cat "{input}" | wc -c > "{out}/n"
    inputs: {files: ["c/**"], shuffle: true, limit: 3}
    env: {set: {B: 3}, unset: [C], prepend: {PATH: bin}}
    labels: {family: y}
    expect: [{file: "{out}/n", starts_with: "hex:7f45"}, {file: log, metric: log_size}]
    units_per_run: 2.5
    window: 1m30s
    linger: 1500ms
  - name: srv
    run: [srv, -b, 8]
    variants:
      - {name: d}
      - {name: e, args: {set: {-z: 1, -b: 2}, remove: [-S], add: [-T]}, path: ../srv, window: 60s, repeats: 3,
         timeout: {factor: 4, of: d, min: 60s}, requires: [zstd], env: {F: ""}}
`)
	equal(t, "build", f.Suite.Build, []string{"bash", "-o", "pipefail", "-c", "make -j2"})
	equal(t, "enc", f.Suite.Benchmarks[0], plan.Benchmark{
		Name: "enc", Labels: map[string]string{"lane": "cpu", "family": "y"}, Warmups: 2, Repeats: 1,
		Inputs: &plan.Inputs{Files: []string{"c/**"}, Shuffle: true, Limit: 3},
		Exec: plan.Exec{
			Argv: []string{"bash", "-o", "pipefail", "-c", `cat "{input}" | wc -c > "{out}/n"`}, Shell: true,
			Env:    plan.Env{Set: map[string]string{"A": "1", "B": "3"}, Unset: []string{"C"}, Prepend: map[string]string{"PATH": "bin"}},
			Window: 90, Timeout: plan.Timeout{Fixed: 900}, KillAfter: 2, Linger: 1.5, UnitsPerRun: 2.5,
			Expect: []plan.Expect{{File: "{out}/n", StartsWith: []byte{0x7f, 0x45}, Metric: "output_size"}, {File: "log", Metric: "log_size"}},
		},
	})
	window, three := 60.0, 3
	equal(t, "variants", f.Suite.Benchmarks[1].Variants, []plan.Variant{{Name: "d"}, {
		Name: "e", Set: []plan.FlagValue{{Flag: "-z", Value: "1"}, {Flag: "-b", Value: "2"}}, Remove: []string{"-S"}, Add: []string{"-T"},
		Path: "../srv", Window: &window, Repeats: &three, Requires: []string{"zstd"}, Env: plan.Env{Set: map[string]string{"F": ""}},
		Timeout: &plan.Timeout{Factor: 4, Of: "d", Min: 60, Max: 3600},
	}})
	equal(t, "defaults are not shared", f.Suite.Benchmarks[1].Exec.Env, plan.Env{Set: map[string]string{"A": "1", "B": "2"}})
}

func TestReaders(t *testing.T) {
	f := parse(t, `
metrics: {queue: {unit: "1", better: lower}}
benchmarks:
  - name: a
    run: [a]
    read:
      - {metric: frames, count: "^frame ", better: higher}
      - {metric: rate, pattern: 'r (\d+)', unit: tok/s, better: higher, from: stderr}
      - {metric: load, pattern: 'l (\d+)', unit: ms, part: p, statistic: sum}
      - {metric: latency, samples: l.txt, unit: ms}
      - {metric: wait, samples: w.txt, unit: us}
      - {metric: queue, pattern: 'q (\d+)'}
      - {metric: e, pattern: e, unit: mJ, per: token, class: counted}
      - {checks: c.json}
`)
	equal(t, "metrics", f.Suite.Metrics, map[string]plan.MetricDef{"queue": {Unit: "1", Better: "lower", Class: "noisy"}})
	equal(t, "read", f.Suite.Benchmarks[0].Exec.Read, []plan.Read{
		{Metric: "frames", Count: "^frame ", Def: &plan.MetricDef{Unit: "1", Better: "higher", Class: "exact"}},
		{Metric: "rate", Pattern: `r (\d+)`, From: "stderr", Def: &plan.MetricDef{Unit: "tok/s", Better: "higher", Class: "noisy"}},
		{Metric: "load", Pattern: `l (\d+)`, Part: "p", Statistic: "sum", Scale: 1e-3, Def: &plan.MetricDef{Unit: "s", Better: "lower", Class: "noisy"}},
		{Metric: "latency", Samples: "l.txt", Scale: 1e-3},
		{Metric: "wait", Samples: "w.txt", Scale: 1e-6, Def: &plan.MetricDef{Unit: "s", Better: "lower", Class: "noisy"}},
		{Metric: "queue", Pattern: `q (\d+)`, Def: &plan.MetricDef{Unit: "1", Better: "lower", Class: "noisy"}},
		{Metric: "e", Pattern: "e", Scale: 1e-3, Def: &plan.MetricDef{Unit: "J", Per: "token", Better: "lower", Class: "counted"}},
		{Checks: "c.json"},
	})
}

func TestFormatReaders(t *testing.T) {
	f := parse(t, `
metrics: {block_ms_per_ggas: {unit: block_ms/ggas, better: lower}}
benchmarks:
  - name: a
    run: [go, test, -bench, .]
    read: [{format: go-bench}, {format: go-bench, from: "{out}/log"}, {metric: n, count: x}]
budgets:
  - {metric: time_per_op, max_regression: 10%, part: "*/BenchmarkNoisy*"}
  - {metric: allocs_per_op, max_regression: 1% + 1}
  - {metric: bytes_per_second, min: 10MB/s}
  - {metric: block_ms_per_ggas, max: 70 block_ms/ggas}
`)
	equal(t, "read", f.Suite.Benchmarks[0].Exec.Read, []plan.Read{
		{Format: "go-bench"}, {Format: "go-bench", From: "{out}/log"}, {Metric: "n", Count: "x", Def: &plan.MetricDef{Unit: "1", Class: "exact"}},
	})
	if b := f.Budgets[2]; b.Limit != 10e6 || f.Budgets[0].Part != "*/BenchmarkNoisy*" || f.Budgets[1].Amount != 1 {
		t.Errorf("budgets %+v", f.Budgets)
	}
}

// Every format that a suite file may name is read, and every one that is read
// may be named.
func TestFormatsAreTheListed(t *testing.T) {
	field, _ := reflect.TypeFor[readFile]().FieldByName("Format")
	var listed []string
	for _, f := range parser.Formats() {
		listed = append(listed, f.Name)
	}
	equal(t, "formats", words(field.Tag, "enum"), listed)
}

func TestBaselineContent(t *testing.T) {
	for text, want := range map[string]baseline.Policy{
		"from: github": {From: baseline.FromGitHub, Machine: baseline.SameKind, Sessions: 10, MinSessions: 5},
		"from: github, workflow: .github/workflows/nightly.yml, branch: release/v2, machine: same": {
			From: baseline.FromGitHub, Workflow: "nightly.yml", Branch: "release/v2", Machine: baseline.SameMachine, Sessions: 10, MinSessions: 5,
		},
		"workflow: ./.github/workflows/n.yaml, branch: base, dir: ../s": {
			Workflow: "n.yaml", Dir: "../s", Machine: baseline.SameKind, Sessions: 10, MinSessions: 5,
		},
		"branch: refs/heads/base, machine: same_kind": {Branch: "base", Machine: baseline.SameKind, Sessions: 10, MinSessions: 5},
		"from: folder, dir: x, sessions: 3, min_sessions: 2, max_age: 1d": {
			From: baseline.FromFolder, Dir: "x", Machine: baseline.SameKind, Sessions: 3, MinSessions: 2, MaxAge: 86400,
		},
	} {
		f := parse(t, "benchmarks: [{name: a, run: [a]}]\nbaseline: {"+text+"}\n")
		equal(t, text, f.Baseline, want)
	}
	for _, word := range []string{Measure, OnlyIfChanged} {
		if f := parse(t, "benchmarks: [{name: a, run: [a]}]\ngate: {control: true, merge_group: "+word+"}\n"); f.Gate.MergeGroup != word || !f.Gate.Control {
			t.Errorf("merge_group %q, want %q", f.Gate.MergeGroup, word)
		}
	}
}

// The percentiles that a reader of samples gives are those of the catalogue.
func TestSampleMetricsAreTheCatalogues(t *testing.T) {
	catalogue, want := result.Catalogue(), map[string]result.Class{}
	for name, m := range catalogue {
		if suffix, ok := strings.CutPrefix(name, "latency_"); ok {
			want[suffix] = m.Class
		}
	}
	got := map[string]result.Class{}
	for _, s := range sampleMetrics() {
		got[s.suffix] = s.class
	}
	equal(t, "suffixes", got, want)
}

func TestBudgetContent(t *testing.T) {
	f := parse(t, `
benchmarks:
  - {name: a, run: [a], variants: [{name: v}, {name: w}], read: [{metric: n, count: x}, {checks: c.json}]}
budgets:
  - {metric: wall_time, max: 2m, max_regression: 10% + 10ms, min_delta: 5ms, benchmark: a, against: variant:w, level: warn}
  - {metric: n, max: 3}
  - {metric: check, min: 1, each_run: false}
  - {metric: n, max_increase: 0}
  - {metric: error_rate, max: 0.5%, statistic: max, cells: "a/*"}
  - {metric: error_rate, max: 1%, each_run: false}
`)
	at := func(line int) budget.Source { return budget.Source{Path: "dir/s.yml", Line: line, Column: 5} }
	equal(t, "budgets", f.Budgets, []budget.Budget{
		{ID: 0, Metric: "wall_time", Kind: budget.Max, Limit: 120, Benchmark: "a", Level: budget.Warn, Text: "max: 2m", Source: at(7)},
		{
			ID: 1, Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.1, Amount: 0.01, MinDelta: 0.005, Benchmark: "a",
			Against: "variant:w", Level: budget.Warn, Text: "max_regression: 10% + 10ms, min_delta: 5ms", Source: at(7),
		},
		{ID: 2, Metric: "n", Kind: budget.Max, Limit: 3, Level: budget.Fail, EachRun: true, Text: "max: 3", Source: at(8)},
		{ID: 3, Metric: "check", Kind: budget.Min, Limit: 1, Level: budget.Fail, Text: "min: 1", Source: at(9)},
		{ID: 4, Metric: "n", Kind: budget.MaxIncrease, Against: "baseline", Level: budget.Fail, Text: "max_increase: 0", Source: at(10)},
		{ID: 5, Metric: "error_rate", Kind: budget.Max, Limit: 0.005, Cells: "a/*", Level: budget.Fail, Statistic: "max", EachRun: true, Text: "max: 0.5%", Source: at(11)},
		{ID: 6, Metric: "error_rate", Kind: budget.Max, Limit: 0.01, Level: budget.Fail, Text: "max: 1%", Source: at(12)},
	})
}

// Ten repeats where a relative budget is on a noisy or tail metric, two where one is
// on a counted metric, which one run a side never decides, else one.
func TestDefaultRepeats(t *testing.T) {
	const two = "benchmarks:\n  - {name: a, run: [a]}\n  - {name: b, run: [cat, \"{input}\"], inputs: [\"*\"], expect: {file: x}}\nbudgets:\n  - "
	for text, want := range map[string][2]int{
		"{metric: wall_time, max_regression: 5%}":                {10, 10},
		"{metric: latency_p99, max_increase: 5%}":                {10, 10},
		"{metric: wall_time, max: 5s}":                           {1, 1},
		"{metric: output_size, max_regression: 0%}":              {1, 1},
		"{metric: allocs_per_op, max_regression: 0%}":            {2, 2},
		"{metric: bytes_per_op, max_increase: 2%, benchmark: b}": {1, 2},
		"{metric: allocs_per_op, max: 5}":                        {1, 1},
		"{metric: allocs_per_op, max_regression: 0%}\n  - {metric: wall_time, max_regression: 5%, benchmark: b}": {2, 10},
		"{metric: wall_time, max_regression: 5%, benchmark: b}":                                                  {1, 10},
		"{metric: wall_time, max_regression: 5%, cells: \"b/**\"}":                                               {1, 10},
		"{metric: wall_time, max_regression: 5%, cells: \"b/x.txt\"}":                                            {1, 10},
		"{metric: wall_time, max_regression: 5%, cells: a}":                                                      {10, 1},
		"{metric: wall_time, max_regression: 5%, input: \"*\"}":                                                  {1, 10},
		"{metric: wall_time, max_regression: 5%, cells: \"{a,b/**}\"}":                                           {10, 10},
		"{metric: wall_time, max_regression: 5%, cells: \"**/x/y.txt\"}":                                         {1, 10},
	} {
		f := parse(t, two+text+"\n")
		if got := [2]int{f.Suite.Benchmarks[0].Repeats, f.Suite.Benchmarks[1].Repeats}; got != want {
			t.Errorf("%s: repeats %v, want %v", text, got, want)
		}
	}
	f := parse(t, "benchmarks: [{name: a, run: [a], repeats: 4}]\nbudgets: [{metric: wall_time, max_regression: 5%}]\n")
	if got := f.Suite.Benchmarks[0].Repeats; got != 4 {
		t.Errorf("repeats %d, want the 4 of the file", got)
	}
}

// C27: a lost exit status is warned about, and is no problem.
func TestWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"benchmarks: [{name: a, run: [a, '|', tee, log]}]":                    `"|" in a list is passed to the program as an argument`,
		"benchmarks: [{name: a, run: 'a || true'}]":                           `"run" hides a failure behind "|| true"`,
		"benchmarks: [{name: a, run: 'a || :; b'}]":                           `"run" hides a failure behind "|| :"`,
		"benchmarks: [{name: a, run: [a], prepare: 'x || exit 0'}]":           `"prepare" hides a failure behind "|| exit 0"`,
		"build: [make, '&&', make, check]\nbenchmarks: [{name: a, run: [a]}]": `"&&" in a list`,
		"benchmarks: [{name: a, run: 'a | tee log'}]":                         "", // pipefail keeps the status
		"benchmarks: [{name: a, run: 'a || trueish'}]":                        "",
		"benchmarks: [{name: a, run: [grep, 'a|b']}]":                         "",
	} {
		got := parse(t, text+"\n").Warnings
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got.String(), want)) {
			t.Errorf("%s:\nwarnings %q, want %q", text, got, want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	_, problems := Parse("s.yml", []byte("version: 1\n#"+strings.Repeat("x", 1<<20)))
	if len(problems) != 1 || !strings.Contains(problems.String(), "1 MiB") {
		t.Errorf("problems: %s", problems)
	}
}

// Problems come in the order of the file, whatever found them.
func TestProblemsAreSorted(t *testing.T) {
	for _, name := range suites(t, "err") {
		_, problems := Parse("s.yml", read(t, name))
		for i := 1; i < len(problems); i++ {
			a, b := problems[i-1], problems[i]
			if a.Line > b.Line || a.Line == b.Line && a.Column > b.Column || a == b {
				t.Errorf("%s: %s before %s", name, a, b)
			}
		}
	}
}

func TestProblemsErr(t *testing.T) {
	if err := (Problems{}).Err(); err != nil {
		t.Errorf("no problems: %v", err)
	}
	_, problems := Parse("a/b.yml", nil)
	if err := problems.Err(); err == nil || !strings.HasPrefix(err.Error(), "a/b.yml:1:1: ") {
		t.Errorf("err %v", err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"timeout", "inputs", "run", "repeats"}
	for word, want := range map[string]string{
		"timout": "timeout", "Timeout": "timeout", "tiemout": "timeout", "input": "inputs", "rnu": "run", "repeat": "repeats",
		"zebra": "", "": "", strings.Repeat("x", 300): "", "command": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", word, got, want)
		}
	}
}

func TestExceptionContent(t *testing.T) {
	f := parse(t, `
benchmarks: [{name: enc, run: [a], variants: [{name: v}]}]
accepted:
  - {benchmark: enc, variant: v, metric: wall_time, limit: 12%  +  5ms, reason: "checksums, #812", expires: 2027-03-01}
quarantine:
  - {cells: "enc/**", metric: cpu_time, part: "g*", reason: "#900", expires: "2027-01-15"}
gate: {accept_label: go ahead}
`)
	equal(t, "accepted", f.Accepted, []budget.Exception{{Metric: "wall_time", Benchmark: "enc", Variant: "v", Limit: 0.12, Amount: 0.005, Text: "12%  +  5ms",
		Reason: "checksums, #812", Expires: "2027-03-01", Source: budget.Source{Path: "dir/s.yml", Line: 6, Column: 5}}})
	equal(t, "quarantine", f.Quarantine, []budget.Exception{{Metric: "cpu_time", Cells: "enc/**", Part: "g*", Reason: "#900", Expires: "2027-01-15",
		Source: budget.Source{Path: "dir/s.yml", Line: 8, Column: 5}}})
	equal(t, "label", f.Gate.AcceptLabel, "go ahead")
}
