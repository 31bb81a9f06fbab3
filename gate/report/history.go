package report

import (
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/verdict"
)

// Most lines about what of the stored sessions was not used.
const (
	mostHistory         = 12
	mostHistoryTerminal = 3
)

// historyText counts what of the stored sessions was not used, for one line.
func (f *facts) historyText() string {
	text := ""
	if n := max(f.v.Counts.Cuts, len(f.v.Baseline.Cuts)); n > 0 {
		text += fmt.Sprintf("; cut for %s", plural(n, "metric"))
	}
	if n := max(f.v.Counts.Odd, len(f.v.Baseline.Odd)); n > 0 {
		text += fmt.Sprintf("; %s left out", plural(n, "odd value"))
	}
	if a := f.v.Baseline.Anchor; a != nil && a.Why != "" {
		text += "; the anchor " + a.Name + " is missing"
	}
	return text
}

// happening is what happened to several metrics in one session.
type happening struct {
	session, what, why string
	of                 []string
	ratios             []float64
}

// historyLines tell the anchor, and what of the stored sessions was not used and
// why, session by session.
func (f *facts) historyLines() []string {
	b := f.v.Baseline
	var lines []string
	if a := b.Anchor; a != nil {
		lines = append(lines, f.anchorText(a))
	}
	var all []*happening
	add := func(h happening, cell int, metric, phase, part string, ratio float64) {
		name := metricText(metric, phase, part) + " of " + f.v.Cells[cell].Name
		for _, o := range all {
			if o.session == h.session && o.what == h.what && o.why == h.why && (o.ratios[0] < 1) == (ratio < 1) {
				o.of, o.ratios = append(o.of, name), append(o.ratios, ratio)
				return
			}
		}
		h.of, h.ratios = []string{name}, []float64{ratio}
		all = append(all, &h)
	}
	for i := range b.Cuts {
		c := &b.Cuts[i]
		add(happening{session: c.Session, what: c.Kind, why: c.Why}, c.Cell, c.Metric, c.Phase, c.Part, c.Ratio)
	}
	for i := range b.Odd {
		o := &b.Odd[i]
		add(happening{session: o.Session}, o.Cell, o.Metric, o.Phase, o.Part, o.Ratio)
	}
	for _, h := range all {
		lines = append(lines, h.text())
	}
	if n := f.v.Counts.Cuts + f.v.Counts.Odd - len(b.Cuts) - len(b.Odd); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more that are not listed", n))
	}
	return lines
}

// since is the anchor's name where a comparison is against it, else "".
func (f *facts) since(c *verdict.Comparison) string {
	if c == nil || c.Against != verdict.AgainstAnchor {
		return ""
	}
	if f.v.Baseline == nil || f.v.Baseline.Anchor == nil {
		return verdict.AgainstAnchor
	}
	return f.v.Baseline.Anchor.Name
}

// stepOf is a step since the anchor that was cut and is by itself beyond the budget
// that a creep broke; 0 where there is none.
func (f *facts) stepOf(x *verdict.Finding, c *verdict.Comparison) float64 {
	b := f.v.Baseline
	if f.since(c) == "" || b == nil || x.Allowed == nil || c.Ratio == nil || !(c.Reference > 0) {
		return 0
	}
	limit := *x.Allowed / c.Reference
	for i := range b.Cuts {
		k := &b.Cuts[i]
		if k.Cell != x.Cell || k.Metric != x.Metric || k.Phase != x.Phase || k.Part != x.Part || k.Kind != verdict.CutStep || f.beforeAnchor(k.Session) {
			continue
		}
		if up := *c.Ratio > 1; up && k.Ratio > limit || !up && k.Ratio > 0 && k.Ratio < limit {
			return k.Ratio
		}
	}
	return 0
}

// beforeAnchor reports whether a stored session is of before the anchor's newest, or
// that one itself.
func (f *facts) beforeAnchor(session string) bool {
	b := f.v.Baseline
	if b.Anchor == nil || len(b.Anchor.Sessions) == 0 {
		return false
	}
	for i := range b.Sessions {
		if b.Sessions[i].ID == session {
			return !b.Sessions[i].StartedAt.After(b.Anchor.Sessions[0].StartedAt)
		}
	}
	return false
}

func (f *facts) anchorText(a *verdict.Anchor) string {
	if len(a.Sessions) == 0 {
		return fmt.Sprintf("anchor %s: missing: %s", a.Name, a.Why)
	}
	s := fmt.Sprintf("anchor %s (%s): %s", a.Name, a.Commit[:min(12, len(a.Commit))], plural(len(a.Sessions), "session"))
	if len(f.v.Sessions) > 0 {
		s += ", the newest " + age(f.v.Sessions[0].StartedAt.Sub(a.Sessions[0].StartedAt).Seconds())
	}
	return s
}

func (h *happening) text() string {
	switch h.what {
	case "":
		return fmt.Sprintf("session %s is unlike the others, %s, in %s: not used there", h.session, h.factors(), h.names())
	case verdict.CutStep:
		return fmt.Sprintf("pool cut at session %s: step of %s in %s", h.session, h.changes(), h.names())
	}
	s := fmt.Sprintf("pool cut at session %s: %s", h.session, spaced(h.what))
	if h.why != "" {
		s += " (" + h.why + ")"
	}
	return s + " in " + h.names()
}

// names are the first metrics, and how many there are.
func (h *happening) names() string {
	const most = 2
	s := strings.Join(h.of[:min(most, len(h.of))], ", ")
	if n := len(h.of) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

func (h *happening) changes() string { return between(h.ratios, unit.FormatRatio) }

func (h *happening) factors() string {
	return between(h.ratios, func(r float64) string { return fmt.Sprintf("%.2fx", r) })
}

// between tells one number, or the ends of several.
func between(x []float64, text func(float64) string) string {
	least, most := x[0], x[0]
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	if a, b := text(least), text(most); a != b {
		return a + " to " + b
	}
	return text(most)
}
