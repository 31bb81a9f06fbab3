package main

import (
	"strings"
	"testing"
)

// Which file decides: what a pull request may and may not do to the suite file
// that judges it. All of them cost 30 % more than the baseline.
func TestWhichFileDecides(t *testing.T) {
	edit := func(old, new string) string {
		text := strings.Replace(siteSuite, old, new, 1)
		if text == siteSuite {
			t.Fatalf("the suite does not hold %q", old)
		}
		return text
	}
	const budgetLine = "  - {metric: cost, max_regression: 5%}\n"
	more := "  - name: extra\n    run: [cat, extra]\n    repeats: 1\n    read: [{metric: cost, pattern: '(\\d+)', unit: B, class: exact}]\n"
	for _, tt := range []struct {
		name    string
		suite   string
		value   string
		code    int
		verdict string
		comment []string
	}{
		{"unchanged", siteSuite, "130\n", 1, "fail", []string{"base "}},
		{"loosens the budget", edit("max_regression: 5%", "max_regression: 50%"), "130\n", 1, "fail",
			[]string{"max_regression: 5% decides until the merge, max_regression: 50% after it"}},
		{"loosens a budget that holds", edit("max_regression: 5%", "max_regression: 50%"), "102\n", 0, "pass", []string{"max_regression: 50%"}},
		{"deletes the budget", edit("budgets:\n"+budgetLine, ""), "130\n", 1, "fail", []string{"max_regression: 5% decides until the merge, and nothing after it"}},
		{"makes it a warning", edit("5%}", "5%, level: warn}"), "130\n", 1, "fail", []string{"level"}},
		{"tightens the budget", edit("max_regression: 5%", "max_regression: 1%"), "103\n", 1, "fail", []string{"max_regression: 1%"}},
		{"adds a budget", edit(budgetLine, budgetLine+"  - {metric: cost, max: 120B}\n"), "125\n", 1, "fail", []string{"max: 120B"}},
		{"adds a cell", edit("budgets:\n", more+"budgets:\n"), "100\n", 0, "pass", []string{"`extra`", "1 new"}},
		{"renames the benchmark, and says what it was", edit("name: size", "name: volume\n    was: [size]"), "130\n", 1, "fail", []string{"`volume`"}},
		{"renames it, says it and loosens the budget", strings.Replace(edit("name: size", "name: volume\n    was: [size]"), "5%", "90%", 1), "130\n", 1, "fail", []string{"`volume`", "90%"}},
		{"renames the benchmark", edit("name: size", "name: volume"), "100\n", 3, "no_data", []string{"`size`", "gone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.nights(1)
			p := s.openPull("main", false, map[string]string{"perfweir.yml": tt.suite, "value": tt.value, "extra": "7\n", "README": tt.name})
			o := s.do(job{event: p.event(s)})
			if o.code() != tt.code || o.outputs["verdict"] != tt.verdict {
				t.Errorf("exit codes %v, verdict %q, want %d and %q\n%s", o.codes, o.outputs["verdict"], tt.code, tt.verdict, o.log)
			}
			contains(t, "comment", s.comment(p).Body, tt.comment...)
		})
	}
}

// The first pull request with a suite file is judged by its own: there is no other.
func TestFirstSuiteFile(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": ""})
	s.gh.SetBranch("main", s.head())
	p := s.openPull("main", false, map[string]string{"perfweir.yml": strings.Replace(siteSuite, "max_regression: 5%", "max: 50B", 1)})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 1, "fail")
	contains(t, "log", o.log, "has no perfweir.yml yet")
}

// A suite file with problems: the check says them, at once and completed.
func TestBrokenSuiteFile(t *testing.T) {
	s := newSite(t)
	p := s.openPull("main", false, map[string]string{"perfweir.yml": strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 5", 1)})
	o := s.do(job{event: p.event(s)})
	if o.codes["prepare"] != 4 || o.codes["finish"] != 4 {
		t.Errorf("exit codes %v\n%s", o.codes, o.log)
	}
	c := s.checkOf(p.head)
	if c.Status != "completed" || c.Conclusion != "failure" {
		t.Errorf("check: %+v", c)
	}
	contains(t, "check", c.Summary, "perfweir.yml:9:36", "max_regression", "5% or 500%")
}

// Which commit decides, in checkouts of all kinds: each of them finds the budget of
// the commit that the change is compared with.
func TestWhichCommitDecides(t *testing.T) {
	strict := strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 1%", 1)
	for _, tt := range []struct {
		name     string
		checkout func(s *site, p *pull)
		want     string // whose budget: 5 % of the fork point, 1 % of main's tip
		why      string
	}{
		{"merge commit checked out", func(s *site, p *pull) {}, "1%", "first parent of GitHub's merge commit"},
		{"head checked out", func(s *site, p *pull) { s.git("checkout", "-q", p.head) }, "5%", "merge base"},
		{"shallow clone of the merge commit", func(s *site, p *pull) { s.shallow() }, "1%", "first parent of GitHub's merge commit"},
		{"shallow clone of the head", func(s *site, p *pull) { s.git("checkout", "-q", p.head); s.shallow() }, "5%", "merge base"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.nights(1)
			p := s.openPull("main", false, map[string]string{"value": "103\n"})
			// main moves on, with a stricter budget, and GitHub merges anew.
			s.git("checkout", "-q", "main")
			s.commit(map[string]string{"perfweir.yml": strict})
			s.gh.SetBranch("main", s.head())
			p.base = s.head()
			s.merge(p, "topic-0")
			e := p.event(s)
			tt.checkout(s, p)
			o := s.do(job{event: e})
			want, verdict := 0, "pass"
			if tt.want == "1%" {
				want, verdict = 1, "fail"
			}
			s.wants(o, want, verdict)
			contains(t, "log", o.log, tt.why)
		})
	}
}

// shallow makes the checkout a clone of depth 1, as actions/checkout does.
func (s *site) shallow() {
	s.t.Helper()
	from, to := s.dir, s.t.TempDir()+"/shallow"
	s.git("clone", "-q", "--depth=1", "file://"+from, to)
	s.dir = to
}

// A stacked pull request goes into a branch that keeps no sessions: those of the
// default branch count, where the branch comes after them. One into a release
// branch is judged by that branch's file.
func TestOtherBaseBranches(t *testing.T) {
	s := newSite(t)
	s.nights(2)
	s.git("checkout", "-q", "-b", "release-2", "main")
	s.commit(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 40%", 1)})
	s.gh.SetBranch("release-2", s.head())
	s.git("checkout", "-q", "main")
	s.commit(map[string]string{"value": "90\n"})
	s.gh.SetBranch("main", s.head())
	s.nights(1) // of a commit that release-2 does not come after

	p := s.openPull("release-2", false, map[string]string{"value": "130\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 0, "pass")
	if o.outputs["baseline-sessions"] != "2" {
		t.Errorf("%s sessions, want the 2 of before the branch\n%s", o.outputs["baseline-sessions"], o.log)
	}
	contains(t, "log", o.log, "no session of branch release-2: looking at main")

	stacked := s.openPull("main", false, map[string]string{"value": "91\n"})
	_ = stacked
	upper := s.openPull("topic-1", false, map[string]string{"value": "120\n"})
	o = s.do(job{event: upper.event(s)})
	s.wants(o, 1, "fail")
	contains(t, "log", o.log, "no session of branch topic-1: looking at main")
}
