package ghtest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind names what goes wrong.
type Kind string

// The kinds. Those of the API are answered in GitHub's own words.
const (
	Status401         Kind = "401"                 // bad credentials
	Integration403    Kind = "403-integration"     // the token may not; on a list: the listing is refused
	PrimaryLimit403   Kind = "403-primary-limit"   // with the headers of an hour that is used up
	SecondaryLimit403 Kind = "403-secondary-limit" // without Retry-After
	RetryAfter429     Kind = "429"                 // with Retry-After
	Status404         Kind = "404"
	Status410         Kind = "410"
	TooLong422        Kind = "422-too-long"
	Status500         Kind = "500"
	Status502         Kind = "502" // an HTML page
	Moved             Kind = "moved"
	NoAnswer          Kind = "no-answer"  // until the client gives up, a minute at most
	Reset             Kind = "reset"      // carried out; the connection is reset in mid-body
	WrongType         Kind = "wrong-type" // the right bytes, called text/html
	HTMLPage          Kind = "html-page"  // 200 with a page of HTML
	TruncatedZip      Kind = "truncated"  // half of the bytes, whole by their length
	Unzipped          Kind = "unzipped"   // the archive's first file as it is: upload-artifact with archive: false
)

// kinds are all of them.
var kinds = []Kind{Status401, Integration403, PrimaryLimit403, SecondaryLimit403, RetryAfter429, Status404, Status410, TooLong422,
	Status500, Status502, Moved, NoAnswer, Reset, WrongType, HTMLPage, TruncatedZip, Unzipped}

// Fault is something that goes wrong with some requests. What the client did is
// judged all the same; what the fake then answers is not.
type Fault struct {
	Kind   Kind   `json:"kind"`
	Method string `json:"method,omitempty"` // zero: any
	// Path is the end of a path, "*" standing for one segment: "/issues/*/comments".
	// Zero: any path.
	Path  string `json:"path,omitempty"`
	Blob  bool   `json:"blob,omitempty"`  // at the blob host
	After int    `json:"after,omitempty"` // so many matching requests go well first
	Times int    `json:"times,omitempty"` // zero: for ever
	// CarriedOut: the request is carried out, and only its answer is bad.
	CarriedOut bool `json:"carried_out,omitempty"`
	// RetryAfter is what a 429 says, and how far away the reset of a primary limit
	// is. Zero: a minute.
	RetryAfter time.Duration `json:"-"`

	seen int
}

// Fail adds a fault. Of several that match, the first that still acts does.
func (s *Server) Fail(f Fault) {
	if err := s.addFault(f); err != nil {
		s.fatal("%v", err)
	}
}

