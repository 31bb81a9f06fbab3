package unit

import (
	"math"
	"strconv"
)

// largeRatio is from where on a ratio is printed as a factor: "+210 %" makes a
// reader compute, "x3.1" does not.
const largeRatio = 3

// FormatRatio prints current / reference as a change: 1.075 is "+7.5 %", 0.5 is
// "-50.0 %", 3.1 is "x3.1". A change that is not zero never prints as "0 %"
// (V28, V32), a value that is left never as "-100 %". NaN, infinity and negative
// ratios are "n/a": there is no relative change from zero (C06).
func FormatRatio(r float64) string {
	if math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
		return NotANumber
	}
	if r >= largeRatio {
		return formatFactor(r)
	}
	return formatChange(r)
}

func formatFactor(r float64) string {
	if roundTo(r, 3) >= 1e7 {
		return "x" + strconv.FormatFloat(r, 'e', 1, 64)
	}
	decimals := 1
	if roundTo(r, 3) >= 100 {
		decimals = 0
	}
	return "x" + strconv.FormatFloat(r, 'f', decimals, 64)
}

func formatChange(r float64) string {
	change := (r - 1) * 100
	size := math.Abs(change)
	sign := "+"
	if change < 0 {
		sign = "-"
	}
	switch {
	case change == 0:
		return "0 %"
	case size < 0.001:
		return sign + "<0.001 %" // below what any measurement here can mean; also float dust
	case r == 0:
		return "-100 %"
	}
	decimals := 1
	if roundTo(size, 2) < 1 {
		decimals = usualDecimals(size, 2)
	} else if roundTo(size, 3) >= 100 && r > 1 {
		decimals = 0
	}
	text := strconv.FormatFloat(size, 'f', decimals, 64)
	if r < 1 && text == "100.0" { // something is left: say so
		text = strconv.FormatFloat(math.Min(size, 99.99), 'f', 2, 64)
		if r < 0.0001 {
			return "->99.99 %"
		}
	}
	return sign + text + " %"
}
