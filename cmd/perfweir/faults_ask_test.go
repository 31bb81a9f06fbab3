package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// Where is asked for sessions of main.
const (
	atRuns      = "/workflows/gate.yml/runs"
	atArtifacts = "/runs/*/artifacts"
	atArchive   = "/artifacts/*/zip"
	atCommits   = "/repos/acme/widgets/commits"
	atContents  = "/contents/perfweir.yml"
)

// TestFaultsOfAsking: what went wrong once is asked again, what goes on is told as
// that. A pull request that would fail never gets a green check because nobody
// answered.
func TestFaultsOfAsking(t *testing.T) {
	meetAll(t, []fault{
		// Credentials and permissions. Nothing is asked again.
		{"401 from the start", failing(ghtest.Fault{Kind: ghtest.Status401}),
			told{come: couldNotAsk, check: isFailed, comment: isFailed, says: []string{"401", "the token is not valid"}, requests: 8}},
		{"403 on the list of workflow runs", failing(ghtest.Fault{Kind: ghtest.Integration403, Path: atRuns}),
			told{come: couldNotAsk, says: []string{"could not be read", "403", "actions: read"}}},
		{"403 on the list of artifacts", failing(ghtest.Fault{Kind: ghtest.Integration403, Path: atArtifacts}),
			told{come: couldNotAsk, says: []string{"could not be read", "403", "actions: read"}}},
		{"403 on an artifact", failing(ghtest.Fault{Kind: ghtest.Integration403, Path: atArchive}),
			told{come: couldNotAsk, says: []string{"could not be read", "403", "actions: read"}}},
		{"403 on the list of commits", failing(ghtest.Fault{Kind: ghtest.Integration403, Path: atCommits}),
			told{come: couldNotAsk, says: []string{"could not be read", "403", "contents: read"}}},
		{"403 on the suite file of the comparison commit", shallow(ghtest.Fault{Kind: ghtest.Integration403, Path: atContents}),
			told{come: unprepared, comment: isAbsent, log: []string{"403", "contents: read", "whose budgets decide"}}},
		{"403 on the suite file at a server without check runs", shallow(append(noCheckRuns(), ghtest.Fault{Kind: ghtest.Integration403, Path: atContents})...),
			told{come: unprepared, check: byStatus, comment: isAbsent, log: []string{"contents: read"}}},
		{"the list of workflow runs is not there", failing(ghtest.Fault{Kind: ghtest.Status404, Path: atRuns}),
			told{come: couldNotAsk, says: []string{"could not be read", "404", "baseline.workflow"}}},

		// Limits.
		{"primary limit with its reset near", failing(ghtest.Fault{Kind: ghtest.PrimaryLimit403, Path: atRuns, Times: 1, RetryAfter: 50 * time.Second}),
			told{log: []string{"waiting 51s"}, waits: 50 * time.Second}},
		{"primary limit with its reset far away", func(s *site, _ *job) { s.useUpLimit() },
			told{come: couldNotAsk, check: isFailed, comment: isFailed, says: []string{"rate limit is used up until 2026-"}, requests: 3}},
		{"429 with Retry-After", failing(ghtest.Fault{Kind: ghtest.RetryAfter429, Path: atRuns, Times: 1, RetryAfter: 20 * time.Second}),
			told{log: []string{"waiting 20s"}, waits: 20 * time.Second}},
		{"429 for longer than may be waited", failing(ghtest.Fault{Kind: ghtest.RetryAfter429, Path: atRuns, RetryAfter: time.Hour}),
			told{come: couldNotAsk, says: []string{"could not be read", "secondary rate limit is used up until 2026-"}}},
		{"secondary limit without Retry-After", failing(ghtest.Fault{Kind: ghtest.SecondaryLimit403, Path: atArtifacts, Times: 1}),
			told{log: []string{"waiting 1m0s"}, waits: time.Minute}},
		{"secondary limit for ever", failing(ghtest.Fault{Kind: ghtest.SecondaryLimit403, Path: atArtifacts}),
			told{come: couldNotAsk, says: []string{"could not be read", "secondary rate limit"}, waits: time.Minute, waited: 6 * time.Minute}},

		// Errors of the server and of the way to it.
		{"500 twice", failing(ghtest.Fault{Kind: ghtest.Status500, Path: atRuns, Times: 2}), told{waits: 3 * time.Second}},
		{"502 for ever", failing(ghtest.Fault{Kind: ghtest.Status502}),
			told{come: couldNotAsk, check: isFailed, comment: isFailed, says: []string{"502"}, requests: 30, waited: 3 * time.Minute}},
		{"502 for ever on the list of workflow runs", failing(ghtest.Fault{Kind: ghtest.Status502, Path: atRuns}),
			told{come: couldNotAsk, says: []string{"could not be read", "502"}, waits: 15 * time.Second}},
		{"502 for ever at the blob store", failing(ghtest.Fault{Kind: ghtest.Status502, Blob: true}),
			told{come: couldNotAsk, says: []string{"could not be read", "the blob store", "502"}}},
		{"no answer once", slowly(failing(ghtest.Fault{Kind: ghtest.NoAnswer, Path: atRuns, Times: 1})), told{}},
		{"no answer at all", func(s *site, j *job) {
			j.timeout = 300 * time.Millisecond
			s.gh.Fail(ghtest.Fault{Kind: ghtest.NoAnswer, Path: atRuns})
		}, told{come: couldNotAsk, says: []string{"could not be read", "nothing came in time"}, waits: 15 * time.Second}},
		{"no answer of the blob store once", slowly(failing(ghtest.Fault{Kind: ghtest.NoAnswer, Blob: true, Times: 1})), told{}},
		{"reset in the list of artifacts", failing(ghtest.Fault{Kind: ghtest.Reset, Path: atArtifacts, Times: 1}), told{}},
		{"reset in an artifact", failing(ghtest.Fault{Kind: ghtest.Reset, Blob: true, Times: 1}), told{}},
		{"reset in every artifact", failing(ghtest.Fault{Kind: ghtest.Reset, Blob: true}),
			told{come: couldNotAsk, says: []string{"could not be read", "stopped after"}}},
		{"a page of HTML for the list of artifacts", failing(ghtest.Fault{Kind: ghtest.HTMLPage, Path: atArtifacts}),
			told{come: couldNotAsk, says: []string{"could not be read", "not what was asked for"}}},
	})
}

