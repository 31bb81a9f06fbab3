package gate

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

const commitOfBase = "77fe000000000000000000000000000000000001"

// nearly is n values about v that are all different.
func nearly(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v * (1 + 0.0001*float64((i*7)%n))
	}
	return out
}

// onBase makes a cell the base build's.
func onBase(d *result.Document, c *result.Cell) *result.Cell {
	c.Build, c.Name, c.Digest = result.BuildBase, result.BuildName(c.Name, result.BuildBase), c.Digest+"@"
	d.Builds[result.BuildBase] = result.Build{Commit: commitOfBase}
	return c
}

// confirmation is a document that measured again what cur left in doubt.
func confirmation(cur *result.Document) *result.Document {
	cur.Plan.Digest = "sha256:first"
	d := doc("again", 0)
	d.Plan.Confirms = cur.Plan.Digest
	d.Builds[result.BuildBase] = result.Build{Commit: commitOfBase}
	return d
}

var fivePercent = []budget.Budget{{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.05}}

// onWallTime are the relative findings of a verdict.
func onWallTime(v *verdict.Document) []verdict.Finding {
	return slices.DeleteFunc(slices.Clone(v.Findings), func(f verdict.Finding) bool { return f.Metric != "wall_time" })
}

func TestInterleavedBase(t *testing.T) {
	cur := doc("cur", 0)
	cell(cur, "slow", "", column{"wall_time": nearly(1.2, 10)})
	cell(cur, "same", "", column{"wall_time": nearly(1, 10)})
	cell(cur, "fresh", "", column{"wall_time": nearly(1, 10)})
	cell(cur, "broken", "", column{"wall_time": nearly(1, 10)})
	onBase(cur, cell(cur, "slow", "", column{"wall_time": nearly(1, 10)}))
	onBase(cur, cell(cur, "same", "", column{"wall_time": nearly(1, 10)}))
	crashed := onBase(cur, cell(cur, "broken", "", column{"wall_time": nearly(1, 10)}))
	crashed.Runs.Status, crashed.Runs.Detail = map[int]result.Status{}, map[int]result.Detail{}
	for i := range 10 {
		crashed.Runs.Status[i], crashed.Runs.Detail[i] = result.Failed, result.Detail{Reason: "exit code 2"}
	}
	cur.Skipped = []result.Skipped{{Name: "fresh@base", Build: "base", Why: "the base build has no bin/fresh"}}
	// A stored session that would say the opposite does not decide.
	old := doc("old", 9)
	cell(old, "slow", "", column{"wall_time": nearly(2, 10)})
	cell(old, "same", "", column{"wall_time": nearly(0.1, 10)})
	limit := budget.Budget{Metric: "wall_time", Kind: budget.Max, Limit: 10}
	v := judged(t, Input{Current: cur, Baseline: stored(old), Budgets: append(slices.Clone(fivePercent), limit), Policy: DefaultPolicy()})
	if len(v.Cells) != 4 || len(v.Skipped) != 0 {
		t.Fatalf("rows %d, left out %v: want head's 4 cells alone", len(v.Cells), v.Skipped)
	}
	want := map[string]verdict.Outcome{"slow": verdict.Fail, "same": verdict.Pass, "fresh": verdict.New, "broken": verdict.NotComparable}
	for _, f := range v.Findings {
		name := v.Cells[f.Cell].Name
		if f.Metric == result.CrashRate && f.Outcome != verdict.Pass {
			t.Errorf("%s: the base build's crashes are counted: %s", name, f.Message)
		}
		if f.Metric != "wall_time" || !v.Budgets[f.Budget].Kind.Relative() {
			continue
		}
		if f.Outcome != want[name] {
			t.Errorf("%s: %s (%s), want %s", name, f.Outcome, f.Message, want[name])
		}
		if f.Comparison != nil {
			if c := v.Comparisons[*f.Comparison]; c.Against != budget.AgainstBase || c.Design != verdict.Paired || c.N != [2]int{10, 10} {
				t.Errorf("%s is compared %+v", name, c)
			}
		}
		for _, text := range map[string][]string{"slow": {"against the base build"}, "fresh": {"no bin/fresh"}, "broken": {"no run of the base build ended well (exit code 2)"}}[name] {
			if !strings.Contains(f.Message, text) {
				t.Errorf("%s: message %q lacks %q", name, f.Message, text)
			}
		}
	}
	if v.Policy.Family != 2 {
		t.Errorf("family of %d, want the 2 pairs", v.Policy.Family)
	}
}

