package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// Where things are told.
const (
	atComments  = "/issues/*/comments"
	atComment   = "/issues/comments/*"
	atCheckRuns = "/repos/acme/widgets/check-runs"
	atCheckRun  = "/check-runs/*"
	atChecksOf  = "/commits/*/check-runs"
)

// TestFaultsOfTelling: whatever goes wrong with telling, the verdict and the exit
// code are what they are without it.
func TestFaultsOfTelling(t *testing.T) {
	meetAll(t, []fault{
		// Credentials and permissions.
		{"token expires before the verdict", afterMeasuring((*site).expireToken),
			told{check: isOpen, comment: isFailed, says: []string{"401", "a job's token ends with the job"}}},
		{"403 on the comment", failing(ghtest.Fault{Kind: ghtest.Integration403, Method: "POST", Path: atComments}),
			told{comment: isFailed, says: []string{"403", "pull-requests: write"}}},
		{"403 on the list of comments", failing(ghtest.Fault{Kind: ghtest.Integration403, Method: "GET", Path: atComments}),
			told{comment: isFailed, says: []string{"403", "pull-requests: write"}}},
		{"403 on the check run", failing(ghtest.Fault{Kind: ghtest.Integration403, Method: "POST", Path: atCheckRuns}),
			told{check: isFailed, says: []string{"403", "checks: write"}}},
		{"403 on completing the check run", failing(ghtest.Fault{Kind: ghtest.Integration403, Method: "PATCH", Path: atCheckRun}),
			told{check: isOpen, says: []string{"403", "checks: write"}}},
		{"403 on completing the check run until the last step", untilFinish(ghtest.Fault{Kind: ghtest.Integration403, Method: "PATCH", Path: atCheckRun}),
			told{check: isLate, says: []string{"403", "checks: write"}}},
		{"403 on the commit status", func(s *site, j *job) {
			j.inputs = map[string]string{"check": "status"}
			s.gh.Fail(ghtest.Fault{Kind: ghtest.Integration403, Path: "/statuses/*"})
		}, told{check: isAbsent, says: []string{"status: failed", "403", "statuses: write"}}},
		{"permissions to write are not given", func(s *site, _ *job) {
			s.gh.SetToken(ghtest.DefaultToken, ghtest.Token{App: "github-actions", Permissions: map[string]string{"actions": "read", "contents": "read"}})
		}, told{check: isFailed, comment: isFailed, says: []string{"checks: write", "pull-requests: write"}}},

		// Limits. Waiting is bounded: three minutes a call.
		{"primary limit before the verdict with its reset far away", afterMeasuring((*site).useUpLimit),
			told{check: isOpen, comment: isFailed, says: []string{"rate limit is used up until 2026-"}, requests: 12}},
		{"primary limit on the comment with its reset near", failing(ghtest.Fault{Kind: ghtest.PrimaryLimit403, Method: "POST", Path: atComments, Times: 1, RetryAfter: 50 * time.Second}),
			told{log: []string{"waiting 51s"}, waits: 50 * time.Second}},
		{"429 on completing the check run", failing(ghtest.Fault{Kind: ghtest.RetryAfter429, Method: "PATCH", Path: atCheckRun, Times: 1, RetryAfter: 20 * time.Second}),
			told{log: []string{"waiting 20s"}, waits: 20 * time.Second}},
		{"secondary limit on the comment", failing(ghtest.Fault{Kind: ghtest.SecondaryLimit403, Method: "POST", Path: atComments, Times: 1}),
			told{log: []string{"waiting 1m0s"}, waits: time.Minute}},
		{"secondary limit on the comment for ever", failing(ghtest.Fault{Kind: ghtest.SecondaryLimit403, Method: "POST", Path: atComments}),
			told{comment: isFailed, says: []string{"secondary rate limit is used up until 2026-"}, waits: time.Minute, waited: 200 * time.Second}},
	})
}

// TestFaultsOfTellingServer: errors of the server and of the way to it. What may
// have been carried out is looked for before it is sent again.
func TestFaultsOfTellingServer(t *testing.T) {
	meetAll(t, []fault{
		{"500 twice on the comment", failing(ghtest.Fault{Kind: ghtest.Status500, Method: "POST", Path: atComments, Times: 2}), told{}},
		{"500 on the comment that is there all the same", failing(ghtest.Fault{Kind: ghtest.Status500, Method: "POST", Path: atComments, Times: 1, CarriedOut: true}), told{}},
		{"500 on the check run that is there all the same", failing(ghtest.Fault{Kind: ghtest.Status500, Method: "POST", Path: atCheckRuns, Times: 1, CarriedOut: true}), told{}},
		{"502 for ever on everything that writes", failing(ghtest.Fault{Kind: ghtest.Status502, Method: "POST"}, ghtest.Fault{Kind: ghtest.Status502, Method: "PATCH"}),
			told{check: isFailed, comment: isFailed, says: []string{"502"}, requests: 40, waited: time.Minute}},
		{"no answer to the comment that is there all the same", slowly(failing(ghtest.Fault{Kind: ghtest.NoAnswer, Method: "POST", Path: atComments, Times: 1, CarriedOut: true})), told{}},
		{"no answer to completing the check run", slowly(failing(ghtest.Fault{Kind: ghtest.NoAnswer, Method: "PATCH", Path: atCheckRun, Times: 1})), told{}},
		{"reset in the answer to the comment", failing(ghtest.Fault{Kind: ghtest.Reset, Method: "POST", Path: atComments, Times: 1}), told{}},
		{"reset in the answer to the new check run", failing(ghtest.Fault{Kind: ghtest.Reset, Method: "POST", Path: atCheckRuns, Times: 1}), told{}},
		{"reset in the answer to completing the check run", failing(ghtest.Fault{Kind: ghtest.Reset, Method: "PATCH", Path: atCheckRun, Times: 1}), told{}},
		{"a page of HTML for the comment", failing(ghtest.Fault{Kind: ghtest.HTMLPage, Method: "POST", Path: atComments, Times: 1}), told{}},
		{"the repository was renamed", failing(ghtest.Fault{Kind: ghtest.Moved}), told{requests: 40}},
		{"the server has no check runs", failing(noCheckRuns()...), told{check: byStatus}},
	})
}

