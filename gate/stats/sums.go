package stats

import "slices"

// gatherBelow is how many sums are sorted rather than searched any further.
const gatherBelow = 24

// pairSums are the sums a[i]+b[j] of two ascending samples, none of which is
// written down: with every row and column in order, a rank is found by halving.
// Rounding keeps the order, since the floating-point sum is monotone in both.
//
// A search by windows over the rows, after Johnson & Mizoguchi 1978 and Monahan
// 1984 (Algorithm 616); for 20 x 20 it looks at some 100 of 400 sums.
type pairSums struct {
	a, b []float64
	// upper leaves only j >= i of a square: the Walsh sums of one sample.
	upper bool

	from, to   []int // window of each row in which the rank may lie
	cut, after []int // where a row reaches and passes the pivot
}

// newPairSums orders the sums of two ascending samples. scratch serves for the
// windows when it has room for 4 ints a row.
func newPairSums(a, b []float64, upper bool, scratch []int) pairSums {
	if len(a) > len(b) {
		a, b = b, a
	}
	rows := len(a)
	if cap(scratch) < 4*rows {
		scratch = make([]int, 4*rows)
	}
	s := scratch[:4*rows]
	return pairSums{a: a, b: b, upper: upper,
		from: s[:rows], to: s[rows : 2*rows], cut: s[2*rows : 3*rows], after: s[3*rows:]}
}

// size is the number of sums.
func (p *pairSums) size() int {
	if p.upper {
		return len(p.a) * (len(p.a) + 1) / 2
	}
	return len(p.a) * len(p.b)
}

// median is the middle sum, or the mean of both middle ones.
func (p *pairSums) median() float64 {
	n := p.size()
	v, next := p.ranked((n + 1) / 2)
	if n%2 == 1 {
		return v
	}
	return midpoint(v, next)
}

// ranked returns the k-th smallest sum (1-based) and the one after it; the
// largest has no next and is returned twice.
func (p *pairSums) ranked(k int) (value, next float64) {
	left := p.size()
	for i := range p.from {
		p.from[i], p.to[i] = 0, len(p.b)
		if p.upper {
			p.from[i] = i
		}
	}
	rank := k - 1
	for left > gatherBelow {
		pivot := p.pivot(left)
		less, upTo := p.split(pivot)
		switch {
		case rank < less:
			copy(p.to, p.cut)
			left = less
		case rank >= upTo:
			copy(p.from, p.after)
			rank -= upTo
			left -= upTo
		case rank+1 < upTo:
			return pivot, pivot
		default:
			return pivot, p.smallestFrom(p.after, pivot)
		}
	}
	return p.gather(rank)
}

// gather sorts the few sums that are left and reads the rank off them.
func (p *pairSums) gather(rank int) (value, next float64) {
	var buf [gatherBelow]float64
	rest := buf[:0]
	for i, v := range p.a {
		for j := p.from[i]; j < p.to[i]; j++ {
			rest = append(rest, v+p.b[j])
		}
	}
	slices.Sort(rest)
	if rank+1 < len(rest) {
		return rest[rank], rest[rank+1]
	}
	return rest[rank], p.smallestFrom(p.to, rest[rank])
}

// pivot picks the middle of the window of the row in the middle of all windows.
// Every round discards at least the pivot itself, whatever the data.
func (p *pairSums) pivot(left int) float64 {
	seen := 0
	for i := range p.from {
		seen += p.to[i] - p.from[i]
		if 2*seen >= left && p.to[i] > p.from[i] {
			return p.a[i] + p.b[(p.from[i]+p.to[i])/2]
		}
	}
	panic("stats: no sum is left to choose from") // a rank outside 1..size
}

// split sets cut and after of every row and counts the sums of the windows that
// are below the pivot and those that are not above it.
func (p *pairSums) split(pivot float64) (less, upTo int) {
	for i, v := range p.a {
		lo, hi := p.from[i], p.to[i]
		for lo < hi {
			mid := int(uint(lo+hi) >> 1)
			if v+p.b[mid] < pivot {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		p.cut[i] = lo
		for lo < p.to[i] && v+p.b[lo] == pivot {
			lo++
		}
		p.after[i] = lo
		less += p.cut[i] - p.from[i]
		upTo += lo - p.from[i]
	}
	return less, upTo
}

// smallestFrom is the smallest sum at or behind the given column of each row,
// or fallback when no row has one.
func (p *pairSums) smallestFrom(columns []int, fallback float64) float64 {
	best, found := fallback, false
	for i, v := range p.a {
		if j := columns[i]; j < len(p.b) {
			if s := v + p.b[j]; !found || s < best {
				best, found = s, true
			}
		}
	}
	return best
}
