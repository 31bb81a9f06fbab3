package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// These builders write the verdicts that the renderers are read against, by
// hand: no gate is needed to see how a report reads.

func ptr[T any](v T) *T { return &v }

func at(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 30, 0, 0, time.UTC) }

// codec is the frame of a verdict over a compressor: machine, budgets, metrics.
func codec() *verdict.Document {
	metrics := result.Catalogue()
	metrics["frames_per_second"] = result.Metric{Unit: "1/s", Better: result.Higher, Class: result.Noisy}
	metrics["energy_per_token"] = result.Metric{Unit: "J", Per: "token", Better: result.Lower, Class: result.Noisy}
	place := func(line int) budget.Source { return budget.Source{Path: "perfweir.yml", Line: line, Column: 5} }
	return &verdict.Document{
		Schema:  verdict.Schema,
		Outcome: verdict.Pass,
		Policy: verdict.Policy{
			FalseAlarms: 0.05, Family: 12, Looks: []int{10}, MinSessions: 5,
			Allowance: map[string]float64{"noisy": 0.1, "tail": 0.1, "exact": 0, "counted": 0},
			On:        map[string]string{"inconclusive": "neutral", "no_baseline": "neutral", "suspicious": "warn"},
		},
		Suite:  verdict.Suite{Name: "codec", Path: "perfweir.yml", JudgedBy: "working file"},
		Builds: map[string]result.Build{"head": {Commit: "3c1a77fe90ab12cd34ef56ab78cd90ef12ab34cd"}},
		Sessions: []result.Session{{
			ID: "01KB6Z0M8V5T3C2Q4R7N9D1EFG", Machine: "perf-1", StartedAt: at(29, 12), Origin: "run",
			Host: result.Host{
				Strict: map[string]string{"cpu_model": "AMD EPYC 7763 64-Core Processor"},
				Soft:   map[string]string{"kernel": "6.1.0-28-amd64"},
			},
		}},
		Metrics: metrics,
		Budgets: []budget.Budget{
			{ID: 0, Metric: "crash_rate", Kind: budget.Max, Level: budget.Fail, Implicit: true, Text: "max: 0"},
			{ID: 1, Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.25, Amount: 0.01, Against: "baseline", Level: budget.Fail, Text: "max_regression: 25% + 10ms", Source: place(31)},
			{ID: 2, Metric: "cpu_time", Kind: budget.MaxRegression, Limit: 0.25, Against: "baseline", Level: budget.Fail, Text: "max_regression: 25%", Source: place(32)},
			{ID: 3, Metric: "memory_peak", Kind: budget.Max, Limit: 1 << 30, Level: budget.Fail, Text: "max: 1GiB", Source: place(33)},
			{ID: 4, Metric: "output_size", Kind: budget.MaxRegression, Against: "baseline", Level: budget.Fail, Text: "max_regression: 0%", Source: place(34)},
			{ID: 5, Metric: "cpu_time", Kind: budget.MaxRegression, Limit: 0.1, Against: "variant:gzip", Level: budget.Warn, Text: "max_regression: 10%", Source: place(35)},
		},
	}
}

func stored(v *verdict.Document, n int) {
	v.Baseline = &verdict.Baseline{State: verdict.BaselineOK, Origin: "folder .perfweir/baseline/codec"}
	for i := range n {
		v.Baseline.Sessions = append(v.Baseline.Sessions, verdict.BaselineSession{
			Session: result.Session{ID: fmt.Sprintf("01KB6W%020d", i), Machine: "perf-1", StartedAt: at(28-i, 9)},
			Commit:  "77fe0123456789abcdef0123456789abcdef0123", File: "baseline/a.json",
		})
	}
	v.Baseline.Rejected = []verdict.Rejected{{Candidate: "01KB6VREJECTED", Why: "another machine: cpu_model is Xeon, here EPYC"}}
}

// cell adds a cell of n clean runs.
func cell(v *verdict.Document, name string, n int) int {
	parts := strings.Split(name, "/")
	for len(parts) < 3 {
		parts = append(parts, "")
	}
	v.Cells = append(v.Cells, verdict.Cell{
		Name: name, Benchmark: parts[0], Variant: parts[1], Input: strings.Join(parts[2:], "/"), Build: "head",
		Reproduce: "perfweir ci --cells '" + name + "'",
		Planned:   n, Seen: n, Statuses: map[string]int{"success": n}, CrashRate: ptr(0.0),
		Clean:   map[string]float64{"wall_time": 0.812, "cpu_time": 0.795, "memory_peak": 102 << 20, "output_size": 4_718_592},
		Outcome: verdict.Pass,
	})
	v.Counts.PlannedRuns += n
	v.Counts.SeenRuns += n
	return len(v.Cells) - 1
}