// A block in which the base build failed is dropped whole.
func TestInterleavedBlocksAreDropped(t *testing.T) {
	cur := doc("cur", 0)
	cell(cur, "a", "", column{"wall_time": nearly(1.2, 10)})
	base := onBase(cur, cell(cur, "a", "", column{"wall_time": nearly(1, 10)}))
	base.Runs.Status = map[int]result.Status{3: result.Timeout}
	v := judged(t, Input{Current: cur, Budgets: fivePercent, Policy: DefaultPolicy()})
	f := onWallTime(v)[0]
	c := v.Comparisons[*f.Comparison]
	if c.N != [2]int{9, 9} || !slices.Contains(c.Doubts, doubtBlocksDropped) || f.Outcome != verdict.Fail {
		t.Errorf("%+v, %s", c, f.Outcome)
	}
}

// doubtful is a session held against a stored one: a budget that is clearly broken,
// and one that is suspect.
func doubtful() (cur *result.Document, in Input) {
	cur = doc("cur", 0)
	cell(cur, "fails", "", column{"wall_time": nearly(1.3, 10)})
	cell(cur, "suspect", "", column{"wall_time": nearly(1.08, 10)})
	cell(cur, "holds", "", column{"wall_time": nearly(1, 10)})
	old := doc("old", 9)
	for _, name := range []string{"fails", "suspect", "holds"} {
		cell(old, name, "", column{"wall_time": nearly(1, 10)})
	}
	return cur, Input{Current: cur, Baseline: stored(old), Budgets: fivePercent, Policy: DefaultPolicy(), Command: "perfweir ci"}
}

func TestUnsettled(t *testing.T) {
	_, in := doubtful()
	got := Unsettled(judged(t, in))
	want := []Doubt{{result.ID{Benchmark: "fails", Build: "head"}, 1, true}, {result.ID{Benchmark: "suspect", Build: "head"}, 1, true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("unsettled %+v, want %+v", got, want)
	}
	in.Baseline = nil
	if got := Unsettled(judged(t, in)); len(got) != 3 {
		t.Errorf("without a baseline %+v, want every gated cell", got)
	}
	in.Budgets = []budget.Budget{{Metric: "wall_time", Kind: budget.MaxRegression, Limit: 0.05, Level: budget.Warn}, {Metric: "wall_time", Kind: budget.Max, Limit: 0.1}}
	if got := Unsettled(judged(t, in)); len(got) != 0 {
		t.Errorf("unsettled %+v: nothing of it is gated and relative", got)
	}
}

func TestConfirm(t *testing.T) {
	for _, tt := range []struct {
		name    string
		ratio   float64 // head by base, measured again
		outcome verdict.Outcome
		grade   string
		reason  string
		says    string
		exit    int
	}{
		{"a real regression", 1.3, verdict.Fail, "", "confirmed", "confirmed: against the base commit 77fe00000000 on this machine +30.0 % in 10 blocks", ExitFail},
		{"a poisoned baseline", 1, verdict.Pass, "", "not_confirmed", "not confirmed: against the base commit 77fe00000000 on this machine", ExitPass},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cur, in := doubtful()
			again := confirmation(cur)
			for _, name := range []string{"fails", "suspect"} {
				cell(again, name, "", column{"wall_time": nearly(tt.ratio, 10)})
				onBase(again, cell(again, name, "", column{"wall_time": nearly(1, 10)}))
			}
			before := judged(t, in)
			in.Confirmation = again
			v := judged(t, in)
			for i, f := range onWallTime(v)[:2] {
				if f.Outcome != tt.outcome || f.Grade != tt.grade || !slices.Contains(f.Reasons, tt.reason) || !strings.Contains(f.Message, tt.says) {
					t.Errorf("%s: %s %s %v: %s", v.Cells[f.Cell].Name, f.Outcome, f.Grade, f.Reasons, f.Message)
				}
				// Both numbers are there.
				if c := f.Confirmed; c == nil || c.Commit != commitOfBase || c.N != 10 || c.Outcome != tt.outcome || *c.Ratio < tt.ratio*0.99 || *c.Ratio > tt.ratio*1.01 || c.Interval == nil {
					t.Errorf("confirmed %+v", c)
				}
				was := onWallTime(before)[i]
				if c := v.Comparisons[*f.Comparison]; c.Against != budget.AgainstBaseline || *c.Ratio != *before.Comparisons[*was.Comparison].Ratio {
					t.Errorf("the stored comparison is now %+v", c)
				}
			}
			if last := onWallTime(v)[2]; last.Confirmed != nil || last.Outcome != verdict.Pass {
				t.Errorf("what was not in doubt was touched: %+v", last)
			}
			if v.ExitCode != tt.exit || before.ExitCode != ExitFail {
				t.Errorf("exit code %d (before %d), want %d", v.ExitCode, before.ExitCode, tt.exit)
			}
			encoded := func() []byte {
				var b bytes.Buffer
				if err := verdict.Encode(&b, judged(t, in)); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			if !bytes.Equal(encoded(), encoded()) {
				t.Error("the same documents give other bytes")
			}
		})
	}
}

