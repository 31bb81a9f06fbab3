package gate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfweir/perfweir/gate/verdict"
)

// confirmed is what became of doubts: how often they failed and passed, after how
// many blocks on average, and in how many sessions one of them failed.
type confirmed struct{ fail, pass, blocks, red float64 }

// confirmAt measures simulated doubts again, look by look, and judges them with the
// whole gate: cells of which nothing is stored, budget 5 %, blocks that share a noise
// of 5 %.
func confirmAt(t *testing.T, looks []int, cells int, cv, change float64, seed uint64) confirmed {
	t.Helper()
	sessions := 600 / min(cells, 4)
	rounds := make([]confirmed, sessions)
	parallel(sessions, func(i int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		last := looks[len(looks)-1]
		cur := doc("02", 0)
		whole := confirmation(cur)
		for k := range cells {
			name := fmt.Sprint(k)
			cell(cur, name, "", column{"wall_time": repeat(1, 10)})
			blocks, old, now := lognormal(r, 1, .05, last), lognormal(r, 1, cv, last), lognormal(r, 1+change, cv, last)
			for b := range blocks {
				old[b], now[b] = old[b]*blocks[b], now[b]*blocks[b]
			}
			twins(whole, name, now, old)
		}
		in := Input{Current: cur, Budgets: fivePercent, Policy: DefaultPolicy()}
		v, _, _ := liveBy(t, looked(whole, looks...), judgeAgainst(t, in), Unconfirmed)
		for _, a := range v.Confirmation.Cells {
			rounds[i].blocks += float64(a.Seen) / float64(cells)
		}
		for _, f := range onWallTime(v) {
			rounds[i].fail += one(f.Outcome == verdict.Fail) / float64(cells)
			rounds[i].pass += one(f.Outcome == verdict.Pass) / float64(cells)
		}
		rounds[i].red = one(rounds[i].fail > 0)
	})
	var sum confirmed
	n := float64(sessions)
	for _, r := range rounds {
		sum.fail, sum.pass, sum.blocks, sum.red = sum.fail+r.fail/n, sum.pass+r.pass/n, sum.blocks+r.blocks/n, sum.red+r.red/n
	}
	return sum
}

// TestOperatingFiguresOfConfirmations: looks settle more doubts than ten blocks at the
// whole error would, with about as many at a spread of 3 %. The figures are those of
// longer runs in docs/statistics.md.
func TestOperatingFiguresOfConfirmations(t *testing.T) {
	figures(t)
	ten, looks := []int{10}, []int{6, 10, 20}
	for _, tt := range []struct {
		cells       int
		cv          float64
		looks       []int
		same, worse confirmed
	}{
		{1, .01, ten, confirmed{pass: 1, blocks: 10}, confirmed{fail: 1, blocks: 10}},
		{1, .01, looks, confirmed{pass: 1, blocks: 6}, confirmed{fail: 1, blocks: 6}},
		{1, .03, ten, confirmed{pass: .935, blocks: 10}, confirmed{fail: .919, blocks: 10}},
		{1, .03, looks, confirmed{pass: .994, blocks: 9.9}, confirmed{fail: .991, blocks: 10.5}},
		{1, .06, ten, confirmed{pass: .454, blocks: 10}, confirmed{fail: .436, blocks: 10}},
		{1, .06, looks, confirmed{pass: .624, blocks: 15.5}, confirmed{fail: .584, blocks: 15.8}},
		{8, .03, ten, confirmed{pass: .928, blocks: 10}, confirmed{fail: .794, blocks: 10}},
		{8, .03, looks, confirmed{pass: .994, blocks: 9.8}, confirmed{fail: .978, blocks: 15.5}},
	} {
		name := fmt.Sprintf("%d doubts, spread %v, looks %v", tt.cells, tt.cv, tt.looks)
		same, worse := confirmAt(t, tt.looks, tt.cells, tt.cv, 0, 1), confirmAt(t, tt.looks, tt.cells, tt.cv, .10, 2)
		near := func(what string, got, want, slack float64) {
			if math.Abs(got-want) > slack {
				t.Errorf("%s: %s %.3f, want about %.3f", name, what, got, want)
			}
		}
		near("no change passes in", same.pass, tt.same.pass, .06)
		near("10 % worse fails in", worse.fail, tt.worse.fail, .06)
		near("blocks where nothing changed", same.blocks, tt.same.blocks, .6)
		near("blocks of 10 % worse", worse.blocks, tt.worse.blocks, .6)
		if same.red > .01 || worse.pass > .01 {
			t.Errorf("%s: %.3f of sessions red where nothing changed, 10 %% worse passes in %.3f", name, same.red, worse.pass)
		}
		// Exactly at the budget either call is an error; a fail of any doubt is one.
		at := confirmAt(t, tt.looks, tt.cells, tt.cv, .05, 3)
		if at.red > .08 || at.pass > .08 || at.red+at.pass == 0 {
			t.Errorf("%s: at the budget %.3f of sessions red, and %.3f of doubts pass", name, at.red, at.pass)
		}
	}
}
