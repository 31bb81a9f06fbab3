package publish

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/verdict"
)

func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("0123456789abcdef%04d", n) }
}

// public are the outputs of the action, with a value of each; between are those
// that its steps hand to each other.
func public() []Output {
	return []Output{
		{OutVerdict, "no_data"}, {OutExitCode, "3"}, {OutFailed, "0"}, {OutInconclusive, "12"}, {OutAccepted, "1"}, {OutNotCompared, "7"},
		{OutBaselineCommit, head}, {OutBaselineSessions, "5"}, {OutResultsPath, "/tmp/a b=c<<d/results.json"}, {OutReportPath, "日本/report.md"},
		{OutHTMLPath, ""}, {OutJUnitPath, "x::y"}, {OutUploadPath, "/tmp/perfweir-codec"}, {OutArtifactName, "perfweir-results-codec-perf-1-1of1-a2"},
		{OutCommentURL, "https://github.com/acme/widgets/pull/7#issuecomment-1"}, {OutCheckRunURL, "http://127.0.0.1:7100/runs/1"},
	}
}

func between() []Output {
	return []Output{{OutContextDigest, "sha256:" + strings.Repeat("0a", 32)}, {OutProceed, "false"}, {OutFolder, "/tmp/x"},
		{OutReportsPath, "/tmp/x"}, {OutReportsName, "perfweir-reports-codec-perf-1-1of1-a2"}}
}

func TestOutputsRoundTrip(t *testing.T) {
	list := append(public(), between()...)
	var b bytes.Buffer
	if err := WriteOutputs(&b, list, counter()); err != nil {
		t.Fatal(err)
	}
	got, err := parseOutputs(b.String())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, o := range list {
		want[o.Name] = o.Value
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(list) != len(kinds()) {
		t.Errorf("%d outputs are tried of %d", len(list), len(kinds()))
	}
}

func TestOutputsRefuse(t *testing.T) {
	for _, o := range []Output{
		{"ghadelimiter", "x"}, {"", "x"}, {"verdict\nfailed", "pass"}, {OutVerdict, "passed"}, {OutVerdict, "pass\nexit-code=0"},
		{OutExitCode, "-1"}, {OutExitCode, "01"}, {OutFailed, "1e3"}, {OutFailed, " 1"}, {OutBaselineCommit, "HEAD"}, {OutBaselineCommit, "AB"},
		{OutResultsPath, "a\nb"}, {OutResultsPath, "a\rb"}, {OutResultsPath, "a\x00"}, {OutResultsPath, "\xff"}, {OutResultsPath, strings.Repeat("a", 5_000)},
		{OutArtifactName, "a/b"}, {OutArtifactName, "a:b"}, {OutProceed, "yes"}, {OutContextDigest, "sha256:0"}, {OutReportsName, "a\nb"}, {OutCommentURL, "javascript:alert(1)"}, {OutCommentURL, "https://a b"}, {OutCheckRunURL, "https://a\n"},
	} {
		var b bytes.Buffer
		err := WriteOutputs(&b, []Output{o, {OutFailed, "3"}}, counter())
		if err == nil {
			t.Errorf("%q: %q was written", o.Name, o.Value)
		}
		if got, parseErr := parseOutputs(b.String()); parseErr != nil || len(got) != 1 || got[OutFailed] != "3" {
			t.Errorf("%q: the others became %v, %v", o.Name, got, parseErr)
		}
	}
	for _, bad := range []string{"", "short", "with space and more of it", "0123456789abcdef\nfailed=0"} {
		var b bytes.Buffer
		if err := WriteOutputs(&b, []Output{{OutFailed, "3"}}, func() string { return bad }); err == nil || b.Len() > 0 {
			t.Errorf("delimiter %q: %q", bad, b.String())
		}
	}
	var b bytes.Buffer
	known := func() string { return "0123456789abcdef" }
	if err := WriteOutputs(&b, []Output{{OutResultsPath, "x/perfweir_0123456789abcdef/y"}}, known); err == nil || b.Len() > 0 {
		t.Errorf("a value with its delimiter was written: %q", b.String())
	}
	if WriteOutputs(failingWriter{}, []Output{{OutFailed, "3"}}, known) == nil {
		t.Error("a write that failed is not told")
	}
}

// FuzzOutputs: whatever the value, what the runner reads is it, or nothing; never
// another output.
func FuzzOutputs(f *testing.F) {
	for _, s := range []string{"a", "a\nverdict=pass", "a\nperfweir_0123456789abcdef0001\nverdict=pass\n", "<<", "=", "\r", "", nasty} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for name := range kinds() {
			var b bytes.Buffer
			err := WriteOutputs(&b, []Output{{name, value}}, counter())
			got, parseErr := parseOutputs(b.String())
			if parseErr != nil {
				t.Fatal(parseErr)
			}
			want := map[string]string{name: value}
			if err != nil {
				want = map[string]string{}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

func TestOutputsOfAReport(t *testing.T) {
	a, b := failing(), undecided()
	a.Counts.Findings[verdict.Accepted], a.Counts.Findings[verdict.New], a.Counts.Findings[verdict.NoBaseline] = 1, 2, 3
	a.Baseline = &verdict.Baseline{Sessions: []verdict.BaselineSession{
		{Session: result.Session{StartedAt: day(1)}, Commit: "aa"}, {Session: result.Session{StartedAt: day(3)}, Commit: head}, {Session: result.Session{StartedAt: day(2)}, Commit: "bb"}}}
	b.Baseline = &verdict.Baseline{Sessions: a.Baseline.Sessions[:1]}
	want := []Output{{OutVerdict, "fail"}, {OutExitCode, "1"}, {OutFailed, "2"}, {OutInconclusive, "1"}, {OutAccepted, "1"}, {OutNotCompared, "5"}, {OutBaselineCommit, head}, {OutBaselineSessions, "1"}}
	if diff := cmp.Diff(want, Outputs(reportOf(a, b), "")); diff != "" {
		t.Error(diff)
	}
	want = []Output{{OutVerdict, "no_data"}, {OutExitCode, "3"}, {OutFailed, "0"}, {OutInconclusive, "0"}, {OutAccepted, "0"}, {OutNotCompared, "0"}, {OutBaselineCommit, ""}, {OutBaselineSessions, "0"}}
	if diff := cmp.Diff(want, Outputs(Report{}, "")); diff != "" {
		t.Error(diff)
	}
	var w bytes.Buffer
	if err := WriteOutputs(&w, Outputs(reportOf(a, b), ""), counter()); err != nil {
		t.Error(err)
	}
}

// The names are the action's: what its description lists is what can be written.
func TestOutputNames(t *testing.T) {
	action, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(action), "\noutputs:\n")
	for _, o := range public() {
		if !regexp.MustCompile(`(?m)^  ` + o.Name + `:`).MatchString(after) {
			t.Errorf("action.yml has no output %s", o.Name)
		}
	}
}
