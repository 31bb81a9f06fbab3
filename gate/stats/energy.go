package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// energySplit is the place at which a series differs most before and after.
type energySplit struct {
	at  int     // index of the first value behind the split
	end int     // end of what was held against the values before, exclusive
	q   float64 // m*n/(m+n) times the energy distance of both parts
}

// checkSeries refuses a sample whose squared sums leave the range of float64.
func checkSeries(what string, x []float64) error {
	if err := checkSample(what, x); err != nil {
		return err
	}
	span := (slices.Max(x) - slices.Min(x)) * float64(len(x))
	return checkResult(what, span*span)
}

// bestEnergySplit returns the split of x with the largest Q, each part of at least
// least values (2 or more; x has room for both). The part behind may end before x
// does: a rise and fall is found by its rise.
//
// Q = m*n/(m+n) * (2*mean|x_i - y_j| - mean|x_i - x_k| - mean|y_j - y_l|) over
// pairs of different values, thus with the exponent alpha = 1: it sees changes of
// location and of shape, and needs no moments above the first. O(n^2) time, O(n)
// memory. Source: Szekely & Rizzo 2004; Matteson & James 2014, (5) to (7).
func bestEnergySplit(x []float64, least int) energySplit {
	n := len(x)
	before := make([]float64, n) // sum of |x_i - x_j| over i < at, for each j
	all := make([]float64, n)    // over i < j
	for j := range x {
		for i := range j {
			all[j] += math.Abs(x[i] - x[j])
		}
	}
	best := energySplit{q: math.Inf(-1)}
	left := 0.0
	for at := 1; at+least <= n; at++ {
		left += all[at-1]
		v := x[at-1]
		for j := at; j < n; j++ {
			before[j] += math.Abs(v - x[j])
		}
		if at < least {
			continue
		}
		cross, right := 0.0, 0.0
		for end := at + 1; end <= n; end++ {
			cross += before[end-1]
			right += all[end-1] - before[end-1]
			if end-at < least {
				continue
			}
			// Later ends win ties: rounding must not cut off what is alike.
			if q := energyQ(at, end-at, left, right, cross); q > best.q || q == best.q && end > best.end && at == best.at {
				best = energySplit{at, end, q}
			}
		}
	}
	return best
}

// energyQ is Q from the sums of distances over pairs.
func energyQ(m, n int, left, right, cross float64) float64 {
	fm, fn := float64(m), float64(n)
	q := 2 * cross
	if m > 1 {
		q -= 2 * left * fn / (fm - 1)
	}
	if n > 1 {
		q -= 2 * right * fm / (fn - 1)
	}
	return q / (fm + fn)
}

// permutationPlaces is how many places of a series a permutation is tried at:
// every one up to that length, evenly spaced ones above. The places only serve
// to tell chance from change; where the change is, all places say.
const permutationPlaces = 32

// energyTest tells whether a series is exchangeable, by the largest Q over a grid
// of places, against that of its random orders.
type energyTest struct {
	sorted []float64 // values, ascending, centred
	block  []int     // the block of the grid that each of them is in
	ends   []int     // where each block ends in the series
	least  int
	// scratch
	counts []float64
	sums   []float64
	pairs  []float64 // len(ends) squared: distances of values of two blocks
	prefix []float64 // (len(ends)+1) squared
}

