package stats

import (
	"fmt"
	"math"
	"slices"
)

// ChangeRule says what counts as a change in a series.
type ChangeRule struct {
	// Level is the error of each test: a series in which nothing changes has a
	// change named in at most that share of cases.
	Level float64
	// LeastSegment is the least number of values between two changes, 2 or more.
	// Five say what a level is; one odd session is none.
	LeastSegment int
	// Floor is the least difference of two levels that matters, in the unit of
	// the series: on logarithms 0.01 is 1 %. 0 for none.
	Floor float64
	// Permutations are drawn for each test, at least 1/Level - 1.
	Permutations int
	// Seed of the permutations: the same series, rule and seed give the same answer.
	Seed uint64
}

// DefaultChangeRule is for log session medians: .01, five sessions, 1 %.
func DefaultChangeRule() ChangeRule {
	return ChangeRule{Level: .01, LeastSegment: 5, Floor: .01, Permutations: 999}
}

func (r ChangeRule) check() error {
	switch {
	case checkAlpha("change points", r.Level) != nil:
		return checkAlpha("change points", r.Level)
	case r.LeastSegment < 2:
		return fmt.Errorf("change points: segments of %d, want at least 2", r.LeastSegment)
	case !(r.Floor >= 0) || !finite(r.Floor):
		return fmt.Errorf("change points: floor %v is no size of a change", r.Floor)
	case !Reaches(1/float64(r.Permutations+1), r.Level) || r.Permutations < 1:
		return fmt.Errorf("change points: %d permutations cannot reach the level %v", r.Permutations, r.Level)
	}
	return nil
}

// ChangePoint is a place at which a series took another level.
type ChangePoint struct {
	At   int     // index of the first value of the new level
	Q    float64 // energy statistic of the segments on both sides
	P    float64 // of "these segments are one", by permutation
	Step float64 // median behind - median before, in the unit of the series
}

// ChangePoints finds the changes of level of a series in time order (session
// medians as logarithms; what is missing is left out, not filled in). Segments
// are split at their bestEnergySplit as long as a permutation test says that they
// are not one (E-divisive: Matteson & James 2014, section 3), then every change is
// placed anew between its neighbours and tested again, and those below the floor
// are taken out. A segment shorter than two least ones is never split.
//
// The permutation test was chosen before the t test at .001 of Hunter (Fleming et
// al. 2023) and Otava. That one is held against a split that was chosen as the
// largest of many: of 200 normal values without a change it calls 18 in a
// thousand one with parts of at least five values, and 478 with parts of two. It
// also needs values that are normal.
//
// It answers about levels: a slow drift is cut into several. FindMovements
// tells them apart.
func ChangePoints(x []float64, rule ChangeRule) ([]ChangePoint, error) {
	if err := checkSeries("change points", x); err != nil {
		return nil, err
	}
	if err := rule.check(); err != nil {
		return nil, err
	}
	f := changeFinder{x: x, rule: rule, tested: map[[2]int]splitTest{}}
	at := f.divide(0, len(x), nil)
	at = f.settle(at)
	for len(at) > 0 {
		i, step := f.least(at)
		if step >= rule.Floor {
			break
		}
		at = f.settle(slices.Delete(at, i, i+1))
	}
	return f.describe(at), nil
}

// changeFinder remembers what it has tested: settling asks for the same segments.
type changeFinder struct {
	x      []float64
	rule   ChangeRule
	tested map[[2]int]splitTest
}

// splitTest is the best split of a segment; p is above the level where it is one.
type splitTest struct {
	at int
	q  float64
	p  float64
}

func (f *changeFinder) split(from, to int) splitTest {
	key := [2]int{from, to}
	if t, ok := f.tested[key]; ok {
		return t
	}
	t := splitTest{p: 1}
	part, least := f.x[from:to], f.rule.LeastSegment
	if len(part) >= 2*least && !allEqual(part) {
		t.p = newEnergyTest(part, least).p(f.rule.Level, f.rule.Permutations, [2]uint64{f.rule.Seed, uint64(from)<<32 | uint64(to)})
		if Reaches(t.p, f.rule.Level) {
			s := bestEnergySplit(part, least)
			t.at, t.q = from+s.at, s.q
		}
	}
	f.tested[key] = t
	return t
}

// divide appends the changes between from and to, in order.
func (f *changeFinder) divide(from, to int, at []int) []int {
	t := f.split(from, to)
	if !Reaches(t.p, f.rule.Level) {
		return at
	}
	at = f.divide(from, t.at, at)
	at = append(at, t.at)
	return f.divide(t.at, to, at)
}

// settle places every change anew between its neighbours, and drops those that
// are none there, until nothing moves. The number of rounds is bounded: two
// places may be taken in turn.
func (f *changeFinder) settle(at []int) []int {
	for range len(f.x) {
		moved := false
		for i := 0; i < len(at); i++ {
			t := f.split(f.neighbours(at, i))
			switch {
			case !Reaches(t.p, f.rule.Level):
				at = slices.Delete(at, i, i+1)
				i--
				moved = true
			case t.at != at[i]:
				// Splits search ends too: one at another step of the same segment
				// is no better place for this one.
				if t.q > f.q(at, i) {
					at[i], moved = t.at, true
				}
			}
		}
		if !moved {
			break
		}
	}
	return at
}

// neighbours are the ends of the segments on both sides of change i.
func (f *changeFinder) neighbours(at []int, i int) (from, to int) {
	to = len(f.x)
	if i > 0 {
		from = at[i-1]
	}
	if i+1 < len(at) {
		to = at[i+1]
	}
	return from, to
}

// q is the energy statistic of the whole segments on both sides of change i.
func (f *changeFinder) q(at []int, i int) float64 {
	from, to := f.neighbours(at, i)
	return segmentsQ(f.x[from:at[i]], f.x[at[i]:to])
}

func segmentsQ(x, y []float64) float64 {
	cross := 0.0
	for _, a := range x {
		for _, b := range y {
			cross += math.Abs(a - b)
		}
	}
	return energyQ(len(x), len(y), distances(x), distances(y), cross)
}

// distances is the sum of |x_i - x_j| over pairs.
func distances(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	sum, below := 0.0, 0.0
	for i, v := range s {
		v -= s[0]
		sum += float64(i)*v - below
		below += v
	}
	return sum
}

// least is the change with the smallest step.
func (f *changeFinder) least(at []int) (i int, size float64) {
	size = math.Inf(1)
	for k := range at {
		if s := math.Abs(f.step(at, k)); s < size {
			i, size = k, s
		}
	}
	return i, size
}

func (f *changeFinder) step(at []int, i int) float64 {
	from, to := f.neighbours(at, i)
	return medianSorted(sortedCopy(nil, f.x[at[i]:to])) - medianSorted(sortedCopy(nil, f.x[from:at[i]]))
}

func (f *changeFinder) describe(at []int) []ChangePoint {
	out := make([]ChangePoint, len(at))
	for i := range at {
		out[i] = ChangePoint{At: at[i], Q: f.q(at, i), P: f.split(f.neighbours(at, i)).p, Step: f.step(at, i)}
	}
	return out
}
