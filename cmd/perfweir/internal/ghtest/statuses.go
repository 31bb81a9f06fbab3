package ghtest

import (
	"fmt"
	"net/http"
	"unicode/utf8"
)

const (
	maxStatuses    = 1000 // of one commit and context
	maxDescription = 140  // characters
)

func statusEndpoints() []endpoint {
	return []endpoint{{"POST", repositoryPath + "/statuses/{sha}", nil, []string{"statuses:write"}, createStatus}}
}

func createStatus(c *call) answer {
	sha := c.params["sha"]
	if !shaForm.MatchString(sha) || !c.state().knows(sha) {
		return c.noCommit(sha)
	}
	s := Status{ID: c.s.nextID(), SHA: sha, Context: or(c.text("context"), "default"), State: c.text("state"), Description: c.text("description"),
		TargetURL: c.text("target_url"), Creator: c.token.Login, CreatedAt: c.now}
	if utf8.RuneCountInString(s.Description) > maxDescription {
		return invalid("Status", "custom", "description", fmt.Sprintf("description is too long (maximum is %d characters)", maxDescription), c.docs)
	}
	same := 0
	for _, old := range c.state().Statuses {
		if old.SHA == s.SHA && old.Context == s.Context {
			same++
		}
	}
	if same >= maxStatuses {
		return invalid("Status", "custom", "base", "This SHA and context has reached the maximum number of statuses.", c.docs)
	}
	c.state().Statuses = append(c.state().Statuses, s)
	url := c.link("/statuses/%s", sha)
	a := reply(http.StatusCreated, c.example("status", object{"id": s.ID, "url": url, "state": s.State, "context": s.Context,
		"description": textOrNull(s.Description), "target_url": textOrNull(s.TargetURL), "creator": c.user(s.Creator),
		"created_at": stamp(s.CreatedAt), "updated_at": stamp(s.CreatedAt)}))
	a.header.Set("Location", url)
	return a
}
