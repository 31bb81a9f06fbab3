package ghapi

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/google/go-github/v62/github"

	"github.com/perfweir/perfweir/gate/publish"
)

const (
	readPulls = "pull-requests: read"
	// writePulls is named where the list of comments is refused, too: it is read to
	// write one.
	writePulls = "pull-requests: write"
)

// Comments lists the comments of an issue or pull request, oldest first.
func (c *Client) Comments(ctx context.Context, issue int) iter.Seq2[publish.Comment, error] {
	seq := list(ctx, c, call{what: fmt.Sprintf("list comments of #%d", issue), permission: writePulls},
		fmt.Sprintf("issues/%d/comments", issue), nil,
		func(p *[]*github.IssueComment) []*github.IssueComment { return *p }, (*github.IssueComment).GetID)
	return func(yield func(publish.Comment, error) bool) {
		for m, err := range seq {
			if !yield(comment(m), err) || err != nil {
				return
			}
		}
	}
}

// CreateComment is not sent again when its answer is lost: publish.ErrUnsure.
func (c *Client) CreateComment(ctx context.Context, issue int, body string) (publish.Comment, error) {
	return c.writeComment(ctx, call{what: fmt.Sprintf("create a comment on #%d", issue)}, http.MethodPost, fmt.Sprintf("issues/%d/comments", issue), body)
}

// UpdateComment puts body in the place of the comment's. Doing it twice is the same
// as doing it once, so it is sent again when its answer is lost.
func (c *Client) UpdateComment(ctx context.Context, id int64, body string) (publish.Comment, error) {
	return c.writeComment(ctx, call{what: fmt.Sprintf("update comment %d", id), repeatable: true}, http.MethodPatch, fmt.Sprintf("issues/comments/%d", id), body)
}

func (c *Client) writeComment(ctx context.Context, k call, method, path, body string) (publish.Comment, error) {
	k.permission = writePulls
	var m github.IssueComment
	if _, err := c.do(ctx, k, method, c.prefix+path, github.IssueComment{Body: &body}, &m); err != nil {
		return publish.Comment{}, err
	}
	return comment(&m), nil
}

// DeleteComment deletes one. After a lost answer it is asked for again, and then
// fs.ErrNotExist can mean that the first request did it.
func (c *Client) DeleteComment(ctx context.Context, id int64) error {
	_, err := c.do(ctx, call{what: fmt.Sprintf("delete comment %d", id), permission: writePulls, repeatable: true},
		http.MethodDelete, fmt.Sprintf("%sissues/comments/%d", c.prefix, id), nil, nil)
	return err
}

// comment takes over what GitHub says; a nil m gives the zero value.
func comment(m *github.IssueComment) publish.Comment {
	return publish.Comment{ID: m.GetID(), Body: m.GetBody(), Author: m.GetUser().GetLogin(), URL: m.GetHTMLURL()}
}
