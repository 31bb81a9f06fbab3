package publish

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perfweir/perfweir/gate/verdict"
)

// Names of the action's outputs.
const (
	OutVerdict          = "verdict"
	OutExitCode         = "exit-code"
	OutFailed           = "failed"
	OutInconclusive     = "inconclusive"
	OutAccepted         = "accepted"
	OutNotCompared      = "not-compared"
	OutBaselineCommit   = "baseline-commit"
	OutBaselineSessions = "baseline-sessions"
	OutResultsPath      = "results-path"
	OutReportPath       = "report-path"
	OutHTMLPath         = "html-path"
	OutJUnitPath        = "junit-path"
	OutUploadPath       = "upload-path"
	OutArtifactName     = "artifact-name"
	OutCommentURL       = "comment-url"
	OutCheckRunURL      = "check-run-url"
)

// Names of outputs between the steps of the action.
const (
	OutContextDigest = "context-digest" // of what the first step prepared
	OutProceed       = "proceed"        // "false": nothing is left to do
	OutFolder        = "out"
	OutReportsPath   = "reports-path"
	OutReportsName   = "reports-artifact-name"
)

// Output is one output of a step.
type Output struct{ Name, Value string }

// kinds are the outputs and what a value of each may be: fixed words, numbers and
// paths, since a workflow may paste an output into a script. An empty value is
// always right.
func kinds() map[string]func(string) bool {
	return map[string]func(string) bool{
		OutVerdict: func(s string) bool { return known(verdict.Outcome(s)) }, OutExitCode: number,
		OutFailed: number, OutInconclusive: number, OutAccepted: number, OutNotCompared: number,
		OutBaselineCommit: hexDigits.MatchString, OutBaselineSessions: number,
		OutResultsPath: pathValue, OutReportPath: pathValue, OutHTMLPath: pathValue, OutJUnitPath: pathValue, OutUploadPath: pathValue,
		OutArtifactName: artifactName, OutCommentURL: address, OutCheckRunURL: address,
		OutContextDigest: digestText.MatchString, OutProceed: func(s string) bool { return s == "true" || s == "false" },
		OutFolder: pathValue, OutReportsPath: pathValue, OutReportsName: artifactName,
	}
}

var digestText = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func number(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && strconv.Itoa(n) == s
}

const longestValue = 4_096

func pathValue(s string) bool {
	return len(s) <= longestValue && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// artifactName is what upload-artifact takes.
func artifactName(s string) bool { return pathValue(s) && !strings.ContainsAny(s, `":<>|*?\/`) }

var addressText = regexp.MustCompile(`^https?://[A-Za-z0-9][A-Za-z0-9._~:/?#&=%+@-]*$`)

func address(s string) bool { return len(s) <= longestValue && addressText.MatchString(s) }

// WriteOutputs writes outputs as the runner reads them from the file that
// GITHUB_OUTPUT names. random returns text that nobody can guess, anew for each
// output: a delimiter that is known lets a value end early and begin another output.
// An output of another name, or with a value that its kind does not allow, is not
// written; the error names each of them, and the others are written.
func WriteOutputs(w io.Writer, outputs []Output, random func() string) error {
	allowed := kinds()
	var b strings.Builder
	var refused []error
	for _, o := range outputs {
		ok := allowed[o.Name]
		switch {
		case ok == nil:
			refused = append(refused, fmt.Errorf("output %q: there is none of this name", o.Name))
			continue
		case o.Value != "" && !ok(o.Value):
			refused = append(refused, fmt.Errorf("output %s: %.80q is no value of it", o.Name, o.Value))
			continue
		}
		delimiter := "perfweir_" + random()
		if !delimiterText.MatchString(delimiter) || strings.Contains(o.Value, delimiter) || strings.Contains(o.Name, delimiter) {
			refused = append(refused, fmt.Errorf("output %s: its delimiter is not random", o.Name))
			continue
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", o.Name, delimiter, o.Value, delimiter)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		refused = append(refused, fmt.Errorf("write the outputs: %w", err))
	}
	return errors.Join(refused...)
}

var delimiterText = regexp.MustCompile(`^perfweir_[A-Za-z0-9-]{16,64}$`)

// Outputs are the outputs that a report has: words and numbers. Paths and addresses
// are the caller's.
func Outputs(r Report, failOn string) []Output {
	n := map[verdict.Outcome]int{}
	sessions, commit := -1, ""
	for _, p := range r.Parts {
		if p.Verdict == nil {
			continue
		}
		for o, k := range p.Verdict.Counts.Findings {
			n[o] += k
		}
		stored := 0
		if b := p.Verdict.Baseline; b != nil {
			stored = len(b.Sessions)
			commit = newestCommit(b, commit)
		}
		if sessions < 0 || stored < sessions {
			sessions = stored
		}
	}
	list := []Output{
		{OutVerdict, string(r.Outcome())},
		{OutExitCode, strconv.Itoa(r.ExitCode(failOn))},
		{OutFailed, strconv.Itoa(n[verdict.Fail])},
		{OutInconclusive, strconv.Itoa(n[verdict.Inconclusive])},
		{OutAccepted, strconv.Itoa(n[verdict.Accepted])},
		{OutNotCompared, strconv.Itoa(n[verdict.NotComparable] + n[verdict.NoBaseline] + n[verdict.New])},
		{OutBaselineCommit, commit},
		{OutBaselineSessions, strconv.Itoa(max(sessions, 0))},
	}
	return list
}

// newestCommit is the commit of a baseline's newest session; of several machines'
// baselines, the first one's.
func newestCommit(b *verdict.Baseline, otherwise string) string {
	if otherwise != "" {
		return otherwise
	}
	var newest *verdict.BaselineSession
	for i := range b.Sessions {
		if s := &b.Sessions[i]; newest == nil || s.StartedAt.After(newest.StartedAt) {
			newest = s
		}
	}
	if newest == nil || !hexDigits.MatchString(newest.Commit) {
		return ""
	}
	return newest.Commit
}
