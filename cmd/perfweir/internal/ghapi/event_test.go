package ghapi

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// event reads a payload whose file is named after its event.
func event(t testing.TB, file string) (string, []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "events", file))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`^(pull_request|push|merge_group|workflow_run|workflow_dispatch)`).FindString(file)
	return name, b
}

const (
	pullHead = "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
	pullBase = "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
	pushed   = "6113728f27ae82c7b1a177c8d03f9e96e0adf246"
	runHead  = "3484a3fb816e0859fd6e1cea078d76385ff50625"
)

func TestParseEvent(t *testing.T) {
	hello := Event{RepositoryID: 186853002, Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: "Codertocat"}
	octo := Event{RepositoryID: 300029405, Repository: "octo-org/octo-repo", DefaultBranch: "master", Sender: "Codertocat"}
	pull := func(change func(*Event)) Event {
		e := hello
		e.Name, e.Pull, e.Labels = "pull_request", 2, []string{"bug"}
		e.HeadSHA, e.HeadRef, e.HeadRepositoryID = pullHead, "changes", 186853002
		e.BaseSHA, e.BaseRef = pullBase, "master"
		change(&e)
		return e
	}
	push := func(change func(*Event)) Event {
		e := hello
		e.Name = "push"
		change(&e)
		return e
	}
	run := func(change func(*Event)) Event {
		e := octo
		e.Name, e.HeadSHA, e.HeadRef, e.HeadRepositoryID = "workflow_run", runHead, "master", 300029405
		e.WorkflowRun.ID = 289782451
		change(&e)
		return e
	}
	want := map[string]Event{
		"pull_request_opened.json":         pull(func(*Event) {}),
		"pull_request_synchronize.json":    pull(func(*Event) {}),
		"pull_request_labeled.json":        pull(func(*Event) {}),
		"pull_request_closed.json":         pull(func(*Event) {}),
		"pull_request_merged.derived.json": pull(func(*Event) {}),
		"pull_request_fork.derived.json": pull(func(e *Event) {
			e.Fork, e.HeadRef, e.HeadRepositoryID = true, "main", 200
		}),
		"pull_request_fork_gone.derived.json": pull(func(e *Event) {
			e.Fork, e.HeadRef, e.HeadRepositoryID = true, "main", 0
		}),
		"pull_request_dependabot.derived.json": pull(func(e *Event) {
			e.Fork, e.HeadRef, e.Sender = true, "dependabot/go_modules/x-1.2.3", "dependabot[bot]"
		}),
		"push_branch.json":         push(func(e *Event) { e.HeadRef, e.HeadSHA, e.After, e.Created = "master", pushed, pushed, true }),
		"push_commit.derived.json": push(func(e *Event) { e.HeadRef, e.HeadSHA, e.After, e.Before = "master", pushed, pushed, pullBase }),
		"push_tag_deleted.json":    push(func(e *Event) { e.Before, e.Deleted = pushed, true }),
		"merge_group.json": {Name: "merge_group", RepositoryID: 17273051, Repository: "octo-org/octo-repo", DefaultBranch: "main",
			HeadSHA: "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d", HeadRef: "gh-readonly-queue/main/pr-104-929f8209d40f77f4abc622a499c93a83babdbe64",
			BaseRef: "main", BaseSHA: "380387fbc80638b734a49e1be1c4dfec1c01b33c", Sender: "Codertocat",
			MergeGroup: struct{ Pull int }{104}},
		"workflow_run_completed.json": run(func(*Event) {}),
		"workflow_run_requested.json": run(func(*Event) {}),
		"workflow_run_fork.derived.json": run(func(e *Event) {
			e.Fork, e.HeadRef, e.HeadRepositoryID = true, "main", 200
		}),
		"workflow_run_fork_gone.derived.json": run(func(e *Event) {
			e.Fork, e.HeadRef, e.HeadRepositoryID = true, "main", 0
		}),
		"workflow_run_target.derived.json": run(func(e *Event) { e.HeadSHA = "" }),
		"workflow_dispatch.json": {Name: "workflow_dispatch", RepositoryID: 6811672, Repository: "octo-org/octo-repo", DefaultBranch: "main",
			HeadRef: "main", Sender: "octocat"},
	}
	files, err := filepath.Glob("testdata/events/*.json")
	if err != nil || len(files) != len(want) {
		t.Errorf("%d payloads, %d wanted events (%v)", len(files), len(want), err)
	}
	for file, w := range want {
		name, payload := event(t, file)
		got, err := ParseEvent(name, payload)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if d := cmp.Diff(w, got); d != "" {
			t.Errorf("%s:\n%s", file, d)
		}
	}
}

