package main

import (
	"strings"
	"testing"
)

// V18: the anchor's session is far older than those that are compared with. It is
// asked for by its commit, and a creep since then is told and stops nobody.
func TestAnchorOnGitHub(t *testing.T) {
	s := newSite(t)
	anchored := strings.ReplaceAll(siteSuite, "max_age: 30d", "max_age: 30d, sessions: 2, anchor: v1.0")
	s.commit(map[string]string{"perfweir.yml": anchored})
	s.gh.SetBranch("main", s.head())
	s.git("tag", "v1.0")
	early := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: early.event(s)})
	s.wants(o, 0, "no_baseline")
	contains(t, "summary", o.summary, "anchor v1.0: missing: no stored session is of")

	s.git("checkout", "-q", "main")
	s.nights(1)
	for _, value := range []string{"104\n", "108\n"} {
		s.commit(map[string]string{"value": value})
		s.gh.SetBranch("main", s.head())
		s.nights(16)
	}
	p := s.openPull("main", false, map[string]string{"README": "other words\n"})
	o = s.do(job{event: p.event(s)})
	s.wants(o, 0, "pass")
	contains(t, "summary", o.summary, "anchor v1.0 (", "100 B of v1.0", "+8.0 %", "creep since v1.0: no single step was beyond the budget")
	if o.outputs["baseline-sessions"] != "2" || o.request > 30 {
		t.Errorf("%s sessions, %d requests", o.outputs["baseline-sessions"], o.request)
	}
}
