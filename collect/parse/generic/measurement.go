package generic

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Measurement is one number of one metric for one run, phase and part.
type Measurement struct {
	Metric string
	Phase  string
	Part   string
	// Value is in Def.Unit. It is NaN exactly when Absent is set.
	Value float64
	// Bound is the error bound of Value in the same unit; 0 where none is known.
	Bound  float64
	Absent string // why there is no value; empty: there is one
	Def    result.Metric
}

// Reading is what one reader found.
type Reading struct {
	Measurements []Measurement
	Warnings     []string // one sentence each, free of control characters
	// Failed is set where the output itself says that the tool failed, whatever
	// its exit status: what it printed besides is only a part.
	Failed bool
	// Why is the line of the output that says best what went wrong, quoted and
	// short; empty: none does. It has no meaning for a run that went well.
	Why string
}

// Present makes a measurement of a value. A value that is not finite becomes
// absent: it never passes as a number.
func Present(metric, part string, value float64, def result.Metric) Measurement {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Missing(metric, part, result.AbsentNotFinite, def)
	}
	return Measurement{Metric: metric, Part: part, Value: value, Def: def}
}

// Missing makes a measurement that has no value, and says why.
func Missing(metric, part, reason string, def result.Metric) Measurement {
	return Measurement{Metric: metric, Part: part, Value: math.NaN(), Absent: reason, Def: def}
}

// Absences lists what a reader would have measured, all absent for one reason:
// for a run that left nothing to read. What only the output names stands as one
// measurement without a part (checks), or is not known at all (the formats of
// tools).
func Absences(rd plan.Read, reason string) []Measurement {
	switch {
	case rd.Format != "":
		return nil
	case rd.Count != "":
		return []Measurement{
			Missing(rd.Metric, rd.Part, reason, countDef(rd)),
			Missing(rd.Metric+perSecond, rd.Part, reason, rateDef(rd)),
		}
	case rd.Samples != "":
		return summaryAbsent(rd.Metric, rd.Part, reason, readDef(rd))
	case rd.Checks != "":
		return []Measurement{Missing(result.Check, rd.Part, reason, checkDef())}
	default:
		return []Measurement{Missing(rd.Metric, rd.Part, reason, readDef(rd))}
	}
}

func (r *Reading) add(m ...Measurement) { r.Measurements = append(r.Measurements, m...) }

// warn adds a warning. Text that the program wrote goes through Quote.
func (r *Reading) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// maxQuoted is how much of a foreign text a message repeats, in bytes.
const maxQuoted = 60

// Quote makes foreign text safe to print, and short.
func Quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.QuoteToASCII(s[:maxQuoted]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// readDef is the definition of what a reader measures: the suite's, else the
// catalogue's, else a plain noisy number of unknown direction.
func readDef(rd plan.Read) result.Metric {
	if rd.Def == nil {
		return named(rd.Metric, result.Noisy, readSource(rd))
	}
	class := result.Class(rd.Def.Class)
	if class == "" {
		class = result.Noisy
	}
	return result.Metric{
		Unit: rd.Def.Unit, Per: rd.Def.Per, Better: rd.Def.Better, Class: class, Source: readSource(rd),
	}
}

func named(metric string, class result.Class, source string) result.Metric {
	if def, ok := result.Catalogue()[metric]; ok {
		return def
	}
	return result.Metric{Unit: "1", Class: class, Source: source}
}

func readSource(rd plan.Read) string {
	switch {
	case rd.Samples != "":
		return "samples"
	case rd.From == "", rd.From == "stdout":
		return "stdout"
	case rd.From == "stderr":
		return "stderr"
	default:
		return "file"
	}
}

func checkDef() result.Metric { return result.Catalogue()[result.Check] }

func scaleOf(rd plan.Read) float64 {
	if rd.Scale == 0 {
		return 1
	}
	return rd.Scale
}

// reduce makes one number of the values of a run, as the suite's statistic says.
// values is not empty and finite.
func reduce(values []float64, statistic string) (float64, error) {
	switch statistic {
	case "", "median":
		return Median(values), nil
	case "mean":
		return mean(values), nil
	case "min":
		return slices.Min(values), nil
	case "max":
		return slices.Max(values), nil
	case "sum":
		return sum(values), nil
	case "last":
		return values[len(values)-1], nil
	}
	return 0, fmt.Errorf("unknown statistic %q: use median, mean, min, max, sum or last", statistic)
}

// Median of values, which is not empty and finite. The order of values is kept.
func Median(values []float64) float64 {
	return quantile(slices.Sorted(slices.Values(values)), 0.5)
}
