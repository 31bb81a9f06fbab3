package ghapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfweir/perfweir/gate/publish"
)

var ctx = context.Background()

func TestHeaders(t *testing.T) {
	s := newStand(t, says(200, ok), says(201, ok))
	c := s.client(func(o *Options) { o.UserAgent = "perfweir/1.2" })
	if _, err := c.CheckRun(ctx, 7); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateComment(ctx, 3, "a <b> & c"); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.seen() {
		for name, want := range map[string]string{"Authorization": "Bearer " + testToken, "X-Github-Api-Version": "2022-11-28",
			"User-Agent": "perfweir/1.2", "Accept": "application/vnd.github+json"} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s %s: %s: %q, want %q", r.method, r.path, name, got, want)
			}
		}
	}
	if s.seen()[0].path != "/api/v3/repos/acme/widgets/check-runs/7" || s.seen()[1].body != `{"body":"a <b> & c"}`+"\n" {
		t.Errorf("%+v", s.seen())
	}
	if c.Requests() != 2 {
		t.Errorf("%d requests", c.Requests())
	}
}

func TestWithoutToken(t *testing.T) {
	s := newStand(t, says(200, ok))
	if _, err := s.client(func(o *Options) { o.Token = "" }).CheckRun(ctx, 7); err != nil {
		t.Fatal(err)
	}
	if _, there := s.seen()[0].header["Authorization"]; there {
		t.Error("an Authorization header without a token")
	}
}

// TestReadsAreRepeated: trouble, then an answer.
func TestReadsAreRepeated(t *testing.T) {
	in := func(c *clock, d time.Duration) string { return strconv.FormatInt(c.now.Add(d).Unix(), 10) }
	for _, tt := range []struct {
		name    string
		trouble []http.HandlerFunc
		slept   time.Duration
	}{
		{"500 twice", []http.HandlerFunc{says(500, "x"), says(500, "x")}, 3 * time.Second},
		{"502, 503, 504", []http.HandlerFunc{says(502, "x"), says(503, "x"), says(504, "x")}, 7 * time.Second},
		{"no answer", []http.HandlerFunc{hangUp("")}, time.Second},
		{"cut in the body", []http.HandlerFunc{hangUp("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"id\":7,")}, time.Second},
		{"403 primary", []http.HandlerFunc{says(403, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+in(newClock(), 40*time.Second), `{"message":"API rate limit exceeded"}`)}, 41 * time.Second},
		{"429 primary", []http.HandlerFunc{says(429, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+in(newClock(), 40*time.Second), `{"message":"API rate limit exceeded"}`)}, 41 * time.Second},
		{"secondary", []http.HandlerFunc{says(429, "Retry-After: 9", `{"message":"You have exceeded a secondary rate limit"}`)}, 9 * time.Second},
		{"secondary without Retry-After, twice", []http.HandlerFunc{says(403, `{"message":"You have exceeded a secondary rate limit"}`), says(403, `{"message":"You have exceeded a secondary rate limit"}`)}, 3 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStand(t, append(tt.trouble, says(200, ok))...)
			c := s.client()
			r, err := c.CheckRun(ctx, 7)
			if err != nil || r.ID != 7 {
				t.Fatalf("%+v, %v", r, err)
			}
			if got := s.clock.total(); got != tt.slept || c.Requests() != len(tt.trouble)+1 {
				t.Errorf("slept %v for %d requests, want %v", got, c.Requests(), tt.slept)
			}
		})
	}
}

// TestWritesAreNotRepeated: after a lost answer the comment may be there.
func TestWritesAreNotRepeated(t *testing.T) {
	for name, trouble := range map[string]http.HandlerFunc{
		"500": says(500, "x"), "502": says(502, "x"), "504": says(504, "x"), "no answer": hangUp(""),
		"cut in the body": hangUp("HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{\"id\":7,"),
		"no JSON":         says(201, "<html>"),
	} {
		s := newStand(t, trouble)
		_, err := s.client().CreateComment(ctx, 3, "x")
		if !errors.Is(err, publish.ErrUnsure) || !strings.Contains(err.Error(), "it may have been carried out") || len(s.seen()) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(s.seen()))
		}
	}
}

