package ghapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxPayload is how many bytes the payload of an event may have: GitHub stops at 25 MB.
const MaxPayload = 32 << 20

// Event is what a payload says, of the facts that we use. They come from GitHub,
// but names of branches and labels in them are chosen by its users.
type Event struct {
	Name string // "pull_request", "push", ...

	RepositoryID  int64
	Repository    string // "owner/name", of the repository whose workflow runs
	DefaultBranch string

	// HeadSHA is the commit that a check and a status attach to. It is empty for a
	// deleted branch, for a workflow_run after pull_request_target (it would name
	// the base) and where the payload tells none: see AttachTo.
	HeadSHA          string
	HeadRef          string // branch without refs/heads/; empty for a tag
	HeadRepositoryID int64  // of a pull request or a workflow_run; 0: the fork is gone
	BaseRef          string // branch that is merged into, without refs/heads/
	BaseSHA          string // of a pull request or a merge group

	// Fork says that the code comes from elsewhere: a pull request (or the
	// workflow_run after it) whose head is in another repository or in none any
	// more, or a pull request that Dependabot started, which GitHub gives a fork's
	// read-only token.
	Fork bool

	Pull   int // number of the pull request; 0: none
	Labels []string

	Before, After    string // of a push; empty: the branch was not there, is no more
	Created, Deleted bool   // of a push

	Sender string // login of who caused it

	WorkflowRun struct{ ID int64 } // that a workflow_run event tells of: the rest is asked for
	MergeGroup  struct{ Pull int } // of merge_group: out of the name of its branch; 0: it has none
}

// dependabot is the login whose pull requests get a read-only token.
const dependabot = "dependabot[bot]"

// ParseEvent reads the payload of the named event. An event of a kind that we do
// not know gives the facts that all events have. Malformed ids and commits, and a
// payload without what its kind is about, are errors.
func ParseEvent(name string, payload []byte) (Event, error) {
	e, err := parseEvent(name, payload)
	if err != nil {
		return Event{}, fmt.Errorf("payload of event %s: %w", quote(name), err)
	}
	return e, nil
}

func parseEvent(name string, payload []byte) (Event, error) {
	if len(payload) > MaxPayload {
		return Event{}, fmt.Errorf("%d bytes are more than the %d that one may have", len(payload), MaxPayload)
	}
	if name == "" {
		return Event{}, errors.New("it has no name: is GITHUB_EVENT_NAME set?")
	}
	var p *commonJSON
	if err := decode(payload, &p); err != nil {
		return Event{}, err
	}
	if p == nil {
		return Event{}, errors.New("it is null")
	}
	e := Event{Name: name, Sender: p.Sender.Login,
		RepositoryID: p.Repository.ID, Repository: p.Repository.FullName, DefaultBranch: p.Repository.DefaultBranch}
	if e.RepositoryID < 0 {
		return Event{}, fmt.Errorf("repository.id is %d", e.RepositoryID)
	}
	if e.Repository != "" {
		if _, _, err := splitRepository(e.Repository); err != nil {
			return Event{}, fmt.Errorf("repository.full_name: %w", err)
		}
	}
	err := e.readKind(payload)
	return e, err
}

func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("it is no JSON object of GitHub's: %w", err)
	}
	return nil
}

// readKind reads what events of this name have beside the common facts.
func (e *Event) readKind(payload []byte) error {
	switch e.Name {
	case "pull_request", "pull_request_target":
		var p struct {
			Number int       `json:"number"`
			Pull   *pullJSON `json:"pull_request"`
		}
		if err := decode(payload, &p); err != nil {
			return err
		}
		return e.setPull(p.Number, p.Pull)
	case "push":
		var p pushJSON
		if err := decode(payload, &p); err != nil {
			return err
		}
		return e.setPush(p)
	case "merge_group":
		var p struct {
			Group *mergeGroupJSON `json:"merge_group"`
		}
		if err := decode(payload, &p); err != nil {
			return err
		}
		return e.setMergeGroup(p.Group)
	case "workflow_run":
		var p struct {
			Run *workflowRunJSON `json:"workflow_run"`
		}
		if err := decode(payload, &p); err != nil {
			return err
		}
		return e.setWorkflowRun(p.Run)
	case "workflow_dispatch":
		var p struct {
			Ref string `json:"ref"`
		}
		if err := decode(payload, &p); err != nil {
			return err
		}
		e.setRef(p.Ref)
	}
	return nil
}

func (e *Event) setPull(number int, pr *pullJSON) error {
	if pr == nil {
		return errors.New("it has no pull_request")
	}
	e.Pull = pr.Number
	if e.Pull <= 0 || number != 0 && number != e.Pull {
		return fmt.Errorf("number %d and pull_request.number %d name no pull request", number, pr.Number)
	}
	e.HeadSHA, e.HeadRef = pr.Head.SHA, pr.Head.Ref
	e.BaseSHA, e.BaseRef = pr.Base.SHA, pr.Base.Ref
	if err := needSHA("pull_request.head.sha", e.HeadSHA); err != nil {
		return err
	}
	if err := needSHA("pull_request.base.sha", e.BaseSHA); err != nil {
		return err
	}
	if e.BaseRef == "" {
		return errors.New("pull_request.base.ref is missing")
	}
	if base := pr.Base.Repo; base != nil && base.ID != 0 && e.RepositoryID != 0 && base.ID != e.RepositoryID {
		return fmt.Errorf("pull_request.base.repo.id %d is not repository.id %d", base.ID, e.RepositoryID)
	}
	if head := pr.Head.Repo; head != nil {
		e.HeadRepositoryID = head.ID
	}
	e.Labels = pr.labels()
	e.Fork = e.foreignHead() || e.Sender == dependabot
	return nil
}

