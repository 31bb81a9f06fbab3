package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

// autoSuite has doubts measured again beside the comparison commit.
var autoSuite = strings.Replace(siteSuite, "exclusive:", "gate: {reference: auto}\nexclusive:", 1)

// In a job the comparison commit is known and fetched: what stored sessions leave
// in doubt is measured again in the step that measures, which has no token.
func TestConfirmationInAJob(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": autoSuite})
	s.nights(1)
	// The stored session is 8 % too fast for what main is now.
	s.commit(map[string]string{"value": "108\n"})
	main := s.head()
	s.gh.SetBranch("main", main)

	innocent := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: innocent.event(s)})
	s.wants(o, 0, "pass")
	contains(t, "log", o.log, "measured again beside "+main[:12])
	contains(t, "comment", s.comment(innocent).Body, "not confirmed", "measured again beside", "100 B", "108 B", main[:12])
	contains(t, "summary", o.summary, "not confirmed")
	if c := s.checkOf(innocent.head); c.Conclusion != "success" {
		t.Errorf("check: %+v", c)
	}
	// What the verdict was made from is kept beside the results.
	if again := decoded(t, filepath.Join(o.outputs["upload-path"], "confirm/results.json"), result.Decode); again.Builds["base"].Commit != main {
		t.Errorf("uploaded %+v", again.Builds)
	}
	o = s.do(job{event: innocent.event(s), inputs: map[string]string{"mode": "rejudge"}})
	s.wants(o, 0, "pass")

	guilty := s.openPull("main", false, map[string]string{"value": "130\n"})
	o = s.do(job{event: guilty.event(s)})
	s.wants(o, 1, "fail")
	contains(t, "comment", s.comment(guilty).Body, "measured again beside the base commit "+main[:12]+": 1 of 1 confirmed", "100 B", "130 B")

	// A repeated night shows no doubt, and nothing is measured twice.
	if o := s.do(job{event: s.schedule(), inputs: map[string]string{"mode": "baseline"}}); strings.Contains(o.log, "measured again") {
		t.Errorf("a nightly refresh confirms: %s", o.log)
	}
	if list := s.git("worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("git still lists %s", list)
	}
}

// In a job doubts are measured again look by look, in the step without a token, and the
// step that judges comes to the same from the documents.
func TestConfirmationLooksInAJob(t *testing.T) {
	s := newSite(t)
	noisy := strings.NewReplacer("[cat, value]", "[sh, tool.sh]", "class: exact", "class: noisy, better: lower", "repeats: 1", "repeats: 3").Replace(autoSuite)
	s.commit(map[string]string{"perfweir.yml": noisy, "tool.sh": "cat value\n"})
	s.nights(1)
	// The stored session is 40 % too fast for what main is now.
	s.commit(map[string]string{"value": "140\n"})
	s.gh.SetBranch("main", s.head())

	innocent := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: innocent.event(s)})
	s.wants(o, 0, "pass")
	contains(t, "log", o.log, "judged after 6, 10 and 20 blocks", "look 2 of 3 is not needed")
	contains(t, "comment", s.comment(innocent).Body, "n 6, pass after look 1 of 3")

	// Two of the first six blocks say otherwise: it takes ten.
	guilty := s.openPull("main", false, map[string]string{"tool.sh": "n=${PERFWEIR_OUT##*/r}\ncase ${n%%.*} in 1|2) echo 146 ;; *) echo 155 ;; esac\n"})
	o = s.do(job{event: guilty.event(s)})
	s.wants(o, 1, "fail")
	contains(t, "log", o.log, "look 2 of 3: size, size@base go on, 8 runs", "look 3 of 3 is not needed")
	contains(t, "comment", s.comment(guilty).Body, "n 10, fail after look 2 of 3")
	if again := decoded(t, filepath.Join(o.outputs["upload-path"], "confirm/results.json"), result.Decode); again.Plan.Reached != 2 || again.Cells[0].Runs.Len() != 10 {
		t.Errorf("uploaded look %d of %d runs", again.Plan.Reached, again.Cells[0].Runs.Len())
	}
	s.wants(s.do(job{event: guilty.event(s), inputs: map[string]string{"mode": "rejudge"}}), 1, "fail")
}