func TestParseEventOfOtherKinds(t *testing.T) {
	name, payload := event(t, "pull_request_synchronize.json")
	target, err := ParseEvent("pull_request_target", payload)
	if err != nil || target.Pull != 2 || target.HeadSHA != pullHead {
		t.Errorf("%s as pull_request_target: %+v, %v", name, target, err)
	}
	schedule, err := ParseEvent("schedule", []byte(`{"schedule":"0 5 * * *","workflow":".github/workflows/nightly.yml","repository":{"id":1,"full_name":"a/b","default_branch":"main"}}`))
	if d := cmp.Diff(Event{Name: "schedule", RepositoryID: 1, Repository: "a/b", DefaultBranch: "main"}, schedule); d != "" || err != nil {
		t.Error(d, err)
	}
	// Keys that mean something else in another event must not make it fail.
	other, err := ParseEvent("deployment", []byte(`{"action":"created","ref":{"odd":1},"number":"x","deleted":{},"sender":null,"repository":null}`))
	if d := cmp.Diff(Event{Name: "deployment"}, other); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestParseEventRefuses(t *testing.T) {
	_, good := event(t, "pull_request_synchronize.json")
	change := func(old, new string) string {
		if !strings.Contains(string(good), old) {
			t.Fatalf("the payload has no %s", old)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	sha := strings.Repeat("a", 40)
	for _, tt := range []struct{ name, payload, want string }{
		{"push", "", "no JSON object"},
		{"push", "[]", "no JSON object"},
		{"push", "null", "it is null"},
		{"", "{}", "GITHUB_EVENT_NAME"},
		{"push", `{"repository":{"id":-4}}`, "repository.id is -4"},
		{"push", `{"repository":{"full_name":"a/b\n::error::x"}}`, "is no repository"},
		{"push", `{"after":"main"}`, `after: "main" is no commit`},
		{"push", `{"before":"` + strings.ToUpper(sha) + `"}`, "before: "},
		{"push", `{"ref":7}`, "no JSON object"},
		{"pull_request", "{}", "it has no pull_request"},
		{"pull_request", `{"pull_request":{"number":0}}`, "name no pull request"},
		{"pull_request", `{"number":3,"pull_request":{"number":4}}`, "number 3 and pull_request.number 4"},
		{"pull_request", change(`"sha": "`+pullHead+`"`, `"sha": "../../x"`), "pull_request.head.sha: "},
		{"pull_request", change(`"sha": "`+pullBase+`"`, `"sha": ""`), "pull_request.base.sha is missing"},
		{"pull_request", change(`"ref": "master"`, `"ref": ""`), "pull_request.base.ref is missing"},
		{"pull_request", strings.ReplaceAll(string(good), "\n  \"id\": 186853002", "\n  \"id\": 1"), "pull_request.base.repo.id 186853002 is not repository.id 1"},
		{"merge_group", "{}", "it has no merge_group"},
		{"merge_group", `{"merge_group":{"head_sha":"` + sha + `"}}`, "merge_group.base_sha is missing"},
		{"workflow_run", "{}", "it has no workflow_run"},
		{"workflow_run", `{"workflow_run":{"head_sha":"` + sha + `"}}`, "workflow_run.id is 0"},
		{"workflow_run", `{"workflow_run":{"id":1}}`, "workflow_run.head_sha is missing"},
		{"push", strings.Repeat(" ", MaxPayload+1), "are more than"},
	} {
		got, err := ParseEvent(tt.name, []byte(tt.payload))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.60q: %v, want %s", tt.name, tt.payload, err, tt.want)
		}
		if d := cmp.Diff(Event{}, got); d != "" {
			t.Errorf("%s %.60q: an event beside the error:\n%s", tt.name, tt.payload, d)
		}
	}
}

func TestQueueRef(t *testing.T) {
	sha := strings.Repeat("0a", 20)
	for _, tt := range []struct {
		ref  string
		want int
	}{
		{"refs/heads/gh-readonly-queue/main/pr-104-" + sha, 104},
		{"refs/heads/gh-readonly-queue/release/pr-7-x/pr-104-" + sha, 104},
		{"refs/heads/gh-readonly-queue/main/pr-104-" + sha + sha[:24], 104},
		{"refs/heads/gh-readonly-queue/main/pr-104-" + sha + sha[:8], 0},
		{"refs/heads/gh-readonly-queue/main/pr-99999999999-" + sha, 0},
		{"refs/heads/gh-readonly-queue/main/pr-104", 0},
		{"refs/heads/x/pr-104-" + sha, 0},
		{"", 0},
	} {
		var e Event
		if err := e.setMergeGroup(&mergeGroupJSON{HeadRef: tt.ref, HeadSHA: sha, BaseSHA: sha}); err != nil || e.MergeGroup.Pull != tt.want {
			t.Errorf("%s: %d, %v, want %d", tt.ref, e.MergeGroup.Pull, err, tt.want)
		}
	}
}

func TestAttachTo(t *testing.T) {
	c := &Context{SHA: strings.Repeat("c", 40)}
	for file, want := range map[string]string{
		"pull_request_synchronize.json":    pullHead,
		"push_branch.json":                 pushed,
		"push_tag_deleted.json":            "",
		"merge_group.json":                 "2ffea6db159f6b6c47a24e778fb9ef40cf6b1c7d",
		"workflow_run_completed.json":      runHead,
		"workflow_run_target.derived.json": "",
		"workflow_dispatch.json":           c.SHA,
	} {
		name, payload := event(t, file)
		e, err := ParseEvent(name, payload)
		if got := e.AttachTo(c); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", file, got, err, want)
		}
	}
	if got := (Event{Name: "schedule"}).AttachTo(nil); got != "" {
		t.Errorf("without a context: %q", got)
	}
}

func TestCheckRepository(t *testing.T) {
	e := Event{Repository: "Acme/widgets", RepositoryID: 5}
	for _, tt := range []struct {
		c    *Context
		want string
	}{
		{nil, ""}, {&Context{}, ""},
		{&Context{Owner: "acme", Name: "widgets", RepositoryID: 5}, ""},
		{&Context{Owner: "acme", Name: "gadgets"}, `"acme/gadgets"`},
		{&Context{Owner: "acme", Name: "widgets", RepositoryID: 6}, "GITHUB_REPOSITORY_ID says 6"},
	} {
		err := e.Check(tt.c)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.c, err, tt.want)
		}
	}
}

