package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
	"github.com/perfweir/perfweir/collect/result"
)

// What is read from GitHub is what `baseline pull` fetches, for one list of workflow
// runs and two requests a session, and nothing of it stays here.
func TestHistoryIsThatOfPulledSessions(t *testing.T) {
	s, doc := lookingSite(t)
	s.leaves(doc, 14, step(8))
	pulled := filepath.Join(t.TempDir(), "pulled")
	s.wantsLook(s.look(s.desk(), "baseline", "pull", "--from", "github", pulled), 0, nil, []string{"pulled 14 sessions"})
	home := s.desk()
	before := filesBelow(t, s.dir)
	for _, args := range [][]string{{"history"}, {"history", "--markdown"}, {"history", "size", "--metric", "cost", "--rows", "3"}} {
		folder := s.look(home, append(args, "--baseline", filepath.Join(pulled, "baseline"))...)
		github := s.look(home, append(args, "--from", "github")...)
		s.wantsLook(folder, 0, []string{"cost", "14 sessions", "session 9 of 14"}, nil)
		s.wantsLook(github, 0, nil, []string{"14 sessions of workflow gate.yml on main, of any commit"})
		if diff := cmp.Diff(folder.page, github.page); diff != "" {
			t.Errorf("%v: of the folder (-), of GitHub (+):\n%s", args, diff)
		}
		if folder.api != 0 || github.api != 1+2*14 || github.archives != 14 {
			t.Errorf("%v: %d requests and %d archives for 14 sessions, %d for the folder", args, github.api, github.archives, folder.api)
		}
	}
	if diff := cmp.Diff(before, filesBelow(t, s.dir)); diff != "" {
		t.Errorf("files: %s", diff)
	}
}

func filesBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Where to look: --baseline, then --from, then the suite file, then whether this is
// a workflow that gave a token.
func TestHistorySource(t *testing.T) {
	s, doc := lookingSite(t)
	s.leaves(doc, 2, nil)
	folder := t.TempDir()
	none := "no session of suite codec is stored in folder "
	workflow := []string{"GITHUB_ACTIONS=true", "GITHUB_REF=refs/heads/main", "GITHUB_WORKFLOW_REF=acme/widgets/.github/workflows/gate.yml@refs/heads/main"}
	for _, tt := range []struct {
		name, suite string // baseline of the suite
		environ     []string
		args        []string
		code        int
		log         string
	}{
		{"the suite says github", "from: github, workflow: gate.yml, branch: main", s.desk(), nil, 0, "2 sessions of workflow gate.yml on main"},
		{"a folder is named", "from: github, workflow: gate.yml, branch: main", s.desk(), []string{"--baseline", folder}, 4, none},
		{"--from folder", "from: github, workflow: gate.yml, branch: main", s.desk(), []string{"--from", "folder"}, 4, none},
		{"--from github", "from: folder", s.desk(workflow...), []string{"--from", "github"}, 0, "2 sessions of workflow gate.yml on main"},
		{"nothing says it, at a desk", "sessions: 10", s.desk(), nil, 4, none},
		{"nothing says it, in a workflow", "sessions: 10", s.desk(workflow...), nil, 0, "2 sessions of workflow gate.yml on main"},
		{"another workflow", "workflow: other.yml", s.desk(workflow...), nil, 3, "is the file on the default branch, and named right in baseline.workflow?"},
		{"misspelt", "sessions: 10", s.desk(), []string{"--from", "gihub"}, 4, "--from gihub: want github or folder"},
		{"no token", "from: github, workflow: gate.yml, branch: main", []string{"GITHUB_REPOSITORY=acme/widgets"}, nil, 4, "perfweir: artifacts of workflow runs are read with a token: set GITHUB_TOKEN"},
		{"no repository", "from: github", []string{"GITHUB_TOKEN=x"}, nil, 4, "perfweir: which repository? Set GITHUB_REPOSITORY=owner/name"},
		{"sessions of a folder", "sessions: 10", s.desk(), []string{"--sessions", "5"}, 4, "--sessions is for --from github"},
		{"less than none", "from: github", s.desk(), []string{"--sessions", "-1"}, 4, "want 1 to 1000"},
		{"more than GitHub lists", "from: github", s.desk(), []string{"--sessions", "1001"}, 4, "want 1 to 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &site{t: t, gh: s.gh, dir: s.dir, run: s.run}
			s.write(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "from: github, max_age: 30d", tt.suite, 1)})
			s.wantsLook(s.look(tt.environ, append([]string{"history"}, tt.args...)...), tt.code, nil, []string{tt.log})
		})
	}
	// All that a desk knows of the repository is its name: one request more.
	s.write(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "max_age: 30d", "workflow: gate.yml", 1)})
	unnumbered := slices.DeleteFunc(s.desk(), func(e string) bool { return strings.HasPrefix(e, "GITHUB_REPOSITORY_ID=") })
	for _, args := range [][]string{{"history"}, {"baseline", "list"}, {"baseline", "pull", t.TempDir()}} {
		if l := s.look(unnumbered, args...); l.code != 0 || l.api != 1+1+2*2 || !strings.Contains(l.page+l.log, "2 sessions") {
			t.Errorf("%v: exit code %d, %d requests\n%s\n%s", args, l.code, l.api, l.page, l.log)
		}
	}
	s.gh.Fail(ghtest.Fault{Kind: ghtest.Status404, Path: "/repos/acme/widgets"})
	s.wantsLook(s.look(unnumbered, "history"), 3, nil, []string{"perfweir: read the repository acme/widgets: GitHub answered 404"})
}

