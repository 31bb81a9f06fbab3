package report

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]+m")

// A benchmark must not drive the terminal: the only control characters are line
// ends and, where asked for, our own colours.
func TestTerminalEmitsNoForeignControl(t *testing.T) {
	for name, v := range documents() {
		for _, opts := range []Options{{}, {Width: 80, Color: true}, {Width: 120}} {
			out := string(render(t, format{"terminal", Terminal, opts}, v))
			plain := colour.ReplaceAllString(out, "")
			if opts.Color == (plain == out) {
				t.Errorf("%s: colour %v, but colours written: %v", name, opts.Color, plain != out)
			}
			for _, r := range plain {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Fatalf("%s: control character %U", name, r)
				}
			}
		}
	}
}

func TestTerminalFitsItsWidth(t *testing.T) {
	for name, v := range documents() {
		for _, width := range []int{0, 1, 80, 93, 120, 500} {
			opts := Options{Width: width, Color: true}
			out := colour.ReplaceAllString(string(render(t, format{"terminal", Terminal, opts}, v)), "")
			for line := range strings.Lines(out) {
				if n := columnsOf(strings.TrimSuffix(line, "\n")); n > opts.width() {
					t.Errorf("%s: %d columns at width %d: %s", name, n, opts.width(), line)
				}
			}
		}
	}
}

// The number of rows is bounded and what is left out is counted.
func TestTerminalBoundsItsRows(t *testing.T) {
	out := string(render(t, format{"terminal", Terminal, Options{}}, large(600, 5)))
	if n := strings.Count(out, "\n"); n > 200 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"broken (86)", "and 56 more", "matrix (600 cells)", "and 570 more cells"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not said", want)
		}
	}
}

func TestColumnsOf(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本語": 6, "e\u0301": 1, "ｆｕｌｌ": 8, "한글": 4, "–": 1, "µs": 2} {
		if got := columnsOf(s); got != want {
			t.Errorf("columnsOf(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abcdef", 6, "abcdef"}, {"abcdefgh", 5, "ab…gh"}, {"日本語日本語", 7, "日…語語"}, {"abc", 1, "…"},
	} {
		if got := fit(c.in, c.n); columnsOf(got) > c.n || c.in == got && columnsOf(c.in) > c.n {
			t.Errorf("fit(%q, %d) = %q", c.in, c.n, got)
		}
	}
	if got := fit("abcdefgh", 5); got != "ab…gh" {
		t.Errorf("fit = %q, want both ends", got)
	}
}

func FuzzVisible(f *testing.F) {
	for _, s := range []string{nasty, "\x1b]0;x\a", "\u200b\u2028\U000e0001", "\xc3\x28"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{visible(s), sentence(s), fit(visible(s), 20), clip(visible(s), 20)} {
			for _, r := range got {
				if !unicode.IsPrint(r) {
					t.Errorf("%q has %U from %q", got, r, s)
				}
			}
		}
		if visible(visible(s)) != visible(s) {
			t.Errorf("visible is not idempotent on %q", s)
		}
	})
}
