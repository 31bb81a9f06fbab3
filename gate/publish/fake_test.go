package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

const bot = "github-actions[bot]"

// fake is GitHub in memory. It keeps the rules that GitHub has and its port cannot
// say: lengths, batches, relative paths.
type fake struct {
	t         *testing.T
	mu        sync.Mutex
	login     string
	comments  []Comment
	checks    []CheckRun
	remarks   map[int64][]Annotation // by check run
	statuses  []Status
	nextID    int64
	calls     []string
	faults    map[string][]fault // by method, one a call
	before    map[string]func()  // once, before a method
	maxBody   int                // characters
	forbidden string             // an annotation with this path makes the request refused
}

// fault is what one call answers instead. done: it is carried out all the same.
type fault struct {
	err  error
	done bool
}

var (
	errForbidden = fmt.Errorf("%w: 403 Resource not accessible by integration: grant pull-requests: write", fs.ErrPermission)
	errGone      = fmt.Errorf("410 Gone: %w", fs.ErrNotExist)
	errServer    = errors.New("502 Bad Gateway, after 4 tries")
)

func newFake(t *testing.T) *fake {
	return &fake{t: t, login: bot, remarks: map[int64][]Annotation{}, nextID: 100, maxBody: 65_536,
		faults: map[string][]fault{}, before: map[string]func(){}}
}

// call notes a call and says what it answers; ok: it is carried out.
func (f *fake) call(ctx context.Context, method string) (err error, ok bool) {
	if hook := f.before[method]; hook != nil {
		delete(f.before, method)
		hook()
	}
	f.calls = append(f.calls, method)
	if ctx.Err() != nil {
		return ctx.Err(), false
	}
	if q := f.faults[method]; len(q) > 0 {
		f.faults[method] = q[1:]
		return q[0].err, q[0].done || q[0].err == nil
	}
	return nil, true
}

func (f *fake) count(method string) int {
	n := 0
	for _, c := range f.calls {
		if c == method {
			n++
		}
	}
	return n
}

func (f *fake) Login(ctx context.Context) (string, error) {
	err, _ := f.call(ctx, "Login")
	return f.login, err
}