// In a workflow's last job: the page is all there is in the stream that goes to the
// summary, whatever is said beside it, and this workflow run's own session is on it.
func TestHistoryOfTonight(t *testing.T) {
	s, doc := lookingSite(t)
	s.write(map[string]string{"perfweir.yml": siteSuite})
	s.leaves(doc, 12, func(i int, v *night) {
		if i == 4 {
			v.commit = strings.Repeat("5", 40)
		}
	})
	s.gh.Edit(func(st *ghtest.State) {
		last := &st.Runs[len(st.Runs)-1]
		last.Status, last.Conclusion = "in_progress", ""
	})
	event := filepath.Join(t.TempDir(), "event.json")
	s.check(os.WriteFile(event, []byte(`{"schedule":"17 3 * * *","repository":{"id":4242,"full_name":"acme/widgets","default_branch":"main"}}`), 0o644))
	environ := s.desk("GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=schedule", "GITHUB_EVENT_PATH="+event, "GITHUB_REF=refs/heads/main", "GITHUB_SHA="+s.git("rev-parse", "main"),
		"GITHUB_RUN_ID="+fmt.Sprint(s.run), "GITHUB_WORKFLOW_REF=acme/widgets/.github/workflows/gate.yml@refs/heads/main")
	l := s.look(environ, "history", "--from", "github", "--markdown")
	s.wantsLook(l, 0, []string{"### `size` `cost`", "11 sessions", s.gh.Now().Format("2006-01-02")},
		[]string{"left out workflow run 4706", "says it is of commit 555555555555", "11 sessions of workflow gate.yml on main"})
	if !strings.HasPrefix(l.page, "### ") || strings.Contains(l.page, "::") {
		t.Errorf("the page holds more than Markdown:\n%s", l.page)
	}
	if l.api != 1+2*12 {
		t.Errorf("%d requests", l.api)
	}
	s.gh.Fail(ghtest.Fault{Kind: ghtest.Integration403, Path: atArchive, After: 10})
	l = s.look(environ, "history", "--from", "github", "--markdown")
	s.wantsLook(l, 0, []string{"9 sessions"}, []string{"warning: 9 of 100 sessions are used: not all could be asked for"})
	if !strings.HasPrefix(l.page, "### ") || strings.Contains(l.page, "::") {
		t.Errorf("the page holds more than Markdown:\n%s", l.page)
	}
}

