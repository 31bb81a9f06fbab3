package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Exit codes of a verdict.
const (
	ExitPass        = verdict.ExitPass
	ExitFail        = verdict.ExitFail
	ExitUndecided   = verdict.ExitUndecided
	ExitInterrupted = verdict.ExitInterrupted
)

func worse(a, b verdict.Outcome) verdict.Outcome {
	if b.Compare(a) < 0 {
		return b
	}
	return a
}

// action is what the policy does about a finding: ActionFail, ActionPass, or
// one of the two that only show it. Fail, invalid and no_data are not subject
// to policy: what is gone is no_data only where the policy makes it red.
func (e *evaluation) action(f *verdict.Finding) string {
	if f.Grade == verdict.Unproven {
		if e.in.Policy.Require == RequireProof {
			return ActionFail
		}
		return ActionPass
	}
	key := f.Outcome
	if key == verdict.NotComparable && slices.Contains(f.Reasons, string(Gone)) {
		key = Gone
	}
	switch key {
	case verdict.Fail, verdict.Invalid, verdict.NoData, verdict.Interrupted:
		return ActionFail
	case verdict.Pass, verdict.Accepted, verdict.Quarantined:
		return ActionPass
	}
	if f.Outcome == verdict.Inconclusive && e.in.Policy.Require == RequireProof {
		return ActionFail
	}
	return e.out.Policy.On[string(key)]
}

// Why measuring a cell ended.
const (
	stopDecided  = "decided"   // every gated finding of it is decided
	stopLooks    = "max_looks" // the last planned look was reached
	stopFutility = "futility"  // what is undecided would hardly be decided at the last look
	stopTime     = "time_cap"  // the next look was not begun
	stopInvalid  = "invalid"   // no valid run
)

// document computes the outcome of every cell and of the whole.
func (e *evaluation) document() {
	d := e.out
	d.Counts.Findings, d.Counts.Cells = map[verdict.Outcome]int{}, map[verdict.Outcome]int{}
	d.Outcome = verdict.Pass
	for i := range d.Cells {
		d.Cells[i].Outcome = verdict.Pass
		if d.Cells[i].Seen > 0 && e.oneLook() {
			d.Cells[i].Stop = stopDecided
		}
		d.Counts.PlannedRuns += d.Cells[i].Planned
		d.Counts.SeenRuns += d.Cells[i].Seen
	}
	for i := range d.Findings {
		e.count(&d.Findings[i])
	}
	if !finite(d.Counts.SmallestEffect) {
		d.Counts.SmallestEffect = 0 // there is none above which all would have seen it
	}
	for i := range d.Cells {
		d.Counts.Cells[d.Cells[i].Outcome]++
	}
	if d.Outcome == verdict.Pass && d.Counts.Findings[verdict.Quarantined] > 0 && !slices.ContainsFunc(d.Findings, func(f verdict.Finding) bool { return f.Gated }) {
		d.Outcome = verdict.Quarantined // nothing is left that could have failed
	}
	e.wholeOutcome()
}

// count adds one finding to its cell, to the counts and to the whole.
func (e *evaluation) count(f *verdict.Finding) {
	d := e.out
	row := &d.Cells[f.Cell]
	if f.Outcome == verdict.Quarantined {
		d.Counts.Findings[f.Outcome]++
		row.Outcome = worse(row.Outcome, f.Outcome)
	}
	if !f.Gated {
		return
	}
	if f.Outcome == verdict.Inconclusive && row.Stop == stopDecided && e.oneLook() {
		row.Stop = stopLooks
	}
	if f.Grade == verdict.Unproven {
		d.Counts.Unproven++
		seen := math.Inf(1) // no change would have been
		if f.SmallestEffect != nil {
			seen = *f.SmallestEffect
		}
		d.Counts.SmallestEffect = max(d.Counts.SmallestEffect, seen)
	} else {
		d.Counts.Findings[f.Outcome]++
	}
	action := e.action(f)
	if action == ActionPass && f.Outcome != verdict.Accepted {
		return
	}
	row.Outcome = worse(row.Outcome, f.Outcome)
	d.Outcome = worse(d.Outcome, f.Outcome)
	if action == ActionFail {
		code := ExitUndecided
		if f.Outcome == verdict.Fail {
			code = ExitFail
		}
		if d.ExitCode == ExitPass || code == ExitFail {
			d.ExitCode = code
		}
	}
}

