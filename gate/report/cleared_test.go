package report

import (
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// withConfirmation is a verdict whose doubts were measured again at looks: one that
// was confirmed at the first, one that was not, one that time left undecided, and one
// that stored sessions had nothing for.
func withConfirmation() *verdict.Document {
	v := codec()
	v.Outcome, v.ExitCode, v.Reasons = verdict.Fail, 1, []string{"1 of 4 budgets broken"}
	stored(v, 1)
	const commit = "77fe0123456789abcdef0123456789abcdef0123"
	v.Confirmation = &verdict.Confirmation{Commit: commit, Family: 4, Looks: []int{6, 10, 20}}
	again := func(name string, look, seen int, stop string) int {
		c := cell(v, name, 10)
		v.Confirmation.Cells = append(v.Confirmation.Cells, verdict.Again{Cell: c, Planned: 20, Seen: seen, Look: look, Stop: stop})
		return c
	}
	finding := func(c, look, n int, o verdict.Outcome, ratio float64) *verdict.Finding {
		f := relative(v, c, 1, o, 0.8, 1.61, 0.02)
		f.Confirmed = &verdict.Confirmed{Commit: commit, Ratio: &ratio, Interval: &[2]float64{ratio * 0.98, ratio * 1.02}, N: n, Look: look, Outcome: o}
		v.Cells[c].Outcome = o
		return f
	}
	finding(again("gzip/l6/go.mod", 1, 6, "decided"), 1, 6, verdict.Fail, 1.6)
	finding(again("gzip/l6/builtin.go", 2, 10, "decided"), 2, 10, verdict.Pass, 1.01)
	suspect(v, finding(again("xz/l6/builtin.go", 2, 10, "time_cap"), 2, 10, verdict.Inconclusive, 1.1))
	fresh := relative(v, again("zstd/l6/builtin.go", 1, 6, "decided"), 1, verdict.Pass, 0.8, 1, 0.02)
	fresh.Look = 1
	v.Comparisons[*fresh.Comparison].Against, v.Comparisons[*fresh.Comparison].N = budget.AgainstBase, [2]int{6, 6}
	v.Counts.Findings = map[verdict.Outcome]int{verdict.Fail: 1, verdict.Pass: 2, verdict.Inconclusive: 1}
	return v
}

// What was measured again says at which look it was settled, or why it was not; with
// one look nothing is said of it.
func TestLooksOfAConfirmationAreTold(t *testing.T) {
	v := withConfirmation()
	for _, f := range formats() {
		got := string(render(t, f, v))
		golden(t, "confirmed."+f.name, []byte(got))
		for _, want := range map[string][]string{
			"report.md":    {"n 6, fail after look 1 of 3", "n 10, pass after look 2 of 3", "n 10, inconclusive after look 2 of 3: no time for more", "4 tests that share the same rate anew, judged after 6, 10, 20 blocks"},
			"junit.xml":    {"n 6, fail after look 1 of 3", "after look 2 of 3: no time for more"},
			"findings.csv": {"1.568,1.6320000000000001,6,1,"},
		}[f.name] {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", f.name, want, got)
			}
		}
	}
	facts := factsOf(v)
	if got := facts.why(&v.Findings[3]); !strings.Contains(got, "after look 1 of 3") {
		t.Errorf("what stored sessions had nothing for: %q", got)
	}
	v.Confirmation.Looks = []int{10}
	for i := range v.Confirmation.Cells {
		v.Confirmation.Cells[i].Look = 0
		v.Findings[i].Look = 0
		if k := v.Findings[i].Confirmed; k != nil {
			k.Look = 0
		}
	}
	for _, f := range formats() {
		if got := string(render(t, f, v)); strings.Contains(got, "after look") {
			t.Errorf("%s tells of looks where there is one:\n%s", f.name, got)
		}
	}
}
