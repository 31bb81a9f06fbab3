package ghapi

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Context is what the environment of a workflow step says about it. A field is
// empty or 0 where the runner tells nothing: an older GitHub Enterprise Server,
// Gitea, act and a plain shell each leave some out. The token is no part of it.
type Context struct {
	Actions bool // a workflow runs this process (GITHUB_ACTIONS)

	Owner, Name  string // of the repository
	RepositoryID int64
	APIURL       string // "https://api.github.com", no slash at the end
	ServerURL    string // "https://github.com", no slash at the end

	RunID      int64
	RunNumber  int
	RunAttempt int
	Workflow   string // file name of this repository's workflow: "nightly.yml"

	EventName string
	EventPath string // of the file with the payload
	SHA       string // 40 or 64 hex digits
	Ref       string // "refs/heads/main"

	RunnerEnvironment string // "self-hosted", "github-hosted"
}

// namePart is what GitHub allows in the name of an owner or a repository.
var namePart = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

// FromEnviron reads the context out of "NAME=value" strings as os.Environ gives
// them. It is nil at a desk: GITHUB_ACTIONS is not true and GITHUB_REPOSITORY is
// not set. An error names the variable that is malformed.
func FromEnviron(environ []string) (*Context, error) {
	env := map[string]string{}
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok {
			env[name] = value
		}
	}
	c := &Context{
		Actions: env["GITHUB_ACTIONS"] == "true", EventName: env["GITHUB_EVENT_NAME"], EventPath: env["GITHUB_EVENT_PATH"],
		Ref: env["GITHUB_REF"], RunnerEnvironment: env["RUNNER_ENVIRONMENT"],
	}
	repository := env["GITHUB_REPOSITORY"]
	if !c.Actions && repository == "" {
		return nil, nil
	}
	if repository != "" {
		var err error
		if c.Owner, c.Name, err = splitRepository(repository); err != nil {
			return nil, fmt.Errorf("GITHUB_REPOSITORY: %w", err)
		}
	}
	if err := c.readNumbers(env); err != nil {
		return nil, err
	}
	if err := c.readURLs(env); err != nil {
		return nil, err
	}
	if c.SHA = strings.ToLower(env["GITHUB_SHA"]); c.SHA != "" && !isSHA(c.SHA) {
		return nil, fmt.Errorf("GITHUB_SHA: %s is no commit: want 40 or 64 hex digits", quote(c.SHA))
	}
	c.Workflow = workflowFile(env["GITHUB_WORKFLOW_REF"], repository)
	return c, nil
}

func (c *Context) readNumbers(env map[string]string) error {
	for _, n := range []struct {
		name string
		bits int
		set  func(int64)
	}{
		{"GITHUB_REPOSITORY_ID", 64, func(v int64) { c.RepositoryID = v }},
		{"GITHUB_RUN_ID", 64, func(v int64) { c.RunID = v }},
		{"GITHUB_RUN_NUMBER", 32, func(v int64) { c.RunNumber = int(v) }},
		{"GITHUB_RUN_ATTEMPT", 32, func(v int64) { c.RunAttempt = int(v) }},
	} {
		text := env[n.name]
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, n.bits)
		if err != nil || v < 0 {
			return fmt.Errorf("%s: %s is no whole number from 0", n.name, quote(text))
		}
		n.set(v)
	}
	return nil
}

func (c *Context) readURLs(env map[string]string) error {
	c.ServerURL = strings.TrimRight(env["GITHUB_SERVER_URL"], "/")
	if c.ServerURL == "" {
		c.ServerURL = "https://github.com"
	}
	server, err := httpURL(c.ServerURL)
	if err != nil {
		return fmt.Errorf("GITHUB_SERVER_URL: %w", err)
	}
	c.APIURL = strings.TrimRight(env["GITHUB_API_URL"], "/")
	if c.APIURL == "" {
		c.APIURL = apiOf(server)
	}
	if _, err := httpURL(c.APIURL); err != nil {
		return fmt.Errorf("GITHUB_API_URL: %w", err)
	}
	return nil
}

// apiOf is where a server has its API when the runner does not say: github.com
// and its sites with data residency under a host of its own, others under a path.
func apiOf(server *url.URL) string {
	if host := strings.ToLower(server.Host); host == "github.com" || strings.HasSuffix(host, ".ghe.com") {
		return "https://api." + host
	}
	return strings.TrimRight(server.String(), "/") + "/api/v3"
}

// httpURL parses an absolute address without credentials, query and fragment.
func httpURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil: // its text would repeat credentials that stand in the address
		return nil, fmt.Errorf("this is no address")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("%s is no address that starts with https:// or http://", quote(u.Redacted()))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s: an address must have no user, query or fragment", quote(u.Scheme+"://"+u.Host+u.Path))
	}
	return u, nil
}

func splitRepository(s string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(s, "/")
	if !ok || !namePart.MatchString(owner) || !namePart.MatchString(name) || strings.Trim(owner, ".") == "" || strings.Trim(name, ".") == "" {
		return "", "", fmt.Errorf("%s is no repository: want owner/name", quote(s))
	}
	return owner, name, nil
}

// workflowFile is the file name out of "o/r/.github/workflows/x.yml@refs/...". It
// is empty for a workflow of another repository (one that an organisation
// requires): the API lists no runs of this repository under its name.
func workflowFile(ref, repository string) string {
	file, _, ok := strings.Cut(ref, "@")
	if !ok || repository == "" {
		return ""
	}
	prefix := repository + "/"
	if len(file) <= len(prefix) || !strings.EqualFold(file[:len(prefix)], prefix) {
		return ""
	}
	return path.Base(file)
}

// Repository is "owner/name"; empty where the environment names none.
func (c *Context) Repository() string {
	if c.Owner == "" {
		return ""
	}
	return c.Owner + "/" + c.Name
}

// SelfHosted says whether this runs on a runner that is not GitHub's, as far as
// can be known: runners that tell nothing are not GitHub's.
func (c *Context) SelfHosted() bool { return c.RunnerEnvironment != "github-hosted" }

// RunURL is the page of this attempt of the workflow run, for people; empty
// outside of one.
func (c *Context) RunURL() string {
	if c.Owner == "" || c.RunID == 0 {
		return ""
	}
	u := fmt.Sprintf("%s/%s/%s/actions/runs/%d", c.ServerURL, c.Owner, c.Name, c.RunID)
	if c.RunAttempt > 1 {
		u += fmt.Sprintf("/attempts/%d", c.RunAttempt)
	}
	return u
}
