package publish

import (
	"context"
	"errors"
	"io/fs"

	"github.com/perfweir/perfweir/gate/report"
)

// Reuse completes the check as passed because the very same content was measured,
// and passed, before: why says for what. It is for merge queues, where GitHub waits
// for a check of the name on a commit that is new although its tree is not.
func Reuse(ctx context.Context, gh GitHub, t Target, o Options, why string) Channel {
	p := &publication{gh: gh, t: t, o: o}
	if no := p.noCheck(); no != "" {
		return Channel{Name: ChannelCheck, State: Skipped, Why: no}
	}
	told := Status{State: stateSuccess, Description: "pass: " + why}
	if o.Check == CheckStatus {
		return p.status(ctx, told)
	}
	k := p.checker()
	k.run.Status, k.run.Conclusion = statusCompleted, conclusionSuccess
	k.run.Title = "pass: measured before"
	k.run.Summary = report.Plain(why, MaxSummary)
	state := Posted
	if k.run.ID != 0 {
		state = Updated
	}
	if err := k.put(ctx, nil, 0); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return p.status(ctx, told)
		}
		return k.failed(err)
	}
	return k.told(state)
}
