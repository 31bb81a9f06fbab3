package ghtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func commitEndpoints() []endpoint {
	needs := []string{"contents:read"}
	return []endpoint{
		{"GET", repositoryPath + "/commits", paged("sha", "since", "until"), needs, listCommits},
		{"GET", repositoryPath + "/commits/{ref}", nil, needs, getCommit},
		{"GET", repositoryPath + "/git/commits/{commit_sha}", nil, needs, getGitCommit},
		{"GET", repositoryPath + "/compare/{basehead}", paged(), needs, compare},
	}
}

func (c *call) showCommit(commit Commit) object {
	who := object{"name": commit.Author, "email": commit.Author + "@users.noreply.github.com", "date": stamp(commit.Date)}
	shown := c.exampleItem("commit-items", "", object{
		"sha": commit.SHA, "url": c.link("/commits/%s", commit.SHA), "html_url": c.page("/commit/%s", commit.SHA),
		"comments_url": c.link("/commits/%s/comments", commit.SHA), "author": c.user(commit.Author), "committer": c.user(commit.Author),
		"parents": c.showParents(commit, "/commits/"),
	})
	inner := shown["commit"].(object)
	inner["message"], inner["author"], inner["committer"] = commit.Message, who, who
	inner["url"] = c.link("/git/commits/%s", commit.SHA)
	inner["tree"] = object{"sha": commit.Tree, "url": c.link("/git/trees/%s", commit.Tree)}
	return shown
}

func (c *call) showParents(commit Commit, under string) []object {
	out := make([]object, len(commit.Parents))
	for i, p := range commit.Parents {
		out[i] = object{"sha": p, "url": c.link("%s%s", under, p), "html_url": c.page("/commit/%s", p)}
	}
	return out
}

func listCommits(c *call) answer {
	start := c.state().commit(c.query.Get("sha"))
	if start == nil {
		return notFound(c.docs)
	}
	g := c.state().graph()
	kept := slices.DeleteFunc(g.history(g.reach(start.SHA)), func(commit Commit) bool {
		since, isSince := timeOf(c.query.Get("since"))
		until, isUntil := timeOf(c.query.Get("until"))
		return isSince && commit.Date.Before(since) || isUntil && commit.Date.After(until)
	})
	return list(c, "", kept, c.showCommit)
}

func timeOf(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

func (c *call) noCommit(sha string) answer {
	return refuse(http.StatusUnprocessableEntity, "No commit found for SHA: "+sha, c.docs)
}

func getCommit(c *call) answer {
	commit := c.state().commit(c.params["ref"])
	if commit == nil {
		return c.noCommit(c.params["ref"])
	}
	return reply(http.StatusOK, c.showCommit(*commit))
}

func getGitCommit(c *call) answer {
	sha := c.params["commit_sha"]
	commit := c.state().commit(sha)
	if commit == nil || commit.SHA != sha {
		return notFound(c.docs)
	}
	who := object{"name": commit.Author, "email": commit.Author + "@users.noreply.github.com", "date": stamp(commit.Date)}
	return reply(http.StatusOK, c.example("git-commit-2", object{
		"sha": sha, "url": c.link("/git/commits/%s", sha), "html_url": c.page("/commit/%s", sha), "message": commit.Message,
		"author": who, "committer": who, "parents": c.showParents(*commit, "/git/commits/"),
		"tree": object{"sha": commit.Tree, "url": c.link("/git/trees/%s", commit.Tree)},
	}))
}

// compare tells what head has that base has not, with three dots: since their
// merge base.
func compare(c *call) answer {
	from, to, ok := strings.Cut(c.params["basehead"], "...")
	base, head := c.state().commit(ownerless(from)), c.state().commit(ownerless(to))
	if !ok || base == nil || head == nil {
		return notFound(c.docs)
	}
	g := c.state().graph()
	mergeBase, ok := g.mergeBase(base.SHA, head.SHA)
	if !ok {
		return refuse(http.StatusNotFound, "No common ancestor between "+from+" and "+to+".", c.docs)
	}
	ofBase, ofHead := g.reach(base.SHA), g.reach(head.SHA)
	ahead, behind := g.history(without(ofHead, ofBase)), len(without(ofBase, ofHead))
	slices.Reverse(ahead) // oldest first, here alone
	shown, links := pageOf(c, ahead)
	commits := make([]object, len(shown))
	for i, commit := range shown {
		commits[i] = c.showCommit(commit)
	}
	url := "/compare/" + c.params["basehead"]
	a := reply(http.StatusOK, c.example("commit-comparison", object{
		"url": c.link("%s", url), "html_url": c.page("%s", url), "permalink_url": c.page("%s", url), "diff_url": c.page("%s.diff", url),
		"patch_url": c.page("%s.patch", url), "base_commit": c.showCommit(*base), "merge_base_commit": c.showCommit(mergeBase),
		"status": comparison(len(ahead), behind), "ahead_by": len(ahead), "behind_by": behind, "total_commits": len(ahead),
		"commits": commits, "files": []object{},
	}))
	if links != "" {
		a.header.Set("Link", links)
	}
	return a
}

func comparison(ahead, behind int) string {
	switch {
	case ahead == 0 && behind == 0:
		return "identical"
	case behind == 0:
		return "ahead"
	case ahead == 0:
		return "behind"
	}
	return "diverged"
}

// ownerless takes the "OWNER:" of a side of a comparison away: forks share the
// commits of their network.
func ownerless(side string) string {
	if _, ref, ok := strings.Cut(side, ":"); ok {
		return ref
	}
	return side
}
