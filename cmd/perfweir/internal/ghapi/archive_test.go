package ghapi

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// blobStand is a store beside the API: the API answers with its address, signed.
func blobStand(t *testing.T, steps ...http.HandlerFunc) (api, blob *stand) {
	blob = newStand(t, steps...)
	api = newStand(t)
	for i := range steps {
		api.steps = append(api.steps, says(302, fmt.Sprintf("Location: %s/store/a.zip?sig=signed%d", blob.url, i), ""))
	}
	return api, blob
}

func TestArchive(t *testing.T) {
	api, blob := blobStand(t, says(200, "Content-Type: application/zip", "PK\x03\x04 bytes"))
	c := api.client()
	a, err := c.Archive(ctx, 5)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(a.Body)
	if err != nil || string(b) != "PK\x03\x04 bytes" || a.Size != int64(len(b)) || a.ContentType != "application/zip" {
		t.Errorf("%q (%d, %s), %v", b, a.Size, a.ContentType, err)
	}
	if err := a.Body.Close(); err != nil {
		t.Error(err)
	}
	if api.seen()[0].path != "/api/v3/repos/acme/widgets/actions/artifacts/5/zip" || api.seen()[0].header.Get("Authorization") == "" {
		t.Errorf("%+v", api.seen()[0])
	}
	for name := range blob.seen()[0].header {
		if name == "Authorization" || name == "Cookie" || name == "Referer" || strings.HasPrefix(name, "X-Github") {
			t.Errorf("the store got %s", name)
		}
	}
	if blob.seen()[0].query != "sig=signed0" || c.Requests() != 1 {
		t.Errorf("%+v, %d requests of the API", blob.seen()[0], c.Requests())
	}
}

// TestArchiveAsksAgain: each time with a new address.
func TestArchiveAsksAgain(t *testing.T) {
	for name, trouble := range map[string]http.HandlerFunc{"503": says(503, "x"), "403": says(403, "<Error><Code>AuthenticationFailed</Code></Error>"), "reset": hangUp("")} {
		api, blob := blobStand(t, trouble, trouble, says(200, "bytes"))
		a, err := api.client().Archive(ctx, 5)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a.Body.Close()
		if blob.seen()[2].query != "sig=signed2" || api.clock.total() != 3*time.Second {
			t.Errorf("%s: %s, slept %v", name, blob.seen()[2].query, api.clock.total())
		}
	}
}

func TestArchiveErrors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		blob     []http.HandlerFunc
		want     string
		is, isNo error
	}{
		{"403 for ever", []http.HandlerFunc{says(403, "x"), says(403, "x"), says(403, "<?xml?><Error><Code>AuthenticationFailed</Code><Message>secret</Message></Error>")},
			"answered 403: AuthenticationFailed (asked 3 times)", nil, fs.ErrPermission},
		{"404", []http.HandlerFunc{says(404, "<Code>BlobNotFound</Code>")}, "answered 404: BlobNotFound", fs.ErrNotExist, fs.ErrPermission},
		{"400", []http.HandlerFunc{says(400, "<Code>InvalidAuthenticationInfo</Code>")}, "answered 400: InvalidAuthenticationInfo", nil, fs.ErrPermission},
		{"redirect", []http.HandlerFunc{says(302, "Location: HOST/else?sig=signed", "")}, "answered 302: Found", nil, fs.ErrNotExist},
		{"no answer", []http.HandlerFunc{hangUp(""), hangUp(""), hangUp("")}, "no answer of the blob store", nil, fs.ErrNotExist},
	} {
		api, _ := blobStand(t, tt.blob...)
		_, err := api.client().Archive(ctx, 5)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "sig") || !strings.Contains(err.Error(), "/store/a.zip") {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if tt.is != nil && !errors.Is(err, tt.is) || errors.Is(err, tt.isNo) {
			t.Errorf("%s: %v is the wrong kind", tt.name, err)
		}
	}
}

// TestArchiveWithoutAddress: what the API answers instead of a redirect.
func TestArchiveWithoutAddress(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		is     error
	}{
		{"410", says(410, `{"message":"Artifact has expired"}`), "download artifact 5: GitHub answered 410: Artifact has expired", fs.ErrNotExist},
		{"404", says(404, `{"message":"Not Found"}`), "download artifact 5: GitHub answered 404: Not Found", fs.ErrNotExist},
		{"403", says(403, `{"message":"Resource not accessible by integration"}`), "give the job `actions: read`", fs.ErrPermission},
		{"403 limit", says(403, "Retry-After: 4000", `{"message":"secondary rate limit"}`), "secondary rate limit is used up", ErrRateLimit},
		{"200", says(200, "PK"), "it does not say where the artifact is", nil},
		{"302 without Location", says(302, ""), "an address for the artifact that cannot be used", nil},
		{"302 to a file", says(302, "Location: file:///etc/passwd", ""), "an address for the artifact that cannot be used", nil},
	} {
		s := newStand(t, tt.answer)
		_, err := s.client().Archive(ctx, 5)
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestArchiveOfRenamedRepository: the API's own redirect first, with the token, then
// the store's address, without.
func TestArchiveOfRenamedRepository(t *testing.T) {
	blob := newStand(t, says(200, "bytes"))
	api := newStand(t, says(301, "Location: HOST/api/v3/repositories/100/actions/artifacts/5/zip", "x"), says(302, "Location: "+blob.url+"/a.zip", ""))
	a, err := api.client().Archive(ctx, 5)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if api.seen()[1].header.Get("Authorization") == "" || blob.seen()[0].header.Get("Authorization") != "" {
		t.Errorf("%+v, %+v", api.seen()[1].header, blob.seen()[0].header)
	}
}

// TestArchiveStandsStill: a download that gives nothing ends; a slow reader does not
// end it.
func TestArchiveStandsStill(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	blob := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	defer blob.Close()
	api := newStand(t, says(302, "Location: "+blob.URL+"/a.zip?sig=signed", ""))
	a, err := api.client(func(o *Options) { o.Timeout = 50 * time.Millisecond }).Archive(ctx, 5)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(a.Body)
	if string(b) != "half" || !errors.Is(err, errStalled) || strings.Contains(err.Error(), "sig") {
		t.Errorf("%q, %v", b, err)
	}
	a.Body.Close()
}
