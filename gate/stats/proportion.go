package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ProportionBounds bounds the rate behind x hits in n independent trials, each
// side at alpha: the exact interval, whose error is at most alpha a side for
// every rate. A two-sided 95 % interval takes alpha = .025; one bound alone reads
// one side at .05, as in "0 of 200 false alarms: at most 1.49 %". No hits have
// the lower bound 0, n hits the upper bound 1.
// Source: Clopper & Pearson 1934; the bounds as quantiles of the beta
// distribution.
func ProportionBounds(x, n int, alpha float64) (lower, upper float64, err error) {
	if n < 1 || x < 0 || x > n {
		return 0, 0, fmt.Errorf("bounds of a proportion: %d of %d", x, n)
	}
	if err := checkAlpha("bounds of a proportion", alpha); err != nil {
		return 0, 0, err
	}
	lower, upper = 0, 1
	if x > 0 {
		// P(X >= x) at rate p is the beta (x, n-x+1) distribution function of p.
		lower = betaLower(float64(x), float64(n-x+1), alpha)
	}
	if x < n {
		upper = 1 - betaLower(float64(n-x), float64(x+1), alpha)
	}
	return lower, upper, nil
}

// betaLower is the value that a beta (a, b) variable is below with probability
// alpha, by halving on the log scale: small rates keep their digits.
func betaLower(a, b, alpha float64) float64 {
	lo, hi := -745.0, 0.0 // exp: the least positive number, and 1
	for range 200 {
		mid := lo + (hi-lo)/2
		if mathext.RegIncBeta(a, b, math.Exp(mid)) < alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(hi)
}
