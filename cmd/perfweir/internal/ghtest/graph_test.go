package ghtest

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"
)

// history is
//
//	a - b - c - m   main, m a merge of c and f
//	     \     /
//	      d - f - g topic
//	 z            unrelated
func history(t *testing.T) (*Server, map[string]string) {
	s := New(t)
	sha := map[string]string{}
	at := 0
	add := func(name string, files map[string]string, parents ...string) {
		at++
		c := Commit{Message: name, Files: files, Date: epoch.Add(time.Duration(at) * time.Minute)}
		for _, p := range parents {
			c.Parents = append(c.Parents, sha[p])
		}
		sha[name] = s.AddCommit(c)
	}
	add("a", map[string]string{"perfweir.yml": "old"})
	add("b", nil, "a")
	add("d", map[string]string{"perfweir.yml": "new", "suites/x/perfweir.yml": "x"}, "b")
	add("c", nil, "b")
	add("f", nil, "d")
	add("m", nil, "c", "f")
	add("g", nil, "f")
	add("z", nil)
	s.SetBranch("main", sha["m"])
	s.SetBranch("topic/g", sha["g"])
	return s, sha
}

func TestAncestors(t *testing.T) {
	s, sha := history(t)
	for start, want := range map[string]string{"": "m f c d b a", "main": "m f c d b a", "topic/g": "g f d b a", sha["c"]: "c b a"} {
		var got []string
		for _, c := range clientOf(s).do(t, "GET", repo+"/commits?sha="+start, nil).want(t, 200).list(t) {
			got = append(got, c["commit"].(object)["message"].(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", start, got, want)
		}
	}
	clientOf(s).do(t, "GET", repo+"/commits?sha=nowhere", nil).want(t, 404)
}

// Dates that lie do not put a parent before its child.
func TestAncestorsWithTurnedClocks(t *testing.T) {
	s := New(t)
	old := s.AddCommit(Commit{Message: "parent", Date: epoch.Add(time.Hour)})
	s.SetBranch("main", s.AddCommit(Commit{Message: "child", Parents: []string{old}, Date: epoch}))
	got := clientOf(s).do(t, "GET", repo+"/commits", nil).want(t, 200).list(t)
	if got[0]["commit"].(object)["message"] != "child" {
		t.Errorf("first is %v", got[0]["commit"])
	}
}

func TestCompare(t *testing.T) {
	s, sha := history(t)
	for _, tt := range []struct {
		base, head, mergeBase, status string
		ahead, behind                 float64
		commits                       string
	}{
		{"main", "topic/g", "f", "diverged", 1, 2, "g"},
		{sha["c"], sha["f"], "b", "diverged", 2, 1, "d f"},
		{sha["b"], sha["m"], "b", "ahead", 4, 0, "d c f m"},
		{sha["m"], sha["a"], "a", "behind", 0, 5, ""},
		{"main", "acme:main", "m", "identical", 0, 0, ""},
	} {
		r := clientOf(s).do(t, "GET", repo+"/compare/"+tt.base+"..."+tt.head, nil).want(t, 200).object(t)
		var commits []string
		for _, c := range r["commits"].([]any) {
			commits = append(commits, c.(object)["commit"].(object)["message"].(string))
		}
		if r["merge_base_commit"].(object)["sha"] != sha[tt.mergeBase] || r["status"] != tt.status || r["ahead_by"] != tt.ahead ||
			r["behind_by"] != tt.behind || strings.Join(commits, " ") != tt.commits {
			t.Errorf("%s...%s: %v %v %v %v", tt.base, tt.head, r["status"], r["ahead_by"], r["behind_by"], commits)
		}
	}
	for _, bad := range []string{sha["m"] + "..." + sha["z"], "main...nowhere", "main..topic"} {
		clientOf(s).do(t, "GET", repo+"/compare/"+bad, nil).want(t, 404)
	}
}

func TestContents(t *testing.T) {
	s, sha := history(t)
	c := clientOf(s)
	for ref, want := range map[string]string{"": "old", sha["f"]: "new", "topic%2Fg": "new"} {
		f := c.do(t, "GET", repo+"/contents/perfweir.yml?ref="+ref, nil).want(t, 200).object(t)
		text, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(f["content"].(string), "\n", ""))
		if err != nil || string(text) != want {
			t.Errorf("%s: %q %v, want %q", ref, text, err, want)
		}
	}
	nested := c.do(t, "GET", repo+"/contents/suites?ref="+sha["g"], nil).want(t, 200).list(t)
	if len(nested) != 1 || nested[0]["type"] != "dir" || nested[0]["path"] != "suites/x" {
		t.Errorf("folder %v", nested)
	}
	c.do(t, "GET", repo+"/contents/suites/x/perfweir.yml?ref="+sha["g"], nil).want(t, 200)
	c.do(t, "GET", repo+"/contents/suites/x/perfweir.yml?ref="+sha["a"], nil).want(t, 404)
	c.do(t, "GET", repo+"/contents/perfweir.yml?ref=nowhere", nil).want(t, 404)
	c.header = map[string][]string{"Accept": {"application/vnd.github.raw+json"}}
	if r := c.do(t, "GET", repo+"/contents/perfweir.yml", nil).want(t, 200); r.text != "old" {
		t.Errorf("raw %q", r.text)
	}
}

func TestPullsOfACommit(t *testing.T) {
	s, sha := history(t)
	own := s.AddPull(Pull{Head: Ref{Ref: "topic/g", SHA: sha["g"]}, Base: Ref{SHA: sha["m"]}, MergeCommitSHA: sha["z"]})
	fork := s.AddPull(Pull{Head: Ref{Ref: "main", SHA: sha["g"], Repo: Fork{FullName: "mallory/widgets", ID: 666}}, Base: Ref{SHA: sha["m"]}})
	gone := s.AddPull(Pull{State: "closed", Head: Ref{Ref: "main", SHA: sha["g"], Repo: Fork{Gone: true}}, Base: Ref{SHA: sha["m"]}})
	c := clientOf(s)
	numbers := func(path string) (out []int) {
		for _, p := range c.do(t, "GET", path, nil).want(t, 200).list(t) {
			out = append(out, int(p["number"].(float64)))
		}
		return out
	}
	for path, want := range map[string][]int{
		"/commits/" + sha["g"] + "/pulls":     {own}, // not the fork's
		"/commits/" + sha["a"] + "/pulls":     nil,
		"/pulls":                              {fork, own},
		"/pulls?state=all&direction=asc":      {own, fork, gone},
		"/pulls?head=mallory:main":            {fork},
		"/pulls?head=acme:topic%2Fg":          {own},
		"/pulls?base=release&state=all":       nil,
		"/pulls?state=closed&sort=updated":    {gone},
		"/pulls?state=open&per_page=1&page=2": {own},
	} {
		if got := numbers(repo + path); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	numbers(repo + "/pulls?sort=popularity")
	wantRule(t, s, "not modelled: sort=popularity")
	if head := c.do(t, "GET", repo+"/pulls/3", nil).want(t, 200).object(t)["head"].(object); head["repo"] != nil {
		t.Errorf("a fork that is gone: %v", head["repo"])
	}
	if r := c.do(t, "GET", repo+"/commits/refs%2Fpull%2F1%2Fmerge", nil).want(t, 200).object(t); r["sha"] != sha["z"] {
		t.Errorf("merge ref is %v", r["sha"])
	}
}

func TestLabelsAndWhoSetThem(t *testing.T) {
	s, _ := world(t)
	s.Unlabel(7, "perf-accepted", "eve")
	s.Label(7, "perf-accepted", "eve")
	c := clientOf(s)
	if l := c.do(t, "GET", repo+"/issues/7/labels", nil).want(t, 200).list(t); len(l) != 1 || l[0]["name"] != "perf-accepted" {
		t.Errorf("labels %v", l)
	}
	events := c.do(t, "GET", repo+"/issues/7/events", nil).want(t, 200).list(t)
	if len(events) != 3 || events[0]["actor"].(object)["login"] != "mona" || events[2]["actor"].(object)["login"] != "eve" || events[2]["event"] != "labeled" {
		t.Errorf("events %v", events)
	}
	if p := c.do(t, "GET", repo+"/collaborators/mona/permission", nil).want(t, 200).object(t); p["permission"] != "write" {
		t.Errorf("permission %v", p)
	}
	c.do(t, "GET", repo+"/collaborators/eve/permission", nil).want(t, 404)
}
