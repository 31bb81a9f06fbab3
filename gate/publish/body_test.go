package publish

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/perfweir/perfweir/gate/report"
	"github.com/perfweir/perfweir/gate/verdict"
)

func mark(suite string, run int64, o verdict.Outcome) marker {
	return marker{suite: tokenOf(suite), run: Run{ID: run, Number: 1, Attempt: 1}, outcome: o, rows: strings.Repeat("0", 16)}
}

func TestTokens(t *testing.T) {
	long := strings.Repeat("x", 150)
	names := []string{"", "-", "codec", "a b", "a--b", "a-->", "日本", "%2D", "a/b.c_d", "\n", "~", long + "1", long + "2", long[:100], long[:101], nasty}
	seen := map[string]string{}
	for _, name := range names {
		token := tokenOf(name)
		if other, ok := seen[token]; ok {
			t.Errorf("%q and %q have one token", name, other)
		}
		seen[token] = name
		if strings.ContainsAny(token, " <>\n\r\x00") || strings.Contains(token, "--") || token == "" || len(token) > 330 {
			t.Errorf("token %q", token)
		}
		if len(name) <= longestToken && nameOf(token) != name {
			t.Errorf("nameOf(%q) = %q, want %q", token, nameOf(token), name)
		}
	}
}

func TestMarkerRoundTrip(t *testing.T) {
	m := marker{suite: tokenOf("a b"), run: Run{ID: 4711, Number: 12, Attempt: 2}, head: head, outcome: verdict.NoData, open: true, rows: "0123456789abcdef"}
	line := m.String()
	got, ok := parseMarker(line)
	if !ok || got != m {
		t.Errorf("%+v, %v, want %+v", got, ok, m)
	}
	for what, bad := range map[string]string{
		"a space behind":   line + " ",
		"in a sentence":    "x " + line,
		"a leading zero":   strings.Replace(line, "run=4711", "run=04711", 1),
		"a number too big": strings.Replace(line, "run=4711", "run="+strings.Repeat("9", 19), 1),
		"another outcome":  strings.Replace(line, "no_data", "great", 1),
		"keys in disorder": strings.Replace(line, "run=4711 number=12", "number=12 run=4711", 1),
		"upper-case hex":   strings.Replace(line, head, strings.ToUpper(head), 1),
		"a line end":       line + "\n",
		"a return":         line + "\r",
		"half a line":      line[:len(line)/2],
		"markup in a name": strings.Replace(line, "suite=a%20b", "suite=<b>", 1),
	} {
		if m, ok := parseMarker(bad); ok {
			t.Errorf("%s: %q was read as %+v", what, bad, m)
		}
	}
}

