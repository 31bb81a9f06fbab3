package generic

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// maxSamples bounds the samples of one metric in one run: 80 MB in memory.
const maxSamples = 10_000_000

// Samples reads a file of one number a line. Blank lines and lines that begin
// with # are skipped; a line that is no number is an error that names it. The
// result is METRIC_min, _mean, _p50, _p90, _p95, _p99, _p999 and _max, multiplied
// by rd.Scale. A percentile without its tail is absent (insufficient), and one
// value that is not finite makes all of them absent with a warning.
func Samples(rd plan.Read, r io.Reader) (Reading, error) {
	def := readDef(rd)
	lines := bufio.NewScanner(r)
	var values []float64
	n := 0
	for lines.Scan() {
		n++
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		v, finite, ok := parseNumber(text)
		if !ok {
			return Reading{}, fmt.Errorf("read samples of %s: line %d: %s is not a number", rd.Metric, n, Quote(text))
		}
		if !finite {
			var out Reading
			out.warn("samples of %s: line %d: %s is not finite", rd.Metric, n, Quote(text))
			out.add(summaryAbsent(rd.Metric, rd.Part, result.AbsentNotFinite, def)...)
			return out, nil
		}
		if len(values) == maxSamples {
			return Reading{}, fmt.Errorf("read samples of %s: line %d: more than %d samples", rd.Metric, n, maxSamples)
		}
		values = append(values, v)
	}
	if err := lines.Err(); err != nil {
		return Reading{}, fmt.Errorf("read samples of %s: line %d: %w", rd.Metric, n+1, err)
	}
	return Reading{Measurements: summarise(rd.Metric, rd.Part, values, scaleOf(rd), def)}, nil
}

// summary is one number that the samples of a run become.
type summary struct {
	suffix string
	// at is the percentile as a fraction; the extremes and the mean have none.
	at float64
	// least is how many samples the number needs. Below 20 samples p95 is an
	// interpolation next to the maximum; the tail beyond a percentile p has to
	// hold one sample, so n >= 1/(1-p).
	least int
	class result.Class
}

func summaries() []summary {
	return []summary{
		{suffix: "_min", least: 1, class: result.Noisy},
		{suffix: "_mean", least: 1, class: result.Noisy},
		{suffix: "_p50", at: 0.5, least: 1, class: result.Tail},
		{suffix: "_p90", at: 0.9, least: 10, class: result.Tail},
		{suffix: "_p95", at: 0.95, least: 20, class: result.Tail},
		{suffix: "_p99", at: 0.99, least: 100, class: result.Tail},
		{suffix: "_p999", at: 0.999, least: 1000, class: result.Tail},
		{suffix: "_max", least: 1, class: result.Tail},
	}
}

// def is the definition of one summary of a metric: the catalogue's where it has
// one. A level stays one, whatever is taken of it.
func (s summary) def(metric string, def result.Metric) result.Metric {
	if known, ok := result.Catalogue()[metric+s.suffix]; ok {
		return known
	}
	if def.Class != result.Level {
		def.Class = s.class
	}
	def.Step = 0
	return def
}

// summarise makes the summaries of finite values, in the order they came in.
func summarise(metric, part string, values []float64, scale float64, def result.Metric) []Measurement {
	if len(values) == 0 {
		return summaryAbsent(metric, part, result.AbsentNotReported, def)
	}
	sorted := slices.Sorted(slices.Values(values))
	var out []Measurement
	for _, s := range summaries() {
		d := s.def(metric, def)
		if len(sorted) < s.least {
			out = append(out, Missing(metric+s.suffix, part, result.AbsentInsufficient, d))
			continue
		}
		out = append(out, Present(metric+s.suffix, part, times(s.of(sorted), scale), d))
	}
	return out
}

func (s summary) of(sorted []float64) float64 {
	switch s.suffix {
	case "_min":
		return sorted[0]
	case "_max":
		return sorted[len(sorted)-1]
	case "_mean":
		return mean(sorted)
	}
	return quantile(sorted, s.at)
}

func summaryAbsent(metric, part, reason string, def result.Metric) []Measurement {
	var out []Measurement
	for _, s := range summaries() {
		out = append(out, Missing(metric+s.suffix, part, reason, s.def(metric, def)))
	}
	return out
}

// quantile is type 7 of Hyndman and Fan (1996), the default of R and NumPy: linear
// between the order statistics around (n-1)p. sorted is not empty. The result is
// held between its neighbours, so percentiles never cross by rounding.
func quantile(sorted []float64, p float64) float64 {
	h := float64(len(sorted)-1) * p
	lo := int(math.Floor(h))
	if lo+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	a, b := sorted[lo], sorted[lo+1]
	f := h - float64(lo)
	v := a + f*(b-a)
	if math.IsInf(b-a, 0) { // neighbours of opposite sign near the largest float
		v = a*(1-f) + b*f
	}
	return min(max(v, a), b)
}

// sum is Neumaier's compensated sum: the error does not grow with n.
func sum(values []float64) float64 {
	var s, c float64
	for _, v := range values {
		t := s + v
		if math.Abs(s) >= math.Abs(v) {
			c += (s - t) + v
		} else {
			c += (v - t) + s
		}
		s = t
	}
	return s + c
}

// mean lies between the extremes, also where rounding would push it out. Where
// the sum overflows it is not finite, and Present makes that absent.
func mean(values []float64) float64 {
	m := sum(values) / float64(len(values))
	if math.IsNaN(m) || math.IsInf(m, 0) {
		return m
	}
	return min(max(m, slices.Min(values)), slices.Max(values))
}
