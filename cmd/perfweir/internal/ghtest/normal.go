package ghtest

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"
)

// DefaultToken is what a fresh server takes: the GITHUB_TOKEN of a workflow with
// every permission.
const DefaultToken = "ghs_defaultTokenOfTheStand"

// ActionsApp is the app of GitHub Actions, ActionsBot its account.
const (
	ActionsApp = "github-actions"
	ActionsBot = "github-actions[bot]"
)

// person is who did what nobody is named for.
const person = "mona"

// artifactDays is how long artifacts live where a repository says nothing else.
const artifactDays = 90

var shaForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// normalise fills in what may be left out and refuses what GitHub could not have.
func (s *State) normalise(now time.Time) error {
	s.Repository.fill()
	if s.Limit.Limit == 0 {
		s.Limit.Limit = 1000
	}
	if s.Tokens == nil {
		s.Tokens = map[string]Token{DefaultToken: {App: ActionsApp}}
	}
	for text, t := range s.Tokens {
		t.fill()
		s.Tokens[text] = t
	}
	for i := range s.Commits {
		s.Commits[i].fill(now)
	}
	for i := range s.Runs {
		s.Runs[i].fill(s.Repository, now)
	}
	for i := range s.Artifacts {
		s.Artifacts[i].fill(now)
	}
	for i := range s.Pulls {
		s.Pulls[i].fill(s.Repository, now)
		s.addIssueOf(s.Pulls[i])
	}
	for i := range s.Issues {
		s.Issues[i].fill(now)
	}
	for i := range s.Comments {
		s.Comments[i].fill(now)
	}
	for i := range s.CheckRuns {
		s.CheckRuns[i].App = or(s.CheckRuns[i].App, ActionsApp)
		s.CheckRuns[i].Status = or(s.CheckRuns[i].Status, "queued")
	}
	return s.check()
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (r *Repository) fill() {
	r.Owner, r.Name = or(r.Owner, "acme"), or(r.Name, "widgets")
	r.ID, r.DefaultBranch = or(r.ID, 4242), or(r.DefaultBranch, "main")
}

func (t *Token) fill() {
	if t.Login == "" {
		t.Login = person
		if t.App != "" {
			t.Login = t.App + "[bot]"
		}
	}
}

func (c *Commit) fill(now time.Time) {
	c.Tree = or(c.Tree, fakeSHA("tree of "+c.SHA))
	c.Message, c.Author = or(c.Message, "Change"), or(c.Author, person)
	if c.Date.IsZero() {
		c.Date = now
	}
}

func (r *Run) fill(repo Repository, now time.Time) {
	r.Number, r.Attempt = or(r.Number, 1), or(r.Attempt, 1)
	r.Path, r.Event = or(r.Path, ".github/workflows/ci.yml"), or(r.Event, "push")
	r.HeadBranch, r.Actor = or(r.HeadBranch, repo.DefaultBranch), or(r.Actor, person)
	r.Status = or(r.Status, "completed")
	if r.Status == "completed" {
		r.Conclusion = or(r.Conclusion, "success")
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = now
	}
	if r.StartedAt.IsZero() {
		r.StartedAt = r.CreatedAt
	}
}

func (a *Artifact) fill(now time.Time) {
	a.ContentType = or(a.ContentType, "application/zip")
	if a.CreatedAt.IsZero() {
		a.CreatedAt = now
	}
	if a.ExpiresAt.IsZero() {
		a.ExpiresAt = a.CreatedAt.AddDate(0, 0, artifactDays)
	}
}

// expired holds at a time: the listing says so, whoever decided it.
func (a Artifact) expired(now time.Time) bool {
	return a.Expired || !a.Vanished && !now.Before(a.ExpiresAt)
}

func (p *Pull) fill(repo Repository, now time.Time) {
	p.State, p.User = or(p.State, "open"), or(p.User, person)
	p.Title = or(p.Title, fmt.Sprintf("Pull request %d", p.Number))
	p.Base.Ref = or(p.Base.Ref, repo.DefaultBranch)
	if p.CreatedAt.IsZero() {
		p.CreatedAt = now
	}
}

func (i *Issue) fill(now time.Time) {
	i.State, i.User = or(i.State, "open"), or(i.User, person)
	i.Title = or(i.Title, fmt.Sprintf("Issue %d", i.Number))
	if i.CreatedAt.IsZero() {
		i.CreatedAt = now
	}
	for e := range i.Events {
		if i.Events[e].CreatedAt.IsZero() {
			i.Events[e].CreatedAt = now
		}
	}
}

func (c *Comment) fill(now time.Time) {
	c.User = or(c.User, person)
	if c.CreatedAt.IsZero() {
		c.CreatedAt = now
	}
	if c.UpdatedAt.IsZero() {
		c.UpdatedAt = c.CreatedAt
	}
}

// addIssueOf gives a pull request its conversation.
func (s *State) addIssueOf(p Pull) {
	if s.issue(p.Number) == nil {
		s.Issues = append(s.Issues, Issue{Number: p.Number, Title: p.Title, User: p.User, State: p.State, CreatedAt: p.CreatedAt})
	}
}

// check refuses a state that GitHub could not be in.
func (s *State) check() error {
	for _, c := range s.Commits {
		for _, sha := range append([]string{c.SHA, c.Tree}, c.Parents...) {
			if !shaForm.MatchString(sha) {
				return fmt.Errorf("commit %q: %q is not a hash of 40 hexadecimal digits", c.SHA, sha)
			}
		}
	}
	for _, r := range s.Runs {
		if !shaForm.MatchString(r.HeadSHA) {
			return fmt.Errorf("workflow run %d: head_sha %q is not a hash of 40 hexadecimal digits", r.ID, r.HeadSHA)
		}
	}
	for i, a := range s.Artifacts {
		if s.run(a.RunID) == nil {
			return fmt.Errorf("artifact %q: there is no workflow run %d", a.Name, a.RunID)
		}
		if slices.ContainsFunc(s.Artifacts[:i], func(b Artifact) bool { return b.RunID == a.RunID && b.Name == a.Name }) {
			return fmt.Errorf("artifact %q of workflow run %d: %w", a.Name, a.RunID, ErrConflict)
		}
	}
	return s.checkIDs()
}

func (s *State) checkIDs() error {
	return firstError(
		unique("commit", s.Commits, func(c Commit) string { return c.SHA }),
		unique("workflow run", s.Runs, func(r Run) int64 { return r.ID }),
		unique("artifact", s.Artifacts, func(a Artifact) int64 { return a.ID }),
		unique("pull request", s.Pulls, func(p Pull) int { return p.Number }),
		unique("issue", s.Issues, func(i Issue) int { return i.Number }),
		unique("comment", s.Comments, func(c Comment) int64 { return c.ID }),
		unique("check run", s.CheckRuns, func(c CheckRun) int64 { return c.ID }),
	)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func unique[T any, K comparable](what string, list []T, key func(T) K) error {
	seen := map[K]bool{}
	var zero K
	for _, v := range list {
		switch k := key(v); {
		case k == zero:
			return fmt.Errorf("a %s has no id", what)
		case seen[k]:
			return fmt.Errorf("two %ss are called %v", what, k)
		default:
			seen[k] = true
		}
	}
	return nil
}

// fakeSHA is a hash that looks like git's and is always the same for one text.
func fakeSHA(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s *State) issue(number int) *Issue {
	return find(s.Issues, func(i *Issue) bool { return i.Number == number })
}

func (s *State) pull(number int) *Pull {
	return find(s.Pulls, func(p *Pull) bool { return p.Number == number })
}

func (s *State) run(id int64) *Run {
	return find(s.Runs, func(r *Run) bool { return r.ID == id })
}

func (s *State) comment(id int64) *Comment {
	return find(s.Comments, func(c *Comment) bool { return c.ID == id })
}

func (s *State) checkRun(id int64) *CheckRun {
	return find(s.CheckRuns, func(c *CheckRun) bool { return c.ID == id })
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