func (f *fake) Comments(ctx context.Context, _ int) iter.Seq2[Comment, error] {
	return func(yield func(Comment, error) bool) {
		f.mu.Lock()
		err, ok := f.call(ctx, "Comments")
		list := slices.Clone(f.comments)
		f.mu.Unlock()
		if !ok {
			yield(Comment{}, err)
			return
		}
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (f *fake) post(author, body string) Comment {
	f.nextID++
	c := Comment{ID: f.nextID, Author: author, Body: body, URL: fmt.Sprintf("https://github.com/acme/widgets/pull/7#issuecomment-%d", f.nextID)}
	f.comments = append(f.comments, c)
	return c
}

func (f *fake) CreateComment(ctx context.Context, _ int, body string) (Comment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ok := f.call(ctx, "CreateComment")
	if !ok {
		return Comment{}, err
	}
	if utf8.RuneCountInString(body) > f.maxBody {
		return Comment{}, ErrTooLong
	}
	return f.post(f.login, body), err
}

func (f *fake) UpdateComment(ctx context.Context, id int64, body string) (Comment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ok := f.call(ctx, "UpdateComment")
	if !ok {
		return Comment{}, err
	}
	i := slices.IndexFunc(f.comments, func(c Comment) bool { return c.ID == id })
	switch {
	case i < 0:
		return Comment{}, fs.ErrNotExist
	case f.comments[i].Author != f.login:
		f.t.Errorf("a comment of %s was written", f.comments[i].Author)
	case utf8.RuneCountInString(body) > f.maxBody:
		return Comment{}, ErrTooLong
	}
	f.comments[i].Body = body
	return f.comments[i], err
}

func (f *fake) DeleteComment(ctx context.Context, id int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ok := f.call(ctx, "DeleteComment")
	if !ok {
		return err
	}
	i := slices.IndexFunc(f.comments, func(c Comment) bool { return c.ID == id })
	if i < 0 {
		return fs.ErrNotExist
	}
	if f.comments[i].Author != f.login {
		f.t.Errorf("a comment of %s was deleted", f.comments[i].Author)
	}
	f.comments = slices.Delete(f.comments, i, i+1)
	return err
}

func (f *fake) CheckRuns(ctx context.Context, sha, name string) iter.Seq2[CheckRun, error] {
	return func(yield func(CheckRun, error) bool) {
		if err, ok := f.call(ctx, "CheckRuns"); !ok {
			yield(CheckRun{}, err)
			return
		}
		for _, c := range slices.Backward(f.checks) {
			if c.HeadSHA == sha && c.Name == name && !yield(f.read(c), nil) {
				return
			}
		}
	}
}

func (f *fake) read(c CheckRun) CheckRun {
	c.Annotations = len(f.remarks[c.ID])
	c.URL = fmt.Sprintf("https://github.com/acme/widgets/runs/%d", c.ID)
	return c
}

// refuses checks what GitHub checks of a check run.
func (f *fake) refuses(c CheckRun, list []Annotation) error {
	switch {
	case len(list) > 50:
		f.t.Errorf("%d annotations in one request", len(list))
	case len(c.Summary) > MaxSummary || len(c.Text) > MaxSummary:
		return ErrTooLong
	case c.Title == "" || c.Summary == "":
		f.t.Error("a check run without title or summary")
	case c.Status == statusCompleted && c.Conclusion == "":
		f.t.Error("completed without a conclusion")
	}
	for _, a := range list {
		switch {
		case f.forbidden != "" && a.Path == f.forbidden:
			return errors.New("422 Unprocessable: annotations")
		case len(a.Message) > 65_536 || len(a.Title) > 255 || !utf8.ValidString(a.Message) || !utf8.ValidString(a.Title):
			f.t.Errorf("an annotation of %d and %d bytes", len(a.Title), len(a.Message))
		case a.Path == "" || strings.HasPrefix(a.Path, "/") || a.StartLine < 1 || a.EndLine < a.StartLine || a.Message == "":
			f.t.Errorf("annotation %+v", a)
		}
	}
	return nil
}

func (f *fake) CreateCheckRun(ctx context.Context, c CheckRun, list []Annotation) (CheckRun, error) {
	err, ok := f.call(ctx, "CreateCheckRun")
	if !ok {
		return CheckRun{}, err
	}
	if err := f.refuses(c, list); err != nil {
		return CheckRun{}, err
	}
	f.nextID++
	c.ID = f.nextID
	f.checks = append(f.checks, c)
	f.remarks[c.ID] = slices.Clone(list)
	return f.read(c), err
}

func (f *fake) UpdateCheckRun(ctx context.Context, c CheckRun, list []Annotation) (CheckRun, error) {
	err, ok := f.call(ctx, "UpdateCheckRun")
	if !ok {
		return CheckRun{}, err
	}
	i := slices.IndexFunc(f.checks, func(x CheckRun) bool { return x.ID == c.ID })
	if i < 0 {
		return CheckRun{}, fs.ErrNotExist
	}
	if err := f.refuses(c, list); err != nil {
		return CheckRun{}, err
	}
	f.checks[i] = c
	f.remarks[c.ID] = append(f.remarks[c.ID], list...)
	return f.read(c), err
}

func (f *fake) CheckRun(ctx context.Context, id int64) (CheckRun, error) {
	if err, ok := f.call(ctx, "CheckRun"); !ok {
		return CheckRun{}, err
	}
	i := slices.IndexFunc(f.checks, func(x CheckRun) bool { return x.ID == id })
	if i < 0 {
		return CheckRun{}, fs.ErrNotExist
	}
	return f.read(f.checks[i]), nil
}

func (f *fake) CreateStatus(ctx context.Context, sha string, s Status) (string, error) {
	if err, ok := f.call(ctx, "CreateStatus"); !ok {
		return "", err
	}
	if utf8.RuneCountInString(s.Description) > 140 || !utf8.ValidString(s.Description) || sha == "" || s.Context == "" {
		f.t.Errorf("status %+v", s)
	}
	f.statuses = append(f.statuses, s)
	return "https://github.com/acme/widgets/commit/" + sha, nil
}
