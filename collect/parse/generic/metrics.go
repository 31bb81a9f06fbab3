package generic

import (
	"slices"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/result/unit"
)

// entry is one metric of a document as it was given.
type entry struct {
	path    string
	metric  string
	at      int
	value   number
	samples []float64
	sampled bool
	// bad is set where a sample is not finite: all that follows from them is absent.
	bad bool
	// words are the entry's texts by key: unit, per, better, class, statistic.
	words map[string]string
}

func (s *scanner) metrics(doc *report) error {
	return s.object("metrics", func(metric string) error {
		e := entry{path: join("metrics", metric), metric: metric, at: s.pos, words: map[string]string{}}
		if err := s.usable(e.path, metric); err != nil {
			return err
		}
		if err := s.entry(&e, &doc.metrics); err != nil {
			return err
		}
		if metric == "latency" {
			doc.latencies = len(e.samples)
		}
		return e.measure(&doc.metrics)
	})
}

func (s *scanner) entry(e *entry, out *Reading) error {
	if s.peek() != '{' {
		return failAt(s.pos, `%s: %s, want an object such as {"value": 12.5, "unit": "ms"}`, e.path, s.here())
	}
	err := s.object(e.path, func(key string) (err error) {
		path := join(e.path, key)
		switch key {
		case "value":
			s.peek()
			at := s.pos
			if e.value, err = s.number(path); err == nil && !e.value.finite() {
				s.noteBad(path, at, e.value, out)
			}
		case "samples":
			err = s.samples(e, path, out)
		case "unit", "per", "better", "class", "statistic":
			err = s.choice(e, key, path)
		default:
			out.warn("%s is not known and was skipped", path)
			err = s.skip(path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if e.value.given == e.sampled {
		return failAt(e.at, "%s: give value or samples, and not both", e.path)
	}
	return nil
}

func (s *scanner) samples(e *entry, path string, out *Reading) error {
	e.sampled = true
	return s.array(path, func(i int) error {
		if i == maxSamples {
			return failAt(s.pos, "%s: more than %d samples", path, maxSamples)
		}
		s.peek()
		at := s.pos
		n, err := s.number(path)
		if err != nil {
			return err
		}
		if !n.finite() && !e.bad { // the first is enough to know
			e.bad = true
			s.noteBad(path, at, n, out)
		}
		e.samples = append(e.samples, n.value)
		return nil
	})
}

// choices are the words that a key allows; none: any.
func choices(key string) []string {
	switch key {
	case "better":
		return []string{result.Lower, result.Higher}
	case "class":
		return []string{
			string(result.Exact), string(result.Counted), string(result.Noisy),
			string(result.Tail), string(result.Level),
		}
	case "statistic":
		return []string{"median", "mean", "min", "max", "sum", "last"}
	}
	return nil
}

func (s *scanner) choice(e *entry, key, path string) error {
	s.peek()
	at := s.pos
	word, err := s.text(path)
	if err != nil {
		return err
	}
	if !printable(word) {
		return failAt(at, "%s: longer than %d bytes or not printable", path, maxUnit)
	}
	if allowed := choices(key); allowed != nil && !slices.Contains(allowed, word) {
		return failAt(at, "%s: %s is none of %v", path, Quote(word), allowed)
	}
	e.words[key] = word
	return nil
}

// measure turns an entry into measurements.
func (e *entry) measure(out *Reading) error {
	def, scale, mismatch := e.define()
	if mismatch != "" {
		out.warn("%s: %s", e.path, mismatch)
	}
	reason := ""
	switch {
	case mismatch != "":
		reason = result.AbsentUnitMismatch
	case e.bad, e.value.given && !e.value.finite():
		reason = result.AbsentNotFinite
	case e.sampled && len(e.samples) == 0:
		reason = result.AbsentNotReported
	}
	statistic := e.statistic()
	switch {
	case reason != "" && e.sampled && statistic == "":
		out.add(summaryAbsent(e.metric, "", reason, def)...)
	case reason != "":
		out.add(Missing(e.metric, "", reason, def))
	case !e.sampled:
		out.add(Present(e.metric, "", times(e.value.value, scale), def))
	case statistic == "":
		out.add(summarise(e.metric, "", e.samples, scale, def)...)
	default:
		v, err := reduce(e.samples, statistic)
		if err != nil {
			return err
		}
		out.add(Present(e.metric, "", times(v, scale), def))
	}
	return nil
}

// statistic is what reduces the entry's samples to one number; empty: they become
// percentiles. Two built-in metrics are one number by their definition.
func (e *entry) statistic() string {
	if w := e.words["statistic"]; w != "" {
		return w
	}
	if e.metric == "time_to_first_byte" || e.metric == "handshake_time" {
		return "median"
	}
	return ""
}

// define returns the entry's definition in base units and the factor that takes
// its numbers there. A built-in metric keeps its own definition; what the program
// says of it can only be a unit of the same kind, else mismatch says so.
func (e *entry) define() (def result.Metric, scale float64, mismatch string) {
	given := e.words["unit"]
	if known, ok := e.builtin(); ok {
		if given == "" {
			return known, 1, ""
		}
		scale, mismatch = factor(given, known.Unit)
		return known, scale, mismatch
	}
	base, scale := unit.Base(given)
	def = result.Metric{
		Unit: base, Per: e.words["per"], Better: e.words["better"],
		Class: result.Class(e.words["class"]), Source: reportSource,
	}
	if def.Class == "" {
		def.Class = result.Noisy
	}
	return def, scale, ""
}

// builtin finds the catalogue's definition; that of a metric whose samples become
// percentiles is that of its median's.
func (e *entry) builtin() (result.Metric, bool) {
	catalogue := result.Catalogue()
	if def, ok := catalogue[e.metric]; ok {
		return def, true
	}
	if def, ok := catalogue[e.metric+"_p50"]; ok && e.sampled && e.statistic() == "" {
		return def, true
	}
	return result.Metric{}, false
}
