package ghapi

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage is how many bytes of a foreign text an error of ours repeats.
const maxMessage = 300

// oneLine makes foreign text fit for a terminal and a log: clean, and at most
// maxMessage bytes.
func oneLine(s string) string { return cut(clean(s), maxMessage) }

// clean makes one line of it, without control and format characters, which could
// move a cursor, start a workflow command or turn the direction of writing.
func clean(s string) string {
	if len(s) > 16*maxMessage {
		s = s[:16*maxMessage]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens s to at most so many bytes, on the boundary of a rune, and marks
// that it did.
func cut(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	const mark = "…"
	end := bytes - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// quote is a foreign word inside a message.
func quote(s string) string { return strconv.Quote(oneLine(s)) }

// isSHA says whether s names a commit in full: SHA-1 or SHA-256, lower case.
func isSHA(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, b := range []byte(s) {
		if (b < '0' || b > '9') && (b < 'a' || b > 'f') {
			return false
		}
	}
	return true
}
