package ghapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxAnswer is how many bytes of an answer are read: 100 entries of the largest
	// list that we ask for stay under 3 MiB.
	maxAnswer = 16 << 20
	// writeGap is what GitHub asks to keep between requests that create content.
	writeGap = time.Second
)

// transport is the only way to GitHub's API. It adds the token and the headers,
// refuses any other host, keeps writes apart, repeats what may be repeated within
// bounds, and reads every answer to its end, so that an answer cut in the middle is
// seen here, where it can be asked for again.
type transport struct {
	base      http.RoundTripper
	api       *url.URL
	authorize func(http.Header) // a function, so that no printed struct has the token
	userAgent string
	timeout   time.Duration // of one sending, answer included
	now       func() time.Time
	sleep     func(context.Context, time.Duration) error
	notice    func(string)
	patience  patience

	requests atomic.Int64

	writing   chan struct{} // capacity 1: held while something is written
	lastWrite time.Time     // held by writing

	mu          sync.Mutex
	refuseUntil time.Time // of the primary limit: asking before that only makes it worse
}

// call is one question to GitHub in our words.
type call struct {
	what       string // "create a comment on #3"
	permission string // "pull-requests: write"
	// repeatable says that carrying it out twice does no harm. Reading calls
	// always are.
	repeatable bool
	locate     bool // the 302 is the answer: do not follow it
	writes     bool
}

// record collects what became of a call over its sendings and redirects. It goes
// through the context, since go-github and http.Client stand between.
type record struct {
	call
	waited time.Duration
	sends  int
	last   answer
	plan   plan // after the last answer
	lost   bool // one was lost, and no answer since told how things are
	// retryAt is when a limit ends, if one refused the call.
	retryAt time.Time
	stopped error // the context ended while this call waited
}

type recordKey struct{}

func withRecord(ctx context.Context, r *record) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

func recordOf(ctx context.Context) *record {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		return r
	}
	return &record{call: call{what: "a request"}}
}

// RoundTrip is the loop of sending, deciding and waiting.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close() // every sending has a copy of its own
	}
	r := recordOf(req.Context())
	if !t.isAPI(req.URL) {
		return nil, fmt.Errorf("refused to ask %s, which is not the API", withoutQuery(req.URL))
	}
	if req.Method != http.MethodGet {
		if err := t.beginWrite(req.Context()); err != nil {
			r.stopped = err
			return nil, err
		}
		defer t.endWrite()
	}
	for n := 0; ; n++ {
		if err := t.awaitLimit(req.Context(), r); err != nil {
			return nil, err
		}
		r.sends++
		r.last = t.send(req)
		r.lost = r.last.lost() || r.lost && !r.last.settles()
		now := t.now()
		r.plan = decide(r.last, r.repeatable || req.Method == http.MethodGet, n, now)
		if r.plan.limit != "" {
			r.retryAt = now.Add(r.plan.wait)
			t.refuse(r)
		}
		if !r.plan.again || req.Context().Err() != nil {
			return r.last.response(req)
		}
		if err := t.pause(req.Context(), r, r.plan.wait); errors.Is(err, errImpatient) {
			return r.last.response(req)
		} else if err != nil {
			return nil, err
		}
	}
}

// isAPI compares origins: a redirect to the same host without TLS is another one.
func (t *transport) isAPI(u *url.URL) bool { return u.Scheme == t.api.Scheme && u.Host == t.api.Host }

// send sends once and reads the answer.
func (t *transport) send(req *http.Request) answer {
	var asked, wrote atomic.Bool // the trace may call from other goroutines
	ctx, cancel := context.WithTimeoutCause(req.Context(), t.timeout, errStalled)
	defer cancel()
	out := req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { asked.Store(true) },
		WroteHeaders: func() { wrote.Store(true) },
	}))
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return answer{err: err}
		}
		out.Body = body
	}
	out.Header.Set("Accept", "application/vnd.github+json")
	out.Header.Set("X-Github-Api-Version", "2022-11-28")
	out.Header.Set("User-Agent", t.userAgent)
	t.authorize(out.Header)
	t.requests.Add(1)
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		// A transport that does not trace tells nothing: then it may have been sent.
		return answer{err: because(ctx, err), sent: wrote.Load() || !asked.Load()}
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, sent: true}
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case len(a.body) > maxAnswer:
		a.body, a.err = nil, errTooLarge
	case err != nil && a.status < 400: // of a refusal, the status is what matters
		a.err = because(ctx, err)
	}
	return a
}