func newEnergyTest(x []float64, least int) *energyTest {
	n := len(x)
	blocks := min(n, permutationPlaces)
	t := &energyTest{least: least, sorted: make([]float64, n), block: make([]int, n), ends: make([]int, blocks),
		counts: make([]float64, blocks), sums: make([]float64, blocks), pairs: make([]float64, blocks*blocks), prefix: make([]float64, (blocks+1)*(blocks+1))}
	blockOf := make([]int, n)
	for b := range blocks {
		t.ends[b] = (b + 1) * n / blocks
		for i := b * n / blocks; i < t.ends[b]; i++ {
			blockOf[i] = b
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	centre := x[order[n/2]] // sums of what is far from 0 would lose digits
	for i, from := range order {
		t.sorted[i], t.block[i] = x[from]-centre, blockOf[from]
	}
	return t
}

// statistic is the largest Q over the grid for the present assignment of values
// to blocks. Distances are summed in ascending order of the values, so that a
// value is above all before it: O(n * blocks).
func (t *energyTest) statistic() float64 {
	blocks := len(t.ends)
	clear(t.counts)
	clear(t.sums)
	clear(t.pairs)
	for i, v := range t.sorted {
		b := t.block[i]
		row := t.pairs[b*blocks : (b+1)*blocks]
		sums := t.sums[:len(row)]
		for a, c := range t.counts[:len(row)] {
			row[a] += c*v - sums[a]
		}
		t.counts[b]++
		t.sums[b] += v
	}
	t.accumulate()
	return t.largestQ()
}

// accumulate makes prefix[i][j] the sum of distances between the values of the
// first i blocks and those of the first j, each ordered pair once.
func (t *energyTest) accumulate() {
	blocks := len(t.ends)
	w := blocks + 1
	for i := 1; i <= blocks; i++ {
		row := 0.0
		for j := 1; j <= blocks; j++ {
			row += t.pairs[(i-1)*blocks+j-1] + t.pairs[(j-1)*blocks+i-1]
			t.prefix[i*w+j] = t.prefix[(i-1)*w+j] + row
		}
	}
}

func (t *energyTest) largestQ() float64 {
	w := len(t.ends) + 1
	best := math.Inf(-1)
	for i := 1; i < w; i++ {
		at := t.ends[i-1]
		if at < t.least {
			continue
		}
		within := t.prefix[i*w+i]
		for j := i + 1; j < w; j++ {
			n := t.ends[j-1] - at
			if n < t.least {
				continue
			}
			cross := t.prefix[i*w+j] - within
			right := t.prefix[j*w+j] - within - 2*cross
			best = max(best, energyQ(at, n, within/2, right/2, cross))
		}
	}
	return best
}

// p is the p value of "x is exchangeable" among that many random orders of it. Orders
// come from a generator seeded by seed: the same series gives the same p. A series
// that none of the first fifth of the orders reaches is settled (earlyOrders). As soon
// as the answer cannot be at most level any more it stops, and says what it has seen so
// far (Besag & Clifford 1991).
//
// A series of two least parts has one place to be split at, and few ways: all of them
// are tried then. Five values and five have 252, of which the two of a real change are
// .0079: too near to .01 to be left to chance.
func (t *energyTest) p(level float64, orders int, seed [2]uint64) float64 {
	observed := t.statistic()
	slack := 1e-9 * math.Abs(observed) // sums in another order round otherwise
	if n := len(t.sorted); n == 2*t.least && choose(n, t.least) <= float64(orders+1) {
		return t.pOfAllWays(observed - slack)
	}
	rng := rand.New(rand.NewPCG(seed[0], seed[1]))
	early := earlyOrders(orders, level)
	reached := 0
	for done := 1; done <= orders; done++ {
		rng.Shuffle(len(t.block), func(i, j int) { t.block[i], t.block[j] = t.block[j], t.block[i] })
		if t.statistic() >= observed-slack {
			reached++
			if p := twoStageP(reached, early, orders); !Reaches(p, level) {
				return max(p, float64(reached+1)/float64(done+1))
			}
		}
		if done == early && reached == 0 {
			return 1 / float64(early+1)
		}
	}
	return twoStageP(reached, early, orders)
}

// pOfAllWays is p of a series with one place to be split at: the share of all ways to
// choose what is before it that reach a statistic.
func (t *energyTest) pOfAllWays(statistic float64) float64 {
	n, reached, ways := len(t.sorted), 0.0, 0.0
	for chosen := uint64(1)<<t.least - 1; chosen < 1<<n; {
		before, behind := 0, t.least
		for i := range t.block {
			if chosen>>i&1 == 1 {
				t.block[i] = before
				before++
			} else {
				t.block[i] = behind
				behind++
			}
		}
		ways++
		if t.statistic() >= statistic {
			reached++
		}
		lowest := chosen & -chosen // the next larger number with as many bits (Gosper)
		carried := chosen + lowest
		chosen = carried | (chosen^carried)/lowest>>2
	}
	return reached / ways
}

// earlyOrders is after how many orders, of which none reached what was observed, a
// permutation test ends: a fifth, which leaves nearly all of the level to those that
// some do reach. All where a fifth cannot reach half of the level.
func earlyOrders(orders int, level float64) int {
	if early := (orders+1)/5 - 1; Reaches(1/float64(early+1), level/2) {
		return early
	}
	return orders
}

// twoStageP is the p value of a permutation test in which some order reached what was
// observed before it could end early, reached of all of them in the end.
//
// Of what was observed and the orders, all N+1 equally likely to be anywhere among each
// other, at least as extreme are: to be the largest of the first early+1, with
// probability 1/(early+1), and to be among the reached+1 largest of all. The two have in
// common all but the first where the reached+1 largest all come later.
func twoStageP(reached, early, orders int) float64 {
	first := 1 / float64(early+1)
	for i := range reached + 1 {
		first *= max(0, float64(orders-early-i)/float64(orders+1-i))
	}
	return float64(reached+1)/float64(orders+1) + first
}
