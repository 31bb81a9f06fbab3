package stats

import (
	"math"
	"slices"
)

// edgePrice is by how much, in units of the squared noise, a jump between two
// segments must describe them better than a kink does to be called a step: else a
// creep begins, ends or changes its pace there. Its place was chosen to fit, so
// the 4 or 9 of two or three standard errors is not enough.
const edgePrice = 12

// movements reads steps and creeps off the segments.
func (f *lineFit) movements(segments []segment, found []ChangePoint) Movements {
	var m Movements
	sizes := make([]float64, len(segments)) // of the step at the beginning, 0 for a kink
	for i := 1; i < len(segments); i++ {
		size, ok := f.jump(&segments[i-1], &segments[i])
		if !ok {
			continue
		}
		if c := f.step(segments, i, size, found); Reaches(c.P, f.rule.Level) {
			sizes[i] = size
			m.Steps = append(m.Steps, c)
		}
	}
	straight := slices.Clone(f.x) // without steps
	shift := 0.0
	for i, s := range segments {
		shift += sizes[i]
		for k := s.from; k < s.to; k++ {
			straight[k] -= shift
		}
	}
	for i := 0; i < len(segments); {
		j := i
		for j < len(segments) && segments[j].line && f.rises(segments[j]) == f.rises(segments[i]) {
			j++
		}
		if j > i {
			m.Creeps = append(m.Creeps, f.creep(segments[i:j], straight))
		}
		i = max(j, i+1)
	}
	return m
}

func (f *lineFit) rises(s segment) bool {
	_, slope, _, _ := f.fit(s.from, s.to)
	return slope > 0
}

// jump is the size of the step between two segments, if there is one. Two levels
// were told apart by their own test. Where one is a line, it must not be possible
// to let them meet; if it is, the cut moves to where they do.
func (f *lineFit) jump(a, b *segment) (size float64, ok bool) {
	edge := float64(b.from) - 0.5
	size = f.at(*b, edge) - f.at(*a, edge)
	if a.line || b.line {
		about, kink := f.meeting(*a, *b)
		apart := f.about(*a) + f.about(*b)
		if about-apart < edgePrice*f.noise*f.noise {
			a.to, b.from = kink, kink
			return 0, false
		}
	}
	return size, math.Abs(size) >= f.rule.Floor
}

// about is the sum of squares about a segment's level or line.
func (f *lineFit) about(s segment) float64 {
	_, _, level, line := f.fit(s.from, s.to)
	if s.line {
		return line
	}
	return level
}

// meeting fits two segments that meet at a kink, and returns the least sum of
// squares and the kink's place: a level and a line, a line and a level, or two
// lines.
func (f *lineFit) meeting(a, b segment) (about float64, kink int) {
	y := make([]float64, b.to-a.from)
	t := make([]float64, len(y))
	for i := range y {
		y[i], t[i] = f.x[a.from+i]-f.centre, float64(i)
	}
	centred(y)
	centred(t)
	if a.line && b.line {
		without(y, t)
	}
	about, kink = math.Inf(1), b.from
	bend := make([]float64, len(y))
	least := f.rule.LeastSegment
	for at := a.from + least; at <= b.to-least; at++ {
		for i := range bend {
			bend[i] = 0
			if behind := a.from+i >= at; behind == b.line {
				bend[i] = float64(a.from + i - at)
			}
		}
		centred(bend)
		if a.line && b.line {
			without(bend, t)
		}
		if rest := leftOver(y, bend); rest < about {
			about, kink = rest, at
		}
	}
	return about, kink
}

func centred(x []float64) {
	m := mean(x)
	for i := range x {
		x[i] -= m
	}
}

// without takes from x what goes along with t.
func without(x, t []float64) {
	if tt := dot(t, t); tt > 0 {
		b := dot(x, t) / tt
		for i := range x {
			x[i] -= b * t[i]
		}
	}
}

// leftOver is the sum of squares of y without what goes along with x.
func leftOver(y, x []float64) float64 {
	yy, xx, xy := dot(y, y), dot(x, x), dot(x, y)
	if xx == 0 {
		return yy
	}
	return max(0, yy-xy*xy/xx)
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// step describes the step at the beginning of segment i. P is that of the test
// which found it when it stayed in its place, else that of the segments beside it.
func (f *lineFit) step(segments []segment, i int, size float64, found []ChangePoint) ChangePoint {
	a, b := segments[i-1], segments[i]
	if k := slices.IndexFunc(found, func(c ChangePoint) bool { return c.At == b.from }); k >= 0 && !a.line && !b.line {
		return found[k]
	}
	around := make([]float64, b.to-a.from)
	for k := range around {
		s := a
		if a.from+k >= b.from {
			s = b
		}
		t := float64(a.from + k)
		around[k] = f.x[a.from+k] - f.at(s, t) // what no level or line explains
		if s == b {
			around[k] += size
		}
	}
	c := ChangePoint{At: b.from, Step: size}
	c.Q = segmentsQ(around[:b.from-a.from], around[b.from-a.from:])
	c.P = newEnergyTest(around, f.rule.LeastSegment).p(f.rule.Level, f.rule.Permutations, [2]uint64{f.rule.Seed, uint64(a.from)<<32 | uint64(b.to)})
	return c
}

func (f *lineFit) creep(segments []segment, straight []float64) Creep {
	c := Creep{From: segments[0].from, To: segments[len(segments)-1].to}
	for i, s := range segments {
		_, slope, _, _ := f.fit(s.from, s.to)
		values := s.to - s.from
		if i == 0 {
			values-- // n values are n-1 apart
		}
		c.Change += slope * float64(values)
	}
	c.P = mannKendall(straight[c.From:c.To]).twoSided
	return c
}
