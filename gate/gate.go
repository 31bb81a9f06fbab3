// Package gate decides: Evaluate holds a results document against a baseline
// and budgets and gives a verdict. It is pure: the same documents give the same
// bytes, whatever the clock, the machine or GOMAXPROCS. It refuses to measure,
// to fetch and to render; its verdict goes to report and publish.
//
// How a decision is made is in docs/statistics.md; formulas are in gate/stats.
package gate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/stats"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Input is everything a verdict is made from.
type Input struct {
	Current  *result.Document
	Baseline *baseline.Baseline // nil: nothing to compare with was asked for
	Budgets  []budget.Budget
	Policy   Policy
	JudgedBy string // whose budgets: "working file"
	// Command reproduces a cell; the cell's quoted name is appended.
	Command string
}

// Actions of Policy.On.
const (
	ActionNeutral = "neutral" // shown, exit 0
	ActionPass    = "pass"    // as if it had passed
	ActionWarn    = "warn"    // shown with the failures, exit 0
	ActionFail    = "fail"    // exit 3
)

// RequireProof makes every gated finding have to pass with confidence.
const RequireProof = verdict.RequireProof

// Policy is how doubts are treated.
type Policy struct {
	FalseAlarms float64                    // error rate shared by the family, (0, 0.5)
	Require     string                     // "" or RequireProof
	On          map[verdict.Outcome]string // missing outcomes take DefaultOn
	MinSessions int                        // stored sessions from which their spread is used
	// Allowance is added to a relative budget held against fewer sessions than
	// MinSessions, by metric class: sessions of one machine differ by more than
	// the runs of one session, and too few of them cannot tell by how much.
	Allowance map[result.Class]float64
}

// On key for cells that the baseline has and the current result lacks.
const Gone verdict.Outcome = "gone"

// DefaultPolicy is what a suite file that says nothing gets.
func DefaultPolicy() Policy {
	return Policy{
		FalseAlarms: 0.05, MinSessions: 5,
		On: map[verdict.Outcome]string{
			verdict.Inconclusive: ActionNeutral, verdict.NoBaseline: ActionNeutral, verdict.NotComparable: ActionNeutral,
			verdict.Suspicious: ActionWarn, Gone: ActionFail, verdict.New: ActionPass,
		},
		// 10 % for what a machine's state moves, nothing for what it does not:
		// compressors here differ by 1 to 12 % between sessions.
		Allowance: map[result.Class]float64{result.Noisy: 0.10, result.Tail: 0.10, result.Level: 0, result.Exact: 0, result.Counted: 0},
	}
}

// Evaluate judges. The error is for input that cannot be judged at all (a
// policy out of range, a document without a session); everything about the
// numbers is in the verdict.
func Evaluate(in Input) (*verdict.Document, error) {
	if err := check(in); err != nil {
		return nil, err
	}
	e := newEvaluation(in)
	e.summarise()
	e.relative()
	e.absolute()
	e.goneCells()
	e.settle()
	return e.document(), nil
}

func check(in Input) error {
	p := in.Policy
	switch {
	case in.Current == nil || len(in.Current.Sessions) == 0:
		return errors.New("judge: the results document has no session")
	case !(p.FalseAlarms > 0 && p.FalseAlarms < 0.5):
		return fmt.Errorf("judge: gate.false_alarms is %v, want more than 0 and less than 50%%", p.FalseAlarms)
	case p.MinSessions < 2:
		return fmt.Errorf("judge: baseline.min_sessions is %d, want at least 2: one session has no spread", p.MinSessions)
	}
	return nil
}

// evaluation is the state of one Evaluate; each stage fills what the next reads.
type evaluation struct {
	in      Input
	budgets []budget.Budget
	tables  *stats.Tables
	views   []view // one a cell of Current, same order
	// selected are the budgets that select each cell, in order.
	selected [][]int
	refs     *references
	// withinProcess is set when the current numbers are repeats of one process.
	withinProcess bool
	level         float64 // one-sided error rate of one look
	out           *verdict.Document
	tests         []test // one a finding of out.Findings that has a p
}

