package gate

import (
	"math/rand/v2"
	"testing"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// A finding says which change would have been called a fail with probability 0.9. So
// often it is: the new session of every other cell made slower by what its finding said
// (.93 and .92 of cells that are alike with five and ten sessions, .94 and .93 of
// compressors; goal of the proofs with real processes: .85 to .97).
func TestStatedEffectIsFound(t *testing.T) {
	figures(t)
	const rounds = 300
	alike := machine{cells: 10, repeats: 10, between: [2]float64{.03, .03}, within: [2]float64{.05, .05}, shared: .5}
	for _, c := range []struct {
		name string
		m    machine
		k    int
	}{
		{"cells alike, 5 stored", alike, 5},
		{"cells alike, 10 stored", alike, 10},
		{"compressors, 5 stored", compressors(10), 5},
		{"compressors, 10 stored", compressors(10), 10},
	} {
		rng := rand.New(rand.NewPCG(71, uint64(c.k)))
		found, all := 0, 0
		for round := range rounds {
			cur, old, _ := c.m.history(rng, c.k, nil)
			judge := func() *verdict.Document {
				v, err := Evaluate(Input{Current: cur, Baseline: stored(old...), Budgets: []budget.Budget{regression("wall_time", .1)}, Policy: DefaultPolicy()})
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			stated := map[string]float64{} // by cell: reports have the worst first
			v := judge()
			for _, f := range v.Findings {
				if f.SmallestEffect != nil {
					stated[v.Cells[f.Cell].Name] = *f.SmallestEffect
				}
			}
			slowed := map[string]bool{}
			for i := range cur.Cells {
				effect, ok := stated[cur.Cells[i].Name]
				if !ok || i%2 != round%2 {
					continue
				}
				slowed[cur.Cells[i].Name] = true
				values := cur.Cells[i].Columns[0].V
				for j := range values {
					values[j] *= 1 + effect
				}
			}
			v = judge()
			for _, f := range v.Findings {
				if f.Metric == "wall_time" && slowed[v.Cells[f.Cell].Name] {
					all++
					if f.Outcome == verdict.Fail {
						found++
					}
				}
			}
		}
		share := float64(found) / float64(all)
		if all < rounds*4 || share < .85 || share > .97 {
			t.Errorf("%s: %.3f of %d found at the effect that is stated for .9", c.name, share, all)
		}
	}
}
