package publish

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/perfweir/perfweir/gate/verdict"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with go test ./gate/publish -update)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestGolden(t *testing.T) {
	ctx := context.Background()
	f := newFake(t)
	o := opts()
	o.Full = "perfweir-out/findings.csv"
	machines := reportOf(failing(), passing())
	machines.Missing = []string{"orin"}
	res := Publish(ctx, f, at(12, 2), machines, o)
	golden(t, "comment.md", f.theBody("codec"))
	golden(t, "check-summary.md", f.theCheck().Summary)
	golden(t, "check-text.md", f.theCheck().Text)
	for suite, v := range map[string]*verdict.Document{"codec": failing(), "micro": passing(), "engine": undecided()} {
		publishComment(t, f, at(12, 2), reportOf(v), inGroup(suite))
	}
	golden(t, "group.md", f.theBody("all suites"))
	res.Channels = append(res.Channels, Channel{Name: ChannelStatus, State: Failed, Why: why(errForbidden)})
	var b bytes.Buffer
	if err := WriteSummary(&b, at(12, 2), machines, o, res); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.md", b.String())
}

// A gate costs few requests: the check, the comment, and nothing else.
func TestRequests(t *testing.T) {
	f := newFake(t)
	o := opts()
	o.CheckRun = Start(context.Background(), f, at(1, 1), o).ID
	Publish(context.Background(), f, at(1, 1), reportOf(failing()), o)
	Finish(context.Background(), f, at(1, 1), o, End{Published: true})
	if got := strings.Join(f.calls, " "); got != "CreateCheckRun UpdateCheckRun Login Comments CreateComment Comments CheckRuns" {
		t.Errorf("a first gate: %s", got)
	}
	f.calls = nil
	o.CheckRun = Start(context.Background(), f, at(2, 1), o).ID
	Publish(context.Background(), f, at(2, 1), reportOf(passing()), o)
	if got := strings.Join(f.calls, " "); got != "CreateCheckRun UpdateCheckRun Login Comments UpdateComment" {
		t.Errorf("the next: %s", got)
	}
}

// Nothing is written where nothing may be; the remarks are left for the log.
func TestReadOnly(t *testing.T) {
	fork := at(1, 1)
	fork.Fork = true
	f := newFake(t)
	for name, res := range map[string]Result{
		"fork":     Publish(context.Background(), f, fork, reportOf(failing()), opts()),
		"no token": Publish(context.Background(), nil, at(1, 1), reportOf(failing()), opts()),
	} {
		for _, c := range []string{ChannelCheck, ChannelComment} {
			if got := res.Channel(c); got.State != Skipped || !strings.Contains(got.Why, "job summary") {
				t.Errorf("%s: %v", name, got)
			}
		}
		if len(res.Untold) != 2 || len(res.Failures()) != 0 {
			t.Errorf("%s: %+v", name, res)
		}
	}
	if len(f.calls) > 0 {
		t.Errorf("calls %v", f.calls)
	}
	o := opts()
	o.Annotations, o.Check = false, CheckNone
	if res := Publish(context.Background(), f, fork, reportOf(failing()), o); len(res.Untold) != 0 {
		t.Errorf("remarks that nobody asked for: %+v", res.Untold)
	}
	nowhere := at(1, 1)
	nowhere.SHA = ""
	if res := Publish(context.Background(), f, nowhere, reportOf(failing()), opts()); res.Channel(ChannelCheck).State != Skipped || len(res.Untold) != 2 {
		t.Errorf("without a commit: %+v", res)
	}
}