func TestCompareRuns(t *testing.T) {
	for _, c := range []struct {
		a, b Run
		want int
	}{
		{Run{10, 1, 1}, Run{9, 500, 9}, 1}, // the workflow's file was renamed: numbers begin anew
		{Run{10, 7, 1}, Run{10, 7, 2}, -1},
		{Run{10, 7, 2}, Run{10, 7, 2}, 0},
		{Run{0, 7, 1}, Run{0, 6, 3}, 1}, // a server without ids
		{Run{0, 7, 1}, Run{5, 8, 1}, -1},
	} {
		if got := compareRuns(c.a, c.b); got != c.want || compareRuns(c.b, c.a) != -c.want {
			t.Errorf("compareRuns(%v, %v) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// balanced fails where a text leaves something open.
func balanced(t *testing.T, what, text string) {
	t.Helper()
	if c := newScan(text).close(); c != "" {
		t.Errorf("%s leaves open what %q would close", what, c)
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8", what)
	}
}

// A real report cut at every kind of place: within its size, nothing left open,
// whole lines only, the verdict first.
func TestShorten(t *testing.T) {
	p := &publication{t: at(1, 1), r: reportOf(document(60, 50)).sorted(), o: opts()}
	text := p.markdown(p.told(), report.Options{})
	lines := strings.Split(text, "\n")
	for limit := 400; limit < len(text)+100; limit += 61 {
		got := shorten(text, limit)
		if len(got) > limit {
			t.Fatalf("%d bytes, limit %d", len(got), limit)
		}
		balanced(t, fmt.Sprint("cut to ", limit), got)
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if !slices.Contains(lines, line) && line != strings.TrimSpace(cutNote) {
				t.Fatalf("limit %d: half a line: %q", limit, line)
			}
		}
		if !strings.HasPrefix(got, lines[0]) || (limit < len(text)) != strings.Contains(got, "Cut for size") {
			t.Fatalf("limit %d: %.80q", limit, got)
		}
	}
	for in, want := range map[string]string{
		"a\n<details><summary>x</summary>\n\nb\n": "a\n<details><summary>x</summary>\n\nb\n\n</details>\n",
		"a\n```text\nrm -rf\n":                    "a\n```text\nrm -rf\n```\n",
		"</details>\na\n":                         "</details>\na\n",
	} {
		if got := shorten(in, 1000); got != want {
			t.Errorf("shorten(%q) = %q, want %q", in, got, want)
		}
	}
}

// Several suites that each would fill the comment share it; one that needs little
// loses nothing.
func TestSectionsShareTheRoom(t *testing.T) {
	big := strings.Repeat("| a row of a table |\n", 3_000)
	small := "**pass**: all is well\n"
	var all []section
	for i := range 5 {
		all = append(all, section{marker: mark(fmt.Sprint("big", i), 1, verdict.Fail), text: "**fail**: of suite\n" + big})
	}
	all = append(all, section{marker: mark("small", 1, verdict.Pass), text: small})
	body := compose("group", all, mark("own", 2, verdict.Inconclusive), func(n int) string { return "own\n" + big[:n/21*21-42] }, commentBytes)
	if len(body) > commentBytes || len(body) < commentBytes*8/10 {
		t.Errorf("%d bytes", len(body))
	}
	got := parseBody(body)
	if len(got) != 7 {
		t.Fatalf("%d sections", len(got))
	}
	least, most := math.MaxInt, 0
	for _, s := range got {
		balanced(t, s.suite, s.text)
		if s.suite == "small" {
			if s.text != small {
				t.Errorf("the small section became %q", s.text)
			}
			continue
		}
		least, most = min(least, len(s.text)), max(most, len(s.text))
	}
	if least < most*9/10 {
		t.Errorf("sections of %d to %d bytes", least, most)
	}
	if want := "**fail**: 5 of 7 suites: `big0` fail,"; !strings.HasPrefix(firstLine(body), want) {
		t.Errorf("first line %q", firstLine(body))
	}
	for i := range 80 {
		all = append(all, section{marker: mark(fmt.Sprint(nasty, i), 1, verdict.Fail), text: big})
	}
	if body := compose("group", all, mark("own", 2, verdict.Pass), func(int) string { return big }, commentBytes); len(body) > commentBytes || len(parseBody(body)) != mostSections {
		t.Errorf("%d bytes, %d sections", len(body), len(parseBody(body)))
	}
}

func TestParseBodyBounds(t *testing.T) {
	if parseBody(strings.Repeat("x", mostBody+1)) != nil {
		t.Error("an endless body was read")
	}
	// Of a suite that stands there twice the newer counts; CRLF is a line end.
	body := write("k", []section{{mark("a", 1, verdict.Fail), "old\n"}}) + write("k", []section{{mark("a", 2, verdict.Pass), "new\n"}})
	got := parseBody(strings.ReplaceAll(body, "\n", "\r\n"))
	if len(got) != 1 || got[0].run.ID != 2 || !strings.HasPrefix(got[0].text, "new\n") {
		t.Errorf("%+v", got)
	}
}

// FuzzBody: whatever stands in a comment under our name, publishing gives a body
// with our marker at its start, our section once and as rendered, and no section
// that was not there.
func FuzzBody(f *testing.F) {
	m := mark("codec", 1, verdict.Fail).String()
	for _, s := range []string{"", "x", topMarker("k"), topMarker("k") + "\n" + m + "\ntext\n```\n<details>\n", m + "\n" + m, "<!-- perfweir-section -->\n", nasty,
		strings.Repeat("<details>\n", 900), m + "\r\n\r\n", strings.Repeat(m+"\n"+strings.Repeat("y\n", 300), 70)} {
		f.Add(s, "own text\n")
	}
	f.Fuzz(func(t *testing.T, old, text string) {
		before := parseBody(old)
		own := mark("own", 9, verdict.Inconclusive)
		body := compose("k", before, own, func(int) string { return text }, commentBytes)
		if len(body) > commentBytes || !strings.HasPrefix(body, topMarker("k")+"\n") {
			t.Fatalf("%d bytes: %.60q", len(body), body)
		}
		if n := strings.Count("\n"+body, "\n<!-- perfweir:"); n != 1 {
			t.Fatalf("%d markers", n)
		}
		after := parseBody(body)
		ours := 0
		for _, s := range after {
			if s.suite == own.suite {
				ours++
				if s.marker != own {
					t.Errorf("our section is %+v", s.marker)
				}
				continue
			}
			if !slices.ContainsFunc(before, func(b section) bool { return b.marker == s.marker }) {
				t.Errorf("a section from nowhere: %+v", s.marker)
			}
		}
		if ours != 1 {
			t.Fatalf("our section is there %d times", ours)
		}
		// The same again changes nothing: no write without a change.
		if again := compose("k", after, own, func(int) string { return text }, commentBytes); !same(body, again) {
			t.Errorf("not stable:\n%q\n%q", body, again)
		}
	})
}

func FuzzMarker(f *testing.F) {
	f.Add(mark("codec", 1, verdict.Fail).String())
	f.Add("<!-- perfweir-section suite=- run=0 number=0 attempt=0 head=- outcome=pass open=0 resolved=0 rows=0000000000000000 -->")
	f.Fuzz(func(t *testing.T, line string) {
		if m, ok := parseMarker(line); ok && m.String() != line {
			t.Errorf("%q was read as %q", line, m.String())
		}
		if e, ok := ParseExternalID(line); ok && e.String() != line {
			t.Errorf("%q was read as %q", line, e.String())
		}
	})
}
