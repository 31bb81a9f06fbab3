package publish

import (
	"slices"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Conclusions of a check run (GitHub's words).
const (
	conclusionSuccess   = "success"
	conclusionNeutral   = "neutral"
	conclusionFailure   = "failure"
	conclusionCancelled = "cancelled"
)

// known reports whether an outcome is one that this version knows.
func known(o verdict.Outcome) bool {
	return o == verdict.Pass || o.Compare(verdict.Pass) < 0
}

// worst is the outcome and the exit code of the whole, as the verdicts say. A
// machine that never reported counts as one without data.
func (r Report) worst() (verdict.Outcome, int) {
	docs := make([]*verdict.Document, 0, len(r.Parts)+len(r.Missing))
	for _, p := range r.Parts {
		docs = append(docs, p.Verdict)
	}
	for range r.Missing {
		docs = append(docs, nil)
	}
	return verdict.Worst(docs)
}

// Outcome is the outcome of the whole; no_data where there is no verdict.
func (r Report) Outcome() verdict.Outcome {
	o, _ := r.worst()
	return o
}

// ExitCode is the exit code of the whole under an action's fail-on. An interrupted
// run has no verdict, and nothing lets it through.
func (r Report) ExitCode(failOn string) int {
	_, code := r.worst()
	suspect := slices.ContainsFunc(r.Parts, func(p Part) bool {
		return p.Verdict != nil && p.Verdict.Counts.Findings[verdict.Inconclusive] > 0
	})
	switch {
	case failOn == FailOnNever && code != verdict.ExitInterrupted:
		return verdict.ExitPass
	case failOn == FailOnInconclusive && code == verdict.ExitPass && suspect:
		return verdict.ExitUndecided
	}
	return code
}

// conclusion is what the check run says. Neutral passes a required check on
// GitHub: what must stop a merge has an exit code that is not 0.
func conclusion(o verdict.Outcome, exitCode int) string {
	switch {
	case o == verdict.Interrupted:
		return conclusionCancelled
	case exitCode != verdict.ExitPass:
		return conclusionFailure
	case o == verdict.Pass || o == verdict.Accepted || o == verdict.Quarantined:
		return conclusionSuccess
	}
	return conclusionNeutral
}

func (p *publication) conclusion() string {
	return conclusion(p.r.Outcome(), p.r.ExitCode(p.o.FailOn))
}
