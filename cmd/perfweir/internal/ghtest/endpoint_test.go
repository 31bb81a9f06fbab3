package ghtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDescriptionAndEndpointsAgree: cut.go and the endpoints name the same operations.
func TestDescriptionAndEndpointsAgree(t *testing.T) {
	d, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	var described, served []string
	for path, item := range d.doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	for _, e := range endpoints() {
		served = append(served, e.method+" "+e.path)
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described:\n%s\nserved:\n%s", strings.Join(described, "\n"), strings.Join(served, "\n"))
	}
}

// TestEveryOperation asks for everything once: GitHub's description and the fake
// agree on every request and answer, and New fails the test where they do not.
func TestEveryOperation(t *testing.T) {
	s, w := world(t)
	s.SetToken("ghp_person", Token{})
	asked := map[string]bool{}
	for _, tt := range []struct {
		method, path string
		body         any
		status       int
	}{
		{"GET", "/rate_limit", nil, 200},
		{"GET", "/user", nil, 200},
		{"GET", repo, nil, 200},
		{"GET", repo + "/collaborators/mona/permission", nil, 200},
		{"GET", repo + "/actions/runs?branch=main&event=push&status=success&head_sha=" + w.main + "&per_page=100&page=1", nil, 200},
		{"GET", fmt.Sprintf("%s/actions/runs/%d", repo, w.run), nil, 200},
		{"GET", repo + "/actions/workflows/nightly.yml", nil, 200},
		{"GET", repo + "/actions/workflows/nightly.yml/runs", nil, 200},
		{"GET", repo + "/actions/artifacts?name=perfweir-results", nil, 200},
		{"GET", fmt.Sprintf("%s/actions/artifacts/%d", repo, w.artifact), nil, 200},
		{"GET", fmt.Sprintf("%s/actions/artifacts/%d/zip", repo, w.artifact), nil, 302},
		{"GET", fmt.Sprintf("%s/actions/runs/%d/artifacts?name=perfweir-results", repo, w.run), nil, 200},
		{"GET", repo + "/commits?sha=main", nil, 200},
		{"GET", repo + "/commits/" + w.head, nil, 200},
		{"GET", repo + "/commits/" + w.head + "/pulls", nil, 200},
		{"GET", repo + "/commits/" + w.head + "/check-runs?check_name=perfweir+%2F+demo&filter=latest", nil, 200},
		{"GET", repo + "/git/commits/" + w.head, nil, 200},
		{"GET", repo + "/compare/main..." + w.head, nil, 200},
		{"GET", repo + "/contents/perfweir.yml?ref=main", nil, 200},
		{"GET", repo + "/contents/docs?ref=main", nil, 200},
		{"GET", repo + "/pulls?state=open&head=acme:faster&base=main", nil, 200},
		{"GET", repo + "/pulls/7", nil, 200},
		{"GET", repo + "/issues/7", nil, 200},
		{"GET", repo + "/issues/7/labels", nil, 200},
		{"GET", repo + "/issues/7/events", nil, 200},
		{"GET", repo + "/issues/7/comments", nil, 200},
		{"POST", repo + "/issues/7/comments", object{"body": "new"}, 201},
		{"GET", fmt.Sprintf("%s/issues/comments/%d", repo, w.comment), nil, 200},
		{"PATCH", fmt.Sprintf("%s/issues/comments/%d", repo, w.comment), object{"body": "changed"}, 200},
		{"DELETE", fmt.Sprintf("%s/issues/comments/%d", repo, w.comment), nil, 204},
		{"POST", repo + "/check-runs", object{"name": "perfweir / demo", "head_sha": w.head, "status": "in_progress"}, 201},
		{"GET", fmt.Sprintf("%s/check-runs/%d", repo, w.check), nil, 200},
		{"PATCH", fmt.Sprintf("%s/check-runs/%d", repo, w.check), object{"conclusion": "failure"}, 200},
		{"GET", fmt.Sprintf("%s/check-runs/%d/annotations", repo, w.check), nil, 200},
		{"POST", repo + "/statuses/" + w.head, object{"state": "success", "context": "perfweir / demo", "description": "ok"}, 201},
	} {
		token := map[bool]string{true: "ghp_person", false: DefaultToken}[tt.path == "/user"] // apps are no users
		if r := clientOf(s).as(token).do(t, tt.method, tt.path, tt.body); r.status != tt.status {
			t.Errorf("%s %s: status %d, want %d: %s", tt.method, tt.path, r.status, tt.status, r.text)
		}
		path, _, _ := strings.Cut(tt.path, "?")
		e, _, _ := matchPath(endpoints(), tt.method, path)
		asked[e.method+" "+e.path] = true
	}
	for _, e := range endpoints() {
		if !asked[e.method+" "+e.path] {
			t.Errorf("%s %s was never asked for", e.method, e.path)
		}
	}
}
