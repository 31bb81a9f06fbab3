package ghapi

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/publish"
)

// TestErrors: what GitHub answers, what we say, what the ports understand.
func TestErrors(t *testing.T) {
	sentinels := map[string]error{"not there": fs.ErrNotExist, "no permission": fs.ErrPermission, "locked": publish.ErrLocked,
		"too long": publish.ErrTooLong, "unsure": publish.ErrUnsure, "limit": ErrRateLimit}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		is     string // key of sentinels; "" none
	}{
		{"401", says(401, `{"message":"Bad credentials"}`),
			"create a comment on #3: GitHub answered 401: Bad credentials; the token is not valid (any more): a job's token ends with the job", "no permission"},
		{"403 integration", says(403, `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest/issues/comments"}`),
			"create a comment on #3: GitHub answered 403: Resource not accessible by integration; give the job `pull-requests: write` (a fork's pull request cannot get it)", "no permission"},
		{"403 of a personal token", says(403, `{"message":"Resource not accessible by personal access token"}`),
			"create a comment on #3: GitHub answered 403: Resource not accessible by personal access token; the token needs `pull-requests: write`", "no permission"},
		{"locked", says(403, `{"message":"Unable to create comment because issue is locked.","documentation_url":"https://docs.github.com/articles/locking-conversations/"}`),
			"create a comment on #3: GitHub answered 403: Unable to create comment because issue is locked.", "locked"},
		{"404", says(404, `{"message":"Not Found"}`), "create a comment on #3: GitHub answered 404: Not Found", "not there"},
		{"410", says(410, `{"message":"This issue was deleted"}`), "create a comment on #3: GitHub answered 410: This issue was deleted", "not there"},
		{"too long", says(422, `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"unprocessable","field":"data","message":"Body is too long (maximum is 65536 characters)"}]}`),
			"create a comment on #3: GitHub answered 422: Validation Failed (Body is too long (maximum is 65536 characters))", "too long"},
		{"too long, older", says(422, `{"message":"Validation Failed","errors":[{"resource":"IssueComment","code":"custom","field":"body","message":"body is too long (maximum is 65536 characters)"}]}`),
			"create a comment on #3: GitHub answered 422: Validation Failed (body is too long (maximum is 65536 characters))", "too long"},
		{"too long, check", says(422, `{"message":"Invalid request.\n\nOnly 65535 characters are allowed; 75000 were supplied."}`),
			"create a comment on #3: GitHub answered 422: Invalid request. Only 65535 characters are allowed; 75000 were supplied.", "too long"},
		{"422 of another kind", says(422, `{"message":"Validation Failed","errors":[{"resource":"CheckRun","code":"missing_field","field":"name"},"a text",7]}`),
			"create a comment on #3: GitHub answered 422: Validation Failed (CheckRun name missing_field; a text)", ""},
		{"202", says(202, `{}`), "create a comment on #3: GitHub answered 202: Accepted", ""},
		{"a page", says(400, "<html>\n<h1>Bad</h1>"), "create a comment on #3: GitHub answered 400: Bad Request", ""},
		{"hostile", says(400, "{\"message\":\"\\u001b[31mred\\n::error::x\\u202e\\u0000\"}"), "create a comment on #3: GitHub answered 400: [31mred ::error::x", ""},
		{"no code of HTTP", says(499, "{}"), "create a comment on #3: GitHub answered 499: an answer without a message", ""},
		{"OTP", says(401, "X-GitHub-OTP: required; app", `{"message":"Must specify two-factor authentication OTP code."}`),
			"create a comment on #3: GitHub answered 401: Must specify two-factor authentication OTP code.; the token is not valid (any more): a job's token ends with the job", "no permission"},
	} {
		s := newStand(t, tt.answer)
		_, err := s.client().CreateComment(ctx, 3, "x")
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.name, err, tt.want)
		}
		for name, sentinel := range sentinels {
			if got := errors.Is(err, sentinel); got != (name == tt.is) {
				t.Errorf("%s: is %s: %v", tt.name, name, got)
			}
		}
	}
}

func TestLongMessages(t *testing.T) {
	s := newStand(t, says(400, `{"message":"`+strings.Repeat("é", 5000)+`"}`))
	_, err := s.client().CheckRun(ctx, 7)
	var e *Error
	if !errors.As(err, &e) || len(e.Message) > maxMessage || !strings.HasSuffix(e.Message, "é…") {
		t.Errorf("%v", err)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in    string
		bytes int
		want  string
	}{
		{"", 5, ""}, {"abcde", 5, "abcde"}, {"abcdef", 5, "ab…"}, {"aéé…", 6, "aé…"}, {"日本語", 9, "日本語"}, {"日本語", 8, "日…"}, {"日本語", 3, "…"},
	} {
		if got := cut(tt.in, tt.bytes); got != tt.want || len(got) > max(tt.bytes, len(tt.in)) {
			t.Errorf("%q to %d: %q, want %q", tt.in, tt.bytes, got, tt.want)
		}
	}
}

// TestPermissionOfEveryCall: a 403 names what that very call needs.
func TestPermissionOfEveryCall(t *testing.T) {
	sha := pullHead
	for want, calls := range map[string][]func(*Client) error{
		"actions: read": {
			func(c *Client) error { _, err := c.WorkflowRun(ctx, 1); return err },
			func(c *Client) error { _, err := c.Archive(ctx, 1); return err },
			func(c *Client) error { return first(c.RunArtifacts(ctx, 1)) },
		},
		"contents: read": {
			func(c *Client) error { _, err := c.Contents(ctx, "a", sha); return err },
			func(c *Client) error { _, err := c.MergeBase(ctx, sha, sha); return err },
			func(c *Client) error { _, _, err := c.Commit(ctx, sha); return err },
			func(c *Client) error { _, err := c.Ancestors(ctx, sha, 1); return err },
		},
		"pull-requests: read": {
			func(c *Client) error { _, err := c.Pull(ctx, 1); return err },
			func(c *Client) error { _, err := c.OpenPullsOf(ctx, sha, 1); return err },
			func(c *Client) error { _, err := c.LabelledBy(ctx, 1, "x"); return err },
		},
		"pull-requests: write": {
			func(c *Client) error { return first(c.Comments(ctx, 1)) },
			func(c *Client) error { _, err := c.CreateComment(ctx, 1, "x"); return err },
			func(c *Client) error { _, err := c.UpdateComment(ctx, 1, "x"); return err },
			func(c *Client) error { return c.DeleteComment(ctx, 1) },
		},
		"checks: write": {
			func(c *Client) error { _, err := c.CheckRun(ctx, 1); return err },
			func(c *Client) error { return first(c.CheckRuns(ctx, sha, "n")) },
			func(c *Client) error {
				_, err := c.CreateCheckRun(ctx, publish.CheckRun{Name: "n", HeadSHA: sha}, nil)
				return err
			},
			func(c *Client) error { _, err := c.UpdateCheckRun(ctx, publish.CheckRun{Name: "n"}, nil); return err },
		},
		"statuses: write": {
			func(c *Client) error {
				_, err := c.CreateStatus(ctx, sha, publish.Status{Context: "c", State: "error"})
				return err
			},
		},
	} {
		for i, do := range calls {
			s := newStand(t, says(403, `{"message":"Resource not accessible by integration"}`))
			if err := do(s.client()); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "give the job `"+want+"`") {
				t.Errorf("%s, call %d: %v", want, i, err)
			}
		}
	}
}
