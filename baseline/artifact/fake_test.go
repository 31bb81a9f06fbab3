package artifact

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
)

// ours and theirs are repositories: this one and a fork of it.
const ours, theirs = 42, 99

// now is the current session's start; it is far from any clock on purpose.
var now = time.Date(2019, 3, 1, 12, 0, 0, 0, time.UTC)

var here = result.Host{Strict: map[string]string{"cpu_model": "EPYC 7763"}}

// blob is an archive as the blob store has it.
type blob struct {
	data        []byte
	contentType string // "": application/zip
	size        int64  // as announced; 0: as it is
	err         error  // instead of an answer
	cut         int    // so many times the body stops in the middle
}

// fakeGitHub is GitHub in memory. It hands out lists page by page, and counts a
// request for each page as the server would.
type fakeGitHub struct {
	page      int // length; 0: 100
	runs      []WorkflowRun
	artifacts map[int64][]Artifact // by run
	blobs     map[int64]*blob      // by artifact
	commits   []string             // newest first
	errs      map[string]error     // by request
	requests  []string
}

func (f *fakeGitHub) ask(format string, args ...any) error {
	request := fmt.Sprintf(format, args...)
	f.requests = append(f.requests, request)
	return f.errs[request]
}

// pages yields a list; every page is asked for when its first element is.
func pages[T any](f *fakeGitHub, name string, list []T) iter.Seq2[T, error] {
	size := f.page
	if size == 0 {
		size = 100
	}
	return func(yield func(T, error) bool) {
		for i := 0; i == 0 || i < len(list); i++ {
			if i%size == 0 {
				if err := f.ask("%s page %d", name, i/size+1); err != nil {
					var none T
					yield(none, err)
					return
				}
			}
			if i == len(list) || !yield(list[i], nil) {
				return
			}
		}
	}
}

func (f *fakeGitHub) WorkflowRuns(_ context.Context, q RunsQuery) iter.Seq2[WorkflowRun, error] {
	matching := slices.DeleteFunc(slices.Clone(f.runs), func(r WorkflowRun) bool {
		return r.HeadBranch != q.Branch || q.HeadSHA != "" && r.HeadSHA != q.HeadSHA || q.Event != ""
	})
	return pages(f, "runs of "+q.Workflow+" on "+q.Branch, matching)
}

func (f *fakeGitHub) RunArtifacts(_ context.Context, runID int64) iter.Seq2[Artifact, error] {
	return pages(f, fmt.Sprintf("artifacts of %d", runID), f.artifacts[runID])
}

func (f *fakeGitHub) Archive(_ context.Context, id int64) (*Archive, error) {
	if err := f.ask("archive %d", id); err != nil {
		return nil, err
	}
	b := f.blobs[id]
	if b == nil {
		return nil, fmt.Errorf("archive %d: %w", id, fs.ErrNotExist)
	}
	if b.err != nil {
		return nil, b.err
	}
	a := &Archive{Body: io.NopCloser(bytes.NewReader(b.data)), ContentType: b.contentType, Size: b.size}
	if a.ContentType == "" {
		a.ContentType = "application/zip"
	}
	if a.Size == 0 {
		a.Size = int64(len(b.data))
	}
	if b.cut > 0 {
		b.cut--
		a.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b.data[:len(b.data)/2]), brokenReader{}))
	}
	return a, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (f *fakeGitHub) Ancestors(_ context.Context, commit string, most int) ([]string, error) {
	if err := f.ask("%d commits before %.4s", most, commit); err != nil {
		return nil, err
	}
	i := slices.Index(f.commits, commit)
	if i < 0 {
		return nil, fmt.Errorf("commit %s: %w", commit, fs.ErrNotExist)
	}
	return f.commits[i:min(len(f.commits), i+most)], nil
}

// sha is the commit of workflow run i.
func sha(i int64) string { return strings.Repeat(fmt.Sprintf("%04x", i), 10) }

// goodRun is a run that leaves baselines. The larger its id the newer it is: run
// 100 began an hour ago, run 99 two hours.
func goodRun(id int64) WorkflowRun {
	return WorkflowRun{ID: id, Number: int(id), Attempt: 1, Path: ".github/workflows/nightly.yml", Event: "schedule",
		HeadBranch: "main", HeadSHA: sha(id), Status: "completed", Conclusion: "success",
		RepositoryID: ours, HeadRepositoryID: ours, StartedAt: start(id)}
}

func start(id int64) time.Time { return now.Add(-time.Duration(101-id) * time.Hour) }

