package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// headline is the first line without its first word: what was counted, the
// deciding count first.
func (f *facts) headline() string {
	parts := []string{f.lead()}
	for _, o := range []verdict.Outcome{verdict.Fail, verdict.Invalid, verdict.NoData, verdict.Inconclusive,
		verdict.Suspicious, verdict.NotComparable, verdict.NoBaseline, verdict.New, verdict.Accepted, verdict.Quarantined} {
		if o == f.v.Outcome {
			continue
		}
		if s := f.aside(o); s != "" {
			parts = append(parts, s)
		}
	}
	if n := f.tally[verdict.Pass].findings; n > 0 && !f.v.Outcome.Red() && f.v.Outcome != verdict.Pass {
		parts = append(parts, fmt.Sprintf("%d hold", n))
	}
	if n := f.unproven(); n > 0 {
		s := fmt.Sprintf("%d unproven", n)
		if e := f.v.Counts.SmallestEffect; e > 0 {
			s += fmt.Sprintf(", a change above %s would have been seen", unit.Percentage(e))
		}
		parts = append(parts, s)
	}
	if n := len(f.by[verdict.Warned]); n > 0 {
		parts = append(parts, plural(n, "warning"))
	}
	return strings.Join(parts, "; ")
}

// title is the verdict in a word or two.
func (f *facts) title() string {
	b, o := f.v.Baseline, f.v.Outcome
	switch {
	case b != nil && b.State == verdict.BaselineFailed && (o == verdict.NoBaseline || o == verdict.NoData):
		return "baseline not read"
	case o == verdict.NoBaseline:
		return "no baseline yet"
	}
	return clip(spaced(string(f.v.Outcome)), 40)
}

// lead is the count that decided.
func (f *facts) lead() string {
	o := f.v.Outcome
	c := f.tally[o]
	of := fmt.Sprintf("%d of %s", c.findings, plural(f.gated, "budget"))
	in := fmt.Sprintf(" in %d of %s", c.cells, plural(len(f.v.Cells), "cell"))
	if c.findings == 0 && c.cells > 0 {
		return fmt.Sprintf("%d of %s %s", c.cells, plural(len(f.v.Cells), "cell"), cellVerb(o))
	}
	switch o {
	case verdict.Pass:
		return f.passLead()
	case verdict.Fail:
		return of + " broken" + in
	case verdict.Invalid:
		return of + " rest on invalid runs" + in
	case verdict.NoData:
		return of + " without data" + in
	case verdict.Inconclusive:
		return of + " " + f.undecided() + in
	case verdict.Suspicious:
		return of + " moved too far to be believed unseen" + in
	case verdict.NotComparable:
		return of + " not comparable" + in
	case verdict.NoBaseline:
		return of + " had nothing to compare with" + in
	case verdict.New:
		return of + " new to the baseline" + in
	case verdict.Accepted:
		return of + " broken, and accepted" + in
	case verdict.Quarantined:
		return fmt.Sprintf("all that was judged is quarantined: %s in %s", plural(c.findings, "finding"), plural(c.cells, "cell"))
	case verdict.Interrupted:
		return fmt.Sprintf("stopped from outside after %d of %s", f.v.Counts.SeenRuns, plural(f.v.Counts.PlannedRuns, "run"))
	}
	return of + in
}

// undecided is what an inconclusive finding that decides is.
func (f *facts) undecided() string {
	if f.v.Policy.Require == verdict.RequireProof {
		return "not proven"
	}
	return "suspect"
}

func (f *facts) passLead() string {
	cells := plural(len(f.v.Cells), "cell")
	held := f.tally[verdict.Pass].findings
	switch {
	case f.gated == 0:
		return "no budget was judged; " + cells + " measured"
	case held == 1 && f.gated == 1:
		return "the one budget holds in " + cells
	case held == f.gated:
		return fmt.Sprintf("all %s hold in %s", plural(f.gated, "budget"), cells)
	}
	return fmt.Sprintf("%d of %s hold in %s", held, plural(f.gated, "budget"), cells)
}

