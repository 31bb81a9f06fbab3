package report

import (
	"fmt"

	"github.com/perfweir/perfweir/gate/verdict"
)

// titleCleared heads the findings that stored sessions had called broken or
// suspect and that the base build, measured beside head, did not confirm.
const titleCleared = "Not confirmed: the stored sessions objected, the base build of this session does not"

// cleared reports whether a finding is one of those, and is red no more.
func (f *facts) cleared(i int) bool {
	s := f.v.StandingOf(i)
	return f.v.Findings[i].Confirmed != nil && (s == verdict.Held || s == verdict.Undecided)
}

// clearedFindings are all of them, in the order of reports.
func (f *facts) clearedFindings() []int {
	return f.filter(true, f.by[verdict.Undecided], f.by[verdict.Held])
}

// filter keeps the findings that are cleared, or the others.
func (f *facts) filter(cleared bool, lists ...[]int) []int {
	var out []int
	for _, list := range lists {
		for _, i := range list {
			if f.cleared(i) == cleared {
				out = append(out, i)
			}
		}
	}
	return out
}

// confirmedLine says what became of the findings that were measured again beside
// the base build; "" where none were.
func (f *facts) confirmedLine() string {
	confirmed, all, commit := 0, 0, ""
	for i := range f.v.Findings {
		c := f.v.Findings[i].Confirmed
		if c == nil {
			continue
		}
		all++
		commit = c.Commit
		if c.Outcome == verdict.Fail {
			confirmed++
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("in doubt by stored sessions, and measured again beside the base commit %s: %d of %d confirmed", commit[:min(12, len(commit))], confirmed, all)
}