// The doubts share the error rate among themselves alone: a hundred other cells
// are not in the way of six blocks.
func TestConfirmFamily(t *testing.T) {
	cur, old := doc("cur", 0), doc("old", 9)
	cur.Plan.Digest = "sha256:first"
	for i := range 100 {
		name := string(rune('a'+i/26)) + string(rune('a'+i%26))
		v := 1.0
		if i == 0 {
			v = 1.12
		}
		cell(cur, name, "", column{"wall_time": nearly(v, 10)})
		cell(old, name, "", column{"wall_time": nearly(1, 10)})
	}
	again := confirmation(cur)
	cell(again, "aa", "", column{"wall_time": nearly(1.12, 6)})
	onBase(again, cell(again, "aa", "", column{"wall_time": nearly(1, 6)}))
	v := judged(t, Input{Current: cur, Baseline: stored(old), Budgets: fivePercent, Policy: DefaultPolicy(), Confirmation: again})
	f := onWallTime(v)[0]
	if f.Outcome != verdict.Fail || f.PAdjusted == nil || *f.PAdjusted > 0.05 || v.Policy.Family != 100 {
		t.Errorf("%s, p %v, family %d", f.Message, f.PAdjusted, v.Policy.Family)
	}
}

func TestConfirmWithoutBaseline(t *testing.T) {
	cur, in := doubtful()
	in.Baseline = nil
	again := confirmation(cur)
	cell(again, "fails", "", column{"wall_time": nearly(1.3, 10)})
	onBase(again, cell(again, "fails", "", column{"wall_time": nearly(1, 10)}))
	again.Skipped = []result.Skipped{{Name: "suspect@base", Build: "base", Why: "the base build has no bin/suspect"}}
	cell(again, "suspect", "", column{"wall_time": nearly(1, 10)})
	in.Confirmation = again
	v := judged(t, in)
	fs := onWallTime(v)
	if c := v.Comparisons[*fs[0].Comparison]; fs[0].Outcome != verdict.Fail || c.Against != budget.AgainstBase || v.Cells[c.Cell].Name != "fails" || fs[0].Confirmed != nil {
		t.Errorf("%+v, %+v", fs[0], c)
	}
	if fs[1].Outcome != verdict.New || !strings.Contains(fs[1].Message, "no bin/suspect") {
		t.Errorf("%s: %s", fs[1].Outcome, fs[1].Message)
	}
	if fs[2].Outcome != verdict.NoBaseline { // it was not measured again
		t.Errorf("%s: %s", fs[2].Outcome, fs[2].Message)
	}
}

// Where the base build gives nothing, what stored sessions said stands, and why.
func TestNotConfirmable(t *testing.T) {
	cur, in := doubtful()
	again := confirmation(cur)
	cell(again, "fails", "", column{"wall_time": nearly(1.3, 10)})
	base := onBase(again, cell(again, "fails", "", column{"wall_time": nearly(1, 10)}))
	base.Runs.Status = map[int]result.Status{}
	for i := range 10 {
		base.Runs.Status[i] = result.Signal
	}
	again.Sessions[0].Warnings = []string{"the base commit has submodules"}
	in.Confirmation = again
	v := judged(t, in)
	f := onWallTime(v)[0]
	if f.Outcome != verdict.Fail || f.Confirmed != nil || !slices.Contains(f.Reasons, reasonNotConfirmable) || !strings.Contains(f.Message, "no run of the base build ended well") {
		t.Errorf("%s %v: %s", f.Outcome, f.Reasons, f.Message)
	}
	if !slices.Contains(v.Warnings, "the base commit has submodules") {
		t.Errorf("warnings %q", v.Warnings)
	}
	// One that was stopped decides nothing, and is no verdict.
	again.Sessions[0].Interrupted = true
	if v := judged(t, in); v.Outcome != verdict.Interrupted || onWallTime(v)[0].Confirmed != nil {
		t.Errorf("outcome %s", v.Outcome)
	}
	again.Plan.Confirms = "sha256:another"
	if _, err := Evaluate(in); err == nil {
		t.Error("the confirmation of another session was taken")
	}
}
