package gate

import (
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// unitOf is the unit that a metric's numbers are printed in.
func unitOf(m result.Metric) string {
	if m.Per != "" {
		return m.Unit + "/" + m.Per
	}
	return m.Unit
}

// label names what a finding is about.
func label(f *verdict.Finding) string {
	s := f.Metric
	if f.Phase != "" {
		s = f.Phase + " " + s
	}
	if f.Part != "" {
		s += " of " + f.Part
	}
	return s
}

// missingMessage says why a budget has nothing to judge.
func (e *evaluation) missingMessage(f *verdict.Finding, reason string) string {
	s := label(f)
	switch f.Outcome {
	case verdict.NoBaseline:
		return s + " has no baseline yet: " + reason
	case verdict.New:
		return s + " is new: " + reason
	case verdict.NotComparable:
		return s + " cannot be compared: " + reason
	}
	return s + " has no data: " + reason
}

func crashMessage(v *view, b *budget.Budget) string {
	n := v.crashes()
	allowed := unit.Percentage(b.Limit)
	if n == 0 {
		return fmt.Sprintf("none of %d runs crashed", len(v.first))
	}
	kinds := map[string]int{}
	var order []string
	for _, i := range v.first {
		if s := v.cell.Runs.StatusAt(i); s.Crashed() {
			if kinds[string(s)] == 0 {
				order = append(order, string(s))
			}
			kinds[string(s)]++
		}
	}
	parts := make([]string, len(order))
	for i, k := range order {
		parts[i] = fmt.Sprintf("%d %s", kinds[k], k)
	}
	return fmt.Sprintf("%d of %d runs crashed (%s), allowed %s", n, len(v.first), strings.Join(parts, ", "), allowed)
}

func (e *evaluation) absoluteMessage(f *verdict.Finding, b *budget.Budget, over int) string {
	if f.Metric == result.Check {
		if over == 0 {
			return fmt.Sprintf("check %s held in all %d runs", f.Part, f.N)
		}
		return fmt.Sprintf("check %s did not hold in %d of %d runs", f.Part, over, f.N)
	}
	u := unitOf(e.in.Current.Metrics[f.Metric])
	value, limit := unit.FormatPair(*f.Value, b.Limit, u)
	relation := map[budget.Kind]string{budget.Max: "at most", budget.Min: "at least"}[b.Kind]
	s := fmt.Sprintf("%s is %s, %s %s is allowed", label(f), value, relation, limit)
	if over > 0 {
		s += fmt.Sprintf("; %d of %d runs are beyond", over, f.N)
	}
	return s
}

// relativeMessage is the sentence of a relative finding: both numbers, the
// change, the budget, and what follows.
func (e *evaluation) relativeMessage(t *test, f *verdict.Finding, cmp *verdict.Comparison) string {
	switch {
	case f.Outcome == verdict.NoData:
		return e.missingMessage(f, first(t.reason, "no test could be made of these numbers"))
	case t.reason == reasonNoDirection:
		return e.missingMessage(f, "nobody said which direction of it is better: say so, or use max_increase or max_decrease")
	case f.Outcome == verdict.NotComparable:
		return e.missingMessage(f, "the reference is zero, and no share of zero can be told")
	}
	if t.contrast.against == verdict.AgainstAnchor {
		return e.creepMessage(t, f, cmp)
	}
	s := e.changeMessage(t, f, cmp)
	switch {
	case t.byMachine:
		s += t.machineText(f, cmp)
	case t.reason == reasonNewestAlone:
		s += ": beyond it, but not beyond the newest stored session, which is unlike those before it: one more session tells"
	case f.Grade == verdict.Suspect:
		s += ": looks beyond it, not proven" + adviceText(f)
	case f.Grade == verdict.Unproven:
		s += ": looks inside it, not proven" + adviceText(f)
	case f.Outcome == verdict.Invalid:
		s += ": too few valid runs remain to decide (" + e.views[cmp.Cell].invalidText() + ")"
	case t.reason == reasonUnexplained:
		s += ": changed although the programs are the same"
	case f.Outcome == verdict.Suspicious:
		s += ": better than is easily believed, look before you trust it"
	}
	return s
}

// changeMessage is the part of it that is no judgement.
func (e *evaluation) changeMessage(t *test, f *verdict.Finding, cmp *verdict.Comparison) string {
	u := unitOf(t.contrast.def)
	ref, cur := unit.FormatPair(cmp.Reference, cmp.Current, u)
	s := fmt.Sprintf("%s %s -> %s", label(f), ref, cur)
	if cmp.Ratio != nil {
		s += ", " + unit.FormatRatio(*cmp.Ratio)
	}
	s += "; allowed " + allowedText(t, u)
	switch a := cmp.Against; a {
	case budget.AgainstBaseline:
	case budget.AgainstBase:
		s += " against the base build"
	default:
		s += " against " + strings.TrimPrefix(a, budget.AgainstVariant)
	}
	return s
}

func allowedText(t *test, u string) string {
	var parts []string
	b := t.budget
	if b.Limit > 0 || b.Amount == 0 {
		parts = append(parts, unit.Percentage(b.Limit))
	}
	if b.Amount > 0 {
		parts = append(parts, unit.Format(b.Amount, u))
	}
	s := strings.Join(parts, " + ")
	if b.MinDelta > 0 {
		s += " and " + unit.Format(b.MinDelta, u)
	}
	if t.extra > 0 {
		s += fmt.Sprintf(" (+ %s session allowance)", unit.Percentage(t.extra))
	}
	return s
}

// adviceText says what would settle it.
func adviceText(f *verdict.Finding) string {
	var ways []string
	if s := f.Settle; s != nil {
		if s.Repeats > 0 {
			ways = append(ways, fmt.Sprintf("%d repeats", s.Repeats))
		}
		if s.Sessions > 0 {
			ways = append(ways, fmt.Sprintf("%d stored sessions", s.Sessions))
		}
		if s.Base {
			ways = append(ways, "--base")
		}
	}
	out := ""
	if len(ways) > 0 {
		out = " (" + strings.Join(ways, " or ") + " would settle it)"
	}
	if f.SmallestEffect != nil {
		out += fmt.Sprintf("; a change of %s would have been seen", unit.Percentage(*f.SmallestEffect))
	}
	return out
}

// ShellQuote quotes a word for a POSIX shell.
func ShellQuote(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=@%,:", r))
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
