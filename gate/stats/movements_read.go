package stats

import (
	"math"
	"slices"
)

// edgeErrors is how many standard errors apart two fitted segments must be where
// they meet to be called a step: below, a creep begins, ends or changes its pace.
// The place was chosen to fit, so the usual two or three are not enough.
const edgeErrors = 3.5

// movements reads steps and creeps off the segments.
func (f *lineFit) movements(segments []segment, found []ChangePoint) Movements {
	var m Movements
	straight := slices.Clone(f.x) // without steps
	shift := 0.0
	for i := range segments {
		s := segments[i]
		if i > 0 {
			size, se := f.jump(segments[i-1], s)
			if f.isStep(segments[i-1], s, size, se) {
				m.Steps = append(m.Steps, f.step(segments, i, size, found))
				shift += size
			}
		}
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

// isStep: two levels were told apart by their own test; a line must miss its
// neighbour by more than it may by chance.
func (f *lineFit) isStep(a, b segment, size, se float64) bool {
	if math.Abs(size) < f.rule.Floor {
		return false
	}
	return !a.line && !b.line || math.Abs(size) > edgeErrors*se
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
	part := straight[c.From:c.To]
	times := make([]float64, len(part))
	for i := range times {
		times[i] = float64(i)
	}
	if s, err := TheilSen(times, part, 0.025); err == nil {
		c.Slope = s.Estimate
	}
	c.P = mannKendall(part).PTwoSided
	return c
}