func cellVerb(o verdict.Outcome) string {
	switch o {
	case verdict.Fail:
		return "failed"
	case verdict.NoData:
		return "without data"
	}
	return spaced(string(o))
}

// aside counts an outcome that did not decide.
func (f *facts) aside(o verdict.Outcome) string {
	c := f.tally[o]
	if c.findings == 0 && c.cells == 0 {
		return ""
	}
	if c.findings == 0 {
		return plural(c.cells, "cell") + " " + cellVerb(o)
	}
	word := spaced(string(o))
	switch o {
	case verdict.Fail:
		word = "broken"
	case verdict.NoData:
		word = "without data"
	case verdict.Inconclusive:
		word = f.undecided()
	case verdict.NoBaseline:
		word = "without a baseline"
	}
	return fmt.Sprintf("%d %s", c.findings, word)
}

// exit says what happens with the verdict, and by which policy.
func (f *facts) exit() string {
	v := f.v
	policy := ""
	if p := v.Policy.On[string(v.Outcome)]; p != "" {
		policy = fmt.Sprintf("policy %s: %s", v.Outcome, p)
	}
	if v.Outcome == verdict.Inconclusive && v.Policy.Require == verdict.RequireProof {
		policy = "policy require: proof"
	}
	switch {
	case v.ExitCode == verdict.ExitPass && v.Outcome == verdict.Pass:
	case v.ExitCode == verdict.ExitPass && policy != "":
		return exitText(v.ExitCode) + ", let through by " + policy
	case v.ExitCode == verdict.ExitPass:
		return exitText(v.ExitCode) + ", this outcome does not stop the job"
	case v.ExitCode != verdict.ExitFail && v.ExitCode != verdict.ExitInterrupted && policy != "":
		return exitText(v.ExitCode) + "; " + policy
	}
	return exitText(v.ExitCode)
}

// exitText says what happens with an exit code.
func exitText(code int) string {
	switch code {
	case verdict.ExitPass:
		return "exit code 0"
	case verdict.ExitFail:
		return "exit code 1, a broken budget stops the job"
	case verdict.ExitInterrupted:
		return "exit code 130, interrupted and therefore not decided"
	}
	return fmt.Sprintf("exit code %d, not decided", code)
}

// baseline says what was compared with, how old it is, and what that costs.
func (f *facts) baseline() string {
	b := f.v.Baseline
	if b == nil {
		return "no baseline was asked for; absolute budgets and variants of this session were judged"
	}
	reason := ""
	if b.Reason != "" {
		reason = ": " + b.Reason
	}
	switch b.State {
	case verdict.BaselineNone:
		return "there is none" + reason + rejectedText(b)
	case verdict.BaselineIncomparable:
		return "there is none of this machine" + reason + rejectedText(b)
	case verdict.BaselineFailed:
		return "asking for it did not work" + reason + rejectedText(b)
	}
	text := plural(len(b.Sessions), "session")
	if b.Origin != "" {
		text += " from " + b.Origin
	}
	if n := len(b.Sessions); n > 0 {
		text += ", the newest " + f.newest()
	}
	return text + rejectedText(b) + f.historyText() + f.allowance()
}

func rejectedText(b *verdict.Baseline) string {
	if len(b.Rejected) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s not taken", plural(len(b.Rejected), "candidate"))
}

// newest is the age of the newest stored session against the start of the first
// session that is judged: a document's only clock.
func (f *facts) newest() string {
	least := f.sessionAge(0)
	for i := range f.v.Baseline.Sessions {
		if a := f.sessionAge(i); a < least {
			least = a
		}
	}
	return age(least)
}

func (f *facts) sessionAge(i int) float64 {
	if len(f.v.Sessions) == 0 {
		return 0
	}
	return f.v.Sessions[0].StartedAt.Sub(f.v.Baseline.Sessions[i].StartedAt).Seconds()
}