// Every channel degrades alone.
func TestChannelsDegradeAlone(t *testing.T) {
	f := newFake(t)
	f.faults["CheckRuns"] = []fault{{err: errForbidden}}
	if res := Publish(context.Background(), f, at(1, 1), reportOf(failing()), opts()); res.Channel(ChannelCheck).State != Failed || res.Channel(ChannelComment).State != Posted || len(res.Failures()) != 1 {
		t.Errorf("the check is refused: %v", res.Channels)
	}
	f = newFake(t)
	f.faults["Comments"] = []fault{{err: errForbidden}}
	if res := Publish(context.Background(), f, at(1, 1), reportOf(failing()), opts()); res.Channel(ChannelCheck).State != Posted || res.Channel(ChannelComment).State != Failed {
		t.Errorf("the comment is refused: %v", res.Channels)
	}
	// The token expires after the check.
	f = newFake(t)
	f.faults["Login"] = []fault{{err: fmt.Errorf("%w: 401 Bad credentials: the token has expired", fs.ErrPermission)}}
	if res := Publish(context.Background(), f, at(1, 1), reportOf(failing()), opts()); !strings.Contains(res.Channel(ChannelComment).Why, "the token has expired") {
		t.Errorf("an expired token: %v", res.Channels)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range Publish(ended, newFake(t), at(1, 1), reportOf(failing()), opts()).Channels {
		if c.State != Failed || !strings.Contains(c.Why, "cancelled") {
			t.Errorf("ended: %v", c)
		}
	}
	late, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	for _, c := range Publish(late, newFake(t), at(1, 1), reportOf(failing()), opts()).Channels {
		if c.State != Failed || !strings.Contains(c.Why, "no time left") {
			t.Errorf("late: %v", c)
		}
	}
}

func TestReportOutcome(t *testing.T) {
	undecidedRed := undecided()
	undecidedRed.ExitCode = 3
	for name, c := range map[string]struct {
		r       Report
		failOn  string
		outcome verdict.Outcome
		exit    int
	}{
		"one":                 {reportOf(failing()), "", verdict.Fail, 1},
		"the worst":           {reportOf(passing(), undecidedRed, failing()), "", verdict.Fail, 1},
		"never":               {reportOf(failing()), FailOnNever, verdict.Fail, 0},
		"inconclusive":        {reportOf(undecided(), passing()), FailOnInconclusive, verdict.Inconclusive, 3},
		"inconclusive passes": {reportOf(undecided()), FailOnFail, verdict.Inconclusive, 0},
		"nothing":             {Report{}, "", verdict.NoData, 3},
		"broken":              {Report{Broken: "x"}, "", verdict.NoData, 3},
		"missing":             {Report{Parts: reportOf(passing()).Parts, Missing: []string{"orin"}}, "", verdict.NoData, 3},
		"a part without":      {Report{Parts: []Part{{Machine: "orin"}}}, "", verdict.NoData, 3},
	} {
		if o, e := c.r.Outcome(), c.r.ExitCode(c.failOn); o != c.outcome || e != c.exit {
			t.Errorf("%s: %s, %d, want %s, %d", name, o, e, c.outcome, c.exit)
		}
	}
	sorted := Report{Parts: []Part{{Machine: "z"}, {Machine: "b", Verdict: passing()}, {Machine: "c", Verdict: undecided()}, {Machine: "a", Verdict: passing()}, {Machine: "d", Verdict: failing()}}}.sorted()
	var names []string
	for _, p := range sorted.Parts {
		names = append(names, p.Machine)
	}
	if strings.Join(names, "") != "dcab" || len(sorted.Missing) != 1 {
		t.Errorf("%v, missing %v", names, sorted.Missing)
	}
	p := &publication{t: at(1, 1), r: reportOf(failing()).sorted(), o: Options{FailOn: FailOnNever}}
	if notes := p.told().Notes; len(notes) != 1 || !strings.Contains(notes[0], "fail-on: never, so the exit code is 0") {
		t.Errorf("notes %v", notes)
	}
}

// ourHTML is all the HTML of a comment.
var ourHTML = regexp.MustCompile(`^(<!-- perfweir:[A-Za-z0-9._/%~-]+ v=1 -->|<!-- perfweir-section [a-z0-9A-Z._/%~= -]+ -->|` +
	`<details><summary>[A-Za-z0-9 :,()]+</summary>|<details><summary><code>[^<>]+</code>: [a-z ]+</summary>|</details>)?\n?$`)

// checkBody reads a comment as GitHub does: its marker once and in front, one hidden
// line a suite, and nothing that a name made of it.
func checkBody(t *testing.T, body, key string, sections int) {
	t.Helper()
	if !strings.HasPrefix(body, topMarker(key)+"\n") || !utf8.ValidString(body) || len(body) > commentBytes {
		t.Fatalf("%d bytes: %.100q", len(body), body)
	}
	if n := strings.Count("\n"+body, "\n<!-- perfweir:"); n != 1 {
		t.Errorf("%d markers", n)
	}
	if n := strings.Count("\n"+body, "\n<!-- perfweir-section"); n != sections || len(parseBody(body)) != sections {
		t.Errorf("%d sections, %d can be read, want %d", n, len(parseBody(body)), sections)
	}
	src := []byte(body)
	md := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote))
	err := ast.Walk(md.Parser().Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(src))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(src))
			}
			for line := range strings.Lines(html) {
				if entering && !ourHTML.MatchString(strings.TrimSpace(line)) {
					t.Errorf("foreign HTML %q", line)
				}
			}
		case *ast.Link:
			if entering && !strings.HasPrefix(string(n.Destination), "https://github.com/acme/widgets/") {
				t.Errorf("foreign link %q", n.Destination)
			}
		case *ast.RawHTML, *ast.AutoLink, *ast.Image, *ast.Blockquote:
			t.Errorf("foreign %s", n.Kind())
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := md.Convert(src, &out); err != nil {
		t.Fatal(err)
	}
	html := regexp.MustCompile(`(?s)<code[^>]*>.*?</code>|<a href="https://github.com/acme/widgets/[^"]*">`).ReplaceAllString(out.String(), "")
	if found := regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|(?i)gh-[0-9]|https?://|www\.[a-z]|<img|<script`).FindString(html); found != "" {
		t.Errorf("rendered text contains %q", found)
	}
}

