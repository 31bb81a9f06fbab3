package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/ghtest"
)

// One test a fault, with what must come of it in the table, as rules say it and
// not as the program happens to do it:
//
//   - Publishing never changes the verdict or the exit code. Every fault of
//     telling is met by a pull request that passes and by one that breaks a budget.
//   - A channel that fails costs itself alone, and log and summary say which it
//     was and, where a permission is missing, its name.
//   - "Could not ask" is not "none": a baseline that could not be asked for is
//     no_data and exit code 3, one that is not there is no_baseline and 0.
//   - What cannot be used is not taken, with the reason, and the next older session is.
//   - Waits and requests are bounded.
//   - No token in a log, a summary, a comment, a check; never more than one
//     comment; no check stays in progress, save where GitHub lets nobody complete it.
type fault struct {
	name   string
	strike func(s *site, j *job)
	want   told
}

// told is what must come of a fault.
type told struct {
	come           come
	check, comment way
	says           []string      // log and summary, and the comment of a fault of asking
	log            []string      // log alone
	rejects        []string      // why sessions are not taken: summary and comment
	sessions       int           // that are compared with; 0: two where any is, else none
	requests       int           // most, of all steps; 0: 30
	waits, waited  time.Duration // least and most that is waited; 0 as the most: ten seconds
}

// come is what the job comes to.
type come string

const (
	asEver       come = "" // as without the fault: the sessions of main are compared with
	couldNotAsk  come = "could not ask"
	none         come = "none"
	incomparable come = "not comparable"
	unprepared   come = "unprepared" // the step that prepares fails, and the last one completes the check
)

// verdicts are what a job comes to for a pull request that measures 130 bytes
// where main has 100, and for one that measures the same.
func verdicts(c come, slow bool) (code int, verdict, conclusion string) {
	switch c {
	case couldNotAsk, unprepared:
		return 3, "no_data", "failure"
	case none:
		return 0, "no_baseline", "neutral"
	case incomparable:
		return 0, "not_comparable", "neutral"
	}
	if slow {
		return 1, "fail", "failure"
	}
	return 0, "pass", "success"
}

// way is what becomes of a channel.
type way string

const (
	isTold   way = ""         // it tells the verdict
	isFailed way = "failed"   // nothing is there, and log and summary say that it failed
	isOpen   way = "open"     // the check stays in progress: nobody may complete it, which is said
	byStatus way = "status"   // a commit status stands in for the check
	isAbsent way = "not told" // nothing is there, and nothing failed
	isLate   way = "late"     // the check tells the outcome, in the last step
	isNewer  way = "newer"    // the one comment tells of the next workflow run
)

// faultSite has two sessions of main and two pull requests: one that breaks the
// budget, and one that does not.
type faultSite struct {
	*site
	slow, same *pull
}

func newFaultSite(t *testing.T) *faultSite {
	f := &faultSite{site: newSite(t)}
	f.nights(2)
	f.slow = f.openPull("main", false, map[string]string{"value": "130\n"})
	f.same = f.openPull("main", false, map[string]string{"README": "words\n"})
	return f
}

// copy is the same site for another test.
func (f *faultSite) copy(t *testing.T) *faultSite {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.CopyFS(dir, os.DirFS(f.dir))
	}
	if err != nil {
		t.Fatal(err)
	}
	now := f.gh.Now()
	gh := ghtest.New(t, func(o *ghtest.Options) { o.State, o.Now = f.gh.State(), func() time.Time { return now } })
	return &faultSite{site: &site{t: t, gh: gh, dir: dir, run: f.run, machine: f.machine}, slow: f.slow, same: f.same}
}

// gate is a job of a pull request, whose merge commit is checked out.
func (s *site) gate(p *pull) job {
	s.t.Helper()
	s.git("checkout", "-q", "--detach", p.mergeCommitted)
	return job{event: p.event(s)}
}

