package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// judgePair judges a random case whose budgets are base's under those of head.
func judgePair(t *testing.T, rc randomCase, head []budget.Budget, cells []BenchmarkVariant) *verdict.Document {
	t.Helper()
	in := Input{Current: rc.cur, Budgets: head, Policy: DefaultPolicy(), Command: "perfweir ci",
		Base: &Rules{Commit: baseCommit, Budgets: rc.budgets, Policy: DefaultPolicy(), Cells: cells}}
	if len(rc.stored) > 0 {
		in.Baseline = stored(rc.stored...)
	}
	return judged(t, in)
}

func allCells(d *result.Document) []BenchmarkVariant {
	var out []BenchmarkVariant
	for i := range d.Cells {
		out = append(out, BenchmarkVariant{d.Cells[i].Benchmark, d.Cells[i].Variant})
	}
	return out
}

// moreBudgets are rules of every sort beside those of newRandomCase.
func moreBudgets(r *rand.Rand) []budget.Budget {
	all := []budget.Budget{
		{Metric: "crash_rate", Kind: budget.Max, Limit: 0.1, Variant: "a"},
		{Metric: "error_rate", Kind: budget.Max, Limit: 0.1, Benchmark: "bench0"},
		{Metric: "frames", Kind: budget.Max, Limit: 1},
		{Metric: "frames", Kind: budget.Min, Limit: 1, Benchmark: "bench1"},
		{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.15, Cells: "bench0/**", Level: budget.Warn},
		{Metric: "cpu_time", Kind: budget.Max, Limit: 0.5, Statistic: "max", Benchmark: "bench*"},
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.IntN(len(all)+1)]
}

// noExceptions leaves out the budgets that stand in the place of a stricter one: to
// loosen such a one may bring back the other.
func noExceptions(budgets []budget.Budget) []budget.Budget {
	return slices.DeleteFunc(budgets, func(b budget.Budget) bool { return b.Metric != "frames" && b.Metric != "cpu_time" })
}

func loosen(r *rand.Rand, b budget.Budget) []budget.Budget {
	toLoose := 0.1
	if b.Kind == budget.Min {
		toLoose = -0.1
	}
	switch r.IntN(6) {
	case 0:
		return nil
	case 1:
		b.Limit += toLoose
	case 2:
		if b.Kind.Relative() {
			b.MinDelta += b.Amount + 0.01
		} else {
			b.Limit += toLoose
		}
	case 3:
		b.Level = budget.Info
	case 4:
		b.Benchmark = "elsewhere"
	}
	return []budget.Budget{b}
}

func tighten(r *rand.Rand, b budget.Budget) budget.Budget {
	switch r.IntN(4) {
	case 0:
		if b.Kind == budget.Min {
			b.Limit += 0.1
		} else {
			b.Limit -= 0.01
		}
	case 1:
		b.Level = budget.Fail
	case 2:
		b.MinDelta, b.Amount = 0, 0
	}
	return b
}

// Whatever a change loosens or deletes, its verdict is the one that base's file
// alone gives.
func TestLooseningChangesNothing(t *testing.T) {
	told := 0
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		rc.budgets = append(rc.budgets, noExceptions(moreBudgets(r))...)
		alone := rc.judge(t)
		var head []budget.Budget
		for _, b := range rc.budgets {
			head = append(head, loosen(r, b)...)
		}
		v := judgePair(t, rc, head, allCells(rc.cur))
		sameDecision(t, alone, v)
		told += len(v.Loosened)
	})
	if told < documents {
		t.Errorf("%d loosened budgets were told in %d cases", told, documents)
	}
}

// What a change tightens or adds counts at once: its verdict is the one that its
// own file gives.
func TestTighteningCountsAtOnce(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		var head []budget.Budget
		for _, b := range rc.budgets {
			head = append(head, tighten(r, b))
		}
		head = append(head, noExceptions(moreBudgets(r))...)
		v := judgePair(t, rc, head, allCells(rc.cur))
		rc.budgets = head
		sameDecision(t, rc.judge(t), v)
		if len(v.Loosened) != 0 {
			t.Errorf("loosened: %+v", v.Loosened)
		}
	})
}

