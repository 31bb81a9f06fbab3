package ghtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func pullEndpoints() []endpoint {
	needs := []string{"pull-requests:read"}
	return []endpoint{
		{"GET", repositoryPath + "/pulls", paged("state", "head", "base", "sort", "direction"), needs, listPulls},
		{"GET", repositoryPath + "/pulls/{pull_number}", nil, needs, getPull},
		{"GET", repositoryPath + "/commits/{commit_sha}/pulls", paged(), needs, listPullsOfCommit},
	}
}

// pullFields are what the short and the whole form of a pull request share.
func (c *call) pullFields(p Pull) object {
	url := c.link("/pulls/%d", p.Number)
	issue := c.state().issue(p.Number)
	var closed, merged any
	if p.State == "closed" {
		closed = stamp(p.CreatedAt)
	}
	if p.Merged {
		merged = stamp(p.CreatedAt)
	}
	labels := make([]object, len(issue.Labels))
	for i, l := range issue.Labels {
		labels[i] = c.showLabel(l)
	}
	return object{"id": 1_000_000 + p.Number, "number": p.Number, "title": p.Title, "state": p.State, "locked": issue.Locked, "draft": p.Draft,
		"user": c.user(p.User), "labels": labels, "assignee": nil, "assignees": []object{}, "milestone": nil, "auto_merge": nil,
		"active_lock_reason": nil, "requested_reviewers": []object{}, "requested_teams": []object{}, "merge_commit_sha": textOrNull(p.MergeCommitSHA),
		"url": url, "html_url": c.page("/pull/%d", p.Number), "issue_url": c.link("/issues/%d", p.Number),
		"comments_url": c.link("/issues/%d/comments", p.Number), "commits_url": url + "/commits", "statuses_url": c.link("/statuses/%s", p.Head.SHA),
		"created_at": stamp(p.CreatedAt), "updated_at": stamp(p.CreatedAt), "closed_at": closed, "merged_at": merged}
}

// showSide is one side of a pull request; the repository of a fork that was
// deleted is null.
func (c *call) showSide(like any, r Ref) object {
	side := mergeObjects(like.(object), object{"ref": r.Ref, "sha": r.SHA})
	name, id := c.state().Repository.FullName(), c.state().Repository.ID
	if r.Repo.isOther() {
		name, id = r.Repo.FullName, r.Repo.ID
	}
	owner, _, _ := strings.Cut(name, "/")
	side["label"], side["user"] = owner+":"+r.Ref, c.user(owner)
	if r.Repo.Gone {
		side["repo"] = nil
		return side
	}
	side["repo"] = c.repositoryLike(side["repo"], name, id)
	return side
}

func (c *call) showPull(p Pull) object {
	shown := c.exampleItem("pull-request-simple-items", "", c.pullFields(p))
	shown["head"], shown["base"] = c.showSide(shown["head"], p.Head), c.showSide(shown["base"], p.Base)
	return shown
}

func (c *call) showWholePull(p Pull) object {
	shown := c.example("pull-request", c.pullFields(p))
	shown["head"], shown["base"] = c.showSide(shown["head"], p.Head), c.showSide(shown["base"], p.Base)
	shown["merged"] = p.Merged
	if !p.Merged {
		shown["merged_by"] = nil
	}
	shown["comments"] = len(slices.DeleteFunc(slices.Clone(c.state().Comments), func(m Comment) bool { return m.Issue != p.Number }))
	return shown
}

// showMinimalPull is a pull request as a workflow run names it.
func (c *call) showMinimalPull(p Pull) object {
	side := func(r Ref) object {
		repo := c.state().Repository
		name, id := repo.Name, repo.ID
		if r.Repo.isOther() {
			_, name, _ = strings.Cut(r.Repo.FullName, "/")
			id = r.Repo.ID
		}
		return object{"ref": r.Ref, "sha": r.SHA, "repo": object{"id": id, "name": name, "url": c.link("")}}
	}
	return object{"id": 1_000_000 + p.Number, "number": p.Number, "url": c.link("/pulls/%d", p.Number), "head": side(p.Head), "base": side(p.Base)}
}

func listPulls(c *call) answer {
	state := or(c.query.Get("state"), "open")
	kept := slices.DeleteFunc(slices.Clone(c.state().Pulls), func(p Pull) bool {
		return state != "all" && p.State != state ||
			c.query.Has("head") && c.query.Get("head") != c.headLabel(p) ||
			c.query.Has("base") && c.query.Get("base") != p.Base.Ref
	})
	if s := or(c.query.Get("sort"), "created"); s != "created" && s != "updated" {
		c.s.violate(c.req, ruleNotModeled, "sort=%s", s)
	}
	slices.SortStableFunc(kept, func(a, b Pull) int { return cmp.Compare(a.Number, b.Number) })
	if c.query.Get("direction") != "asc" {
		slices.Reverse(kept)
	}
	return list(c, "", kept, c.showPull)
}

// headLabel is OWNER:BRANCH of a pull request's head.
func (c *call) headLabel(p Pull) string {
	name := c.state().Repository.FullName()
	if p.Head.Repo.isOther() {
		name = p.Head.Repo.FullName
	}
	owner, _, _ := strings.Cut(name, "/")
	return fmt.Sprintf("%s:%s", owner, p.Head.Ref)
}

func getPull(c *call) answer {
	p := c.state().pull(int(c.number("pull_number")))
	if p == nil {
		return notFound(c.docs)
	}
	return reply(http.StatusOK, c.showWholePull(*p))
}

// listPullsOfCommit finds the pull requests that a commit belongs to. GitHub finds
// none of forks this way often enough that the fake never does: a client must list
// the open ones.
func listPullsOfCommit(c *call) answer {
	sha := c.params["commit_sha"]
	if !c.state().knows(sha) {
		return c.noCommit(sha)
	}
	g := c.state().graph()
	kept := slices.DeleteFunc(slices.Clone(c.state().Pulls), func(p Pull) bool {
		own := without(g.reach(p.Head.SHA), g.reach(p.Base.SHA))
		belongs := own[sha] || p.Head.SHA == sha || p.Merged && p.MergeCommitSHA == sha
		return p.Head.Repo.isOther() || !belongs
	})
	return list(c, "", kept, c.showPull)
}
