package ghtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// linkLife is how long a link to the blob host is good.
const linkLife = time.Minute

// blobLink is a signed address of an artifact. Clients decide by ".zip" in the
// path whether they got an archive.
func (s *Server) blobLink(a Artifact, now time.Time) string {
	path := fmt.Sprintf("/artifacts/%d/%s", a.ID, url.PathEscape(a.Name))
	if a.ContentType == zipType {
		path += ".zip"
	}
	expiry := stamp(now.Add(linkLife))
	q := url.Values{"se": {expiry}, "sig": {s.sign(path, expiry)}, "sp": {"r"}, "sv": {"2025-01-05"}}
	return s.BlobURL() + path + "?" + q.Encode()
}

func (s *Server) sign(path, expiry string) string {
	mac := hmac.New(sha256.New, s.secret)
	fmt.Fprintf(mac, "%s\n%s", path, expiry)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Server) serveBlob(w http.ResponseWriter, r *http.Request) {
	a, f := s.answerBlob(r)
	s.send(w, r, a, f)
}

func (s *Server) answerBlob(r *http.Request) (answer, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &call{s: s, req: r, query: r.URL.Query(), now: s.now(), path: r.URL.EscapedPath()}
	if r.Header.Get("Authorization") != "" {
		s.violate(r, ruleLeak, "an Authorization header was sent to the blob host")
	}
	f := s.takeFault(blobHost, r)
	a := answer{header: http.Header{}}
	if f == nil || f.isCarriedOut() {
		a = c.blob()
	}
	if f != nil {
		a = f.spoil(c, a)
	}
	a.header.Set("Date", c.now.UTC().Format(http.TimeFormat))
	s.record(blobHost, r, a.status, f)
	return a, f
}

// blob answers as the blob store does: it knows signed links and nothing else.
func (c *call) blob() answer {
	if c.req.Header.Get("Authorization") != "" {
		return blobError(http.StatusBadRequest, "InvalidAuthenticationInfo")
	}
	if c.req.Method != http.MethodGet {
		return blobError(http.StatusMethodNotAllowed, "UnsupportedHttpVerb")
	}
	expiry := c.query.Get("se")
	until, err := time.Parse(time.RFC3339, expiry)
	signed := hmac.Equal([]byte(c.query.Get("sig")), []byte(c.s.sign(c.path, expiry)))
	if err != nil || !signed || c.now.After(until) {
		return blobError(http.StatusForbidden, "AuthenticationFailed")
	}
	id, err := strconv.ParseInt(strings.Split(c.path+"//", "/")[2], 10, 64)
	if err != nil {
		return blobError(http.StatusNotFound, "BlobNotFound")
	}
	artifact := c.artifact(id)
	if artifact == nil {
		return blobError(http.StatusNotFound, "BlobNotFound")
	}
	body, err := artifact.bytes()
	if err != nil {
		return blobError(http.StatusInternalServerError, "InternalError")
	}
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {artifact.ContentType}}, body: body, isRaw: true}
}

// blobError is an error in the blob store's XML.
func blobError(status int, code string) answer {
	body, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: code, Message: code + ": see the documentation of the store."})
	if err != nil {
		panic("ghtest: " + err.Error()) // two strings always marshal
	}
	return answer{status: status, header: http.Header{"Content-Type": {"application/xml"}, "X-Ms-Error-Code": {code}},
		body: append([]byte(xml.Header), body...), isRaw: true}
}
