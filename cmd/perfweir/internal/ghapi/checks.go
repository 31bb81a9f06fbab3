package ghapi

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v62/github"

	"github.com/perfweir/perfweir/gate/publish"
)

// Limits of GitHub's checks, in bytes where GitHub counts bytes or does not say what
// it counts.
const (
	maxAnnotations       = 50 // a request
	maxAnnotationTitle   = 255
	maxAnnotationMessage = 64000 // GitHub says 64 KB
	maxStatusText        = 140
)

// writeChecks is named where reading is refused, too: we look for check runs to
// write them, and whoever only gave the right to read would be refused next.
const writeChecks = "checks: write"

// CheckRuns lists the check runs of a name on a commit, those of earlier attempts
// included, newest first.
func (c *Client) CheckRuns(ctx context.Context, sha, name string) iter.Seq2[publish.CheckRun, error] {
	return func(yield func(publish.CheckRun, error) bool) {
		if err := needSHA("commit", sha); err != nil {
			yield(publish.CheckRun{}, fmt.Errorf("list check runs: %w", err))
			return
		}
		// GitHub promises no order, so all of them are read before the first is given.
		runs, err := all(list(ctx, c, call{what: "list check runs of " + short(sha), permission: writeChecks},
			"commits/"+sha+"/check-runs", url.Values{"check_name": {name}, "filter": {"all"}},
			func(p *github.ListCheckRunsResults) []*github.CheckRun { return p.CheckRuns }, (*github.CheckRun).GetID))
		if err != nil {
			yield(publish.CheckRun{}, err)
			return
		}
		slices.SortFunc(runs, func(a, b *github.CheckRun) int { return cmp.Compare(b.GetID(), a.GetID()) })
		for _, r := range runs {
			if !yield(checkRun(r), nil) {
				return
			}
		}
	}
}

// CheckRun reads one.
func (c *Client) CheckRun(ctx context.Context, id int64) (publish.CheckRun, error) {
	var r github.CheckRun
	if _, err := c.get(ctx, call{what: fmt.Sprintf("read check run %d", id), permission: writeChecks}, fmt.Sprintf("check-runs/%d", id), nil, &r); err != nil {
		return publish.CheckRun{}, err
	}
	return checkRun(&r), nil
}

// CreateCheckRun creates one with at most 50 annotations. Titles and messages of
// annotations are cut to GitHub's limits; a longer summary or text is
// publish.ErrTooLong. It is not sent again when its answer is lost: publish.ErrUnsure.
func (c *Client) CreateCheckRun(ctx context.Context, r publish.CheckRun, annotations []publish.Annotation) (publish.CheckRun, error) {
	k := call{what: fmt.Sprintf("create check run %s", quote(r.Name)), permission: writeChecks}
	output, err := checkOutput(r, annotations)
	if err == nil {
		err = needSHA("commit", r.HeadSHA)
	}
	if err != nil {
		return publish.CheckRun{}, fmt.Errorf("%s: %w", k.what, err)
	}
	in := github.CreateCheckRunOptions{Name: r.Name, HeadSHA: r.HeadSHA, DetailsURL: some(r.DetailsURL), ExternalID: some(r.ExternalID),
		Status: some(r.Status), Conclusion: some(r.Conclusion), Output: output}
	if !r.StartedAt.IsZero() {
		in.StartedAt = &github.Timestamp{Time: r.StartedAt.UTC()}
	}
	return c.writeCheckRun(ctx, k, http.MethodPost, "check-runs", in)
}

// UpdateCheckRun writes the fields of r and appends at most 50 annotations. Without
// annotations doing it twice is the same as doing it once; with some it is not, and
// it is not sent again when its answer is lost: publish.ErrUnsure.
func (c *Client) UpdateCheckRun(ctx context.Context, r publish.CheckRun, annotations []publish.Annotation) (publish.CheckRun, error) {
	k := call{what: fmt.Sprintf("update check run %d", r.ID), permission: writeChecks, repeatable: len(annotations) == 0}
	output, err := checkOutput(r, annotations)
	if err != nil {
		return publish.CheckRun{}, fmt.Errorf("%s: %w", k.what, err)
	}
	in := github.UpdateCheckRunOptions{Name: r.Name, DetailsURL: some(r.DetailsURL), ExternalID: some(r.ExternalID),
		Status: some(r.Status), Conclusion: some(r.Conclusion), Output: output}
	return c.writeCheckRun(ctx, k, http.MethodPatch, fmt.Sprintf("check-runs/%d", r.ID), in)
}

func (c *Client) writeCheckRun(ctx context.Context, k call, method, path string, in any) (publish.CheckRun, error) {
	var out github.CheckRun
	if _, err := c.do(ctx, k, method, c.prefix+path, in, &out); err != nil {
		return publish.CheckRun{}, err
	}
	return checkRun(&out), nil
}

