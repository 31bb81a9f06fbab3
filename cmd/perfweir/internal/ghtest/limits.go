package ghtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	docsOfLimit     = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"
	docsOfSecondary = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"
)

// window starts a new window of the primary limit when the last one has ended.
func (l *Limit) window(now time.Time) {
	if l.Reset.IsZero() || !now.Before(l.Reset) {
		l.Used, l.Reset = 0, now.Add(time.Hour).Truncate(time.Second)
	}
}

// spend counts one request; false: there was none left.
func (l *Limit) spend(now time.Time) bool {
	l.window(now)
	if l.Used >= l.Limit {
		return false
	}
	l.Used++
	return true
}

func (l Limit) header(h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(l.Limit))
	h.Set("X-RateLimit-Used", strconv.Itoa(l.Used))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(l.Limit-l.Used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(l.Reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
}

func (c *call) primaryLimit() answer {
	return refuse(http.StatusForbidden, fmt.Sprintf("API rate limit exceeded for installation ID %d.", userID(c.token.Login)), docsOfLimit)
}

func rateLimitOverview(c *call) answer {
	l := &c.state().Limit
	l.window(c.now)
	core := object{"limit": l.Limit, "used": l.Used, "remaining": l.Limit - l.Used, "reset": l.Reset.Unix()}
	body := c.example("rate-limit-overview", object{"rate": core})
	body["resources"].(object)["core"] = core
	return reply(http.StatusOK, body)
}
