package publish

import (
	"context"
	"fmt"

	"github.com/perfweir/perfweir/gate/report"
)

// States of a commit status (GitHub's words).
const (
	statePending = "pending"
	stateSuccess = "success"
	stateFailure = "failure"
	stateError   = "error"
)

// longestDescription is GitHub's limit in characters, kept in bytes: so many bytes
// are never more characters, however those are counted.
const longestDescription = 140

// finalStatus is the verdict as a commit status, which knows no neutral.
func (p *publication) finalStatus() Status {
	told := p.told()
	return Status{State: stateOf(p.conclusion()), Description: report.Headline(&told)}
}

func stateOf(conclusion string) string {
	switch conclusion {
	case conclusionSuccess, conclusionNeutral:
		return stateSuccess
	case conclusionFailure:
		return stateFailure
	}
	return stateError
}

// status writes a commit status of the check's name. The same status twice does no
// harm: the newest of a name counts.
func (p *publication) status(ctx context.Context, s Status) Channel {
	s.Context, s.TargetURL = CheckName(p.o.Suite), p.t.RunURL
	s.Description = report.Plain(s.Description, longestDescription)
	url, err := p.gh.CreateStatus(ctx, p.t.SHA, s)
	if err != nil {
		return Channel{Name: ChannelStatus, State: Failed, Why: why(fmt.Errorf("write the commit status: %w", err))}
	}
	return Channel{Name: ChannelStatus, State: Posted, URL: url}
}