// Where the suite file says how to build and not what to compare with, doubts are
// measured again; a file without a build command, or of stored, has none of it.
func TestConfirmationByDefault(t *testing.T) {
	build := func(keys string) string { return strings.Replace(siteSuite, "benchmarks:", keys+"\nbenchmarks:", 1) }
	for _, tt := range []struct {
		name, suite, change string
		again               bool
	}{
		{"a build command", build("build: [sh, build.sh]"), "", true},
		{"a build command, and stored", build("build: [sh, build.sh]\ngate: {reference: stored}"), "", false},
		{"no build command", siteSuite, "", false},
		{"a change cannot bring it", siteSuite, build("build: [sh, build.sh]"), false},
		{"a change cannot end it", build("build: [sh, build.sh]"), siteSuite, true},
		{"a change cannot say stored", build("build: [sh, build.sh]"), build("build: [sh, build.sh]\ngate: {reference: stored}"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.commit(map[string]string{"perfweir.yml": tt.suite, "build.sh": "true\n"})
			s.nights(1)
			s.commit(map[string]string{"value": "108\n"}) // the stored session is 8 % too fast
			s.gh.SetBranch("main", s.head())
			files := map[string]string{"README": "words\n"}
			if tt.change != "" {
				files["perfweir.yml"] = tt.change
			}
			p := s.openPull("main", false, files)
			o := s.do(job{event: p.event(s)})
			if tt.again {
				s.wants(o, 0, "pass")
			} else {
				s.wants(o, 1, "fail")
			}
			if again := strings.Contains(o.log, "measured again beside"); again != tt.again {
				t.Errorf("measured again: %t, want %t\n%s", again, tt.again, o.log)
			}
			// The job that judges from what was uploaded comes to the same.
			if r := s.do(job{event: p.event(s), inputs: map[string]string{"mode": "rejudge"}}); r.code() != o.code() {
				t.Errorf("judged again: exit code %d, was %d", r.code(), o.code())
			}
		})
	}
}

// The first pull request of a suite that says how to build is judged beside its base.
func TestFirstPullWithABuild(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "benchmarks:", "build: [sh, build.sh]\nbenchmarks:", 1), "build.sh": "true\n"})
	s.gh.SetBranch("main", s.head())
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 1, "fail")
	contains(t, "comment", s.comment(p).Body, "130 B", "100 B of base")
	p = s.openPull("main", false, map[string]string{"README": "words\n"})
	s.wants(s.do(job{event: p.event(s)}), 0, "pass")
}

// The input base asks for all of it beside that commit, whatever the default is.
func TestBaseByNameInAJob(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": strings.Replace(siteSuite, "benchmarks:", "build: [sh, build.sh]\nbenchmarks:", 1), "build.sh": "true\n"})
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	o := s.do(job{event: p.event(s), inputs: map[string]string{"base": "main"}})
	s.wants(o, 1, "fail")
	contains(t, "comment", s.comment(p).Body, "100 B of base", "130 B", "beside base commit")
	if strings.Contains(o.log, "measured again") {
		t.Errorf("%s", o.log)
	}
}

// The comparison commit's suite file says whether doubts are measured again: a
// change cannot choose it for itself.
func TestConfirmationIsTheBasesToChoose(t *testing.T) {
	s := newSite(t)
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"value": "108\n", "perfweir.yml": autoSuite})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 1, "fail")
	if strings.Contains(o.log, "measured again") {
		t.Errorf("%s", o.log)
	}
}

// The input base measures that commit beside head, stored sessions have no say.
func TestBaseInAJob(t *testing.T) {
	s := newSite(t)
	base := s.head()
	s.nights(1)
	p := s.openPull("main", false, map[string]string{"value": "130\n"})
	o := s.do(job{event: p.event(s), inputs: map[string]string{"base": base}})
	s.wants(o, 1, "fail")
	contains(t, "comment", s.comment(p).Body, "100 B of base", "130 B", "beside base commit "+base[:12])
	// An artifact with both builds is a baseline as any other: head's cells are.
	s.git("checkout", "-q", "main")
	data, err := os.ReadFile(o.outputs["results-path"])
	s.check(err)
	contains(t, "results", string(data), `"build":"base"`)
}

// A comparison commit that does not build is told; stored sessions decide.
func TestUnbuildableBaseInAJob(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": strings.Replace(autoSuite, "benchmarks:", "build: [sh, build.sh]\nbenchmarks:", 1), "build.sh": "true\n"})
	s.nights(1)
	broken := s.commit(map[string]string{"build.sh": "echo no compiler here >&2; exit 3\n"})
	s.gh.SetBranch("main", broken)
	p := s.openPull("main", false, map[string]string{"build.sh": "true\n", "value": "130\n"})
	o := s.do(job{event: p.event(s)})
	s.wants(o, 1, "fail")
	contains(t, "comment", s.comment(p).Body, "the base commit "+broken[:12]+" could not be built", "no compiler here", "stored sessions decide")
}
