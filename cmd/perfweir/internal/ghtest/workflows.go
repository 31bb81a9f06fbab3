package ghtest

import (
	"cmp"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

func workflowEndpoints() []endpoint {
	needs := []string{"actions:read"}
	base := repositoryPath + "/actions/"
	filters := paged("actor", "branch", "event", "status", "head_sha", "exclude_pull_requests")
	return []endpoint{
		{"GET", base + "runs", filters, needs, listRuns},
		{"GET", base + "runs/{run_id}", []string{"exclude_pull_requests"}, needs, getRun},
		{"GET", base + "workflows/{workflow_id}", nil, needs, getWorkflow},
		{"GET", base + "workflows/{workflow_id}/runs", filters, needs, listWorkflowRuns},
	}
}

// file is the workflow's file without the ref that some runs carry.
func (r Run) file() string {
	file, _, _ := strings.Cut(r.Path, "@")
	return file
}

// workflowID is the same number for the same file.
func workflowID(file string) int { return userID(file) }

// headRepositoryID is 0 for a fork that is gone.
func (c *call) headRepositoryID(r Run) int64 {
	switch {
	case r.Head.Gone:
		return 0
	case r.Head.isOther():
		return r.Head.ID
	}
	return c.state().Repository.ID
}

func (c *call) showRun(r Run) object {
	repo := c.state().Repository
	url := c.link("/actions/runs/%d", r.ID)
	shown := c.exampleItem("workflow-run-paginated", "workflow_runs", nil)
	repository := shown["repository"]
	for k, v := range (object{
		"id": r.ID, "name": workflowName(r.file()), "display_title": "Run of " + r.file(), "path": r.Path,
		"run_number": r.Number, "run_attempt": r.Attempt, "event": r.Event, "head_branch": r.HeadBranch, "head_sha": r.HeadSHA,
		"status": r.Status, "conclusion": textOrNull(r.Conclusion), "workflow_id": workflowID(r.file()),
		"url": url, "html_url": c.page("/actions/runs/%d", r.ID), "artifacts_url": url + "/artifacts", "jobs_url": url + "/jobs",
		"logs_url": url + "/logs", "cancel_url": url + "/cancel", "rerun_url": url + "/rerun",
		"workflow_url": c.link("/actions/workflows/%d", workflowID(r.file())),
		"created_at":   stamp(r.CreatedAt), "updated_at": stamp(r.StartedAt), "run_started_at": stamp(r.StartedAt),
		"actor": c.user(r.Actor), "triggering_actor": c.user(r.Actor),
		"repository": c.repositoryLike(repository, repo.FullName(), repo.ID), "pull_requests": c.pullsOfRun(r),
	}) {
		shown[k] = v
	}
	c.showHead(shown, repository, r)
	return shown
}

// showHead tells where the head of a run lives; a fork that is gone is null.
func (c *call) showHead(shown object, like any, r Run) {
	repo := c.state().Repository
	name, id := repo.FullName(), c.headRepositoryID(r)
	if r.Head.isOther() {
		name = r.Head.FullName
	}
	delete(shown, "head_repository_id")
	shown["head_repository"] = nil
	if !r.Head.Gone {
		shown["head_repository"], shown["head_repository_id"] = c.repositoryLike(like, name, id), id
	}
}

// workflowName is "nightly" for .github/workflows/nightly.yml.
func workflowName(file string) string {
	return strings.TrimSuffix(path.Base(file), path.Ext(file))
}

func (c *call) pullsOfRun(r Run) []object {
	out := []object{}
	if c.query.Get("exclude_pull_requests") == "true" {
		return out
	}
	for _, n := range r.Pulls {
		if p := c.state().pull(n); p != nil {
			out = append(out, c.showMinimalPull(*p))
		}
	}
	return out
}

// filterRuns keeps the runs that the query asks for, newest first. With a filter
// GitHub shows a thousand at most.
func (c *call) filterRuns(runs []Run) []Run {
	filters := map[string]func(Run, string) bool{
		"actor":    func(r Run, v string) bool { return r.Actor == v },
		"branch":   func(r Run, v string) bool { return r.HeadBranch == v }, // a fork's branch of that name, too
		"event":    func(r Run, v string) bool { return r.Event == v },
		"status":   func(r Run, v string) bool { return r.Status == v || r.Conclusion == v },
		"head_sha": func(r Run, v string) bool { return r.HeadSHA == v },
	}
	kept, isFiltered := slices.Clone(runs), false
	for name, keep := range filters {
		if c.query.Has(name) {
			isFiltered = true
			kept = slices.DeleteFunc(kept, func(r Run) bool { return !keep(r, c.query.Get(name)) })
		}
	}
	slices.SortStableFunc(kept, func(a, b Run) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	if isFiltered {
		kept = kept[:min(len(kept), maxFiltered)]
	}
	return kept
}

func listRuns(c *call) answer {
	return list(c, "workflow_runs", c.filterRuns(c.state().Runs), c.showRun)
}

// workflow finds the file of a workflow by its number or the file's name.
func (c *call) workflow() (file string, ok bool) {
	files := slices.Clone(c.state().Workflows)
	for _, r := range c.state().Runs {
		files = append(files, r.file())
	}
	wanted := c.params["workflow_id"]
	for _, f := range files {
		if strconv.Itoa(workflowID(f)) == wanted || path.Base(f) == wanted {
			return f, true
		}
	}
	return "", false
}

func listWorkflowRuns(c *call) answer {
	file, ok := c.workflow()
	if !ok {
		return notFound(c.docs)
	}
	runs := slices.DeleteFunc(slices.Clone(c.state().Runs), func(r Run) bool { return r.file() != file })
	return list(c, "workflow_runs", c.filterRuns(runs), c.showRun)
}

func getRun(c *call) answer {
	r := c.state().run(c.number("run_id"))
	if r == nil {
		return notFound(c.docs)
	}
	return reply(http.StatusOK, c.showRun(*r))
}

func getWorkflow(c *call) answer {
	file, ok := c.workflow()
	if !ok {
		return notFound(c.docs)
	}
	return reply(http.StatusOK, c.example("workflow", object{"id": workflowID(file), "path": file, "name": workflowName(file),
		"url": c.link("/actions/workflows/%d", workflowID(file)), "html_url": c.page("/blob/%s/%s", c.state().Repository.DefaultBranch, file),
		"badge_url": c.page("/workflows/%s/badge.svg", workflowName(file))}))
}
