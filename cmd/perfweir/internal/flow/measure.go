package flow

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghapi"
	"github.com/perfweir/perfweir/collect"
	"github.com/perfweir/perfweir/collect/host"
	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Progress is one run that ended, for whoever draws it.
type Progress struct {
	Done, Total int
	Cell        string
	Repeat      int // 0: a warm-up
	Status      result.Status
	Reason      string
}

// session describes this machine and moment.
func (s Shell) session(o Options) result.Session {
	now := s.Now().UTC().Truncate(time.Millisecond)
	return result.Session{
		ID:          ulid.MustNew(ulid.Timestamp(now), crand.Reader).String(),
		Machine:     s.machine(o),
		WorkflowRun: s.workflowRun(),
		StartedAt:   now,
		Boot:        host.Boot("/"),
		Origin:      "run",
		Replicates:  result.ReplicatesProcess,
		Host:        host.Fingerprint("/"),
	}
}

// machine is this machine's name: what the user says, a self-hosted runner's, the
// host's. (A hosted runner's name is another one each time.)
func (s Shell) machine(o Options) string {
	return host.Machine(func(name string) string {
		switch v := value(s.Environ, name); {
		case name != host.MachineVariable:
			return v
		case o.Machine != "":
			return o.Machine
		case v != "" || value(s.Environ, "RUNNER_ENVIRONMENT") != "self-hosted":
			return v
		}
		return value(s.Environ, "RUNNER_NAME")
	})
}

// workflowRun is GitHub's run that this is a part of; nil at a desk. It is a
// claim, for people: who takes the session for a baseline asks GitHub.
func (s Shell) workflowRun() *result.WorkflowRun {
	at, err := ghapi.FromEnviron(s.Environ)
	if err != nil || at == nil || at.RunID == 0 {
		return nil
	}
	return &result.WorkflowRun{RepositoryID: at.RepositoryID, ID: at.RunID, Attempt: at.RunAttempt, Event: at.EventName, Ref: at.Ref}
}

// measure executes the plan, or what is left of it, and writes the results. When
// ctx ends in the middle, what was measured so far is written all the same.
func (s Shell) measure(ctx context.Context, out *output, m *matrix) (*result.Document, error) {
	if err := s.openJournal(out, m); err != nil {
		return nil, err
	}
	log, err := durable.Append(out.path(durable.RunLog))
	if err != nil {
		m.log.Close()
		return nil, fmt.Errorf("open run log: %w", err)
	}
	defer log.Close()
	if load, ok := host.ReadLoad("/"); ok && load.Note() != "" {
		s.say("warning: %s", load.Note())
	}
	launcher := s.launcher(out)
	defer s.endLauncher(launcher)
	m.session.LaunchFloor = launcher.Floor()
	do, end, err := withControl(m.plan, edited(m.edit, m.noted(onThisMachine(launcher))))
	if err != nil {
		m.log.Close()
		return nil, err
	}
	defer end()
	err = s.measureLooks(ctx, collect.New(collect.Matrix{
		Plan: m.plan, Session: m.session, Root: out.dir, Runs: out.path(durable.Runs), Environ: s.Environ, Remove: durable.RemoveAll,
		Past: m.past, Continues: m.continues, RetryFailed: m.retryFailed,
	}, m.log, do, func(e collect.Event) { s.tellRun(log, m.plan, e) }), out, m)
	if cerr := m.log.Close(); err == nil {
		err = cerr
	}
	warnings, rerr := s.restore(m.files)
	if err = errors.Join(err, rerr); err != nil {
		return nil, err
	}
	return s.fold(out, m.plan, warnings)
}

// restore empties the command files of the step that were written to while code
// under test ran: nothing of ours writes there before the end.
func (s Shell) restore(files commandFiles) (warnings []string, err error) {
	written, err := files.restore()
	for _, name := range written {
		text := fmt.Sprintf("what was measured wrote into the file of %s, through which steps of the workflow are steered: it was emptied", name)
		s.warn("%s", text)
		warnings = append(warnings, text)
	}
	return warnings, err
}