// TestWritesThatAreRepeated: where surely nothing was done, and where twice is once.
func TestWritesThatAreRepeated(t *testing.T) {
	create := func(c *Client) error { _, err := c.CreateComment(ctx, 3, "x"); return err }
	update := func(c *Client) error { _, err := c.UpdateComment(ctx, 7, "x"); return err }
	complete := func(c *Client) error {
		_, err := c.UpdateCheckRun(ctx, publish.CheckRun{ID: 7, Name: "n", Status: "completed", Conclusion: "success"}, nil)
		return err
	}
	status := func(c *Client) error {
		_, err := c.CreateStatus(ctx, pullHead, publish.Status{Context: "c", State: "success"})
		return err
	}
	for _, tt := range []struct {
		name    string
		do      func(*Client) error
		trouble http.HandlerFunc
	}{
		{"create after 503", create, says(503, "x")},
		{"create after 429", create, says(429, "Retry-After: 3", "x")},
		{"create after 403 secondary", create, says(403, `{"message":"You have exceeded a secondary rate limit and have been temporarily blocked from content creation."}`)},
		{"update after 502", update, says(502, "x")},
		{"update after no answer", update, hangUp("")},
		{"complete after 500", complete, says(500, "x")},
		{"status after 504", status, says(504, "x")},
		{"delete after 502", func(c *Client) error { return c.DeleteComment(ctx, 7) }, says(502, "x")},
	} {
		s := newStand(t, tt.trouble, says(201, ok))
		if err := tt.do(s.client()); err != nil || len(s.seen()) != 2 {
			t.Errorf("%s: %v after %d requests", tt.name, err, len(s.seen()))
		} else if s.seen()[0].body != s.seen()[1].body {
			t.Errorf("%s: %q, then %q", tt.name, s.seen()[0].body, s.seen()[1].body)
		}
	}
}

// TestUnsureInTheEnd: a write that is repeated in vain may have been carried out by
// any of the lost requests, unless a later answer says how things are.
func TestUnsureInTheEnd(t *testing.T) {
	lost, limited := says(502, "x"), says(429, "Retry-After: 900", "x")
	for _, tt := range []struct {
		name  string
		steps []http.HandlerFunc
		want  bool
	}{
		{"lost for ever", []http.HandlerFunc{lost, lost, lost, lost, lost}, true},
		{"lost, then limited", []http.HandlerFunc{lost, limited}, true},
		{"lost, then busy", []http.HandlerFunc{lost, says(503, "x"), says(503, "x"), says(503, "x"), says(503, "x")}, true},
		{"lost, then gone", []http.HandlerFunc{lost, says(404, "{}")}, false},
		{"busy for ever", []http.HandlerFunc{says(503, "x"), says(503, "x"), says(503, "x"), says(503, "x"), says(503, "x")}, false},
		{"limited", []http.HandlerFunc{limited}, false},
	} {
		_, err := newStand(t, tt.steps...).client().UpdateComment(ctx, 7, "x")
		if err == nil || errors.Is(err, publish.ErrUnsure) != tt.want {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := newStand(t, lost, limited).client().CheckRun(ctx, 7); err == nil || errors.Is(err, publish.ErrUnsure) {
		t.Errorf("a read: %v", err)
	}
}

// TestAnnotationsAreNotRepeated: GitHub would append them a second time.
func TestAnnotationsAreNotRepeated(t *testing.T) {
	s := newStand(t, says(502, "x"))
	_, err := s.client().UpdateCheckRun(ctx, publish.CheckRun{ID: 7, Name: "n", Title: "t", Summary: "s"},
		[]publish.Annotation{{Path: "a", StartLine: 1, Level: "notice", Message: "m"}})
	if !errors.Is(err, publish.ErrUnsure) || len(s.seen()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.seen()))
	}
}

