package ghapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/perfweir/perfweir/gate/publish"
)

// Errors beside those of packages fs and publish.
var (
	// ErrRateLimit says that GitHub's rate limits kept us from asking, for longer
	// than may be waited.
	ErrRateLimit = errors.New("GitHub's rate limit is used up")
	// ErrNotAll says that a list has more pages than we read: what was not found in
	// it may still be there.
	ErrNotAll = errors.New("the list was not read to its end")
)

// Error is a call that did not work. Decide by errors.Is: fs.ErrNotExist,
// fs.ErrPermission, publish.ErrLocked, publish.ErrTooLong, publish.ErrUnsure,
// ErrRateLimit. Its text is one line without a token and without control
// characters, whatever GitHub or a proxy answered.
type Error struct {
	Call       string    // what was asked: "create a comment on #3"
	Status     int       // of the last answer; 0: none came
	Message    string    // GitHub's, or the text of Err, made one short line
	Permission string    // that the call needs: "pull-requests: write"
	Limit      string    // "rate limit", "secondary rate limit": refused for it; else ""
	RetryAt    time.Time // with Limit: when it may be asked again
	Unsure     bool      // it may have been carried out
	Sends      int       // how often it was sent
	Store      string    // address without query of the blob store, when that is who answered; else ""
	Err        error     // why no answer came or could be used; else nil

	locked, tooLong bool
}

func (e *Error) Unwrap() error { return e.Err }

// Is maps the facts to the errors that the ports promise.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.Status == http.StatusNotFound || e.Status == http.StatusGone
	case fs.ErrPermission: // what the blob store refuses is no matter of the token's permissions
		return e.denied() && e.Limit == "" && !e.locked && e.Store == ""
	case publish.ErrLocked:
		return e.locked
	case publish.ErrTooLong:
		return e.tooLong
	case publish.ErrUnsure:
		return e.Unsure
	case ErrRateLimit:
		return e.Limit != ""
	}
	return false
}

func (e *Error) denied() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Call + ": ")
	who := "GitHub"
	if e.Store != "" {
		who = "the blob store (" + e.Store + ")"
	}
	switch {
	case e.Limit != "":
		fmt.Fprintf(&b, "GitHub's %s is used up until %s: run again after that, or with a token of its own", e.Limit, e.RetryAt.UTC().Format("2006-01-02 15:04:05 UTC"))
	case e.Status == 0:
		fmt.Fprintf(&b, "no answer of %s: %s", who, e.Message)
	default:
		fmt.Fprintf(&b, "%s answered %d: %s", who, e.Status, e.Message)
	}
	if e.Sends > 1 {
		fmt.Fprintf(&b, " (asked %d times)", e.Sends)
	}
	if hint := e.hint(); hint != "" {
		b.WriteString("; " + hint)
	}
	return b.String()
}

// hint is what to do.
func (e *Error) hint() string {
	switch {
	case e.Unsure:
		return "it may have been carried out"
	case e.Limit != "" || e.Store != "":
		return ""
	case e.Status == http.StatusUnauthorized:
		return "the token is not valid (any more): a job's token ends with the job"
	case e.locked || e.Status != http.StatusForbidden || e.Permission == "":
		return ""
	case strings.Contains(e.Message, "not accessible by integration"):
		return fmt.Sprintf("give the job `%s` (a fork's pull request cannot get it)", e.Permission)
	}
	return fmt.Sprintf("the token needs `%s`", e.Permission)
}

// problem is the body of an answer that is no success. GitHub documents parts of
// it only: elements of errors are objects or strings.
type problem struct {
	Message       string            `json:"message"`
	Errors        []json.RawMessage `json:"errors"`
	Documentation string            `json:"documentation_url"`
}

// readProblem reads such a body. A page of a proxy or of GitHub's own outage is no
// JSON and gives nothing.
func readProblem(body []byte) problem {
	var p problem
	if json.Unmarshal(body, &p) != nil {
		return problem{}
	}
	return p
}

// details are the texts of the single errors.
func (p problem) details() []string {
	var out []string
	for _, raw := range p.Errors {
		var text string
		var e struct{ Resource, Field, Code, Message string }
		switch {
		case json.Unmarshal(raw, &text) == nil:
		case json.Unmarshal(raw, &e) != nil:
			continue
		case e.Message != "":
			text = e.Message
		default:
			text = strings.TrimSpace(strings.Join([]string{e.Resource, e.Field, e.Code}, " "))
		}
		if out = append(out, text); len(out) == 3 {
			break
		}
	}
	return out
}

// text is all of it, as it came.
func (p problem) text(status int) string {
	t := p.Message
	if d := p.details(); len(d) > 0 {
		t += " (" + strings.Join(d, "; ") + ")"
	}
	if strings.TrimSpace(t) != "" {
		return t
	}
	if s := http.StatusText(status); s != "" {
		return s
	}
	return "an answer without a message"
}

// locked: GitHub answers 403 "Unable to create comment because issue is locked."
func (p problem) locked(status int) bool {
	return status == http.StatusForbidden &&
		(strings.Contains(p.Documentation, "locking-conversations") || strings.Contains(strings.ToLower(p.Message), "is locked"))
}

// tooLong knows the shapes of 422 for a body's length: "Body is too long (maximum
// is 65536 characters)" in errors, under field data or body, and "Only 65535
// characters are allowed; 75000 were supplied." in the message.
func (p problem) tooLong(status int) bool {
	if status != http.StatusUnprocessableEntity {
		return false
	}
	text := strings.ToLower(p.Message + " " + strings.Join(p.details(), " "))
	return strings.Contains(text, "is too long") || strings.Contains(text, "characters are allowed")
}
