package ghapi

import (
	"crypto/tls"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The limits of GitHub that refuse a request.
const (
	primaryLimit   = "rate limit"           // so many requests an hour
	secondaryLimit = "secondary rate limit" // too many at once, or too much written
)

const (
	// maxSends is how often one request is sent at most: 15 s of waiting when
	// nothing is wrong but the line.
	maxSends = 5
	// firstWait doubles from try to try. There is no jitter: we are one client that
	// sends one request at a time, not a herd.
	firstWait = time.Second
	// secondaryWait is what GitHub's documentation asks for when a secondary limit
	// comes without Retry-After: at least a minute, then longer.
	secondaryWait = time.Minute
)

var (
	errTooLarge = errors.New("the answer is larger than 16 MiB")
	errStalled  = errors.New("nothing came in time")
)

// answer is what became of one sending of a request.
type answer struct {
	status int // 0: no answer
	header http.Header
	body   []byte
	err    error // why there is no answer, or none to its end
	sent   bool  // GitHub may have read the request
}

// plan is what to do after an answer.
type plan struct {
	again bool
	wait  time.Duration // before it is sent again
	limit string        // the limit that refused it; "" none
}

// decide is the whole policy, without a clock and without a wire. repeatable says
// that carrying the request out twice does no harm; n counts the sendings before
// this one; now is when the answer came.
//
// A request that is not repeatable is sent again only when it surely was not
// carried out: nothing was sent, a limit refused it (403, 429), or 503, which the
// balancer in front of the application gives when it finds nobody to hand the
// request to. After 500, 502 and 504 the application may have gone on: GitHub cuts
// off what takes longer than ten seconds, not what it has written by then.
func decide(a answer, repeatable bool, n int, now time.Time) plan {
	p := plan{limit: a.limit()}
	switch {
	case p.limit != "":
		p.wait = a.resume(p.limit, n, now)
	case a.err != nil && !a.sent, a.status == http.StatusServiceUnavailable, a.lost() && repeatable:
		p.wait = max(firstWait<<n, a.retryAfter(now))
	default:
		return p
	}
	p.again = n+1 < maxSends && !hopeless(a.err)
	return p
}

// lost says that the request was sent and nothing tells whether it was carried out.
func (a answer) lost() bool {
	switch a.status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return a.err != nil && a.sent
}

// settles says that the answer tells how things are now.
func (a answer) settles() bool {
	return a.status != 0 && a.status < 500 && a.err == nil && a.limit() == ""
}

// hopeless errors are the same the next time.
func hopeless(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.Is(err, errTooLarge) || errors.As(err, &certificate) || errors.As(err, &record)
}

// limit says which limit refused the request. GitHub uses 403 and 429 for both,
// 403 also for missing permissions, and the last allowed request carries
// x-ratelimit-remaining: 0 as well: so the text is asked, too.
func (a answer) limit() string {
	if a.status != http.StatusForbidden && a.status != http.StatusTooManyRequests {
		return ""
	}
	p := readProblem(a.body)
	text := strings.ToLower(p.Message + " " + p.Documentation)
	switch {
	case strings.Contains(text, "secondary rate limit"), strings.Contains(text, "secondary-rate-limit"), strings.Contains(text, "abuse detection"), strings.Contains(text, "abuse-rate-limit"):
		return secondaryLimit
	case a.status == http.StatusForbidden && (strings.Contains(text, "not accessible by") || p.locked(a.status)):
		return ""
	case a.header.Get("X-Ratelimit-Remaining") == "0", strings.Contains(text, "rate limit"):
		return primaryLimit
	case a.status == http.StatusTooManyRequests, a.header.Get("Retry-After") != "":
		return secondaryLimit
	}
	return ""
}

// resume is how long a limit keeps us from asking: Retry-After before
// x-ratelimit-reset before the minute that doubles, as GitHub's documentation
// orders them. A clock here that is ahead of GitHub's makes the reset look past:
// the growing least wait covers that.
func (a answer) resume(limit string, n int, now time.Time) time.Duration {
	if wait := a.retryAfter(now); wait > 0 {
		return max(wait, firstWait)
	}
	if reset, err := strconv.ParseInt(a.header.Get("X-Ratelimit-Reset"), 10, 64); err == nil && limit == primaryLimit && 0 < reset && reset < 1<<40 {
		// One second more: the reset has whole seconds.
		return max(time.Unix(reset+1, 0).Sub(now), firstWait<<n)
	}
	return secondaryWait << n
}

// retryAfter reads the header in both of its forms; 0: there is none to go by.
func (a answer) retryAfter(now time.Time) time.Duration {
	text := a.header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		if seconds < 0 {
			return 0
		}
		if seconds > int64(math.MaxInt64/time.Second) {
			return math.MaxInt64
		}
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