// newRandomPair is a random change: budgets moved either way, cells added and renamed.
func newRandomPair(r *rand.Rand, rc *randomCase) (head []budget.Budget, cells []BenchmarkVariant) {
	rc.budgets = append(rc.budgets, moreBudgets(r)...)
	for i := range rc.budgets {
		rc.budgets[i].Text = fmt.Sprint("base", i)
	}
	for _, b := range rc.budgets {
		if r.IntN(2) == 0 {
			head = append(head, loosen(r, b)...)
		} else {
			head = append(head, tighten(r, b))
		}
	}
	head = append(head, moreBudgets(r)...)
	for i := range head {
		head[i].Text = fmt.Sprint("head", i)
	}
	for _, c := range allCells(rc.cur) {
		switch r.IntN(4) {
		case 0:
			continue // new in this change
		case 1:
			renamed := slices.IndexFunc(rc.cur.Cells, func(x result.Cell) bool { return x.Benchmark == c.Benchmark && x.Variant == c.Variant })
			rc.cur.Cells[renamed].Was = []string{"no such", c.Benchmark + " before"}
			c.Benchmark += " before"
		}
		cells = append(cells, c)
	}
	return head, cells
}

// TestEveryFindingRestsOnTheRightFile holds each finding's budget against the rule
// of docs/statistics.md, spelled out without the code that chooses.
func TestEveryFindingRestsOnTheRightFile(t *testing.T) {
	seen := map[string]int{}
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		head, cells := newRandomPair(r, &rc)
		v := judgePair(t, rc, head, cells)
		for i := range v.Findings {
			f := &v.Findings[i]
			if f.Cell >= len(rc.cur.Cells) || f.Metric == completeness || f.Outcome == verdict.NoData && f.Value == nil && f.Comparison == nil {
				continue // a cell that is gone, or a metric that nothing measured
			}
			c, b := &rc.cur.Cells[f.Cell], &v.Budgets[f.Budget]
			last := func(file []budget.Budget, benchmark string) *budget.Budget {
				var found *budget.Budget
				all := withImplicit(file)
				for i := range all {
					x := &all[i]
					if x.Metric == f.Metric && x.Kind == b.Kind && x.Against == b.Against && result.MatchName(x.Benchmark, benchmark) &&
						result.MatchName(x.Variant, c.Variant) && result.MatchName(x.Cells, result.PrintedName(benchmark, c.Variant, c.Input)) {
						found = x
					}
				}
				return found
			}
			want, file := last(head, c.Benchmark), "head"
			for _, name := range append([]string{c.Benchmark}, c.Was...) {
				if slices.Contains(cells, BenchmarkVariant{name, c.Variant}) {
					if was := last(rc.budgets, name); was != nil && (want == nil || budget.Looser(was, want)) {
						want, file = was, "base"
					}
					break
				}
			}
			if want == nil || want.Text != b.Text {
				t.Errorf("%s %s: judged by %q, want %+v", c.Name, f.Metric, b.Text, want)
			}
			seen[file]++
		}
	})
	if seen["head"] < 500 || seen["base"] < 500 {
		t.Errorf("%v findings: the cases say little", seen)
	}
}

// TestSameBytesOfAPairAtAnyParallelism: DESIGN rule 14 for two files.
func TestSameBytesOfAPairAtAnyParallelism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	eachCase(t, func(t *testing.T, r *rand.Rand, rc randomCase) {
		head, cells := newRandomPair(r, &rc)
		var want []byte
		for _, procs := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(procs)
			got, err := json.Marshal(judgePair(t, rc, head, cells))
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			} else if !bytes.Equal(got, want) {
				t.Fatalf("other bytes at GOMAXPROCS %d", procs)
			}
		}
	})
}
