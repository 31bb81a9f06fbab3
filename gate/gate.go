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
	"time"

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
	// Budgets and Policy are those of the suite file that Current was measured
	// under: head's, or at a desk the working file's.
	Budgets []budget.Budget
	Policy  Policy
	// Accepted and Quarantine are that file's, too.
	Accepted, Quarantine []budget.Exception
	// Base is what the comparison commit's suite file says; nil: that of Current
	// decides alone.
	Base *Rules
	// Confirmation are the results of measuring doubts of Current again, beside the
	// base build (see Unsettled); nil: there are none. What it says stands.
	Confirmation *result.Document
	// AcceptedBy is who accepted, by label, what the change loosens: then the suite
	// file of Current counts at once. nil: nobody.
	AcceptedBy *verdict.AcceptedBy
	Note       string // what else a reader should know, told as a warning
	JudgedBy   string // whose rules decide where Base is nil: "working file"
	// Command reproduces a cell; the cell's quoted name is appended.
	Command string
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
	e.tellControl()
	e.doubtUniform()
	e.absolute()
	e.goneCells()
	e.setAside()
	e.settle()
	e.confirm(in)
	e.excuseFindings()
	e.document()
	e.tellLoosened()
	e.dropUnused()
	return e.out, nil
}

func check(in Input) error {
	if in.Current == nil || len(in.Current.Sessions) == 0 {
		return errors.New("judge: the results document has no session")
	}
	if err := in.Policy.check(); err != nil {
		return fmt.Errorf("judge: %w", err)
	}
	if c := in.Confirmation; c != nil && (len(c.Sessions) == 0 || c.Plan.Confirms != in.Current.Plan.Digest) {
		return errors.New("judge: the confirmation is not of this session")
	}
	if in.Base == nil {
		return nil
	}
	if in.Base.Commit == "" {
		return errors.New("judge: the rules of the comparison commit do not say which commit that is")
	}
	if err := in.Base.Policy.check(); err != nil {
		return fmt.Errorf("judge: suite file of the comparison commit: %w", err)
	}
	return nil
}

// evaluation is the state of one Evaluate; each stage fills what the next reads.
type evaluation struct {
	in      Input
	budgets []budget.Budget // built in, then head's, then base's: see firstBase
	// firstBase is the index of base's first own budget.
	firstBase int
	base      *baseSuite // nil: head's file decides alone
	tables    *stats.Tables
	views     []view   // one a cell of Current, same order
	at        []view   // likewise, of the runs up to the look that is judged
	rulings   []ruling // likewise
	// baseViews are the base build's cells by the identity of head's; nil: it was not
	// measured in this session.
	baseViews map[result.ID]*view
	refs      *references
	cuts      []acceptedCut // newest levels that were left on purpose
	control   *controlCell  // nil: it has no say, or nothing to say
	// withinProcess is set when the current numbers are repeats of one process.
	withinProcess bool
	level         float64 // one-sided error rate of one look
	out           *verdict.Document
	tests         []test // one a finding of out.Findings that has a p
	// cutShort is set when looks are missing because measuring was stopped.
	cutShort bool
	// loose counts the cells in which base's budget decides in place of head's.
	loose map[looseRule]int
	// only are the findings that a confirmation is about; nil: all.
	only map[subjectOf]int
	// confirmed is what became of the doubts that were measured again, in words.
	confirmed string
	excuses   excuses
}

// startedAt is the moment that days are counted from: the first session's start.
func (e *evaluation) startedAt() time.Time { return e.in.Current.Sessions[0].StartedAt }

func newEvaluation(in Input) *evaluation {
	whole := in.Current
	in.Current = headCells(whole)
	e := &evaluation{in: in, tables: new(stats.Tables), withinProcess: withinProcess(in.Current), loose: map[looseRule]int{}}
	e.excuses = newExcuses(&e.in)
	e.out = &verdict.Document{
		Schema: verdict.Schema, Metrics: in.Current.Metrics, Builds: in.Current.Builds,
		Sessions: in.Current.Sessions, Skipped: ofHead(in.Current.Skipped),
		Suite:    verdict.Suite{Name: in.Current.Suite.Name, Path: in.Current.Suite.Path, JudgedBy: in.JudgedBy},
		Baseline: baselineDocument(in.Baseline),
	}
	if in.Base != nil {
		e.joinRules()
	} else {
		e.budgets = withImplicit(in.Budgets)
		e.firstBase = len(e.budgets)
	}
	e.out.Budgets, e.out.Policy = e.budgets, policyDocument(e.in.Policy, in.Current.Plan.Looks)
	e.level = stats.LookLevel(e.in.Policy.FalseAlarms, len(in.Current.Plan.Looks))
	e.views = make([]view, len(in.Current.Cells))
	e.rulings = make([]ruling, len(in.Current.Cells))
	parallel(len(e.views), func(i int) {
		e.views[i] = newView(&in.Current.Cells[i])
		e.rulings[i] = e.rule(&in.Current.Cells[i])
	})
	e.refs = newReferences(in.Current, e.views, in.Baseline)
	e.cuts = acceptedCuts(&in)
	e.baseViews = baseViews(whole)
	e.findControl(whole)
	e.see(allLooks)
	e.out.Warnings = append(e.out.Warnings, warnings(in)...)
	return e
}

// warnings are what the documents themselves warn of.
func warnings(in Input) []string {
	var out []string
	if in.Note != "" {
		out = append(out, in.Note)
	}
	for i := range in.Current.Sessions {
		for _, text := range in.Current.Sessions[i].Warnings {
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	out = append(out, softWarnings(in)...)
	if in.Baseline != nil {
		for _, text := range in.Baseline.Warnings {
			out = append(out, "baseline: "+text)
		}
	}
	return out
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

func baselineDocument(b *baseline.Baseline) *verdict.Baseline {
	if b == nil {
		return nil
	}
	d := &verdict.Baseline{State: b.State, Reason: b.Reason, Origin: b.Origin, Sessions: baselineSessions(b.Sessions)}
	if a := b.Anchor; a != nil {
		d.Anchor = &verdict.Anchor{Name: a.Name, Commit: a.Commit, Sessions: baselineSessions(a.Sessions), Why: a.Why}
	}
	for _, r := range b.Rejected {
		d.Rejected = append(d.Rejected, verdict.Rejected(r))
	}
	return d
}

func baselineSessions(stored []baseline.Stored) []verdict.BaselineSession {
	var out []verdict.BaselineSession
	for _, s := range stored {
		out = append(out, verdict.BaselineSession{Session: *s.Session(), Commit: s.Doc.Builds[result.BuildHead].Commit, File: s.File})
	}
	return out
}
