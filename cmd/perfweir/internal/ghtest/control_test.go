package ghtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestStateSurvivesTheControlPath(t *testing.T) {
	s, _ := world(t, func(o *Options) { o.Control = true })
	c := clientOf(s).as("")
	before := c.do(t, "GET", "/_stand/state", nil).want(t, 200)
	c.do(t, "PUT", "/_stand/state", before.text).want(t, 204)
	if after := c.do(t, "GET", "/_stand/state", nil); after.text != before.text {
		t.Errorf("before %s\nafter %s", before.text, after.text)
	}
	if len(s.Requests()) != 0 {
		t.Errorf("the control path is logged: %v", s.Requests())
	}
	clientOf(s).do(t, "GET", repo+"/issues/7/comments", nil).want(t, 200)
}

func TestControlPathIsClosedByDefault(t *testing.T) {
	s, _ := world(t)
	clientOf(s).do(t, "GET", "/_stand/state", nil).want(t, 404)
	wantRule(t, s, "no such operation")
}

func TestControl(t *testing.T) {
	s, w := world(t, func(o *Options) { o.Control = true })
	c, anonymous := clientOf(s), clientOf(s).as("")
	anonymous.do(t, "POST", "/_stand/faults", `{"kind":"429","path":"/actions/runs","times":1,"retry_after_s":5}`).want(t, 204)
	if r := c.do(t, "GET", repo+"/actions/runs", nil).want(t, 429); r.header.Get("Retry-After") != "5" {
		t.Errorf("%v", r.header)
	}
	anonymous.do(t, "POST", "/_stand/faults", `{"kind":"500"}`).want(t, 204)
	anonymous.do(t, "DELETE", "/_stand/faults", nil).want(t, 204)
	c.do(t, "GET", repo+"/actions/runs?colour=red", nil).want(t, 200)
	if r := anonymous.do(t, "GET", "/_stand/violations", nil).want(t, 200).list(t); len(r) != 1 || r[0]["rule"] != "unknown: query parameter colour" {
		t.Errorf("violations %v", r)
	}
	s.TakeViolations()
	if r := anonymous.do(t, "GET", "/_stand/requests", nil).want(t, 200).list(t); len(r) != 2 || r[0]["fault"] != "429" || r[1]["query"] != "colour=red" || r[1]["authenticated"] != true {
		t.Errorf("requests %v", r)
	}
	upload := fmt.Sprintf("/_stand/artifacts?run_id=%d&name=late", w.run)
	anonymous.do(t, "POST", upload, string(w.zip)).want(t, 204)
	if r := anonymous.do(t, "POST", upload, string(w.zip)).want(t, 409); !strings.Contains(r.text, "already exists") {
		t.Errorf("%s", r.text)
	}
	anonymous.do(t, "POST", "/_stand/artifacts?run_id=1&name=late", "").want(t, 422)
	anonymous.do(t, "GET", "/_stand/secrets", nil).want(t, 404)
}

func TestStatesThatGitHubCannotHave(t *testing.T) {
	sha := fakeSHA("a")
	for name, st := range map[string]State{
		"head_sha":                     {Runs: []Run{{ID: 1, HeadSHA: "abc"}}},
		"has no id":                    {Comments: []Comment{{Issue: 1}}},
		"two workflow runs are called": {Runs: []Run{{ID: 1, HeadSHA: sha}, {ID: 1, HeadSHA: sha}}},
		"there is no workflow run 9":   {Artifacts: []Artifact{{ID: 1, RunID: 9}}},
		"already exists": {Runs: []Run{{ID: 1, HeadSHA: sha}},
			Artifacts: []Artifact{{ID: 1, RunID: 1, Name: "a"}, {ID: 2, RunID: 1, Name: "a"}}},
		"not a hash": {Commits: []Commit{{SHA: sha, Parents: []string{"main"}}}},
	} {
		_, err := Start(Options{State: st})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := ParseState([]byte(`{"runz":[]}`)); err == nil {
		t.Errorf("an unknown key is taken")
	}
	if _, err := ParseState([]byte(`{} trailing`)); err == nil {
		t.Errorf("text after the state is taken")
	}
}

// TestTheStateInTheManual: the example in State's comment is a state.
func TestTheStateInTheManual(t *testing.T) {
	st, err := ParseState([]byte(manualExample(t)))
	if err != nil {
		t.Fatal(err)
	}
	s := New(t, func(o *Options) { o.State = st })
	c := clientOf(s).as("ghs_fake")
	if r := c.do(t, "GET", repo+"/actions/workflows/nightly.yml/runs?branch=main", nil).want(t, 200).object(t); r["total_count"] != 1.0 {
		t.Errorf("%v", r)
	}
	c.do(t, "POST", repo+"/check-runs", object{"name": "n", "head_sha": strings.Repeat("2", 40)}).want(t, 201)
	c.do(t, "GET", repo+"/issues/7/comments", nil).want(t, 403) // its token has no such permission
}

func TestLogHasALineForEachRequest(t *testing.T) {
	var log bytes.Buffer
	s, w := world(t, func(o *Options) { o.Log = &log })
	c := clientOf(s)
	c.as("").do(t, "GET", location(t, c, w.artifact), nil).want(t, 200)
	s.Advance(time.Second)
	c.do(t, "GET", repo, nil)
	var hosts []string
	for line := range strings.Lines(log.String()) {
		var r Request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, fmt.Sprintf("%s:%d:%v", r.Host, r.Status, r.Authenticated))
	}
	if got := strings.Join(hosts, " "); got != "api:302:true blob:200:false api:200:true" {
		t.Errorf("log %s", got)
	}
}

// manualExample is the indented JSON of the comment above State.
func manualExample(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("state.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(source)) {
		if example, ok := strings.CutPrefix(line, "//\t"); ok {
			out = append(out, example)
		}
	}
	return strings.Join(out, "")
}
