package ghtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxBody is far over what GitHub takes: a client that sends more is broken.
const maxBody = 16 << 20

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	if s.options.Control && strings.HasPrefix(r.URL.Path, controlPath) {
		s.control(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client went away or sent too much
	}
	s.mu.Lock()
	hooks := slices.Clone(s.hooks)
	s.mu.Unlock()
	for _, hook := range hooks {
		r.Body = io.NopCloser(bytes.NewReader(body))
		hook(r)
	}
	a, f := s.answerAPI(r, body)
	s.send(w, r, a, f)
}

// answerAPI judges a request, carries it out and judges the answer. The answer is
// logged before it is sent, so that a test that has it finds it in Requests.
func (s *Server) answerAPI(r *http.Request, body []byte) (answer, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{s: s, req: r, query: r.URL.Query(), now: s.now(), docs: docsOfAPI}
	c.path = s.ownPath(r.URL.EscapedPath())
	e, params, known := matchPath(s.endpoints, r.Method, c.path)
	c.params = params
	ref, described := s.desc.referee(e.method, e.path, params)
	known = known && described
	var broken []string
	c.judgeHeaders()
	if known {
		c.docs = ref.route.Operation.ExternalDocs.URL
		broken = c.judge(e, ref, body)
	} else {
		s.violate(r, ruleUnknown, "the description has no such operation")
	}

	f := s.takeFault(apiHost, r)
	a := answer{header: http.Header{}}
	if f == nil || f.isCarriedOut() {
		a = c.answer(e, known, broken, body)
		if known {
			for _, reason := range ref.answer(r, a) {
				s.violate(r, ruleAnswer, "%d: %s", a.status, reason)
			}
		}
	}
	s.state.Limit.window(c.now)
	s.state.Limit.header(a.header)
	if f != nil {
		a = f.spoil(c, a)
	}
	c.commonHeaders(a.header)
	s.record(apiHost, r, a.status, f)
	return a, f
}

// ownPath takes the base path away and names the repository where the path has
// its number.
func (s *Server) ownPath(escaped string) string {
	path := strings.TrimPrefix(escaped, s.options.BasePath)
	byID := fmt.Sprintf("/repositories/%d", s.state.Repository.ID)
	if rest, ok := strings.CutPrefix(path, byID); ok && (rest == "" || rest[0] == '/') {
		return "/repos/" + s.state.Repository.FullName() + rest
	}
	return path
}

// judgeHeaders looks for what every request to GitHub must say of itself.
func (c *call) judgeHeaders() {
	accept := c.req.Header.Get("Accept")
	if c.req.Header.Get("User-Agent") == "" {
		c.s.violate(c.req, ruleHeader, "no User-Agent: GitHub answers 403")
	}
	if !strings.Contains(accept, "application/vnd.github") && !strings.Contains(accept, "application/json") {
		c.s.violate(c.req, ruleHeader, "Accept is %q, want application/vnd.github+json", accept)
	}
	if v := c.req.Header.Get("X-GitHub-Api-Version"); v != apiVersion {
		c.s.violate(c.req, ruleHeader, "X-GitHub-Api-Version is %q, want %q", v, apiVersion)
	}
}

// apiVersion is the one whose bodies the fake has.
const apiVersion = "2022-11-28"

// judge records what is wrong with a request and returns what GitHub would refuse.
func (c *call) judge(e endpoint, ref referee, body []byte) (broken []string) {
	broken = ref.request(c.req, body)
	for _, reason := range broken {
		c.s.violate(c.req, ruleRequest, "%s", reason)
	}
	for _, what := range ref.unknown(c.query, body) {
		c.s.violate(c.req, ruleUnknown, "%s", what)
	}
	for _, name := range sortedKeys(c.query) {
		if slices.Contains(ref.queryNames(), name) && !slices.Contains(e.query, name) {
			c.s.violate(c.req, ruleNotModeled, "query parameter %s", name)
		}
	}
	return broken
}

// answer carries a request out, in GitHub's order: limit, credentials, existence,
// permission, form.
func (c *call) answer(e endpoint, known bool, broken []string, body []byte) answer {
	if e.path != "/rate_limit" && !c.state().Limit.spend(c.now) {
		return c.primaryLimit()
	}
	if refused := c.authenticate(); refused != nil {
		return *refused
	}
	if !known || !c.isOurRepository() {
		return notFound(c.docs)
	}
	if !c.token.may(e.needs...) {
		return c.forbidden(e.needs...)
	}
	if len(broken) > 0 {
		return refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+strings.Join(broken, "\n"), c.docs)
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &c.body); err != nil {
			return refuse(http.StatusBadRequest, "Problems parsing JSON", c.docs)
		}
	}
	return e.serve(c)
}

func (c *call) isOurRepository() bool {
	owner, isAbout := c.params["owner"]
	return !isAbout || strings.EqualFold(owner+"/"+c.params["repo"], c.state().Repository.FullName())
}

func (c *call) commonHeaders(h http.Header) {
	h.Set("Date", c.now.UTC().Format(http.TimeFormat)) // the fake's clock, not the machine's
	h.Set("X-GitHub-Api-Version-Selected", apiVersion)
	h.Set("X-GitHub-Request-Id", fmt.Sprintf("STND:%04X", len(c.s.requests)))
}

// maxHold bounds how long a request without an answer is held.
const maxHold = time.Minute

// send writes an answer, or does with the connection what a fault says.
func (s *Server) send(w http.ResponseWriter, r *http.Request, a answer, f *Fault) {
	if f != nil && f.Kind == NoAnswer {
		held := time.NewTimer(maxHold)
		defer held.Stop()
		select {
		case <-r.Context().Done():
		case <-s.closed:
		case <-held.C:
		}
		panic(http.ErrAbortHandler)
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	if f != nil && f.Kind == Reset {
		cutOff(w, a)
		return
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that went away is its own matter
}

// cutOff sends a whole header, half of the body, and resets the connection.
func cutOff(w http.ResponseWriter, a answer) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // close sends RST
	}
	h := w.Header()
	h.Set("Content-Length", fmt.Sprint(len(a.body)))
	fmt.Fprintf(buffered, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	_ = h.Write(buffered)
	_, _ = buffered.WriteString("\r\n")
	_, _ = buffered.Write(a.body[:len(a.body)/2])
	_ = buffered.Flush()
}
