package ghtest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestPermissions is the table of who may what: each endpoint with the least
// permission that is enough, and without it.
func TestPermissions(t *testing.T) {
	s, w := world(t)
	comment := fmt.Sprintf("%s/issues/comments/%d", repo, w.comment)
	check := fmt.Sprintf("%s/check-runs/%d", repo, w.check)
	issue := s.AddIssue(Issue{Title: "no pull request"})
	for _, tt := range []struct {
		name, level  string
		method, path string
		body         any
		accepted     string
	}{
		{"actions", "read", "GET", repo + "/actions/runs", nil, "actions=read"},
		{"actions", "read", "GET", fmt.Sprintf("%s/actions/artifacts/%d/zip", repo, w.artifact), nil, "actions=read"},
		{"contents", "read", "GET", repo + "/contents/perfweir.yml", nil, "contents=read"},
		{"contents", "read", "GET", repo + "/compare/main...main", nil, "contents=read"},
		{"pull-requests", "read", "GET", repo + "/pulls/7", nil, "pull_requests=read"},
		{"pull-requests", "read", "GET", repo + "/issues/7/comments", nil, "issues=read; pull_requests=read"},
		{"issues", "read", "GET", repo + "/issues/7/comments", nil, "issues=read; pull_requests=read"},
		{"issues", "read", "GET", fmt.Sprintf("%s/issues/%d", repo, issue), nil, "issues=read; pull_requests=read"},
		{"pull-requests", "write", "POST", repo + "/issues/7/comments", object{"body": "b"}, "issues=write; pull_requests=write"},
		{"issues", "write", "PATCH", comment, object{"body": "b"}, "issues=write; pull_requests=write"},
		{"checks", "read", "GET", check, nil, "checks=read"},
		{"checks", "write", "PATCH", check, object{"status": "in_progress"}, "checks=write"},
		{"checks", "write", "POST", repo + "/check-runs", object{"name": "n", "head_sha": w.head}, "checks=write"},
		{"statuses", "write", "POST", repo + "/statuses/" + w.head, object{"state": "success"}, "statuses=write"},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			s.SetToken("enough", Token{App: ActionsApp, Permissions: map[string]string{tt.name: tt.level}})
			s.SetToken("write", Token{App: ActionsApp, Permissions: map[string]string{tt.name: "write"}})
			s.SetToken("none", Token{App: ActionsApp, Permissions: map[string]string{"deployments": "write"}})
			s.SetToken("fork", Token{App: ActionsApp, ReadOnly: true})
			c := clientOf(s)
			for _, token := range []string{"enough", "write"} {
				if r := c.as(token).do(t, tt.method, tt.path, tt.body); r.status >= 400 {
					t.Errorf("%s: status %d: %s", token, r.status, r.text)
				}
			}
			r := c.as("none").do(t, tt.method, tt.path, tt.body).want(t, 403)
			if m := r.message(t); m != "Resource not accessible by integration" {
				t.Errorf("message %q", m)
			}
			if got := r.header.Get("X-Accepted-GitHub-Permissions"); got != tt.accepted {
				t.Errorf("accepted permissions %q, want %q", got, tt.accepted)
			}
			if fork := c.as("fork").do(t, tt.method, tt.path, tt.body).status; (fork == 403) != (tt.level == "write") {
				t.Errorf("a fork's token: status %d where %s is needed", fork, tt.level)
			}
		})
	}
}

func TestPullPermissionOpensNoOtherIssue(t *testing.T) {
	s, _ := world(t)
	issue := s.AddIssue(Issue{})
	s.SetToken("pulls", Token{App: ActionsApp, Permissions: map[string]string{"pull-requests": "write"}})
	clientOf(s).as("pulls").do(t, "POST", fmt.Sprintf("%s/issues/%d/comments", repo, issue), object{"body": "b"}).want(t, 403)
}

func TestCredentials(t *testing.T) {
	s, _ := world(t)
	s.SetToken("short", Token{App: ActionsApp, ExpiresAt: s.Now().Add(time.Hour)})
	c := clientOf(s)
	if m := c.as("").do(t, "GET", repo, nil).want(t, 401).message(t); m != "Requires authentication" {
		t.Errorf("no token: %q", m)
	}
	if m := c.as("guessed").do(t, "GET", repo, nil).want(t, 401).message(t); m != "Bad credentials" {
		t.Errorf("wrong token: %q", m)
	}
	for scheme, want := range map[string]int{"token": 200, "bearer": 200, "Basic": 401} {
		other := c.as("")
		other.header = http.Header{"Authorization": {scheme + " " + DefaultToken}}
		other.do(t, "GET", repo, nil).want(t, want)
	}
	c.as("short").do(t, "GET", repo, nil).want(t, 200)
	s.Advance(time.Hour)
	c.as("short").do(t, "GET", repo, nil).want(t, 401)
	c.do(t, "GET", "/user", nil).want(t, 403) // an app is no user
	c.do(t, "GET", "/repos/acme/other", nil).want(t, 404)
	c.do(t, "GET", "/repos/ACME/Widgets", nil).want(t, 200)
}

