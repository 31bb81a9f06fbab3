package ghtest

import (
	"net/http"
	"strings"
)

const docsOfAuth = "https://docs.github.com/rest/authentication/authenticating-to-the-rest-api"

// authenticate finds who asks. GitHub takes "Bearer" and "token".
func (c *call) authenticate() (refused *answer) {
	header := c.req.Header.Get("Authorization")
	if header == "" {
		a := refuse(http.StatusUnauthorized, "Requires authentication", docsOfAuth)
		return &a
	}
	kind, text, _ := strings.Cut(header, " ")
	t, known := c.state().Tokens[text]
	isKind := strings.EqualFold(kind, "bearer") || strings.EqualFold(kind, "token")
	if !known || !isKind || !t.ExpiresAt.IsZero() && !c.now.Before(t.ExpiresAt) {
		a := refuse(http.StatusUnauthorized, "Bad credentials", docsOfAPI)
		return &a
	}
	c.token = t
	return nil
}

// may tells whether the token has any of the permissions, each "NAME:LEVEL".
func (t Token) may(needs ...string) bool {
	if len(needs) == 0 {
		return true
	}
	for _, n := range needs {
		name, level, _ := strings.Cut(n, ":")
		has := t.Permissions[name]
		if t.Permissions == nil {
			has = "write"
		}
		if t.ReadOnly && has == "write" {
			has = "read"
		}
		if has == "write" || has == level && has != "" {
			return true
		}
	}
	return false
}

// forbidden is the answer to a token that lacks a permission. GitHub tells which
// ones would do in a header.
func (c *call) forbidden(needs ...string) answer {
	message := "Resource not accessible by integration"
	if c.token.App == "" {
		message = "Resource not accessible by personal access token"
	}
	a := refuse(http.StatusForbidden, message, c.docs)
	a.header.Set("X-Accepted-GitHub-Permissions", acceptedPermissions(needs))
	return a
}

// acceptedPermissions writes permissions as GitHub's header does: alternatives
// apart by semicolons, names with underscores.
func acceptedPermissions(needs []string) string {
	out := make([]string, len(needs))
	for i, n := range needs {
		out[i] = strings.ReplaceAll(strings.Replace(n, ":", "=", 1), "-", "_")
	}
	return strings.Join(out, "; ")
}
