package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// nights are stored sessions at the given levels, the oldest first, of cells a, b
// and c alike; the current session is at level now. Session ids are n0, n1, ...
func nights(now float64, levels ...float64) (*result.Document, []*result.Document) {
	make := func(id string, age int, level float64) *result.Document {
		d := doc(id, age)
		for i, name := range []string{"a", "b", "c"} {
			cell(d, name, "", column{"wall_time": around(level*(1+.004*float64((age*7+i*3)%5-2)), .01, 10, age+i)})
		}
		return d
	}
	var old []*result.Document
	for i, l := range levels {
		old = append(old, make(fmt.Sprint("n", i), len(levels)-i, l))
	}
	slices.Reverse(old)
	return make("now", 0, now), old
}

// decisions are the outcomes of the suite's own findings: all alike, or told one by one.
func decisions(v *verdict.Document) string {
	var out []string
	for i := range v.Findings {
		f := &v.Findings[i]
		if v.Budgets[f.Budget].Implicit {
			continue
		}
		s := string(f.Outcome)
		if f.Grade != "" {
			s = f.Grade
		}
		out = append(out, strings.Join(append([]string{s}, f.Reasons...), " "))
	}
	return strings.Join(slices.Compact(out), ", ")
}

// sifted is what a verdict says was left out, for cell a.
func sifted(v *verdict.Document) string {
	var out []string
	for _, c := range v.Baseline.Cuts {
		if c.Cell == 0 {
			out = append(out, fmt.Sprintf("%s at %s x%.1f -%d", c.Kind, c.Session, c.Ratio, c.Left))
		}
	}
	for _, o := range v.Baseline.Odd {
		if o.Cell == 0 {
			out = append(out, fmt.Sprintf("odd %s x%.1f", o.Session, o.Ratio))
		}
	}
	return strings.Join(out, ", ")
}

// What stored sessions show of themselves, and what follows under a budget of 10 %.
func TestHistories(t *testing.T) {
	calm := []float64{1, 1, 1, 1, 1, 1}
	with := func(tail ...float64) []float64 { return append(slices.Clone(calm), tail...) }
	for _, tt := range []struct {
		name     string
		sessions []float64
		now      float64
		sifted   string
		want     string
	}{
		{"calm", calm, 1, "", "pass"},
		{"calm, slower", calm, 1.3, "", "fail"},
		{"V17 the newest is an outlier for the better", with(.51), 1, "odd n6 x0.5", "pass"},
		{"V17 of few sessions", []float64{1, 1, 1, .51}, 1, "odd n3 x0.5", "pass"},
		{"V17 and a slower one is found all the same", with(.51), 1.3, "odd n6 x0.5", "fail"},
		{"V16 one session does not move the reference: nobody has to keep up with it", with(.7), .98, "odd n6 x0.7", "pass"},
		{"V16 nor does it excuse", with(.7), 1.3, "odd n6 x0.7", "fail"},
		{"V16 two sessions do", with(.7, .7), 1, "step at n6 x0.7 -6", "fail"},
		{"V16 and hold", with(.7, .7), .7, "step at n6 x0.7 -6", "pass"},
		{"two that disagree are no level", with(.5, 2), 1, "odd n6 x0.5, odd n7 x2.0", "pass"},
		{"an old outlier", []float64{1, 1, 3, 1, 1, 1, 1}, 1, "odd n2 x3.0", "pass"},
		{"an old outlier, slower", []float64{1, 1, 3, 1, 1, 1, 1}, 1.3, "odd n2 x3.0", "fail"},
		{"one slow session may be a new level: this change did not make it", with(1.5), 1.5, "odd n6 x1.5", "suspect newest_session_alone"},
		{"but not what goes beyond it", with(1.5), 2, "odd n6 x1.5", "fail large_jump"},
		{"and who is as before passes", with(1.5), 1, "odd n6 x1.5", "pass"},
		{"a step up, five sessions ago", with(1.2, 1.2, 1.2, 1.2, 1.2), 1.2, "step at n6 x1.2 -6", "pass"},
		{"a step up, slower", with(1.2, 1.2, 1.2, 1.2, 1.2), 1.5, "step at n6 x1.2 -6", "fail"},
		{"two steps: only the newest level counts", with(1.5, 1.5, 1.5, 2, 2, 2, 2, 2), 2.6, "step at n9 x1.3 -9", "fail"},
		{"up and back again is a level of its own", []float64{1, 1, 1, 1.5, 1.5, 1, 1, 1, 1, 1}, 1, "step at n5 x0.7 -5", "pass"},
		{"too few to tell", []float64{1, .51}, 1, "", "unproven"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cur, old := nights(tt.now, tt.sessions...)
			v := evaluate(t, cur, stored(old...), regression("wall_time", .1))
			if got := sifted(v); got != tt.sifted {
				t.Errorf("left out %q, want %q", got, tt.sifted)
			}
			if got := decisions(v); got != tt.want {
				t.Errorf("%s, want %s (%s)", got, tt.want, v.Findings[len(v.Findings)-1].Message)
			}
			if v.Counts.Cuts != len(v.Baseline.Cuts) || v.Counts.Odd != len(v.Baseline.Odd) {
				t.Errorf("counts %+v", v.Counts)
			}
			c := v.Comparisons[0]
			if cut, odd := slices.Contains(c.Doubts, doubtPoolCut), slices.Contains(c.Doubts, doubtOddSession); cut != strings.Contains(tt.sifted, "step") || odd != strings.Contains(tt.sifted, "odd") {
				t.Errorf("doubts %v", c.Doubts)
			}
		})
	}
}

