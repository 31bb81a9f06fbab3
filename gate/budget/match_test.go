package budget

import "testing"

// A part is one field: * matches the slashes in it.
func TestPartGlobs(t *testing.T) {
	const get, noisy, sub, quiet = "github.com/acme/x/BenchmarkGet-8", "github.com/acme/x/BenchmarkNoisy-8", "github.com/acme/x/BenchmarkNoisy/size=1-8", "x/BenchmarkQuiet"
	for _, c := range []struct {
		pattern, part string
		want          bool
	}{
		{"", noisy, true},
		{"*/BenchmarkNoisy*", noisy, true},
		{"*/BenchmarkNoisy*", sub, true},
		{"*/BenchmarkNoisy*", "x/BenchmarkNoisy", true},
		{"*/BenchmarkNoisy*", get, false},
		{"*/BenchmarkNoisy*", "BenchmarkNoisy-8", false},
		{"*BenchmarkNoisy*", "BenchmarkNoisy-8", true},
		{"*/BenchmarkNoisy/size=1-?", sub, true},
		{"**/BenchmarkNoisy*", noisy, true},
		{"github.com/acme/**", get, true},
		{"github.com/acme/x", get, true},
		{"github.com/acme", get, true},
		{"github.com/ac", get, false},
		{"acme/x/*", get, false},
		{"*/x/Benchmark{Get,Put}-8", get, true},
		{"x/*", quiet, true},
		{"y/*", quiet, false},
		{"gpu*", "gpu0", true},
		{"gpu", "gpu0", false},
		{"reply_*", "reply_in_time", true},
		{"[", noisy, false},
	} {
		b := Budget{Metric: "m", Part: c.pattern}
		if got := b.Covers("m", "", c.part); got != c.want {
			t.Errorf("%q covers %q: %v, want %v", c.pattern, c.part, got, c.want)
		}
	}
}
