package ghtest

import "net/http"

func conversationEndpoints() []endpoint {
	needs := []string{"issues:read", "pull-requests:read"}
	base := repositoryPath + "/issues/{issue_number}"
	return []endpoint{
		{"GET", base, nil, needs, onIssue("read", getIssue)},
		{"GET", base + "/events", paged(), needs, onIssue("read", listEvents)},
		{"GET", base + "/labels", paged(), needs, onIssue("read", listLabels)},
	}
}

// onIssue finds the issue of the path first. That of a pull request is also open
// to who may see or write pull requests, another only to who may issues.
func onIssue(level string, serve func(*call, *Issue) answer) func(*call) answer {
	return func(c *call) answer {
		issue := c.state().issue(int(c.number("issue_number")))
		switch {
		case issue == nil:
			return notFound(c.docs)
		case issue.Gone:
			return refuse(http.StatusGone, "This issue was deleted", c.docs)
		case !c.mayTalk(issue.Number, level):
			return c.forbidden("issues:" + level)
		}
		return serve(c, issue)
	}
}

func (c *call) mayTalk(number int, level string) bool {
	if c.token.may("issues:" + level) {
		return true
	}
	return c.state().pull(number) != nil && c.token.may("pull-requests:"+level)
}

func (c *call) showLabel(name string) object {
	return c.exampleItem("label-items", "", object{"id": userID(name), "name": name, "url": c.link("/labels/%d", userID(name)), "default": false})
}

func getIssue(c *call, i *Issue) answer {
	labels := make([]object, len(i.Labels))
	for n, l := range i.Labels {
		labels[n] = c.showLabel(l)
	}
	shown := c.example("issue", object{"id": 2_000_000 + i.Number, "number": i.Number, "title": i.Title, "state": i.State, "locked": i.Locked,
		"labels": labels, "user": c.user(i.User), "created_at": stamp(i.CreatedAt), "updated_at": stamp(i.CreatedAt),
		"url": c.link("/issues/%d", i.Number), "html_url": c.page("/issues/%d", i.Number), "comments_url": c.link("/issues/%d/comments", i.Number),
		"events_url": c.link("/issues/%d/events", i.Number), "labels_url": c.link("/issues/%d/labels{/name}", i.Number)})
	delete(shown, "pull_request")
	if c.state().pull(i.Number) != nil {
		page := c.page("/pull/%d", i.Number)
		shown["html_url"] = page
		shown["pull_request"] = object{"url": c.link("/pulls/%d", i.Number), "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch"}
	}
	return reply(http.StatusOK, shown)
}

func listLabels(c *call, i *Issue) answer { return list(c, "", i.Labels, c.showLabel) }

// listEvents lists what was done to an issue, oldest first.
func listEvents(c *call, i *Issue) answer {
	return list(c, "", i.Events, func(e Event) object {
		shown := c.exampleItem("issue-event-for-issue-items", "", object{"id": e.ID, "event": e.Event, "actor": c.user(e.Actor),
			"created_at": stamp(e.CreatedAt), "url": c.link("/issues/events/%d", e.ID), "commit_id": nil, "commit_url": nil})
		delete(shown, "label")
		if e.Label != "" {
			shown["label"] = object{"name": e.Label, "color": "f29513"}
		}
		return shown
	})
}