// TestFaultsOfLists: lists of many pages are read to their end, or to where GitHub
// ends them, which is no end.
func TestFaultsOfLists(t *testing.T) {
	meetAll(t, []fault{
		{"sessions on page 10 of the workflow runs", otherRuns(950), told{requests: 45}},
		{"sessions beyond what GitHub lists of workflow runs", otherRuns(1150),
			told{come: couldNotAsk, says: []string{"could not be read", "1000"}, requests: 45}},
		{"the session on page 12 of the artifacts", otherArtifacts(1150), told{requests: 60}},
	})
}

// shallow has a checkout that lacks the comparison commit, at a server that gives
// no commits either: its suite file has to be asked for.
func shallow(faults ...ghtest.Fault) func(*site, *job) {
	return func(s *site, j *job) {
		to := filepath.Join(s.t.TempDir(), "shallow")
		s.git("clone", "-q", "--depth", "1", "file://"+s.dir, to)
		s.dir = to
		j.env = map[string]string{"GITHUB_SERVER_URL": "http://127.0.0.1:1"}
		failing(faults...)(s, j)
	}
}

// otherRuns puts so many workflow runs of a fork's branch main before the sessions.
func otherRuns(n int) func(*site, *job) {
	return func(s *site, _ *job) {
		head, now := s.git("rev-parse", "main"), s.gh.Now()
		s.gh.Edit(func(st *ghtest.State) {
			for i := range n {
				st.Runs = append(st.Runs, ghtest.Run{ID: int64(900_000 + i), Path: ".github/workflows/gate.yml", Event: "pull_request",
					HeadBranch: "main", HeadSHA: head, Head: ghtest.Fork{FullName: "eve/widgets", ID: 666}, CreatedAt: now})
			}
		})
	}
}

// otherArtifacts puts so many artifacts of other jobs before every session's.
func otherArtifacts(n int) func(*site, *job) {
	return func(s *site, _ *job) {
		sessions := s.sessions()
		s.gh.Edit(func(st *ghtest.State) {
			for _, a := range sessions {
				for i := range n {
					st.Artifacts = append(st.Artifacts, ghtest.Artifact{ID: a.ID*10_000 + int64(i), RunID: a.RunID, Name: fmt.Sprintf("logs-%d", i), Zip: []byte("logs")})
				}
			}
		})
	}
}

// sessions are the artifacts that main's jobs left, oldest first.
func (s *site) sessions() []ghtest.Artifact {
	s.t.Helper()
	all := s.gh.State().Artifacts
	if len(all) != 2 {
		s.t.Fatalf("%d artifacts, want two: %+v", len(all), all)
	}
	return all
}
