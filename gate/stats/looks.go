package stats

import (
	"fmt"
	"math"
	"slices"
)

// Design says how repeats become evidence: which least p they can give and how
// fast the error of the estimate falls. The zero value is PairedDesign.
type Design struct {
	kind   designKind
	stored int // repeats of the other side, when it does not grow
}

type designKind int

const (
	pairedBlocks designKind = iota
	bothSides
	storedSide
	overSessions
)

// PairedDesign compares blocks: a repeat is one block, the test is SignedRank.
func PairedDesign() Design { return Design{kind: pairedBlocks} }

// UnpairedDesign compares two sides that both grow, by RankSum of n against n.
func UnpairedDesign() Design { return Design{kind: bothSides} }

// StoredDesign compares a side that grows with m values that are there already,
// by RankSum of n against m.
func StoredDesign(m int) Design { return Design{kind: storedSide, stored: m} }

// SessionsDesign holds a session against the prediction interval of stored ones.
// Its p has no least value: one repeat decides as well as its spread allows.
func SessionsDesign() Design { return Design{kind: overSessions} }

// LeastP is the smallest one-sided p value that n repeats can give; 1 where they
// can give none.
func (d Design) LeastP(n int) float64 {
	switch {
	case n < 1:
		return 1
	case d.kind == bothSides:
		return MinPRankSum(n, n)
	case d.kind == storedSide:
		return MinPRankSum(d.stored, n)
	case d.kind == overSessions:
		return 0
	}
	return MinPSignedRank(n)
}

// SmallestN is the smallest number of repeats that can reach alpha; 0 when none
// up to a million can.
func (d Design) SmallestN(alpha float64) int { return smallestN(alpha, d.LeastP) }

// MaxFamily is the largest family in which Holm can still reject the least p of
// n repeats at alpha; 0: not even one test alone.
func (d Design) MaxFamily(n int, alpha float64) int { return maxFamily(d.LeastP(n), alpha) }

// inverse is the squared standard error of the estimate in units of the squared
// standard deviation of one repeat.
func (d Design) inverse(n int) float64 {
	switch d.kind {
	case bothSides:
		return 2 / float64(n)
	case storedSide:
		return 1/float64(n) + 1/float64(d.stored)
	case overSessions:
		return math.Pi / 2 / float64(n) // of a session's median
	}
	return 1 / float64(n)
}

// LookLevel is the one-sided error of each of k planned looks that share alpha
// equally. By Bonferroni's inequality the looks together keep alpha, whatever
// the test and however its p values depend on each other. Boundaries for normal
// increments (Pocock 1977) give a look a little more, which exact tests of few
// repeats cannot use: their p values come in steps.
func LookLevel(alpha float64, k int) float64 { return alpha / float64(max(1, k)) }

const (
	// leastFirstLook keeps the first look from resting on four runs, whose test
	// cannot tell apart more than one order of them in seventy.
	leastFirstLook = 5
	// usualLastLook is where two arms with a spread of 3 % are decided in 99 % of
	// the cases at a budget of 5 %.
	usualLastLook = 20
	maxLooks      = 3
)

// DefaultLooks are the repeats at which a family of gated tests that share alpha
// is judged when nobody says otherwise, at most three and each about the double
// of the one before: first the least count that can decide a single test (all
// that a pass needs), last the least that carries the whole family, but 20 at
// least, and the half of it between them. Paired that is 6, 10, 20 for up to
// 17,476 tests, unpaired 5, 10, 20. nil when no number of repeats reaches the
// level.
func DefaultLooks(d Design, alpha float64, family int) []int {
	return LooksTo(d, alpha, family, usualLastLook)
}

// LooksTo are the looks of DefaultLooks when the last is to have so many repeats,
// or more.
func LooksTo(d Design, alpha float64, family, least int) []int {
	level := LookLevel(alpha, maxLooks)
	first := d.SmallestN(level)
	carries := d.SmallestN(level / float64(max(1, family)))
	if first == 0 || carries == 0 {
		return nil
	}
	first = max(first, leastFirstLook)
	last := max(carries, usualLastLook, least, 2*first)
	return slices.Compact([]int{first, max(first, last/2), last})
}

// LookReach is what one planned look can decide.
type LookReach struct {
	Repeats int
	LeastP  float64
	// Family is the largest family in which one fail can be called here. A pass
	// is a claim about each test by itself: it needs a family of one.
	Family  int
	CanPass bool
	CanFail bool // in the family that was planned
}

// LookPlan says what planned looks can decide. A plan that cannot call a fail
// could with LeastRepeats at its last look, with MostLooks or with MostTests: any
// one of the three is enough.
type LookPlan struct {
	Level float64 // one-sided error of each look
	Looks []LookReach
	// FirstPass and FirstFail are the first looks (1-based) that can call one;
	// 0: none can.
	FirstPass, FirstFail int
	// LeastRepeats at the last of as many looks carry the family; 0: no number does.
	LeastRepeats int
	// MostLooks can share the error when the last has the repeats it has; 0: it
	// carries the family not even alone.
	MostLooks int
	// MostTests is the largest family that the last look carries; 0: not even one.
	MostTests int
}

// Decidable reports whether the plan can call a pass and a fail.
func (p LookPlan) Decidable() bool { return p.FirstPass > 0 && p.FirstFail > 0 }

// CheckLooks holds planned looks (repeats, ascending) against their design, the
// error alpha they share and the number of gated tests in the family, before
// anything runs.
func CheckLooks(d Design, looks []int, alpha float64, family int) (LookPlan, error) {
	if err := checkAlpha("looks", alpha); err != nil {
		return LookPlan{}, err
	}
	if err := checkLooks(looks); err != nil {
		return LookPlan{}, err
	}
	family = max(1, family)
	p := LookPlan{Level: LookLevel(alpha, len(looks)), Looks: make([]LookReach, len(looks))}
	for i, n := range looks {
		r := LookReach{Repeats: n, LeastP: d.LeastP(n), Family: d.MaxFamily(n, p.Level)}
		r.CanPass, r.CanFail = r.Family >= 1, r.Family >= family
		p.Looks[i] = r
		if r.CanPass && p.FirstPass == 0 {
			p.FirstPass = i + 1
		}
		if r.CanFail && p.FirstFail == 0 {
			p.FirstFail = i + 1
		}
	}
	last := p.Looks[len(looks)-1]
	p.LeastRepeats = d.SmallestN(p.Level / float64(family))
	p.MostTests = last.Family
	p.MostLooks = min(len(looks), d.MaxFamily(last.Repeats, alpha)/family)
	return p, nil
}

func checkLooks(looks []int) error {
	if len(looks) == 0 {
		return fmt.Errorf("looks: %w", ErrEmpty)
	}
	for i, n := range looks {
		if n < 1 || i > 0 && n <= looks[i-1] {
			return fmt.Errorf("looks %v: each must be a number of repeats above the one before", looks)
		}
	}
	return nil
}
