package report

import (
	"strings"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// withLooks is a verdict after planned looks: cells that stopped for every reason.
func withLooks() *verdict.Document {
	v := codec()
	v.Outcome, v.ExitCode, v.Reasons = verdict.Fail, 1, []string{"1 of 4 budgets broken"}
	v.Policy.Looks, v.Policy.Family = []int{5, 10, 20}, 5
	stored(v, 1)
	stop := func(name string, seen, look int, why string) int {
		c := cell(v, name, seen)
		v.Cells[c].Planned, v.Cells[c].Look, v.Cells[c].Stop = 20, look, why
		if seen < 20 {
			v.Cells[c].Due = seen
		}
		return c
	}
	finding := func(c, look int, o verdict.Outcome, ratio float64) *verdict.Finding {
		f := relative(v, c, 1, o, 0.8, ratio, 0.02)
		f.Look, f.Level = look, 0.05/3
		f.N = v.Cells[c].Expected()
		v.Comparisons[*f.Comparison].N = [2]int{f.N, 20}
		return f
	}
	fails := stop("gzip/l6/go.mod", 5, 1, "decided")
	v.Cells[fails].Outcome = verdict.Fail
	finding(fails, 1, verdict.Fail, 1.61)
	finding(stop("gzip/l6/builtin.go", 5, 1, "decided"), 1, verdict.Pass, 1.01)
	suspect(v, finding(stop("bzip2/l6/builtin.go", 20, 3, "max_looks"), 3, verdict.Inconclusive, 1.27))
	suspect(v, finding(stop("xz/l6/builtin.go", 10, 2, "futility"), 2, verdict.Inconclusive, 1.28))
	suspect(v, finding(stop("zstd/l6/builtin.go", 10, 2, "time_cap"), 2, verdict.Inconclusive, 1.29))
	v.Counts.Findings = map[verdict.Outcome]int{verdict.Fail: 1, verdict.Pass: 1, verdict.Inconclusive: 3}
	return v
}

// A cell says after which look it stopped and why; where there is one look
// nothing is said.
func TestLooksAreTold(t *testing.T) {
	v := withLooks()
	for _, f := range formats() {
		got := string(render(t, f, v))
		golden(t, "looks."+f.name, []byte(got))
		if f.name != "report.md" {
			continue
		}
		for _, want := range []string{"after look 1 of 3", "after look 3 of 3: the last one", "more repeats would hardly decide",
			"no time for more", "(look 2, futile)", "(look 2, time cap)", "looks: after 5, 10, 20 repeats"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", f.name, want, got)
			}
		}
		if strings.Contains(got, "planned)") {
			t.Errorf("repeats that were not due are missed:\n%s", got)
		}
	}
	// All looks were measured though nothing had to be decided.
	v = withLooks()
	for at, want := range map[*verdict.Cell]string{
		{Look: 1, Stop: "decided", Planned: 20}:           "look 3",
		{Look: 1, Stop: "decided", Planned: 20, Due: 10}:  "look 2",
		{Look: 2, Stop: "futility", Planned: 20}:          "look 3",
		{Look: 1, Stop: "decided", Planned: 24}:           "",
		{Look: 1, Stop: "decided", Planned: 24, Due: 6}:   "look 1",
		{Look: 2, Stop: "time_cap", Planned: 20, Due: 10}: "look 2, time cap",
		{Look: 3, Stop: "max_looks", Planned: 24}:         "look 3",
	} {
		f := facts{v: v}
		if got := f.lookOf(at); got != want {
			t.Errorf("%+v: %q, want %q", at, got, want)
		}
	}
	v.Policy.Looks = []int{20}
	for _, f := range formats() {
		if got := string(render(t, f, v)); strings.Contains(got, "after look") || strings.Contains(got, "(look") {
			t.Errorf("%s tells of looks where there is one:\n%s", f.name, got)
		}
	}
}
