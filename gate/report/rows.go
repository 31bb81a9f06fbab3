package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// row is a finding as a line of a table. Texts are not escaped yet.
type row struct {
	cell      string
	metric    string
	reference string
	current   string
	change    string
	budget    string
	place     string
	outcome   string
	why       string
}

// findingRow tells finding i.
func (f *facts) findingRow(i int) row {
	x := &f.v.Findings[i]
	b := f.budget(x.Budget)
	r := row{
		cell:      f.cell(x.Cell).Name,
		metric:    metricText(x.Metric, x.Phase, x.Part),
		reference: none,
		current:   none,
		change:    none,
		budget:    f.budgetText(b),
		place:     budgetPlace(b),
		outcome:   outcomeText(x),
		why:       f.why(x),
	}
	if c := f.comparison(x); c != nil {
		r.current, r.reference = f.pair(x.Metric, c.Current, c.Reference)
		r.change = f.change(c)
		if v, ok := strings.CutPrefix(c.Against, "variant:"); ok {
			r.reference += " of " + v
		} else if c.Against == budget.AgainstBase {
			r.reference += " of base"
		}
		if name := f.since(c); name != "" {
			r.reference += " of " + name
			r.why = "creep since " + name + ": " + r.why
		}
	} else if x.Value != nil {
		r.current = f.value(x.Metric, *x.Value)
	}
	return r
}

// brokenRows are the rows that turned the verdict red: failed ones first, then
// what could not be judged, cells by themselves before findings.
func (f *facts) brokenRows() []func() row {
	var failed, unjudged []func() row
	add := func(o verdict.Outcome, r func() row) {
		if o == verdict.Fail {
			failed = append(failed, r)
		} else {
			unjudged = append(unjudged, r)
		}
	}
	for _, i := range f.bare {
		add(f.v.Cells[i].Outcome, func() row { return f.bareRow(i) })
	}
	for _, i := range f.by[verdict.Broken] {
		add(f.v.Findings[i].Outcome, func() row { return f.findingRow(i) })
	}
	return append(failed, unjudged...)
}

// findingRows are the rows of findings; like brokenRows they are told when they
// are printed, since most of a large verdict is not.
func (f *facts) findingRows(findings []int) []func() row {
	rows := make([]func() row, len(findings))
	for k, i := range findings {
		rows[k] = func() row { return f.findingRow(i) }
	}
	return rows
}

// bareRow tells a red cell that no finding explains.
func (f *facts) bareRow(i int) row {
	c := &f.v.Cells[i]
	return row{
		cell:      c.Name,
		metric:    "runs",
		reference: fmt.Sprintf("%d planned", c.Expected()),
		current:   fmt.Sprintf("%d seen", c.Seen),
		change:    none,
		budget:    "complete",
		place:     builtIn,
		outcome:   spaced(string(c.Outcome)),
		why:       strings.Join(append(wordsOf(c.Reasons), crashReasons(c)...), ", "),
	}
}

// why gathers what the numbers do not say: reasons, doubts, p, what would decide.
func (f *facts) why(x *verdict.Finding) string {
	reasons := x.Reasons
	var parts []string
	if s := f.excuseText(x); s != "" {
		parts = append(parts, s)
		reasons = slices.DeleteFunc(slices.Clone(reasons), func(r string) bool { return r == "acceptance_expired" || r == "beyond_accepted" })
	}
	c := f.comparison(x)
	for _, r := range reasons {
		if step := f.stepOf(x, c); r == "creep" && step != 0 {
			parts = append(parts, "in steps of which one was "+unit.FormatRatio(step))
		} else {
			parts = append(parts, wordOf(r))
		}
	}
	if c != nil {
		parts = append(parts, wordsOf(c.Doubts)...)
	}
	switch {
	case x.PAdjusted != nil:
		parts = append(parts, pText(*x.PAdjusted))
	case x.P != nil:
		parts = append(parts, pText(*x.P))
	}
	if c != nil {
		parts = append(parts, fmt.Sprintf("n %d and %d", c.N[0], c.N[1]))
	} else if x.N > 0 {
		parts = append(parts, fmt.Sprintf("n %d", x.N))
	}
	if look := f.afterLook(x); look != "" {
		parts = append(parts, look)
	}
	if x.Confirmed != nil {
		parts = append(parts, f.confirmedText(x))
	}
	if x.Grade == verdict.Unproven && x.SmallestEffect != nil {
		parts = append(parts, "above "+unit.Percentage(*x.SmallestEffect)+" would have been seen")
	}
	if x.Outcome == verdict.Inconclusive || x.Grade != "" {
		if s := settle(x.Settle); s != "" {
			parts = append(parts, s)
		}
	}
	if c == nil && x.Outcome != verdict.Pass && x.Message != "" {
		// Without a comparison the sentence says more than the columns.
		parts = append([]string{x.Message}, wordsOf(reasons)...)
	}
	if x.Metric == result.CrashRate {
		parts = append(parts, crashReasons(f.cell(x.Cell))...)
	}
	return strings.Join(parts, ", ")
}

// Bounds of what a row tells about why runs crashed: with the count in front of
// them they are a sentence.
const (
	mostCrashReasons   = 3
	longestCrashReason = 70 // characters
)

