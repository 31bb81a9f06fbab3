package flow

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghapi"
	"github.com/perfweir/perfweir/collect/result"
)

// store writes a document into a baseline folder, named for its first session:
// ULIDs sort by time.
func (s Shell) store(dir string, doc *result.Document) (string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fmt.Errorf("%w: save baseline: %s is a file: name a folder with --baseline", ErrUsage, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save baseline: %w", err)
	}
	doc = result.HeadOnly(doc) // the base build's numbers are another commit's
	path := filepath.Join(dir, doc.Sessions[0].ID+".json")
	if err := durable.WriteFile(path, func(w io.Writer) error { return result.Encode(w, doc) }); err != nil {
		return "", fmt.Errorf("save baseline: %w", err)
	}
	return path, nil
}

// SaveBaseline stores an output folder's session, on purpose.
func (s Shell) SaveBaseline(o Options) error {
	su, err := s.load(o)
	if err != nil {
		return err
	}
	out, err := s.reopen(o.Out)
	if err != nil {
		return err
	}
	defer out.close()
	doc, err := out.results()
	if err != nil {
		return err
	}
	if err := storable(su, doc); err != nil {
		return fmt.Errorf("%w: save baseline: %w", ErrUsage, err)
	}
	path, err := s.store(su.baselineFolder(o), doc)
	if err != nil {
		return err
	}
	s.say("saved as baseline: %s", su.shown(path))
	return nil
}

// storable refuses what could never be compared with.
func storable(su *suite, doc *result.Document) error {
	if doc.Suite.Name != su.file.Suite.Name {
		return fmt.Errorf("the results are of suite %q, the suite file is of %q", doc.Suite.Name, su.file.Suite.Name)
	}
	doc = result.HeadOnly(doc)
	clean := 0
	for i := range doc.Sessions {
		if doc.Sessions[i].Interrupted {
			return fmt.Errorf("session %s was interrupted: measure it to its end", doc.Sessions[i].ID)
		}
	}
	for i := range doc.Cells {
		r := &doc.Cells[i].Runs
		for k := range r.Len() {
			if !r.Warmup(k) && r.StatusAt(k).OK() {
				clean++
			}
		}
	}
	if clean == 0 {
		return fmt.Errorf("no run ended well: there is nothing to compare with")
	}
	return nil
}

// candidates reads and selects for the machine we are on.
func (s Shell) candidates(ctx context.Context, o Options) (*suite, *baseline.Baseline, error) {
	su, err := s.load(o)
	if err == nil {
		err = o.checkFrom()
	}
	if err != nil {
		return nil, nil, err
	}
	session := s.session(o)
	w := baseline.Want{Suite: su.file.Suite.Name, Host: session.Host, Machine: session.Machine, AnyMachine: o.AnyMachine, StartedAt: session.StartedAt}
	var b *baseline.Baseline
	if s.fromGitHub(su, o) {
		b, err = s.asked(ctx, su, o, w, session.Machine, false)
	} else {
		b = su.baseline(ctx, o, w)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case b.State == baseline.Failed:
		return nil, nil, fmt.Errorf("list baseline: %s", b.Reason)
	}
	return su, b, nil
}

// checkFrom refuses a place that is none: misspelt it would be a folder.
func (o Options) checkFrom() error {
	if !slices.Contains([]string{"", baseline.FromFolder, baseline.FromGitHub}, o.From) {
		return fmt.Errorf("%w: --from %s: want %s or %s", ErrUsage, o.From, baseline.FromGitHub, baseline.FromFolder)
	}
	return nil
}

// fromGitHub reports whether stored sessions are artifacts of workflow runs.
func (s Shell) fromGitHub(su *suite, o Options) bool {
	switch from := cmp.Or(o.From, su.file.Baseline.From); {
	case o.Baseline != "":
		return false
	case from != "":
		return from == baseline.FromGitHub
	}
	return o.Job.Token != "" && value(s.Environ, "GITHUB_ACTIONS") == "true"
}

