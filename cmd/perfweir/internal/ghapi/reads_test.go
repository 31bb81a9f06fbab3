package ghapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContents(t *testing.T) {
	text := strings.Repeat("suite: codec # é\n", 20)
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	wrapped := encoded[:60] + `\n` + encoded[60:] + `\n`
	file := func(format string, args ...any) http.HandlerFunc { return says(200, fmt.Sprintf(format, args...)) }
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		err    string
	}{
		{"file", file(`{"type":"file","encoding":"base64","size":%d,"content":"%s"}`, len(text), wrapped), text, ""},
		{"empty file", file(`{"type":"file","encoding":"base64","size":0,"content":""}`), "", ""},
		{"too large", file(`{"type":"file","encoding":"none","size":2000000,"content":""}`), "", "it has 2000000 bytes: more than 1048576 are not read"},
		{"none below the limit", file(`{"type":"file","encoding":"none","size":1000001,"content":""}`), "", "it has 1000001 bytes"},
		{"large but sent", file(`{"type":"file","encoding":"base64","size":1048577,"content":"%s"}`, encoded), "", "it has 1048577 bytes"},
		{"cut", file(`{"type":"file","encoding":"base64","size":%d,"content":"%s"}`, len(text), encoded[:60]), "", fmt.Sprintf("GitHub sent 45 of %d bytes", len(text))},
		{"no base64", file(`{"type":"file","encoding":"base64","size":3,"content":"~~~~"}`), "", "illegal base64"},
		{"odd encoding", file(`{"type":"file","encoding":"rot13","size":3,"content":"abc"}`), "", `encoding "rot13"`},
		{"folder", file(`[{"type":"file","name":"x"}]`), "", "it is a folder"},
		{"symlink", file(`{"type":"symlink","target":"/etc/passwd","size":11}`), "", `it is a "symlink"`},
		{"submodule", file(`{"type":"submodule","size":0}`), "", `it is a "submodule"`},
		{"number", file(`7`), "", "GitHub's answer: "},
	} {
		s := newStand(t, tt.answer)
		got, err := s.client().Contents(ctx, "a b/perf#weir.yml", pullBase)
		if tt.err == "" && (err != nil || string(got) != tt.want || got == nil) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), `read "a b/perf#weir.yml" of f95f852bd8fc`)) {
			t.Errorf("%s: %q, %v, want %s", tt.name, got, err, tt.err)
		}
		if r := s.seen()[0]; r.path != "/api/v3/repos/acme/widgets/contents/a%20b/perf%23weir.yml" || r.query != "ref="+pullBase {
			t.Errorf("%s?%s", r.path, r.query)
		}
	}
	s := newStand(t, says(404, `{"message":"Not Found"}`))
	c := s.client()
	if _, err := c.Contents(ctx, "perfweir.yml", pullBase); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\x00b", strings.Repeat("a", 5000)} {
		if _, err := c.Contents(ctx, path, pullBase); err == nil || len(err.Error()) > 500 {
			t.Errorf("path %.20q: %v", path, err)
		}
	}
	if _, err := c.Contents(ctx, "a", ""); err == nil {
		t.Error("no commit was taken")
	}
}

func TestMergeBase(t *testing.T) {
	s := newStand(t, says(200, `{"merge_base_commit":{"sha":"`+pushed+`"},"commits":[],"files":[{"patch":"x"}]}`), says(200, `{}`), says(404, `{"message":"No common ancestor between a and b."}`))
	c := s.client()
	if got, err := c.MergeBase(ctx, pullBase, pullHead); got != pushed || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if r := s.seen()[0]; r.path != "/api/v3/repos/acme/widgets/compare/"+pullBase+"..."+pullHead || r.query != "per_page=1" {
		t.Errorf("%s?%s", r.path, r.query)
	}
	if _, err := c.MergeBase(ctx, pullBase, pullHead); err == nil || !strings.Contains(err.Error(), "merge_base_commit is missing") {
		t.Errorf("%v", err)
	}
	if _, err := c.MergeBase(ctx, pullBase, pullHead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "main", "..", pullBase + "..." + pullHead} {
		if _, err := c.MergeBase(ctx, bad, pullHead); err == nil {
			t.Errorf("%q was taken for a commit", bad)
		}
	}
}

