package ghtest

import (
	"net/http"
	"slices"
	"unicode/utf8"
)

// maxComment is in characters. The description does not say it.
const maxComment = 65536

const docsOfLocks = "https://docs.github.com/articles/locking-conversations/"

func commentEndpoints() []endpoint {
	read, write := []string{"issues:read", "pull-requests:read"}, []string{"issues:write", "pull-requests:write"}
	of, one := repositoryPath+"/issues/{issue_number}/comments", repositoryPath+"/issues/comments/{comment_id}"
	return []endpoint{
		{"GET", of, paged("since"), read, onIssue("read", listComments)},
		{"POST", of, nil, write, onIssue("write", createComment)},
		{"GET", one, nil, read, onComment("read", getComment)},
		{"PATCH", one, nil, write, onComment("write", updateComment)},
		{"DELETE", one, nil, write, onComment("write", deleteComment)},
	}
}

// onComment finds the comment of the path first.
func onComment(level string, serve func(*call, *Comment) answer) func(*call) answer {
	return func(c *call) answer {
		comment := c.state().comment(c.number("comment_id"))
		switch {
		case comment == nil:
			return notFound(c.docs)
		case !c.mayTalk(comment.Issue, level):
			return c.forbidden("issues:" + level)
		case level == "write" && comment.User != c.token.Login:
			c.s.violate(c.req, ruleForeign, "comment %d is %s's, not %s's", comment.ID, comment.User, c.token.Login)
			return c.forbidden("issues:" + level)
		}
		return serve(c, comment)
	}
}

func (c *call) showComment(m Comment) object {
	shown := c.exampleItem("issue-comment-items", "", object{"id": m.ID, "body": m.Body, "user": c.user(m.User),
		"created_at": stamp(m.CreatedAt), "updated_at": stamp(m.UpdatedAt), "url": c.link("/issues/comments/%d", m.ID),
		"html_url": c.page("/pull/%d#issuecomment-%d", m.Issue, m.ID), "issue_url": c.link("/issues/%d", m.Issue)})
	return shown
}

// listComments lists by id, oldest first.
func listComments(c *call, i *Issue) answer {
	since, isSince := timeOf(c.query.Get("since"))
	kept := slices.DeleteFunc(slices.Clone(c.state().Comments), func(m Comment) bool {
		return m.Issue != i.Number || isSince && m.UpdatedAt.Before(since)
	})
	slices.SortFunc(kept, func(a, b Comment) int { return int(a.ID - b.ID) })
	return list(c, "", kept, c.showComment)
}

func getComment(c *call, m *Comment) answer { return reply(http.StatusOK, c.showComment(*m)) }

// refuseBody is what GitHub answers to a body that it does not take; nil: it does.
func (c *call) refuseBody() *answer {
	body := c.text("body")
	var a answer
	switch {
	case utf8.RuneCountInString(body) > maxComment:
		a = c.tooLong()
	case body == "":
		a = invalid("IssueComment", "unprocessable", "data", "Body cannot be blank", c.docs)
	default:
		return nil
	}
	return &a
}

func (c *call) tooLong() answer {
	return invalid("IssueComment", "unprocessable", "data", "Body is too long (maximum is 65536 characters)", c.docs)
}

func createComment(c *call, i *Issue) answer {
	if i.Locked {
		return refuse(http.StatusForbidden, "Unable to create comment because issue is locked.", docsOfLocks)
	}
	if refused := c.refuseBody(); refused != nil {
		return *refused
	}
	m := Comment{ID: c.s.nextID(), Issue: i.Number, User: c.token.Login, Body: c.text("body"), CreatedAt: c.now, UpdatedAt: c.now}
	c.state().Comments = append(c.state().Comments, m)
	a := reply(http.StatusCreated, c.showComment(m))
	a.header.Set("Location", c.link("/issues/comments/%d", m.ID))
	return a
}

func updateComment(c *call, m *Comment) answer {
	if i := c.state().issue(m.Issue); i != nil && i.Locked {
		return refuse(http.StatusForbidden, "Unable to update comment because issue is locked.", docsOfLocks)
	}
	if refused := c.refuseBody(); refused != nil {
		return *refused
	}
	m.Body, m.UpdatedAt = c.text("body"), c.now
	return reply(http.StatusOK, c.showComment(*m))
}

func deleteComment(c *call, m *Comment) answer {
	id := m.ID
	c.state().Comments = slices.DeleteFunc(c.state().Comments, func(m Comment) bool { return m.ID == id })
	return noContent()
}
