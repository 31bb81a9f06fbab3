package report

import (
	"strings"
)

// zeroWidthSpace breaks what GitHub looks for in rendered text (mentions,
// references, addresses), where no backslash or entity helps: it looks after
// Markdown is done.
const zeroWidthSpace = "\u200b"

// mdCode returns a name as a code span that is safe in a table. Inside a code
// span nothing is markup, no user is mentioned and no reference is made. The
// fence is longer than any run of backticks in the name.
func mdCode(name string) string { return mdCodeOf(name, maxName) }

func mdCodeOf(name string, most int) string {
	s := clip(visible(name), most)
	if strings.TrimSpace(s) == "" {
		return noName
	}
	// A table is split at pipes before spans are looked for, and readers differ
	// in what they make of a backslash before an escaped pipe: it is spelled out.
	s = strings.ReplaceAll(s, `\|`, `\x5c|`)
	s = strings.ReplaceAll(s, "|", `\|`)
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' || s[len(s)-1] == ' ' {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}

// mdText returns a sentence as Markdown text that renders as itself: no markup,
// HTML, link, image, mention or reference, in a table or at the start of a line.
func mdText(s string) string {
	return escapeText(clip(sentence(s), maxSentence))
}

func escapeText(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '@', '#':
			b.WriteByte(c)
			b.WriteString(zeroWidthSpace)
		case '\\', '`', '*', '[', ']', '|', '~', '$', '!', '^', '{', '}':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '_':
			if !insideWord(s, i) {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		case '-', '+', '=', '.', ')':
			if startsBlock(s, i) {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
			breakReference(&b, s, i)
		case ':':
			b.WriteByte(c)
			if strings.HasPrefix(s[i+1:], "//") {
				b.WriteString(zeroWidthSpace)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// insideWord reports whether the underscore at i stands between letters or
// digits, where it is never emphasis.
func insideWord(s string, i int) bool {
	return i > 0 && i+1 < len(s) && alnum(s[i-1]) && alnum(s[i+1])
}

// startsBlock reports whether the character at i would make the text a list
// item, a rule or a heading's underline when it begins a line.
func startsBlock(s string, i int) bool {
	end := i+1 == len(s) || s[i+1] == ' '
	switch s[i] {
	case '-', '+', '=':
		return i == 0 && (end || s[i+1] == s[i])
	}
	for j := 0; j < i; j++ {
		if s[j] < '0' || s[j] > '9' {
			return false
		}
	}
	return i > 0 && end
}

// breakReference keeps "www.host" from becoming a link and "GH-12" from becoming
// a reference.
func breakReference(b *strings.Builder, s string, i int) {
	before := strings.ToLower(s[max(0, i-3):i])
	if s[i] == '.' && before == "www" || s[i] == '-' && strings.HasSuffix(before, "gh") {
		b.WriteString(zeroWidthSpace)
	}
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := 0; i < len(s); i++ {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// mdFence returns lines as a fenced block. Each line is made visible and
// bounded; the fence is longer than any run of backticks inside.
func mdFence(lines []string) string {
	shown := make([]string, len(lines))
	longest := 2
	for i, l := range lines {
		shown[i] = visible(l)
		longest = max(longest, longestRun(shown[i], '`'))
	}
	fence := strings.Repeat("`", longest+1)
	return fence + "text\n" + strings.Join(shown, "\n") + "\n" + fence + "\n"
}

// mdMarker returns the hidden first line for a key. A key cannot end the
// comment: only letters, digits, ".", "_", "/" and single hyphens are written
// as they are.
func mdMarker(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString("<!-- perfweir:")
	for i := 0; i < min(len(key), 100); i++ {
		c := key[i]
		if alnum(c) || c == '.' || c == '_' || c == '/' || c == '-' && i > 0 && key[i-1] != '-' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	b.WriteString(" -->\n")
	return b.String()
}
