package ghapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Repository is what the environment of a workflow says of the repository and that
// of a desk does not: its number, which a rename keeps, and its default branch.
func (c *Client) Repository(ctx context.Context) (id int64, defaultBranch string, err error) {
	k := call{what: "read the repository " + strings.TrimSuffix(strings.TrimPrefix(c.prefix, "repos/"), "/"), permission: "metadata: read"}
	var r struct {
		ID            int64  `json:"id"`
		DefaultBranch string `json:"default_branch"`
	}
	if _, err := c.do(ctx, k, "GET", strings.TrimSuffix(c.prefix, "/"), nil, &r); err != nil {
		return 0, "", err
	}
	if r.ID <= 0 {
		return 0, "", fmt.Errorf("%s: %w", oneLine(k.what), errors.New("GitHub's answer has no id"))
	}
	return r.ID, r.DefaultBranch, nil
}