// asked asks GitHub for stored sessions, in a workflow or from a desk that names
// the repository: those that may be compared with, or all.
func (s Shell) asked(ctx context.Context, su *suite, o Options, w baseline.Want, machine string, all bool) (*baseline.Baseline, error) {
	j, err := s.job(o)
	if err == nil && j == nil {
		j, err = s.deskJob(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	p := &prepared{preparedFile: preparedFile{Target: j.target()}, all: all}
	if o.Job.Base != "" {
		if p.Comparison, err = s.named(ctx, su, o.Job.Base); err != nil {
			return nil, err
		}
	}
	o.Baseline = ""
	p.Anchor = su.anchorCommit(ctx, su.file.Baseline.Anchor)
	s.findBaseline(ctx, su, o, j, p, w, machine)
	if err := ctx.Err(); err != nil {
		return nil, err // a walk that was stopped says nothing of what there is
	}
	return p.selectBaseline(su.file.Baseline, w), nil
}

// deskJob is what there is of a job outside a workflow. What no runner says there
// of the repository GitHub is asked for.
func (s Shell) deskJob(ctx context.Context, o Options) (*job, error) {
	at, err := ghapi.FromEnviron(s.Environ)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	case at == nil:
		return nil, fmt.Errorf("%w: which repository? Set GITHUB_REPOSITORY=owner/name", ErrUsage)
	case o.Job.Token == "":
		return nil, fmt.Errorf("%w: artifacts of workflow runs are read with a token: set GITHUB_TOKEN", ErrUsage)
	}
	j := &job{at: at, o: o.Job, mode: modeMeasure}
	if j.gh, err = s.gitHub(at, o.Job.Token); err != nil {
		return nil, err
	}
	if at.RepositoryID == 0 {
		j.event.RepositoryID, j.event.DefaultBranch, err = j.gh.Repository(ctx)
	}
	return j, err
}

// PullBaseline copies the sessions that would be compared with into an output
// folder's baseline/.
func (s Shell) PullBaseline(ctx context.Context, o Options) error {
	_, b, err := s.candidates(ctx, o)
	if err != nil {
		return err
	}
	if len(b.Sessions) == 0 {
		return fmt.Errorf("pull baseline: %s (%s)", b.Reason, b.Origin)
	}
	dir, err := filepath.Abs(o.Out)
	if err != nil {
		return err
	}
	lock, err := durable.Join(dir, s.Now())
	if err != nil {
		return err
	}
	out := &output{dir: dir, lock: lock}
	defer out.close()
	if err := out.keepBaseline(b); err != nil {
		return err
	}
	s.say("pulled %s from %s into %s", plural(len(b.Sessions), "session"), b.Origin, out.path(durable.Baseline))
	return nil
}

// ListBaseline prints every candidate: taken, or why not. old is set when there
// is none, or the newest is too old for the suite.
func (s Shell) ListBaseline(ctx context.Context, o Options, w io.Writer) (old bool, err error) {
	su, b, err := s.candidates(ctx, o)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(w, "baseline of %s: %s taken, %d rejected\n", b.Origin, plural(len(b.Sessions), "session"), len(b.Rejected))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, st := range b.Sessions {
		commit := st.Doc.Builds[result.BuildHead].Commit
		fmt.Fprintf(t, "taken\t%s\t%s\t%s\t%.12s\n", Visible(st.File), st.Session().StartedAt.Format("2006-01-02 15:04"), Visible(st.Session().Machine), Visible(commit))
	}
	if a := b.Anchor; a != nil {
		for _, st := range a.Sessions {
			fmt.Fprintf(t, "anchor\t%s\t%s\t%s\t%.12s\n", Visible(st.File), st.Session().StartedAt.Format("2006-01-02 15:04"), Visible(st.Session().Machine), Visible(a.Commit))
		}
		if a.Why != "" {
			fmt.Fprintf(t, "anchor\t%s\t%s\n", Visible(a.Name), Visible("missing: "+a.Why))
		}
	}
	for _, r := range b.Rejected {
		fmt.Fprintf(t, "rejected\t%s\t%s\n", Visible(r.Candidate), Visible(r.Why))
	}
	if err := t.Flush(); err != nil {
		return false, err
	}
	for _, text := range b.Warnings {
		fmt.Fprintf(w, "warning: %s\n", Visible(text))
	}
	old, text := baseline.Check(b, su.file.Baseline, s.Now())
	_, err = fmt.Fprintf(w, "%s\n", Visible(text))
	return old, err
}

// Merge joins the results of several folders, each a shard of one matrix.
func (s Shell) Merge(dirs []string, o Options) error {
	var docs []*result.Document
	for _, dir := range dirs {
		path := dir
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			path = filepath.Join(dir, durable.Results)
		}
		doc, err := decode(path, result.Decode)
		if err != nil {
			return err
		}
		docs = append(docs, doc)
	}
	doc, err := result.Merge(docs)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	out, err := s.open(o)
	if err != nil {
		return err
	}
	defer out.close()
	if err := durable.Clear(out.dir); err != nil {
		return err
	}
	if _, err := saveDocument(out, durable.Results, doc); err != nil {
		return err
	}
	s.say("joined %s into %s: `perfweir gate %s` judges them", plural(len(docs), "document"), out.path(durable.Results), o.Out)
	return nil
}
