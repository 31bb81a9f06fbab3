package report

import (
	"strings"
	"unicode/utf8"
)

// Plain returns any text as one line of printable characters in at most so many
// bytes: what a title, a log line or a status may hold. It is cut at the end of a
// character, with an ellipsis (C16: GitHub counts some fields in bytes).
func Plain(s string, bytes int) string { return cutBytes(sentence(s), bytes) }

// cutBytes shortens a text to at most so many bytes at the end of a character,
// with an ellipsis where there is room for one.
func cutBytes(s string, bytes int) string {
	const ellipsis = "…"
	if len(s) <= bytes {
		return s
	}
	mark := ellipsis
	if bytes < len(mark) {
		mark = ""
	}
	end := max(bytes-len(mark), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRight(s[:end], " ") + mark
}

// Code returns a name as a code span that is safe in Markdown text and tables.
func Code(name string) string { return mdCodeOf(name, 80) }

// Words turns a word of the documents into one for people: "no data".
func Words(word string) string { return spaced(word) }
