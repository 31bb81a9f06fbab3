package flow

import (
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
)

// pairs are the benchmarks of a suite with their variants, on whatever input.
func pairs(s *plan.Suite) []gate.BenchmarkVariant {
	var out []gate.BenchmarkVariant
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		if len(b.Variants) == 0 {
			out = append(out, gate.BenchmarkVariant{Benchmark: b.Name})
		}
		for j := range b.Variants {
			out = append(out, gate.BenchmarkVariant{Benchmark: b.Name, Variant: b.Variants[j].Name})
		}
	}
	return out
}

// definitions are the metrics that a suite defines itself: in its table, and with
// its readers.
func definitions(s *plan.Suite) map[string]result.Metric {
	out := map[string]result.Metric{}
	add := func(name string, d *plan.MetricDef) {
		if d != nil {
			out[name] = result.Metric{Unit: d.Unit, Per: d.Per, Better: d.Better, Class: result.Class(d.Class)}
		}
	}
	for name := range s.Metrics {
		d := s.Metrics[name]
		add(name, &d)
	}
	for i := range s.Benchmarks {
		for _, r := range s.Benchmarks[i].Exec.Read {
			add(r.Metric, r.Def)
		}
	}
	return out
}
