package ghtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// endpoint is an operation that the fake serves.
type endpoint struct {
	method string
	path   string // template, as the description has it
	// query are the parameters that are modelled. Another one that GitHub knows is
	// a violation: a test must not lean on what the fake ignores.
	query []string
	// needs are permissions ("checks:write"), any of which is enough; none: a
	// valid token.
	needs []string
	serve func(*call) answer
}

// endpoints are all operations, family by family.
func endpoints() []endpoint {
	return slices.Concat(repositoryEndpoints(), workflowEndpoints(), artifactEndpoints(), commitEndpoints(), contentEndpoints(),
		pullEndpoints(), conversationEndpoints(), commentEndpoints(), checkEndpoints(), statusEndpoints())
}

// paged are the parameters of every list.
func paged(more ...string) []string { return append([]string{"per_page", "page"}, more...) }

// call is one request while it is served. The server's lock is held.
type call struct {
	s      *Server
	req    *http.Request
	path   string // after the base path; the repository by its name
	query  url.Values
	params map[string]string
	body   object // of a request that has one
	token  Token
	docs   string // where GitHub describes the operation
	now    time.Time
}

func (c *call) state() *State { return &c.s.state }

// number is a path parameter; one that is no number finds nothing.
func (c *call) number(name string) int64 {
	n, err := strconv.ParseInt(c.params[name], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// text is a property of the body, "" where it is missing or null.
func (c *call) text(name string) string {
	s, _ := c.body[name].(string)
	return s
}

// decodeBody fills v from a part of the body that the referee has let through.
func decodeBody(part, v any) error { return json.Unmarshal(encode(part), v) }

// matchPath finds the endpoint of a path: the template with the most words of its
// own. Only a parameter at the end may hold slashes, and only of what has them in
// GitHub: files, branches, comparisons.
func matchPath(all []endpoint, method, path string) (e endpoint, params map[string]string, ok bool) {
	best := -1
	for _, candidate := range all {
		p, literals := matchTemplate(candidate.path, path)
		if candidate.method == method && literals > best {
			e, params, best = candidate, p, literals
		}
	}
	return e, params, best >= 0
}

// matchTemplate gives the parameters of an escaped path and how many segments are
// words of the template; -1: no match.
func matchTemplate(template, path string) (params map[string]string, literals int) {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	last := want[len(want)-1]
	if len(got) > len(want) && slices.Contains([]string{"{path}", "{ref}", "{basehead}"}, last) {
		got = append(got[:len(want)-1:len(want)-1], strings.Join(got[len(want)-1:], "/"))
	}
	if len(got) != len(want) {
		return nil, -1
	}
	params = map[string]string{}
	for i, w := range want {
		name, isParam := strings.CutPrefix(w, "{")
		value, err := url.PathUnescape(got[i])
		switch {
		case err != nil || value == "" && isParam:
			return nil, -1
		case isParam:
			params[strings.TrimSuffix(name, "}")] = value
		case value != w:
			return nil, -1
		default:
			literals++
		}
	}
	return params, literals
}
