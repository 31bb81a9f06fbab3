package ghtest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func annotations(n int) []object {
	out := make([]object, n)
	for i := range out {
		out[i] = object{"path": "perfweir.yml", "start_line": i + 1, "end_line": i + 1, "annotation_level": "failure", "message": "slower"}
	}
	return out
}

// checkOf is a good check run with an output changed.
func checkOf(sha string, output object) object {
	whole := object{"title": "t", "summary": "s"}
	for k, v := range output {
		whole[k] = v
	}
	return object{"name": "perfweir / demo", "head_sha": sha, "status": "in_progress", "output": whole}
}

func TestRefereeNoticesWrongRequests(t *testing.T) {
	s, w := world(t)
	one := fmt.Sprintf("%s/check-runs/%d", repo, w.check)
	badLevel := annotations(1)
	badLevel[0]["annotation_level"] = "error"
	badProperty := annotations(1)
	badProperty[0]["severity"] = "high"
	for _, tt := range []struct {
		name, method, path string
		body               any
		status             int
		rule               string
	}{
		{"51 annotations", "POST", repo + "/check-runs", checkOf(w.head, object{"annotations": annotations(51)}), 422, "maximum number of items is 50"},
		{"51 annotations later", "PATCH", one, object{"output": object{"title": "t", "summary": "s", "annotations": annotations(51)}}, 422, "maximum number of items is 50"},
		{"level", "POST", repo + "/check-runs", checkOf(w.head, object{"annotations": badLevel}), 422, "/annotation_level"},
		{"summary", "POST", repo + "/check-runs", checkOf(w.head, object{"summary": strings.Repeat("x", 65536)}), 422, "maximum string length is 65535"},
		{"status", "POST", repo + "/check-runs", object{"name": "n", "head_sha": w.head, "status": "running"}, 422, "/status"},
		{"state", "POST", repo + "/statuses/" + w.head, object{"state": "passed"}, 422, "/state"},
		{"no body", "POST", repo + "/issues/7/comments", nil, 422, "body"},
		{"no text", "POST", repo + "/issues/7/comments", object{}, 422, `"body" is missing`},
		{"no JSON", "POST", repo + "/issues/7/comments", "{", 422, "body"},
		{"text is a number", "POST", repo + "/issues/7/comments", object{"body": 7}, 422, "/body"},
		{"page is a word", "GET", repo + "/issues/7/comments?page=two", nil, 422, "parameter page"},
		{"id is a word", "GET", repo + "/actions/runs/latest", nil, 422, "parameter run_id"},
		{"unknown parameter", "GET", repo + "/actions/runs?sort=asc", nil, 200, "unknown: query parameter sort"},
		{"unknown property", "POST", repo + "/issues/7/comments", object{"body": "b", "sticky": true}, 201, "unknown: property /sticky"},
		{"unknown property deep down", "POST", repo + "/check-runs", checkOf(w.head, object{"annotations": badProperty}), 201, "unknown: property /output/annotations/0/severity"},
		{"a body where there is none", "GET", repo + "/issues/7", object{"a": 1}, 200, "unknown: a body"},
		{"not modelled", "GET", repo + "/commits?path=perfweir.yml", nil, 200, "not modelled: query parameter path"},
		{"unknown path", "GET", repo + "/branches", nil, 404, "no such operation"},
		{"unknown method", "DELETE", repo + "/issues/7", nil, 404, "no such operation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := clientOf(s).do(t, tt.method, tt.path, tt.body).want(t, tt.status)
			if tt.status >= 400 && r.object(t)["documentation_url"] == nil {
				t.Errorf("no documentation_url in %s", r.text)
			}
			wantRule(t, s, tt.rule)
		})
	}
	if n := len(s.CheckRuns()); n != 2 {
		t.Errorf("%d check runs, want the first and the one that was only unknown in part", n)
	}
}

func TestRefereeNoticesHeaders(t *testing.T) {
	s, _ := world(t)
	for _, tt := range []struct{ header, value, rule string }{
		{"User-Agent", "", "no User-Agent"},
		{"Accept", "*/*", "Accept is"},
		{"X-Github-Api-Version", "", "X-GitHub-Api-Version is"},
		{"X-Github-Api-Version", "2021-01-01", "X-GitHub-Api-Version is"},
	} {
		c := clientOf(s)
		c.header = http.Header{tt.header: {tt.value}}
		c.do(t, "GET", repo, nil).want(t, 200)
		wantRule(t, s, tt.rule)
	}
}

