package ghtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// response is an answer as a client has it.
type response struct {
	status int
	header http.Header
	text   string
}

func (r response) object(t *testing.T) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(r.text), &o); err != nil {
		t.Fatalf("%v in %q", err, r.text)
	}
	return o
}

func (r response) list(t *testing.T) []object {
	t.Helper()
	var l []object
	if err := json.Unmarshal([]byte(r.text), &l); err != nil {
		t.Fatalf("%v in %q", err, r.text)
	}
	return l
}

func (r response) message(t *testing.T) string {
	t.Helper()
	m, _ := r.object(t)["message"].(string)
	return m
}

// client asks a server as a well-made client does, following no redirect.
type client struct {
	*http.Client
	s      *Server
	token  string
	header http.Header // instead of the usual ones
}

func clientOf(s *Server) client {
	return client{s: s, token: DefaultToken, Client: &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c client) as(token string) client {
	c.token = token
	return c
}

func (c client) request(t *testing.T, method, path string, body any) *http.Request {
	t.Helper()
	var content io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		content = strings.NewReader(body)
	default:
		content = bytes.NewReader(encode(body))
	}
	url := path
	if !strings.HasPrefix(path, "http") {
		url = c.s.URL() + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, content)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"User-Agent": {"perfweir"}, "Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {apiVersion}}
	if content != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	return req
}

// try gives the error of a request that may fail on its way.
func (c client) try(t *testing.T, method, path string, body any) (response, error) {
	t.Helper()
	got, err := c.Do(c.request(t, method, path, body))
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return response{got.StatusCode, got.Header, string(text)}, err
}

func (c client) do(t *testing.T, method, path string, body any) response {
	t.Helper()
	r, err := c.try(t, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// want fails the test when a status is another one.
func (r response) want(t *testing.T, status int) response {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %s", r.status, status, r.text)
	}
	return r
}

const repo = "/repos/acme/widgets"

// world is a server with one of everything.
func world(t *testing.T, change ...func(*Options)) (*Server, scene) {
	s := New(t, change...)
	var w scene
	w.base = s.AddCommit(Commit{Message: "base", Files: map[string]string{"perfweir.yml": "suite: demo\n", "docs/a.md": "a", "docs/b/c.md": "c"}})
	w.main = s.AddCommit(Commit{Message: "main", Parents: []string{w.base}})
	w.head = s.AddCommit(Commit{Message: "head", Parents: []string{w.base}})
	s.SetBranch("main", w.main)
	w.run = s.AddRun(Run{Path: ".github/workflows/nightly.yml@refs/heads/main", HeadSHA: w.main})
	w.zip = ZipFile("results.json", []byte(`{"schema":"perfweir.results/v1"}`))
	w.artifact = s.AddArtifact(w.run, "perfweir-results", w.zip)
	w.pull = s.AddPull(Pull{Number: 7, Head: Ref{Ref: "faster", SHA: w.head}, Base: Ref{SHA: w.main}})
	w.comment = s.AddComment(w.pull, ActionsBot, "hello")
	w.check = s.AddCheckRun(CheckRun{Name: "perfweir / demo", HeadSHA: w.head,
		Annotations: []Annotation{{Path: "perfweir.yml", StartLine: 1, EndLine: 1, Level: "failure", Message: "slower"}}})
	s.Label(w.pull, "perf-accepted", "mona")
	s.SetPermission("mona", "write")
	return s, w
}

type scene struct {
	base, main, head string
	run, artifact    int64
	comment, check   int64
	pull             int
	zip              []byte
}

// rules are the violations so far, forgotten by the server.
func rules(s *Server) []string {
	var out []string
	for _, v := range s.TakeViolations() {
		out = append(out, v.Rule)
	}
	return out
}

// wantRule fails unless exactly one kind of rule was broken, and this one.
func wantRule(t *testing.T, s *Server, want string) {
	t.Helper()
	got := rules(s)
	if len(got) == 0 || slices.ContainsFunc(got, func(r string) bool { return !strings.Contains(r, want) }) {
		t.Errorf("violations %q, want only %q", got, want)
	}
}

// spy stands for a test that New fails.
type spy struct {
	cleanup []func()
	errors  []string
	fatal   []string
}

func (*spy) Helper()                     {}
func (s *spy) Cleanup(f func())          { s.cleanup = append(s.cleanup, f) }
func (s *spy) Errorf(f string, a ...any) { s.errors = append(s.errors, f) }
func (s *spy) Fatalf(f string, a ...any) { s.fatal = append(s.fatal, f) }

func TestViolationFailsTheTest(t *testing.T) {
	var told spy
	s := New(&told)
	clientOf(s).do(t, "GET", repo+"/issues?state=all", nil).want(t, 404)
	for _, f := range told.cleanup {
		f()
	}
	if len(told.errors) != 1 || len(told.fatal) != 0 {
		t.Errorf("errors %q, fatal %q; want one error", told.errors, told.fatal)
	}
}
