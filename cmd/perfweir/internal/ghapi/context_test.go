package ghapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromEnviron(t *testing.T) {
	full := []string{"GITHUB_ACTIONS=true", "GITHUB_REPOSITORY=acme/widgets", "GITHUB_REPOSITORY_ID=100",
		"GITHUB_API_URL=https://api.github.com", "GITHUB_SERVER_URL=https://github.com", "GITHUB_RUN_ID=4711", "GITHUB_RUN_NUMBER=12",
		"GITHUB_RUN_ATTEMPT=2", "GITHUB_WORKFLOW_REF=acme/widgets/.github/workflows/perf.yml@refs/heads/a@b",
		"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=/tmp/event.json", "GITHUB_SHA=" + strings.Repeat("ab", 20),
		"GITHUB_REF=refs/pull/3/merge", "RUNNER_ENVIRONMENT=self-hosted", "GITHUB_TOKEN=ghs_secret", "NOT_A_PAIR", "=odd"}
	got, err := FromEnviron(full)
	if err != nil {
		t.Fatal(err)
	}
	want := &Context{Actions: true, Owner: "acme", Name: "widgets", RepositoryID: 100, APIURL: "https://api.github.com", ServerURL: "https://github.com",
		RunID: 4711, RunNumber: 12, RunAttempt: 2, Workflow: "perf.yml", EventName: "pull_request", EventPath: "/tmp/event.json",
		SHA: strings.Repeat("ab", 20), Ref: "refs/pull/3/merge", RunnerEnvironment: "self-hosted"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if url := got.RunURL(); url != "https://github.com/acme/widgets/actions/runs/4711/attempts/2" {
		t.Errorf("RunURL: %s", url)
	}
	if !got.SelfHosted() || (&Context{RunnerEnvironment: "github-hosted"}).SelfHosted() {
		t.Error("SelfHosted")
	}
}

func TestFromEnvironAtADesk(t *testing.T) {
	for _, env := range [][]string{nil, {"PATH=/bin"}, {"GITHUB_ACTIONS=false"}, {"GITHUB_ACTIONS=1", "GITHUB_RUN_ID=x"}} {
		if c, err := FromEnviron(env); c != nil || err != nil {
			t.Errorf("%v: %v, %v", env, c, err)
		}
	}
}

// TestFromEnvironSparse: servers and shells that set little.
func TestFromEnvironSparse(t *testing.T) {
	for _, tt := range []struct {
		env  []string
		want Context
		url  string
	}{
		{[]string{"GITHUB_ACTIONS=true"}, Context{Actions: true, APIURL: "https://api.github.com", ServerURL: "https://github.com"}, ""},
		{[]string{"GITHUB_REPOSITORY=a/b"}, Context{Owner: "a", Name: "b", APIURL: "https://api.github.com", ServerURL: "https://github.com"}, ""},
		{[]string{"GITHUB_REPOSITORY=a/b", "GITHUB_SERVER_URL=https://git.example.com/", "GITHUB_RUN_ID=7", "GITHUB_WORKFLOW_REF="},
			Context{Owner: "a", Name: "b", APIURL: "https://git.example.com/api/v3", ServerURL: "https://git.example.com", RunID: 7},
			"https://git.example.com/a/b/actions/runs/7"},
		{[]string{"GITHUB_REPOSITORY=a/b", "GITHUB_SERVER_URL=https://acme.ghe.com"},
			Context{Owner: "a", Name: "b", APIURL: "https://api.acme.ghe.com", ServerURL: "https://acme.ghe.com"}, ""},
		{[]string{"GITHUB_REPOSITORY=a/b", "GITHUB_SERVER_URL=http://gitea:3000", "GITHUB_API_URL=http://gitea:3000/api/v1"},
			Context{Owner: "a", Name: "b", APIURL: "http://gitea:3000/api/v1", ServerURL: "http://gitea:3000"}, ""},
	} {
		got, err := FromEnviron(tt.env)
		if err != nil {
			t.Errorf("%v: %v", tt.env, err)
			continue
		}
		if d := cmp.Diff(&tt.want, got); d != "" || got.RunURL() != tt.url {
			t.Errorf("%v: url %q\n%s", tt.env, got.RunURL(), d)
		}
	}
}

func TestFromEnvironNamesTheVariable(t *testing.T) {
	for _, tt := range []struct{ variable, want string }{
		{"GITHUB_RUN_ID=12x", `GITHUB_RUN_ID: "12x" is no whole number`},
		{"GITHUB_RUN_NUMBER=-1", "GITHUB_RUN_NUMBER: "},
		{"GITHUB_RUN_ATTEMPT=99999999999", "GITHUB_RUN_ATTEMPT: "},
		{"GITHUB_REPOSITORY_ID=1e3", "GITHUB_REPOSITORY_ID: "},
		{"GITHUB_REPOSITORY=acme", "GITHUB_REPOSITORY: "},
		{"GITHUB_REPOSITORY=acme/..", "GITHUB_REPOSITORY: "},
		{"GITHUB_REPOSITORY=acme/a/b", "GITHUB_REPOSITORY: "},
		{"GITHUB_REPOSITORY=acme/a?b", "GITHUB_REPOSITORY: "},
		{"GITHUB_SHA=main", "GITHUB_SHA: "},
		{"GITHUB_API_URL=ftp://x", "GITHUB_API_URL: "},
		{"GITHUB_API_URL=https://me:secret@x", "GITHUB_API_URL: "},
		{"GITHUB_SERVER_URL=%zz", "GITHUB_SERVER_URL: "},
		{"GITHUB_SERVER_URL=https://x?q=secret", "GITHUB_SERVER_URL: "},
	} {
		c, err := FromEnviron([]string{"GITHUB_ACTIONS=true", tt.variable})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, %v, want %s...", tt.variable, c, err, tt.want)
		}
	}
}

func TestWorkflowFile(t *testing.T) {
	for _, tt := range []struct{ ref, want string }{
		{"a/b/.github/workflows/x.yml@refs/heads/main", "x.yml"},
		{"A/b/.gitea/workflows/x.yaml@refs/tags/v1", "x.yaml"},
		{"", ""}, {"x.yml", ""}, {"a/b/@refs/heads/main", ""}, {"@", ""},
		{"org/rules/.github/workflows/x.yml@refs/heads/main", ""},
	} {
		if got := workflowFile(tt.ref, "a/b"); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.ref, got, tt.want)
		}
	}
}