// meet lets the fault strike the job of a pull request, and holds what comes of it
// against the table.
func (f *faultSite) meet(t *testing.T, x fault, slow bool) {
	s, p := f.copy(t), f.same
	if slow {
		p = f.slow
	}
	j := s.gate(p)
	if x.strike != nil {
		x.strike(s.site, &j)
	}
	s.waited = 0
	o := s.do(j)
	code, verdict, conclusion := verdicts(x.want.come, slow)
	if o.code() != code || o.outputs["verdict"] != verdict || o.outputs["exit-code"] != itoa(code) {
		t.Errorf("exit codes %v and outputs %v, want %d and %q", o.codes, o.outputs, code, verdict)
	}
	words := strings.ReplaceAll(verdict, "_", " ")
	if x.want.come == unprepared {
		words = "no verdict"
	}
	contains(t, "summary", o.summary, words)
	s.wantCheck(p, x.want.check, conclusion, o)
	s.wantComment(p, x.want, words, o)
	contains(t, "log", o.log, x.want.log...)
	s.wantSessions(x.want, p, o)
	contains(t, "log", o.log, x.want.says...)
	contains(t, "summary", o.summary, x.want.says...)
	s.wantBounds(x.want, o)
	s.wantSound(p, o)
	if t.Failed() {
		t.Logf("log:\n%s\nsummary:\n%s", o.log, o.summary)
	}
}

// wantCheck asserts what became of the check on the pull request's head.
func (s *site) wantCheck(p *pull, w way, conclusion string, o *outcome) {
	s.t.Helper()
	var ours []ghtest.CheckRun
	for _, c := range s.gh.CheckRuns() {
		if c.HeadSHA == p.head && strings.Contains(c.ExternalID, "run="+itoa(int(o.runID))+" ") {
			ours = append(ours, c)
		}
	}
	most := 1
	if w == isFailed || w == byStatus || w == isAbsent {
		most = 0
	}
	if len(ours) != most {
		s.t.Fatalf("%d check runs of the job, want %d: %+v", len(ours), most, ours)
	}
	switch w {
	case isLate:
		contains(s.t, "the check's summary", ours[0].Summary, "in the job's summary")
		if c := ours[0]; c.Status != "completed" || c.Conclusion != conclusion {
			s.t.Errorf("the check is %s %s, want %s: %s", c.Status, c.Conclusion, conclusion, c.Title)
		}
	case isTold:
		c := ours[0]
		if c.Status != "completed" || c.Conclusion != conclusion {
			s.t.Errorf("the check is %s %s, want %s: %s", c.Status, c.Conclusion, conclusion, c.Title)
		}
		if n := len(c.Annotations); conclusion == "failure" && o.outputs["verdict"] == "fail" && n != 1 {
			s.t.Errorf("%d annotations, want 1: %+v", n, c.Annotations)
		}
	case isOpen:
		if ours[0].Status != "in_progress" {
			s.t.Errorf("the check: %+v", ours[0])
		}
		fallthrough
	case isFailed:
		contains(s.t, "log", o.log, "check: failed")
		contains(s.t, "summary", o.summary, "not told: check: failed")
	case byStatus:
		s.wantStatus(p, map[string]string{"neutral": "success"}[conclusion], conclusion)
	}
	if w != isTold && o.outputs["verdict"] == "fail" {
		contains(s.t, "log", o.log, "::error ") // the annotation that no check run carries
	}
}

// wantStatus asserts that the newest commit status tells the verdict.
func (s *site) wantStatus(p *pull, state, conclusion string) {
	s.t.Helper()
	var newest ghtest.Status
	for _, c := range s.gh.Statuses() {
		if c.SHA == p.head {
			newest = c
		}
	}
	if newest.Context != "perfweir / codec" || newest.State != orText(state, conclusion) {
		s.t.Errorf("status: %+v, want %s", newest, orText(state, conclusion))
	}
}

