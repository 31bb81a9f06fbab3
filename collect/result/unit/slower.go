package unit

import "strconv"

// FormatSlower prints the ratio of a time to another as it is told: "4.2 % slower",
// "3.0 % faster", from twice on "3.1 times slower".
func FormatSlower(r float64) string {
	word := " slower"
	if r < 1 {
		word = " faster"
	}
	text, of := asTold(r, r)
	return text + of + word
}

// FormatSlowerInterval prints the interval of such a ratio, in the unit that the ratio
// itself is told in and the end nearer to no change first: "2.9 to 5.6 %". "" of nil.
func FormatSlowerInterval(r float64, interval *[2]float64) string {
	if interval == nil {
		return ""
	}
	near, far := interval[0], interval[1]
	if r < 1 {
		near, far = far, near
	}
	from, _ := asTold(r, near)
	to, of := asTold(r, far)
	return from + " to " + to + of
}

// FormatSlowerThan is the whole sentence's end: "4.2 % slower than in the stored
// sessions (wall_time, 2.9 to 5.6 %)".
func FormatSlowerThan(reference, metric string, r float64, interval *[2]float64) string {
	s := FormatSlower(r) + " than " + reference + " (" + metric
	if i := FormatSlowerInterval(r, interval); i != "" {
		s += ", " + i
	}
	return s + ")"
}

// asTold prints v as r is told, and what it is a number of.
func asTold(r, v float64) (text, of string) {
	const twice = 2
	switch {
	case r >= twice:
		return oneDecimal(v), " times"
	case r <= 1.0/twice:
		return oneDecimal(1 / v), " times"
	case r < 1:
		return oneDecimal((1 - v) * 100), " %"
	}
	return oneDecimal((v - 1) * 100), " %"
}

func oneDecimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
