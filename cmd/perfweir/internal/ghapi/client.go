// Package ghapi is the one client of GitHub: what the environment and the payload of
// a workflow step say, and the calls that the stages need, with retries, limits and
// bounds. It holds no rule of what a baseline is or when a comment is written: those
// are baseline/artifact and gate/publish, whose ports it implements, knowing HTTP so
// that they need not.
//
// The types come from go-github v62; its request loop is used, but everything that
// decides (limits, retries, redirects, errors) happens in the transport below it and
// in explain above it: that version knows 403 but not 429, refuses calls on its own
// after a limit, and replaces the outcome of a request by the context's error.
package ghapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"

	"github.com/perfweir/perfweir/baseline/artifact"
	"github.com/perfweir/perfweir/gate/publish"
)

var (
	_ artifact.GitHub = (*Client)(nil)
	_ publish.GitHub  = (*Client)(nil)
)

// Options make a Client. BaseURL and Repository are required.
type Options struct {
	BaseURL    string // of the API: Context.APIURL
	Token      string // "" asks without one: public things only
	Repository string // "owner/name"
	UserAgent  string // default "perfweir"
	Actions    bool   // Context.Actions: the token may be a job's, which /user refuses

	Timeout time.Duration // of one request, answer included; default 30 s. For an artifact: without a byte
	// CallWait is the most that one call waits for limits and repetitions (default 3
	// min), ProcessWait the same for all calls together (default 5 min). The second
	// between two writes is in neither.
	CallWait, ProcessWait time.Duration

	Notice func(string) // told what is waited for, in words; may be nil

	// The clock, for tests: both or none. Sleep returns an error when ctx ends first.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// HTTP gives another Transport, for tests; nothing else of it is used.
	HTTP *http.Client
}

// Client asks one repository's GitHub. Its methods may be called from several
// goroutines; writes happen one after another, at least a second apart.
type Client struct {
	gh      *github.Client
	api     *http.Client // the same transport, for calls whose redirect is the answer
	blobs   *http.Client // without the token
	t       *transport
	prefix  string              // "repos/owner/name/"
	scrub   func(string) string // takes the token out of a text
	timeout time.Duration
	isBot   bool // the token is an installation's
	actions bool

	mu    sync.Mutex
	login string
}

// New makes a client. It asks nothing yet.
func New(o Options) (*Client, error) {
	base, err := httpURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("address of GitHub's API: %w", err)
	}
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	owner, name, err := splitRepository(o.Repository)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the token has a space, a line break or another character that no token has: is the whole secret pasted?")
	}
	o.setDefaults()
	t := &transport{base: o.HTTP.Transport, api: base, userAgent: o.UserAgent, timeout: o.Timeout,
		now: o.Now, sleep: o.Sleep, notice: o.Notice,
		patience: patience{perCall: o.CallWait, left: o.ProcessWait}, writing: make(chan struct{}, 1)}
	token := o.Token
	t.authorize = func(h http.Header) {
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
	}
	api := &http.Client{Transport: t, CheckRedirect: checkRedirect}
	gh := github.NewClient(api)
	gh.BaseURL = base
	return &Client{gh: gh, api: api, t: t, timeout: o.Timeout,
		blobs:  &http.Client{Transport: o.HTTP.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		prefix: "repos/" + owner + "/" + name + "/",
		isBot:  strings.HasPrefix(token, "ghs_"), actions: o.Actions,
		scrub: func(s string) string {
			if token == "" {
				return s
			}
			return strings.ReplaceAll(s, token, "***")
		}}, nil
}

