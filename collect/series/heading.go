package series

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// heading is the column heading of a key: "metric[part] unit".
func heading(k Key) string {
	var b strings.Builder
	escape(&b, k.Metric)
	if k.Part != "" {
		b.WriteByte('[')
		escape(&b, k.Part)
		b.WriteByte(']')
	}
	b.WriteByte(' ')
	escape(&b, k.Unit)
	return b.String()
}

func parseHeading(s string) (Key, error) {
	name, unit, ok := strings.Cut(s, " ")
	if !ok {
		return Key{}, fmt.Errorf("column %.80q has no unit: write \"metric[part] unit\"", s)
	}
	var part string
	if metric, rest, has := strings.Cut(name, "["); has {
		if part, ok = strings.CutSuffix(rest, "]"); !ok || part == "" {
			return Key{}, fmt.Errorf("column %.80q: the part needs a closing bracket and a name", s)
		}
		name = metric
	}
	var k Key
	for _, f := range []struct {
		to   *string
		from string
	}{{&k.Metric, name}, {&k.Part, part}, {&k.Unit, unit}} {
		if *f.to, ok = unescape(f.from); !ok {
			return Key{}, fmt.Errorf("column %.80q: only letters, digits, _ . / : * - and %%XX may be in a name", s)
		}
	}
	return k, nil
}

// plain reports whether a rune stands for itself. A minus in the first place
// does not: a spreadsheet would take the cell for a formula.
func plain(r rune, first bool) bool {
	if r == '-' {
		return !first
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./:*", r)
}

func escape(b *strings.Builder, s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if (r != utf8.RuneError || n > 1) && plain(r, i == 0) {
			b.WriteString(s[i : i+n])
		} else {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(b, "%%%02X", c)
			}
		}
		i += n
	}
}

func unescape(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '%':
			hi, lo := -1, -1
			if i+2 < len(s) {
				hi, lo = hexDigit(s[i+1]), hexDigit(s[i+2])
			}
			if hi < 0 || lo < 0 {
				return "", false
			}
			out = append(out, byte(hi<<4|lo))
			n = 3
		case r == utf8.RuneError && n <= 1, !plain(r, i == 0):
			return "", false
		default:
			out = append(out, s[i:i+n]...)
		}
		i += n
	}
	return string(out), true
}

func hexDigit(c byte) int {
	return strings.IndexByte("0123456789ABCDEF", c)
}
