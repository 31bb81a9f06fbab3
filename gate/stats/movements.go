package stats

import (
	"math"
	"slices"
)

// Movements are what happened to a series: steps from one level to another, and
// creeps, stretches over which it moved little by little.
type Movements struct {
	Steps  []ChangePoint
	Creeps []Creep
}

// Creep is a stretch of a series without an edge.
type Creep struct {
	From, To int     // of values, To exclusive
	Slope    float64 // per value; the median of all pairs, steps within taken out
	Change   float64 // along the whole stretch, steps within not counted
	P        float64 // Mann-Kendall, two-sided, steps within taken out
}

// LastStep is where the present level began: sessions before it say nothing of
// it. 0 when there was no step.
func (m Movements) LastStep() int {
	if len(m.Steps) == 0 {
		return 0
	}
	return m.Steps[len(m.Steps)-1].At
}

// FindMovements names the steps and the creeps of a series (log session medians
// in time order). ChangePoints cuts a creep into steps; here neighbouring
// segments are joined again where one line describes both better than two levels
// do, by the Bayesian information criterion with the noise of the series taken
// from the differences of neighbours, which neither steps nor creeps inflate
// (bottom-up segmentation: Keogh et al. 2004; criterion: Schwarz 1978). What is
// left between segments is a step where the fitted lines do not meet. A creep
// must also pass MannKendall at the rule's level and come to its floor. Residuals
// of the fit are searched again: a creep can hide a step.
//
// Over 200 made sessions with two steps of 6 % and a creep of 8 %, with a noise
// of 1 %, it names all three and nothing else in more than 95 of a hundred
// series; in noise alone it names something in at most 2 (FuzzFree: see
// TestMovementsOfMadeSeries).
func FindMovements(x []float64, rule ChangeRule) (Movements, error) {
	steps, err := ChangePoints(x, rule)
	if err != nil {
		return Movements{}, err
	}
	at := make([]int, len(steps))
	for i, s := range steps {
		at[i] = s.At
	}
	noise := noiseOf(x, at)
	if noise == 0 { // values repeat: levels are all there is
		return Movements{Steps: steps}, nil
	}
	f := newLineFit(x, noise, rule)
	segments := f.join(at)
	for range maxSearches {
		more := f.hidden(segments)
		if len(more) == 0 {
			break
		}
		for _, s := range segments[1:] {
			more = append(more, s.from)
		}
		slices.Sort(more)
		again := f.join(slices.Compact(more))
		if slices.Equal(again, segments) {
			break
		}
		segments = again
	}
	return f.movements(segments, steps), nil
}

// maxSearches bounds how often residuals are searched.
const maxSearches = 4

// noiseOf is the standard deviation of a series about whatever moves it slowly:
// from the differences of neighbours, those across changes left out.
func noiseOf(x []float64, changes []int) float64 {
	var d []float64
	for i := 1; i < len(x); i++ {
		if !slices.Contains(changes, i) {
			d = append(d, math.Abs(x[i]-x[i-1]))
		}
	}
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return madScale * medianSorted(d) / math.Sqrt2
}

// segment is a stretch that is described by a level or by a line.
type segment struct {
	from, to int
	line     bool
}

// lineFit has the sums from which a segment is fitted in no time.
type lineFit struct {
	x     []float64
	rule  ChangeRule
	noise float64
	// Sums over the first i values, x taken from its median.
	sum, squares, moment []float64
	centre               float64
	penalty              float64 // of one parameter
	costs                map[[2]int]fitted
}

// fitted is the better description of a segment, in units of the squared noise.
type fitted struct {
	cost float64
	line bool
}

func newLineFit(x []float64, noise float64, rule ChangeRule) *lineFit {
	n := len(x)
	f := &lineFit{x: x, rule: rule, noise: noise, centre: medianSorted(sortedCopy(nil, x)), penalty: math.Log(float64(n)),
		sum: make([]float64, n+1), squares: make([]float64, n+1), moment: make([]float64, n+1), costs: map[[2]int]fitted{}}
	for i, v := range x {
		v -= f.centre
		f.sum[i+1] = f.sum[i] + v
		f.squares[i+1] = f.squares[i] + v*v
		f.moment[i+1] = f.moment[i] + v*float64(i)
	}
	return f
}

