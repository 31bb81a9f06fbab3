package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Reasons of a finding that was measured again beside the base build.
const (
	reasonConfirmed      = "confirmed"
	reasonNotConfirmed   = "not_confirmed"
	reasonNotConfirmable = "not_confirmable" // the base build gave nothing to compare with
)

// Doubt is a cell whose findings stored sessions cannot settle.
type Doubt struct {
	Cell result.ID
	// Findings are how many tests it takes: all doubts share the error rate anew.
	Findings int
	// Noisy is set when one of them is of a metric that needs a test; the others are
	// compared as they are.
	Noisy bool
}

// Unsettled are the cells of a verdict that are worth measuring again beside the
// base build: those with a gated budget against the baseline that was broken, that
// is suspect, or that had nothing to be compared with.
func Unsettled(v *verdict.Document) []Doubt {
	var out []Doubt
	at := map[int]int{}
	for i := range v.Findings {
		f := &v.Findings[i]
		if !unsettled(v, f) {
			continue
		}
		k, known := at[f.Cell]
		if !known {
			k = len(out)
			at[f.Cell] = k
			c := &v.Cells[f.Cell]
			out = append(out, Doubt{Cell: result.ID{Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: result.BuildHead}})
		}
		out[k].Findings++
		class := v.Metrics[f.Metric].Class
		out[k].Noisy = out[k].Noisy || class != result.Exact && class != result.Counted
	}
	return out
}

// unsettled reports whether a finding is one of those.
func unsettled(v *verdict.Document, f *verdict.Finding) bool {
	b := &v.Budgets[f.Budget]
	if !f.Gated || !b.Kind.Relative() || b.Against != budget.AgainstBaseline {
		return false
	}
	if f.Comparison == nil {
		return f.Outcome == verdict.NoBaseline || f.Outcome == verdict.NotComparable || f.Outcome == verdict.New
	}
	if v.Comparisons[*f.Comparison].Against != budget.AgainstBaseline {
		return false // it is settled beside the base build already
	}
	return f.Outcome == verdict.Fail || f.Outcome == verdict.Inconclusive && f.Grade == verdict.Suspect
}

// subjectOf tells findings of one document from each other.
type subjectOf struct {
	cell                result.ID
	metric, phase, part string
	budget              int
}

func (e *evaluation) subject(cell int, metric, phase, part string, b int) subjectOf {
	return subjectOf{e.views[cell].cell.ID(), metric, phase, part, b}
}

// asked reports whether a budget on a column is to be judged.
func (e *evaluation) asked(cell int, col *result.Column, b int) bool {
	if e.only == nil {
		return true
	}
	_, ok := e.only[e.subject(cell, col.Metric, col.Phase, col.Part, b)]
	return ok
}

// interrupted reports whether a session of a document was stopped before its plan
// was done.
func interrupted(d *result.Document) bool {
	return d != nil && slices.ContainsFunc(d.Sessions, func(s result.Session) bool { return s.Interrupted })
}

// confirm puts in the place of what stored sessions left in doubt what the paired
// measurement beside the base build says: with an error rate that those findings
// share among themselves alone, and with their own looks. One that was stopped says
// nothing.
func (e *evaluation) confirm(given Input) {
	doc := given.Confirmation
	if doc == nil {
		return
	}
	for _, s := range doc.Sessions {
		for _, text := range s.Warnings {
			if !slices.Contains(e.out.Warnings, text) {
				e.out.Warnings = append(e.out.Warnings, text)
			}
		}
	}
	if interrupted(doc) {
		return
	}
	again := e.judgeAgain(given)
	e.out.Confirmation = e.confirmation(again)
	if base, there := doc.Builds[result.BuildBase]; there {
		e.out.Builds = maps.Clone(e.out.Builds)
		e.out.Builds[result.BuildBase] = base
	}
	tests := map[int]*test{}
	for i := range e.tests {
		tests[e.tests[i].finding] = &e.tests[i]
	}
	left := map[int]bool{} // in doubt, and not measured again
	for _, at := range again.only {
		left[at] = true
	}
	for i := range again.out.Findings {
		g := &again.out.Findings[i]
		at := again.only[again.subject(g.Cell, g.Metric, g.Phase, g.Part, g.Budget)]
		delete(left, at)
		e.replace(&e.out.Findings[at], tests[at], g, again.out)
	}
	for at := range left {
		e.notAgain(&e.out.Findings[at], doc)
	}
	e.tellConfirmed(again.out.Builds[result.BuildBase].Commit)
}

// confirmation is what the verdict says of how the doubts were measured again; nil
// where nothing was.
func (e *evaluation) confirmation(again *evaluation) *verdict.Confirmation {
	rows := map[result.ID]int{}
	for i := range e.views {
		rows[e.views[i].cell.ID()] = i
	}
	c := &verdict.Confirmation{Commit: again.out.Builds[result.BuildBase].Commit, Family: again.out.Policy.Family, Looks: again.out.Policy.Looks}
	for i := range again.views {
		row := &again.out.Cells[i]
		if at, known := rows[again.views[i].cell.ID()]; known {
			a := verdict.Again{Cell: at, Planned: row.Planned, Seen: row.Seen}
			if !again.oneLook() {
				a.Look, a.Stop = row.Look, row.Stop
			}
			c.Cells = append(c.Cells, a)
		}
	}
	if len(c.Cells) == 0 {
		return nil
	}
	return c
}