// Sessions on several pages of workflow runs, between those of forks: as many are
// read as are asked for, a hundred where nobody says it, and no page too many.
func TestHistoryOfManySessions(t *testing.T) {
	s, doc := lookingSite(t)
	fork := func(i int, v *night) {
		if i%2 == 0 {
			v.run.Event, v.run.Head = "pull_request", ghtest.Fork{FullName: "eve/widgets", ID: 666}
			v.value = 1e6
		}
	}
	s.leaves(doc, 250, fork)
	s.gh.Edit(func(st *ghtest.State) { // as long as a private repository may keep them
		for i := range st.Artifacts {
			st.Artifacts[i].ExpiresAt = st.Artifacts[i].CreatedAt.AddDate(0, 0, 400)
		}
	})
	for _, tt := range []struct {
		args          []string
		sessions, api int
	}{
		{nil, 100, 2 + 200},
		{[]string{"--sessions", "30"}, 30, 1 + 60},
		{[]string{"--sessions", "1000"}, 125, 3 + 250},
	} {
		l := s.look(s.desk(), append([]string{"history"}, tt.args...)...)
		s.wantsLook(l, 0, []string{plain(tt.sessions, "session"), "100.00–100.20 B"}, []string{"workflow run 4950: of a fork (repository 666)", plain(tt.sessions, "session") + " of workflow gate.yml"})
		if l.api != tt.api || l.archives != tt.sessions {
			t.Errorf("%v: %d requests and %d archives, want %d and %d", tt.args, l.api, l.archives, tt.api, tt.sessions)
		}
	}
}

func plain(n int, word string) string { return fmt.Sprintf("%d %ss", n, word) }

// Behind the end of retention nothing is asked for.
func TestHistoryEndsWithRetention(t *testing.T) {
	s, doc := lookingSite(t)
	s.leaves(doc, 100, nil)
	s.gh.Edit(func(st *ghtest.State) {
		for i := range st.Artifacts {
			st.Artifacts[i].ExpiresAt = st.Artifacts[i].CreatedAt.AddDate(0, 0, 30)
		}
	})
	l := s.look(s.desk(), "history")
	s.wantsLook(l, 0, []string{"30 sessions"}, []string{"left out workflow run", "expired", "5 workflow runs in a row were looked at whose results have all expired; older ones were not"})
	if l.api != 1+2*30+5 {
		t.Errorf("%d requests for 30 sessions and 5 workflow runs whose results have expired", l.api)
	}
}

// Whose sessions are no part of it, and which are walked past. Each would say a
// million bytes.
func TestHistoryTakesNoStrangers(t *testing.T) {
	s, doc := lookingSite(t)
	main := s.git("rev-parse", "main")
	changes := []struct {
		name   string
		change func(v *night)
		say    string
	}{
		{"a fork", func(v *night) { v.run.Head = ghtest.Fork{FullName: "eve/widgets", ID: 666} }, "of a fork (repository 666)"},
		{"a fork that is gone", func(v *night) { v.run.Head = ghtest.Fork{Gone: true} }, "of a fork that is gone"},
		{"a pull request", func(v *night) { v.run.Event = "pull_request" }, `of event "pull_request"`},
		{"another branch", func(v *night) { v.run.HeadBranch = "topic" }, ""}, // GitHub does not list it
		{"another workflow", func(v *night) { v.run.Path = ".github/workflows/other.yml" }, ""},
		{"another commit", func(v *night) { v.commit = strings.Repeat("5", 40) }, "says it is of commit 555555555555, the workflow run is of " + main[:12]},
	}
	s.leaves(doc, 20, func(i int, v *night) {
		if i%3 == 1 && i/3 < len(changes) {
			changes[i/3].change(v)
			v.value = 1e6
		}
	})
	gone := s.gh.State().Artifacts[19].ID
	s.gh.Edit(func(st *ghtest.State) { st.Artifacts[19].Vanished = true })
	l := s.look(s.desk(), "history")
	var say []string
	for _, c := range changes {
		say = append(say, c.say)
	}
	s.wantsLook(l, 0, []string{"13 sessions", "100.00–100.20 B"}, append(say, "GitHub has it no more", fmt.Sprintf("download artifact %d", gone), "410"))
	if strings.Contains(l.page, "MB") {
		t.Errorf("a stranger's number is on the page:\n%s", l.page)
	}
}