// TestConnectionRefused: nothing was sent, so a comment may be created later.
func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	clock := newClock()
	c, err := New(Options{BaseURL: "http://" + address, Repository: "acme/widgets", Now: clock.Now, Sleep: clock.Sleep})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateComment(ctx, 3, "x")
	if err == nil || errors.Is(err, publish.ErrUnsure) || c.Requests() != maxSends || !strings.Contains(err.Error(), "no answer of GitHub") {
		t.Errorf("%v after %d requests", err, c.Requests())
	}
}

func TestGivesUp(t *testing.T) {
	var steps []http.HandlerFunc
	for range maxSends {
		steps = append(steps, says(502, "<html>unicorn</html>"))
	}
	s := newStand(t, steps...)
	_, err := s.client().CheckRun(ctx, 7)
	if want := "read check run 7: GitHub answered 502: Bad Gateway (asked 5 times)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrRateLimit) {
		t.Errorf("%v is more than that GitHub could not be asked", err)
	}
}

// TestFarLimit: a reset that is too far is said at once, and later calls do not ask.
func TestFarLimit(t *testing.T) {
	reset := newClock().now.Add(42 * time.Minute)
	s := newStand(t, says(403, "X-RateLimit-Remaining: 0", fmt.Sprintf("X-RateLimit-Reset: %d", reset.Unix()), `{"message":"API rate limit exceeded"}`), says(200, ok))
	c := s.client()
	for range 2 {
		_, err := c.CheckRun(ctx, 7)
		if !errors.Is(err, ErrRateLimit) || errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "rate limit is used up until 2026-11-29 12:42:01 UTC") {
			t.Errorf("%v", err)
		}
	}
	if len(s.seen()) != 1 || s.clock.total() != 0 {
		t.Errorf("%d requests, slept %v", len(s.seen()), s.clock.total())
	}
	s.clock.now = reset.Add(2 * time.Second)
	if _, err := c.CheckRun(ctx, 7); err != nil {
		t.Errorf("after the reset: %v", err)
	}
}

// TestPatience: the waits of one call and of all calls together end.
func TestPatience(t *testing.T) {
	limited := says(429, "Retry-After: 40", "x")
	s := newStand(t, limited, limited, limited, limited, limited, says(200, ok))
	var told []string
	c := s.client(func(o *Options) {
		o.CallWait, o.ProcessWait = 100*time.Second, 120*time.Second
		o.Notice = func(line string) { told = append(told, line) }
	})
	for i, want := range []time.Duration{80 * time.Second, 120 * time.Second} {
		if _, err := c.CheckRun(ctx, 7); !errors.Is(err, ErrRateLimit) || s.clock.total() != want {
			t.Errorf("call %d: %v, slept %v, want %v", i, err, s.clock.total(), want)
		}
	}
	if _, err := c.CheckRun(ctx, 7); err != nil {
		t.Errorf("an answer without a wait: %v", err)
	}
	if len(told) != 3 || told[0] != "read check run 7: GitHub's secondary rate limit: waiting 40s" {
		t.Errorf("%q", told)
	}
}

// TestSecondaryLimitIsNotRemembered: a refused comment must not keep a check run
// from being completed.
func TestSecondaryLimitIsNotRemembered(t *testing.T) {
	s := newStand(t, says(403, "Retry-After: 3600", `{"message":"You have exceeded a secondary rate limit"}`), says(200, ok))
	c := s.client()
	if _, err := c.CreateComment(ctx, 3, "x"); !errors.Is(err, ErrRateLimit) || errors.Is(err, publish.ErrUnsure) {
		t.Errorf("%v", err)
	}
	if _, err := c.UpdateCheckRun(ctx, publish.CheckRun{ID: 7, Name: "n"}, nil); err != nil {
		t.Errorf("%v", err)
	}
}

// TestGoGitHubDoesNotRefuse: the last request of the hour went well; go-github would
// refuse the next one by the machine's own clock.
func TestGoGitHubDoesNotRefuse(t *testing.T) {
	last := says(200, "X-RateLimit-Remaining: 0", fmt.Sprintf("X-RateLimit-Reset: %d", time.Now().Add(time.Hour).Unix()), ok)
	s := newStand(t, last, last)
	c := s.client()
	for range 2 {
		if _, err := c.CheckRun(ctx, 7); err != nil {
			t.Error(err)
		}
	}
}

