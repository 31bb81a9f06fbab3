package verdict

import "slices"

// Exit codes of a verdict. Never 2: a Go panic exits with it.
const (
	ExitPass        = 0
	ExitFail        = 1
	ExitUndecided   = 3
	ExitInterrupted = 130
)

// Compare is negative when o is worse than p, positive when it is better.
func (o Outcome) Compare(p Outcome) int { return o.place() - p.place() }

// Worst is the outcome and the exit code of several verdicts taken together: of
// one suite on several machines, each judged by itself. The outcome is the worst
// one; the exit code follows the order of outcomes that set it: interrupted, fail,
// undecided, pass. They need not come from one verdict: a policy may let the worse
// outcome pass and not the better one. A code that no verdict has counts as
// undecided, and so does no verdict at all: nothing measured is red.
func Worst(docs []*Document) (Outcome, int) {
	outcome, code := Pass, ExitPass
	if len(docs) == 0 {
		return NoData, ExitUndecided
	}
	for _, d := range docs {
		o, c := NoData, ExitUndecided
		if d != nil {
			o, c = d.Outcome, d.ExitCode
		}
		if o.Compare(outcome) < 0 {
			outcome = o
		}
		if urgency(c) > urgency(code) {
			code = c
		}
	}
	if urgency(code) == urgency(ExitUndecided) {
		code = ExitUndecided
	}
	return outcome, code
}

// urgency orders exit codes.
func urgency(code int) int {
	known := []int{ExitPass, ExitUndecided, ExitFail, ExitInterrupted}
	if at := slices.Index(known, code); at >= 0 {
		return at
	}
	return slices.Index(known, ExitUndecided)
}
