package ghapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/perfweir/perfweir/baseline/artifact"
)

// blobTries is how often an artifact is asked for when the blob store does not
// answer well. Each time GitHub is asked again: its address is valid for a minute.
const blobTries = 3

// Archive opens an artifact. GitHub answers with the address of a blob store, signed
// for a minute, which is asked without the token: a store refuses a request that
// carries another one, and it is none of its business. The body is the caller's to
// bound and to close; a download that stands still for Options.Timeout ends with an
// error. Failures in the middle of the body are not repeated here: call again.
func (c *Client) Archive(ctx context.Context, artifactID int64) (*artifact.Archive, error) {
	r := &record{call: call{what: fmt.Sprintf("download artifact %d", artifactID), permission: readActions, repeatable: true, locate: true}}
	for n := 0; ; n++ {
		blob, err := c.locate(ctx, r, artifactID)
		if err != nil {
			return nil, err
		}
		a, failed := c.open(ctx, blob)
		if failed == nil {
			return a, nil
		}
		failed.Call, failed.Store, failed.Sends = r.what, c.line(withoutQuery(blob)), n+1
		if failed.Err != nil {
			failed.Message = c.line(failed.Err.Error())
		}
		if !worthAnother(failed) || n+1 == blobTries || ctx.Err() != nil {
			return nil, failed
		}
		if err := c.t.pause(ctx, r, firstWait<<n); errors.Is(err, errImpatient) {
			return nil, failed
		} else if err != nil {
			return nil, c.explain(r, err)
		}
	}
}

// worthAnother: 403 is what a store says to a signature that has run out meanwhile.
func worthAnother(e *Error) bool {
	return e.Status == 0 && !hopeless(e.Err) || e.Status == http.StatusForbidden || e.Status == http.StatusTooManyRequests || e.Status >= 500
}

// locate asks GitHub where the bytes are.
func (c *Client) locate(ctx context.Context, r *record, artifactID int64) (*url.URL, error) {
	req, err := c.gh.NewRequest(http.MethodGet, fmt.Sprintf("%sactions/artifacts/%d/zip", c.prefix, artifactID), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.what, err)
	}
	// Not go-github's DownloadArtifact: it looks at no body of an error and at no limit.
	resp, err := c.api.Do(req.WithContext(withRecord(ctx, r)))
	if err != nil {
		return nil, c.explain(r, err)
	}
	resp.Body.Close() // it is in memory
	if resp.StatusCode != http.StatusFound {
		if resp.StatusCode < 400 {
			return nil, c.explain(r, errors.New("it does not say where the artifact is"))
		}
		return nil, c.explain(r, nil)
	}
	blob, err := resp.Location()
	if err != nil || blob.Host == "" || blob.Scheme != "https" && blob.Scheme != c.t.api.Scheme {
		return nil, c.explain(r, errors.New("it gives an address for the artifact that cannot be used"))
	}
	return blob, nil
}

// storeCode is the reason in an error of Azure's or S3's store.
var storeCode = regexp.MustCompile(`<Code>([A-Za-z]{1,60})</Code>`)

// open asks the store. The error lacks what Archive knows.
func (c *Client) open(ctx context.Context, blob *url.URL) (*artifact.Archive, *Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stalled := time.AfterFunc(c.timeout, func() { cancel(errStalled) })
	fail := func(e *Error) (*artifact.Archive, *Error) {
		stalled.Stop()
		cancel(nil)
		return nil, e
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, blob.String(), nil)
	if err != nil {
		return fail(&Error{Err: errors.New("its address cannot be used")})
	}
	req.Header.Set("User-Agent", c.t.userAgent)
	req.Header.Set("Accept-Encoding", "identity") // the size and the digest are those of the bytes as they are stored
	resp, err := c.blobs.Do(req)
	if err != nil {
		var wrapped *url.Error // its text has the signature
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return fail(&Error{Err: because(ctx, err)})
	}
	if resp.StatusCode != http.StatusOK {
		head, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // only for the message
		resp.Body.Close()
		message := http.StatusText(resp.StatusCode)
		if m := storeCode.FindSubmatch(head); m != nil {
			message = string(m[1])
		}
		return fail(&Error{Status: resp.StatusCode, Message: message})
	}
	stalled.Stop()
	body := &blobBody{ctx: ctx, cancel: cancel, body: resp.Body, stalled: stalled, timeout: c.timeout}
	return &artifact.Archive{Body: body, ContentType: resp.Header.Get("Content-Type"), Size: resp.ContentLength}, nil
}

// blobBody ends a download that stands still: a context for the whole would have to
// know how large the artifact and how slow the line is.
type blobBody struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	body    io.ReadCloser
	stalled *time.Timer
	timeout time.Duration
}

func (b *blobBody) Read(p []byte) (int, error) {
	b.stalled.Reset(b.timeout)
	n, err := b.body.Read(p)
	b.stalled.Stop() // what the caller does between two reads is its own time
	if err != nil && err != io.EOF {
		err = fmt.Errorf("read the artifact: %w", because(b.ctx, err))
	}
	return n, err
}

func (b *blobBody) Close() error {
	b.stalled.Stop()
	b.cancel(nil)
	return b.body.Close()
}
