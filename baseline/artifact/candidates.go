// Package artifact finds baseline sessions in the artifacts that earlier workflow
// runs left, and the results of the run that a later job judges. It owns the rules
// of what is trusted; GitHub itself is a port (see GitHub) that others implement.
// It writes no file, knows no clock and no HTTP, and takes everything that is in
// an artifact for hostile. What is found goes to package baseline, which chooses.
package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/perfweir/perfweir/baseline"
)

// Query is what sessions are looked for.
type Query struct {
	RepositoryID int64
	Repository   string // "owner/name"; may be empty
	Workflow     string // file name of the workflow that leaves sessions: "nightly.yml"
	Branch       string // that it ran on
	HeadSHA      string // of that commit only; "": of all
	// Want is what the current session needs; Want.Suite names the artifacts, and
	// ages and expiry count from Want.StartedAt.
	Want            baseline.Want
	Machine         string // name of this machine; "": none goes before the others
	SameMachineOnly bool   // sessions of other machines are not even read
	Shard           string // of the current session, "2/3"; "": every shard is wanted
	// All takes what every machine left of every shard: for whoever looks back and
	// compares nothing with it. Sessions then bounds all of them together.
	All bool
	// Comparison is the commit that the change is compared with: sessions of it and
	// of those before it are taken. "": of any commit.
	Comparison string
	ThisRun    int64   // workflow run that asks: never its own baseline
	Sessions   int     // wanted; 0: 10
	MaxAge     float64 // s before Want.StartedAt; 0: any age
	Limits     Limits
}

const defaultSessions = 10

// Found is what was looked at.
type Found struct {
	// Candidates are what may be compared with, newest workflow run first, and what
	// may not, with why.
	Candidates []baseline.Candidate
	Warnings   []string // what was not looked at
	Origin     string   // in words: "workflow nightly.yml on main"
	Fit        int      // candidates' sessions that baseline.Select takes
}

// Candidates walks through the runs of a workflow, newest first, until as many
// sessions are found as are wanted, those being counted that baseline.Select will
// take. It asks for as little as it can: one list of runs, one list of commits,
// then for each run one list of artifacts and one archive.
//
// The error means that GitHub could not be asked, never that there is none: it is
// nil where sessions were found and only more could not be asked for, which is a
// warning. Found is there in any case, with what was seen until then.
func Candidates(ctx context.Context, gh GitHub, q Query) (*Found, error) {
	if q.Sessions <= 0 {
		q.Sessions = defaultSessions
	}
	if q.All {
		q.Machine, q.Shard, q.Want.AnyMachine = "", "", true
	}
	q.Want.Machine = cmp.Or(q.Want.Machine, q.Machine)
	q.SameMachineOnly = q.SameMachineOnly && !q.Want.AnyMachine
	found := &Found{Origin: fmt.Sprintf("workflow %s on %s", q.Workflow, q.Branch)}
	if q.Comparison == "" {
		found.Origin += ", of any commit"
	}
	if err := q.check(); err != nil {
		return found, err
	}
	w := &walk{gh: gh, q: &q, lim: q.Limits.filled(q.Sessions), found: found,
		before: ancestors{commit: q.Comparison}, kinds: map[string]kind{}}
	w.run(ctx)
	return found, w.finish(ctx)
}

// check refuses what would look at the wrong runs, or at all of them.
func (q *Query) check() error {
	missing := ""
	switch {
	case q.RepositoryID == 0:
		missing = "the repository's id"
	case q.Workflow == "":
		missing = "the workflow: set baseline.workflow"
	case q.Branch == "":
		missing = "the branch: set baseline.branch"
	case q.Want.Suite == "":
		missing = "the suite"
	case q.SameMachineOnly && q.Machine == "":
		missing = "the name of this machine, which baseline.machine asks for"
	case strings.Contains(q.Workflow, "/") || strings.Trim(q.Workflow, "0123456789") == "":
		return fmt.Errorf("look for earlier sessions: workflow %q is no file name: want one such as nightly.yml", q.Workflow)
	default:
		return nil
	}
	return fmt.Errorf("look for earlier sessions: missing %s", missing)
}

// walk is the way through the workflow runs.
type walk struct {
	gh    GitHub
	q     *Query
	lim   Limits
	found *Found

	before    ancestors
	kinds     map[string]kind // by machine as names have it
	strangers int             // sessions of this machine that are of another kind
	expired   int             // workflow runs in a row all of whose results have expired
	listings  int
	downloads int
	bytes     int64 // of the documents that are kept
	unlisted  int   // workflow runs beyond maxListed
	bound     string
	cut       bool  // the list of runs was not read to its end
	unasked   int   // times that GitHub could not be asked
	inARow    int   // of them, those since an archive was read
	err       error // the first of them
	done      bool
}

// maxListed bounds how many workflow runs are told of that were not even read: a
// fork's branch of the right name may have hundreds.
const maxListed = 100

// run visits runs until there is enough. It asks for no page that it does not need:
// it leaves before the next run is fetched.
func (w *walk) run(ctx context.Context) {
	seen := 0
	for run, err := range w.gh.WorkflowRuns(ctx, RunsQuery{Workflow: w.q.Workflow, Branch: w.q.Branch, HeadSHA: w.q.HeadSHA}) {
		if err != nil {
			w.couldNotAsk(listError(w.q, err))
			return
		}
		w.visit(ctx, &run)
		if w.done || ctx.Err() != nil {
			return
		}
		if seen++; seen == w.lim.Runs {
			w.cut, w.bound = true, fmt.Sprintf("the newest %d workflow runs were looked at", seen)
			return
		}
	}
}

func listError(q *Query, err error) error {
	hint := ""
	if errors.Is(err, fs.ErrNotExist) {
		hint = "; is the file on the default branch, and named right in baseline.workflow?"
	}
	return fmt.Errorf("list the runs of workflow %s: %w%s", q.Workflow, err, hint)
}

// couldNotAsk remembers a failure. One that will go on (no permission, or several
// in a row) ends the walk: every one was tried again already.
func (w *walk) couldNotAsk(err error) {
	const enough = 3
	if w.err == nil {
		w.err = err
	}
	w.unasked++
	w.inARow++
	if w.inARow >= enough || errors.Is(err, fs.ErrPermission) {
		w.done = true
	}
}

// reject lists a workflow run that has no session for us. refresh is set where it
// should have had one.
func (w *walk) reject(run *WorkflowRun, why string, refresh bool) {
	if len(w.found.Candidates) >= maxListed {
		w.unlisted++
		return
	}
	c := baseline.Candidate{File: runLabel(run), Err: errors.New(why)}
	if refresh {
		c.Refresh = c.File
	}
	w.found.Candidates = append(w.found.Candidates, c)
}

func runLabel(run *WorkflowRun) string { return fmt.Sprintf("workflow run %d", run.ID) }

// finish says what was left out, and decides whether that leaves the question open.
func (w *walk) finish(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("look for earlier sessions: %w", err)
	}
	f := w.found
	switch {
	case f.Fit == 0 && w.err != nil:
		return w.err
	case f.Fit == 0 && w.cut:
		return fmt.Errorf("%s of %s and none of them has a session that fits; older ones were not asked for", w.bound, f.Origin)
	case w.err != nil:
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d of %d sessions are used: not all could be asked for: %v", f.Fit, w.q.Sessions, w.err))
	case w.bound != "" && f.Fit < w.q.Sessions:
		f.Warnings = append(f.Warnings, w.bound+"; older ones were not")
	}
	if w.unlisted > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d more workflow runs were not taken; the first %d are listed", w.unlisted, maxListed))
	}
	return nil
}
