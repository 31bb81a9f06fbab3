package stats

// divisions counts in how many ways m of m+n values can be chosen so that their
// doubled U has each value up to a limit. Rows are the number chosen so far,
// columns the doubled U so far, in steps of unit.
//
// Counts are floating point: sums of positive whole numbers, exact below 2^53
// and with a relative error of a few units of the last place above.
type divisions struct {
	tables *Tables
	cells  *[]float64
	m, n   int
	limit  int // of the doubled U
	unit   int
	width  int
	weight []float64
}

func newDivisions(t *Tables, groups []int, m, n, limit int) *divisions {
	d := &divisions{tables: t, m: m, n: n, limit: limit, unit: 2}
	for _, g := range groups {
		if g%2 == 0 {
			d.unit = 1 // only an even group can be split into halves of U
			break
		}
	}
	d.width = limit/d.unit + 1
	d.cells = t.borrow((m + 1) * d.width)
	return d
}

// release gives the cells back; what count returned is dead after it.
func (d *divisions) release() { d.tables.restore(d.cells) }

func (d *divisions) row(k int) []float64 { return (*d.cells)[k*d.width : (k+1)*d.width] }

// count adds the groups in ascending order of their value and returns the row
// in which all m are chosen.
func (d *divisions) count(groups []int) []float64 {
	d.row(0)[0] = 1
	before := 0
	for _, size := range groups {
		d.weigh(size)
		// Descending, so that rows below still hold the state before the group.
		for k := min(d.m, before+size); k >= max(1, before+size-d.n); k-- {
			d.extend(k, before, size)
		}
		before += size
	}
	return d.row(d.m)
}

// weigh fills weight with the ways to choose c of size equal values.
func (d *divisions) weigh(size int) {
	d.weight = d.weight[:0]
	for c := range size + 1 {
		d.weight = append(d.weight, choose(size, c))
	}
}

// extend adds to row k all choices of c values from a group of size equal ones
// that stands above before others. Choosing c puts each of them above the
// values left out below, and level with those left out of the group.
func (d *divisions) extend(k, before, size int) {
	// All that is chosen later will stand above what was left out until now: a
	// state that exceeds the limit by that alone needs no counting.
	room := d.limit - 2*(d.m-k)*(before+size-k)
	if room < 0 {
		return
	}
	to := d.row(k)
	for c := max(1, k-before); c <= min(size, k); c++ {
		from, out := k-c, before-(k-c)
		if out > d.n {
			break
		}
		shift := c * (2*out + size - c)
		last := min(2*from*out, room-shift) // 2*from*out: the most so far
		if last < 0 {
			continue
		}
		addScaled(to[shift/d.unit:], d.row(from)[:last/d.unit+1], d.weight[c])
	}
}

// addScaled adds w*src to dst, which is at least as long.
func addScaled(dst, src []float64, w float64) {
	dst = dst[:len(src)]
	if w == 1 {
		for i, v := range src {
			dst[i] += v
		}
		return
	}
	for i, v := range src {
		dst[i] += w * v
	}
}