// because puts the reason why a context ended in the place of an error that only
// says that it did.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	return err
}

// ended says why ctx ended. It is context.Canceled or DeadlineExceeded, too, when
// the caller gave a reason of its own.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errStalled) || errors.Is(cause, ctx.Err()) {
		return cause
	}
	return fmt.Errorf("%w: %w", ctx.Err(), cause)
}

// response hands the answer on. The headers of rate limits stay here: go-github
// would, from then on and by a clock that tests cannot set, refuse calls on its
// own, and it knows 403 but not 429.
func (a answer) response(req *http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	h := a.header.Clone()
	for _, name := range []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Retry-After"} {
		h.Del(name)
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: req,
	}, nil
}

// beginWrite waits until no other request writes and the last one is writeGap ago.
func (t *transport) beginWrite(ctx context.Context) error {
	select {
	case t.writing <- struct{}{}:
	case <-ctx.Done():
		return ended(ctx)
	}
	if t.lastWrite.IsZero() {
		return nil
	}
	if wait := writeGap - t.now().Sub(t.lastWrite); wait > 0 {
		// A clock that was set back must not make this longer.
		if err := t.sleep(ctx, min(wait, writeGap)); err != nil {
			<-t.writing
			return err
		}
	}
	return nil
}

func (t *transport) endWrite() {
	t.lastWrite = t.now()
	<-t.writing
}

// errImpatient says that a wait would be longer than is left.
var errImpatient = errors.New("it would take longer than may be waited")

// patience bounds what is waited for limits and repetitions.
type patience struct {
	perCall time.Duration
	mu      sync.Mutex
	left    time.Duration // of the whole client
}

// take books a wait before it begins; false: it is too long, and nothing is booked.
func (p *patience) take(r *record, wait time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait > p.left || wait > p.perCall-r.waited {
		return false
	}
	p.left -= wait
	r.waited += wait
	return true
}

// pause waits before the call is sent again: errImpatient when it must not wait so
// long, another error when ctx ended meanwhile.
func (t *transport) pause(ctx context.Context, r *record, wait time.Duration) error {
	if !t.patience.take(r, wait) {
		return errImpatient
	}
	t.tell(r)
	if err := t.sleep(ctx, wait); err != nil {
		r.stopped = err
		return err
	}
	return nil
}

// refuse remembers a primary limit: until it ends, every request of this token is
// refused, and GitHub may ban who goes on asking. A secondary limit is not
// remembered: it can be for one kind of request, and a check run may still be
// completed where a comment may not be written.
func (t *transport) refuse(r *record) {
	if r.plan.limit != primaryLimit {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuseUntil = r.retryAt
}

// awaitLimit waits for the end of a primary limit that an earlier answer told of.
func (t *transport) awaitLimit(ctx context.Context, r *record) error {
	t.mu.Lock()
	until := t.refuseUntil
	t.mu.Unlock()
	wait := until.Sub(t.now())
	if wait <= 0 {
		return nil
	}
	r.plan, r.retryAt = plan{limit: primaryLimit, wait: wait}, until
	return t.pause(ctx, r, wait)
}

// tell says what is waited for, unless it is a matter of seconds.
func (t *transport) tell(r *record) {
	if r.plan.wait < 5*time.Second {
		return
	}
	why := "no answer to build on"
	if r.plan.limit != "" {
		why = "GitHub's " + r.plan.limit
	}
	t.notice(fmt.Sprintf("%s: %s: waiting %v", oneLine(r.what), why, r.plan.wait.Round(time.Second)))
}

// withoutQuery is an address for people: a query may hold a signature.
func withoutQuery(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }
