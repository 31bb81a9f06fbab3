package ghtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	defaultPerPage = 30
	maxPerPage     = 100
	// maxFiltered is how many workflow runs GitHub lists where a filter is given.
	maxFiltered = 1000
)

// pageOf cuts the page that a call asks for out of all items, with the Link
// header that goes with it. A page beyond the last is empty.
func pageOf[T any](c *call, all []T) (shown []T, links string) {
	perPage := min(positive(c.query.Get("per_page"), defaultPerPage), maxPerPage)
	page := positive(c.query.Get("page"), 1)
	last := max(1, (len(all)+perPage-1)/perPage)
	from := min((page-1)*perPage, len(all))
	return all[from:min(from+perPage, len(all))], c.links(page, last)
}

func positive(text string, otherwise int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return otherwise
	}
	return n
}

// links are the addresses of other pages, absolute. Those of commits and
// conversations name the repository by its number, as GitHub's do for most
// lists: a client must follow them as they are.
func (c *call) links(page, last int) string {
	var out []string
	add := func(rel string, n int) {
		q := url.Values{}
		for k, v := range c.query {
			q[k] = v
		}
		q.Set("page", strconv.Itoa(n))
		out = append(out, fmt.Sprintf(`<%s?%s>; rel="%s"`, c.selfByID(), q.Encode(), rel))
	}
	if page > 1 {
		add("prev", min(page-1, last))
	}
	if page < last {
		add("next", page+1)
		add("last", last)
	}
	if page > 1 {
		add("first", 1)
	}
	return strings.Join(out, ", ")
}

func (c *call) selfByID() string {
	own := "/repos/" + c.s.state.Repository.FullName()
	rest, ok := strings.CutPrefix(c.path, own)
	if ok && (strings.HasPrefix(rest, "/issues/") || strings.HasPrefix(rest, "/commits")) {
		return fmt.Sprintf("%s/repositories/%d%s", c.s.URL(), c.s.state.Repository.ID, rest)
	}
	return c.s.URL() + c.path
}

// list answers with a page of items in the order given. envelope names the field
// that holds them beside total_count; "" answers with the bare list.
func list[T any](c *call, envelope string, all []T, show func(T) object) answer {
	page, links := pageOf(c, all)
	shown := make([]object, len(page))
	for i, v := range page {
		shown[i] = show(v)
	}
	var body any = shown
	if envelope != "" {
		body = object{"total_count": len(all), envelope: shown}
	}
	a := reply(http.StatusOK, body)
	if links != "" {
		a.header.Set("Link", links)
	}
	return a
}