func TestRefereeNoticesWrongAnswers(t *testing.T) {
	d, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]string{"owner": "acme", "repo": "widgets", "comment_id": "1", "artifact_id": "1", "archive_format": "zip"}
	comment := func(change object) object {
		c := d.example("issue-comment", "http://api", "acme/widgets").(object)
		for k, v := range change {
			c[k] = v
		}
		return c
	}
	html := htmlPage(200, "hello")
	for _, tt := range []struct {
		name, path string
		answer     answer
		want       string
	}{
		{"good", "/issues/comments/{comment_id}", reply(200, comment(nil)), ""},
		{"number for text", "/issues/comments/{comment_id}", reply(200, comment(object{"body": 7})), "/body"},
		{"required field is null", "/issues/comments/{comment_id}", reply(200, comment(object{"created_at": nil})), "/created_at"},
		{"list for object", "/issues/comments/{comment_id}", reply(200, []object{}), "object"},
		{"empty object", "/issues/comments/{comment_id}", reply(200, object{}), `"id" is missing`},
		{"HTML", "/issues/comments/{comment_id}", html, "text/html"},
		{"unlisted status", "/issues/comments/{comment_id}", reply(201, comment(nil)), "no status 201"},
		{"an error that everything may have", "/issues/comments/{comment_id}", refuse(403, "no", "docs"), ""},
		{"an error of another shape", "/issues/comments/{comment_id}", reply(403, object{"message": 1}), "/message"},
		{"an error that is a list", "/issues/comments/{comment_id}", reply(404, []string{"no"}), "object"},
		{"not a redirect", "/actions/artifacts/{artifact_id}/{archive_format}", reply(200, object{}), "no status 200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref, ok := d.referee("GET", repositoryPath+tt.path, params)
			if !ok {
				t.Fatal("no such operation")
			}
			req := &http.Request{Method: "GET", URL: &url.URL{Path: repo + "/issues/comments/1"}, Header: http.Header{}}
			got := strings.Join(ref.answer(req, tt.answer), "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestTheFakesOwnMistakesAreTold: a state can hold what GitHub never says.
func TestTheFakesOwnMistakesAreTold(t *testing.T) {
	s, w := world(t)
	id := s.AddCheckRun(CheckRun{Name: "n", HeadSHA: w.head, Status: "completed", Conclusion: "great"})
	clientOf(s).do(t, "GET", fmt.Sprintf("%s/check-runs/%d", repo, id), nil).want(t, 200)
	wantRule(t, s, "answer: 200: /conclusion")
}

func TestPathsFindTheirOperation(t *testing.T) {
	for _, tt := range []struct{ method, path, template, param, value string }{
		{"GET", repo + "/commits/main", "/commits/{ref}", "ref", "main"},
		{"GET", repo + "/commits/heads/a/b", "/commits/{ref}", "ref", "heads/a/b"},
		{"GET", repo + "/commits/abc/pulls", "/commits/{commit_sha}/pulls", "commit_sha", "abc"},
		{"GET", repo + "/commits/heads%2Fmain/check-runs", "/commits/{ref}/check-runs", "ref", "heads/main"},
		{"GET", repo + "/contents/a/b/perfweir.yml", "/contents/{path}", "path", "a/b/perfweir.yml"},
		{"GET", repo + "/compare/main...a/b", "/compare/{basehead}", "basehead", "main...a/b"},
		{"GET", repo + "/issues/comments/5", "/issues/comments/{comment_id}", "comment_id", "5"},
		{"GET", repo + "/issues/5/comments", "/issues/{issue_number}/comments", "issue_number", "5"},
		{"GET", repo + "/pulls/5/files", "", "", ""},
		{"GET", repo + "/pulls/", "", "", ""},
		{"GET", repo + "/pulls/%zz", "", "", ""},
	} {
		e, params, ok := matchPath(endpoints(), tt.method, tt.path)
		if ok != (tt.template != "") || ok && (e.path != repositoryPath+tt.template || params[tt.param] != tt.value) {
			t.Errorf("%s: %v %s %v, want %s with %s=%s", tt.path, ok, e.path, params, tt.template, tt.param, tt.value)
		}
	}
}
