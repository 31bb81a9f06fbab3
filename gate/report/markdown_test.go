package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// allowedHTML is all the HTML that Markdown writes itself.
var allowedHTML = regexp.MustCompile(`^(<!-- perfweir:[A-Za-z0-9._/%-]+ -->\n?|<details><summary>[A-Za-z0-9 :,()]+</summary>\n?|` +
	`<details><summary><code>[^<>]+</code>: [a-z ]+</summary>\n?|</details>\n?)$`)

// runURL is the one address that a comment of the tests links to.
const runURL = "https://github.com/acme/widgets/actions/runs/4711"

// checkMarkdown parses a report as GitHub does and requires that names made
// nothing of it: no HTML but ours, no link, no image, rows of equal length.
func checkMarkdown(t *testing.T, src []byte) (tables, rows int) {
	t.Helper()
	if !utf8.Valid(src) {
		t.Error("the report is not UTF-8")
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	doc := md.Parser().Parse(text.NewReader(src))
	open := 0
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(src))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(src))
			}
			for line := range strings.SplitAfterSeq(strings.TrimSpace(html), "\n") {
				if !allowedHTML.MatchString(line) {
					t.Errorf("unexpected HTML block %q", line)
				}
				open += strings.Count(line, "<details>") - strings.Count(line, "</details>")
			}
		case *ast.RawHTML, *ast.Link, *ast.AutoLink, *ast.Image, *ast.Blockquote, *ast.ThematicBreak,
			*ast.Emphasis, *east.Strikethrough, *east.TaskCheckBox, *east.FootnoteLink:
			if e, ok := n.(*ast.Emphasis); ok && e.Level == 2 && n.Parent() == doc.FirstChild().NextSibling() {
				break // the verdict
			}
			if e, ok := n.(*ast.Emphasis); ok && e.Level == 2 && n.Parent() == doc.FirstChild() {
				break
			}
			if l, ok := n.(*ast.Link); ok && string(l.Destination) == runURL {
				break
			}
			t.Errorf("unexpected %s", n.Kind())
		case *ast.Heading:
			if n.Level != 3 && n.Level != 2 {
				t.Errorf("unexpected heading of level %d", n.Level)
			}
		case *east.Table:
			tables++
			rows += checkTable(t, n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if open != 0 {
		t.Errorf("%d <details> left open", open)
	}
	checkText(t, src)
	return tables, rows
}

func checkTable(t *testing.T, table *east.Table) (rows int) {
	t.Helper()
	want := len(table.Alignments)
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		rows++
		if row.ChildCount() != want {
			t.Errorf("a row has %d cells, its table %d columns", row.ChildCount(), want)
		}
	}
	return rows - 1
}

// checkText looks at the rendered text outside code, where GitHub looks for
// mentions, references and addresses.
func checkText(t *testing.T, src []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert(src, &out); err != nil {
		t.Fatal(err)
	}
	html := regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`).ReplaceAllString(out.String(), "CODE")
	html = strings.ReplaceAll(html, `<a href="`+runURL+`">`, "")
	for _, bad := range []string{`@[A-Za-z0-9]`, `#[0-9]`, `(?i)gh-[0-9]`, `(?i)https?://`, `(?i)www\.[a-z]`, `(?i)<img`, `(?i)<script`} {
		if found := regexp.MustCompile(bad).FindString(html); found != "" {
			t.Errorf("rendered text contains %q", found)
		}
	}
	for _, r := range string(src) {
		if r < 0x20 && r != '\n' || r == 0x7f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Errorf("the report contains the control character %U", r)
		}
	}
}

func TestMarkdownIsSafeAndWellFormed(t *testing.T) {
	for name, v := range documents() {
		t.Run(name, func(t *testing.T) {
			src := render(t, formats()[0], v)
			tables, rows := checkMarkdown(t, src)
			if tables == 0 || rows == 0 {
				t.Errorf("%d tables with %d rows were found", tables, rows)
			}
		})
	}
}

// Every finding and cell has its row when nothing is left out: a table that a
// name cut short would have fewer.
func TestMarkdownLosesNoRow(t *testing.T) {
	v := hostile()
	_, rows := checkMarkdown(t, render(t, formats()[0], v))
	want := len(v.Findings) + len(v.Cells) + len(v.Baseline.Sessions) + len(v.Baseline.Rejected)
	if rows != want {
		t.Errorf("%d rows of tables, want %d", rows, want)
	}
}