// checkOutput makes the output of a check run; nil when there is none to write.
func checkOutput(r publish.CheckRun, annotations []publish.Annotation) (*github.CheckRunOutput, error) {
	switch {
	case r.Name == "":
		return nil, fmt.Errorf("a check run needs a name")
	case r.Status == "completed" && r.Conclusion == "":
		return nil, fmt.Errorf("a completed check run needs a conclusion")
	case len(annotations) > maxAnnotations:
		return nil, fmt.Errorf("%d annotations in one request: GitHub takes %d", len(annotations), maxAnnotations)
	case r.Title == "" && r.Summary == "" && r.Text == "" && len(annotations) == 0:
		return nil, nil
	case r.Title == "" || r.Summary == "":
		return nil, fmt.Errorf("the output of a check run needs a title and a summary")
	case len(r.Summary) > publish.MaxSummary:
		return nil, fmt.Errorf("summary of %d bytes, GitHub takes %d: %w", len(r.Summary), publish.MaxSummary, publish.ErrTooLong)
	case len(r.Text) > publish.MaxSummary:
		return nil, fmt.Errorf("text of %d bytes, GitHub takes %d: %w", len(r.Text), publish.MaxSummary, publish.ErrTooLong)
	}
	out := &github.CheckRunOutput{Title: &r.Title, Summary: &r.Summary, Text: some(r.Text)}
	for i, a := range annotations {
		made, err := annotation(a)
		if err != nil {
			return nil, fmt.Errorf("annotation %d: %w", i+1, err)
		}
		out.Annotations = append(out.Annotations, made)
	}
	return out, nil
}

// annotation refuses what GitHub would refuse the whole request for.
func annotation(a publish.Annotation) (*github.CheckRunAnnotation, error) {
	end := max(a.EndLine, a.StartLine)
	switch {
	case a.Path == "" || strings.HasPrefix(a.Path, "/") || slices.Contains(strings.Split(a.Path, "/"), ".."):
		return nil, fmt.Errorf("%s is no path below the repository's root", quote(a.Path))
	case a.StartLine < 1:
		return nil, fmt.Errorf("line %d: lines count from 1", a.StartLine)
	case !slices.Contains([]string{"notice", "warning", "failure"}, a.Level):
		return nil, fmt.Errorf("level %s is none of notice, warning, failure", quote(a.Level))
	case strings.TrimSpace(a.Message) == "":
		return nil, fmt.Errorf("it has no message")
	}
	title, message := cut(a.Title, maxAnnotationTitle), cut(a.Message, maxAnnotationMessage)
	return &github.CheckRunAnnotation{Path: &a.Path, StartLine: &a.StartLine, EndLine: &end, AnnotationLevel: &a.Level,
		Title: some(title), Message: &message}, nil
}

// some is a field that is left out when it is empty.
func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func checkRun(r *github.CheckRun) publish.CheckRun {
	out := publish.CheckRun{ID: r.GetID(), Name: r.GetName(), HeadSHA: r.GetHeadSHA(), ExternalID: r.GetExternalID(),
		Status: r.GetStatus(), Conclusion: r.GetConclusion(), DetailsURL: r.GetDetailsURL(), StartedAt: r.GetStartedAt().Time, URL: r.GetHTMLURL()}
	if o := r.GetOutput(); o != nil {
		out.Title, out.Summary, out.Text, out.Annotations = o.GetTitle(), o.GetSummary(), o.GetText(), o.GetAnnotationsCount()
	}
	return out
}

// CreateStatus sets the status of a context on a commit and gives the address that
// it leads to. The newest of a context counts, so it is sent again when its answer
// is lost. A description over 140 bytes is cut.
func (c *Client) CreateStatus(ctx context.Context, sha string, s publish.Status) (string, error) {
	k := call{what: fmt.Sprintf("set status %s of %s", quote(s.Context), short(sha)), permission: "statuses: write", repeatable: true}
	err := needSHA("commit", sha)
	switch {
	case err != nil:
	case s.Context == "":
		err = fmt.Errorf("a status needs a context")
	case !slices.Contains([]string{"pending", "success", "failure", "error"}, s.State):
		err = fmt.Errorf("state %s is none of pending, success, failure, error", quote(s.State))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", k.what, err)
	}
	description := cut(s.Description, maxStatusText)
	in := github.RepoStatus{State: &s.State, Context: &s.Context, Description: some(description), TargetURL: some(s.TargetURL)}
	var out github.RepoStatus
	if _, err := c.do(ctx, k, http.MethodPost, c.prefix+"statuses/"+sha, in, &out); err != nil {
		return "", err
	}
	if out.GetTargetURL() != "" {
		return out.GetTargetURL(), nil
	}
	return out.GetURL(), nil // of the API: a status has no page of its own
}

// short is a commit in a message.
func short(sha string) string {
	if isSHA(sha) {
		return sha[:12]
	}
	return quote(sha)
}
