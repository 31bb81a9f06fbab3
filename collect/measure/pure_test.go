package measure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

func TestEnviron(t *testing.T) {
	own := map[string]string{"PERFWEIR_OUT": "/r/out"}
	for _, c := range []struct {
		name   string
		runner []string
		edit   plan.Env
		want   string
	}{
		{"defaults", []string{"PATH=/bin", "HOME=/h"}, plan.Env{}, "HOME=/h LC_ALL=C NO_COLOR=1 PATH=/bin PERFWEIR_OUT=/r/out"},
		{"the runner's locale does not count", []string{"LC_ALL=de_DE"}, plan.Env{}, "LC_ALL=C NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"the suite's does", nil, plan.Env{Set: map[string]string{"LC_ALL": "de_DE"}}, "LC_ALL=de_DE NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"unset", []string{"A=1"}, plan.Env{Unset: []string{"A", "NO_COLOR", "GONE"}}, "LC_ALL=C PERFWEIR_OUT=/r/out"},
		{"prepend", []string{"PATH=/bin"}, plan.Env{Prepend: map[string]string{"PATH": "/x"}}, "LC_ALL=C NO_COLOR=1 PATH=/x:/bin PERFWEIR_OUT=/r/out"},
		{"prepend to nothing", nil, plan.Env{Prepend: map[string]string{"LD": "/x"}}, "LC_ALL=C LD=/x NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"secrets", []string{"GITHUB_TOKEN=t", "ACTIONS_RUNTIME_URL=u", "A=1"}, plan.Env{}, "A=1 LC_ALL=C NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"prepend to a secret shows nothing of it", []string{"MY_TOKEN=t"}, plan.Env{Prepend: map[string]string{"MY_TOKEN": "x"}}, "LC_ALL=C MY_TOKEN=x NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"the suite's own", []string{"GH_TOKEN=t"}, plan.Env{Set: map[string]string{"GH_TOKEN": "fake"}}, "GH_TOKEN=fake LC_ALL=C NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"ours stays", []string{"PERFWEIR_OUT=/else"}, plan.Env{Set: map[string]string{"PERFWEIR_OUT": "/x"}}, "LC_ALL=C NO_COLOR=1 PERFWEIR_OUT=/r/out"},
		{"odd entries, last counts", []string{"A", "=C:=1", "B=1", "B=2=3"}, plan.Env{}, "B=2=3 LC_ALL=C NO_COLOR=1 PERFWEIR_OUT=/r/out"},
	} {
		if got := strings.Join(Environ(c.runner, c.edit, own), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSecret(t *testing.T) {
	for _, name := range strings.Fields(`GITHUB_TOKEN GH_TOKEN ACTIONS_ID_TOKEN_REQUEST_URL ACTIONS_RUNTIME_TOKEN INPUT_GITHUB-TOKEN
		GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY RUNNER_TEMP STATE_isPost NPM_TOKEN npm_config__authToken
		DB_PASSWORD OPENAI_API_KEY CLIENT_SECRET AWS_REGION AWS_SESSION_TOKEN AZURE_CLIENT_ID SSH_AUTH_SOCK SSH_PRIVATE_KEY my_secret GIT_CONFIG_VALUE_0`) {
		if !Secret(name) {
			t.Errorf("%s reaches the command", name)
		}
	}
	for _, name := range strings.Fields("PATH HOME PWD OLDPWD GITHUB_SHA GITHUB_ACTIONS CI RUNNER_TRACKING_ID RUNNER_OS GOFLAGS CUDA_VISIBLE_DEVICES TOKENIZERS_PARALLELISM LD_LIBRARY_PATH KEY") {
		if Secret(name) {
			t.Errorf("%s is kept from the command", name)
		}
	}
}

func TestWithoutSecrets(t *testing.T) {
	got := WithoutSecrets([]string{"B=2", "GITHUB_TOKEN=x", "A=1", "LC_ALL=de_DE"})
	if want := []string{"A=1", "B=2", "LC_ALL=de_DE"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPlaces(t *testing.T) {
	p := places{out: "/r/{input}/out", input: "/in put/a'b"}
	for text, want := range map[string]string{
		"{out}/x": "/r/{input}/out/x", "{input}": "/in put/a'b", "-o{out}={input}": "-o/r/{input}/out=/in put/a'b",
		"{other} {": "{other} {", "": "",
	} {
		if got := p.text(text); got != want {
			t.Errorf("text(%q) = %q, want %q", text, got, want)
		}
	}
	if got := p.argv([]string{"cat {input}"}, true)[0]; got != `cat '/in put/a'\''b'` {
		t.Errorf("in a shell: %s", got)
	}
	if got := (places{out: "/o"}).text("{input}"); got != "{input}" {
		t.Errorf("a cell without input: %q", got)
	}
	if got := (places{out: "/o/x-1"}).argv([]string{"cd {out}"}, true)[0]; got != "cd /o/x-1" {
		t.Errorf("a plain path in a shell: %q", got)
	}
	edit := p.env(plan.Env{Set: map[string]string{"A": "{out}"}, Prepend: map[string]string{"PATH": "{out}/bin"}, Unset: []string{"B"}})
	if edit.Set["A"] != p.out || edit.Prepend["PATH"] != p.out+"/bin" || edit.Unset[0] != "B" {
		t.Errorf("env: %+v", edit)
	}
}

func TestLocate(t *testing.T) {
	j := &job{places: places{out: "/w/runs/a/out"}, exec: plan.Exec{Cwd: "/w"}}
	for suite, want := range map[string]file{
		"{out}/d/f":            {"/w/runs/a/out", "d/f", "{out}/d/f", true},
		"/w/runs/a/out/f":      {"/w/runs/a/out", "f", "/w/runs/a/out/f", true},
		"{out}/../stdout.log":  {"/w", "runs/a/stdout.log", "{out}/../stdout.log", false},
		"target/x.json":        {"/w", "target/x.json", "target/x.json", false},
		"../other/x.json":      {"/other", "x.json", "../other/x.json", false},
		"/var/tmp/result.json": {"/var/tmp", "result.json", "/var/tmp/result.json", false},
	} {
		if got := j.locate(suite); got != want {
			t.Errorf("locate(%q) = %+v, want %+v", suite, got, want)
		}
	}
}

func TestUnique(t *testing.T) {
	def := result.Metric{Unit: "s"}
	j := &job{}
	got := j.unique([]generic.Measurement{
		generic.Present("a", "", 1, def), generic.Present("a", "x", 2, def), generic.Present("b", "", 3, def),
		generic.Present("a", "", 1, def), generic.Present("a", "", 4, def),
	})
	if len(got) != 3 || got[0].Absent != result.AbsentDuplicateName || !math.IsNaN(got[0].Value) || got[1].Value != 2 || got[2].Value != 3 {
		t.Errorf("got %+v", got)
	}
	if len(j.out.Detail.Warnings) != 1 {
		t.Errorf("warnings %q, want one", j.out.Detail.Warnings)
	}
}

func TestBoundedWarnings(t *testing.T) {
	many := slices.Repeat([]string{"w"}, maxWarnings+5)
	if got := boundedWarnings(many); len(got) != maxWarnings+1 || got[maxWarnings] != "and 5 more warnings" {
		t.Errorf("got %d: %q", len(got), got[len(got)-1])
	}
	if got := boundedWarnings(many[:maxWarnings]); len(got) != maxWarnings {
		t.Errorf("got %d of %d", len(got), maxWarnings)
	}
}
