package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// planPower is the probability with which planned repeats decide.
	planPower = 0.9
	// maxPlanned ends a plan: what needs more repeats is not decidable by repeats.
	maxPlanned = 1 << 20
	// rankLoss is what rank tests pay against t tests when values are normal:
	// one over the asymptotic relative efficiency 3/pi. Source: Hodges & Lehmann 1956.
	rankLoss = math.Pi / 3
)

// planFactor is (z(1-level) + z(power))^2 * pi/3: 8.97 at the level 0.05, so that
// n differences resolve a shift of sd*sqrt(8.97/n), and two samples of n need
// twice as many: the rules n = 9*(sd/delta)^2 and n = 17.9*(cv/delta)^2.
// Source: Noether 1987.
//
// The last factor adds about z^2/2 values in all, since the spread is estimated
// from the same values (Guenther 1981); without it a plan of five or six blocks
// decides in 65 % of the cases instead of 90 %.
func planFactor(level float64, values int) float64 {
	z := -distuv.UnitNormal.Quantile(level)
	both := z + distuv.UnitNormal.Quantile(planPower)
	return both * both * rankLoss * (1 + z*z/(2*float64(values)))
}

// RepeatsUnpaired returns how many runs a side decide, with probability 0.9 at
// one-sided level, whether a change lies beyond a limit from which it is delta
// away: about 17.9*(cv/delta)^2 at 0.05, and never fewer than can reach the
// level. cv is the standard deviation of the logs (about the coefficient of
// variation), delta = |log of the true ratio - log of the allowed ratio|. ok is
// false when no number of repeats decides: delta is 0, a value is not a number,
// or the answer is above a million.
func RepeatsUnpaired(cv, delta, level float64) (n int, ok bool) {
	return repeats(delta, func(n int) (float64, bool) { return SmallestShift(cv, n, n, level) })
}

// RepeatsPaired is RepeatsUnpaired for blocks: about 9*(sd/delta)^2 at 0.05, with
// sd the standard deviation of the log differences of a block.
func RepeatsPaired(sd, delta, level float64) (n int, ok bool) {
	return repeats(delta, func(n int) (float64, bool) { return SmallestShiftPaired(sd, n, level) })
}

func repeats(delta float64, resolved func(n int) (float64, bool)) (int, bool) {
	if !(delta > 0) {
		return 0, false
	}
	n := smallest(func(n int) bool {
		shift, ok := resolved(n)
		return ok && shift <= delta
	})
	return n, n > 0
}

// SmallestNUnpaired is the smallest n whose rank-sum test of n against n can
// reach alpha: 3 at 0.05, 6 at 0.05/40. 0 for a level outside (0, 0.5].
func SmallestNUnpaired(alpha float64) int {
	return smallestN(alpha, func(n int) float64 { return MinPRankSum(n, n) })
}

// SmallestNAgainst is the smallest number of current values that can reach alpha
// against m stored ones. 0 when none up to a million can, or m is below 1.
func SmallestNAgainst(m int, alpha float64) int {
	return smallestN(alpha, func(n int) float64 { return MinPRankSum(m, n) })
}

// SmallestNPaired is the smallest number of blocks whose signed-rank test can
// reach alpha: 5 at 0.05. 0 for a level outside (0, 0.5].
func SmallestNPaired(alpha float64) int { return smallestN(alpha, MinPSignedRank) }

func smallestN(alpha float64, least func(n int) float64) int {
	if checkAlpha("", alpha) != nil {
		return 0
	}
	return smallest(func(n int) bool { return Reaches(least(n), alpha) })
}

// smallest finds the least n from 1 to a million that is enough, by doubling and
// halving; what is more than enough must be enough. 0 when none is.
func smallest(enough func(n int) bool) int {
	for hi := 1; hi <= maxPlanned; hi *= 2 {
		if enough(hi) {
			lo := hi/2 + 1
			return lo + sort.Search(hi-lo, func(i int) bool { return enough(lo + i) })
		}
	}
	return 0
}

