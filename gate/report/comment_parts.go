package report

import (
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// leastPart is the room below which a machine's section says nothing that its
// row in the table of machines does not say.
const leastPart = 4_000

// several tells the verdicts of several machines, or why there is none.
func (t *Told) several(opts Options) string {
	var foot string
	if opts.Half != Rest {
		foot = t.mdFoot()
	}
	left := opts.bytes() - len(foot) - reservedBytes
	head := ""
	if opts.Half != Rest {
		head = t.mdHead(left / 3)
		left -= len(head)
	}
	var body strings.Builder
	dropped := 0
	for i := range t.Parts {
		share := left / (len(t.Parts) - i)
		text := ""
		if share >= leastPart {
			text = t.section(&t.Parts[i], share, opts)
		}
		if text == "" {
			dropped++
			continue
		}
		left -= len(text)
		body.WriteString(text)
	}
	if dropped > 0 {
		fmt.Fprintf(&body, "Left out for size: the sections of %s. All of it is in %s.\n",
			plural(dropped, t.noun()), mdCodeOf(opts.full(), 80))
	}
	return strings.TrimRight(head+body.String(), "\n") + "\n" + foot
}

// mdHead is the first line and the table of machines.
func (t *Told) mdHead(limit int) string {
	p := newPage(limit + reservedBytes)
	top := t.mdFirstLine()
	if t.Suite != "" {
		top += fmt.Sprintf("Suite %s: %s.\n\n", mdCodeOf(t.Suite, 80), mdText(exitText(t.ExitCode)))
	}
	p.put(slotTop, top)
	p.put(slotNotes, noteList(noteLines(t.Notes), p.left/8))
	rows := make([]func() []string, 0, len(t.Parts)+len(t.Missing))
	for _, m := range t.Missing {
		rows = append(rows, func() []string {
			return []string{mdCode(m), spaced(string(verdict.NoData)), "expected, and never reported"}
		})
	}
	for i := range t.Parts {
		rows = append(rows, func() []string {
			f := factsOf(t.Parts[i].Verdict)
			return []string{mdCode(t.Parts[i].Name()), mdText(f.title()), mdText(f.headline())}
		})
	}
	p.table(table{
		slot: slotMatrix, title: "Machines", what: t.noun() + "s", rows: len(rows),
		head: []string{t.noun(), "outcome", "result"},
		row:  func(i int) []string { return rows[i]() },
	})
	return strings.Join(p.slots[:], "") + omittedText(p.omitted)
}

func omittedText(omitted []string) string {
	if len(omitted) == 0 {
		return ""
	}
	return "Left out for size: " + escapeText(strings.Join(omitted, ", ")) + ".\n\n"
}

// section tells one machine of several in at most so many bytes; one that stops
// nothing is folded. It is empty when not even its first lines fit.
func (t *Told) section(part *Part, limit int, opts Options) string {
	f := factsOf(part.Verdict)
	before, after := "## "+mdCode(part.Name())+": "+escapeText(f.title())+"\n\n", "\n"
	if part.Verdict.ExitCode == 0 && !part.Verdict.Outcome.Red() {
		before = "<details><summary>" + htmlCode(part.Name()) + ": " + escapeHTML(f.title()) + "</summary>\n\n"
		after = foldEnd
	}
	p := newPage(limit - len(before) - len(after))
	if opts.Half != Rest && !p.put(slotTop, escapeText(f.headline())+"\n\n"+f.mdAbout()) {
		return ""
	}
	f.mdFill(p, opts.Half, nil)
	text := p.finish(opts.full())
	if text == "" {
		return ""
	}
	return before + text + after
}

// htmlCode is a name inside HTML, where Markdown is not read: in a summary.
func htmlCode(name string) string {
	s := clip(visible(name), maxName)
	if strings.TrimSpace(s) == "" {
		return noName
	}
	return "<code>" + escapeHTML(s) + "</code>"
}

func escapeHTML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;").Replace(s)
}

// noun is what is counted: machines, or parts where one machine has several.
func (t *Told) noun() string {
	for i := range t.Parts {
		if t.Parts[i].Shard != "" {
			return "part"
		}
	}
	return "machine"
}

// counts is the first line over several machines: how many of them came to what,
// and the worst of them in short.
func (t *Told) counts() string {
	total := len(t.Parts) + len(t.Missing)
	var parts []string
	seen := map[string]int{}
	var order []string
	for i := range t.Parts {
		title := factsOf(t.Parts[i].Verdict).title()
		if seen[title] == 0 {
			order = append(order, title)
		}
		seen[title]++
	}
	for _, title := range order {
		parts = append(parts, fmt.Sprintf("%d of %s %s", seen[title], plural(total, t.noun()), title))
	}
	if n := len(t.Missing); n > 0 {
		parts = append(parts, fmt.Sprintf("%d never reported", n))
	}
	if len(t.Parts) > 0 {
		worst := &t.Parts[0]
		if v := worst.Verdict; v.ExitCode != 0 || v.Outcome.Red() {
			parts = append(parts, clip(visible(worst.Name()), 60)+": "+factsOf(v).headline())
		}
	}
	if len(parts) == 0 {
		return "no machine reported"
	}
	return strings.Join(parts, "; ")
}