// wholeOutcome writes the sentences of the verdict, and overrules it where the
// measurement was stopped from outside.
func (e *evaluation) wholeOutcome() {
	d := e.out
	// A session that was resumed to its end is no interruption any more.
	unfinished := e.short()
	if interrupted(e.in.Current) && unfinished || interrupted(e.in.Confirmation) {
		d.Outcome, d.ExitCode = verdict.Interrupted, ExitInterrupted
	}
	if len(d.Cells) == 0 {
		d.Outcome, d.ExitCode = verdict.NoData, ExitUndecided
		d.Reasons = append(d.Reasons, "no cell was measured")
	}
	switch {
	case d.Outcome != verdict.Interrupted:
	case !unfinished:
		d.Reasons = append(d.Reasons, "stopped from outside while doubts were measured again beside the base build")
	default:
		d.Reasons = append(d.Reasons, fmt.Sprintf("stopped from outside after %d of %d runs", d.Counts.SeenRuns, d.Counts.PlannedRuns))
	}
	d.Reasons = append(d.Reasons, e.sentences()...)
	if e.confirmed != "" {
		d.Reasons = append(d.Reasons, e.confirmed)
	}
	if e.ownBudgets() == 0 {
		d.Warnings = append(d.Warnings, "the suite has no budgets: only crashes, checks and completeness were judged")
	}
}

func (e *evaluation) ownBudgets() int {
	n := 0
	for i := range e.budgets {
		if !e.budgets[i].Implicit {
			n++
		}
	}
	return n
}

// sentences count the gated findings by outcome, worst first, and say why where
// the baseline as a whole is the reason.
func (e *evaluation) sentences() []string {
	d := e.out
	total := d.Counts.Unproven
	for o, n := range d.Counts.Findings {
		if o != verdict.Quarantined { // these are beside the judged ones
			total += n
		}
	}
	var out []string
	outcomes := slices.SortedFunc(maps.Keys(d.Counts.Findings), verdict.Outcome.Compare)
	for _, o := range outcomes {
		n := d.Counts.Findings[o]
		switch o {
		case verdict.Pass:
			continue
		case verdict.Fail:
			out = append(out, fmt.Sprintf("%d of %d budgets broken", n, total))
		case verdict.NoBaseline:
			out = append(out, fmt.Sprintf("no baseline yet: %s nothing to compare with", have(n, "budget"))+e.because(o, e.refs.stateReason()))
		case verdict.NotComparable:
			out = append(out, fmt.Sprintf("%d of %d findings cannot be compared", n, total)+e.because(o, e.refs.incomparable()))
		case verdict.NoData:
			out = append(out, fmt.Sprintf("%d of %d findings: no data", n, total)+e.because(o, e.refs.unread()))
		case verdict.Accepted:
			out = append(out, fmt.Sprintf("%d of %d budgets broken, and accepted", n, total))
		case verdict.Quarantined:
			out = append(out, fmt.Sprintf("%d findings quarantined, beside %d judged", n, total))
		case verdict.Inconclusive:
			out = append(out, fmt.Sprintf("%d of %d findings are suspect and not settled", n, total))
		default:
			out = append(out, fmt.Sprintf("%d of %d findings: %s", n, total, strings.ReplaceAll(string(o), "_", " ")))
		}
	}
	if d.Counts.Unproven > 0 && e.in.Policy.Require == RequireProof {
		out = append(out, fmt.Sprintf("%d of %d findings are unproven and gate.require asks for proof", d.Counts.Unproven, total))
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("%d of %d budgets held", d.Counts.Findings[verdict.Pass], total))
	}
	return out
}

func have(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " has"
	}
	return fmt.Sprintf("%d %ss have", n, noun)
}

// because tells a reason, and how many of the gated findings with an outcome it is
// that of, where there are others.
func (e *evaluation) because(o verdict.Outcome, reason string) string {
	all, so := 0, 0
	for i := range e.out.Findings {
		if f := &e.out.Findings[i]; f.Gated && f.Outcome == o {
			all++
			if reason != "" && strings.HasSuffix(f.Message, reason) {
				so++
			}
		}
	}
	switch so {
	case 0:
		return ""
	case all:
		return " (" + reason + ")"
	}
	return fmt.Sprintf(" (%d of them: %s)", so, reason)
}
