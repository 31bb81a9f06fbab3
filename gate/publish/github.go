package publish

import (
	"context"
	"errors"
	"iter"
	"time"
)

// GitHub is what this room asks of GitHub. An error that is (errors.Is)
// fs.ErrNotExist says that the thing is not there (404) or no more (410); one
// that is fs.ErrPermission that the token may not do it (401, 403: its text names
// the missing permission); ErrLocked and ErrTooLong as they say. Any other means
// that GitHub could not be asked, after what retries are worth.
type GitHub interface {
	// Login is the account under which this token writes: "github-actions[bot]".
	Login(ctx context.Context) (string, error)

	// Comments lists the comments of an issue or pull request, oldest first, all pages.
	Comments(ctx context.Context, issue int) iter.Seq2[Comment, error]
	CreateComment(ctx context.Context, issue int, body string) (Comment, error)
	UpdateComment(ctx context.Context, id int64, body string) (Comment, error)
	DeleteComment(ctx context.Context, id int64) error

	// CheckRuns lists the check runs of a name on a commit, newest first.
	CheckRuns(ctx context.Context, sha, name string) iter.Seq2[CheckRun, error]
	CreateCheckRun(ctx context.Context, c CheckRun, annotations []Annotation) (CheckRun, error)
	// UpdateCheckRun writes the fields of c and appends annotations to those that
	// are there. It does not send the request twice unless the first one was surely
	// not carried out: GitHub would append the annotations again.
	UpdateCheckRun(ctx context.Context, c CheckRun, annotations []Annotation) (CheckRun, error)
	// CheckRun reads one, with the number of annotations that GitHub has.
	CheckRun(ctx context.Context, id int64) (CheckRun, error)

	CreateStatus(ctx context.Context, sha string, s Status) (url string, err error)
}

// Errors beside those of package fs.
var (
	// ErrLocked says that the conversation is locked.
	ErrLocked = errors.New("the conversation is locked")
	// ErrTooLong says that GitHub refused a body for its length.
	ErrTooLong = errors.New("the text is too long for GitHub")
	// ErrUnsure says that a request was sent and no answer came: it may have been
	// carried out.
	ErrUnsure = errors.New("no answer: it may have been carried out")
)

// Comment is a comment on a pull request.
type Comment struct {
	ID     int64
	Body   string
	Author string // login
	URL    string // for people
}

// CheckRun is a check run as we write and read it.
type CheckRun struct {
	ID          int64
	Name        string
	HeadSHA     string
	ExternalID  string // ours: which workflow run and attempt it belongs to
	Status      string // "in_progress", "completed"
	Conclusion  string // "success", "failure", "neutral", "cancelled", ...; of completed ones
	DetailsURL  string
	StartedAt   time.Time
	Title       string // of the output
	Summary     string // Markdown, at most MaxSummary bytes
	Text        string // Markdown, at most MaxSummary bytes
	Annotations int    // how many GitHub has; read only
	URL         string // for people; read only
}

// Annotation is a remark at a line of a file.
type Annotation struct {
	Path      string // relative to the repository's root
	StartLine int    // from 1
	EndLine   int
	Level     string // "notice", "warning", "failure"
	Title     string
	Message   string
}

// Status is a commit status: what servers without check runs have.
type Status struct {
	Context     string
	State       string // "pending", "success", "failure", "error"
	Description string
	TargetURL   string
}