// C14: at every size the report stays within it, whole rows only, and says what
// it left out.
func TestMarkdownByteBudget(t *testing.T) {
	full := large(600, 5)
	for _, v := range []struct {
		name string
		max  int
	}{{"large", 60_000}, {"hostile", 30_000}} {
		doc := full
		if v.name == "hostile" {
			doc = hostile()
		}
		for size := MinBytes; size <= v.max; size += 977 {
			f := format{"report.md", Markdown, Options{Key: "codec", Bytes: size, Full: strings.Repeat("`|x", 90)}}
			src := render(t, f, doc)
			if len(src) > size {
				t.Fatalf("%s: %d bytes, budget %d", v.name, len(src), size)
			}
			checkMarkdown(t, src)
			if v.name == "large" && !bytes.Contains(src, []byte("Left out for size: ")) {
				t.Errorf("%d bytes: nothing is said about what was left out", size)
			}
			if t.Failed() {
				t.Fatalf("%s at %d bytes", v.name, size)
			}
		}
	}
}

// However long and full of markup the names are, the verdict is never what is
// left out.
func TestMarkdownKeepsTheVerdict(t *testing.T) {
	for _, s := range []string{"&", "`", "\U000e0001", "日", "|", "\x00", "@"} {
		long := strings.Repeat(s, 2000)
		v := failing()
		v.Suite.Name, v.Suite.Path, v.Baseline.Origin, v.Sessions[0].Machine = long, long, long, long
		v.Policy.On["fail"], v.Warnings = long, []string{long, long}
		src := render(t, format{"report.md", Markdown, Options{Key: long, Full: long, Bytes: 1}}, v)
		if len(src) > MinBytes {
			t.Errorf("%q: %d bytes", s, len(src))
		}
		if !bytes.Contains(src, []byte("**fail**: 4 of 24 budgets broken")) || !bytes.Contains(src, []byte("Baseline: ")) {
			t.Errorf("%q: the verdict is missing", s)
		}
		checkMarkdown(t, src)
	}
}

// The rows that are left when space is short are the worst ones.
func TestMarkdownKeepsFailuresFirst(t *testing.T) {
	src := string(render(t, format{"report.md", Markdown, Options{Bytes: 12_000}}, large(600, 5)))
	broken := strings.Count(src, "| fail |")
	if broken < 20 {
		t.Errorf("%d failing rows in 12,000 bytes", broken)
	}
	if strings.Contains(src, "| PASS |") && !strings.Contains(src, "file-0595") {
		t.Error("passing cells are shown while failing rows are left out")
	}
	if i, j := strings.Index(src, "### Broken"), strings.Index(src, "### Matrix"); i < 0 || j >= 0 && j < i {
		t.Error("the matrix comes before what is broken")
	}
}

func TestMarker(t *testing.T) {
	cases := map[string]string{
		"codec":            "<!-- perfweir:codec -->\n",
		"a-b/c_d.e":        "<!-- perfweir:a-b/c_d.e -->\n",
		"a--><script>":     "<!-- perfweir:a-%2D%3E%3Cscript%3E -->\n",
		"-->":              "<!-- perfweir:%2D%2D%3E -->\n",
		"x\ny":             "<!-- perfweir:x%0Ay -->\n",
		"two words\u202e!": "<!-- perfweir:two%20words%E2%80%AE%21 -->\n",
	}
	for key, want := range cases {
		if got := mdMarker(key); got != want {
			t.Errorf("mdMarker(%q) = %q, want %q", key, got, want)
		}
	}
}

// FuzzMarkdownName puts any text wherever the code under test can put one.
func FuzzMarkdownName(f *testing.F) {
	for _, s := range []string{nasty, "`", "``a`", "|", `\`, `\|`, "a|", "1. x", "- x", "+", "=", "---", "[x]: http://a.b",
		"<details>", "</details>", "-->", "$a$", "@a", "a@b.c", "user/repo#12", "www.a.b", "[^1]", "![x]", "&#64;a", "\x00", "\xff", "  "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := failing()
		v.Suite.Name, v.Cells[0].Name, v.Cells[0].Note = s, s, s
		v.Warnings, v.Reasons = []string{s}, []string{s}
		v.Findings[0].Message, v.Findings[3].Reasons = s, []string{s}
		v.Budgets[2].Text = s
		v.Baseline.Origin, v.Baseline.Rejected[0].Why = s, s
		want := len(v.Findings) + len(v.Cells) + len(v.Baseline.Sessions) + len(v.Baseline.Rejected)
		if _, rows := checkMarkdown(t, render(t, format{"report.md", Markdown, Options{Key: s}}, v)); rows != want {
			t.Errorf("%d rows of tables, want %d", rows, want)
		}
	})
}

// A report rendered by a reader of Markdown shows the texts themselves.
func TestMarkdownTextRendersAsItself(t *testing.T) {
	for _, s := range []string{"a_b_c _x_ *y* 1 < 2 & 3 > 2", "1. first", "- item", "+7.5 % [6.1, 9.0]", `back\slash`, "~~no~~", "a|b", "`code`", "# no"} {
		var out bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(mdText(s)), &out); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
		want = strings.ReplaceAll(want, "#", "#"+zeroWidthSpace)
		if got := out.String(); got != fmt.Sprintf("<p>%s</p>\n", want) {
			t.Errorf("mdText(%q) renders as %s", s, got)
		}
	}
}
