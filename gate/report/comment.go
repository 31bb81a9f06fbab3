package report

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Part is the verdict over what one machine measured, or one shard of it.
type Part struct {
	Machine string
	Shard   string // "1of2"; empty: the machine measured all of it
	Verdict *verdict.Document
}

// Name is how a part is told apart from the others.
func (p *Part) Name() string {
	if p.Shard == "" {
		return p.Machine
	}
	return p.Machine + " " + p.Shard
}

// Told is what a comment, a check run and a job summary tell: one suite's
// verdicts over one commit, and where they come from.
type Told struct {
	Suite    string
	Outcome  verdict.Outcome // of the whole
	ExitCode int             // of the whole
	Parts    []Part          // the worst first
	Missing  []string        // machines that were expected and never reported
	Broken   string          // why there is no verdict at all; Parts is empty then
	Resolved bool            // what was told before was red, and this is not
	Notes    []string        // sentences about the telling itself
	Commit   string          // full hash of what was judged
	Run      string          // "workflow run 12, attempt 2"; empty at a desk
	RunURL   string
}

// Half is a part of a report, for places that have two fields of bounded length.
type Half int

// Halves.
const (
	Whole    Half = iota
	Deciding      // the verdict, what broke it, what is in doubt, how to reproduce
	Rest          // the matrix, what was not decided, what holds
)

// Comment writes what is told as GitHub's Markdown of at most Options.Bytes bytes.
// The first line is the verdict; of several machines, each has a section, and rows
// that break budgets come first. Rows are left out whole, and counted, when it
// would be more (C14). There is no hidden line: who posts the text adds that.
func Comment(w io.Writer, t *Told, opts Options) error {
	text := t.single(opts)
	if len(t.Parts) != 1 || len(t.Missing) > 0 {
		text = t.several(opts)
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write comment: %w", err)
	}
	return nil
}

// Headline is the first line of Comment as plain text: one line of printable
// characters.
func Headline(t *Told) string { return t.title() + ": " + t.headline() }

func (t *Told) title() string {
	title := clip(spaced(string(t.Outcome)), 40)
	switch {
	case t.Broken != "":
		title = "no verdict"
	case len(t.Parts) == 1 && len(t.Missing) == 0:
		title = factsOf(t.Parts[0].Verdict).title()
	}
	if t.Resolved {
		return "resolved: " + title
	}
	return title
}

func (t *Told) headline() string {
	switch {
	case t.Broken != "":
		return clip(sentence(t.Broken), maxSentence)
	case len(t.Parts) == 1 && len(t.Missing) == 0:
		return factsOf(t.Parts[0].Verdict).headline()
	}
	return t.counts()
}

// single tells the verdict of one machine.
func (t *Told) single(opts Options) string {
	if len(t.Parts) != 1 {
		return ""
	}
	foot := ""
	if opts.Half != Rest {
		foot = t.mdFoot()
	}
	f := factsOf(t.Parts[0].Verdict)
	p := newPage(opts.bytes() - len(foot))
	if opts.Half != Rest {
		p.put(slotTop, t.mdFirstLine()+f.mdAbout())
	}
	f.mdFill(p, opts.Half, t.Notes)
	return p.finish(opts.full()) + foot
}

func (t *Told) mdFirstLine() string {
	return fmt.Sprintf("**%s**: %s\n\n", escapeText(t.title()), escapeText(t.headline()))
}

// Longest address that is linked to, in bytes.
const longestURL = 500

// plainURL is an address that cannot end the parentheses of a link, nor its line.
var plainURL = regexp.MustCompile(`^https?://[A-Za-z0-9][A-Za-z0-9._~:/?&=%+-]*$`)

// mdLink links a text to an address; the text alone where the address is none.
func mdLink(text, url string) string {
	if len(url) > longestURL || !plainURL.MatchString(url) {
		return escapeText(text)
	}
	return "[" + escapeText(text) + "](" + url + ")"
}

// mdFoot says what the text is about and where it comes from.
func (t *Told) mdFoot() string {
	var parts []string
	if t.Commit != "" {
		parts = append(parts, "Commit "+mdCodeOf(t.Commit[:min(12, len(t.Commit))], 12))
	}
	if t.Run != "" {
		parts = append(parts, mdLink(clip(sentence(t.Run), 60), t.RunURL))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + strings.Join(parts, " · ") + "\n"
}
