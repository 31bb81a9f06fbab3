package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// xmlBody returns a text of many lines with nothing in it that XML 1.0 cannot
// hold (C46): control characters, surrogates, U+FFFE, U+FFFF and bytes that are
// no UTF-8 become visible, "\r\n" and "\r" become line ends. The junit package
// writes it as CDATA, which is raw; a "]]>" is left to it, since encoding/xml
// splits it.
func xmlBody(s string) string {
	if xmlPlain(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r':
			b.WriteByte('\n')
		case xmlChar(r):
			b.WriteString(s[i : i+n])
		default:
			writeVisible(&b, r, s[i:i+n])
		}
		i += n
	}
	return b.String()
}

// xmlLine is xmlBody for an attribute: one line of printable characters.
func xmlLine(s string, n int) string { return clip(visible(s), n) }

func xmlPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\t' && c != '\n' || c > 0x7e {
			return false
		}
	}
	return true
}

// xmlChar is the production Char of XML 1.0, section 2.2, without the
// characters it discourages (C1 controls), which some parsers refuse.
func xmlChar(r rune) bool {
	return r == '\t' || r == '\n' || r >= 0x20 && r < 0x7f ||
		r >= 0xa0 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= 0x10ffff
}
