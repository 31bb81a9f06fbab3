package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"

	"github.com/perfweir/perfweir/gate/report"
)

// Limits of a check run's texts, in bytes. GitHub takes 65,535 characters each.
const (
	MaxSummary   = 65_535
	summaryRoom  = report.DefaultBytes
	summaryAgain = summaryRoom / 2
	longestTitle = 255
	longestName  = 100
)

// Statuses of a check run.
const (
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
)

// CheckName is the name of a suite's check run and commit status: the same for
// every event, so that it can be required.
func CheckName(suite string) string { return report.Plain("perfweir / "+suite, longestName) }

// ExternalID says which workflow run a check run of ours belongs to, and what it
// measured.
type ExternalID struct {
	Run   Run    // ID and Attempt
	Suite string // as a token: compare with ExternalIDOf
	Tree  string // of the commit's content; "" where it is not known
}

// ExternalIDOf is the id of the check run of a suite on a target.
func ExternalIDOf(t Target, suite string) ExternalID {
	return ExternalID{Run: Run{ID: t.Run.ID, Attempt: t.Run.Attempt}, Suite: tokenOf(suite), Tree: t.Tree}
}

// String is the id as GitHub keeps it.
func (e ExternalID) String() string {
	tree := e.Tree
	if !hexDigits.MatchString(tree) {
		tree = "-"
	}
	return fmt.Sprintf("perfweir v=1 run=%d attempt=%d suite=%s tree=%s", e.Run.ID, e.Run.Attempt, e.Suite, tree)
}

var externalID = regexp.MustCompile(`^perfweir v=1 run=([0-9]{1,18}) attempt=([0-9]{1,9}) suite=([A-Za-z0-9._/%~-]{1,330}) tree=([0-9a-f]{1,64}|-)$`)

// ParseExternalID reads an id that String wrote, and no other.
func ParseExternalID(s string) (ExternalID, bool) {
	f := externalID.FindStringSubmatch(s)
	if f == nil {
		return ExternalID{}, false
	}
	e := ExternalID{Suite: f[3], Tree: f[4]}
	if e.Tree == "-" {
		e.Tree = ""
	}
	e.Run.ID, _ = strconv.ParseInt(f[1], 10, 64) // the pattern bounds the digits
	e.Run.Attempt, _ = strconv.Atoi(f[2])
	return e, e.String() == s
}

// sameAttempt reports whether a check run is ours, of this very attempt.
func sameAttempt(c CheckRun, t Target, suite string) bool {
	e, ok := ParseExternalID(c.ExternalID)
	return ok && e.Suite == tokenOf(suite) && e.Run.ID == t.Run.ID && e.Run.Attempt == t.Run.Attempt
}

// Start tells that a verdict is on its way: a check run in progress, or a pending
// status. Channel.ID is the check run's, for Options.CheckRun. A re-run of a
// workflow run starts a check run of its own: GitHub shows the newest of a name,
// and the earlier one keeps what was said then.
func Start(ctx context.Context, gh GitHub, t Target, o Options) Channel {
	p := &publication{gh: gh, t: t, o: o}
	if why := p.noCheck(); why != "" {
		return Channel{Name: ChannelCheck, State: Skipped, Why: why}
	}
	if o.Check == CheckStatus {
		return p.status(ctx, Status{State: statePending, Description: startTitle})
	}
	k := p.checker()
	k.run.Status, k.run.Title = statusInProgress, startTitle
	k.run.Summary = "The result appears here when the benchmarks have ended."
	return k.start(ctx)
}

const startTitle = "measuring"

// noCheck says why neither a check run nor a status is written; "" where one is.
func (p *publication) noCheck() string {
	switch why := p.readOnly(); {
	case why != "":
		return why
	case p.t.SHA == "":
		return "it is not known which commit this is about"
	case p.o.Check == CheckNone:
		return "check: none"
	}
	return ""
}

func (k *checker) start(ctx context.Context) Channel {
	if err := k.create(ctx, nil); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return k.p.status(ctx, Status{State: statePending, Description: startTitle})
		}
		return k.failed(err)
	}
	return k.told(Posted)
}

// check attaches the verdict to the commit.
func (p *publication) check(ctx context.Context) {
	switch why := p.noCheck(); {
	case why != "":
		p.add(Channel{Name: ChannelCheck, State: Skipped, Why: why})
		p.untold()
	case p.o.Check == CheckStatus:
		p.add(p.status(ctx, p.finalStatus()))
		p.untold()
	default:
		p.checkRun(ctx)
	}
}

// checkRun completes the check run, then adds what annotations are left. What the
// check run does not carry stays for workflow commands.
func (p *publication) checkRun(ctx context.Context) {
	var remarks []Annotation
	beyond := 0
	if p.o.Annotations {
		remarks, beyond = annotations(p.r, p.o)
	}
	k := p.checker()
	k.complete(beyond)
	found, err := k.find(ctx)
	if err != nil {
		p.add(k.failed(err))
		p.left = remarks
		return
	}
	if found.Status == statusCompleted && found.Conclusion == k.run.Conclusion && found.Title == k.run.Title {
		p.add(Channel{Name: ChannelCheck, State: Unchanged, URL: found.URL, ID: found.ID})
		return
	}
	if found.Annotations > 0 {
		remarks = nil // an earlier try of this attempt sent them
	}
	state := Posted
	if k.run.ID != 0 {
		state = Updated
	}
	sent, err := k.write(ctx, remarks)
	p.left = remarks[sent:]
	switch {
	case err != nil && !k.completed && errors.Is(err, fs.ErrNotExist):
		p.add(k.failed(fmt.Errorf("this server has no check runs, so a commit status was tried: %w", err)))
		p.add(p.status(ctx, p.finalStatus()))
	case !k.completed:
		p.add(k.failed(err))
	default:
		p.add(k.told(state))
	}
	if k.completed && err != nil {
		p.add(Channel{Name: ChannelAnnotations, State: Failed,
			Why: fmt.Sprintf("%d of %d are with the check run: %s", sent, len(remarks), why(err))})
	}
}

// complete fills in what the check run says at its end.
func (k *checker) complete(beyond int) {
	p := k.p
	told := p.told()
	if beyond > 0 {
		told.Notes = append(told.Notes, fmt.Sprintf("%d more places have no annotation: %d are the most", beyond, mostAnnotations))
	}
	k.run.Status, k.run.Conclusion = statusCompleted, p.conclusion()
	k.run.Title = report.Plain(report.Headline(&told), longestTitle)
	k.texts = func(bytes int) (summary, text string) {
		return p.markdown(told, report.Options{Bytes: bytes, Half: report.Deciding}),
			p.markdown(told, report.Options{Bytes: bytes, Half: report.Rest})
	}
	k.run.Summary, k.run.Text = k.texts(summaryRoom)
}
