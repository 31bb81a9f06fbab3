// Package baseline chooses which stored sessions a result is compared with. It
// is pure: candidates come in as values (read by localdir or artifact), a
// Baseline goes out, with every candidate that was not taken and why.
package baseline

import (
	"github.com/perfweir/perfweir/collect/result"
)

// Policy is what a suite file says about its baseline.
type Policy struct {
	From        string  // "folder" (a desk's .perfweir), later "github"
	Dir         string  // folder; empty: the desk's default
	Sessions    int     // at most so many, newest first
	MinSessions int     // from how many on the spread between sessions is used
	MaxAge      float64 // s before the current session's start; 0: any age
}

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
	Rejected []Rejected
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

// Candidate is a document that a source found. Err is why it could not be read.
type Candidate struct {
	File string
	Doc  *result.Document
	Err  error
}
