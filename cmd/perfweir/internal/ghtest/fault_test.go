package ghtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFaultsOfTheAPI(t *testing.T) {
	for _, tt := range []struct {
		kind    Kind
		status  int
		message string
	}{
		{Status401, 401, "Bad credentials"},
		{Integration403, 403, "Resource not accessible by integration"},
		{PrimaryLimit403, 403, "API rate limit exceeded"},
		{SecondaryLimit403, 403, "You have exceeded a secondary rate limit"},
		{RetryAfter429, 429, "You have exceeded a secondary rate limit"},
		{Status404, 404, "Not Found"},
		{Status410, 410, "Gone"},
		{TooLong422, 422, "Validation Failed"},
		{Status500, 500, "Server Error"},
	} {
		t.Run(string(tt.kind), func(t *testing.T) {
			s, _ := world(t)
			s.Fail(Fault{Kind: tt.kind, Method: "POST", Path: "/issues/*/comments", Times: 2, RetryAfter: 90 * time.Second})
			c := clientOf(s)
			path := repo + "/issues/7/comments"
			for range 2 {
				r := c.do(t, "POST", path, object{"body": "b"}).want(t, tt.status)
				if !strings.HasPrefix(r.message(t), tt.message) || r.object(t)["documentation_url"] == "" {
					t.Errorf("%s", r.text)
				}
				wantWaits(t, tt.kind, r)
				c.do(t, "GET", path, nil).want(t, 200) // another method
			}
			if n := len(s.Comments(7)); n != 1 {
				t.Errorf("%d comments: a fault is not carried out", n)
			}
			c.do(t, "POST", path, object{"body": "b"}).want(t, 201)
			if got := s.Requests(); got[0].Fault != tt.kind || got[0].Status != tt.status || got[1].Fault != "" {
				t.Errorf("log %+v", got)
			}
		})
	}
}

// wantWaits checks what a client learns about waiting.
func wantWaits(t *testing.T, kind Kind, r response) {
	t.Helper()
	retryAfter, remaining, reset := r.header.Get("Retry-After"), r.header.Get("X-RateLimit-Remaining"), r.header.Get("X-RateLimit-Reset")
	switch kind {
	case PrimaryLimit403:
		if retryAfter != "" || remaining != "0" || reset != fmt.Sprint(epoch.Add(90*time.Second).Unix()) {
			t.Errorf("Retry-After %q, remaining %q, reset %q", retryAfter, remaining, reset)
		}
	case RetryAfter429:
		if retryAfter != "90" {
			t.Errorf("Retry-After %q", retryAfter)
		}
	default:
		if retryAfter != "" || remaining == "0" || remaining == "" {
			t.Errorf("Retry-After %q, remaining %q", retryAfter, remaining)
		}
	}
}

func TestBadGatewayIsAPage(t *testing.T) {
	s, _ := world(t)
	s.Fail(Fault{Kind: Status502})
	for range 3 { // for ever
		r := clientOf(s).do(t, "GET", repo, nil).want(t, 502)
		if !strings.Contains(r.header.Get("Content-Type"), "text/html") {
			t.Errorf("%v", r.header)
		}
	}
	s.Heal()
	clientOf(s).do(t, "GET", repo, nil).want(t, 200)
}

func TestFaultAfterSomeThatWentWell(t *testing.T) {
	s, _ := world(t)
	s.Fail(Fault{Kind: Status401, Path: "/check-runs/*", After: 1, Times: 1})
	path := fmt.Sprintf("%s/check-runs/%d", repo, s.CheckRuns()[0].ID)
	for _, want := range []int{200, 401, 200} {
		clientOf(s).do(t, "GET", path, nil).want(t, want)
	}
}

func TestCarriedOutThoughTheAnswerIsBad(t *testing.T) {
	s, _ := world(t)
	s.Fail(Fault{Kind: Status502, Method: "POST", CarriedOut: true, Times: 1})
	clientOf(s).do(t, "POST", repo+"/issues/7/comments", object{"body": "b"}).want(t, 502)
	if n := len(s.Comments(7)); n != 2 {
		t.Errorf("%d comments, want 2", n)
	}
}

func TestAClientsMistakeCountsBehindAFault(t *testing.T) {
	s, _ := world(t)
	s.Fail(Fault{Kind: Status500})
	clientOf(s).do(t, "POST", repo+"/issues/7/comments", object{"text": "b"}).want(t, 500)
	if got := rules(s); len(got) != 2 { // body is missing, text is unknown
		t.Errorf("violations %q", got)
	}
}

// caller is a writer that calls.
type caller func()

func (f caller) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func TestNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	// The client gives up once the server has logged its request.
	s, _ := world(t, func(o *Options) { o.Log = caller(cancel) })
	s.Fail(Fault{Kind: NoAnswer, Times: 1})
	c := clientOf(s)
	if _, err := c.Do(c.request(t, "GET", repo, nil).WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := s.Requests(); len(got) != 1 || got[0].Status != 0 || got[0].Fault != NoAnswer {
		t.Errorf("log %+v", got)
	}
}

func TestCloseLetsGoOfHeldRequests(t *testing.T) {
	s, _ := world(t)
	s.Fail(Fault{Kind: NoAnswer})
	arrived, failed := make(chan struct{}), make(chan error)
	s.Before(func(*http.Request) { close(arrived) })
	c := clientOf(s)
	req := c.request(t, "GET", repo, nil)
	go func() {
		_, err := c.Do(req)
		failed <- err
	}()
	<-arrived
	s.Close()
	if err := <-failed; err == nil {
		t.Errorf("an answer came from a server that was closed")
	}
}

