package ghapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/publish"
)

// TestRenamedRepository: GitHub redirects below its own host, reads with 301,
// writes with 307, which keep their method and body.
func TestRenamedRepository(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		s := newStand(t, says(status, "Location: HOST/api/v3/repositories/100/check-runs/7", "x"), says(200, ok))
		c := s.client()
		if r, err := c.CheckRun(ctx, 7); err != nil || r.ID != 7 || c.Requests() != 2 {
			t.Errorf("read, %d: %+v, %v", status, r, err)
		}
		if s.seen()[1].header.Get("Authorization") == "" || s.seen()[1].path != "/api/v3/repositories/100/check-runs/7" {
			t.Errorf("%d: %+v", status, s.seen()[1])
		}
	}
	for _, status := range []int{307, 308} {
		s := newStand(t, says(status, "Location: HOST/api/v3/repositories/100/issues/comments/7", "x"), says(200, ok))
		if _, err := s.client().UpdateComment(ctx, 7, "text"); err != nil {
			t.Errorf("write, %d: %v", status, err)
		}
		if r := s.seen()[1]; r.method != http.MethodPatch || r.body != s.seen()[0].body || !strings.Contains(r.body, "text") {
			t.Errorf("write, %d: %+v", status, r)
		}
	}
	for _, status := range []int{301, 302, 303} {
		s := newStand(t, says(status, "Location: HOST/api/v3/repositories/100/issues/3/comments?signature=secret", "x"))
		_, err := s.client().CreateComment(ctx, 3, "x")
		if err == nil || !strings.Contains(err.Error(), "would make POST a GET") || strings.Contains(err.Error(), "signature") || errors.Is(err, publish.ErrUnsure) {
			t.Errorf("write, %d: %v", status, err)
		}
	}
}

// TestTokenStaysHome: no redirect takes it to another host, nor off TLS.
func TestTokenStaysHome(t *testing.T) {
	elsewhere := newStand(t)
	for _, status := range []int{301, 302, 307, 308} {
		s := newStand(t, says(status, "Location: "+elsewhere.url+"/steal?signature=x", "x"), says(status, "Location: "+elsewhere.url+"/steal", "x"))
		c := s.client()
		_, read := c.CheckRun(ctx, 7)
		_, write := c.CreateComment(ctx, 3, "x")
		for _, err := range []error{read, write} {
			if err == nil || !strings.Contains(err.Error(), "another host") || strings.Contains(err.Error(), "signature") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	if len(elsewhere.seen()) != 0 {
		t.Errorf("it was asked: %+v", elsewhere.seen())
	}
	s := newStand(t)
	c := s.client()
	for _, address := range []string{strings.Replace(s.url, "http:", "https:", 1), elsewhere.url} {
		req, err := http.NewRequest(http.MethodGet, address+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.t.RoundTrip(req); err == nil || !strings.Contains(err.Error(), "not the API") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestRedirectsInARound(t *testing.T) {
	round := says(301, "Location: HOST/api/v3/round", "x")
	s := newStand(t, round, round, round, round, round, round)
	_, err := s.client().CheckRun(ctx, 7)
	if want := "read check run 7: GitHub answered 301: it redirects round and round (asked 6 times)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestNoTokenInText: whatever a hostile or broken server repeats.
func TestNoTokenInText(t *testing.T) {
	s := newStand(t,
		says(404, fmt.Sprintf(`{"message":"no %s here"}`, testToken)),
		says(422, fmt.Sprintf(`{"message":"x","errors":[{"message":%q}]}`, testToken)),
		says(307, "Location: HOST/api/v3/"+testToken+"?t="+testToken, "x"), says(418, "x"),
		says(301, "Location: http://other.invalid/"+testToken, "x"),
		hangUp("HTTP/1.1 "+testToken+"\r\n\r\n"), hangUp(testToken), hangUp(testToken), hangUp(testToken), hangUp(testToken))
	c := s.client()
	for range 5 {
		_, err := c.CheckRun(ctx, 7)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v", err)
		}
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(format, c) + fmt.Sprintf(format, *c.t.api) + fmt.Sprintf(format, c.t.authorize); strings.Contains(text, "secret") {
			t.Errorf("%s shows the token", format)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	good := Options{BaseURL: "https://api.github.com/", Token: testToken, Repository: "a/b"}
	for _, tt := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.BaseURL = "" }, "address of GitHub's API"},
		{func(o *Options) { o.BaseURL = "https://me:secret@api.github.com" }, "must have no user"},
		{func(o *Options) { o.BaseURL = "file:///etc" }, "no address"},
		{func(o *Options) { o.Repository = "a" }, "want owner/name"},
		{func(o *Options) { o.Repository = "a/../b" }, "want owner/name"},
		{func(o *Options) { o.Token = testToken + "\n" }, "the token has a space"},
		{func(o *Options) { o.Token = "two words" }, "the token has a space"},
	} {
		o := good
		tt.change(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "me:secret") || strings.Contains(err.Error(), testToken) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