// openJournal writes the plan, and then begins its journal; a resumed one is
// open already. The journal is last: a folder without one has run nothing.
func (s Shell) openJournal(out *output, m *matrix) error {
	if m.log != nil {
		return nil
	}
	if err := checkFolder(out.dir, m.plan); err != nil {
		return err
	}
	if err := durable.Clear(out.dir, m.keep...); err != nil {
		return err
	}
	if err := out.write(durable.Plan, func(w io.Writer) error { return plan.Encode(w, m.plan) }); err != nil {
		return err
	}
	log, err := journal.Create(out.path(durable.Journal), m.plan.Digest)
	m.log = log
	return err
}

// launcher starts the session's launcher. It holds the folder's lock too, so that
// nobody writes there while something that we started is alive, even when we are
// killed.
func (s Shell) launcher(out *output) *launch.Launcher {
	l, err := launch.Start(launch.Options{Keep: out.lock.File()})
	if err != nil {
		s.say("commands are started without the launcher, so memory_peak_process is absent: %v", err)
	}
	return l
}

func (s Shell) endLauncher(l *launch.Launcher) {
	if err := l.Close(); err != nil {
		s.say("%v", err)
	}
}

// fold makes the results document of the journal, and writes it.
func (s Shell) fold(out *output, p *plan.Plan, warnings []string) (*result.Document, error) {
	doc, err := foldJournal(out, p)
	if err != nil {
		return nil, err
	}
	last := &doc.Sessions[len(doc.Sessions)-1]
	last.Warnings = append(last.Warnings, warnings...)
	return doc, out.write(durable.Results, func(w io.Writer) error { return result.Encode(w, doc) })
}

// tellRun writes a run's line into LOG and hands it to whoever draws.
func (s Shell) tellRun(log io.Writer, p *plan.Plan, e collect.Event) {
	reason := strings.Join(strings.Fields(e.Detail.Reason), " ")
	look := ""
	if len(p.Looks) > 1 {
		look = fmt.Sprintf("look %d ", e.Run.Look)
	}
	fmt.Fprintf(log, "%s %d/%d %q repeat %d %sblock %d slot %d: %s%s %s\n", e.At.UTC().Format(time.RFC3339Nano), e.Done, e.Total,
		e.Cell.Name, e.Run.Repeat, look, e.Run.Block, e.Run.Slot, e.Status, lasted(e), Visible(reason))
	for _, w := range e.Detail.Warnings {
		fmt.Fprintf(log, "  warning: %q\n", w)
	}
	if s.Progress != nil {
		s.Progress(Progress{Done: e.Done, Total: e.Total, Cell: e.Cell.Name, Repeat: e.Run.Repeat, Status: e.Status, Reason: reason})
	}
}

// lasted is how long a run took, where that is known.
func lasted(e collect.Event) string {
	seconds := e.Wall
	if math.IsNaN(seconds) {
		seconds = e.Detail.Ended
	}
	if seconds <= 0 {
		return ""
	}
	return fmt.Sprintf(" in %.3f s", seconds)
}

// checkFolder refuses an output folder whose name a shell would read as more
// than a name, where a shell string holds {out}.
func checkFolder(dir string, p *plan.Plan) error {
	if plan.PlainPath(dir) {
		return nil
	}
	for i := range p.Cells {
		if p.Cells[i].Exec.ShellHolds("{out}") {
			return fmt.Errorf(`%w: output folder %q holds characters that a shell reads as more than a name, and a shell string of %q holds {out}: choose another -o, or write "$PERFWEIR_OUT"`, ErrUsage, dir, p.Cells[i].Name)
		}
	}
	return nil
}

// list prints what a plan would run.
func (s Shell) list(w io.Writer, su *suite, p *plan.Plan) error {
	s.announce(su, p)
	s.warnShort(su, p, nil)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "cell\trepeats\twarm-ups\tcommand")
	for i := range p.Cells {
		c := &p.Cells[i]
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\n", Visible(c.Name), repeatsOf(c), c.Warmups, Visible(strings.Join(c.Argv, " ")))
	}
	return t.Flush()
}

// repeatsOf is how often a cell runs: 20, or 5/10/20 where that is decided look by
// look.
func repeatsOf(c *plan.Cell) string {
	if len(c.Looks) == 0 {
		return strconv.Itoa(c.Repeats)
	}
	return joined(c.Looks, "/")
}

// Visible keeps what a name of a file or a command holds from driving the terminal.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
