package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
)

// looksSuite has two benchmarks whose values a file tells; class noisy, so that
// they are tested.
const looksSuite = `version: 1
suite: codec
defaults: {repeats: {looks: [5, 10, 20]}}
benchmarks:
  - {name: size, run: [cat, value], read: [{metric: cost, pattern: '(\d+)', unit: B, better: lower}]}
budgets:
  - {metric: cost, max_regression: 5%}
baseline: {from: github, max_age: 30d}
exclusive: none
`

func (s *site) results(o *outcome) *result.Document {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(o.outputs["out"], "results.json"))
	s.check(err)
	doc, err := result.Decode(bytes.NewReader(data))
	s.check(err)
	return doc
}

// In a job the step that measures goes on or stops by what was prepared before;
// the step that judges comes to the same. What becomes a baseline is whole.
func TestLooksInAJob(t *testing.T) {
	s := newSite(t)
	s.commit(map[string]string{"perfweir.yml": looksSuite})
	s.gh.SetBranch("main", s.head())
	first := s.openPull("main", false, map[string]string{"README": "words\n"})
	o := s.do(job{event: first.event(s)})
	s.wants(o, 0, "no_baseline")
	if d := s.results(o); d.Cells[0].Runs.Len() != 20 || d.Plan.Reached != 0 {
		t.Errorf("without a baseline %d runs, reached %d: want all 20", d.Cells[0].Runs.Len(), d.Plan.Reached)
	}

	s.nights(1)
	again := s.do(job{event: s.schedule(), inputs: map[string]string{"mode": "baseline"}})
	if d := s.results(again); d.Cells[0].Runs.Len() != 20 {
		t.Errorf("a night has %d runs, want all 20", d.Cells[0].Runs.Len())
	}

	for _, tt := range []struct {
		value, verdict string
		code           int
	}{{"100\n", "pass", 0}, {"150\n", "fail", 1}} {
		p := s.openPull("main", false, map[string]string{"value": tt.value, "README": tt.verdict})
		o = s.do(job{event: p.event(s)})
		s.wants(o, tt.code, tt.verdict)
		d := s.results(o)
		if n := d.Cells[0].Runs.Len(); n != 5 || d.Plan.Reached != 1 {
			t.Errorf("%s: %d runs, reached %d: want 5 of the first look\n%s", tt.verdict, n, d.Plan.Reached, o.log)
		}
		if !strings.Contains(o.log, "look 2 of 3 is not needed") {
			t.Errorf("%s: the log does not say that look 2 is not needed:\n%s", tt.verdict, o.log)
		}
	}

	// A job that only measures leaves the decision to the one that judges.
	p := s.openPull("main", false, map[string]string{"README": "legs\n"})
	o = s.do(job{event: p.event(s), inputs: map[string]string{"mode": "run"}})
	if d := s.results(o); d.Cells[0].Runs.Len() != 20 {
		t.Errorf("mode run has %d runs, want all 20", d.Cells[0].Runs.Len())
	}
}