// foreignHead says whether the head is in another repository. What is unknown is
// foreign: trusting by mistake is the worse error.
func (e *Event) foreignHead() bool {
	return e.HeadRepositoryID == 0 || e.HeadRepositoryID != e.RepositoryID
}

func (e *Event) setPush(p pushJSON) error {
	e.setRef(p.Ref)
	e.Created, e.Deleted = p.Created, p.Deleted
	e.Before, e.After = noZeros(p.Before), noZeros(p.After)
	for _, c := range []struct{ name, sha string }{{"before", e.Before}, {"after", e.After}} {
		if c.sha != "" && !isSHA(c.sha) {
			return notSHA(c.name, c.sha)
		}
	}
	e.HeadSHA = e.After
	return nil
}

func (e *Event) setRef(ref string) {
	e.HeadRef, _ = strings.CutPrefix(ref, "refs/heads/")
	if e.HeadRef == ref && strings.HasPrefix(ref, "refs/") {
		e.HeadRef = "" // a tag
	}
}

// queueRef is the branch that a merge queue makes. GitHub documents no grammar;
// this is the form of its payloads. The branch in the middle may have slashes.
var queueRef = regexp.MustCompile(`^refs/heads/gh-readonly-queue/.+/pr-([0-9]{1,9})-[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

func (e *Event) setMergeGroup(g *mergeGroupJSON) error {
	if g == nil {
		return errors.New("it has no merge_group")
	}
	if err := needSHA("merge_group.head_sha", g.HeadSHA); err != nil {
		return err
	}
	if err := needSHA("merge_group.base_sha", g.BaseSHA); err != nil {
		return err
	}
	if m := queueRef.FindStringSubmatch(g.HeadRef); m != nil {
		e.MergeGroup.Pull, _ = strconv.Atoi(m[1]) // nine digits always fit
	}
	e.HeadSHA, e.BaseSHA = g.HeadSHA, g.BaseSHA
	e.HeadRef, e.BaseRef = strings.TrimPrefix(g.HeadRef, "refs/heads/"), strings.TrimPrefix(g.BaseRef, "refs/heads/")
	return nil
}

func (e *Event) setWorkflowRun(r *workflowRunJSON) error {
	if r == nil {
		return errors.New("it has no workflow_run")
	}
	if r.ID <= 0 {
		return fmt.Errorf("workflow_run.id is %d", r.ID)
	}
	if err := needSHA("workflow_run.head_sha", r.HeadSHA); err != nil {
		return err
	}
	e.WorkflowRun.ID = r.ID
	if head := r.HeadRepository; head != nil {
		e.HeadRepositoryID = head.ID
	}
	e.HeadRef, e.Fork = r.HeadBranch, e.foreignHead()
	if r.Event != "pull_request_target" {
		e.HeadSHA = r.HeadSHA
	}
	return nil
}

func needSHA(name, sha string) error {
	if sha == "" {
		return fmt.Errorf("%s is missing", name)
	}
	if !isSHA(sha) {
		return notSHA(name, sha)
	}
	return nil
}

func notSHA(name, sha string) error {
	return fmt.Errorf("%s: %s is no commit: want 40 or 64 hex digits", name, quote(sha))
}

// noZeros turns the commit of zeros, which stands for none, into none.
func noZeros(sha string) string {
	if strings.Trim(sha, "0") == "" {
		return ""
	}
	return sha
}

// AttachTo is the commit that a check and a status of this event belong to: the
// payload's, or that of the step's environment for events whose payload names no
// commit (schedule, workflow_dispatch). It is empty where there is none to attach
// to. GITHUB_SHA of a pull request is a merge commit that no page shows, that of a
// workflow_run is the default branch's: they never stand in.
func (e Event) AttachTo(c *Context) string {
	switch e.Name {
	case "pull_request", "pull_request_target", "workflow_run", "merge_group":
		return e.HeadSHA
	}
	if e.HeadSHA == "" && !e.Deleted && c != nil {
		return c.SHA
	}
	return e.HeadSHA
}

// Check says whether the payload belongs to the repository of the environment. A
// payload that names none (act and cron) passes; one that names another does not.
func (e Event) Check(c *Context) error {
	if c == nil {
		return nil
	}
	if e.Repository != "" && c.Owner != "" && !strings.EqualFold(e.Repository, c.Repository()) {
		return fmt.Errorf("the payload is about repository %s, GITHUB_REPOSITORY says %s", quote(e.Repository), quote(c.Repository()))
	}
	if e.RepositoryID != 0 && c.RepositoryID != 0 && e.RepositoryID != c.RepositoryID {
		return fmt.Errorf("the payload is about repository %d, GITHUB_REPOSITORY_ID says %d", e.RepositoryID, c.RepositoryID)
	}
	return nil
}