// fit gives the mean of a segment at its middle, its slope by least squares, and
// the sums of squares about the level and about the line.
func (f *lineFit) fit(from, to int) (level, slope, aboutLevel, aboutLine float64) {
	m := float64(to - from)
	level = (f.sum[to] - f.sum[from]) / m
	aboutLevel = max(0, f.squares[to]-f.squares[from]-m*level*level)
	if to-from < 2 {
		return level, 0, aboutLevel, aboutLevel
	}
	middle := float64(from+to-1) / 2
	spread := m * (m*m - 1) / 12
	product := f.moment[to] - f.moment[from] - m*middle*level
	slope = product / spread
	return level, slope, aboutLevel, max(0, aboutLevel-slope*product)
}

// at is the fitted value of a segment at time t, from the centre.
func (f *lineFit) at(s segment, t float64) float64 {
	level, slope, _, _ := f.fit(s.from, s.to)
	if !s.line {
		return level
	}
	return level + slope*(t-float64(s.from+s.to-1)/2)
}

// best describes a segment by a level, or by a line where that is worth its
// parameter and is a creep.
func (f *lineFit) best(from, to int) fitted {
	key := [2]int{from, to}
	if c, ok := f.costs[key]; ok {
		return c
	}
	_, slope, aboutLevel, aboutLine := f.fit(from, to)
	v := f.noise * f.noise
	c := fitted{cost: aboutLevel/v + f.penalty}
	if line := aboutLine/v + 2*f.penalty; line < c.cost && f.creeps(from, to, slope) {
		c = fitted{cost: line, line: true}
	}
	f.costs[key] = c
	return c
}

func (f *lineFit) creeps(from, to int, slope float64) bool {
	m := to - from
	if m < 2*f.rule.LeastSegment || math.Abs(slope)*float64(m-1) < f.rule.Floor {
		return false
	}
	return Reaches(mannKendall(f.x[from:to]).PTwoSided, f.rule.Level)
}

// join cuts the series at the given places and joins neighbours as long as that
// describes it better; then it moves what is left of the cuts to the best places.
func (f *lineFit) join(at []int) []segment {
	segments := make([]segment, 0, len(at)+1)
	from := 0
	for _, to := range append(slices.Clone(at), len(f.x)) {
		segments = append(segments, segment{from: from, to: to})
		from = to
	}
	for len(segments) > 1 {
		best, gain := 0, 0.0
		for i := range segments[1:] {
			a, b := segments[i], segments[i+1]
			apart := f.best(a.from, a.to).cost + f.best(b.from, b.to).cost + f.penalty
			if g := apart - f.best(a.from, b.to).cost; g > gain {
				best, gain = i, g
			}
		}
		if gain == 0 {
			break
		}
		segments[best].to = segments[best+1].to
		segments = slices.Delete(segments, best+1, best+2)
	}
	for i := range segments {
		segments[i].line = f.best(segments[i].from, segments[i].to).line
	}
	for range 2 {
		for i := range segments[1:] {
			f.place(&segments[i], &segments[i+1])
		}
	}
	return segments
}

// place moves the cut between two segments to where both fit best.
func (f *lineFit) place(a, b *segment) {
	about := func(s segment) float64 {
		_, _, level, line := f.fit(s.from, s.to)
		if s.line {
			return line
		}
		return level
	}
	least := f.rule.LeastSegment
	best, cut := math.Inf(1), a.to
	for at := a.from + least; at <= b.to-least; at++ {
		if c := about(segment{a.from, at, a.line}) + about(segment{at, b.to, b.line}); c < best {
			best, cut = c, at
		}
	}
	a.to, b.from = cut, cut
}

// hidden are changes of the residuals within lines.
func (f *lineFit) hidden(segments []segment) []int {
	var more []int
	for _, s := range segments {
		if !s.line {
			continue
		}
		residuals := make([]float64, s.to-s.from)
		for i := range residuals {
			residuals[i] = f.x[s.from+i] - f.at(s, float64(s.from+i))
		}
		changes, err := ChangePoints(residuals, f.rule)
		if err != nil {
			continue // residuals of finite values are finite, the rule was checked
		}
		for _, c := range changes {
			more = append(more, s.from+c.At)
		}
	}
	return more
}

// jump is how far the fits of two segments are apart where they meet, and the
// standard error of that.
func (f *lineFit) jump(a, b segment) (size, se float64) {
	edge := float64(b.from) - 0.5
	variance := 0.0
	for _, s := range []segment{a, b} {
		m := float64(s.to - s.from)
		variance += 1 / m
		if s.line {
			t := edge - float64(s.from+s.to-1)/2
			variance += t * t / (m * (m*m - 1) / 12)
		}
	}
	return f.at(b, edge) - f.at(a, edge), f.noise * math.Sqrt(variance)
}