func TestCommentRules(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	list, own := repo+"/issues/7/comments", fmt.Sprintf("%s/issues/comments/%d", repo, w.comment)

	c.do(t, "POST", list, object{"body": strings.Repeat("é", maxComment)}).want(t, 201) // characters, not bytes
	long := c.do(t, "POST", list, object{"body": strings.Repeat("é", maxComment+1)}).want(t, 422)
	first := long.object(t)["errors"].([]any)[0].(object)
	if m := long.message(t); m != "Validation Failed" || first["message"] != "Body is too long (maximum is 65536 characters)" || first["resource"] != "IssueComment" {
		t.Errorf("too long: %s", long.text)
	}
	c.do(t, "PATCH", own, object{"body": strings.Repeat("x", maxComment+1)}).want(t, 422)
	c.do(t, "POST", list, object{"body": ""}).want(t, 422)

	s.EditIssue(7, func(i *Issue) { i.Locked = true })
	if m := c.do(t, "POST", list, object{"body": "b"}).want(t, 403).message(t); !strings.Contains(m, "issue is locked") {
		t.Errorf("locked: %q", m)
	}
	c.do(t, "PATCH", own, object{"body": "b"}).want(t, 403)
	c.do(t, "GET", list, nil).want(t, 200)
	s.EditIssue(7, func(i *Issue) { i.Locked, i.Gone = false, true })
	c.do(t, "POST", list, object{"body": "b"}).want(t, 410)
	s.EditIssue(7, func(i *Issue) { i.Gone = false })

	s.DeleteComment(w.comment)
	for _, method := range []string{"GET", "DELETE"} {
		c.do(t, method, own, nil).want(t, 404)
	}
	c.do(t, "PATCH", own, object{"body": "b"}).want(t, 404)
	c.do(t, "POST", repo+"/issues/99/comments", object{"body": "b"}).want(t, 404)
}

func TestCommentsOfOthersAreTheirs(t *testing.T) {
	s, _ := world(t)
	theirs := fmt.Sprintf("%s/issues/comments/%d", repo, s.AddComment(7, "mallory", "<!-- perfweir:demo -->"))
	c := clientOf(s)
	c.do(t, "GET", theirs, nil).want(t, 200)
	c.do(t, "PATCH", theirs, object{"body": "b"}).want(t, 403)
	wantRule(t, s, "is mallory's, not github-actions[bot]'s")
	c.do(t, "DELETE", theirs, nil).want(t, 403)
	wantRule(t, s, "is mallory's")
	if got := s.Comments(7); len(got) != 2 || got[1].Body != "<!-- perfweir:demo -->" {
		t.Errorf("comments %+v", got)
	}
}

func TestCheckRunsBelongToTheirApp(t *testing.T) {
	s, w := world(t)
	s.SetToken("ghp_person", Token{})
	s.SetToken("other", Token{App: "other-app"})
	c := clientOf(s)
	one, body := fmt.Sprintf("%s/check-runs/%d", repo, w.check), object{"name": "n", "head_sha": w.head}
	if m := c.as("ghp_person").do(t, "POST", repo+"/check-runs", body).want(t, 403).message(t); m != "You must authenticate via a GitHub App." {
		t.Errorf("person: %q", m)
	}
	c.as("ghp_person").do(t, "PATCH", one, object{"name": "n"}).want(t, 403)
	if m := c.as("other").do(t, "PATCH", one, object{"name": "n"}).want(t, 403).message(t); !strings.HasPrefix(m, "Invalid app_id `15368`") {
		t.Errorf("another app: %q", m)
	}
	c.as("other").do(t, "POST", repo+"/check-runs", body).want(t, 201)
	byApp := c.do(t, "GET", repo+"/commits/"+w.head+"/check-runs?app_id=15368", nil).want(t, 200)
	if n := byApp.object(t)["total_count"]; n != 1.0 {
		t.Errorf("%v check runs of github-actions, want 1", n)
	}
}

func TestHeadSHA(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	c.do(t, "POST", repo+"/check-runs", object{"name": "n", "head_sha": w.head[:7]}).want(t, 422)
	wantRule(t, s, "no whole hash")
	c.do(t, "POST", repo+"/check-runs", object{"name": "n", "head_sha": "refs/heads/main"}).want(t, 422)
	wantRule(t, s, "no whole hash")
	unknown := fakeSHA("nowhere")
	if m := c.do(t, "POST", repo+"/check-runs", object{"name": "n", "head_sha": unknown}).want(t, 422).message(t); m != "No commit found for SHA: "+unknown {
		t.Errorf("unknown commit: %q", m)
	}
	c.do(t, "POST", repo+"/statuses/"+unknown, object{"state": "success"}).want(t, 422)
}