// crashReasons says why runs of a cell crashed, in the words of the programs.
func crashReasons(c *verdict.Cell) []string {
	var out []string
	for _, s := range c.FailureReasons[:min(mostCrashReasons, len(c.FailureReasons))] {
		if s = sentence(s); s != "" {
			out = append(out, clip(s, longestCrashReason))
		}
	}
	return out
}

func (f *facts) confirmedText(x *verdict.Finding) string {
	c := x.Confirmed
	change := "no ratio"
	if c.Ratio != nil {
		change = ratioText(*c.Ratio, c.Interval)
	}
	text := fmt.Sprintf("measured again beside commit %s: %s, n %d, %s",
		c.Commit[:min(12, len(c.Commit))], change, c.N, spaced(string(c.Outcome)))
	if look := f.afterLookAgain(x, c.Look); look != "" {
		text += " " + look
	}
	return text
}

// outcomeText is an outcome with its grade, which says more.
func outcomeText(x *verdict.Finding) string {
	if x.Grade != "" {
		return x.Grade
	}
	return spaced(string(x.Outcome))
}

// metricText names a metric with its part and phase: "energy:gpu0 in decode".
func metricText(metric, phase, part string) string {
	if part != "" {
		metric += ":" + part
	}
	if phase != "" {
		metric += " in " + phase
	}
	return metric
}

// wordsOf turns the short words of reasons and doubts into text.
func wordsOf(codes []string) []string {
	out := make([]string, 0, len(codes))
	for _, c := range codes {
		out = append(out, wordOf(c))
	}
	return out
}

func wordOf(code string) string {
	switch code {
	case "large_jump":
		return "a jump this large: check that both sides measure the same"
	case "gone":
		return "in the baseline, not measured now"
	case "changed_without_reason":
		return "changed although the programs are the same"
	case "worse_from_zero":
		return "worse from a reference of zero"
	case "near":
		return "the interval reaches across the limit"
	case "too_few_runs":
		return "too few runs to decide"
	case "unequal_spread":
		return "the two sides spread differently"
	case "not_exact":
		return "varied within one side, so not exact"
	case "few_sessions":
		return "few stored sessions"
	case "single_run":
		return "one run a side, spread unknown"
	case "blocks_dropped":
		return "blocks without one side were dropped"
	case "sessions_differ":
		return "differs between stored sessions"
	case "within_process":
		return "repeated within one process, advisory"
	case "pool_cut":
		return "older stored sessions are left out: a step, or another definition"
	case "odd_session":
		return "a stored session unlike the others is left out"
	case "newest_session_alone":
		return "no worse than the newest stored session, which is unlike those before: one more session tells"
	case "creep":
		return "no single step was beyond the budget"
	case "acceptance_expired":
		return "its acceptance has expired"
	case "beyond_accepted":
		return "beyond what is accepted"
	case "too_few_valid_runs":
		return "too few valid runs remain to decide"
	case "uniform_shift":
		return "nearly all cells moved alike, as on a slower or faster machine"
	case "slow_machine":
		return "the control cell was slower too: the machine may be what is slow"
	case "fast_machine":
		return "the control cell was faster too: the machine may be what is fast"
	case "soft_facts":
		return "the machine is not quite as it was"
	case "each_run":
		return "one run is enough"
	}
	if strings.ContainsAny(code, " .") {
		return code // a sentence already
	}
	return spaced(code)
}

// matrixRow is a cell as a line of the matrix table.
type matrixRow struct {
	cell, note    string
	crashed       string
	underSpec     string
	timeToFailure string
	clean         []string // one a column of the table
	outcome       string
}

func (f *facts) matrixRow(i int, metrics []string) matrixRow {
	c := &f.v.Cells[i]
	crashes, clean := crashed(c)
	r := matrixRow{
		cell:          c.Name,
		note:          c.Note,
		crashed:       none,
		underSpec:     none,
		timeToFailure: span(c.TimeToFailure, "s"),
		outcome:       strings.ToUpper(spaced(string(c.Outcome))),
	}
	if c.Seen > 0 {
		r.crashed = fmt.Sprintf("%d / %d", crashes, c.Seen)
	}
	if due := c.Expected(); c.Seen != due {
		r.crashed += fmt.Sprintf(" (%d planned)", due)
	}
	if look := f.lookOf(c); look != "" {
		r.crashed += " (" + look + ")"
	}
	if clean > 0 {
		r.underSpec = fmt.Sprintf("%d / %d", c.UnderSpec, clean)
	}
	if len(c.UnderSpecBy) > 0 {
		r.underSpec += " (" + strings.Join(c.UnderSpecBy, ", ") + ")"
	}
	for _, key := range metrics {
		text := none
		if v, ok := c.Clean[key]; ok {
			metric, _ := splitKey(key)
			text = f.value(metric, v)
		}
		r.clean = append(r.clean, text)
	}
	return r
}

// statusText lists how the runs of a cell ended: "18 success, 2 timeout".
func statusText(c *verdict.Cell) string {
	var parts []string
	for _, s := range sortedKeys(c.Statuses) {
		name := s
		if name == "" {
			name = string(result.Success)
		}
		parts = append(parts, fmt.Sprintf("%d %s", c.Statuses[s], spaced(name)))
	}
	return strings.Join(parts, ", ")
}
