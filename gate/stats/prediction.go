package stats

import (
	"fmt"
	"math"
)

// PooledSpread returns the standard deviation within groups, pooled over all of
// them: the root of the summed squared deviations over df = sum(k_i - 1).
// Groups are the log session medians of one cell each; pooling over the cells of
// a metric gives a usable spread where every cell has only a few sessions.
// Groups of one add nothing; when no group has two, the spread is unknown:
// ErrInsufficient. A spread of 0 is possible and means that the caller must put
// the metric's resolution in its place, or treat the metric as exact.
func PooledSpread(groups [][]float64) (s float64, df int, err error) {
	squares := 0.0
	for i, g := range groups {
		if err := checkSample(fmt.Sprintf("pooled spread: group %d", i), g); err != nil {
			return 0, 0, err
		}
		_, ss := meanAndSquares(g)
		squares += ss
		df += len(g) - 1
	}
	if df == 0 {
		return 0, 0, fmt.Errorf("pooled spread of %d groups without a repeated value: %w", len(groups), ErrInsufficient)
	}
	s = math.Sqrt(squares / float64(df))
	return s, df, checkResult("pooled spread", s)
}

// PredictionBounds bounds the mean of q new sessions given the mean of k stored
// ones: mean -/+ t(df, 1-alpha) * s * sqrt(1/q + 1/k), each side at alpha. With
// the difference "new - stored" as mean, they bound the shift. s and df are
// those of PooledSpread, or the stored sessions' own with df = k-1.
// Source: Hahn & Meeker 1991, section 4.7.
func (t *Tables) PredictionBounds(mean, s float64, df, k, q int, alpha float64) (lower, upper float64, err error) {
	width, err := predictionWidth(s, df, k, q)
	if err != nil {
		return 0, 0, err
	}
	if err := checkAlpha("prediction bounds", alpha); err != nil {
		return 0, 0, err
	}
	h := 0.0
	if width > 0 {
		h = t.studentUpper(alpha, df) * width
	}
	lower, upper = mean-h, mean+h
	return lower, upper, checkResult("prediction bounds", lower, upper)
}

// PredictionP is the one-sided p value of "the new sessions are not beyond
// limit": difference is new - stored, and p <= alpha exactly when the lower
// bound of PredictionBounds exceeds limit. Without spread it is 0 or 1.
func PredictionP(difference, limit, s float64, df, k, q int) (float64, error) {
	width, err := predictionWidth(s, df, k, q)
	if err != nil {
		return 0, err
	}
	over := difference - limit
	if err := checkResult("prediction p value", over); err != nil {
		return 0, err
	}
	switch {
	case width > 0:
		return studentCDF(-over/width, float64(df)), nil
	case over > 0:
		return 0, nil
	}
	return 1, nil
}

// PredictionFactor is the half-width of the bounds of one new session, in units
// of the standard deviation of k stored ones: t(k-1, 1-alpha) * sqrt(1 + 1/k).
// At 0.05: 3.372 for k=3, 2.335 for 5, 1.923 for 10.
func PredictionFactor(k int, alpha float64) (float64, error) {
	if k < 2 {
		return 0, fmt.Errorf("prediction from %d sessions: %w", k, ErrInsufficient)
	}
	_, upper, err := new(Tables).PredictionBounds(0, 1, k-1, k, 1, alpha)
	return upper, err
}

// predictionWidth is the standard error of new - stored.
func predictionWidth(s float64, df, k, q int) (float64, error) {
	if df < 1 || k < 1 || q < 1 {
		return 0, fmt.Errorf("prediction from %d stored and %d new sessions with %d degrees of freedom: %w", k, q, df, ErrInsufficient)
	}
	if !(s >= 0) || !finite(s) {
		return 0, fmt.Errorf("prediction with spread %v: %w", s, ErrNotFinite)
	}
	return s * math.Sqrt(1/float64(q)+1/float64(k)), nil
}
