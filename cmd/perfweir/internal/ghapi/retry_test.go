package ghapi

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// TestDecide is the table of the policy: what came, and what is done with a request
// that may be repeated and one that may not.
func TestDecide(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	reset := func(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }
	unsure := plan{limit: "it may have been carried out"} // nothing to do, and lost
	lost := errors.New("connection reset by peer")
	for _, tt := range []struct {
		name       string
		answer     answer
		n          int
		read, post plan
	}{
		{"200", answer{status: 200}, 0, plan{}, plan{}},
		{"201", answer{status: 201}, 0, plan{}, plan{}},
		{"302", answer{status: 302}, 0, plan{}, plan{}},
		{"401", answer{status: 401}, 0, plan{}, plan{}},
		{"404", answer{status: 404}, 0, plan{}, plan{}},
		{"422", answer{status: 422}, 0, plan{}, plan{}},
		{"501", answer{status: 501}, 0, plan{}, plan{}},
		{"500", answer{status: 500}, 0, plan{again: true, wait: time.Second}, unsure},
		{"502", answer{status: 502}, 1, plan{again: true, wait: 2 * time.Second}, unsure},
		{"503", answer{status: 503}, 2, plan{again: true, wait: 4 * time.Second}, plan{again: true, wait: 4 * time.Second}},
		{"503 with a date", answer{status: 503, header: h("Retry-After", "30")}, 0, plan{again: true, wait: 30 * time.Second}, plan{again: true, wait: 30 * time.Second}},
		{"504", answer{status: 504}, 3, plan{again: true, wait: 8 * time.Second}, unsure},
		{"504 for ever", answer{status: 504}, 4, plan{wait: 16 * time.Second}, unsure},
		{"never sent", answer{err: lost}, 0, plan{again: true, wait: time.Second}, plan{again: true, wait: time.Second}},
		{"sent", answer{err: lost, sent: true}, 0, plan{again: true, wait: time.Second}, unsure},
		{"cut", answer{status: 201, err: lost, sent: true}, 0, plan{again: true, wait: time.Second}, unsure},
		{"too large", answer{status: 200, err: errTooLarge, sent: true}, 0, plan{wait: time.Second}, unsure},
		{"bad certificate", answer{err: fmt.Errorf("x: %w", &tls.CertificateVerificationError{Err: lost})}, 0, plan{wait: time.Second}, plan{wait: time.Second}},
		{"no TLS there", answer{err: tls.RecordHeaderError{}}, 0, plan{wait: time.Second}, plan{wait: time.Second}},

		{"403 integration", answer{status: 403, body: []byte(`{"message":"Resource not accessible by integration"}`)}, 0, plan{}, plan{}},
		{"403 integration with the last request", answer{status: 403, header: h("X-RateLimit-Remaining", "0"), body: []byte(`{"message":"Resource not accessible by integration"}`)}, 0, plan{}, plan{}},
		{"403 locked with the last request", answer{status: 403, header: h("X-RateLimit-Remaining", "0"), body: []byte(`{"message":"Unable to create comment because issue is locked."}`)}, 0, plan{}, plan{}},
		{"403 of a proxy", answer{status: 403, body: []byte("<html>")}, 0, plan{}, plan{}},
		{"403 primary", answer{status: 403, header: h("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(30*time.Second)), body: []byte(`{"message":"API rate limit exceeded for installation"}`)},
			0, both(primaryLimit, 31*time.Second), both(primaryLimit, 31*time.Second)},
		{"429 primary", answer{status: 429, header: h("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(time.Hour))}, 0, both(primaryLimit, time.Hour+time.Second), both(primaryLimit, time.Hour+time.Second)},
		{"reset is past", answer{status: 403, header: h("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", reset(-time.Hour))}, 2, both(primaryLimit, 4*time.Second), both(primaryLimit, 4*time.Second)},
		{"reset is nonsense", answer{status: 403, header: h("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "9223372036854775807")}, 0, both(primaryLimit, time.Minute), both(primaryLimit, time.Minute)},
		{"primary without headers", answer{status: 403, body: []byte(`{"message":"API rate limit exceeded"}`)}, 0, both(primaryLimit, time.Minute), both(primaryLimit, time.Minute)},
		{"403 secondary", answer{status: 403, header: h("Retry-After", "7"), body: []byte(`{"message":"You have exceeded a secondary rate limit."}`)}, 0, both(secondaryLimit, 7*time.Second), both(secondaryLimit, 7*time.Second)},
		{"secondary without Retry-After", answer{status: 403, header: h("X-RateLimit-Remaining", "900", "X-RateLimit-Reset", reset(time.Hour)), body: []byte(`{"message":"You have exceeded a secondary rate limit."}`)},
			0, both(secondaryLimit, time.Minute), both(secondaryLimit, time.Minute)},
		{"secondary by its page", answer{status: 403, body: []byte(`{"message":"x","documentation_url":"https://docs.github.com/rest/overview/resources-in-the-rest-api#secondary-rate-limits"}`)},
			1, both(secondaryLimit, 2*time.Minute), both(secondaryLimit, 2*time.Minute)},
		{"old words", answer{status: 403, body: []byte(`{"message":"You have triggered an abuse detection mechanism."}`)}, 0, both(secondaryLimit, time.Minute), both(secondaryLimit, time.Minute)},
		{"bare 429", answer{status: 429, body: []byte("slow down")}, 2, both(secondaryLimit, 4*time.Minute), both(secondaryLimit, 4*time.Minute)},
		{"Retry-After as a date", answer{status: 429, header: h("Retry-After", now.Add(90*time.Second).Format(http.TimeFormat))}, 0, both(secondaryLimit, 90*time.Second), both(secondaryLimit, 90*time.Second)},
		{"Retry-After 0", answer{status: 429, header: h("Retry-After", "0")}, 0, both(secondaryLimit, time.Minute), both(secondaryLimit, time.Minute)},
		{"Retry-After below", answer{status: 429, header: h("Retry-After", "-5")}, 0, both(secondaryLimit, time.Minute), both(secondaryLimit, time.Minute)},
		{"Retry-After for ever", answer{status: 429, header: h("Retry-After", "99999999999999999")}, 0, both(secondaryLimit, math.MaxInt64), both(secondaryLimit, math.MaxInt64)},
	} {
		if tt.answer.status != 0 {
			tt.answer.sent = true
		}
		if got := decide(tt.answer, true, tt.n, now); got != tt.read {
			t.Errorf("%s, repeatable: %+v, want %+v", tt.name, got, tt.read)
		}
		got := decide(tt.answer, false, tt.n, now)
		if got == (plan{}) && tt.answer.lost() {
			got = unsure
		}
		if got != tt.post {
			t.Errorf("%s, not repeatable: %+v, want %+v", tt.name, got, tt.post)
		}
	}
}

func both(limit string, wait time.Duration) plan { return plan{again: true, wait: wait, limit: limit} }

func h(pairs ...string) http.Header {
	out := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		out.Set(pairs[i], pairs[i+1])
	}
	return out
}

// TestDecideNeverUnsafe: a request that may not be repeated is repeated only after
// an answer that says that it was not carried out, or when nothing was sent.
func TestDecideNeverUnsafe(t *testing.T) {
	now := time.Unix(1e9, 0)
	for status := 100; status < 600; status++ {
		a := answer{status: status, sent: true}
		p := decide(a, false, 0, now)
		if p.again && status != 429 && status != 503 {
			t.Errorf("%d is sent again", status)
		}
		if a.lost() && (p.again || a.settles()) {
			t.Errorf("%d: lost, and %+v", status, p)
		}
	}
}
