package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghapi"
	"github.com/perfweir/perfweir/collect/worktree"
)

// comparison is the commit that a change is held against: sessions of it and of
// what came before it are its baseline, and its suite file decides.
type comparison struct {
	Commit string `json:"commit,omitempty"` // "" where there is none
	Why    string `json:"why"`              // how it was found, in words
	// Self is set where the measured commit itself is the one: a nightly refresh has
	// no change to judge, and its own suite file decides.
	Self bool `json:"self,omitempty"`
	// Here is set where the repository has the commit: it could be built.
	Here bool `json:"here,omitempty"`
}

// mergeBase finds the best common ancestor of two commits.
type mergeBase func(ctx context.Context, a, b string) (string, error)

// compareWith finds the comparison commit of an event when head is checked out
// (rule: GitHub's merge commit is compared with its first parent, a pull
// request's own head with the merge base, a queue's group with its base, a push
// with what was there before, anything else with itself).
func compareWith(ctx context.Context, ev *ghapi.Event, head worktree.Commit, base mergeBase) (comparison, error) {
	switch ev.Name {
	case eventPullRequest, eventPullRequestTarget:
		return ofPull(ctx, ev, head, base)
	case eventMergeGroup:
		return comparison{Commit: ev.BaseSHA, Why: "the base of the merge group"}, nil
	case eventPush:
		return ofPush(ev, head), nil
	}
	return comparison{Commit: head.ID, Why: "the measured commit itself", Self: true}, nil
}

func ofPull(ctx context.Context, ev *ghapi.Event, head worktree.Commit, base mergeBase) (comparison, error) {
	switch at := slices.Index(head.Parents, ev.HeadSHA); {
	case len(head.Parents) == 2 && at == 1:
		return comparison{Commit: head.Parents[0], Why: "the first parent of GitHub's merge commit"}, nil
	case ev.BaseSHA == "":
		return comparison{}, errors.New("find the commit to compare with: the event names no base of the pull request")
	}
	why := "the merge base of the pull request's head"
	if head.ID != ev.HeadSHA {
		why = "the merge base of what is checked out, which is neither the pull request's head nor its merge commit"
	}
	commit, err := base(ctx, ev.BaseSHA, head.ID)
	if err != nil {
		return comparison{}, fmt.Errorf("find the commit to compare with: %w", err)
	}
	return comparison{Commit: commit, Why: why}, nil
}

func ofPush(ev *ghapi.Event, head worktree.Commit) comparison {
	switch {
	case ev.Before != "":
		return comparison{Commit: ev.Before, Why: "what the branch was before the push"}
	case len(head.Parents) > 0: // a new branch: nothing was before
		return comparison{Commit: head.Parents[0], Why: "the first parent of the pushed commit: the branch is new"}
	}
	return comparison{Commit: head.ID, Why: "the measured commit itself: it is the first one", Self: true}
}

// localOrAsked finds a merge base in the repository around dir, or, where a
// shallow clone does not have the history, asks ask (nil: nobody to ask).
func localOrAsked(dir string, ask mergeBase) mergeBase {
	return func(ctx context.Context, a, b string) (string, error) {
		if commit := worktree.MergeBase(ctx, dir, a, b); commit != "" {
			return commit, nil
		}
		if ask == nil {
			return "", fmt.Errorf("git knows no common ancestor of %s and %s: check out with fetch-depth: 0, or give a token", a, b)
		}
		commit, err := ask(ctx, a, b)
		if err != nil {
			return "", fmt.Errorf("git knows no common ancestor of %s and %s (check out with fetch-depth: 0), and GitHub was asked: %w", a, b, err)
		}
		return commit, nil
	}
}