// allowance says what is added to budgets while there are few sessions.
func (f *facts) allowance() string {
	p := &f.v.Policy
	added := allowanceText(p)
	if len(f.v.Baseline.Sessions) >= p.MinSessions || added == "" {
		return ""
	}
	return fmt.Sprintf("; session allowance while there are fewer than %d: %s", p.MinSessions, added)
}

func allowanceText(p *verdict.Policy) string {
	var added []string
	for _, class := range sortedKeys(p.Allowance) {
		if a := p.Allowance[class]; a > 0 {
			added = append(added, fmt.Sprintf("%s on %s metrics", unit.Percentage(a), class))
		}
	}
	text := strings.Join(added, ", ")
	if p.Measured != "" && text != "" {
		return fmt.Sprintf("none where the %s told the spread between sessions, else %s", p.Measured, text)
	}
	return text
}

// settle says what would decide an undecided finding.
func settle(s *verdict.Settle) string {
	if s == nil {
		return ""
	}
	var ways []string
	if s.Repeats > 0 {
		ways = append(ways, plural(s.Repeats, "repeat"))
	}
	if s.Sessions > 0 {
		ways = append(ways, plural(s.Sessions, "stored session"))
	}
	if s.Base {
		ways = append(ways, "--base")
	}
	if len(ways) == 0 {
		return ""
	}
	return strings.Join(ways, " or ") + " would decide"
}

// budgetText is a budget as the suite file has it.
func (f *facts) budgetText(b *budget.Budget) string {
	if b.Text != "" {
		return b.Text
	}
	limit := f.value(b.Metric, b.Limit)
	if b.Kind.Relative() {
		limit = unit.Percentage(b.Limit)
	}
	if b.Amount != 0 {
		limit += " + " + unit.Format(b.Amount, f.unitOf(b.Metric))
	}
	return string(b.Kind) + ": " + limit
}

// builtIn is the place of what no suite file says.
const builtIn = "built in"

// budgetPlace is where a budget stands: "perfweir.yml:31", or "perfweir.yml:31 at
// base 75988ec1" where it is the file of the commit that is compared with.
func budgetPlace(b *budget.Budget) string {
	place := b.Source.Path
	switch {
	case place == "" && b.Implicit:
		return builtIn
	case place == "":
		return ""
	}
	if b.Source.Line > 0 {
		place += ":" + strconv.Itoa(b.Source.Line)
	}
	if c := b.Source.Commit; c != "" {
		place += " at base " + c[:min(8, len(c))]
	}
	return place
}

// environment is the machine and the revision, in short.
func (f *facts) environment() []string {
	var parts []string
	if len(f.v.Sessions) > 0 {
		s := &f.v.Sessions[0]
		parts = append(parts, s.Machine)
		for _, key := range []string{"cpu_model", "kernel"} {
			parts = append(parts, hostFact(&s.Host, key))
		}
	}
	if b, ok := f.v.Builds[result.BuildHead]; ok {
		parts = append(parts, buildText(b))
	}
	if b, ok := f.v.Builds[result.BuildBase]; ok {
		parts = append(parts, strings.Replace(buildText(b), "commit", "beside base commit", 1))
	}
	var ids []string
	for i := range f.v.Sessions {
		ids = append(ids, f.v.Sessions[i].ID)
	}
	if len(ids) > 3 {
		ids = append(ids[:3:3], fmt.Sprintf("%d more", len(ids)-3))
	}
	if len(ids) > 0 {
		parts = append(parts, "session "+strings.Join(ids, ", "))
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

func hostFact(h *result.Host, key string) string {
	if v := h.Strict[key]; v != "" {
		return v
	}
	return h.Soft[key]
}

func buildText(b result.Build) string {
	if b.Commit == "" {
		return ""
	}
	text := "commit " + b.Commit[:min(12, len(b.Commit))]
	if b.Dirty {
		text += " with uncommitted changes"
	}
	return text
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// spaced turns a word of the documents into one for people.
func spaced(s string) string { return strings.ReplaceAll(s, "_", " ") }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