func TestCommit(t *testing.T) {
	s := newStand(t, says(200, `{"sha":"`+pullHead+`","tree":{"sha":"`+pushed+`"},"parents":[{"sha":"`+pullBase+`"},{"sha":"`+runHead+`"}]}`),
		says(200, `{"tree":{"sha":"`+pushed+`"},"parents":[]}`), says(200, `{"tree":{"sha":"x"}}`), says(200, `{"tree":{"sha":"`+pushed+`"},"parents":[{}]}`))
	c := s.client()
	tree, parents, err := c.Commit(ctx, pullHead)
	if d := cmp.Diff([]string{pullBase, runHead}, parents); d != "" || tree != pushed || err != nil {
		t.Errorf("%s, %v\n%s", tree, err, d)
	}
	if _, parents, err := c.Commit(ctx, pullHead); len(parents) != 0 || err != nil {
		t.Errorf("of a root: %v, %v", parents, err)
	}
	for range 2 {
		if _, _, err := c.Commit(ctx, pullHead); err == nil || !strings.Contains(err.Error(), "GitHub's answer") {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := c.Commit(ctx, "HEAD"); err == nil {
		t.Error("HEAD was taken for a commit")
	}
}

func TestRepository(t *testing.T) {
	s := newStand(t, says(200, `{"id":100,"full_name":"acme/widgets","default_branch":"trunk"}`), says(200, `{"id":100}`), says(200, `{"default_branch":"trunk"}`), says(404, `{"message":"Not Found"}`))
	c := s.client()
	for _, want := range []string{"trunk", ""} {
		if id, branch, err := c.Repository(ctx); id != 100 || branch != want || err != nil {
			t.Errorf("%d, %q, %v", id, branch, err)
		}
	}
	if r := s.seen()[0]; r.path != "/api/v3/repos/acme/widgets" || r.query != "" {
		t.Errorf("%s?%s", r.path, r.query)
	}
	if id, branch, err := c.Repository(ctx); id != 0 || branch != "" || err == nil || !strings.Contains(err.Error(), "read the repository acme/widgets: GitHub's answer has no id") {
		t.Errorf("without an id: %d, %q, %v", id, branch, err)
	}
	if _, _, err := c.Repository(ctx); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestPull(t *testing.T) {
	s := newStand(t, says(200, `{"number":3,"state":"closed","draft":true,"merged":true,"user":{"login":"mona"},"merge_commit_sha":"`+pushed+`","html_url":"https://x/3",
		"head":{"ref":"feature","sha":"`+pullHead+`","repo":{"id":200,"full_name":"mona/widgets"}},"base":{"ref":"main","sha":"`+pullBase+`","repo":{"id":100}},
		"labels":[{"name":"perf"},{"name":"bug"}]}`),
		says(200, `{"number":4,"state":"open","user":null,"merge_commit_sha":null,"head":{"ref":"x","sha":"`+pullHead+`","repo":null},"base":{"ref":"main","sha":"`+pullBase+`"},"labels":[]}`))
	c := s.client()
	want := []Pull{{Number: 3, State: "closed", HeadSHA: pullHead, HeadRepositoryID: 200, BaseSHA: pullBase, BaseRef: "main", Labels: []string{"perf", "bug"}},
		{Number: 4, State: "open", HeadSHA: pullHead, BaseSHA: pullBase, BaseRef: "main"}}
	for _, w := range want {
		got, err := c.Pull(ctx, w.Number)
		if d := cmp.Diff(w, got); d != "" || err != nil {
			t.Error(d, err)
		}
	}
}

func TestPermission(t *testing.T) {
	s := newStand(t, says(200, `{"permission":"write","role_name":"maintain"}`), says(404, `{"message":"x is not a user"}`), says(200, `{"permission":"owner\n"}`))
	c := s.client()
	if got, err := c.Permission(ctx, "dependabot[bot]"); got != "write" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if s.seen()[0].path != "/api/v3/repos/acme/widgets/collaborators/dependabot%5Bbot%5D/permission" {
		t.Error(s.seen()[0].path)
	}
	if _, err := c.Permission(ctx, "a/b"); !errors.Is(err, fs.ErrNotExist) || s.seen()[1].path != "/api/v3/repos/acme/widgets/collaborators/a%2Fb/permission" {
		t.Errorf("%v, %s", err, s.seen()[1].path)
	}
	if got, err := c.Permission(ctx, "x"); got != "" || err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q, %v: a permission that we do not know", got, err)
	}
	for _, bad := range []string{"", "..", strings.Repeat("x", 200)} {
		if _, err := c.Permission(ctx, bad); err == nil {
			t.Errorf("%.10q was taken for a login", bad)
		}
	}
}

func TestLogin(t *testing.T) {
	refused := says(403, `{"message":"Resource not accessible by integration"}`)
	for _, tt := range []struct {
		name    string
		token   string
		actions bool
		steps   []http.HandlerFunc
		want    string
	}{
		{"a job's token", "ghs_x", true, nil, "github-actions[bot]"},
		{"a person's", "ghp_x", true, []http.HandlerFunc{says(200, `{"login":"mona"}`)}, "mona"},
		{"another kind in a job", "v1.x", true, []http.HandlerFunc{refused}, "github-actions[bot]"},
		{"another kind at a desk", "v1.x", false, []http.HandlerFunc{refused, refused}, ""},
		{"not valid", "ghp_x", true, []http.HandlerFunc{says(401, `{"message":"Bad credentials"}`), says(401, `{"message":"Bad credentials"}`)}, ""},
		{"nobody", "ghp_x", true, []http.HandlerFunc{says(200, `{}`), says(200, `{}`)}, ""},
	} {
		s := newStand(t, tt.steps...)
		c := s.client(func(o *Options) { o.Token, o.Actions = tt.token, tt.actions })
		for range 2 { // the answer is kept
			if got, err := c.Login(ctx); got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("%s: %q, %v", tt.name, got, err)
			}
		}
	}
}

func TestComments(t *testing.T) {
	s := newStand(t, says(204, ""), says(200, `[{"id":1,"body":"b","user":null,"created_at":"2026-11-28T02:00:00Z"},{"id":2,"body":"c","user":{"login":"mona"},"html_url":"https://x/2"}]`))
	c := s.client()
	if err := c.DeleteComment(ctx, 7); err != nil || s.seen()[0].method != http.MethodDelete || s.seen()[0].path != "/api/v3/repos/acme/widgets/issues/comments/7" {
		t.Errorf("%v, %+v", err, s.seen()[0])
	}
	got, err := all(c.Comments(ctx, 3))
	if err != nil || len(got) != 2 || got[0].Author != "" || got[1].Author != "mona" || got[1].URL != "https://x/2" {
		t.Errorf("%+v, %v", got, err)
	}
}