// MaxFamilyUnpaired is the largest family in which Holm can still reject the
// smallest p value of m against n runs: 12 for five a side at 0.05. 0: not even
// a family of one.
func MaxFamilyUnpaired(m, n int, alpha float64) int { return maxFamily(MinPRankSum(m, n), alpha) }

// MaxFamilyPaired is the largest family in which Holm can still reject the
// smallest p value of n blocks: 51 for ten at 0.05.
func MaxFamilyPaired(n int, alpha float64) int { return maxFamily(MinPSignedRank(n), alpha) }

func maxFamily(least, alpha float64) int {
	if checkAlpha("", alpha) != nil {
		return 0
	}
	f := math.Floor(alpha / least * (1 + levelSlack))
	return int(min(f, math.MaxInt32))
}

// SmallestShift is how far beyond the limit a change must be, on the log scale,
// to be called a fail with probability 0.9, by the rule of RepeatsUnpaired for n
// current against m reference runs. ok is false when these counts cannot reach
// the level, or a parameter is no number.
func SmallestShift(sd float64, m, n int, level float64) (shift float64, ok bool) {
	if checkAlpha("", level) != nil || !Reaches(MinPRankSum(m, n), level) {
		return 0, false
	}
	return planShift(sd, 1/float64(m)+1/float64(n), m+n, level)
}

// SmallestShiftPaired is SmallestShift for n blocks whose log differences have
// the standard deviation sd.
func SmallestShiftPaired(sd float64, n int, level float64) (shift float64, ok bool) {
	if checkAlpha("", level) != nil || !Reaches(MinPSignedRank(n), level) {
		return 0, false
	}
	return planShift(sd, 1/float64(n), n, level)
}

func planShift(sd, inverse float64, values int, level float64) (float64, bool) {
	return planned(sd*math.Sqrt(planFactor(level, values)*inverse), sd >= 0)
}

// planned keeps a figure that is none from leaving as a number.
func planned(v float64, sound bool) (float64, bool) {
	if !sound || !finite(v) {
		return 0, false
	}
	return v, true
}

// SmallestShiftSessions is SmallestShift for prediction bounds: q new against k
// stored sessions with spread s on df degrees of freedom. The power term uses t
// as well, which is close for df of five and more.
func (t *Tables) SmallestShiftSessions(s float64, df, k, q int, level float64) (shift float64, ok bool) {
	width, err := predictionWidth(s, df, k, q)
	if err != nil || checkAlpha("", level) != nil {
		return 0, false
	}
	return planned(width*(t.studentUpper(level, df)+t.studentUpper(1-planPower, df)), true)
}

// SmallestEffect is the relative increase that would be called a fail with
// probability 0.9 for n current against m reference runs: SmallestShift beyond
// the budget, an allowed increase as a fraction.
func SmallestEffect(cv float64, n, m int, budget, level float64) (effect float64, ok bool) {
	shift, ok := SmallestShift(cv, m, n, level)
	if !ok {
		return 0, false
	}
	return IncreaseBeyond(budget, shift)
}

// IncreaseBeyond is the relative increase that lies shift (0 or more, on the log
// scale) beyond an allowed increase: (1+budget)*exp(shift) - 1. budget is a
// fraction above -1.
func IncreaseBeyond(budget, shift float64) (effect float64, ok bool) {
	return planned(math.Expm1(shift+math.Log1p(budget)), shift >= 0 && budget > -1)
}

// DecreaseBeyond is the relative decrease, as a positive fraction, that lies
// shift beyond an allowed decrease: 1 - (1-budget)*exp(-shift). budget is a
// fraction below 1.
func DecreaseBeyond(budget, shift float64) (effect float64, ok bool) {
	return planned(-math.Expm1(math.Log1p(-budget)-shift), shift >= 0 && budget < 1)
}
