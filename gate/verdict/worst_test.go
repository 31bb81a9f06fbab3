package verdict

import (
	"math/rand/v2"
	"testing"
)

func TestWorst(t *testing.T) {
	d := func(o Outcome, code int) *Document { return &Document{Outcome: o, ExitCode: code} }
	pass, fail := d(Pass, ExitPass), d(Fail, ExitFail)
	for _, tt := range []struct {
		name string
		docs []*Document
		want Outcome
		code int
	}{
		{"none", nil, NoData, ExitUndecided},
		{"one that is missing", []*Document{pass, nil}, NoData, ExitUndecided},
		{"all pass", []*Document{pass, pass}, Pass, ExitPass},
		{"one fails", []*Document{pass, fail, pass}, Fail, ExitFail},
		{"a fail goes before no data", []*Document{d(NoData, ExitUndecided), fail}, Fail, ExitFail},
		{"an interruption before a fail", []*Document{fail, d(Interrupted, ExitInterrupted)}, Interrupted, ExitInterrupted},
		{"doubts that a policy lets pass", []*Document{pass, d(NoBaseline, ExitPass)}, NoBaseline, ExitPass},
		{"the outcome of one and the code of another", []*Document{d(NotComparable, ExitPass), d(Inconclusive, ExitUndecided)}, NotComparable, ExitUndecided},
		{"a code that no verdict has", []*Document{d(Pass, 77)}, Pass, ExitUndecided},
		{"and one that is less than a fail", []*Document{fail, d(Pass, -1)}, Fail, ExitFail},
	} {
		if got, code := Worst(tt.docs); got != tt.want || code != tt.code {
			t.Errorf("%s: %s exit %d, want %s exit %d", tt.name, got, code, tt.want, tt.code)
		}
	}
}

// Of any verdicts in any order it is the same, it is not better than any of them,
// one of them has it, and one more never makes it better.
func TestWorstIsTheWorst(t *testing.T) {
	codes := []int{ExitPass, ExitUndecided, ExitFail, ExitInterrupted}
	outcomes := []Outcome{Interrupted, Fail, Invalid, NoData, NotComparable, NoBaseline, New, Inconclusive, Suspicious, Quarantined, Accepted, Pass}
	for i := range uint64(500) {
		r := rand.New(rand.NewPCG(i, 1))
		var docs []*Document
		for range 1 + r.IntN(5) {
			docs = append(docs, &Document{Outcome: outcomes[r.IntN(len(outcomes))], ExitCode: codes[r.IntN(len(codes))]})
		}
		o, code := Worst(docs)
		hasOutcome, hasCode := false, false
		for _, d := range docs {
			hasOutcome, hasCode = hasOutcome || d.Outcome == o, hasCode || d.ExitCode == code
			if d.Outcome.Compare(o) < 0 || urgency(d.ExitCode) > urgency(code) {
				t.Fatalf("%s exit %d is worse than %s exit %d", d.Outcome, d.ExitCode, o, code)
			}
		}
		if !hasOutcome || !hasCode {
			t.Fatalf("no verdict is %s, or none exits with %d", o, code)
		}
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		if o2, code2 := Worst(docs); o2 != o || code2 != code {
			t.Fatalf("in another order %s exit %d, then %s exit %d", o, code, o2, code2)
		}
		if o2, code2 := Worst(docs[1:]); len(docs) > 1 && (o.Compare(o2) > 0 || urgency(code) < urgency(code2)) {
			t.Fatalf("%s exit %d without one of them, and %s exit %d with it", o2, code2, o, code)
		}
	}
}
