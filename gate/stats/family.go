package stats

import (
	"fmt"
	"slices"
)

// Holm returns p values adjusted for the whole family: rejecting those at most
// alpha keeps the chance of any false rejection within alpha, whatever their
// dependence. Results are in input order. NaN and values outside [0, 1] are an
// error: sorting would carry them anywhere. Source: Holm 1979.
func Holm(p []float64) ([]float64, error) {
	order, err := ascending("Holm", p)
	if err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = worst
	}
	return adjusted, nil
}

// BenjaminiHochberg returns q values: rejecting those at most q keeps the
// expected share of false rejections within q for independent or positively
// dependent tests. It orders reports and gates nothing. Results are in input
// order; NaN and values outside [0, 1] are an error.
// Source: Benjamini & Hochberg 1995.
func BenjaminiHochberg(p []float64) ([]float64, error) {
	return stepUp("Benjamini-Hochberg", p, 1)
}

// BenjaminiYekutieli is BenjaminiHochberg for any dependence, at the price of
// the factor 1 + 1/2 + ... + 1/n. Source: Benjamini & Yekutieli 2001.
func BenjaminiYekutieli(p []float64) ([]float64, error) {
	harmonic := 0.0
	for i := range p {
		harmonic += 1 / float64(i+1)
	}
	return stepUp("Benjamini-Yekutieli", p, harmonic)
}

func stepUp(what string, p []float64, factor float64) ([]float64, error) {
	order, err := ascending(what, p)
	if err != nil {
		return nil, err
	}
	adjusted := make([]float64, len(p))
	best := 1.0
	for rank, i := range slices.Backward(order) {
		// The factor first: it is at least 1, so no q value falls below its p.
		best = min(best, p[i]*(factor*float64(len(p))/float64(rank+1)))
		adjusted[i] = best
	}
	return adjusted, nil
}

// ascending returns the positions of p in ascending order, ties in input order.
func ascending(what string, p []float64) ([]int, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("%s: p value %v at position %d of %d is not in [0, 1]", what, v, i, len(p))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	return order, nil
}