// absolute adds a finding of an absolute budget.
func absolute(v *verdict.Document, cell, b int, o verdict.Outcome, value float64, message string) *verdict.Finding {
	limit := v.Budgets[b].Limit
	v.Findings = append(v.Findings, verdict.Finding{
		Cell: cell, Budget: b, Metric: v.Budgets[b].Metric, Gated: v.Budgets[b].Level == budget.Fail,
		Outcome: o, Value: &value, N: v.Cells[cell].Seen, Allowed: &limit, Message: message,
	})
	return &v.Findings[len(v.Findings)-1]
}

// relative adds a comparison and its finding.
func relative(v *verdict.Document, cell, b int, o verdict.Outcome, reference, ratio, spread float64) *verdict.Finding {
	bud := v.Budgets[b]
	id := len(v.Comparisons)
	current := reference * ratio
	v.Comparisons = append(v.Comparisons, verdict.Comparison{
		ID: id, Cell: cell, Metric: bud.Metric, Against: bud.Against, Design: verdict.Unpaired, N: [2]int{10, 10}, Sessions: 1,
		Current: current, Reference: reference, Ratio: &ratio, RatioInterval: &[2]float64{ratio * (1 - spread), ratio * (1 + spread)},
		Shift: current - reference, ShiftInterval: &[2]float64{current*(1-spread) - reference, current*(1+spread) - reference},
	})
	f := verdict.Finding{
		Cell: cell, Comparison: &id, Budget: b, Metric: bud.Metric, Gated: bud.Level == budget.Fail, Outcome: o,
		Allowed: ptr(reference*(1+bud.Limit) + bud.Amount), P: ptr(0.00011), PAdjusted: ptr(0.0003), Level: 0.05,
		Message: fmt.Sprintf("%s of %s changed by a factor of %.3g against %s", bud.Metric, v.Cells[cell].Name, ratio, bud.Against),
	}
	if o == verdict.NoBaseline {
		v.Comparisons = v.Comparisons[:id]
		f.Comparison, f.P, f.PAdjusted, f.Allowed = nil, nil, nil, nil
		f.Message = "nothing to compare " + bud.Metric + " with"
	}
	v.Findings = append(v.Findings, f)
	return &v.Findings[len(v.Findings)-1]
}

func unproven(f *verdict.Finding, effect float64) {
	f.Outcome, f.Grade, f.SmallestEffect = verdict.Inconclusive, verdict.Unproven, &effect
	f.Settle = &verdict.Settle{Repeats: 24}
	f.P, f.PAdjusted = ptr(0.21), ptr(1.0)
}

func suspect(v *verdict.Document, f *verdict.Finding) {
	f.Outcome, f.Grade = verdict.Inconclusive, verdict.Suspect
	f.Settle = &verdict.Settle{Sessions: 5, Base: true}
	f.P, f.PAdjusted = ptr(0.04), ptr(0.48)
	v.Cells[f.Cell].Outcome = verdict.Inconclusive
}

var files = []string{"gzip/l6/go.mod", "gzip/l6/builtin.go", "bzip2/l6/builtin.go", "xz/l6/builtin.go", "zstd/l6/builtin.go"}

func firstRun() *verdict.Document {
	v := codec()
	v.Outcome, v.Reasons = verdict.NoBaseline, []string{"no baseline yet"}
	v.Baseline = &verdict.Baseline{State: verdict.BaselineNone, Reason: "folder .perfweir/baseline/codec holds no session"}
	for _, name := range files {
		c := cell(v, name, 10)
		absolute(v, c, 0, verdict.Pass, 0, "no run crashed")
		absolute(v, c, 3, verdict.Pass, 102<<20, "102 MiB is within 1 GiB")
		for b := 1; b <= 4; b += 3 {
			relative(v, c, b, verdict.NoBaseline, 0.8, 1, 0)
		}
		v.Cells[c].Outcome = verdict.NoBaseline
	}
	return v
}

func cleanPass() *verdict.Document {
	v := codec()
	stored(v, 1)
	v.Counts.SmallestEffect = 0.124
	v.Skipped = []result.Skipped{{Name: "lzip/l6/go.mod", Why: "lzip is not on PATH"}}
	for i, name := range files {
		c := cell(v, name, 10)
		absolute(v, c, 0, verdict.Pass, 0, "no run crashed")
		absolute(v, c, 3, verdict.Pass, 102<<20, "102 MiB is within 1 GiB")
		relative(v, c, 1, verdict.Pass, 0.8, 1.004, 0.01).Allowance = 0.1
		if i%2 == 0 {
			unproven(relative(v, c, 2, verdict.Inconclusive, 0.79, 1.03, 0.09), 0.124)
		}
		relative(v, c, 4, verdict.Pass, 4_718_592, 1, 0)
	}
	return v
}