// notAgain says of a doubt that it was not measured again, where stored sessions
// have said something.
func (e *evaluation) notAgain(f *verdict.Finding, doc *result.Document) {
	why := "it was not measured again beside the base build"
	c := &e.out.Cells[f.Cell]
	name := result.BuildName(c.Name, result.BuildBase)
	for _, s := range doc.Skipped {
		if s.Build == result.BuildBase && s.Name == name {
			why = s.Why
			if f.Comparison == nil {
				f.Outcome = verdict.New
				f.Message = e.missingMessage(f, why)
				return
			}
		}
	}
	if f.Comparison != nil {
		f.Reasons = append(f.Reasons, reasonNotConfirmable)
		f.Message += "; not confirmed and not refuted: " + why
	}
}

// tellConfirmed counts what became of the doubts, for the head of a report.
func (e *evaluation) tellConfirmed(commit string) {
	confirmed, all := 0, 0
	for i := range e.out.Findings {
		if c := e.out.Findings[i].Confirmed; c != nil {
			all++
			if c.Outcome == verdict.Fail {
				confirmed++
			}
		}
	}
	if all > 0 {
		e.confirmed = fmt.Sprintf("measured again beside the base commit %s: %d of %d confirmed", commit[:min(12, len(commit))], confirmed, all)
	}
}

// judgeAgain judges the paired measurement: the doubts, and nothing else.
func (e *evaluation) judgeAgain(given Input) *evaluation {
	given.Current, given.Confirmation, given.Baseline = given.Confirmation, nil, nil
	given.Accepted, given.Quarantine = nil, nil // said of the first verdict
	again := newEvaluation(given)
	again.summarise()
	again.only = map[subjectOf]int{}
	for i := range e.out.Findings {
		if f := &e.out.Findings[i]; unsettled(e.out, f) {
			again.only[e.subject(f.Cell, f.Metric, f.Phase, f.Part, f.Budget)] = i
		}
	}
	again.relative()
	again.settle()
	return again
}

// replace gives a finding the outcome of the paired measurement. Both numbers are
// kept: the stored comparison stays where there was one.
func (e *evaluation) replace(f *verdict.Finding, t *test, g *verdict.Finding, again *verdict.Document) {
	if g.Comparison == nil || g.Outcome == verdict.NoData || g.Outcome == verdict.NotComparable {
		e.unconfirmable(f, g)
		return
	}
	c := again.Comparisons[*g.Comparison]
	stored := *f
	*f = *g
	f.Cell, f.Comparison = stored.Cell, stored.Comparison
	commit := again.Builds[result.BuildBase].Commit
	if stored.Comparison == nil {
		c.ID, c.Cell = len(e.out.Comparisons), stored.Cell
		e.out.Comparisons = append(e.out.Comparisons, c)
		f.Comparison = &c.ID
		return
	}
	f.Allowed, f.N, f.Look = stored.Allowed, stored.N, stored.Look
	f.Confirmed = &verdict.Confirmed{Commit: commit, Ratio: c.Ratio, Interval: c.RatioInterval, N: c.N[0], Look: g.Look, Outcome: g.Outcome}
	word := reasonNotConfirmed
	if g.Outcome == verdict.Fail {
		word = reasonConfirmed
	}
	f.Reasons = append([]string{word}, g.Reasons...)
	f.Message = e.confirmedMessage(t, f, &c, len(again.Policy.Looks)) + unsettledText(f, again.Cells[g.Cell].Stop)
}

// unconfirmable leaves what stored sessions said, and says why it was not settled.
// A cell that neither they nor the base build have is new.
func (e *evaluation) unconfirmable(f, g *verdict.Finding) {
	if f.Comparison == nil && g.Outcome == verdict.New {
		f.Outcome, f.Message = g.Outcome, g.Message
		return
	}
	f.Reasons = append(f.Reasons, reasonNotConfirmable)
	f.Message += "; the base build could not settle it: " + g.Message
}

// confirmedMessage is what stored sessions said, then what the pair did.
func (e *evaluation) confirmedMessage(t *test, f *verdict.Finding, c *verdict.Comparison, looks int) string {
	u := unitOf(t.contrast.def)
	change := unit.Signed(c.Shift, u)
	if c.Ratio != nil {
		change = unit.FormatRatio(*c.Ratio)
	}
	word := "not confirmed"
	if f.Outcome == verdict.Fail {
		word = "confirmed"
	}
	commit := strings.TrimSpace("commit " + f.Confirmed.Commit[:min(12, len(f.Confirmed.Commit))])
	s := fmt.Sprintf("%s: %s: against the base %s on this machine %s in %d blocks",
		e.changeMessage(t, f, &e.out.Comparisons[*f.Comparison]), word, commit, change, c.N[0])
	if look := f.Confirmed.Look; look > 0 {
		s += fmt.Sprintf(" (look %d of %d)", look, looks)
	}
	return s
}

// unsettledText says what measuring again leaves open of a finding, and why it went no
// further.
func unsettledText(f *verdict.Finding, stop string) string {
	s := ""
	switch f.Grade {
	case verdict.Suspect:
		s = ", which looks beyond the budget and is not proven"
	case verdict.Unproven:
		s = ", which looks inside the budget"
	default:
		return ""
	}
	switch stop {
	case stopFutility:
		s += ": the last look would hardly have decided"
	case stopTime:
		s += ": limits.time left no time for more"
	}
	return s + adviceText(f)
}
