package generic

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// decimal is the grammar of a number in text: what strconv takes, less its
// hexadecimal forms and underscores, which no tool prints as a measurement.
// Commas are refused: "1,234" is a thousand in one place and one in another.
var decimal = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)

// notFinite are the words that C, Go, Rust, Python, Java and JavaScript print for
// values that are no numbers; C adds a payload, nan(0x1).
var notFinite = regexp.MustCompile(`(?i)^[+-]?(inf|infinity|nan(\([0-9a-z_]*\))?)$`)

// parseNumber reads one number with white space around it. finite is false for a
// NaN, an infinity, or a number too large for a float64; ok is false for text that
// is no number at all.
func parseNumber(text string) (v float64, finite, ok bool) {
	text = strings.TrimSpace(text)
	if notFinite.MatchString(text) {
		return math.NaN(), false, true
	}
	if !decimal.MatchString(text) {
		return 0, false, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil { // the grammar was checked: only the range can be wrong
		return math.NaN(), false, true
	}
	return v, true, true
}
