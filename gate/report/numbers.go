package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
	"github.com/perfweir/perfweir/gate/verdict"
)

// none is what a table shows where there is no number. Absent is never 0.
const none = "–"

// value prints a number of a metric. Shares (a name in _rate without a unit) are
// percentages, a check is true or false.
func (f *facts) value(metric string, v float64) string {
	u := f.unitOf(metric)
	switch {
	case metric == result.Check && v == 1:
		return "true"
	case metric == result.Check && v == 0:
		return "false"
	case share(metric, u):
		return unit.Percentage(v)
	}
	return unit.Format(v, u)
}

// pair prints two numbers of a metric that are held against each other.
func (f *facts) pair(metric string, a, b float64) (string, string) {
	u := f.unitOf(metric)
	if metric == result.Check || share(metric, u) {
		return f.value(metric, a), f.value(metric, b)
	}
	return unit.FormatPair(a, b, u)
}

// share reports whether a metric is a share of one: by its name, since a verdict
// need not define what the gate itself counts (crash_rate, completeness).
func share(metric, u string) bool {
	return (u == unit.One || u == "") && (strings.HasSuffix(metric, "_rate") || metric == "completeness")
}

// change prints a comparison's effect with its interval: "+7.5 % [6.1, 9.0]".
// Where there is no ratio (a zero on one side) it is the difference.
func (f *facts) change(c *verdict.Comparison) string {
	if c.Ratio != nil {
		return ratioText(*c.Ratio, c.RatioInterval)
	}
	u := f.unitOf(c.Metric)
	text := unit.Signed(c.Shift, u)
	if c.ShiftInterval != nil {
		text += interval(unit.Signed(c.ShiftInterval[0], u), unit.Signed(c.ShiftInterval[1], u), "")
	}
	return text
}

func ratioText(ratio float64, bounds *[2]float64) string {
	text := unit.FormatRatio(ratio)
	if bounds == nil {
		return text
	}
	low, high := unit.FormatRatio(bounds[0]), unit.FormatRatio(bounds[1])
	shared := " %"
	for _, s := range []string{text, low, high} {
		if !strings.HasSuffix(s, shared) {
			shared = ""
			break
		}
	}
	return text + interval(low, high, shared)
}

// interval prints two bounds. What they share with the estimate before them (the
// percent sign) is not said again, nor is a plus that both have.
func interval(low, high, shared string) string {
	low, high = strings.TrimSuffix(low, shared), strings.TrimSuffix(high, shared)
	if strings.HasPrefix(low, "+") && strings.HasPrefix(high, "+") {
		low, high = low[1:], high[1:]
	}
	return " [" + low + ", " + high + "]"
}

// pText prints an error probability: two digits, small ones never as 0.
func pText(p float64) string {
	switch {
	case math.IsNaN(p) || p < 0:
		return "p " + unit.NotANumber
	case p >= 0.995:
		return "p 1"
	case p >= 0.0001:
		return "p " + trimZeros(strconv.FormatFloat(p, 'f', pDecimals(p), 64))
	case p == 0:
		return "p < 1e-300"
	}
	return "p " + strconv.FormatFloat(p, 'e', 0, 64)
}

// pDecimals keeps two significant digits, one below a thousandth.
func pDecimals(p float64) int {
	if p < 0.001 {
		return 4
	}
	return 1 - int(math.Floor(math.Log10(p)))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(s, "0")
		s = strings.TrimSuffix(s, ".")
	}
	return s
}

// span prints the least and the largest of some values: "12.0–31.0 s".
func span(v []float64, u string) string {
	if len(v) == 0 {
		return none
	}
	low, high := v[0], v[0]
	for _, x := range v {
		low, high = math.Min(low, x), math.Max(high, x)
	}
	a, b := unit.FormatPair(low, high, u)
	if a == b {
		return a
	}
	if i := strings.LastIndexByte(a, ' '); i > 0 && strings.HasSuffix(b, a[i:]) {
		a = a[:i]
	}
	return a + "–" + b
}

// age prints how much older a session is than the one that is judged.
func age(seconds float64) string {
	text := unit.Format(math.Abs(seconds), "s")
	switch {
	case seconds < 0:
		return text + " after this session"
	case seconds == 0:
		return "at the same time"
	}
	return text + " before"
}

// splitKey takes a key of verdict.Cell.Clean apart: metric, and part after a
// colon.
func splitKey(key string) (metric, part string) {
	metric, part, _ = strings.Cut(key, ":")
	return metric, part
}