func (s *Server) addFault(f Fault) error {
	if !slices.Contains(kinds, f.Kind) {
		return fmt.Errorf("there is no fault %q: one of %v", f.Kind, kinds)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
	return nil
}

// Heal takes all faults away.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Matches tells whether a request to the API has a method ("" is any) and a path
// that ends like pattern, as in Fault: for hooks.
func (s *Server) Matches(r *http.Request, method, pattern string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return (method == "" || method == r.Method) && endsLike(s.ownPath(r.URL.EscapedPath()), pattern)
}

func endsLike(path, pattern string) bool {
	want := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	got := strings.Split(path, "/")
	if pattern == "" {
		return true
	}
	if len(got) < len(want) {
		return false
	}
	for i, g := range got[len(got)-len(want):] {
		if want[i] != "*" && want[i] != g {
			return false
		}
	}
	return true
}

// takeFault finds the fault that strikes a request, and counts.
func (s *Server) takeFault(host string, r *http.Request) *Fault {
	path := s.ownPath(r.URL.EscapedPath())
	hasMoved := path != strings.TrimPrefix(r.URL.EscapedPath(), s.options.BasePath) // already asks for the repository's number
	for _, f := range s.faults {
		if f.Blob != (host == blobHost) || f.Method != "" && f.Method != r.Method || !endsLike(path, f.Path) {
			continue
		}
		if f.Kind == Moved && hasMoved {
			continue
		}
		f.seen++
		if f.seen > f.After && (f.Times == 0 || f.seen <= f.After+f.Times) {
			return f
		}
	}
	return nil
}

// isCarriedOut tells whether the request has its effect.
func (f *Fault) isCarriedOut() bool {
	switch f.Kind {
	case Reset, WrongType, TruncatedZip, Unzipped:
		return true
	}
	return f.CarriedOut
}

func (f *Fault) wait() time.Duration { return or(f.RetryAfter, time.Minute) }

// spoil makes the bad answer out of the good one, which is empty where the request
// was not carried out.
func (f *Fault) spoil(c *call, a answer) answer {
	bad := f.refusal(c)
	if f.Blob && bad.header.Get("Content-Type") == jsonType {
		retryAfter := bad.header.Get("Retry-After")
		bad = blobError(bad.status, strings.ReplaceAll(http.StatusText(bad.status), " ", ""))
		if retryAfter != "" {
			bad.header.Set("Retry-After", retryAfter)
		}
	}
	switch f.Kind {
	case NoAnswer, Reset:
		bad = a
	case WrongType, HTMLPage, TruncatedZip, Unzipped:
		bad = f.spoilBody(a)
	}
	for k, v := range a.header { // rate limits
		if strings.HasPrefix(k, "X-Ratelimit-") && bad.header.Get(k) == "" {
			bad.header[k] = v
		}
	}
	return bad
}

// refusal is the answer of the kinds that are errors of GitHub.
func (f *Fault) refusal(c *call) answer {
	switch f.Kind {
	case Status401:
		return refuse(http.StatusUnauthorized, "Bad credentials", docsOfAPI)
	case Integration403:
		return refuse(http.StatusForbidden, "Resource not accessible by integration", c.docs)
	case PrimaryLimit403:
		a := c.primaryLimit()
		Limit{Limit: c.state().Limit.Limit, Used: c.state().Limit.Limit, Reset: c.now.Add(f.wait())}.header(a.header)
		return a
	case SecondaryLimit403:
		return refuse(http.StatusForbidden, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", docsOfSecondary)
	case RetryAfter429:
		a := refuse(http.StatusTooManyRequests, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", docsOfSecondary)
		a.header.Set("Retry-After", fmt.Sprint(int(f.wait().Seconds())))
		return a
	case Status404:
		return notFound(c.docs)
	case Status410:
		return refuse(http.StatusGone, "Gone", c.docs)
	case TooLong422:
		return c.tooLong()
	case Status500:
		return refuse(http.StatusInternalServerError, "Server Error", c.docs)
	case Moved:
		return c.moved()
	case Status502:
		return htmlPage(http.StatusBadGateway, "502 Bad Gateway")
	}
	return answer{header: http.Header{}}
}

// moved sends a client to the repository's number, as after a rename: 301 for
// what only reads, 307 for what writes.
func (c *call) moved() answer {
	status := http.StatusTemporaryRedirect
	if c.req.Method == http.MethodGet || c.req.Method == http.MethodHead {
		status = http.StatusMovedPermanently
	}
	rest := strings.TrimPrefix(c.path, "/repos/"+c.state().Repository.FullName())
	to := fmt.Sprintf("%s/repositories/%d%s", c.s.URL(), c.state().Repository.ID, rest)
	if c.req.URL.RawQuery != "" {
		to += "?" + c.req.URL.RawQuery
	}
	a := reply(status, object{"message": http.StatusText(status), "url": to, "documentation_url": docsOfAPI})
	a.header.Set("Location", to)
	return a
}

func htmlPage(status int, title string) answer {
	return answer{status: status, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		body: []byte("<!DOCTYPE html><html><head><title>" + title + "</title></head><body><h1>" + title + "</h1></body></html>\n")}
}

func (f *Fault) spoilBody(a answer) answer {
	switch f.Kind {
	case WrongType:
		a.header.Set("Content-Type", "text/html; charset=utf-8")
	case HTMLPage:
		return htmlPage(http.StatusOK, "Sign in")
	case TruncatedZip:
		a.body = a.body[:len(a.body)/2]
	case Unzipped:
		first, err := firstFile(a.body)
		if err != nil {
			return htmlPage(http.StatusInternalServerError, err.Error())
		}
		a.body = first
		a.header.Set("Content-Type", "application/json")
	}
	return a
}

func firstFile(archive []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	if len(z.File) == 0 {
		return nil, fmt.Errorf("the archive is empty")
	}
	r, err := z.File[0].Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
