package ghapi

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v62/github"
)

// Pull is a pull request as the API tells it.
type Pull struct {
	Number           int
	State            string // "open", "closed"
	HeadSHA          string
	HeadRepositoryID int64  // 0: the fork is gone
	BaseSHA          string // tip of the base branch when the pull request was last written to
	BaseRef          string
	Labels           []string
}

func (p *pullJSON) pull() Pull {
	out := Pull{Number: p.Number, State: p.State, HeadSHA: p.Head.SHA, BaseSHA: p.Base.SHA, BaseRef: p.Base.Ref, Labels: p.labels()}
	if r := p.Head.Repo; r != nil {
		out.HeadRepositoryID = r.ID
	}
	return out
}

// Pull reads one pull request.
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) {
	var p pullJSON
	if _, err := c.get(ctx, call{what: fmt.Sprintf("read pull request #%d", number), permission: readPulls}, fmt.Sprintf("pulls/%d", number), nil, &p); err != nil {
		return Pull{}, err
	}
	return p.pull(), nil
}

// OpenPullsOf gives the open pull requests whose head is this commit of this
// repository. It is for the workflow_run of a fork, whose payload names no pull
// request: all open ones are looked through, because GitHub filters by owner and
// branch, which a fork chooses. headRepositoryID 0 finds nothing: a head whose
// repository is gone belongs to nobody any more.
func (c *Client) OpenPullsOf(ctx context.Context, headSHA string, headRepositoryID int64) ([]Pull, error) {
	if err := needSHA("commit", headSHA); err != nil {
		return nil, fmt.Errorf("find open pull requests: %w", err)
	}
	if headRepositoryID <= 0 {
		return nil, nil
	}
	open := list(ctx, c, call{what: "list open pull requests", permission: readPulls}, "pulls",
		url.Values{"state": {"open"}, "sort": {"updated"}, "direction": {"desc"}},
		func(page *[]*pullJSON) []*pullJSON { return *page }, func(p *pullJSON) int64 { return int64(p.Number) })
	var out []Pull
	for p, err := range open {
		if err != nil {
			return nil, err
		}
		if pull := p.pull(); pull.State == "open" && pull.HeadSHA == headSHA && pull.HeadRepositoryID == headRepositoryID {
			out = append(out, pull)
		}
	}
	return out, nil
}

// Permission is what an account may do in the repository: "admin", "write", "read",
// "none". GitHub counts maintain as write and triage as read.
func (c *Client) Permission(ctx context.Context, login string) (string, error) {
	k := call{what: "ask what " + quote(login) + " may do here", permission: "metadata: read"}
	if login == "" || len(login) > 100 || strings.Trim(login, ".") == "" {
		return "", fmt.Errorf("%s: this is no login", k.what)
	}
	var p struct {
		Permission string `json:"permission"`
	}
	if _, err := c.get(ctx, k, "collaborators/"+url.PathEscape(login)+"/permission", nil, &p); err != nil {
		return "", err
	}
	switch p.Permission {
	case "admin", "write", "read", "none":
		return p.Permission, nil
	}
	return "", fmt.Errorf("%s: GitHub answered %s, which is no permission that we know", k.what, quote(p.Permission))
}

// Labelling is how an issue or pull request came by a label that it has now.
type Labelling struct {
	Login string // the last one who gave it; empty: it has not got it, or the account is gone
	At    time.Time
	// Moved is when the head of the pull request was last pushed by force; zero: never.
	Moved time.Time
}

// LabelledBy is who gave an issue or pull request a label that it has now, and when.
// Login is empty when the label was taken away again or never given.
func (c *Client) LabelledBy(ctx context.Context, issue int, label string) (Labelling, error) {
	events := list(ctx, c, call{what: fmt.Sprintf("list events of #%d", issue), permission: readPulls}, fmt.Sprintf("issues/%d/events", issue), nil,
		func(p *[]*github.IssueEvent) []*github.IssueEvent { return *p }, (*github.IssueEvent).GetID)
	var l Labelling
	for e, err := range events {
		if err != nil {
			return Labelling{}, err
		}
		ours := strings.EqualFold(e.GetLabel().GetName(), label) // GitHub has no two labels that differ in case alone
		switch at := e.GetCreatedAt().Time; {
		case e.GetEvent() == "head_ref_force_pushed" && at.After(l.Moved):
			l.Moved = at
		case ours && e.GetEvent() == "labeled":
			l.Login, l.At = e.GetActor().GetLogin(), at
		case ours && e.GetEvent() == "unlabeled":
			l.Login, l.At = "", time.Time{}
		}
	}
	return l, nil
}
