package ghtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
)

func checkEndpoints() []endpoint {
	read, write := []string{"checks:read"}, []string{"checks:write"}
	one := repositoryPath + "/check-runs/{check_run_id}"
	return []endpoint{
		{"POST", repositoryPath + "/check-runs", nil, write, createCheckRun},
		{"GET", one, nil, read, onCheckRun(getCheckRun)},
		{"PATCH", one, nil, write, onCheckRun(updateCheckRun)},
		{"GET", one + "/annotations", paged(), read, onCheckRun(listAnnotations)},
		{"GET", repositoryPath + "/commits/{ref}/check-runs", paged("check_name", "status", "filter", "app_id"), read, listCheckRuns},
	}
}

func onCheckRun(serve func(*call, *CheckRun) answer) func(*call) answer {
	return func(c *call) answer {
		run := c.state().checkRun(c.number("check_run_id"))
		if run == nil {
			return notFound(c.docs)
		}
		return serve(c, run)
	}
}

// appID is the number of an app; GitHub Actions has the one it has on github.com.
func appID(slug string) int {
	if slug == ActionsApp {
		return 15368
	}
	return userID(slug)
}

func (c *call) showCheckRun(r CheckRun) object {
	self := c.link("/check-runs/%d", r.ID)
	shown := c.example("check-run", object{
		"id": r.ID, "name": r.Name, "head_sha": r.HeadSHA, "external_id": r.ExternalID, "status": r.Status, "conclusion": textOrNull(r.Conclusion),
		"started_at": stampOrNull(r.StartedAt), "completed_at": stampOrNull(r.CompletedAt), "pull_requests": c.pullsOfHead(r.HeadSHA),
		"url": self, "html_url": c.page("/runs/%d", r.ID), "details_url": or(r.DetailsURL, c.page("/runs/%d", r.ID)),
		"output": object{"title": textOrNull(r.Title), "summary": textOrNull(r.Summary), "text": textOrNull(r.Text),
			"annotations_count": len(r.Annotations), "annotations_url": self + "/annotations"},
	})
	app := shown["app"].(object)
	app["id"], app["slug"], app["name"] = appID(r.App), r.App, r.App
	return shown
}

func (c *call) pullsOfHead(sha string) []object {
	out := []object{}
	for _, p := range c.state().Pulls {
		if p.Head.SHA == sha && !p.Head.Repo.isOther() {
			out = append(out, c.showMinimalPull(p))
		}
	}
	return out
}

// onlyForApps refuses people's tokens; nil: an app asks.
func (c *call) onlyForApps() *answer {
	if c.token.App != "" {
		return nil
	}
	a := refuse(http.StatusForbidden, "You must authenticate via a GitHub App.", c.docs)
	return &a
}

func createCheckRun(c *call) answer {
	if refused := c.onlyForApps(); refused != nil {
		return *refused
	}
	sha := c.text("head_sha")
	if !shaForm.MatchString(sha) {
		c.s.violate(c.req, ruleRequest, "head_sha %q is no whole hash of a commit", sha)
		return c.noCommit(sha)
	}
	if !c.state().knows(sha) {
		return c.noCommit(sha)
	}
	r := CheckRun{ID: c.s.nextID(), App: c.token.App, HeadSHA: sha, Status: "queued", StartedAt: c.now}
	if refused := c.write(&r); refused != nil {
		return *refused
	}
	c.state().CheckRuns = append(c.state().CheckRuns, r)
	return reply(http.StatusCreated, c.showCheckRun(r))
}

func getCheckRun(c *call, r *CheckRun) answer { return reply(http.StatusOK, c.showCheckRun(*r)) }

func updateCheckRun(c *call, r *CheckRun) answer {
	if refused := c.onlyForApps(); refused != nil {
		return *refused
	}
	if c.token.App != r.App {
		return refuse(http.StatusForbidden,
			fmt.Sprintf("Invalid app_id `%d` - check run can only be modified by the GitHub App that created it.", appID(r.App)), c.docs)
	}
	changed := *r
	if refused := c.write(&changed); refused != nil {
		return *refused
	}
	*r = changed
	return reply(http.StatusOK, c.showCheckRun(*r))
}

// checkBody is what a client may write of a check run.
type checkBody struct {
	Name        *string      `json:"name"`
	DetailsURL  *string      `json:"details_url"`
	ExternalID  *string      `json:"external_id"`
	Status      *string      `json:"status"`
	Conclusion  *string      `json:"conclusion"`
	StartedAt   *string      `json:"started_at"`
	CompletedAt *string      `json:"completed_at"`
	Output      *checkOutput `json:"output"`
}

type checkOutput struct {
	Title       *string      `json:"title"`
	Summary     *string      `json:"summary"`
	Text        *string      `json:"text"`
	Annotations []Annotation `json:"annotations"`
}