// Where larger is better the same holds the other way round, and instruction
// counts, which decide without a test, wait as well.
func TestHistoriesOfOtherMetrics(t *testing.T) {
	build := func(metric string, now float64, levels ...float64) *verdict.Document {
		add := func(id string, age int, level float64) *result.Document {
			d := doc(id, age)
			d.Metrics["instructions"] = result.Metric{Unit: "1", Better: result.Lower, Class: result.Counted}
			cell(d, "a", "", column{metric: around(1000*level, .0002, 6, age)})
			return d
		}
		var old []*result.Document
		for i, l := range levels {
			old = append(old, add(fmt.Sprint("n", i), len(levels)-i, l))
		}
		slices.Reverse(old)
		return evaluate(t, add("now", 0, now), stored(old...), regression(metric, .1))
	}
	for _, tt := range []struct {
		metric string
		now    float64
		last   float64
		want   string
	}{
		{"throughput", 1, 2, "pass"}, {"throughput", .7, .7, "suspect newest_session_alone"}, {"throughput", .5, .7, "fail"},
		{"instructions", 1, .5, "pass"}, {"instructions", 1.4, 1.4, "suspect newest_session_alone"}, {"instructions", 1.4, .5, "fail"}, {"instructions", 1.4, 1.2, "fail"},
	} {
		v := build(tt.metric, tt.now, 1, 1, 1, 1, 1, 1, tt.last)
		if got := decisions(v); got != tt.want {
			t.Errorf("%s %g after %g: %s, want %s", tt.metric, tt.now, tt.last, got, tt.want)
		}
	}
}

// accepting marks the newest n of stored sessions as measured by a suite file that has
// the entry.
func accepting(x budget.Exception, n int, sessions []baseline.Stored) {
	for i := range sessions {
		if sessions[i].Doc.Suite.Accepted = nil; i < n {
			sessions[i].Doc.Suite.Accepted = []string{"other", x.Key()}
		}
	}
}