// FuzzParseEvent: whatever comes, no panic, and what is given is what was promised.
func FuzzParseEvent(f *testing.F) {
	files, err := filepath.Glob("testdata/events/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no payloads", err)
	}
	for _, file := range files {
		name, payload := event(f, filepath.Base(file))
		f.Add(name, payload)
	}
	f.Add("push", []byte(`{"ref":"refs/heads/x","before":"0","after":"`+strings.Repeat("0", 40)+`"}`))
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		e, err := ParseEvent(name, payload)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("an error of more than a line: %q", err)
			}
			return
		}
		for _, sha := range []string{e.HeadSHA, e.BaseSHA, e.Before, e.After, e.AttachTo(nil)} {
			if sha != "" && !isSHA(sha) {
				t.Errorf("%q is no commit", sha)
			}
		}
		switch name {
		case "pull_request", "pull_request_target":
			if e.Pull <= 0 || e.HeadSHA == "" || e.BaseSHA == "" || e.BaseRef == "" {
				t.Errorf("a pull request without its facts: %+v", e)
			}
			if !e.Fork && (e.HeadRepositoryID == 0 || e.HeadRepositoryID != e.RepositoryID) {
				t.Errorf("a fork that is none: %+v", e)
			}
		case "workflow_run":
			if e.WorkflowRun.ID <= 0 {
				t.Errorf("a workflow run without its facts: %+v", e)
			}
		}
	})
}
