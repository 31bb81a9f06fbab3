package ghtest

import (
	"fmt"
	"slices"
	"strings"
)

// graph answers questions about the parents of commits.
type graph struct {
	byHash map[string]Commit
	order  map[string]int // when a commit was added
}

func (s *State) graph() graph {
	g := graph{map[string]Commit{}, map[string]int{}}
	for i, c := range s.Commits {
		g.byHash[c.SHA], g.order[c.SHA] = c, i
	}
	return g
}

// reach is every commit that can be reached from one, itself included.
func (g graph) reach(from string) map[string]bool {
	seen := map[string]bool{}
	todo := []string{from}
	for len(todo) > 0 {
		sha := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c, ok := g.byHash[sha]
		if !ok || seen[sha] { // a parent that is not there ends a shallow history
			continue
		}
		seen[sha] = true
		todo = append(todo, c.Parents...)
	}
	return seen
}

// history lists commits as git log does: newest first, children before parents.
func (g graph) history(set map[string]bool) []Commit {
	children := map[string]int{}
	for sha := range set {
		for _, p := range g.byHash[sha].Parents {
			children[p]++
		}
	}
	var ready, out []Commit
	for sha := range set {
		if children[sha] == 0 {
			ready = append(ready, g.byHash[sha])
		}
	}
	for len(ready) > 0 {
		next := 0
		for i := range ready {
			if g.isNewer(ready[i], ready[next]) {
				next = i
			}
		}
		c := ready[next]
		ready = slices.Delete(ready, next, next+1)
		out = append(out, c)
		for _, p := range c.Parents {
			if children[p]--; children[p] == 0 && set[p] {
				ready = append(ready, g.byHash[p])
			}
		}
	}
	return out
}

func (g graph) isNewer(a, b Commit) bool {
	if !a.Date.Equal(b.Date) {
		return a.Date.After(b.Date)
	}
	return g.order[a.SHA] > g.order[b.SHA]
}

// mergeBase is the best common ancestor: one that no other is reached from, the
// newest where there are several.
func (g graph) mergeBase(a, b string) (Commit, bool) {
	common := g.reach(a)
	ofB := g.reach(b)
	for sha := range common {
		if !ofB[sha] {
			delete(common, sha)
		}
	}
	for _, c := range g.history(common) {
		return c, true // none of its children is common
	}
	return Commit{}, false
}

// without is a set less another.
func without(set, less map[string]bool) map[string]bool {
	out := map[string]bool{}
	for sha := range set {
		if !less[sha] {
			out[sha] = true
		}
	}
	return out
}

// resolve finds the commit of a hash, a branch or a pull request's ref.
func (s *State) resolve(ref string) (sha string, ok bool) {
	name := strings.TrimPrefix(ref, "refs/")
	switch {
	case ref == "" || ref == "HEAD":
		name = s.Repository.DefaultBranch
	case shaForm.MatchString(ref):
		return ref, s.knows(ref)
	}
	if sha, ok := s.Branches[strings.TrimPrefix(name, "heads/")]; ok {
		return sha, true
	}
	var number int
	var side string
	if n, err := fmt.Sscanf(name, "pull/%d/%s", &number, &side); err == nil && n == 2 {
		if p := s.pull(number); p != nil {
			sha := map[string]string{"head": p.Head.SHA, "merge": p.MergeCommitSHA}[side]
			return sha, sha != ""
		}
	}
	return "", false
}

// knows tells whether a commit is in the repository: described, or named by a
// run, a branch or a pull request.
func (s *State) knows(sha string) bool {
	for _, b := range s.Branches {
		if b == sha {
			return true
		}
	}
	return slices.ContainsFunc(s.Commits, func(c Commit) bool { return c.SHA == sha }) ||
		slices.ContainsFunc(s.Runs, func(r Run) bool { return r.HeadSHA == sha }) ||
		slices.ContainsFunc(s.Pulls, func(p Pull) bool {
			return slices.Contains([]string{p.Head.SHA, p.Base.SHA, p.MergeCommitSHA}, sha)
		})
}

// commit is one that is described.
func (s *State) commit(ref string) *Commit {
	sha, ok := s.resolve(ref)
	if !ok {
		return nil
	}
	return find(s.Commits, func(c *Commit) bool { return c.SHA == sha })
}

// files are the tree of a commit.
func (s *State) files(c *Commit) map[string]string {
	for c != nil {
		if c.Files != nil || len(c.Parents) == 0 {
			return c.Files
		}
		c = s.commit(c.Parents[0])
	}
	return nil
}