// TestFaultsOfConversations: whatever others do to it, there is one comment of ours
// at most, and none that is older than what is there.
func TestFaultsOfConversations(t *testing.T) {
	meetAll(t, []fault{
		{"the conversation is locked", func(s *site, j *job) { s.gh.EditIssue(j.number(), func(i *ghtest.Issue) { i.Locked = true }) },
			told{comment: isFailed, says: []string{"the conversation is locked"}}},
		{"the conversation is gone", func(s *site, j *job) { s.gh.EditIssue(j.number(), func(i *ghtest.Issue) { i.Gone = true }) },
			told{comment: isFailed, says: []string{"takes no comment"}}},
		{"422 too long", failing(ghtest.Fault{Kind: ghtest.TooLong422, Method: "POST", Path: atComments, Times: 1}), told{}},
		{"422 too long whatever is sent", failing(ghtest.Fault{Kind: ghtest.TooLong422, Method: "POST", Path: atComments}),
			told{comment: isFailed, says: []string{"too long"}}},
		{"422 too long for the check run", failing(ghtest.Fault{Kind: ghtest.TooLong422, Method: "PATCH", Path: atCheckRun, Times: 1}), told{}},
		{"the comment is deleted before its update", (*site).deleteBeforeUpdate, told{}},
		{"the comment is on page 12", (*site).talkOfOthers, told{requests: 45}},
		{"two racing creators and the other is newer", (*site).raceNewer, told{comment: isNewer, log: []string{"which is newer"}}},
		{"two racing creators and the other is older", (*site).raceOlder, told{}},
	})
}

// slowly makes requests time out early. The time is real: it must be long enough
// for a busy machine to answer in, and short.
func slowly(strike func(*site, *job)) func(*site, *job) {
	return func(s *site, j *job) {
		j.timeout = 500 * time.Millisecond
		strike(s, j)
	}
}

// noCheckRuns is a server that has none.
func noCheckRuns() (list []ghtest.Fault) {
	for _, path := range []string{atCheckRuns, atCheckRun, atChecksOf} {
		list = append(list, ghtest.Fault{Kind: ghtest.Status404, Path: path})
	}
	return list
}

// untilFinish is healed before the last step.
func untilFinish(x ghtest.Fault) func(*site, *job) {
	return func(s *site, j *job) {
		s.gh.Fail(x)
		j.between = func(stage string) {
			if stage == "judge" {
				s.gh.Heal()
			}
		}
	}
}

// number is the pull request's.
func (j *job) number() int { return j.event.payload["number"].(int) }

func (s *site) expireToken() {
	s.gh.SetToken(ghtest.DefaultToken, ghtest.Token{App: "github-actions", ExpiresAt: s.gh.Now()})
}

// useUpLimit leaves no request of an hour that has just begun.
func (s *site) useUpLimit() {
	s.gh.Edit(func(st *ghtest.State) {
		st.Limit.Used, st.Limit.Reset = st.Limit.Limit, st.Commits[len(st.Commits)-1].Date.Add(3*time.Hour)
	})
}

// once calls f before the first request of a method and a path.
func (s *site) once(method, path string, f func()) {
	var done atomic.Bool // f may make such requests itself
	s.gh.Before(func(r *http.Request) {
		if s.gh.Matches(r, method, path) && done.CompareAndSwap(false, true) {
			f()
		}
	})
}

// deleteBeforeUpdate has a comment of an earlier workflow run, which somebody
// deletes when it is about to be updated.
func (s *site) deleteBeforeUpdate(j *job) {
	s.do(*j)
	s.once("PATCH", atComment, func() {
		for _, c := range s.gh.Comments(j.number()) {
			s.gh.DeleteComment(c.ID)
		}
	})
}

// talkOfOthers puts the comment of an earlier workflow run behind eleven pages.
func (s *site) talkOfOthers(j *job) {
	n := j.number()
	s.gh.Edit(func(st *ghtest.State) {
		for i := range 1120 {
			st.Comments = append(st.Comments, ghtest.Comment{ID: int64(1 + i), Issue: n, User: "ann", Body: fmt.Sprintf("<!-- perfweir:codec v=1 -->\nword %d", i)})
		}
	})
	s.do(*j)
	if ours := s.comment(&pull{number: n}); ours.ID <= 1120 {
		s.t.Fatalf("our comment is not the last one: %d", ours.ID)
	}
}

// raceNewer lets a newer workflow run of the pull request do all of its job
// between this one's look at the comments and its own comment.
func (s *site) raceNewer(j *job) {
	s.once("POST", atComments, func() { s.do(*j) })
}

// raceOlder is the same with an older one.
func (s *site) raceOlder(j *job) {
	s.run++
	other := *j
	other.runID = s.run
	s.gh.AddRun(ghtest.Run{ID: other.runID, Number: int(other.runID - 4700), Path: ".github/workflows/gate.yml", Event: "pull_request", HeadSHA: s.headOf(j.event)})
	s.once("POST", atComments, func() { s.do(other) })
}