func (o *Options) setDefaults() {
	if o.UserAgent == "" {
		o.UserAgent = "perfweir"
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.CallWait <= 0 {
		o.CallWait = 3 * time.Minute
	}
	if o.ProcessWait <= 0 {
		o.ProcessWait = 5 * time.Minute
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Now == nil || o.Sleep == nil {
		o.Now, o.Sleep = time.Now, sleep
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.HTTP.Transport == nil {
		o.HTTP = &http.Client{Transport: http.DefaultTransport}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// Requests is how many requests this client has sent to the API, or tried to:
// repetitions and redirects included. Downloads from the blob store cost none of GitHub's limit and
// are not in it.
func (c *Client) Requests() int { return int(c.t.requests.Load()) }

// checkRedirect follows a renamed repository. GitHub answers reads with 301 and
// writes with 307; 302 and 303 would turn a write into a read. The transport
// refuses another host by itself; it is refused here for the better message.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if recordOf(req.Context()).locate && req.Response.StatusCode == http.StatusFound {
		return http.ErrUseLastResponse
	}
	switch {
	case len(via) > 5:
		return errors.New("it redirects round and round")
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("it redirects to another host, %s, which must not get the token", withoutQuery(req.URL))
	case req.Method != first.Method:
		return fmt.Errorf("it redirects to %s in a way that would make %s a %s: was the repository renamed? Use its new name", withoutQuery(req.URL), first.Method, req.Method)
	}
	return nil
}

// do asks one question. in is sent as JSON when it is not nil; the answer is decoded
// into out when that is not nil.
func (c *Client) do(ctx context.Context, k call, method, path string, in, out any) (*github.Response, error) {
	req, err := c.gh.NewRequest(method, path, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.what, err)
	}
	k.writes = method != http.MethodGet
	k.repeatable = k.repeatable || !k.writes
	r := &record{call: k}
	resp, err := c.gh.Do(withRecord(ctx, r), req, out)
	if err != nil {
		return nil, c.explain(r, err)
	}
	return resp, nil
}

// get is do for what is read from below the repository.
func (c *Client) get(ctx context.Context, k call, path string, query url.Values, out any) (*github.Response, error) {
	path = c.prefix + path
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.do(ctx, k, http.MethodGet, path, nil, out)
}

// explain makes our error of a call's record. err, which has been through go-github
// and http.Client, only matters where the record knows no better.
func (c *Client) explain(r *record, err error) *Error {
	var wrapped *url.Error // its text has the address
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e := &Error{Call: c.line(r.what), Permission: r.permission, Sends: r.sends,
		Status: r.last.status, Limit: r.plan.limit, RetryAt: r.retryAt, Unsure: r.writes && r.lost}
	status := r.last.status
	switch {
	case r.stopped != nil:
		e.Err, e.Status, e.Limit = r.stopped, 0, ""
	case e.Limit != "":
		e.Message = readProblem(r.last.body).text(status)
	case r.sends == 0:
		e.Err = err
	case r.last.err != nil:
		e.Err, e.Status = r.last.err, 0
	case 300 <= status && status < 400:
		e.Err = err
	case 200 <= status && status < 300 && status != http.StatusAccepted:
		e.Err = fmt.Errorf("which is not what was asked for: %w", err)
		e.Unsure = r.writes
	default:
		p := readProblem(r.last.body)
		e.Message, e.locked, e.tooLong = p.text(status), p.locked(status), p.tooLong(status)
	}
	if e.Err != nil {
		e.Message = e.Err.Error()
	}
	e.Message = c.line(e.Message)
	return e
}

// line is oneLine without the token. The order matters: characters that are taken
// out may hide a token, and half of one that is cut is too much.
func (c *Client) line(s string) string { return cut(c.scrub(clean(s)), maxMessage) }

// Login is the account under which the token writes. A job's token cannot ask for
// it: it is GitHub's own bot. Tokens of other apps' installations look the same and
// cannot ask either; the comments that they write show their name.
func (c *Client) Login(ctx context.Context) (string, error) {
	const bot = "github-actions[bot]"
	if c.isBot {
		return bot, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.login != "" {
		return c.login, nil
	}
	var user github.User
	_, err := c.do(ctx, call{what: "ask whose the token is"}, http.MethodGet, "user", nil, &user)
	var refused *Error
	if c.actions && errors.As(err, &refused) && refused.Status == http.StatusForbidden && refused.Limit == "" {
		c.login = bot
		return bot, nil
	}
	if err != nil {
		return "", err
	}
	if user.GetLogin() == "" {
		return "", errors.New("ask whose the token is: the answer names nobody")
	}
	c.login = user.GetLogin()
	return c.login, nil
}
