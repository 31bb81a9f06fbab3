// Package baseline chooses which stored sessions a result is compared with. It
// is pure: candidates come in as values (read by localdir or artifact), a
// Baseline goes out, with every candidate that was not taken and why.
package baseline

import (
	"time"

	"github.com/perfweir/perfweir/collect/result"
)

// Policy is what a suite file says about its baseline.
type Policy struct {
	From        string  // FromFolder, FromGitHub; empty: GitHub inside a workflow, else the folder
	Dir         string  // folder; empty: the desk's default
	Workflow    string  // file name of the workflow whose runs left the sessions; empty: the one that runs
	Branch      string  // of those runs; empty: the branch that the change goes into
	Machine     string  // SameKind (the default), SameMachine
	Sessions    int     // at most so many, newest first; of a sharded suite, of each shard
	MinSessions int     // from how many on the spread between sessions is used
	MaxAge      float64 // s before the current session's start; 0: any age
	Anchor      string  // tag or commit whose sessions are kept aside; "": none
}

// Where stored sessions come from.
const (
	FromFolder = "folder"
	FromGitHub = "github"
)

// Which machines' sessions are taken.
const (
	SameKind    = "same_kind" // the strict facts of both are equal
	SameMachine = "same"      // and so is the machine's name
)

// States of a baseline. None and Failed are different outcomes: "there is none"
// and "could not ask" must never look alike.
const (
	OK     = "ok"
	None   = "none"
	Failed = "could_not_ask"
)

// Baseline is what was chosen.
type Baseline struct {
	State    string
	Reason   string // of None and Failed
	Origin   string // in words: "folder .perfweir/baseline/codec"
	Sessions []Stored
	Anchor   *Anchored // nil: none was asked for
	Rejected []Rejected
	Warnings []string // what a reader of the verdict should know, such as that it gets old
	// Newest is when the newest session started that fits, were it not too old;
	// zero where there is none. See Check.
	Newest time.Time
}

// Stored is one session of a stored document.
type Stored struct {
	File  string           // as it is shown
	Doc   *result.Document // shared by the sessions of one file
	Index int              // into Doc.Sessions
}

// Session returns the stored session.
func (s Stored) Session() *result.Session { return &s.Doc.Sessions[s.Index] }

// Rejected is a candidate that was not taken.
type Rejected struct{ Candidate, Why string }

// Candidate is a document that a source found, or Err: why it could not be read,
// or why the source knows that it must not be taken.
type Candidate struct {
	File string
	Doc  *result.Document
	Err  error
	// Refresh is what should have left a usable session here ("workflow run 4711");
	// "" where nothing was to be expected. Those that left none are counted.
	Refresh string
}
