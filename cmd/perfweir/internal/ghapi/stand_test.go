package ghapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const testToken = "ghp_0123456789secret"

// clock is time that only sleeping moves.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return nil
}

func (c *clock) total() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum time.Duration
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// request is what the stand saw.
type request struct {
	method, path, query, body string
	header                    http.Header
}

// stand answers requests one after another with the steps given; one request too
// many, or one too few at the end, fails the test.
type stand struct {
	t        *testing.T
	url      string
	clock    *clock
	mu       sync.Mutex
	steps    []http.HandlerFunc
	requests []request
}

func newStand(t *testing.T, steps ...http.HandlerFunc) *stand {
	s := &stand{t: t, clock: newClock(), steps: steps}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.steps) > 0 && !t.Failed() {
			t.Errorf("%d answers were not asked for", len(s.steps))
		}
	})
	s.url = server.URL
	return s
}

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, request{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, string(body), r.Header})
	if len(s.steps) == 0 {
		s.mu.Unlock()
		s.t.Errorf("one request too many: %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	step(w, r)
}

// seen are the requests so far.
func (s *stand) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// client asks the stand below a path, as an enterprise server has one.
func (s *stand) client(change ...func(*Options)) *Client {
	s.t.Helper()
	o := Options{BaseURL: s.url + "/api/v3", Token: testToken, Repository: "acme/widgets", Now: s.clock.Now, Sleep: s.clock.Sleep}
	for _, c := range change {
		c(&o)
	}
	c, err := New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// says answers with a status, headers ("Name: value") and a body that is last.
func says(status int, parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, h := range parts[:len(parts)-1] {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Add(name, strings.ReplaceAll(value, "HOST", "http://"+r.Host))
		}
		w.WriteHeader(status)
		io.WriteString(w, parts[len(parts)-1])
	}
}

// hangUp closes the connection after what it wrote of the answer.
func hangUp(part string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		fmt.Fprint(buf, part)
		buf.Flush()
		conn.Close()
	}
}

const ok = `{"id":7,"html_url":"https://github.com/acme/widgets/pull/3#7"}`
