// Package publish tells a verdict to people on GitHub: one comment on the pull
// request, a check run or a commit status, annotations, the job summary, the
// outputs of a step. It decides what is posted, updated and left alone.
//
// The room refuses to decide anything about the verdict: whatever goes wrong here
// ends in a Result, never in an error (DESIGN rule 16). It knows no HTTP (the port
// GitHub is implemented elsewhere), no files and no clock. What it writes passed
// package report, which escapes what came from the code under test; what it reads
// back from GitHub (bodies of comments) is taken for forged unless it is exactly
// what this room writes.
package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/perfweir/perfweir/gate/report"
)

// Run is a workflow run.
type Run struct {
	ID      int64 `json:"id"`
	Number  int   `json:"number"`  // of its workflow, from 1
	Attempt int   `json:"attempt"` // from 1; a re-run keeps ID and Number
}

// Target is what a verdict is told to.
type Target struct {
	Repository string `json:"repository"` // "owner/name"
	SHA        string `json:"sha"`        // commit that check run and status belong to: the pull request's head
	Tree       string `json:"tree,omitempty"`
	Pull       int    `json:"pull,omitempty"` // 0: no pull request, so no comment
	Run        Run    `json:"run"`
	RunURL     string `json:"run_url"`
	Fork       bool   `json:"fork,omitempty"` // the token may only read: nothing is written
}

// Part is the verdict over what one machine measured.
type Part = report.Part

// Report is what there is to tell: usually the verdict of one machine.
type Report struct {
	Parts   []Part
	Missing []string // machines that were expected and never reported
	Broken  string   // why there is no verdict, where there is none
}

// When a comment is written.
const (
	CommentAlways    = "always"
	CommentOnChange  = "on-change"  // when the outcome or the rows that are broken changed
	CommentOnFailure = "on-failure" // a new one for a red verdict alone; one that is there is updated
	CommentNever     = "never"
)

// What a verdict is attached to the commit as.
const (
	CheckRunKind = "run"
	CheckStatus  = "status" // for servers and tokens without check runs
	CheckNone    = "none"
)

// When the exit code is not 0.
const (
	FailOnFail         = "fail"         // as the verdict says
	FailOnInconclusive = "inconclusive" // that, and a suspect that was not settled
	FailOnNever        = "never"        // the verdict is told and stops nothing
)

// Options are how a verdict is told. Empty fields mean the first of their values.
type Options struct {
	Suite   string `json:"suite"`
	Group   string `json:"group,omitempty"`   // suites of one group share a comment; empty: the suite has its own
	Comment string `json:"comment,omitempty"` // CommentAlways, ...
	Check   string `json:"check,omitempty"`   // CheckRunKind, ...
	FailOn  string `json:"fail_on,omitempty"` // FailOnFail, ...
	// Annotations makes remarks at lines of files: with the check run, or as
	// workflow commands where there is none (Result.Untold).
	Annotations bool `json:"annotations,omitempty"`
	// CheckRun is what Start returned; 0 where that is not known.
	CheckRun int64 `json:"check_run,omitempty"`
	// SuitePath is the suite file from the repository's root: where a remark goes
	// that has no line of its own.
	SuitePath string `json:"suite_path,omitempty"`
	// Full names where the whole report is; it is said where something is left out.
	Full string `json:"full,omitempty"`
	// Now is written as the begin of a check run; zero: GitHub's own time.
	Now time.Time `json:"now,omitzero"`
}

// State is what became of a channel.
type State string

// States of a channel.
const (
	Posted    State = "posted"
	Updated   State = "updated"
	Unchanged State = "unchanged" // what is there already says it
	Skipped   State = "skipped"   // on purpose
	Failed    State = "failed"
)

// Names of channels.
const (
	ChannelComment     = "comment"
	ChannelCheck       = "check"
	ChannelAnnotations = "annotations"
	ChannelStatus      = "status"
)

// Channel is what became of one way of telling.
type Channel struct {
	Name  string
	State State
	URL   string // of what was written, for people; "" where there is none
	ID    int64  // of what was written
	Why   string // one line; names the permission that is missing
}

// String is a channel as one line: "comment: failed: ...".
func (c Channel) String() string {
	s := c.Name + ": " + string(c.State)
	if c.Why != "" {
		s += ": " + c.Why
	}
	return s
}

// Result is what became of every channel.
type Result struct {
	Channels []Channel
	// Resolved says that the comment told of something red before, and does not now.
	Resolved bool
	// Untold are the annotations that no check run carries: for WriteCommands.
	Untold []Annotation
}

