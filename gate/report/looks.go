package report

import (
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// afterLook says after which of several looks a finding was decided, or why its
// cell was left undecided there; "" where there is one look.
func (f *facts) afterLook(x *verdict.Finding) string {
	if x.Confirmed == nil && f.besideBase(x) {
		return f.afterLookAgain(x, x.Look)
	}
	n := len(f.v.Policy.Looks)
	if x.Look == 0 || n < 2 {
		return ""
	}
	text := fmt.Sprintf("after look %d of %d", x.Look, n)
	if why := stopWord(f.v.Cells[x.Cell].Stop); why != "" && x.Outcome == verdict.Inconclusive && x.Confirmed == nil {
		text += ": " + why
	}
	return text
}

// besideBase reports whether a finding that stored sessions said nothing of was
// decided by the confirmation.
func (f *facts) besideBase(x *verdict.Finding) bool {
	c := f.comparison(x)
	return f.v.Confirmation != nil && c != nil && c.Against == budget.AgainstBase
}

// afterLookAgain is afterLook of a look at which doubts were measured again.
func (f *facts) afterLookAgain(x *verdict.Finding, look int) string {
	a := f.v.Confirmation
	if a == nil || look == 0 {
		return ""
	}
	text := fmt.Sprintf("after look %d of %d", look, len(a.Looks))
	at := slices.IndexFunc(a.Cells, func(c verdict.Again) bool { return c.Cell == x.Cell })
	if at >= 0 && x.Outcome == verdict.Inconclusive {
		if why := stopWord(a.Cells[at].Stop); why != "" {
			text += ": " + why
		}
	}
	return text
}

// stopWord says why a cell was measured no further; "" where all was decided.
func stopWord(stop string) string {
	switch stop {
	case "max_looks":
		return "the last one"
	case "futility":
		return "more repeats would hardly decide"
	case "time_cap":
		return "no time for more"
	case "invalid":
		return "no valid run"
	}
	return ""
}

// lookOf is the look at which a cell stopped, for its row: "look 1", and the
// reason in a word where it is not that all was decided. A cell may have gone on
// after its findings were decided, or had nothing to decide: then it is the look up
// to which its repeats were measured, or nothing where that is not known.
func (f *facts) lookOf(c *verdict.Cell) string {
	looks := f.v.Policy.Looks
	if c.Look == 0 || len(looks) < 2 {
		return ""
	}
	switch reached := slices.Index(looks, c.Expected()) + 1; {
	case reached > c.Look:
		return fmt.Sprintf("look %d", reached)
	case reached == 0 && c.Due == 0 && c.Look < len(looks):
		return ""
	}
	text := fmt.Sprintf("look %d", c.Look)
	switch c.Stop {
	case "futility":
		text += ", futile"
	case "time_cap", "invalid":
		text += ", " + spaced(c.Stop)
	}
	return text
}
