package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/worktree"
	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/trend"
)

// HistoryOptions are what a person wants to see of the stored sessions.
type HistoryOptions struct {
	Metric string // empty: those of the suite's relative budgets
	Anchor string // commit, tag or branch that ratios are to; empty: each series' first session
}

// History gives the trends of the stored sessions of a suite: every one of the
// folder, of whatever machine and age.
func (s Shell) History(ctx context.Context, o Options, h HistoryOptions) ([]exhibit.Trend, error) {
	su, err := s.load(o)
	if err != nil {
		return nil, err
	}
	if s.fromGitHub(su, o) {
		return nil, fmt.Errorf("%w: history reads a folder: `perfweir baseline pull DIR` fetches sessions, then --baseline DIR/baseline", ErrUsage)
	}
	policy := su.file.Baseline
	policy.Sessions, policy.MaxAge = 0, 0 // all of them
	b := su.baselineFor(o, policy, baseline.Want{Suite: su.file.Suite.Name, AnyMachine: true, StartedAt: endOfTime})
	if b.State == baseline.Failed {
		return nil, errors.New(b.Reason)
	}
	for _, r := range b.Rejected {
		s.say("left out %s: %s", r.Candidate, r.Why)
	}
	if len(b.Sessions) == 0 {
		return nil, fmt.Errorf("%w: no session of suite %s is stored in %s: `perfweir ci` and `perfweir baseline save` store some, --baseline names another folder", ErrUsage, su.file.Suite.Name, b.Origin)
	}
	t := trend.Options{Cells: o.Cells, ByMachine: policy.Machine == baseline.SameMachine, Anchor: h.Anchor, Metrics: su.relativeMetrics()}
	if h.Metric != "" {
		t.Metrics = []string{h.Metric}
	}
	if c, err := worktree.ReadCommit(ctx, su.root, h.Anchor); h.Anchor != "" && err == nil {
		t.Anchor = c.ID // else it is taken for the beginning of a hash
	}
	trends := trend.Build(b.Sessions, t)
	if len(trends) == 0 {
		return nil, fmt.Errorf("%w: no stored session has %s", ErrUsage, wanted(o.Cells, t.Metrics))
	}
	return trends, nil
}

// endOfTime is after every session: all are in the past of who looks back.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

func wanted(cells string, metrics []string) string {
	text := "a number"
	if len(metrics) > 0 {
		text += fmt.Sprintf(" of %q", metrics)
	}
	if cells != "" {
		text += fmt.Sprintf(" in a cell that %q selects", cells)
	}
	return text
}

// relativeMetrics are those that the suite holds against earlier sessions; nil,
// for all, where it holds none.
func (su *suite) relativeMetrics() []string {
	var out []string
	for i := range su.file.Budgets {
		if b := &su.file.Budgets[i]; b.Kind.Relative() && !slices.Contains(out, b.Metric) {
			out = append(out, b.Metric)
		}
	}
	return out
}