// Every machine of a workflow run is part of it, each kind a series of its own.
func TestHistoryOfSeveralMachines(t *testing.T) {
	s, doc := lookingSite(t)
	other := *doc
	other.Sessions = slices.Clone(doc.Sessions)
	other.Sessions[0].Host = result.Host{Strict: map[string]string{"cpu_model": "another"}}
	s.leaves(doc, 10, nil)
	for _, r := range s.gh.State().Runs {
		s.left(&other, night{run: r, machine: "orin-1", value: 50})
	}
	l := s.look(s.desk(), "history")
	s.wantsLook(l, 0, []string{"10 sessions", "a series of its own", "50 B", "100 B"}, []string{"20 sessions of workflow gate.yml"})
	if l.api != 1+10+20 {
		t.Errorf("%d requests for 20 sessions of 10 workflow runs", l.api)
	}
}

// The anchor's sessions are asked for by its commit where they are older than the
// newest so many.
func TestHistoryFromAnAnchor(t *testing.T) {
	s, doc := lookingSite(t)
	first := s.git("rev-parse", "main")
	s.git("tag", "v1.0")
	s.leaves(doc, 2, nil)
	s.commit(map[string]string{"README": "words\n"})
	s.gh.SetBranch("main", s.head())
	s.leaves(doc, 12, step(0))
	with := s.look(s.desk(), "history", "--sessions", "11", "--anchor", "v1.0")
	s.wantsLook(with, 0, []string{"13 sessions", "against the anchor " + first[:8] + ": +20"}, []string{"13 sessions of workflow"})
	if with.api != 1+2*11+1+2*2 {
		t.Errorf("%d requests", with.api)
	}
	// Nobody asks where it is among them.
	among := s.look(s.desk(), "history", "--sessions", "13", "--anchor", "v1.0")
	s.wantsLook(among, 0, []string{"13 sessions", "against the anchor"}, nil)
	if among.api != 1+2*13 {
		t.Errorf("%d requests", among.api)
	}
	s.wantsLook(s.look(s.desk(), "history", "--sessions", "11", "--anchor", strings.Repeat("a", 40)), 0, []string{"11 sessions", "no session of the anchor's commit is here"}, nil)
	// The suite's own is the default.
	s.write(map[string]string{"perfweir.yml": strings.Replace(lookingSuite, "sessions: 100", "sessions: 100, anchor: v1.0", 1)})
	s.wantsLook(s.look(s.desk(), "history", "--sessions", "11"), 0, []string{"13 sessions", "against the anchor " + first[:8] + ": +20"}, nil)
}