// Channel returns the channel of a name; the zero value where there is none.
func (r *Result) Channel(name string) Channel {
	for _, c := range r.Channels {
		if c.Name == name {
			return c
		}
	}
	return Channel{}
}

// Failures are the channels that failed, a line each.
func (r *Result) Failures() []string {
	var lines []string
	for _, c := range r.Channels {
		if c.State == Failed {
			lines = append(lines, c.String())
		}
	}
	return lines
}

// Publish tells a report. The check goes first, since merging may wait for it. A
// channel that fails leaves the others alone; gh may be nil (no token), and then
// nothing is written. Publishing the same report of the same attempt again is
// harmless, and heals what another job overwrote, where Options.CheckRun is 0.
func Publish(ctx context.Context, gh GitHub, t Target, r Report, o Options) Result {
	p := &publication{gh: gh, t: t, r: r.sorted(), o: o}
	if why := p.readOnly(); why != "" {
		p.untold()
		return Result{Channels: p.skipAll(why), Untold: p.left}
	}
	p.check(ctx)
	p.comment(ctx)
	return Result{Channels: p.channels, Resolved: p.resolved, Untold: p.left}
}

// publication is one report on its way out.
type publication struct {
	gh       GitHub
	t        Target
	r        Report
	o        Options
	channels []Channel
	resolved bool
	left     []Annotation
}

func (p *publication) add(c Channel) { p.channels = append(p.channels, c) }

// readOnly says why nothing can be written.
func (p *publication) readOnly() string {
	switch {
	case p.t.Fork:
		return "a fork's pull request: its token may only read, so the report is in the job summary"
	case p.gh == nil:
		return "no token was given, so the report is in the job summary"
	}
	return ""
}

func (p *publication) skipAll(why string) []Channel {
	return []Channel{{Name: ChannelCheck, State: Skipped, Why: why}, {Name: ChannelComment, State: Skipped, Why: why}}
}

// untold leaves the annotations to workflow commands.
func (p *publication) untold() {
	if p.o.Annotations {
		p.left, _ = annotations(p.r, p.o)
	}
}

// sorted returns the report with its worst part first, and without parts that
// have no verdict.
func (r Report) sorted() Report {
	r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p Part) bool {
		if p.Verdict == nil {
			r.Missing = append(slices.Clip(r.Missing), p.Name())
		}
		return p.Verdict == nil
	})
	slices.SortStableFunc(r.Parts, func(a, b Part) int {
		return cmp.Or(
			cmp.Compare(min(a.Verdict.ExitCode, 1), min(b.Verdict.ExitCode, 1))*-1, // what stops the job first
			a.Verdict.Outcome.Compare(b.Verdict.Outcome),
			cmp.Compare(a.Name(), b.Name()))
	})
	if r.Broken == "" && len(r.Parts) == 0 && len(r.Missing) == 0 {
		r.Broken = "nothing was judged"
	}
	if len(r.Parts) > 0 {
		r.Broken = ""
	}
	return r
}

// told is the report as package report tells it.
func (p *publication) told() report.Told {
	run := ""
	if p.t.Run.Number > 0 {
		run = fmt.Sprintf("workflow run %d", p.t.Run.Number)
		if p.t.Run.Attempt > 1 {
			run += fmt.Sprintf(", attempt %d", p.t.Run.Attempt)
		}
	}
	outcome, judged := p.r.worst()
	t := report.Told{
		Suite: p.o.Suite, Outcome: outcome, ExitCode: p.r.ExitCode(p.o.FailOn),
		Parts: p.r.Parts, Missing: p.r.Missing, Broken: p.r.Broken,
		Commit: p.t.SHA, Run: run, RunURL: p.t.RunURL,
	}
	if t.ExitCode != judged {
		t.Notes = append(t.Notes, fmt.Sprintf("the workflow says fail-on: %s, so the exit code is %d", p.o.FailOn, t.ExitCode))
	}
	return t
}

// Longest reason that is shown, in bytes.
const longestWhy = 300

// why tells an error in one line.
func why(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "the workflow run was cancelled before GitHub answered"
	case errors.Is(err, context.DeadlineExceeded):
		return "there was no time left for GitHub to answer"
	case errors.Is(err, ErrLocked):
		return "the conversation is locked, so the report is in the job summary"
	}
	return report.Plain(err.Error(), longestWhy)
}

// over reports whether asking again is of no use: the token may not, or there is
// no time left.
func over(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrLocked)
}
