package generic

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// maxMatches bounds the matches of one pattern in one run; more is a pattern that
// does not say what it looks for.
const maxMatches = 1_000_000

const perSecond = "_per_second"

// Pattern reads the number behind rd.Pattern from raw text: group 1, or the whole
// match where the pattern has no group. ^ and $ hold for every line. Several
// matches are reduced by rd.Statistic, then multiplied by rd.Scale. No match is
// absent (not_reported); one match that is not finite, or no number, makes the
// metric absent with a warning, since what the others say is then only a part.
func Pattern(rd plan.Read, raw []byte) (Reading, error) {
	re, err := regexp.Compile("(?m)" + rd.Pattern)
	if err != nil {
		return Reading{}, fmt.Errorf("read metric %s: pattern: %w", rd.Metric, err)
	}
	def := readDef(rd)
	var out Reading
	values, reason := matchedNumbers(re, Clean(raw), rd.Metric, &out)
	if reason != "" {
		out.add(Missing(rd.Metric, rd.Part, reason, def))
		return out, nil
	}
	v, err := reduce(values, rd.Statistic)
	if err != nil {
		return Reading{}, fmt.Errorf("read metric %s: %w", rd.Metric, err)
	}
	out.add(Present(rd.Metric, rd.Part, times(v, scaleOf(rd)), def))
	return out, nil
}

// matchedNumbers returns the numbers of all matches, or the reason there is none.
func matchedNumbers(re *regexp.Regexp, text []byte, metric string, out *Reading) ([]float64, string) {
	matches := re.FindAllSubmatchIndex(text, maxMatches+1)
	if len(matches) > maxMatches {
		out.warn("metric %s: its pattern matches more than %d times", metric, maxMatches)
		return nil, result.AbsentUnreadable
	}
	group := 0
	if re.NumSubexp() > 0 {
		group = 2
	}
	values := make([]float64, 0, len(matches))
	for _, m := range matches {
		if m[group] < 0 { // an alternative without the group
			continue
		}
		found := string(text[m[group]:m[group+1]])
		v, finite, ok := parseNumber(found)
		if !ok {
			out.warn("metric %s: its pattern found %s, which is not a number", metric, Quote(found))
			return nil, result.AbsentUnreadable
		}
		if !finite {
			out.warn("metric %s: its pattern found %s, which is not finite", metric, Quote(found))
			return nil, result.AbsentNotFinite
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, result.AbsentNotReported
	}
	return values, ""
}

// Count reads how often rd.Count matches in raw text, and how often a second of
// wallTime (s; not positive: unknown) as METRIC_per_second. A match lies inside
// one line, so ^ and $ hold for every line. No match is the number 0: the text
// was there, and it was counted.
func Count(rd plan.Read, raw []byte, wallTime float64) (Reading, error) {
	re, err := regexp.Compile(rd.Count)
	if err != nil {
		return Reading{}, fmt.Errorf("read metric %s: count: %w", rd.Metric, err)
	}
	// Line by line rather than in one go: the index of every match of a large
	// output takes several times the memory of the output.
	n := 0
	for line := range bytes.Lines(Clean(raw)) {
		n += len(re.FindAllIndex(bytes.TrimSuffix(line, []byte{'\n'}), -1))
	}
	var out Reading
	out.add(Present(rd.Metric, rd.Part, times(float64(n), scaleOf(rd)), countDef(rd)))
	if !(wallTime > 0) { // also for NaN
		out.add(Missing(rd.Metric+perSecond, rd.Part, result.AbsentNotReported, rateDef(rd)))
		return out, nil
	}
	out.add(Present(rd.Metric+perSecond, rd.Part, times(float64(n), scaleOf(rd))/wallTime, rateDef(rd)))
	return out, nil
}

// countDef is the definition of a count: exact unless the suite says otherwise.
func countDef(rd plan.Read) result.Metric {
	if rd.Def != nil {
		return readDef(rd)
	}
	return named(rd.Metric, result.Exact, readSource(rd))
}

// rateDef is a count's rate in time. It divides by a time, so it is as noisy as
// that, however exact the count.
func rateDef(rd plan.Read) result.Metric {
	def := countDef(rd)
	def.Unit += "/s"
	def.Class = result.Noisy
	def.Step = 0
	return def
}