func failing() *verdict.Document {
	v := codec()
	stored(v, 1)
	v.Outcome, v.ExitCode = verdict.Fail, 1
	v.Reasons = []string{"4 of 24 budgets broken"}
	v.Warnings = []string{"1 of 1 baseline sessions is older than 1 d"}
	for i, name := range files {
		c := cell(v, name, 10)
		absolute(v, c, 0, verdict.Pass, 0, "no run crashed")
		absolute(v, c, 3, verdict.Pass, 102<<20, "102 MiB is within 1 GiB")
		relative(v, c, 4, verdict.Pass, 4_718_592, 1, 0)
		switch {
		case i < 2:
			v.Cells[c].Outcome = verdict.Fail
			relative(v, c, 2, verdict.Fail, 0.795, 3.12, 0.02).Reasons = []string{"large_jump"}
			relative(v, c, 1, verdict.Fail, 0.812, 1.375, 0.014)
		case i == 2:
			suspect(v, relative(v, c, 2, verdict.Inconclusive, 2.41, 1.29, 0.08))
			relative(v, c, 1, verdict.Pass, 2.5, 1.08, 0.03)
		case i == 3:
			relative(v, c, 1, verdict.Suspicious, 6.1, 0.44, 0.02)
			v.Cells[c].Outcome = verdict.Suspicious
			relative(v, c, 5, verdict.Fail, 0.795, 7.6, 0.01)
		default:
			relative(v, c, 1, verdict.Pass, 0.42, 0.97, 0.02)
			relative(v, c, 2, verdict.Pass, 0.41, 0.98, 0.02)
		}
	}
	return v
}

func crashes() *verdict.Document {
	v := codec()
	v.Outcome, v.ExitCode = verdict.Fail, 1
	v.Suite.Name = "engine"
	v.Reasons = []string{"2 of 3 budgets broken", "serve/fp32 was in the baseline and was not measured now"}
	for _, name := range []string{"serve/default", "serve/b2", "serve/trt", "serve/fp32"} {
		c := cell(v, name, 6)
		v.Cells[c].Labels = map[string]string{"lane": "v4.1", "family": "edge"}
		v.Cells[c].Clean = map[string]float64{"frames_per_second": 29.97, "wall_time": 150.02, "memory_peak": 2.1e9, "energy_per_token": 0.412, "rail:VDD_IN": 9.7}
	}
	v.Cells[1].Note = "small batch"
	absolute(v, 0, 0, verdict.Pass, 0, "no run crashed")
	v.Cells[1].Statuses = map[string]int{"window_reached": 4, "signal": 2}
	v.Cells[1].CrashRate, v.Cells[1].TimeToFailure = ptr(2.0/6), []float64{12.2, 31}
	v.Cells[1].FailureReasons = []string{"ended by SEGV after 12.2 s"}
	v.Cells[1].Outcome = verdict.Fail
	absolute(v, 1, 0, verdict.Fail, 2.0/6, "2 of 6 runs crashed, allowed are none")
	v.Cells[2].UnderSpec, v.Cells[2].UnderSpecBy = 3, []string{"check:frames_ordered", "memory_peak"}
	v.Cells[2].Outcome = verdict.Fail
	absolute(v, 2, 3, verdict.Fail, 1.34e9, "the median of 6 runs, 1.25 GiB, is over 1 GiB").Reasons = []string{"near"}
	v.Cells[3].Seen, v.Cells[3].Statuses, v.Cells[3].CrashRate, v.Cells[3].Clean = 0, nil, nil, nil
	v.Cells[3].Outcome, v.Cells[3].Reasons = verdict.NoData, []string{"gone"}
	v.Counts.SeenRuns -= 6
	return v
}

const nasty = "a|b\\|c`` ``` <img src=x onerror=alert(1)> @octocat #1 GH-2 https://evil.example www.evil.example " +
	"[x](http://evil.example) ![i](http://evil.example/i.png) <!-- </details> --> \x1b[31mred\x00\u202egnp\r\n| x | y |\n\n# heading\n" +
	"- item ]]> &amp; &#64;octocat $x$ **bold** ~~gone~~ \xff\xfe \ufffe e\u0301 日本語 =1+1 \"q\" 'q'"