// wantComment asserts what became of the comment.
func (s *site) wantComment(p *pull, want told, words string, o *outcome) {
	s.t.Helper()
	switch want.comment {
	case isNewer:
		contains(s.t, "comment", s.comment(p).Body, " run="+itoa(int(o.runID)+1)+" ")
		return
	case isTold:
		body := s.comment(p).Body
		contains(s.t, "comment", body, " run="+itoa(int(o.runID))+" ")
		contains(s.t, "comment", body, words)
		if want.come != asEver {
			contains(s.t, "comment", body, want.says...)
		}
		return
	}
	for _, c := range s.gh.Comments(p.number) {
		if strings.Contains(c.Body, "perfweir:codec") {
			s.t.Errorf("there is a comment: %+v", c)
		}
	}
	if want.comment == isFailed {
		contains(s.t, "log", o.log, "comment: failed")
		contains(s.t, "summary", o.summary, "not told: comment: failed")
	}
}

// wantSessions asserts what was compared with, and that it is said why not more.
func (s *site) wantSessions(want told, p *pull, o *outcome) {
	s.t.Helper()
	n := want.sessions
	if n == 0 && want.come == asEver {
		n = 2
	}
	if got := o.outputs["baseline-sessions"]; got != itoa(n) {
		s.t.Errorf("%s sessions are compared with, want %d", got, n)
	}
	if len(want.rejects) == 0 {
		return
	}
	contains(s.t, "summary", o.summary, want.rejects...)
	contains(s.t, "comment", s.comment(p).Body, want.rejects...)
}

// wantBounds asserts that the job neither asked nor waited for ever.
func (s *site) wantBounds(want told, o *outcome) {
	s.t.Helper()
	requests, most := want.requests, want.waited
	if requests == 0 {
		requests = 30
	}
	if most == 0 {
		most = want.waits + 10*time.Second
	}
	if o.request > requests {
		s.t.Errorf("%d requests, want at most %d", o.request, requests)
	}
	if s.waited < want.waits || s.waited > most {
		s.t.Errorf("%v waited, want %v to %v", s.waited, want.waits, most)
	}
}

// wantSound asserts what holds whatever went wrong.
func (s *site) wantSound(p *pull, o *outcome) {
	s.t.Helper()
	places := map[string]string{"the log": o.log, "the summary": o.summary}
	ours := 0
	for _, c := range s.gh.State().Comments {
		places["a comment"] += c.Body
		if c.Issue == p.number && c.User == "github-actions[bot]" {
			ours++
		}
	}
	if ours > 1 {
		s.t.Errorf("%d comments of ours", ours)
	}
	for _, c := range s.gh.CheckRuns() {
		places["a check"] += c.Title + c.Summary + c.Text
	}
	for where, text := range places {
		if strings.Contains(text, ghtest.DefaultToken) {
			s.t.Errorf("%s holds the token", where)
		}
	}
}

// meetAll lets every fault of a table strike a job that breaks a budget. Where it
// costs a channel, a job that passes meets it, too. They go one after another: two
// jobs in one process would hold each other's locks.
func meetAll(t *testing.T, faults []fault) {
	f := newFaultSite(t)
	for _, x := range faults {
		t.Run(x.name, func(t *testing.T) { f.meet(t, x, true) })
		if x.want.come == asEver && (x.want.check != isTold || x.want.comment != isTold) {
			t.Run(x.name+", passing", func(t *testing.T) { f.meet(t, x, false) })
		}
	}
}

// failing is a strike of GitHub's own.
func failing(faults ...ghtest.Fault) func(*site, *job) {
	return func(s *site, _ *job) {
		for _, x := range faults {
			s.gh.Fail(x)
		}
	}
}

// afterMeasuring strikes when the step that measures has ended.
func afterMeasuring(strike func(s *site)) func(*site, *job) {
	return func(s *site, j *job) {
		j.between = func(stage string) {
			if stage == "measure" {
				strike(s)
			}
		}
	}
}
