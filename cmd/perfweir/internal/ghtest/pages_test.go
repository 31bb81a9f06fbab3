package ghtest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

var nextLink = regexp.MustCompile(`<([^>]*)>; rel="next"`)

// follow reads a list to its end by its links alone.
func follow(t *testing.T, c client, path string, count func(response) int) (total, pages int, last string) {
	t.Helper()
	for path != "" {
		r := c.do(t, "GET", path, nil).want(t, 200)
		total, pages, last = total+count(r), pages+1, path
		path = ""
		if m := nextLink.FindStringSubmatch(r.header.Get("Link")); m != nil {
			path = m[1]
		}
	}
	return total, pages, last
}

func TestPagesOfComments(t *testing.T) {
	s, _ := world(t)
	for i := range 120 {
		s.AddComment(7, "mona", fmt.Sprint("comment ", i))
	}
	c := clientOf(s)
	count := func(r response) int { return len(r.list(t)) }
	total, pages, last := follow(t, c, repo+"/issues/7/comments", count)
	if total != 121 || pages != 5 || !strings.Contains(last, "/repositories/4242/issues/7/comments?page=5") {
		t.Errorf("%d comments on %d pages, the last at %s", total, pages, last)
	}
	if total, pages, _ = follow(t, c, repo+"/issues/7/comments?per_page=500", count); total != 121 || pages != 2 {
		t.Errorf("%d comments on %d pages, want at most 100 on each", total, pages)
	}
	if r := c.do(t, "GET", repo+"/issues/7/comments?page=9", nil).want(t, 200); len(r.list(t)) != 0 || !strings.Contains(r.header.Get("Link"), `rel="first"`) {
		t.Errorf("beyond the end: %s %s", r.header.Get("Link"), r.text)
	}
	if got := c.do(t, "GET", repo+"/issues/7/comments?per_page=2", nil).list(t); got[0]["id"].(float64) > got[1]["id"].(float64) {
		t.Errorf("newest first")
	}
}

func TestFilteredRunsEndAtAThousand(t *testing.T) {
	s, w := world(t)
	s.Edit(func(st *State) {
		for i := range 1150 {
			st.Runs = append(st.Runs, Run{ID: int64(100000 + i), HeadSHA: w.main, CreatedAt: epoch.Add(time.Duration(i) * time.Minute)})
		}
	})
	c := clientOf(s)
	for query, want := range map[string]int{"&page=12": 50, "&page=13": 0, "&branch=main&page=10": 100, "&branch=main&page=11": 0} {
		r := c.do(t, "GET", repo+"/actions/workflows/ci.yml/runs?per_page=100"+query, nil).want(t, 200)
		if got := len(r.object(t)["workflow_runs"].([]any)); got != want {
			t.Errorf("%s: %d runs, want %d", query, got, want)
		}
		if hasNext := nextLink.MatchString(r.header.Get("Link")); hasNext {
			t.Errorf("%s: there is a next page", query)
		}
	}
	newest := c.do(t, "GET", repo+"/actions/runs?per_page=1", nil).object(t)["workflow_runs"].([]any)[0].(object)
	if newest["id"] != 101149.0 {
		t.Errorf("newest run %v", newest["id"])
	}
}

func TestWorkflowsWithoutRuns(t *testing.T) {
	s, _ := world(t)
	s.Edit(func(st *State) { st.Workflows = []string{".github/workflows/weekly.yml"} })
	c := clientOf(s)
	if r := c.do(t, "GET", repo+"/actions/workflows/weekly.yml/runs", nil).want(t, 200); r.object(t)["total_count"] != 0.0 {
		t.Errorf("%s", r.text)
	}
	c.do(t, "GET", repo+"/actions/workflows/never.yml/runs", nil).want(t, 404)
}
