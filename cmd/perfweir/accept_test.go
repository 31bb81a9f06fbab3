package main

import (
	"strings"
	"testing"
	"time"
)

const acceptLabel = "perfweir-accept"

// Who accepts a regression by label, and when: the same pull request, which makes
// the program cost 30 % more and says in its own suite file that this is accepted.
func TestAcceptByLabel(t *testing.T) {
	accepted := siteSuite + "accepted: [{benchmark: size, metric: cost, limit: 40%, reason: 'checksums, issue 812', expires: 2099-01-01}]\n"
	label := func(who string) func(*site, *pull) {
		return func(s *site, p *pull) { s.gh.Label(p.number, acceptLabel, who) }
	}
	for _, tt := range []struct {
		name    string
		suite   string
		before  func(*site, *pull) // the job that measures
		after   func(*site, *pull) // it and before the job that judges again
		code    int
		verdict string
		comment []string
	}{
		{name: "nobody", suite: accepted, code: 1, verdict: "fail", comment: []string{"accepted cost in benchmark size", "counts after the merge, limit: 40%"}},
		{name: "a writer", suite: accepted, after: label("ann"), code: 0, verdict: "accepted",
			comment: []string{"accepted by ann with the label perfweir-accept", "limit: 40%, until 2099-01-01", "checksums, issue 812"}},
		{name: "a reader", suite: accepted, after: label("eve"), code: 1, verdict: "fail", comment: []string{"the label perfweir-accept does not count: eve, who gave it, may not write"}},
		{name: "a writer, before the push", suite: accepted, before: label("ann"), code: 1, verdict: "fail", comment: []string{"before the commit that is judged was pushed"}},
		{name: "a writer, who took it away", suite: accepted, after: func(s *site, p *pull) {
			label("ann")(s, p)
			s.gh.Unlabel(p.number, acceptLabel, "ann")
		}, code: 1, verdict: "fail", comment: []string{"counts after the merge"}},
		{name: "a writer, and a reader after him", suite: accepted, after: func(s *site, p *pull) { label("ann")(s, p); label("eve")(s, p) }, code: 1, verdict: "fail"},
		{name: "another label", suite: accepted, after: func(s *site, p *pull) { s.gh.Label(p.number, "perfweir", "ann") }, code: 1, verdict: "fail"},
		{name: "a writer, of a looser budget", suite: strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 50%", 1), after: label("ann"), code: 0, verdict: "pass",
			comment: []string{"accepted by ann", "max_regression: 50%; before: max_regression: 5%"}},
		{name: "a writer, of too small a limit", suite: strings.Replace(accepted, "40%", "20%", 1), after: label("ann"), code: 1, verdict: "fail", comment: []string{"beyond what is accepted", "up to 20% until 2099-01-01"}},
		{name: "a writer, of nothing", suite: siteSuite, after: label("ann"), code: 1, verdict: "fail"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.gh.SetPermission("ann", "write")
			s.gh.SetPermission("eve", "read")
			s.nights(1)
			p := s.openPull("main", false, map[string]string{"value": "130\n", "perfweir.yml": tt.suite, "README": tt.name})
			if tt.before != nil {
				s.gh.Advance(time.Minute)
				tt.before(s, p)
				s.gh.Advance(time.Minute)
			}
			s.wants(s.do(job{event: p.event(s)}), 1, "fail")
			if tt.after != nil {
				s.gh.Advance(time.Minute)
				tt.after(s, p)
			}
			o := s.do(job{event: p.event(s), workflow: "rejudge.yml", inputs: map[string]string{"mode": "rejudge", "upload": "false"}})
			s.wants(o, tt.code, tt.verdict)
			contains(t, "comment", s.comment(p).Body, tt.comment...)
			want := map[int]string{0: "success", 1: "failure"}[tt.code]
			if c := s.checkOf(p.head); c.Conclusion != want {
				t.Errorf("check: %s, want %s", c.Conclusion, want)
			}
		})
	}
}

// A new push takes the acceptance away: the label was given to other code.
func TestAcceptanceEndsWithAPush(t *testing.T) {
	s := newSite(t)
	s.gh.SetPermission("ann", "write")
	s.nights(1)
	loose := strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 90%", 1)
	p := s.openPull("main", false, map[string]string{"value": "130\n", "perfweir.yml": loose})
	s.wants(s.do(job{event: p.event(s)}), 1, "fail")
	s.gh.Advance(time.Minute)
	s.gh.Label(p.number, acceptLabel, "ann")
	s.gh.Advance(time.Minute)
	// The same workflow run again measures and finds the label.
	s.wants(s.do(job{event: p.event(s), runID: s.run, attempt: 2, inputs: map[string]string{"upload": "false"}}), 0, "pass")
	s.pushToPull(p, map[string]string{"value": "180\n"})
	s.gh.Advance(time.Minute)
	s.wants(s.do(job{event: p.event(s)}), 1, "fail")
	contains(t, "comment", s.comment(p).Body, "before the commit that is judged was pushed")
}

// An acceptance that is on main counts in pull requests until one takes it away, and
// a quarantine likewise.
func TestExceptionsOfTheComparisonCommit(t *testing.T) {
	for _, entry := range []string{
		"accepted: [{benchmark: size, metric: cost, limit: 40%, reason: 'issue 812', expires: 2099-01-01}]\n",
		"quarantine: [{benchmark: size, reason: 'issue 812', expires: 2099-01-01}]\n",
	} {
		word, _, _ := strings.Cut(entry, ":")
		t.Run(word, func(t *testing.T) {
			s := newSite(t)
			s.commit(map[string]string{"perfweir.yml": siteSuite + entry})
			s.gh.SetBranch("main", s.head())
			s.nights(1)
			p := s.openPull("main", false, map[string]string{"value": "130\n"})
			outcome := map[string]string{"accepted": "accepted", "quarantine": "quarantined"}[word]
			s.wants(s.do(job{event: p.event(s)}), 0, outcome)
			contains(t, "comment", s.comment(p).Body, "issue 812", "2099-01-01")
			if c := s.checkOf(p.head); c.Conclusion != "success" {
				t.Errorf("check: %s", c.Conclusion)
			}
			s.pushToPull(p, map[string]string{"perfweir.yml": siteSuite})
			s.wants(s.do(job{event: p.event(s)}), 1, "fail")
		})
	}
}

// In a merge queue the label of the pull request counts: its workflow run measured
// the head before the label was given.
func TestAcceptInTheMergeQueue(t *testing.T) {
	s := newSite(t)
	s.gh.SetPermission("ann", "write")
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"value": "130\n", "perfweir.yml": strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 90%", 1)})
	s.wants(s.do(job{event: p.event(s)}), 1, "fail")
	s.gh.Advance(time.Minute)
	s.wants(s.do(job{event: s.queue(p)}), 1, "fail")
	s.gh.Label(p.number, acceptLabel, "ann")
	s.gh.Advance(time.Minute)
	s.wants(s.do(job{event: s.queue(p)}), 0, "pass")
}
