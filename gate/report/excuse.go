package report

import (
	"fmt"

	"github.com/perfweir/perfweir/gate/verdict"
)

// excuseText says what the suite file excuses of a finding, until when and why;
// or that it no longer does.
func (f *facts) excuseText(x *verdict.Finding) string {
	e := f.v.ExcuseOf(x)
	if e == nil {
		return ""
	}
	reason := clip(sentence(e.Reason), maxName)
	until := e.Expires
	switch {
	case e.Kind == verdict.ExcuseQuarantine && x.Was != "":
		return fmt.Sprintf("quarantined until %s (%s), else %s", until, reason, spaced(string(x.Was)))
	case e.Expired:
		return fmt.Sprintf("was accepted up to %s until %s (%s): expired", e.Text, until, reason)
	case x.Outcome == verdict.Accepted:
		return fmt.Sprintf("accepted up to %s until %s (%s)", e.Text, until, reason)
	}
	return fmt.Sprintf("beyond what is accepted, up to %s until %s (%s)", e.Text, until, reason)
}

// excused are the findings that would have counted without an entry of the suite
// file; those that hold as well are no news.
func (f *facts) excused() []int {
	var out []int
	for _, i := range f.by[verdict.Excused] {
		if x := &f.v.Findings[i]; x.Was != verdict.Pass {
			out = append(out, i)
		}
	}
	return out
}

// acceptedBy says whose word lets the change's own rules count.
func (f *facts) acceptedBy() []string {
	by := f.v.AcceptedBy
	if by == nil {
		return nil
	}
	return []string{fmt.Sprintf("accepted by %s with the label %s at %s: what this change's suite file loosens or accepts counts at once",
		clip(by.Login, 60), clip(by.Label, 60), by.At.UTC().Format("2006-01-02 15:04"))}
}

// Loosened tells a rule that a change makes looser, in a sentence. by is who
// accepted that; nil: nobody, and it counts after the merge.
func Loosened(l *verdict.Loosened, by *verdict.AcceptedBy) string {
	s := "loosened by this change: " + clip(l.Text, 60)
	if l.Cells > 0 {
		s += " (" + plural(l.Cells, "cell") + ")"
	}
	was, now := clip(l.Was, 60), clip(l.Now, 60)
	switch {
	case by != nil && now == "":
		return s + ", gone; before: " + was
	case by != nil && was == "":
		return s + ", " + now
	case by != nil:
		return s + ", " + now + "; before: " + was
	case was == "":
		return s + ", counts after the merge, " + now
	case now == "":
		return s + ", " + was + " decides until the merge, and nothing after it"
	}
	return s + ", " + was + " decides until the merge, " + now + " after it"
}