// That there is none and that nobody could be asked are different outcomes. What
// was read before something went wrong is shown, and what is missing is said.
func TestHistoryThatCouldNotBeAsked(t *testing.T) {
	none := "no session of suite codec is stored in workflow gate.yml on main, of any commit"
	failed := "perfweir: read the stored sessions: "
	for _, tt := range []struct {
		name   string
		strike func(s *site)
		code   int
		log    []string
		api    int // most requests
	}{
		{"nothing ran yet", func(s *site) {
			s.gh.Edit(func(st *ghtest.State) {
				st.Runs, st.Artifacts, st.Workflows = nil, nil, []string{".github/workflows/gate.yml"}
			})
		}, 4, []string{none, "baseline.workflow and baseline.branch"}, 1},
		{"no such workflow", func(s *site) { s.gh.Edit(func(st *ghtest.State) { st.Runs, st.Artifacts = nil, nil }) }, 3,
			[]string{failed, "404", "is the file on the default branch, and named right in baseline.workflow?"}, 1},
		{"all have expired", func(s *site) {
			s.gh.Edit(func(st *ghtest.State) {
				for i := range st.Artifacts {
					st.Artifacts[i].Expired = true
				}
			})
		}, 4, []string{none, "perf-1-1of1-a1: expired"}, 13},
		{"all were removed", func(s *site) { s.gh.Edit(func(st *ghtest.State) { st.Artifacts = nil }) }, 4, []string{none, `left no results of suite "codec"`}, 13},
		{"403 on the list of workflow runs", strikes(ghtest.Fault{Kind: ghtest.Integration403, Path: atRuns}), 3, []string{failed, "403", "actions: read"}, 1},
		{"403 on the lists of artifacts", strikes(ghtest.Fault{Kind: ghtest.Integration403, Path: atArtifacts}), 3, []string{failed, "403", "actions: read"}, 2},
		{"401", strikes(ghtest.Fault{Kind: ghtest.Status401}), 3, []string{failed, "401", "the token is not valid"}, 1},
		{"500 for ever", strikes(ghtest.Fault{Kind: ghtest.Status500, Path: atRuns}), 3, []string{failed, "500"}, 5},
		{"500 twice", strikes(ghtest.Fault{Kind: ghtest.Status500, Path: atRuns, Times: 2}), 0, []string{"12 sessions of workflow"}, 27},
		{"the rate limit is used up", func(s *site) { s.leave(0) }, 3, []string{failed, "rate limit is used up until"}, 1},
		{"no archive arrives", strikes(ghtest.Fault{Kind: ghtest.TruncatedZip, Blob: true}), 3, []string{failed, "its digest is sha256:"}, 30},
		{"the rate limit is used up on the way", func(s *site) { s.leave(9) }, 0,
			[]string{"4 sessions of workflow", "warning: 4 of 100 sessions are used: not all could be asked for", "rate limit is used up until"}, 15},
		{"403 on the way", strikes(ghtest.Fault{Kind: ghtest.Integration403, Path: atArtifacts, After: 4}), 0,
			[]string{"4 sessions of workflow", "warning: 4 of 100 sessions are used: not all could be asked for", "actions: read"}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, doc := lookingSite(t)
			s.leaves(doc, 12, nil)
			tt.strike(s)
			l := s.look(s.desk(), "history")
			s.wantsLook(l, tt.code, nil, tt.log)
			if l.api > tt.api {
				t.Errorf("%d requests, want at most %d\n%s", l.api, tt.api, l.log)
			}
			for _, other := range []string{none, failed} {
				if !slices.Contains(tt.log, other) && strings.Contains(l.log, other) {
					t.Errorf("it says %q:\n%s", other, l.log)
				}
			}
		})
	}
}

// leave leaves so many requests of this hour.
func (s *site) leave(n int) {
	reset := s.gh.Now().Add(time.Hour)
	s.gh.Edit(func(st *ghtest.State) { st.Limit = ghtest.Limit{Limit: 1000, Used: 1000 - n, Reset: reset} })
}

func strikes(x ghtest.Fault) func(*site) { return func(s *site) { s.gh.Fail(x) } }

// A walk that somebody stops is interrupted, and not an answer.
func TestHistoryInterrupted(t *testing.T) {
	for _, args := range [][]string{{"history"}, {"baseline", "list"}} {
		s, doc := lookingSite(t)
		s.leaves(doc, 3, nil)
		ctx, cancel := context.WithCancel(t.Context())
		s.gh.Before(func(r *http.Request) {
			if s.gh.Matches(r, "", atArchive) {
				cancel()
			}
		})
		if l := s.lookUntil(ctx, s.desk(), args...); l.code != 130 || l.page != "" {
			t.Errorf("%v: exit code %d\n%s\n%s", args, l.code, l.page, l.log)
		}
		cancel()
	}
}
