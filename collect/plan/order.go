package plan

import (
	"math/rand/v2"
	"slices"
)

// orderStream keeps the order's random numbers apart from any other use of the
// same seed.
const orderStream = 0x6f72646572

// order lays out the runs. Cells that may be compared with each other (the
// variants of one benchmark on one input) form a group. A block is one run of
// every cell of a group, close in time. Blocks are interleaved over all groups:
// repeat 1 of everything, then repeat 2, so slow drift favours nobody
// (measured elsewhere: AAAA..BBBB under a drift of 3 sd gives 84 % false
// alarms, ABBA 0.6 %).
//
// Inside a group two cells alternate ABBA, more rotate through a Latin square;
// which order comes first, and the order of groups, is drawn from the seed.
func order(cells []Cell, seed uint64) Order {
	r := rand.New(rand.NewPCG(seed, orderStream))
	groups := groupCells(cells)
	var o Order
	for w := 1; w <= maxWarmups(cells); w++ {
		for _, g := range shuffled(groups, r) {
			slot := 0
			for _, c := range g.cells {
				if cells[c].Warmups >= w {
					o.add(Run{Cell: c, Repeat: 0, Look: 1, Block: 0, Slot: slot})
					slot++
				}
			}
		}
	}
	for look := 1; look <= cells[longest(cells, nil)].LastLook(); look++ {
		for block := 1; block <= maxRepeats(cells); block++ {
			o.addBlock(cells, groups, look, block, r)
		}
	}
	return o
}

// addBlock adds one block of every group that has it at a look. Looks come one
// after the other, so that what is decided at one need not be run for the next.
func (o *Order) addBlock(cells []Cell, groups []*group, look, block int, r *rand.Rand) {
	ofLook := func(c int) bool { return cells[c].LookOf(block) == look }
	if look > 1 && !slices.ContainsFunc(groups, func(g *group) bool { return slices.ContainsFunc(g.cells, ofLook) }) {
		return
	}
	for _, g := range shuffled(groups, r) {
		// A group that has the block at another look keeps its square for then.
		if !slices.ContainsFunc(g.cells, ofLook) {
			continue
		}
		slot := 0
		for _, c := range g.next(r) {
			if cells[c].Repeats >= block && ofLook(c) {
				o.add(Run{Cell: c, Repeat: block, Look: look, Block: block, Slot: slot})
				slot++
			}
		}
	}
}

func maxWarmups(cells []Cell) int {
	n := 0
	for i := range cells {
		n = max(n, cells[i].Warmups)
	}
	return n
}

// group is the cells of one benchmark on one input, and the orders that are
// still to come of its current square.
type group struct {
	cells   []int
	pending [][]int
}

func groupCells(cells []Cell) []*group {
	type key struct{ benchmark, input string }
	index := map[key]*group{}
	var groups []*group
	for i := range cells {
		k := key{cells[i].Benchmark, cells[i].Input}
		g := index[k]
		if g == nil {
			g = &group{}
			index[k] = g
			groups = append(groups, g)
		}
		g.cells = append(g.cells, i)
	}
	return groups
}

// next returns the group's order for its next block. Over a square of n blocks
// every cell stands once in every slot.
func (g *group) next(r *rand.Rand) []int {
	if len(g.pending) == 0 {
		n := len(g.cells)
		base := append([]int(nil), g.cells...)
		r.Shuffle(n, func(i, j int) { base[i], base[j] = base[j], base[i] })
		for i := range n {
			g.pending = append(g.pending, append(append([]int(nil), base[i:]...), base[:i]...))
		}
		r.Shuffle(n, func(i, j int) { g.pending[i], g.pending[j] = g.pending[j], g.pending[i] })
	}
	first := g.pending[0]
	g.pending = g.pending[1:]
	return first
}

func shuffled(groups []*group, r *rand.Rand) []*group {
	out := append([]*group(nil), groups...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
