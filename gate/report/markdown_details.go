package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/verdict"
)

// mdSmall writes the folded sections that do not grow with the matrix. Together
// they take at most an eighth of the page.
func (f *facts) mdSmall(p *page) {
	room := p.left / 8
	for _, s := range []struct {
		slot int
		what string
		text string
	}{
		{slotReproduce, "how to reproduce", f.mdReproduce()},
		{slotBaseline, "the baseline's sessions", f.mdBaseline()},
		{slotPolicy, "the policy", f.mdPolicy()},
	} {
		if len(s.text) > room || !p.put(s.slot, s.text) {
			p.omitted = append(p.omitted, s.what)
			continue
		}
		room -= len(s.text)
	}
}

func fold(title, body string) string {
	return "<details><summary>" + title + "</summary>\n\n" + body + foldEnd
}

// Most lines of the small sections.
const (
	mostCommands   = 8
	longestCommand = 400 // bytes
	mostSessions   = 12
	mostCandidates = 12
)

// mdReproduce shows the command lines of cells that failed or are suspect.
func (f *facts) mdReproduce() string {
	var lines []string
	unshown := 0
	for _, c := range f.cells {
		if o := f.v.Cells[c].Outcome; !o.Red() && o != verdict.Inconclusive {
			break
		}
		line := f.v.Cells[c].Reproduce
		switch {
		case line == "":
		case len(lines) == mostCommands || len(line) > longestCommand:
			unshown++ // half a command is worse than none
		default:
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if unshown > 0 {
		lines = append(lines, fmt.Sprintf("# and %d more", unshown))
	}
	return fold("How to reproduce", mdFence(lines))
}

// mdBaseline lists the sessions that were compared with, and the candidates that
// were not and why.
func (f *facts) mdBaseline() string {
	b := f.v.Baseline
	if b == nil || len(b.Sessions)+len(b.Rejected) == 0 && b.Anchor == nil {
		return ""
	}
	var t strings.Builder
	if len(b.Sessions) > 0 {
		t.WriteString(rowText([]string{"session", "machine", "commit", "started", "age"}) + rowText(dashes(5)))
		for i := range b.Sessions[:min(mostSessions, len(b.Sessions))] {
			t.WriteString(rowText(f.mdSession(i)))
		}
		t.WriteString(more(len(b.Sessions)-mostSessions, "sessions"))
	}
	if len(b.Rejected) > 0 {
		t.WriteString("\n" + rowText([]string{"not taken", "why"}) + rowText(dashes(2)))
		for _, r := range b.Rejected[:min(mostCandidates, len(b.Rejected))] {
			t.WriteString(rowText([]string{mdCode(r.Candidate), mdText(r.Why)}))
		}
		t.WriteString(more(len(b.Rejected)-mostCandidates, "candidates"))
	}
	if lines := f.historyLines(); len(lines) > 0 {
		t.WriteString("\n")
		for _, l := range lines[:min(mostHistory, len(lines))] {
			t.WriteString("- " + mdText(l) + "\n")
		}
		t.WriteString(more(len(lines)-mostHistory, "lines"))
	}
	title := fmt.Sprintf("Baseline: %s, %d not taken", plural(len(b.Sessions), "session"), len(b.Rejected))
	return fold(title, t.String())
}

func (f *facts) mdSession(i int) []string {
	s := &f.v.Baseline.Sessions[i]
	commit := none
	if s.Commit != "" {
		commit = mdCode(s.Commit[:min(12, len(s.Commit))])
	}
	return []string{mdCode(s.ID), mdCode(s.Machine), commit,
		s.StartedAt.UTC().Format(time.RFC3339), mdText(age(f.sessionAge(i)))}
}

func more(n int, what string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\nand %d more %s\n", n, what)
}

// mdPolicy says under which rules the verdict was judged.
func (f *facts) mdPolicy() string {
	var b strings.Builder
	for _, l := range f.policyLines() {
		b.WriteString("- " + mdText(l) + "\n")
	}
	return fold("Policy", b.String())
}

func (f *facts) policyLines() []string {
	p := &f.v.Policy
	lines := []string{fmt.Sprintf("false alarms: %s over a family of %s", unit.Percentage(p.FalseAlarms), plural(p.Family, "test"))}
	if len(p.Looks) > 0 {
		lines = append(lines, "looks: after "+joinInts(p.Looks)+" repeats")
	}
	if a := f.v.Confirmation; a != nil {
		again := "measured again: "
		if a.Family > 0 {
			again += plural(a.Family, "test") + " that share the same rate anew, "
		}
		lines = append(lines, again+"judged after "+joinInts(a.Looks)+" blocks")
	}
	if p.Require != "" {
		lines = append(lines, "required: "+p.Require+" of every gated budget")
	}
	if p.MinSessions > 0 {
		lines = append(lines, fmt.Sprintf("spread between stored sessions: used from %s on", plural(p.MinSessions, "session")))
	}
	if added := allowanceText(p); added != "" {
		lines = append(lines, "session allowance with fewer: "+added)
	}
	if p.Control {
		lines = append(lines, "control cell: what it shows of the machine is taken off")
	}
	for _, o := range sortedKeys(p.On) {
		lines = append(lines, fmt.Sprintf("on %s: %s", o, p.On[o]))
	}
	rules := fmt.Sprintf("rules: %s in %s", plural(len(f.v.Budgets), "budget"), f.v.Suite.Path)
	if f.v.Suite.JudgedBy != "" {
		rules += ", " + f.v.Suite.JudgedBy
	}
	return append(lines, rules)
}

func joinInts(v []int) string {
	s := make([]string, len(v))
	for i, n := range v {
		s[i] = fmt.Sprint(n)
	}
	return strings.Join(s, ", ")
}
