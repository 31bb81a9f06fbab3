package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/cli"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
	"github.com/perfweir/perfweir/collect/result"
)

// looked is what a command that looks back came to.
type looked struct {
	code          int
	page, log     string // its two streams
	api, archives int    // requests: to the API, and to the blob store
}

// lookingSuite is siteSuite for a desk, which is told where to look.
var lookingSuite = strings.Replace(siteSuite, "max_age: 30d", "workflow: gate.yml, branch: main, sessions: 100", 1)

// desk is the environment of somebody who names the repository.
func (s *site) desk(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.t.TempDir(), "GITHUB_API_URL=" + s.gh.URL(), "GITHUB_REPOSITORY=acme/widgets", "GITHUB_REPOSITORY_ID=4242",
		"GITHUB_TOKEN=" + ghtest.DefaultToken}, more...)
}

// look runs a command on the site's suite file, each stream by itself.
func (s *site) look(environ []string, args ...string) looked {
	s.t.Helper()
	return s.lookUntil(s.t.Context(), environ, args...)
}

func (s *site) lookUntil(ctx context.Context, environ []string, args ...string) looked {
	s.t.Helper()
	before := len(s.gh.Requests())
	var page, log bytes.Buffer
	l := looked{code: cli.Main(ctx, cli.Command{Stdin: strings.NewReader(""), Stdout: &page, Stderr: &log, Environ: environ, Now: s.gh.Now, Sleep: s.sleep},
		append(args, "-c", filepath.Join(s.dir, "perfweir.yml")))}
	l.page, l.log = page.String(), log.String()
	for _, r := range s.gh.Requests()[before:] {
		if r.Host == "api" {
			l.api++
		} else {
			l.archives++
		}
	}
	if strings.Contains(l.page+l.log, ghtest.DefaultToken) {
		s.t.Errorf("the token is told:\n%s\n%s", l.page, l.log)
	}
	return l
}

// lookingSite has a suite file that says where to look, and the results of one
// workflow run, from which others are made.
func lookingSite(t *testing.T) (*site, *result.Document) {
	s := newSite(t)
	s.write(map[string]string{"perfweir.yml": lookingSuite})
	s.nights(1)
	own := s.gh.State()
	doc := documentOf(t, own.Artifacts[0].Zip)
	s.gh.Edit(func(st *ghtest.State) { st.Runs, st.Artifacts = nil, nil })
	return s, doc
}

func documentOf(t *testing.T, archive []byte) *result.Document {
	t.Helper()
	doc, err := result.Decode(bytes.NewReader(resultsOf(t, archive)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// night is one workflow run on main and what it left; change makes something else of it.
type night struct {
	run     ghtest.Run
	value   float64
	machine string
	commit  string // that was measured; "": the run's head
}

// leaves lets n nights measure, a day apart, the first of which has the value 100.
// Numbers of workflow runs go on from the last. They are told to GitHub at once:
// a run of the whole program for each would take minutes.
func (s *site) leaves(doc *result.Document, n int, change func(i int, v *night)) {
	s.t.Helper()
	head := s.git("rev-parse", "main")
	for i := range n {
		s.gh.Advance(24 * time.Hour)
		s.run++
		v := night{run: ghtest.Run{ID: s.run, Path: ".github/workflows/gate.yml", Event: "schedule", HeadBranch: "main", HeadSHA: head, CreatedAt: s.gh.Now()},
			value: 100 + float64(i%3)/10, machine: "perf-1"}
		if change != nil {
			change(i, &v)
		}
		s.gh.AddRun(v.run)
		s.left(doc, v)
	}
}

// left adds what one machine left to a workflow run.
func (s *site) left(doc *result.Document, v night) int64 {
	s.t.Helper()
	d := *doc
	d.Builds = map[string]result.Build{result.BuildHead: {Commit: orText(v.commit, v.run.HeadSHA)}}
	session := doc.Sessions[0]
	session.ID, session.Machine, session.StartedAt = fmt.Sprintf("01NIGHT%d%s", v.run.ID, strings.ToUpper(strings.ReplaceAll(v.machine, "-", ""))), v.machine, v.run.CreatedAt
	session.WorkflowRun = &result.WorkflowRun{RepositoryID: 4242, ID: v.run.ID, Attempt: 1, Event: v.run.Event, Ref: "refs/heads/" + v.run.HeadBranch}
	d.Sessions = []result.Session{session}
	cell := doc.Cells[0]
	cell.Columns = slices.Clone(cell.Columns)
	for i := range cell.Columns {
		if cell.Columns[i].Metric == "cost" {
			cell.Columns[i].V = result.Values{v.value}
		}
	}
	d.Cells = []result.Cell{cell}
	var b bytes.Buffer
	s.check(result.Encode(&b, &d))
	return s.gh.AddArtifact(v.run.ID, "perfweir-results-codec-"+v.machine+"-1of1-a1", ghtest.ZipFile("results.json", b.Bytes()))
}

// wantsLook asserts an exit code, and words that the two streams hold.
func (s *site) wantsLook(l looked, code int, page, log []string) {
	s.t.Helper()
	if l.code != code {
		s.t.Fatalf("exit code %d, want %d\n%s\n%s", l.code, code, l.page, l.log)
	}
	contains(s.t, "the page", l.page, page...)
	contains(s.t, "the log", l.log, log...)
	if code != 0 && l.page != "" {
		s.t.Errorf("there is a page of nothing:\n%s", l.page)
	}
}

// step lets the value rise by a fifth from some night on.
func step(from int) func(int, *night) {
	return func(i int, v *night) {
		if i >= from {
			v.value *= 1.2
		}
	}
}