// Whatever the names in a verdict: one marker, in front; no HTML, link or mention.
func TestHostileNames(t *testing.T) {
	for i, name := range []string{nasty, "", "`", "<!--", "-->", "```\n<!-- perfweir:codec v=1 -->\n```", "</details>", strings.Repeat("<&|`@", 400),
		"<!-- perfweir-section suite=x -->", "\n<!-- perfweir:codec v=1 -->\n", "::error::x", "\xff\xfe", "a/../b", "%0A::error::"} {
		f := newFake(t)
		to := at(1, 1)
		o := Options{Suite: name, SuitePath: name, Full: name, Annotations: true}
		r := reportOf(hostile(name), hostile(name))
		r.Parts[0].Machine, r.Parts[1].Shard, r.Missing = name, name, []string{name}
		Publish(context.Background(), f, to, r, o)
		checkBody(t, f.theBody(name), name, 1)
		o.Group = "g" + name
		for _, suite := range []string{name, "x" + name} {
			o.Suite = suite
			publishComment(t, f, to, reportOf(hostile(name)), o)
		}
		checkBody(t, f.theBody("g"+name), "g"+name, 2)
		var b bytes.Buffer
		if err := WriteCommands(&b, Publish(context.Background(), nil, to, r, o).Untold); err != nil {
			t.Fatal(err)
		}
		for _, line := range logLines(b.String()) {
			if c, ok := parseCommand(line); !ok || c.name != "error" && c.name != "warning" && c.name != "notice" {
				t.Errorf("name %d: %q", i, line)
			}
		}
		if t.Failed() {
			t.Fatalf("name %d: %q", i, name)
		}
	}
}

func FuzzNames(f *testing.F) {
	f.Add(nasty)
	f.Add("`\n<!-- perfweir:codec v=1 -->")
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 2_000 {
			return // names are cut long before
		}
		gh := newFake(t)
		Publish(context.Background(), gh, at(1, 1), reportOf(hostile(name)), Options{Suite: name, SuitePath: name, Full: name, Annotations: true})
		checkBody(t, gh.theBody(name), name, 1)
	})
}

// 5,000 cells of which 200 fail: the comment fits, and every failing row is named
// or counted.
func TestLargeMatrix(t *testing.T) {
	for _, broken := range []int{200, 2_000} {
		f := newFake(t)
		v := document(5_000, broken)
		if c := publishComment(t, f, at(1, 1), reportOf(v), noCheck()); c.State != Posted {
			t.Fatal(c)
		}
		body := f.theBody("codec")
		checkBody(t, body, "codec", 1)
		table, _, _ := strings.Cut(body[strings.Index(body, "### Broken"):], "### Matrix")
		named := strings.Count(table, "| `bench")
		counted := 0
		if at := strings.Index(body, "Left out for size: "); at >= 0 {
			_, _ = fmt.Sscanf(body[at:], "Left out for size: %d of", &counted)
		}
		if of := fmt.Sprintf("%d of %d broken rows", counted, broken); counted > 0 && !strings.Contains(body, of) {
			counted = 0 // it was something else that is counted first
		}
		if named+counted != broken || named < 100 {
			t.Errorf("of %d failing rows %d are named and %d counted", broken, named, counted)
		}
		var b bytes.Buffer
		if err := WriteSummary(&b, at(1, 1), reportOf(v), opts(), Result{}); err != nil {
			t.Fatal(err)
		}
		if b.Len() > summaryBytes || strings.Count(b.String(), "| fail |") != broken {
			t.Errorf("summary of %d bytes names %d of %d failing rows", b.Len(), strings.Count(b.String(), "| fail |"), broken)
		}
	}
}

func BenchmarkPublishLargeMatrix(b *testing.B) {
	v := document(5_000, 200)
	b.ReportAllocs()
	for b.Loop() {
		Publish(context.Background(), newFake(nil), at(1, 1), reportOf(v), opts())
	}
}
