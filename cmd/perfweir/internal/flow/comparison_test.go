package flow

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghapi"
	"github.com/perfweir/perfweir/collect/worktree"
)

// Which commit is compared with, for every kind of event and of checkout. Names
// stand for hashes.
func TestCompareWith(t *testing.T) {
	const base, head, merge, fork = "base", "head", "merge", "fork"
	pull := ghapi.Event{Name: eventPullRequest, HeadSHA: head, BaseSHA: base, BaseRef: "main"}
	bases := func(_ context.Context, a, b string) (string, error) {
		if a == base && (b == head || b == "local") {
			return fork, nil
		}
		return "", errors.New("unrelated " + a + " " + b)
	}
	for _, tt := range []struct {
		name    string
		event   ghapi.Event
		at      worktree.Commit
		want    string
		why     string
		self    bool
		problem string
	}{
		{name: "merge commit checked out", event: pull, at: worktree.Commit{ID: merge, Parents: []string{"tip", head}}, want: "tip", why: "first parent of GitHub's merge commit"},
		{name: "the base has moved on since the event", event: pull, at: worktree.Commit{ID: merge, Parents: []string{"newer tip", head}}, want: "newer tip", why: "first parent"},
		{name: "head checked out", event: pull, at: worktree.Commit{ID: head, Parents: []string{"older"}}, want: fork, why: "merge base of the pull request's head"},
		{name: "a head that is itself a merge", event: pull, at: worktree.Commit{ID: head, Parents: []string{"a", "b"}}, want: fork, why: "merge base"},
		{name: "a merge of head as first parent is no merge commit of GitHub's", event: pull, at: worktree.Commit{ID: "local", Parents: []string{head, "b"}}, want: fork, why: "neither"},
		{name: "no history to find the base in", event: ghapi.Event{Name: eventPullRequest, HeadSHA: "x", BaseSHA: base}, at: worktree.Commit{ID: "x"}, problem: "unrelated base x"},
		{name: "stacked pull request", event: ghapi.Event{Name: eventPullRequest, HeadSHA: head, BaseSHA: base, BaseRef: "feature"}, at: worktree.Commit{ID: merge, Parents: []string{"feature tip", head}}, want: "feature tip", why: "first parent"},
		{name: "push", event: ghapi.Event{Name: eventPush, Before: "before", After: head}, at: worktree.Commit{ID: head, Parents: []string{"p"}}, want: "before", why: "before the push"},
		{name: "push of several commits", event: ghapi.Event{Name: eventPush, Before: "before", After: head}, at: worktree.Commit{ID: head, Parents: []string{"also new"}}, want: "before", why: "before the push"},
		{name: "push of a new branch", event: ghapi.Event{Name: eventPush, After: head, Created: true}, at: worktree.Commit{ID: head, Parents: []string{"p"}}, want: "p", why: "the branch is new"},
		{name: "the first commit of all", event: ghapi.Event{Name: eventPush, After: head}, at: worktree.Commit{ID: head}, want: head, self: true, why: "first one"},
		{name: "queue", event: ghapi.Event{Name: eventMergeGroup, BaseSHA: base, HeadSHA: "group"}, at: worktree.Commit{ID: "group", Parents: []string{"other", head}}, want: base, why: "base of the merge group"},
		{name: "schedule", event: ghapi.Event{Name: "schedule"}, at: worktree.Commit{ID: head, Parents: []string{"p"}}, want: head, self: true, why: "itself"},
		{name: "by hand", event: ghapi.Event{Name: "workflow_dispatch"}, at: worktree.Commit{ID: head, Parents: []string{"p"}}, want: head, self: true, why: "itself"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := compareWith(t.Context(), &tt.event, tt.at, bases)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("got %+v, %v; want an error with %q", got, err, tt.problem)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Commit != tt.want || got.Self != tt.self || !strings.Contains(got.Why, tt.why) {
				t.Errorf("got %+v, want commit %s, self %v, why %q", got, tt.want, tt.self, tt.why)
			}
		})
	}
}

// Where sessions are looked for: the branch that the change goes into, and the
// default branch behind it for a stacked pull request.
func TestBaselineBranches(t *testing.T) {
	for _, tt := range []struct {
		name   string
		event  ghapi.Event
		ref    string
		branch string // the suite's
		into   string
		want   string
	}{
		{"pull request", ghapi.Event{BaseRef: "main", DefaultBranch: "main"}, "refs/pull/7/merge", "", "", "main"},
		{"base branch not main", ghapi.Event{BaseRef: "release-2", DefaultBranch: "main"}, "refs/pull/7/merge", "", "", "release-2 main"},
		{"the suite names one", ghapi.Event{BaseRef: "release-2", DefaultBranch: "main"}, "", "perf", "", "perf"},
		{"push", ghapi.Event{DefaultBranch: "main"}, "refs/heads/main", "", "", "main"},
		{"push of another branch", ghapi.Event{DefaultBranch: "main"}, "refs/heads/topic", "", "", "topic main"},
		{"another workflow run's pull request", ghapi.Event{DefaultBranch: "main"}, "refs/heads/main", "", "release-2", "release-2 main"},
		{"nothing but the ref is known", ghapi.Event{}, "refs/heads/trunk", "", "", "trunk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &job{at: &ghapi.Context{Ref: tt.ref}, event: tt.event}
			if got := strings.Join(j.baselineBranches(baselinePolicy(tt.branch), tt.into), " "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func baselinePolicy(branch string) baseline.Policy { return baseline.Policy{Branch: branch} }
