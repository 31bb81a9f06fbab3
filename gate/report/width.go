package report

import (
	"strings"
	"unicode"
)

// columnsOf is how many terminal columns a visible text takes: none for
// combining marks, two for East Asian wide characters and emoji, else one. The
// ranges follow UAX #11 coarsely; a wrong guess shifts one column of one row.
func columnsOf(s string) int {
	if plainASCII(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100 && r <= 0x115f, // Hangul leading consonants
		r >= 0x2e80 && r <= 0x303e, // radicals, CJK punctuation
		r >= 0x3041 && r <= 0xa4cf, // kana to Yi
		r >= 0xac00 && r <= 0xd7a3, // Hangul syllables
		r >= 0xf900 && r <= 0xfaff, // compatibility ideographs
		r >= 0xfe30 && r <= 0xfe6f, // compatibility forms
		r >= 0xff00 && r <= 0xff60, // full-width forms
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, // pictographs
		r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// fit shortens a visible text to at most n columns, cutting in the middle.
func fit(s string, n int) string {
	if columnsOf(s) <= n {
		return s
	}
	r := []rune(s)
	head, used := 0, 1 // the ellipsis
	for head < len(r) && used+runeColumns(r[head]) <= (n+1)/2 {
		used += runeColumns(r[head])
		head++
	}
	tail := len(r)
	for tail > head && used+runeColumns(r[tail-1]) <= n {
		tail--
		used += runeColumns(r[tail])
	}
	for tail < len(r) && runeColumns(r[tail]) == 0 { // a mark without its letter
		tail++
	}
	return string(r[:head]) + "…" + string(r[tail:])
}

// pad fills a text up to n columns, on the left for numbers.
func pad(s string, n int, left bool) string {
	fill := strings.Repeat(" ", max(0, n-columnsOf(s)))
	if left {
		return fill + s
	}
	return s + fill
}

// wrap breaks a sentence into lines of at most n columns; lines after the first
// begin with indent.
func wrap(s string, n int, indent string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		word = fit(word, n-len(indent))
		switch {
		case line == "":
			line = word
		case columnsOf(line)+1+columnsOf(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = indent + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
