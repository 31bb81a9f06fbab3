package main

import (
	"strings"
	"testing"
)

// A label starts another workflow, which judges again what was measured: the
// budget was loosened on main since.
func TestRejudge(t *testing.T) {
	s := newSite(t)
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	s.wants(s.do(job{event: p.event(s)}), 1, "fail")
	told := s.comment(p)
	s.git("checkout", "-q", "main")
	s.commit(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "max_regression: 5%", "max_regression: 50%", 1)})
	s.gh.SetBranch("main", s.head())
	p.base = s.head()
	s.merge(p, "topic-0")
	o := s.do(job{event: p.event(s), workflow: "rejudge.yml", inputs: map[string]string{"mode": "rejudge", "upload": "false"}})
	s.wants(o, 0, "pass")
	if strings.Contains(o.log, "1 run and") {
		t.Errorf("something was measured:\n%s", o.log)
	}
	again := s.comment(p)
	contains(t, "comment", again.Body, "resolved", "130 B")
	if again.ID != told.ID {
		t.Errorf("another comment: %+v", again)
	}
	if c := s.checkOf(p.head); c.Status != "completed" || c.Conclusion != "success" {
		t.Errorf("check: %+v", c)
	}
}
