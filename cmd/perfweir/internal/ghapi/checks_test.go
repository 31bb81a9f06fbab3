package ghapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/gate/publish"
)

func annotations(n int) []publish.Annotation {
	out := make([]publish.Annotation, n)
	for i := range out {
		out[i] = publish.Annotation{Path: "perfweir.yml", StartLine: i + 1, Level: "failure", Title: "t", Message: "m"}
	}
	return out
}

const shownCheck = `{"id":4,"name":"perfweir / codec","head_sha":"` + pullHead + `","external_id":"4711.2","status":"completed","conclusion":"failure",
	"details_url":"https://x/d","started_at":"2026-11-28T02:00:00Z","html_url":"https://x/4",
	"output":{"title":"1 of 3","summary":"s","text":null,"annotations_count":2}}`

func TestCreateCheckRun(t *testing.T) {
	s := newStand(t, says(201, shownCheck))
	started := time.Date(2026, 11, 28, 3, 0, 0, 0, time.FixedZone("", 3600))
	got, err := s.client().CreateCheckRun(ctx, publish.CheckRun{Name: "perfweir / codec", HeadSHA: pullHead, ExternalID: "4711.2", Status: "completed", Conclusion: "failure",
		DetailsURL: "https://x/d", StartedAt: started, Title: "1 of 3", Summary: "s"}, []publish.Annotation{
		{Path: "a/b.go", StartLine: 7, EndLine: 3, Level: "warning", Message: strings.Repeat("語", 30000), Title: strings.Repeat("語", 100)}})
	if err != nil {
		t.Fatal(err)
	}
	want := publish.CheckRun{ID: 4, Name: "perfweir / codec", HeadSHA: pullHead, ExternalID: "4711.2", Status: "completed", Conclusion: "failure", DetailsURL: "https://x/d",
		StartedAt: started.UTC(), Title: "1 of 3", Summary: "s", Annotations: 2, URL: "https://x/4"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var sent map[string]any
	if err := json.Unmarshal([]byte(s.seen()[0].body), &sent); err != nil {
		t.Fatal(err)
	}
	output := sent["output"].(map[string]any)
	a := output["annotations"].([]any)[0].(map[string]any)
	title, message := a["title"].(string), a["message"].(string)
	if len(title) > 255 || len(message) > maxAnnotationMessage || !utf8.ValidString(title+message) || !strings.HasSuffix(title, "語…") || !strings.HasSuffix(message, "語…") {
		t.Errorf("title of %d bytes, message of %d", len(title), len(message))
	}
	delete(a, "title")
	delete(a, "message")
	wantSent := map[string]any{"name": "perfweir / codec", "head_sha": pullHead, "external_id": "4711.2", "status": "completed", "conclusion": "failure",
		"details_url": "https://x/d", "started_at": "2026-11-28T02:00:00Z", "output": map[string]any{"title": "1 of 3", "summary": "s",
			"annotations": []any{map[string]any{"path": "a/b.go", "start_line": 7.0, "end_line": 7.0, "annotation_level": "warning"}}}}
	if d := cmp.Diff(wantSent, sent); d != "" {
		t.Error(d)
	}
}

func TestUpdateCheckRun(t *testing.T) {
	s := newStand(t, says(200, shownCheck), says(200, shownCheck))
	c := s.client()
	if _, err := c.UpdateCheckRun(ctx, publish.CheckRun{ID: 4, Name: "n", Status: "in_progress"}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UpdateCheckRun(ctx, publish.CheckRun{ID: 4, Name: "n", Title: "t", Summary: "s"}, annotations(50)); err != nil {
		t.Fatal(err)
	}
	if s.seen()[0].body != `{"name":"n","status":"in_progress"}`+"\n" || s.seen()[0].method != "PATCH" || s.seen()[0].path != "/api/v3/repos/acme/widgets/check-runs/4" {
		t.Errorf("%+v", s.seen()[0])
	}
	if n := strings.Count(s.seen()[1].body, `"path"`); n != 50 {
		t.Errorf("%d annotations sent", n)
	}
}

// TestCheckRunsThatGitHubWouldRefuse cost no request.
func TestCheckRunsThatGitHubWouldRefuse(t *testing.T) {
	good := publish.CheckRun{Name: "n", HeadSHA: pullHead, Title: "t", Summary: "s"}
	one := func(change func(*publish.Annotation)) []publish.Annotation {
		out := annotations(1)
		change(&out[0])
		return out
	}
	c := newStand(t).client()
	for _, tt := range []struct {
		change      func(*publish.CheckRun)
		annotations []publish.Annotation
		want        string
	}{
		{func(*publish.CheckRun) {}, annotations(51), "51 annotations in one request: GitHub takes 50"},
		{func(r *publish.CheckRun) { r.Title = "" }, nil, "needs a title and a summary"},
		{func(r *publish.CheckRun) { r.Summary = "" }, nil, "needs a title and a summary"},
		{func(r *publish.CheckRun) { r.Title, r.Summary = "", "" }, annotations(1), "needs a title and a summary"},
		{func(r *publish.CheckRun) { r.Name = "" }, nil, "needs a name"},
		{func(r *publish.CheckRun) { r.HeadSHA = "main" }, nil, "is no commit"},
		{func(r *publish.CheckRun) { r.Status = "completed" }, nil, "needs a conclusion"},
		{func(*publish.CheckRun) {}, one(func(a *publish.Annotation) { a.Path = "/etc/passwd" }), `annotation 1: "/etc/passwd" is no path below`},
		{func(*publish.CheckRun) {}, one(func(a *publish.Annotation) { a.Path = "a/../../b" }), "is no path below"},
		{func(*publish.CheckRun) {}, one(func(a *publish.Annotation) { a.StartLine = 0 }), "line 0"},
		{func(*publish.CheckRun) {}, one(func(a *publish.Annotation) { a.Level = "error" }), `level "error"`},
		{func(*publish.CheckRun) {}, one(func(a *publish.Annotation) { a.Message = " \n" }), "no message"},
	} {
		r := good
		tt.change(&r)
		if _, err := c.CreateCheckRun(ctx, r, tt.annotations); err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, publish.ErrTooLong) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	long := good
	long.Summary = strings.Repeat("x", 65536)
	if _, err := c.UpdateCheckRun(ctx, long, nil); !errors.Is(err, publish.ErrTooLong) {
		t.Errorf("a summary of 65,536 bytes: %v", err)
	}
	long = good
	long.Text = strings.Repeat("x", 65536)
	if _, err := c.CreateCheckRun(ctx, long, nil); !errors.Is(err, publish.ErrTooLong) {
		t.Errorf("a text of 65,536 bytes: %v", err)
	}
}

func TestCheckRunsNewestFirst(t *testing.T) {
	s := newStand(t,
		says(200, `Link: <HOST/x?page=2>; rel="next"`, `{"total_count":3,"check_runs":[{"id":5},{"id":9}]}`), says(200, `{"total_count":3,"check_runs":[{"id":7}]}`))
	c := s.client()
	got, err := all(c.CheckRuns(ctx, pullHead, "perfweir / codec"))
	if err != nil || len(got) != 3 || got[0].ID != 9 || got[1].ID != 7 || got[2].ID != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	if r := s.seen()[0]; r.path != "/api/v3/repos/acme/widgets/commits/"+pullHead+"/check-runs" || r.query != "check_name=perfweir+%2F+codec&filter=all&per_page=100" {
		t.Errorf("%s?%s", r.path, r.query)
	}
	if err := first(c.CheckRuns(ctx, "main", "n")); err == nil {
		t.Error("a branch was taken for a commit")
	}
}

func TestCreateStatus(t *testing.T) {
	s := newStand(t, says(201, `{"url":"https://api/x","target_url":"https://github.com/run"}`), says(201, `{"url":"https://api/x","target_url":null}`))
	c := s.client()
	url, err := c.CreateStatus(ctx, pullHead, publish.Status{Context: "perfweir / codec", State: "failure", Description: strings.Repeat("é", 200), TargetURL: "https://github.com/run"})
	if err != nil || url != "https://github.com/run" {
		t.Errorf("%s, %v", url, err)
	}
	if url, err := c.CreateStatus(ctx, pullHead, publish.Status{Context: "c", State: "pending"}); err != nil || url != "https://api/x" {
		t.Errorf("%s, %v", url, err)
	}
	var sent struct{ Description string }
	if err := json.Unmarshal([]byte(s.seen()[0].body), &sent); err != nil || len(sent.Description) > 140 || !strings.HasSuffix(sent.Description, "é…") {
		t.Errorf("%q, %v", sent.Description, err)
	}
	if s.seen()[1].body != `{"state":"pending","context":"c"}`+"\n" || s.seen()[1].path != "/api/v3/repos/acme/widgets/statuses/"+pullHead {
		t.Errorf("%+v", s.seen()[1])
	}
	for _, bad := range []publish.Status{{State: "success"}, {Context: "c", State: "neutral"}} {
		if _, err := c.CreateStatus(ctx, pullHead, bad); err == nil {
			t.Errorf("%+v was sent", bad)
		}
	}
	if _, err := c.CreateStatus(ctx, "HEAD", publish.Status{Context: "c", State: "error"}); err == nil {
		t.Error("a status of HEAD was sent")
	}
}