func TestAnnotationsAddUpAndAreCountedInBytes(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	one := fmt.Sprintf("%s/check-runs/%d", repo, w.check)
	output := func(a ...object) object {
		return object{"output": object{"title": "t", "summary": "s", "annotations": a}}
	}
	c.do(t, "PATCH", one, output(annotations(50)...)).want(t, 200)
	r := c.do(t, "PATCH", one, output(annotations(50)...)).want(t, 200)
	if n := r.object(t)["output"].(object)["annotations_count"]; n != 101.0 {
		t.Errorf("%v annotations, want 1 + 50 + 50", n)
	}
	for name, change := range map[string]object{
		"title":      {"title": strings.Repeat("é", 128)},
		"message":    {"message": strings.Repeat("é", 32769)},
		"absolute":   {"path": "/etc/passwd"},
		"no line":    {"start_line": 0},
		"backwards":  {"end_line": 0},
		"columns":    {"end_line": 9, "start_column": 1, "end_column": 2},
		"raw detail": {"raw_details": strings.Repeat("x", 65537)},
	} {
		a := annotations(1)[0]
		for k, v := range change {
			a[k] = v
		}
		if got := c.do(t, "PATCH", one, output(a)).status; got != 422 {
			t.Errorf("%s: status %d, want 422", name, got)
		}
	}
	long := c.do(t, "PATCH", one, object{"output": object{"title": "t", "summary": strings.Repeat("é", 40000)}}).want(t, 422)
	if !strings.Contains(long.text, "summary exceeds a maximum bytesize of 65535") {
		t.Errorf("summary: %s", long.text)
	}
	if n := len(s.CheckRuns()[0].Annotations); n != 101 {
		t.Errorf("%d annotations, want 101: what is refused changes nothing", n)
	}
}

func TestConclusionCompletes(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	one := fmt.Sprintf("%s/check-runs/%d", repo, w.check)
	c.do(t, "PATCH", one, object{"conclusion": "failure"}).want(t, 200)
	if got := s.CheckRuns()[0]; got.Status != "completed" || !got.CompletedAt.Equal(s.Now()) {
		t.Errorf("check run %+v", got)
	}
	c.do(t, "PATCH", one, object{"status": "in_progress"}).want(t, 200)
	if got := s.CheckRuns()[0]; got.Conclusion != "" || !got.CompletedAt.IsZero() {
		t.Errorf("reopened check run %+v", got)
	}
	c.do(t, "POST", repo+"/check-runs", object{"name": "n", "head_sha": w.head, "status": "completed"}).want(t, 422)
	s.TakeViolations() // whichever of referee and fake said it
}

func TestNewestCheckRunOfAName(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	c.do(t, "POST", repo+"/check-runs", object{"name": "perfweir / demo", "head_sha": w.head}).want(t, 201)
	path := repo + "/commits/" + w.head + "/check-runs?check_name=perfweir+%2F+demo"
	for query, want := range map[string]int{"": 1, "&filter=latest": 1, "&filter=all": 2, "&status=completed": 0} {
		r := c.do(t, "GET", path+query, nil).want(t, 200).object(t)
		runs := r["check_runs"].([]any)
		if len(runs) != want {
			t.Errorf("%s: %d check runs, want %d", query, len(runs), want)
		}
		if want == 2 && runs[0].(object)["id"].(float64) < runs[1].(object)["id"].(float64) {
			t.Errorf("%s: oldest first", query)
		}
	}
}

func TestStatusRules(t *testing.T) {
	s, w := world(t)
	c := clientOf(s)
	path := repo + "/statuses/" + w.head
	c.do(t, "POST", path, object{"state": "success", "description": strings.Repeat("x", 141)}).want(t, 422)
	c.do(t, "POST", path, object{"state": "success", "context": "perfweir / demo", "target_url": nil}).want(t, 201)
	if got := s.Statuses(); len(got) != 1 || got[0].Context != "perfweir / demo" || got[0].SHA != w.head || got[0].Creator != ActionsBot {
		t.Errorf("statuses %+v", got)
	}
}

func TestPrimaryLimitRunsOut(t *testing.T) {
	s, _ := world(t, func(o *Options) { o.State.Limit.Limit = 2 })
	c := clientOf(s)
	first := c.do(t, "GET", repo, nil).want(t, 200)
	if first.header.Get("X-RateLimit-Limit") != "2" || first.header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("headers %v", first.header)
	}
	c.do(t, "GET", repo, nil).want(t, 200)
	r := c.do(t, "GET", repo, nil).want(t, 403)
	if r.header.Get("X-RateLimit-Remaining") != "0" || !strings.HasPrefix(r.message(t), "API rate limit exceeded") {
		t.Errorf("%v %s", r.header, r.text)
	}
	c.do(t, "GET", "/rate_limit", nil).want(t, 200) // costs nothing
	s.Advance(time.Hour)
	c.do(t, "GET", repo, nil).want(t, 200)
}

func TestDateIsTheFakesClock(t *testing.T) {
	s, _ := world(t)
	s.Advance(48 * time.Hour)
	r := clientOf(s).do(t, "GET", repo, nil)
	if got := r.header.Get("Date"); got != epoch.Add(48*time.Hour).Format(http.TimeFormat) {
		t.Errorf("Date %s", got)
	}
}