func TestResetInMidBody(t *testing.T) {
	s, w := world(t)
	s.Fail(Fault{Kind: Reset, Method: "GET", Path: "/issues/*/comments", Times: 1})
	c := clientOf(s)
	r, err := c.try(t, "GET", repo+"/issues/7/comments", nil)
	if err == nil || r.status != 0 && r.status != 200 {
		t.Errorf("status %d, error %v: want one in mid-body", r.status, err)
	}
	s.Fail(Fault{Kind: Reset, Blob: true, Times: 1})
	if _, err := c.as("").try(t, "GET", location(t, c, w.artifact), nil); err == nil {
		t.Errorf("no error from the blob host")
	}
	c.as("").do(t, "GET", location(t, c, w.artifact), nil).want(t, 200)
}

func TestFaultsOfTheBlobHost(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	download := func(kind Kind) response {
		s.Fail(Fault{Kind: kind, Blob: true, Times: 1})
		return c.as("").do(t, "GET", location(t, c, w.artifact), nil)
	}
	if r := download(TruncatedZip).want(t, 200); len(r.text) != len(w.zip)/2 || r.header.Get("Content-Length") != fmt.Sprint(len(r.text)) {
		t.Errorf("truncated: %d bytes of %d, %v", len(r.text), len(w.zip), r.header)
	}
	if r := download(WrongType).want(t, 200); r.text != string(w.zip) || !strings.Contains(r.header.Get("Content-Type"), "text/html") {
		t.Errorf("wrong type: %v", r.header)
	}
	if r := download(HTMLPage).want(t, 200); !strings.Contains(r.text, "<html>") {
		t.Errorf("page: %q", r.text)
	}
	if r := download(Unzipped).want(t, 200); r.text != `{"schema":"perfweir.results/v1"}` || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("unzipped: %v %q", r.header, r.text)
	}
	for kind, status := range map[Kind]int{Status404: 404, Status500: 500, RetryAfter429: 429} {
		if r := download(kind).want(t, status); !strings.Contains(r.text, "<Error>") {
			t.Errorf("%s: %q", kind, r.text)
		}
	}
}

func TestMovedOnce(t *testing.T) {
	s, _ := world(t)
	s.Fail(Fault{Kind: Moved}) // for ever, by name
	c := clientOf(s)
	for method, want := range map[string]int{"GET": 301, "POST": 307} {
		var body any
		if method == "POST" {
			body = object{"body": "b"}
		}
		r := c.do(t, method, repo+"/issues/7/comments", body).want(t, want)
		if !strings.Contains(r.header.Get("Location"), "/repositories/4242/issues/7/comments") {
			t.Errorf("%s: to %s", method, r.header.Get("Location"))
		}
	}
	c.do(t, "GET", "/repositories/4242/issues/7/comments?per_page=1", nil).want(t, 200)
	s.Heal()
	c.do(t, "GET", "/repositories/42/issues/7/comments", nil).want(t, 404)
	wantRule(t, s, "no such operation")
}

func TestUnknownFault(t *testing.T) {
	var told spy
	s := New(&told)
	defer s.Close()
	s.Fail(Fault{Kind: "418"})
	if len(told.fatal) != 1 {
		t.Errorf("an unknown kind is taken")
	}
}

// TestBeforeRaces: a comment is deleted between the listing and the update, and
// another creator comes first.
func TestBeforeRaces(t *testing.T) {
	s, w := world(t)
	s.Before(func(r *http.Request) {
		switch {
		case s.Matches(r, "PATCH", "/issues/comments/*"):
			s.DeleteComment(w.comment)
		case s.Matches(r, "POST", "/issues/7/comments"):
			body, err := io.ReadAll(r.Body)
			if err != nil || !bytes.Contains(body, []byte("mine")) {
				t.Errorf("the hook reads %q, %v", body, err)
			}
			s.AddComment(7, ActionsBot, "first")
		}
	})
	c := clientOf(s)
	c.do(t, "PATCH", fmt.Sprintf("%s/issues/comments/%d", repo, w.comment), object{"body": "b"}).want(t, 404)
	c.do(t, "POST", repo+"/issues/7/comments", object{"body": "mine"}).want(t, 201)
	if got := s.Comments(7); len(got) != 2 || got[0].Body != "first" || got[1].Body != "mine" || got[0].ID >= got[1].ID {
		t.Errorf("comments %+v", got)
	}
}

func TestBasePathOfEnterpriseServer(t *testing.T) {
	s, w := world(t, func(o *Options) { o.BasePath = "/api/v3" })
	c := clientOf(s)
	if !strings.HasSuffix(s.URL(), "/api/v3") {
		t.Errorf("URL %s", s.URL())
	}
	r := c.do(t, "GET", repo+"/issues/7/comments?per_page=1", nil).want(t, 200).list(t)
	if url := r[0]["url"].(string); url != fmt.Sprintf("%s%s/issues/comments/%d", s.URL(), repo, w.comment) {
		t.Errorf("url %s", url)
	}
	c.as("").do(t, "GET", location(t, c, w.artifact), nil).want(t, 200)
	if got := s.Requests()[0].Path; got != repo+"/issues/7/comments" {
		t.Errorf("logged path %s", got)
	}
}
