package gobench

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
)

// metric is what a unit behind a number means.
type metric struct {
	name     string
	def      result.Metric
	from, to string // units between which its numbers are converted; equal: they stay
}

// value converts a number as it was printed.
func (m metric) value(v float64) float64 {
	if m.from == m.to {
		return v
	}
	out, err := unit.Convert(v, m.from, m.to)
	if err != nil { // only the range can be wrong: what is infinite becomes absent
		return math.Inf(1)
	}
	return out
}

// standard is a metric of the catalogue as it is read here.
func standard(name string) metric {
	def := result.Catalogue()[name]
	def.Source = source
	return metric{name: name, def: def}
}

// metricOf is the metric of a unit as it was printed. What testing prints, and
// what benchstat's own tools make of it, are metrics of the catalogue. A unit of
// the benchmark's own names its metric: block_ms/ggas is block_ms_per_ggas, in
// block_ms/ggas. Where the whole of it is a scaled unit (ms/frame) the numbers
// are stored in base units (s/frame). Which direction is better is known of units
// of time, memory, energy and power; of another one the output may say it
// ("Unit frames/s better=higher", and assume=exact), or the suite under metrics.
func metricOf(printed string, said benchfmt.UnitMetadataMap) metric {
	for _, known := range []struct{ unit, metric, from, to string }{
		{"ns/op", result.TimePerOp, "ns", unit.Second},
		{"sec/op", result.TimePerOp, "s", unit.Second},
		{"B/op", result.BytesPerOp, unit.Byte, unit.Byte},
		{"allocs/op", result.AllocsPerOp, unit.One, unit.One},
		{"MB/s", result.BytesPerSecond, "MB", unit.Byte},
		{"B/s", result.BytesPerSecond, unit.Byte, unit.Byte},
	} {
		if printed == known.unit {
			m := standard(known.metric)
			m.from, m.to = known.from, known.to
			return m
		}
	}
	base := baseOf(printed)
	m := metric{name: nameOf(printed), from: printed, to: base}
	m.def = result.Metric{Unit: base, Better: result.BetterOf(base), Class: result.Noisy, Source: source}
	if base == unit.One && printed != "%" {
		m.from = base
	}
	if b := said.Get(printed, "better"); b != nil && (b.Value == result.Lower || b.Value == result.Higher) {
		m.def.Better = b.Value
	}
	if a := said.Get(printed, "assume"); a != nil && a.Value == "exact" {
		m.def.Class = result.Exact
	}
	return m
}

// baseOf is the unit in which a benchmark's own metric is stored.
func baseOf(printed string) string {
	switch printed {
	case "min", "h", "d", "pp":
		// Who reports a "min" means a minimum, not minutes.
		return unit.One
	}
	base, _ := unit.Base(printed)
	return base
}

func usableUnit(printed string) bool {
	const maxUnit = 64 // bytes
	return printed != "" && len(printed) <= maxUnit && !strings.ContainsFunc(printed, unprintable)
}

// nameOf makes the name of a metric from a unit: snake_case, "per" for a slash,
// a rate in time in per_second. A name that this leaves nothing of, that lost
// letters, or that is too long ends in a digest of the unit, so that two units do
// not become one metric; one of the catalogue is not taken over.
func nameOf(printed string) string {
	over, under, isRatio := strings.Cut(printed, "/")
	name, lost := snake(over)
	if isRatio {
		divisor, more := snake(under)
		if under == "s" || under == "sec" {
			divisor = "second"
		}
		name, lost = joinWords(name, "per", divisor), lost || more
	}
	const maxName = 80 // bytes, below what a suite file may hold
	if len(name) > maxName {
		name, lost = strings.TrimRight(name[:maxName], "_"), true
	}
	if lost || name == "" {
		h := fnv.New32a()
		h.Write([]byte(printed))
		name = joinWords(name, fmt.Sprintf("%08x", h.Sum32()))
	}
	if name[0] < 'a' {
		name = "unit_" + name
	}
	if _, taken := result.Catalogue()[name]; taken {
		name = "go_" + name
	}
	return name
}

func joinWords(words ...string) string {
	var there []string
	for _, w := range words {
		if w != "" {
			there = append(there, w)
		}
	}
	return strings.Join(there, "_")
}

// snake writes a word in small letters, digits and single underscores. A capital
// that begins a word inside one (auxMetricUnits) is set off; those of GHz and MiB
// are not. lost tells that a letter or digit has no place in a name.
func snake(word string) (name string, lost bool) {
	runes := []rune(word)
	var b strings.Builder
	gap := false
	put := func(text string) {
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteString(text)
	}
	for i, r := range runes {
		switch small := unicode.ToLower(r); {
		case r == '%':
			gap = true
			put("percent")
			gap = true
		case r == 'µ', r == 'μ':
			put("u")
		case small >= 'a' && small <= 'z', r >= '0' && r <= '9':
			gap = gap || beginsWord(runes, i)
			put(string(small))
		default:
			lost = lost || unicode.IsLetter(r) || unicode.IsDigit(r)
			gap = true
		}
	}
	return b.String(), lost
}

// beginsWord reports whether a capital stands between two small letters and one.
func beginsWord(runes []rune, i int) bool {
	return i >= 2 && i+1 < len(runes) && unicode.IsUpper(runes[i]) &&
		unicode.IsLower(runes[i-1]) && unicode.IsLower(runes[i-2]) && unicode.IsLower(runes[i+1])
}