// write puts the body of a call into a check run: what is not said stays, and
// annotations are added to those that are there.
func (c *call) write(r *CheckRun) (refused *answer) {
	var b checkBody
	if err := decodeBody(c.body, &b); err != nil {
		a := refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error(), c.docs)
		return &a
	}
	if b.Output != nil {
		if field, message := b.Output.problem(); field != "" {
			a := invalid("CheckRun", "custom", field, message, c.docs)
			return &a
		}
		set(&r.Title, b.Output.Title)
		set(&r.Summary, b.Output.Summary)
		set(&r.Text, b.Output.Text)
		r.Annotations = append(slices.Clone(r.Annotations), b.Output.Annotations...)
	}
	set(&r.Name, b.Name)
	set(&r.DetailsURL, b.DetailsURL)
	set(&r.ExternalID, b.ExternalID)
	if b.StartedAt != nil {
		r.StartedAt, _ = timeOf(*b.StartedAt)
	}
	return c.conclude(r, b)
}

// conclude sets status and conclusion: a conclusion completes, and completing
// needs one.
func (c *call) conclude(r *CheckRun, b checkBody) (refused *answer) {
	set(&r.Status, b.Status)
	if b.Conclusion != nil {
		r.Status, r.Conclusion, r.CompletedAt = "completed", *b.Conclusion, c.now
	} else if b.Status != nil && *b.Status != "completed" {
		r.Conclusion, r.CompletedAt = "", time.Time{}
	}
	if b.CompletedAt != nil {
		r.CompletedAt, _ = timeOf(*b.CompletedAt)
	}
	if r.Status == "completed" && r.Conclusion == "" || b.CompletedAt != nil && r.Conclusion == "" {
		a := refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n\"conclusion\" wasn't supplied.", c.docs)
		return &a
	}
	return nil
}

func set(to *string, from *string) {
	if from != nil {
		*to = *from
	}
}

// GitHub counts bytes, though it says characters (github/docs issue 35252).
const (
	maxOutputBytes = 65535
	maxAnnotation  = 64 << 10
	maxTitleBytes  = 255
)

// problem finds what the description does not say of an output.
func (o *checkOutput) problem() (field, message string) {
	for name, text := range map[string]*string{"summary": o.Summary, "text": o.Text} {
		if text != nil && len(*text) > maxOutputBytes {
			return name, fmt.Sprintf("%s exceeds a maximum bytesize of %d", name, maxOutputBytes)
		}
	}
	for i, a := range o.Annotations {
		if message := a.problem(); message != "" {
			return "annotations", fmt.Sprintf("annotation %d: %s", i, message)
		}
	}
	return "", ""
}

func (a Annotation) problem() string {
	switch {
	case a.Path == "" || a.Path[0] == '/':
		return fmt.Sprintf("path %q is not relative to the repository", a.Path)
	case a.StartLine < 1 || a.EndLine < a.StartLine:
		return fmt.Sprintf("lines %d to %d", a.StartLine, a.EndLine)
	case (a.StartColumn != 0 || a.EndColumn != 0) && a.StartLine != a.EndLine:
		return "columns need a single line"
	case len(a.Title) > maxTitleBytes:
		return fmt.Sprintf("title exceeds a maximum bytesize of %d", maxTitleBytes)
	case len(a.Message) > maxAnnotation || len(a.RawDetails) > maxAnnotation:
		return fmt.Sprintf("message or raw_details exceeds a maximum bytesize of %d", maxAnnotation)
	}
	return ""
}

func listAnnotations(c *call, r *CheckRun) answer {
	return list(c, "", r.Annotations, func(a Annotation) object {
		column := func(n int) any {
			if n == 0 {
				return nil
			}
			return n
		}
		return c.exampleItem("check-annotation-items", "", object{"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine,
			"start_column": column(a.StartColumn), "end_column": column(a.EndColumn), "annotation_level": a.Level, "title": textOrNull(a.Title),
			"message": a.Message, "raw_details": textOrNull(a.RawDetails), "blob_href": c.page("/blob/%s/%s", r.HeadSHA, a.Path)})
	})
}

// listCheckRuns lists those of a commit, newest first. Without filter=all only the
// newest of each app and name.
func listCheckRuns(c *call) answer {
	sha, ok := c.state().resolve(c.params["ref"])
	if !ok {
		return c.noCommit(c.params["ref"])
	}
	var kept []CheckRun
	seen := map[string]bool{}
	for _, r := range slices.Backward(c.state().CheckRuns) {
		if r.HeadSHA != sha || !c.asksForCheck(r) {
			continue
		}
		key := r.App + "\x00" + r.Name
		if !seen[key] || c.query.Get("filter") == "all" {
			kept = append(kept, r)
		}
		seen[key] = true
	}
	return list(c, "check_runs", kept, c.showCheckRun)
}

func (c *call) asksForCheck(r CheckRun) bool {
	q := c.query
	return (!q.Has("check_name") || q.Get("check_name") == r.Name) && (!q.Has("status") || q.Get("status") == r.Status) &&
		(!q.Has("app_id") || q.Get("app_id") == strconv.Itoa(appID(r.App)))
}