func newEvaluation(in Input) *evaluation {
	e := &evaluation{in: in, tables: new(stats.Tables), budgets: withImplicit(in.Budgets), withinProcess: withinProcess(in.Current)}
	looks := in.Current.Plan.Looks
	if len(looks) == 0 {
		looks = []int{0}
	}
	e.level = in.Policy.FalseAlarms / float64(len(looks))
	e.views = make([]view, len(in.Current.Cells))
	e.selected = make([][]int, len(in.Current.Cells))
	parallel(len(e.views), func(i int) {
		c := &in.Current.Cells[i]
		e.views[i] = newView(c)
		t := budget.Target{Name: c.Name, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input}
		for j := range e.budgets {
			if e.budgets[j].Selects(t) {
				e.selected[i] = append(e.selected[i], j)
			}
		}
	})
	e.refs = newReferences(in.Current, e.views, in.Baseline)
	e.out = &verdict.Document{
		Schema: verdict.Schema, Budgets: e.budgets, Metrics: in.Current.Metrics, Builds: in.Current.Builds,
		Sessions: in.Current.Sessions, Skipped: in.Current.Skipped,
		Suite:    verdict.Suite{Name: in.Current.Suite.Name, Path: in.Current.Suite.Path, JudgedBy: in.JudgedBy},
		Policy:   policyDocument(in.Policy, in.Current.Plan.Looks),
		Baseline: baselineDocument(in.Baseline),
	}
	return e
}

// Metric of the implicit budget on how much of a cell was measured.
const completeness = "completeness"

// withImplicit puts the budgets that every suite has before its own, so that a
// suite's budget on the same metric and kind wins, and numbers all of them.
func withImplicit(own []budget.Budget) []budget.Budget {
	all := []budget.Budget{
		{Metric: completeness, Kind: budget.Min, Limit: 1, Text: "every planned run"},
		{Metric: result.CrashRate, Kind: budget.Max, Limit: 0, Text: "crash_rate max: 0%"},
		{Metric: result.ErrorRate, Kind: budget.Max, Limit: 0, EachRun: true, Text: "error_rate max: 0%"},
		{Metric: result.Check, Kind: budget.Min, Limit: 1, EachRun: true, Text: "every check holds"},
	}
	for i := range all {
		all[i].Implicit, all[i].Level = true, budget.Fail
	}
	all = append(all, slices.Clone(own)...)
	for i := range all {
		all[i].ID = i
		if all[i].Level == "" {
			all[i].Level = budget.Fail
		}
		if all[i].Kind.Relative() && all[i].Against == "" {
			all[i].Against = budget.AgainstBaseline
		}
	}
	return all
}

func policyDocument(p Policy, looks []int) verdict.Policy {
	d := verdict.Policy{FalseAlarms: p.FalseAlarms, Looks: looks, Require: p.Require, MinSessions: p.MinSessions,
		Allowance: map[string]float64{}, On: map[string]string{}}
	for c, v := range p.Allowance {
		d.Allowance[string(c)] = v
	}
	for o, a := range DefaultPolicy().On {
		d.On[string(o)] = a
	}
	for o, a := range p.On {
		d.On[string(o)] = a
	}
	return d
}

func baselineDocument(b *baseline.Baseline) *verdict.Baseline {
	if b == nil {
		return nil
	}
	d := &verdict.Baseline{State: b.State, Reason: b.Reason, Origin: b.Origin}
	for _, s := range b.Sessions {
		d.Sessions = append(d.Sessions, verdict.BaselineSession{
			Session: *s.Session(), Commit: s.Doc.Builds[result.BuildHead].Commit, File: s.File})
	}
	for _, r := range b.Rejected {
		d.Rejected = append(d.Rejected, verdict.Rejected(r))
	}
	return d
}
