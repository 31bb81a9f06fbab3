package plan

import (
	"math/rand/v2"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
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
// which order comes first, and the order of groups, is drawn from the seed. Where
// a base build is measured too, a cell and its twin stand beside each other, and
// change their order from one block to the next: see paired.
func order(cells []Cell, seed uint64) Order {
	r := rand.New(rand.NewPCG(seed, orderStream))
	groups := groupCells(cells)
	var o Order
	for w := 1; w <= maxWarmups(cells); w++ {
		for _, g := range shuffled(groups, r) {
			slot := 0
			for _, c := range slices.Concat(g.units...) {
				if cells[c].Warmups >= w {
					o.add(Run{Cell: c, Repeat: 0, Look: 1, Block: 0, Slot: slot})
					slot++
				}
			}
		}
	}
	for look := 1; look <= mostLooks(cells); look++ {
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
	cells []int
	// units are the cells that stand beside each other: one, or a cell of head and
	// its twin on the base build.
	units   [][]int
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
		g.add(cells, i)
	}
	return groups
}

// add takes a cell into the group, beside its twin where it has one there.
func (g *group) add(cells []Cell, i int) {
	g.cells = append(g.cells, i)
	if cells[i].Build == result.BuildBase {
		for u, unit := range g.units {
			if head := &cells[unit[0]]; len(unit) == 1 && head.Variant == cells[i].Variant && head.Build == result.BuildHead {
				g.units[u] = append(unit, i)
				return
			}
		}
	}
	g.units = append(g.units, []int{i})
}

// next returns the group's order for its next block. Over a square of n blocks
// every cell stands once in every slot.
func (g *group) next(r *rand.Rand) []int {
	if len(g.pending) == 0 {
		g.pending = g.square(r)
	}
	first := g.pending[0]
	g.pending = g.pending[1:]
	return first
}

// square is a Latin square of the group's units: each stands once in each place.
func (g *group) square(r *rand.Rand) [][]int {
	n := len(g.units)
	base := append([][]int(nil), g.units...)
	r.Shuffle(n, func(i, j int) { base[i], base[j] = base[j], base[i] })
	rows := make([][][]int, n)
	for i := range rows {
		rows[i] = append(append([][]int(nil), base[i:]...), base[:i]...)
	}
	r.Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if n < len(g.cells) {
		return paired(rows, r)
	}
	out := make([][]int, n)
	for i, row := range rows {
		out[i] = slices.Concat(row...)
	}
	return out
}

// paired makes two blocks of every row, in which the cells of each pair have
// changed places: over two blocks neither build is first more often, over all of
// them every cell stands once in every slot. Which order comes first is drawn.
func paired(rows [][][]int, r *rand.Rand) [][]int {
	out := make([][]int, 0, 2*len(rows))
	for _, row := range rows {
		there := slices.Concat(row...)
		var back []int
		for _, unit := range row {
			turned := slices.Clone(unit)
			slices.Reverse(turned)
			back = append(back, turned...)
		}
		if r.IntN(2) == 1 {
			there, back = back, there
		}
		out = append(out, there, back)
	}
	return out
}

func shuffled(groups []*group, r *rand.Rand) []*group {
	out := append([]*group(nil), groups...)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
