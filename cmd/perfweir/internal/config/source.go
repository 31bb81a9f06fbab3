package config

import (
	"fmt"
	"path"
	"strings"

	"github.com/perfweir/perfweir/baseline"
)

// baseline checks where stored sessions come from. What is not said stays empty
// where the answer depends on where perfweir runs.
func (c *checker) baseline() baseline.Policy {
	b := &c.f.Baseline
	p := baseline.Policy{
		From:        b.From.text,
		Dir:         b.Dir.text,
		Workflow:    c.workflow(&b.Workflow),
		Branch:      c.branch(&b.Branch),
		Machine:     orDefault(b.Machine.usable(), b.Machine.text, baseline.SameKind),
		Sessions:    orDefault(b.Sessions.given(), b.Sessions.n, defaultSessions),
		MinSessions: orDefault(b.MinSessions.given(), b.MinSessions.n, defaultMinSessions),
		MaxAge:      b.MaxAge.s,
		Anchor:      c.anchor(&b.Anchor),
	}
	if b.MinSessions.usable() && p.MinSessions > p.Sessions {
		c.problem(b.MinSessions.mark, fmt.Sprintf("min_sessions is %d, but at most %d sessions are used", p.MinSessions, p.Sessions), "raise sessions or lower min_sessions")
	}
	c.sourceKeys(b)
	return p
}

// sourceKeys refuses keys that the source which is named does not use. Where none
// is named both kinds have a meaning: one in a workflow, the other at a desk.
func (c *checker) sourceKeys(b *baselineFile) {
	if !b.From.usable() {
		return
	}
	for _, u := range []struct {
		key  string
		s    *str
		from string
	}{{"dir", &b.Dir, baseline.FromFolder}, {"workflow", &b.Workflow, baseline.FromGitHub}, {"branch", &b.Branch, baseline.FromGitHub}} {
		if u.s.given() && u.from != b.From.text {
			c.problem(u.s.mark, fmt.Sprintf("%q has no meaning beside from: %s", u.key, b.From.text), "remove it, or write from: "+u.from)
		}
	}
}

// workflowFolder is where GitHub looks for workflows, and nowhere below.
const workflowFolder = ".github/workflows/"

// workflow checks the name of a workflow's file, which is how GitHub's API knows
// it. Its display name is another thing and may change.
func (c *checker) workflow(s *str) string {
	if !s.usable() || !c.name(s, "workflow") {
		return ""
	}
	name := strings.TrimPrefix(strings.TrimPrefix(s.text, "./"), workflowFolder)
	ext := path.Ext(name)
	switch {
	case strings.ContainsAny(name, `/\`):
		c.problem(s.mark, fmt.Sprintf("workflow %s is not in %s", quote(s.text), strings.TrimSuffix(workflowFolder, "/")), "write the name of a file there, for example nightly.yml")
		return ""
	case ext != ".yml" && ext != ".yaml" || name == ext:
		c.problem(s.mark, fmt.Sprintf("workflow %s is not the name of a file", quote(s.text)), "write the file's name, not the one that GitHub shows: for example nightly.yml")
		return ""
	}
	return name
}

// baseBranch means the branch that a change goes into, which is also the default.
// A branch that has this name is written refs/heads/base.
const baseBranch = "base"

// branch checks the name of a branch by git's rules (git check-ref-format); a
// pattern would not say which branch is meant.
func (c *checker) branch(s *str) string {
	if !s.usable() || s.text == baseBranch || !c.name(s, "branch") {
		return ""
	}
	name := strings.TrimPrefix(s.text, "refs/heads/")
	bad := strings.ContainsAny(name, " ~^:?*[\\") || strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.Contains(name, "//") ||
		strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock") ||
		name == "" || strings.HasPrefix(name, "refs/")
	if bad {
		c.problem(s.mark, fmt.Sprintf("%s is not the name of a branch", quote(s.text)), "write one branch, for example main, or base for the one that the change goes into")
		return ""
	}
	return name
}

// anchor checks the name of a tag or commit. One that moves (a branch) is no anchor,
// but only git knows which those are.
func (c *checker) anchor(s *str) string {
	if !s.usable() || !c.name(s, "anchor") {
		return ""
	}
	if strings.ContainsAny(s.text, " ~^:?*[\\") || strings.Contains(s.text, "..") || strings.Contains(s.text, "@{") || strings.HasPrefix(s.text, "-") {
		c.problem(s.mark, fmt.Sprintf("anchor %s is not the name of a tag or a commit", quote(s.text)), "write one tag or a full hash, for example v1.4.0")
		return ""
	}
	return s.text
}