// goodSession is a session that a run measured on machine.
func goodSession(run WorkflowRun, machine string) result.Session {
	return result.Session{ID: fmt.Sprintf("01RUN%d%s", run.ID, strings.ToUpper(strings.ReplaceAll(machine, "-", ""))), Machine: machine,
		StartedAt: run.StartedAt, Origin: "run", Replicates: result.ReplicatesProcess, Host: here,
		WorkflowRun: &result.WorkflowRun{RepositoryID: run.RepositoryID, ID: run.ID, Attempt: run.Attempt, Event: run.Event, Ref: "refs/heads/" + run.HeadBranch}}
}

// goodDocument is what a run measured on machine.
func goodDocument(run WorkflowRun, machine string) *result.Document {
	return &result.Document{Header: result.Header{
		Schema: result.Schema, Suite: result.Suite{Name: "codec", Path: "perfweir.yml"},
		Plan:     result.PlanRef{Digest: "sha256:1", Looks: []int{1}, Cells: 1, Runs: 1},
		Builds:   map[string]result.Build{result.BuildHead: {Commit: run.HeadSHA}},
		Sessions: []result.Session{goodSession(run, machine)},
		Metrics:  map[string]result.Metric{result.WallTime: {Unit: "s", Better: result.Lower, Class: result.Noisy}},
	}, Cells: []result.Cell{{
		Name: "encode", Benchmark: "encode", Build: result.BuildHead, Digest: "sha256:2", Planned: 1,
		Runs:    result.Runs{Repeat: []int{1}, Block: []int{1}, Slot: []int{0}, Start: []float64{0}},
		Columns: []result.Column{{Metric: result.WallTime, V: result.Values{1}}},
	}}}
}

func encode(t testing.TB, doc *result.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := result.Encode(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entry is one file of an archive.
type entry struct {
	name string
	data []byte
	set  func(*zip.FileHeader)
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.set != nil {
			e.set(h)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// goodArchive is a document as it is uploaded.
func goodArchive(t testing.TB, doc *result.Document) []byte {
	t.Helper()
	return zipped(t, entry{name: resultsFile, data: encode(t, doc)}, entry{name: "plan.json", data: []byte("{}")})
}

// world is a GitHub that a test fills.
type world struct {
	t *testing.T
	*fakeGitHub
	q Query
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, fakeGitHub: &fakeGitHub{artifacts: map[int64][]Artifact{}, blobs: map[int64]*blob{}, errs: map[string]error{}}}
	for i := range int64(100) {
		w.commits = append(w.commits, sha(100-i))
	}
	w.q = Query{RepositoryID: ours, Workflow: "nightly.yml", Branch: "main", Machine: "perf-1", Comparison: sha(100), ThisRun: 1000,
		Want: baseline.Want{Suite: "codec", Host: here, StartedAt: now}, Sessions: 3}
	return w
}

// run adds a workflow run; the first added is the newest.
func (w *world) run(run WorkflowRun) WorkflowRun {
	w.runs = append(w.runs, run)
	return run
}

// upload adds an artifact to a run. Its id is the run's times 100 plus its place.
func (w *world) upload(run WorkflowRun, name string, data []byte) *Artifact {
	id := run.ID*100 + int64(len(w.artifacts[run.ID]))
	w.blobs[id] = &blob{data: data}
	w.artifacts[run.ID] = append(w.artifacts[run.ID], Artifact{ID: id, Name: name, Size: int64(len(data)), CreatedAt: run.StartedAt.Add(time.Minute),
		RunID: run.ID, RepositoryID: ours, HeadRepositoryID: run.HeadRepositoryID, HeadBranch: run.HeadBranch, HeadSHA: run.HeadSHA})
	return &w.artifacts[run.ID][len(w.artifacts[run.ID])-1]
}

// left adds a document that a run left.
func (w *world) left(run WorkflowRun, doc *result.Document) *Artifact {
	s := doc.Sessions[0]
	shard := doc.Plan.Shard
	return w.upload(run, Name("codec", s.Machine, shard, run.Attempt), goodArchive(w.t, doc))
}

// good adds a run that left a session of perf-1.
func (w *world) good(id int64) *Artifact {
	run := w.run(goodRun(id))
	return w.left(run, goodDocument(run, "perf-1"))
}

// find asks, and requires an answer.
func (w *world) find() *Found {
	w.t.Helper()
	found, err := Candidates(context.Background(), w.fakeGitHub, w.q)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// told is what became of the candidates: the session's id, or why not.
func told(f *Found) []string {
	var out []string
	for _, c := range f.Candidates {
		what := ""
		if c.Err != nil {
			what = c.Err.Error()
		} else {
			for i := range c.Doc.Sessions {
				what += "+" + c.Doc.Sessions[i].ID
			}
		}
		out = append(out, c.File+": "+what)
	}
	return out
}
