package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns s as one line of printable characters: whatever a terminal or
// a browser would act upon instead of drawing (control characters, escape
// sequences, bidirectional overrides, zero-width and unassigned characters,
// bytes that are no UTF-8) is written as \n, \x1b, \u202e.
func visible(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		writeVisible(&b, r, s[i:i+n])
		i += n
	}
	return b.String()
}

func writeVisible(b *strings.Builder, r rune, raw string) {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case unicode.IsPrint(r):
		b.WriteString(raw)
	case r < 0x80:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// sentence is visible for running text: white space, line ends included, becomes
// one space.
func sentence(s string) string {
	if plainASCII(s) && !strings.Contains(s, "  ") && s == strings.TrimSpace(s) {
		return s
	}
	return visible(strings.Join(strings.Fields(s), " "))
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// clip shortens s to at most n characters. It cuts in the middle, since names
// of one matrix begin alike and sentences end with their point.
func clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	head := (n - 1 + 1) / 2
	tail := n - 1 - head
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

// noName stands for a name that nobody would see.
const noName = "(no name)"

// Longest names and sentences that a table holds, in characters.
const (
	maxName     = 120
	maxSentence = 300
)