func hostile() *verdict.Document {
	v := codec()
	stored(v, 2)
	v.Outcome, v.ExitCode = verdict.Fail, 1
	v.Suite.Name, v.Suite.Path = nasty, nasty
	v.Reasons, v.Warnings = []string{nasty}, []string{nasty, "@octocat"}
	v.Skipped = []result.Skipped{{Name: nasty, Why: nasty}}
	v.Baseline.Origin = nasty
	v.Control = &verdict.Control{Why: nasty}
	v.Baseline.Rejected = []verdict.Rejected{{Candidate: nasty, Why: nasty}}
	v.Sessions[0].Machine = nasty
	v.Budgets[1].Text, v.Budgets[1].Source.Path = nasty, nasty
	v.Metrics["wall_time"] = result.Metric{Unit: "|<b>@u", Better: result.Lower, Class: result.Noisy}
	v.Policy.On[nasty] = nasty
	for _, name := range []string{nasty, "`", "|", "\\", "=cmd|' /C calc'!A0", " ", "", "*", "<!--", "\x1b]0;title\a", strings.Repeat("ab|`", 400)} {
		c := cell(v, name, 3)
		v.Cells[c].Benchmark, v.Cells[c].Note = name, name
		v.Cells[c].Labels = map[string]string{name: name}
		v.Cells[c].FailureReasons, v.Cells[c].Reasons = []string{name}, []string{name}
		v.Cells[c].UnderSpec, v.Cells[c].UnderSpecBy = 1, []string{name}
		v.Cells[c].Clean[name] = 1
		v.Cells[c].Clean["rate:"+name] = 1
		f := relative(v, c, 1, verdict.Fail, 0.5, 1.5, 0.01)
		f.Part, f.Phase, f.Message, f.Reasons = name, name, name, []string{name}
		v.Comparisons[*f.Comparison].Against = "variant:" + name
		v.Cells[c].Outcome = verdict.Fail
		absolute(v, c, 0, verdict.NoData, math.NaN(), name).Value = nil
	}
	return v
}

// large is a matrix of n cells with k findings each, every seventh cell failing.
func large(n, k int) *verdict.Document {
	v := codec()
	stored(v, 6)
	v.Outcome, v.ExitCode = verdict.Fail, 1
	v.Counts.SmallestEffect = 0.07
	for i := range n {
		c := cell(v, fmt.Sprintf("bench%02d/variant%d/corpus/file-%04d.bin", i%12, i%5, i), 10)
		absolute(v, c, 0, verdict.Pass, 0, "no run crashed")
		for j := 1; j < k; j++ {
			ratio := 1 + float64((i*7+j*13)%100)/1000
			o := verdict.Pass
			if i%7 == 0 && j == 1 {
				o, ratio = verdict.Fail, 1.3+float64(i)/1000
				v.Cells[c].Outcome = verdict.Fail
			}
			f := relative(v, c, 1+j%2, o, 0.8, ratio, 0.02)
			if i%5 == 1 && j == 2 {
				unproven(f, 0.07)
			}
		}
	}
	return v
}

func documents() map[string]*verdict.Document {
	return map[string]*verdict.Document{
		"first-run": firstRun(), "pass": cleanPass(), "fail": failing(),
		"crashes": crashes(), "hostile": hostile(), "large": large(600, 3), "slow-machine": slowMachine(),
	}
}

// slowMachine is a session in which the machine was slower, and its control cell says so.
func slowMachine() *verdict.Document {
	v := codec()
	stored(v, 5)
	v.Outcome, v.Reasons = verdict.Inconclusive, []string{"1 of 5 findings are suspect and not settled"}
	v.Policy.Control = true
	v.Control = &verdict.Control{Metrics: []verdict.ControlMetric{
		{Metric: "wall_time", Moved: verdict.ControlSlower, Design: verdict.Sessions, N: [2]int{10, 50}, Sessions: 5, Current: 0.0412, Reference: 0.038, Ratio: 1.083, Interval: ptr([2]float64{1.061, 1.105})},
		{Metric: "cpu_time", Design: verdict.Sessions, N: [2]int{10, 50}, Sessions: 5, Current: 0.0372, Reference: 0.037, Ratio: 1.005, Interval: ptr([2]float64{0.97, 1.04})},
	}}
	for i, name := range files {
		c := cell(v, name, 10)
		absolute(v, c, 0, verdict.Pass, 0, "no run crashed")
		f := relative(v, c, 1, verdict.Pass, 0.8, 1.084, 0.01)
		if i == 0 {
			suspect(v, f)
			f.Settle, f.Reasons = &verdict.Settle{Base: true}, []string{"slow_machine"}
			f.Message = "wall_time 800 ms -> 867 ms, +8.4 %; allowed 5 %: beyond it, but the control cell was 8.3 % slower than in the stored sessions (wall_time, 6.1 to 10.5 %); with that taken off it is +0.1 %, which is not proven beyond (--base would settle it)"
		}
	}
	return v
}
