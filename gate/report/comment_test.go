package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

func toldOf(parts ...*verdict.Document) *Told {
	t := &Told{Suite: "codec", Outcome: verdict.Pass, Commit: "3c1a77fe90ab12cd34ef56ab78cd90ef12ab34cd",
		Run: "workflow run 12, attempt 2", RunURL: runURL}
	for i, v := range parts {
		t.Parts = append(t.Parts, Part{Machine: fmt.Sprintf("perf-%d", i+1), Verdict: v})
	}
	t.Outcome, t.ExitCode = verdict.Worst(parts)
	return t
}

func comment(t *testing.T, told *Told, opts Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Comment(&b, told, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func tellings() map[string]*Told {
	resolved := toldOf(cleanPass())
	resolved.Resolved = true
	loosened := toldOf(failing())
	loosened.Parts[0].Verdict.Counts.Loosened = 7
	loosened.Parts[0].Verdict.Loosened = []verdict.Loosened{
		{Text: "wall_time in encode/**", Was: "max_regression: 5%", Now: "max_regression: 10%", Cells: 12, Source: budget.Source{HeadLine: 31}},
		{Text: "gate.on.gone", Was: "fail"},
	}
	machines := toldOf(failing(), crashes(), cleanPass())
	machines.Missing = []string{"orin"}
	machines.Parts[1].Machine = "perf-<b>@u`|"
	machines.Parts[2].Shard = "1of2"
	broken := toldOf()
	broken.Broken = "the build command failed: exit status 2 @octocat"
	return map[string]*Told{"comment": toldOf(failing()), "resolved": resolved, "loosened": loosened,
		"machines": machines, "broken": broken}
}

func TestCommentGolden(t *testing.T) {
	for name, told := range tellings() {
		t.Run(name, func(t *testing.T) {
			got := comment(t, told, Options{Full: "perfweir-out/findings.csv"})
			checkMarkdown(t, got)
			golden(t, "told-"+name+".md", got)
		})
	}
}

// The comment of one machine is report.md with the words that only a comment has.
func TestCommentIsTheReport(t *testing.T) {
	v := failing()
	report := render(t, format{"report.md", Markdown, Options{}}, v)
	got := string(comment(t, toldOf(v), Options{}))
	body, foot, _ := strings.Cut(got, "\nCommit ")
	if body != string(report) {
		t.Error("the text differs from report.md")
	}
	if want := "`3c1a77fe90ab` · [workflow run 12, attempt 2](" + runURL + ")\n"; foot != want {
		t.Errorf("footer %q, want %q", foot, want)
	}
}

// The first line is the verdict, and its plain form is the headline.
func TestCommentFirstLine(t *testing.T) {
	for name, want := range map[string]string{
		"comment":  "fail: 4 of 24 budgets broken in 2 of 5 cells; 1 suspect; 1 suspicious; 1 warning",
		"resolved": "resolved: pass: 20 of 23 budgets hold in 5 cells; 3 unproven, a change above 12.4 % would have been seen",
		"machines": "fail: 2 of 4 parts fail; 1 of 4 parts pass; 1 never reported; perf-1: 4 of 24 budgets broken in 2 of 5 cells; 1 suspect; 1 suspicious; 1 warning",
		"broken":   "no verdict: the build command failed: exit status 2 @octocat",
	} {
		told := tellings()[name]
		if got := Headline(told); got != want {
			t.Errorf("%s: %q", name, got)
		}
		first, _, _ := strings.Cut(string(comment(t, told, Options{})), "\n")
		if title, _, _ := strings.Cut(first, "**: "); title != "**"+told.title() {
			t.Errorf("%s: first line %q", name, first)
		}
	}
}

// What the two halves show together is the whole, and each is bounded.
func TestCommentHalves(t *testing.T) {
	v := failing()
	deciding := string(comment(t, toldOf(v), Options{Half: Deciding}))
	rest := string(comment(t, toldOf(v), Options{Half: Rest}))
	for _, want := range []string{"**fail**", "### Broken", "### Suspect", "How to reproduce", "Commit `"} {
		if !strings.Contains(deciding, want) || strings.Contains(rest, want) {
			t.Errorf("%q belongs to the deciding half alone", want)
		}
	}
	for _, want := range []string{"### Matrix", "Passes ("} {
		if strings.Contains(deciding, want) || !strings.Contains(rest, want) {
			t.Errorf("%q belongs to the rest alone", want)
		}
	}
}

// Whatever the names are, at every size, for one machine and several: well-formed,
// within its size, and the verdict is never what is left out.
func TestCommentSafeAtEverySize(t *testing.T) {
	hostileParts := toldOf(hostile(), hostile(), large(300, 3), cleanPass(), hostile())
	for i := range hostileParts.Parts {
		hostileParts.Parts[i].Machine = nasty + fmt.Sprint(i)
	}
	hostileParts.Missing = []string{nasty, "", "`", strings.Repeat("<&|", 200)}
	one := toldOf(hostile())
	none := toldOf()
	none.Broken = strings.Repeat(nasty, 9)
	for _, told := range []*Told{hostileParts, one, none} {
		told.Suite, told.Commit, told.Run, told.Notes = nasty, nasty, nasty, []string{nasty, nasty}
		for size := MinBytes; size <= 64_000; size += 3_511 {
			for _, half := range []Half{Whole, Deciding, Rest} {
				src := comment(t, told, Options{Bytes: size, Full: nasty, Half: half})
				if len(src) > size {
					t.Fatalf("%d bytes, budget %d", len(src), size)
				}
				if half != Rest && !bytes.HasPrefix(src, []byte("**"+told.title()+"**: ")) {
					t.Fatalf("%d bytes: the verdict is missing: %.100q", size, src)
				}
				checkComment(t, src, half)
				if t.Failed() {
					t.Fatalf("at %d bytes, half %d", size, half)
				}
			}
		}
	}
}

// checkComment is checkMarkdown; the rest alone begins with what a whole has later.
func checkComment(t *testing.T, src []byte, half Half) {
	t.Helper()
	if half == Rest {
		src = append([]byte("x\n\n"), src...)
	}
	checkMarkdown(t, src)
}

// An address that could leave its link is not linked.
func TestLink(t *testing.T) {
	for url, linked := range map[string]bool{
		runURL: true, "http://127.0.0.1:7100/a/b?c=d&e=f%20": true,
		"": false, "javascript:alert(1)": false, "https://a.b/)x": false, "https://a.b/ c": false, "https://a.b/\nx": false,
		"https://a.b/<": false, "https://": false, "https://a.b/" + strings.Repeat("x", 600): false,
	} {
		if got := strings.Contains(mdLink("run", url), "]("); got != linked {
			t.Errorf("%q: linked %v", url, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		in    string
		bytes int
		want  string
	}{
		{"short", 10, "short"}, {"two\r\nlines\x1b[31m", 40, `two lines\x1b[31m`}, {"日本語日本語", 10, "日本…"},
		{"日本語日本語", 18, "日本語日本語"}, {"日本語", 2, ""}, {"ab cd ef", 6, "ab…"}, {"abc", 0, ""}, {"\xff", 9, `\xff`},
	} {
		if got := Plain(c.in, c.bytes); got != c.want || len(got) > max(c.bytes, 0) {
			t.Errorf("Plain(%q, %d) = %q, want %q", c.in, c.bytes, got, c.want)
		}
	}
}