// A level that was left on purpose is left, from the first session behind it on, and
// when its entry has expired; other metrics and cells keep theirs.
func TestAcceptedCut(t *testing.T) {
	cur, old := nights(1.08, 1, 1, 1, 1, 1.08)
	in := Input{Current: cur, Baseline: stored(old...), Budgets: []budget.Budget{regression("wall_time", .02)}, Policy: DefaultPolicy()}
	in.Policy.Allowance = nil
	judge := func(x budget.Exception, behind int) string {
		t.Helper()
		x.Limit, x.Reason, x.Expires = .001, "checksums", "2020-01-01"
		in.Accepted = []budget.Exception{x}
		accepting(x, behind, in.Baseline.Sessions)
		v, err := Evaluate(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range v.Baseline.Cuts {
			if c.Kind != verdict.CutAccepted || c.Why != "accepted: checksums" || c.Session != "n4" || c.Left != 4 || math.Abs(c.Ratio-1.08) > .02 {
				t.Errorf("%+v", c)
			}
		}
		return fmt.Sprintf("%d %s", len(v.Baseline.Cuts), strings.ReplaceAll(decisions(v), " acceptance_expired", ""))
	}
	for _, tt := range []struct {
		entry  budget.Exception
		behind int
		want   string
	}{
		{budget.Exception{Metric: "wall_time"}, 1, "3 pass, unproven, pass"},
		{budget.Exception{Metric: "wall_time", Benchmark: "b"}, 1, "1 suspect, unproven, suspect"},
		{budget.Exception{Metric: "wall_time", Cells: "*"}, 1, "3 pass, unproven, pass"},
		{budget.Exception{Metric: "cpu_time"}, 1, "0 suspect"},
		{budget.Exception{Metric: "wall_time", Part: "gpu0"}, 1, "0 suspect"},
		{budget.Exception{Metric: "wall_time"}, 0, "0 suspect"}, // nothing is stored of the new level yet
		{budget.Exception{Metric: "wall_time"}, 5, "0 suspect"}, // all are behind it
	} {
		got := judge(tt.entry, tt.behind)
		if got != tt.want {
			t.Errorf("%+v, %d behind: %s, want %s", tt.entry, tt.behind, got, tt.want)
		}
	}
}

// Sessions that measured something else are not compared with, which is said where
// others are.
func TestRedefinedSessionsAreTold(t *testing.T) {
	cur, old := nights(1, 1, 1, 1, 1)
	for _, d := range old[2:] {
		d.Cells[0].Digest = "sha256:other"
	}
	v := evaluate(t, cur, stored(old...), regression("wall_time", .25))
	if got := sifted(v); got != "definition at n2 x0.0 -2" || len(v.Baseline.Cuts) != 1 || !strings.HasPrefix(v.Baseline.Cuts[0].Why, "its definition changed") {
		t.Errorf("%s: %+v", got, v.Baseline.Cuts)
	}
	if v.Comparisons[0].Sessions != 2 || v.Comparisons[1].Sessions != 4 {
		t.Errorf("%d and %d sessions", v.Comparisons[0].Sessions, v.Comparisons[1].Sessions)
	}
}

// Little is left out for nothing: made sessions without a step and without an odd
// one, of machines calm and noisy. And steps that a bench would see are found.
func TestLevelsAreNotInvented(t *testing.T) {
	figures(t)
	const rounds = 60
	for _, k := range []int{3, 5, 10, 20} {
		for _, cells := range []int{1, 20} {
			m := compressors(cells)
			m.repeats = 3
			rng := rand.New(rand.NewPCG(41, uint64(k)))
			n := 0
			for range rounds * 20 / cells {
				cur, old, _ := m.history(rng, k, nil)
				v := evaluate(t, cur, stored(old...), regression("wall_time", .1))
				n += v.Counts.Cuts + v.Counts.Odd
			}
			most := .015
			if cells == 1 {
				most = .04 // one cell says little of how its sessions differ
			}
			if share := float64(n) / float64(rounds*20); share > most {
				t.Errorf("%d sessions of %d cells: something is left out of %.4f of the columns", k, cells, share)
			}
		}
	}
	found := 0
	rng := rand.New(rand.NewPCG(43, 44))
	for range rounds {
		m := machine{cells: 5, repeats: 5, between: [2]float64{.01, .02}, within: [2]float64{.02, .04}, shared: .5}
		cur, old, _ := m.history(rng, 10, nil)
		for s, d := range old {
			for i := range d.Cells {
				for j := range d.Cells[i].Columns[0].V {
					if s < 5 {
						d.Cells[i].Columns[0].V[j] *= 1.12
					}
				}
			}
		}
		v := evaluate(t, cur, stored(old...), regression("wall_time", .1))
		for _, c := range v.Baseline.Cuts {
			if near := old[5].Sessions[0].ID <= c.Session && c.Session <= old[3].Sessions[0].ID; near && math.Abs(c.Ratio-1.12) < .06 {
				found++
			}
		}
	}
	if share := float64(found) / float64(5*rounds); share < .95 {
		t.Errorf("a step of 12 %% between five sessions and five is found in %.3f", share)
	}
}