func TestWritesAreASecondApart(t *testing.T) {
	s := newStand(t, says(201, ok), says(200, ok), says(200, ok), says(201, ok))
	c := s.client()
	for _, do := range []func() error{
		func() error { _, err := c.CreateComment(ctx, 3, "x"); return err },
		func() error { _, err := c.CheckRun(ctx, 7); return err },
		func() error { _, err := c.UpdateComment(ctx, 7, "x"); return err },
		func() error {
			s.clock.now = s.clock.now.Add(600 * time.Millisecond)
			_, err := c.CreateComment(ctx, 3, "x")
			return err
		},
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(s.clock.slept); got != "[1s 400ms]" {
		t.Errorf("slept %s", got)
	}
}

// TestCancelled: an ended context is told as such, and says when the write may be there.
func TestCancelled(t *testing.T) {
	reason := errors.New("the job was cancelled")
	cancelling, cancel := context.WithCancelCause(ctx)
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		cancel(reason)
		<-r.Context().Done()
	})
	c := s.client()
	_, err := c.CreateComment(cancelling, 3, "x")
	if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) || !errors.Is(err, publish.ErrUnsure) {
		t.Errorf("while it was under way: %v", err)
	}
	for _, do := range []func() error{
		func() error { _, err := c.CheckRun(cancelling, 7); return err },
		func() error { _, err := c.UpdateComment(cancelling, 7, "x"); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) || errors.Is(err, publish.ErrUnsure) || len(s.seen()) != 1 {
			t.Errorf("afterwards: %v, %d requests", err, len(s.seen()))
		}
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	cancelling, cancel := context.WithCancel(ctx)
	s := newStand(t, says(403, "Retry-After: 9", `{"message":"secondary rate limit"}`))
	c := s.client(func(o *Options) { o.Notice = func(string) { cancel() } })
	_, err := c.CheckRun(cancelling, 7)
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrRateLimit) || errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}

func TestTimeout(t *testing.T) {
	stand := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer stand.Close()
	clock := newClock()
	c, err := New(Options{BaseURL: stand.URL, Repository: "acme/widgets", Timeout: 20 * time.Millisecond, Now: clock.Now, Sleep: clock.Sleep})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CheckRun(ctx, 7); !errors.Is(err, errStalled) || c.Requests() != maxSends || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v after %d requests", err, c.Requests())
	}
}

func TestAnswersAreBounded(t *testing.T) {
	flood := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			chunk := []byte(strings.Repeat(" ", 1<<20))
			for range 2 * maxAnswer >> 20 {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}
	}
	for _, status := range []int{200, 404} {
		s := newStand(t, flood(status))
		if _, err := s.client().CheckRun(ctx, 7); !errors.Is(err, errTooLarge) || len(s.seen()) != 1 {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestOneWriteAtATime: from however many goroutines.
func TestOneWriteAtATime(t *testing.T) {
	var writing, most atomic.Int32
	step := func(w http.ResponseWriter, r *http.Request) {
		n := writing.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		runtime.Gosched()
		writing.Add(-1)
		fmt.Fprint(w, ok)
	}
	s := newStand(t, step, step, step, step, step, step)
	c := s.client()
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			if _, err := c.CreateComment(ctx, i, "x"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if most.Load() != 1 || s.clock.total() != 5*time.Second {
		t.Errorf("%d at a time, slept %v", most.Load(), s.clock.total())
	}
}

func TestSleep(t *testing.T) {
	if err := sleep(ctx, time.Nanosecond); err != nil {
		t.Error(err)
	}
	reason := errors.New("the job was cancelled")
	cancelled, cancel := context.WithCancelCause(ctx)
	cancel(reason)
	if err := sleep(cancelled, time.Hour); !errors.Is(err, reason) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
