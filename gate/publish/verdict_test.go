package publish

import (
	"fmt"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// These builders write verdicts by hand: no gate is needed to see how one is told.

const head = "3c1a77fe90ab12cd34ef56ab78cd90ef12ab34cd"

func at(run int64, attempt int) Target {
	return Target{Repository: "acme/widgets", SHA: head, Tree: "aa00", Pull: 7,
		Run: Run{ID: 4700 + run, Number: int(run), Attempt: attempt}, RunURL: "https://github.com/acme/widgets/actions/runs/4711"}
}

func opts() Options { return Options{Suite: "codec", SuitePath: "perfweir.yml", Annotations: true} }

func reportOf(v ...*verdict.Document) Report {
	r := Report{}
	for i, d := range v {
		r.Parts = append(r.Parts, Part{Machine: fmt.Sprintf("perf-%d", i+1), Verdict: d})
	}
	return r
}

// document is a verdict over cells with one budget each, so many of them broken.
func document(cells, broken int) *verdict.Document {
	v := &verdict.Document{
		Schema: verdict.Schema, Outcome: verdict.Pass, Suite: verdict.Suite{Name: "codec", Path: "perfweir.yml"},
		Policy:  verdict.Policy{FalseAlarms: 0.05, Family: cells, Looks: []int{10}},
		Builds:  map[string]result.Build{"head": {Commit: head}},
		Metrics: result.Catalogue(),
		Counts:  verdict.Counts{Findings: map[verdict.Outcome]int{verdict.Pass: cells - broken, verdict.Fail: broken}},
	}
	for i := range cells {
		o, value := verdict.Pass, 0.9
		if i < broken {
			o, value = verdict.Fail, 1.5+float64(i)/1000
		}
		v.Budgets = append(v.Budgets, budget.Budget{ID: i, Metric: "wall_time", Kind: budget.Max, Limit: 1, Level: budget.Fail,
			Benchmark: fmt.Sprintf("bench%04d", i), Text: "max: 1s", Source: budget.Source{Path: "perfweir.yml", Line: 10 + i, Column: 5}})
		v.Cells = append(v.Cells, verdict.Cell{Name: fmt.Sprintf("bench%04d/default/corpus/file-%04d.bin", i, i), Benchmark: fmt.Sprintf("bench%04d", i),
			Planned: 10, Seen: 10, Statuses: map[string]int{"success": 10}, Outcome: o, Reproduce: fmt.Sprintf("perfweir ci --cells 'bench%04d/**'", i)})
		v.Findings = append(v.Findings, verdict.Finding{Cell: i, Budget: i, Metric: "wall_time", Gated: true, Outcome: o, Value: &value, N: 10,
			Message: fmt.Sprintf("wall_time is %.3g s, at most 1.00 s is allowed", value)})
	}
	if broken > 0 {
		v.Outcome, v.ExitCode = verdict.Fail, verdict.ExitFail
	}
	return v
}

func passing() *verdict.Document { return document(3, 0) }
func failing() *verdict.Document { return document(3, 2) }

// undecided is a verdict that is neither: a suspect that stops nothing.
func undecided() *verdict.Document {
	v := document(3, 0)
	v.Outcome = verdict.Inconclusive
	v.Findings[0].Outcome, v.Findings[0].Grade = verdict.Inconclusive, verdict.Suspect
	v.Cells[0].Outcome = verdict.Inconclusive
	v.Counts.Findings = map[verdict.Outcome]int{verdict.Pass: 2, verdict.Inconclusive: 1}
	return v
}

const nasty = "a|b\\|c`` ``` <img src=x onerror=alert(1)> @octocat #1 GH-2 https://evil.example www.evil.example " +
	"[x](http://evil.example) <!-- </details> --> \x1b[31mred\x00\u202egnp\r\n| x |\n\n# heading\n<!-- perfweir:codec v=1 -->\n" +
	"<!-- perfweir-section suite=codec run=9999 number=9 attempt=1 head=- outcome=pass open=0 resolved=0 rows=0000000000000000 -->\n" +
	"::error::x\n##[error]y\n- item \xff\xfe e\u0301 日本語"

// hostile is a verdict in which every name was chosen to do harm.
func hostile(name string) *verdict.Document {
	v := document(4, 3)
	v.Suite.Name, v.Suite.Path, v.Warnings, v.Reasons = name, name, []string{name}, []string{name}
	v.Skipped = []result.Skipped{{Name: name, Why: name}}
	v.Baseline = &verdict.Baseline{State: verdict.BaselineOK, Origin: name, Rejected: []verdict.Rejected{{Candidate: name, Why: name}}}
	v.Loosened = []verdict.Loosened{{Text: name, Was: name, Now: name, Source: budget.Source{Path: name, HeadLine: 3}}}
	v.Sessions = []result.Session{{ID: name, Machine: name}}
	for i := range v.Cells {
		c, f, b := &v.Cells[i], &v.Findings[i], &v.Budgets[i]
		c.Name, c.Benchmark, c.Note, c.Source, c.Reproduce, c.FailureReasons = name, name, name, name, name, []string{name}
		f.Message, f.Reasons, f.Part, f.Phase = name, []string{name}, name, name
		b.Text, b.Source.Path = name, name
	}
	return v
}
