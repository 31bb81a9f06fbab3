package flow

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/exhibit"
	"github.com/perfweir/perfweir/gate/trend"
)

// HistoryOptions are what a person wants to see of the stored sessions.
type HistoryOptions struct {
	Metric   string // empty: those of the suite's relative budgets
	Anchor   string // commit, tag or branch that ratios are to; empty: the suite's, else each series' first session
	Sessions int    // at most so many of GitHub's; 0: historySessions
}

// Each session of GitHub's takes two requests, of which a workflow's token has 1,000
// an hour for all jobs of the repository. A hundred nights are more than artifacts
// are kept by default (90 days); beyond a thousand GitHub lists no workflow runs.
const (
	historySessions     = 100
	historySessionsMost = 1000
)

// History gives the trends of the stored sessions of a suite, of whatever machine
// and age: every one of a folder, or the newest that workflow runs left.
func (s Shell) History(ctx context.Context, o Options, h HistoryOptions) ([]exhibit.Trend, error) {
	su, err := s.load(o)
	if err != nil {
		return nil, err
	}
	anchor, err := s.historyAnchor(ctx, su, &h)
	if err != nil {
		return nil, err
	}
	sessions, err := s.allSessions(ctx, su, o, h)
	if err != nil {
		return nil, err
	}
	t := trend.Options{Cells: o.Cells, ByMachine: su.file.Baseline.Machine == baseline.SameMachine, Anchor: anchor, Metrics: su.relativeMetrics(),
		Control: []string{result.WallTime, result.CPUTime}}
	if h.Metric != "" {
		t.Metrics, t.Control = []string{h.Metric}, nil
	}
	trends := trend.Build(sessions, t)
	if len(trends) == 0 {
		return nil, fmt.Errorf("%w: no stored session has %s", ErrUsage, wanted(o.Cells, t.Metrics))
	}
	return trends, nil
}

// historyAnchor is the commit, or the beginning of its hash, that ratios are to: the
// asked one, else the suite's, else none. h has the name of it afterwards.
func (s Shell) historyAnchor(ctx context.Context, su *suite, h *HistoryOptions) (string, error) {
	asked := h.Anchor != ""
	h.Anchor = cmp.Or(h.Anchor, su.file.Baseline.Anchor)
	if id := su.anchorCommit(ctx, h.Anchor); id != "" {
		return id, nil
	}
	switch name := h.Anchor; {
	case name == "" || !strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }):
		return strings.ToLower(name), nil
	case asked:
		return "", fmt.Errorf("%w: --anchor %s: no such commit is known here (a clone with fetch-depth: 0 knows the tags), nor is it the beginning of a hash", ErrUsage, name)
	}
	s.say("the suite's anchor %s is no commit that is known here (a clone with fetch-depth: 0 knows the tags): ratios are to the first session", h.Anchor)
	h.Anchor = ""
	return "", nil
}

// allSessions reads the stored sessions and says which of what is there are not
// among them. That there is none and that they could not be read are different
// errors.
func (s Shell) allSessions(ctx context.Context, su *suite, o Options, h HistoryOptions) ([]baseline.Stored, error) {
	if err := o.checkFrom(); err != nil {
		return nil, err
	}
	github := s.fromGitHub(su, o)
	if err := h.check(github); err != nil {
		return nil, err
	}
	b, err := s.lookBack(ctx, su, o, h, github)
	switch {
	case err != nil:
		return nil, err
	case b.State == baseline.Failed:
		return nil, fmt.Errorf("read the stored sessions: %s", b.Reason)
	}
	// Not s.warn: an annotation is written to the stream that the page goes to.
	for _, r := range b.Rejected {
		s.say("left out %s: %s", r.Candidate, r.Why)
	}
	for _, text := range b.Warnings {
		s.say("warning: %s", text)
	}
	sessions := slices.Clip(b.Sessions)
	if b.Anchor != nil {
		for _, st := range b.Anchor.Sessions { // older than the others
			if !slices.Contains(sessions, st) {
				sessions = append(sessions, st)
			}
		}
	}
	if len(sessions) > 0 {
		if github {
			s.say("%s of %s", plural(len(sessions), "session"), b.Origin)
		}
		return sessions, nil
	}
	hint := "`perfweir ci` and `perfweir baseline save` store some, --baseline names another folder"
	if github {
		hint = "what its runs left is told above; baseline.workflow and baseline.branch of the suite file say where else to look"
	}
	return nil, fmt.Errorf("%w: no session of suite %s is stored in %s: %s", ErrUsage, su.file.Suite.Name, b.Origin, hint)
}

func (h HistoryOptions) check(github bool) error {
	switch {
	case h.Sessions < 0 || h.Sessions > historySessionsMost:
		return fmt.Errorf("%w: --sessions %d: want 1 to %d", ErrUsage, h.Sessions, historySessionsMost)
	case h.Sessions > 0 && !github:
		return fmt.Errorf("%w: --sessions is for --from github: a folder is read whole", ErrUsage)
	}
	return nil
}

// lookBack reads where the sessions are. Nothing is compared with them, so that
// neither this machine nor the suite's baseline.sessions and max_age have a say.
func (s Shell) lookBack(ctx context.Context, su *suite, o Options, h HistoryOptions, github bool) (*baseline.Baseline, error) {
	file := *su.file
	back := &suite{file: &file, root: su.root}
	policy := &file.Baseline
	policy.Sessions, policy.MaxAge, policy.Anchor = 0, 0, ""
	w := baseline.Want{Suite: file.Suite.Name, AnyMachine: true, StartedAt: endOfTime}
	if !github {
		return back.baselineFor(o, *policy, w), nil
	}
	// The anchor's sessions may be older than so many newest: they are asked for by
	// its commit, and kept beside them.
	policy.Sessions, policy.Anchor = cmp.Or(h.Sessions, historySessions), h.Anchor
	w.StartedAt = s.Now() // what has expired is told by it
	return s.asked(ctx, back, o, w, "", true)
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
