package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
)

// Shard is the part of a plan that one of several runners measures; the zero
// value is the whole plan.
//
// A shard that is judged alone is judged as if it were the whole: its cells share
// the error rate of gate.false_alarms among themselves, so N shards judged alone
// raise up to N times as many false alarms as the merge of their results, in
// which all cells share it once. The verdict to gate on is that of the merge
// (result.Merge); that of a shard is for whoever looks at its runner.
type Shard = result.Shard

// ParseShard reads "2/3".
func ParseShard(text string) (Shard, error) { return result.ParseShard(text) }

// deal leaves in a plan of the whole suite what one shard measures of it. Cells
// that are held against each other inside a session stay together: the variants
// of one benchmark on one input, which also decide each other's timeouts.
//
// The groups are dealt by their number of runs, the largest first, each to the
// shard that has fewest: so the shards with most and least runs differ by one
// group at most. No seed takes part: every runner must come to the same shares.
func (p *Plan) deal(s Shard) error {
	if err := s.Check(); err != nil || s.Whole() {
		return err
	}
	groups := groupCells(p.Cells)
	if s.Of > len(groups) {
		// Said by every shard, not only by those that would be empty: the results
		// could not be merged, and a runner that measures nothing must not be green.
		return fmt.Errorf("shard %s: the plan has %d groups of cells (variants of one benchmark and input stay together), so at most %d shards have something to run: use fewer", s, len(groups), len(groups))
	}
	p.Shard, p.Whole, p.Dealt = s.String(), p.wholeDigest(), make([]result.Dealt, len(p.Cells))
	for i, shard := range shares(p.Cells, groups, s.Of) {
		c := &p.Cells[i]
		p.Dealt[i] = result.Dealt{Shard: shard, Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build,
			Was: c.Was, Digest: c.Digest, Planned: c.Repeats}
	}
	own := make([]Cell, 0, len(p.Cells)/s.Of+1)
	for i := range p.Cells {
		if p.Dealt[i].Shard == s.Index {
			own = append(own, p.Cells[i])
		}
	}
	p.Cells = own
	return nil
}

// shares is the 1-based shard of every cell.
func shares(cells []Cell, groups []*group, shards int) []int {
	runs := make(map[*group]int, len(groups))
	for _, g := range groups {
		for _, c := range g.cells {
			runs[g] += max(1, cells[c].Repeats+cells[c].Warmups)
		}
	}
	// Stable: groups of one size stay in the order of the suite, and so neighbours,
	// which often take about as long, go to different shards.
	largest := slices.Clone(groups)
	slices.SortStableFunc(largest, func(a, b *group) int { return cmp.Compare(runs[b], runs[a]) })
	load := make([]int, shards)
	out := make([]int, len(cells))
	for _, g := range largest {
		least := slices.Index(load, slices.Min(load))
		load[least] += runs[g]
		for _, c := range g.cells {
			out[c] = least + 1
		}
	}
	return out
}

// wholeDigest is of what the plans of all shards have in common: not the seed,
// which each draws, nor the programs, which each builds, and two builds of one
// commit may differ in a path or a date.
func (p *Plan) wholeDigest() string {
	common := *p
	common.Seed, common.Builds, common.Shard = 0, nil, ""
	return common.digest()
}
