package gobench

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/parse/generic"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func read(t testing.TB, raw []byte) generic.Reading {
	t.Helper()
	got, err := Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// want is one number of a file.
type want struct {
	metric, part string
	value        float64
}

// What the files say, counted by another program. lines are result lines, parts
// are benchmarks; metrics are those of all of them.
func TestCorpus(t *testing.T) {
	for name, c := range map[string]struct {
		lines, parts int
		metrics      string
		first, last  want
	}{
		"bencher-three.txt": {3, 3, "aux_metric_units time_per_op",
			want{"time_per_op", "bencher.dev/BenchmarkFib10-8", 210.2e-9}, want{"aux_metric_units", "bencher.dev/BenchmarkFib20WithAuxMetric-8", 4}},
		"benchfmt-files-a.txt": {2, 2, "time_per_op", want{"time_per_op", "BenchmarkX", 1e-9}, want{"time_per_op", "BenchmarkY", 1e-9}},
		"bent-Base.stdout": {92, 67, "allocs_per_op bytes_per_op bytes_per_second time_per_op",
			want{"time_per_op", "github.com/minio/minio/cmd/BenchmarkGetObject5MbFS-12", 4661017e-9},
			want{"allocs_per_op", "github.com/Masterminds/semver/v3/BenchmarkValidateVersionTildeFail-12", 9}},
		"bent-Base.build": {35, 35, "build_real_ns_per_op build_sys_ns_per_op build_user_ns_per_op",
			want{"build_real_ns_per_op", "BenchmarkUber_zap", 6720000000}, want{"build_sys_ns_per_op", "BenchmarkBindata", 940000000}},
		"bent-Base.benchsize": {204, 204, "data_bytes pclntab_bytes rodata_bytes text_bytes total_bytes zdebug_bytes",
			want{"total_bytes", "Benchmarkk8s_schedulercache_total", 33871255}, want{"zdebug_bytes", "Benchmarkbindata_zdebug_total", 925860}},
		"gab-go_fiber_duplicate_names_output.txt": {4, 4, "allocs_per_op bytes_per_op bytes_per_second time_per_op",
			want{"time_per_op", "github.com/gofiber/fiber/v3/middleware/cache/BenchmarkAppendMsgitem-4", 55.76e-9},
			want{"bytes_per_second", "github.com/gofiber/fiber/v3/middleware/csrf/BenchmarkUnmarshalitem-4", 229.35e6}},
		"gab-go_fiber_output.txt": {6, 6, "allocs_per_op bytes_per_op time_per_op",
			want{"time_per_op", `Benchmark_Ctx_Accepts/run-[]string{".xml"}-4`, 247.6e-9},
			want{"allocs_per_op", "Benchmark_Utils_GetOffer/mime_extension#03-4", 0}},
		"gab-go_output.txt": {8, 8, "aux_metric_units time_per_op",
			want{"time_per_op", "BenchmarkFib10-8", 325e-9}, want{"aux_metric_units", "BenchmarkFib22-16", 4}},
		"gab-go_single_package_output.txt": {2, 2, "time_per_op",
			want{"time_per_op", "github.com/example/mypackage/BenchmarkFib10-8", 325e-9},
			want{"time_per_op", "github.com/example/mypackage/BenchmarkFib20-8", 40537e-9}},
		"gjr-022-bench.txt": {2, 2, "time_per_op",
			want{"time_per_op", "package/bench/BenchmarkOne-8", 0.2642e-9}, want{"time_per_op", "package/bench/BenchmarkTwo-8", 33.21e-9}},
		"gjr-023-benchmem.txt": {2, 2, "allocs_per_op bytes_per_op time_per_op",
			want{"bytes_per_op", "code.internal/state/BenchmarkIpsHistoryInsert-8", 24879},
			want{"allocs_per_op", "code.internal/state/BenchmarkIpsHistoryLookup-8", 143}},
		"gjr-024-benchtests.txt": {2, 2, "time_per_op",
			want{"time_per_op", "package/bench/BenchmarkOne-8", 0.2640e-9}, want{"time_per_op", "package/bench/BenchmarkTwo-8", 33.10e-9}},
		"gjr-026-testbenchmultiple.txt": {6, 6, "time_per_op",
			want{"time_per_op", "mycode/common/BenchmarkParse-8", 1591e-9},
			want{"time_per_op", "mycode/benchmarks/channels/BenchmarkFanout/Channel/10000-8", 2410200e-9}},
		"gjr-027-benchdecimal.txt": {3, 3, "time_per_op",
			want{"time_per_op", "really/small/BenchmarkItsy-8", 45.7e-9}, want{"time_per_op", "really/small/BenchmarkWeeny-8", 0.26e-9}},
		"gjr-028-bench-1cpu.txt":  {1, 1, "time_per_op", want{"time_per_op", "single/cpu/BenchmarkRing", 74.2e-9}, want{"time_per_op", "single/cpu/BenchmarkRing", 74.2e-9}},
		"gjr-029-bench-16cpu.txt": {1, 1, "time_per_op", want{"time_per_op", "sixteen/cpu/BenchmarkRingaround-16", 13571e-9}, want{"time_per_op", "sixteen/cpu/BenchmarkRingaround-16", 13571e-9}},
		"gjr-033-bench-mb.txt": {2, 2, "allocs_per_op bytes_per_op bytes_per_second time_per_op",
			want{"bytes_per_second", "compress/flate/BenchmarkDecode/Digits/Huffman/1e4-8", 95.76e6},
			want{"bytes_per_second", "compress/flate/BenchmarkEncode/Digits/Huffman/1e4-8", 352.93e6}},
		"gjr-109-bench.gojson.txt": {2, 2, "time_per_op",
			want{"time_per_op", "package/name/bench/BenchmarkTest-8", 0.4407e-9}, want{"time_per_op", "package/name/bench/BenchmarkOtherTest-8", 0.2639e-9}},
		// Several lines of one benchmark: medians, by Python's statistics.median.
		"gjr-025-benchcount.txt": {10, 2, "allocs_per_op bytes_per_op time_per_op",
			want{"time_per_op", "BenchmarkNew-8", 354e-9}, want{"allocs_per_op", "BenchmarkFew-8", 1}},
		"benchfmt-suffixarray.bench": {420, 42, "allocs_per_op bytes_per_op bytes_per_second time_per_op",
			want{"time_per_op", "index/suffixarray/BenchmarkNew/text=opticks/size=100K/bits=32-8", 4076368e-9},
			want{"bytes_per_second", "index/suffixarray/BenchmarkSaveRestore/bits=64-8", 306.96e6}},
		"benchstat-issue19565.txt":  {24, 3, "time_per_op", want{"time_per_op", "BenchmarkA", 100e-9}, want{"time_per_op", "BenchmarkC", 10000e-9}},
		"benchstat-issue19634.txt":  {10, 1, "time_per_op", want{"time_per_op", "BenchmarkFloatSub/100-4", 96.4e-9}, want{"time_per_op", "BenchmarkFloatSub/100-4", 96.4e-9}},
		"benchstat-new.txt":         {20, 2, "time_per_op", want{"time_per_op", "golang.org/x/perf/cmd/benchstat/testdata/BenchmarkEncode/format=json-48", 1422.5e-9}, want{"time_per_op", "golang.org/x/perf/cmd/benchstat/testdata/BenchmarkEncode/format=gob-48", 3070e-9}},
		"benchstat-old.txt":         {20, 2, "time_per_op", want{"time_per_op", "golang.org/x/perf/cmd/benchstat/testdata/BenchmarkEncode/format=json-48", 1718e-9}, want{"time_per_op", "golang.org/x/perf/cmd/benchstat/testdata/BenchmarkEncode/format=gob-48", 3065.5e-9}},
		"benchstat-smallSample.txt": {2, 1, "time_per_op", want{"time_per_op", "BenchmarkX", 100.5e-9}, want{"time_per_op", "BenchmarkX", 100.5e-9}},
		"benchstat-units.txt":       {8, 2, "text_bytes", want{"text_bytes", "BenchmarkSize", 102.5}, want{"text_bytes", "BenchmarkNonExact", 101}},
		"benchstat-zero.txt":        {12, 6, "a_bytes b_bytes c_bytes x y", want{"a_bytes", "BenchmarkImperceptible", 1234567890}, want{"y", "BenchmarkNonZeroOverZero2", 50}},
		"go1.26-good.txt": {5, 6, "block_ms_per_ggas bytes_per_second ms_per_ggas time_per_op",
			want{"bytes_per_second", "example.com/gb/a/BenchmarkGood-2", 3.96e6}, want{"time_per_op", "example.com/gb/a/BenchmarkLog-2", 1204e-9}},
		"go1.26-verbose.txt": {6, 6, "block_ms_per_ggas bytes_per_second ms_per_ggas time_per_op",
			want{"ms_per_ggas", "example.com/gb/a/BenchmarkGood-2", 0.007}, want{"time_per_op", "example.com/gb/a/BenchmarkPrint-2", 1198e-9}},
	} {
		t.Run(name, func(t *testing.T) {
			raw := file(t, name)
			if got := len(surveyOf(plainText(raw)).resultLines()); got != c.lines {
				t.Errorf("%d result lines, want %d", got, c.lines)
			}
			got := read(t, raw)
			parts, metrics := map[string]bool{}, map[string]bool{}
			for _, m := range got.Measurements {
				parts[m.Part], metrics[m.Metric] = true, true
			}
			if all := strings.Join(slices.Sorted(maps.Keys(metrics)), " "); len(parts) != c.parts || all != c.metrics {
				t.Errorf("%d benchmarks with %s, want %d with %s", len(parts), all, c.parts, c.metrics)
			}
			if got.Failed || got.Why != "" {
				t.Errorf("it failed: %s", got.Why)
			}
			for _, w := range []want{c.first, c.last} {
				value(t, got, w.metric, w.part, w.value)
			}
		})
	}
}

// resultLines are those of benchmarks: units are among the results of a survey.
func (s *survey) resultLines() []line {
	return slices.DeleteFunc(slices.Clone(s.results), func(l line) bool { return l.name == "" })
}

// Files of runs that failed or measured nothing: what they say about why, and
// what is kept.
func TestCorpusWithoutResults(t *testing.T) {
	for name, c := range map[string]struct {
		failed  bool
		why     string
		warning string
		kept    int // measurements with a value
	}{
		"gjr-013-syntax-error.txt":     {true, `"FAIL    package/name/failing1 [build failed]"`, "", 0},
		"gjr-014-panic.txt":            {true, `"panic: init"`, "", 0},
		"gjr-017-race.txt":             {true, `"--- FAIL: TestRace (0.00s)"`, "", 0},
		"gjr-035-whitespace.txt":       {false, "", `it begins with "=== RUN   TestFlat"`, 0},
		"gjr-036-benchfail.txt":        {true, `"--- FAIL: BenchmarkError"`, `1 benchmark was skipped: "BenchmarkSkip"`, 0},
		"gjr-101-fail.gojson.txt":      {true, `"--- FAIL: TestOne (0.00s)"`, "", 0},
		"gjr-102-broken.gojson.txt":    {true, `"FAIL package/name/broken [build failed]"`, "", 0},
		"gjr-105-panic.gojson.txt":     {true, `"panic: init"`, "", 0},
		"gjr-107-skip.gojson.txt":      {false, "", `it begins with "=== RUN   TestSkip"`, 0},
		"gjr-108-paniclate.gojson.txt": {true, `"panic: panic"`, "", 0},
		"gjr-110-benchfail.gojson.txt": {true, `"--- FAIL: BenchmarkError"`, `1 benchmark was skipped: "BenchmarkSkip"`, 0},
		"go1.26-fails.txt":             {true, `"panic: boom"`, `"example.com/gb/b/BenchmarkFailLater-2", "example.com/gb/b/BenchmarkPanic-2"`, 3},
		"go1.26-fails.gojson.txt":      {true, `"panic: boom"`, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, file(t, name))
			if got.Failed != c.failed || got.Why != c.why {
				t.Errorf("failed %v because of %s, want %v because of %s", got.Failed, got.Why, c.failed, c.why)
			}
			if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, c.warning) {
				t.Errorf("warnings %q, want %q", all, c.warning)
			}
			kept := 0
			for _, m := range got.Measurements {
				if m.Absent == "" {
					kept++
				}
			}
			if kept != c.kept {
				t.Errorf("%d values kept, want %d: %+v", kept, c.kept, got.Measurements)
			}
		})
	}
}

// Every file of the corpus is in one of the tables above, or nothing tests it.
func TestCorpusIsRead(t *testing.T) {
	text, err := os.ReadFile("corpus_test.go")
	if err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob("testdata/*.*")
	if len(names) < 30 {
		t.Fatalf("%d files", len(names))
	}
	for _, name := range names {
		if base := filepath.Base(name); base != "README.md" && !bytes.Contains(text, []byte(`"`+base+`":`)) {
			t.Errorf("no test reads %s", base)
		}
	}
}

// C01: output that joins another changes nothing about it, whichever comes first.
func TestAnotherPackageRenamesNothing(t *testing.T) {
	names := []string{"gab-go_fiber_duplicate_names_output.txt", "gjr-022-bench.txt", "gjr-033-bench-mb.txt", "bencher-three.txt", "go1.26-good.txt"}
	for _, a := range names {
		for _, b := range names {
			if a == b {
				continue
			}
			first, second := file(t, a), file(t, b)
			both := read(t, slices.Concat(first, []byte("\n"), second)).Measurements
			want := slices.Concat(read(t, first).Measurements, read(t, second).Measurements)
			slices.SortStableFunc(both, byName)
			slices.SortStableFunc(want, byName)
			if !slices.EqualFunc(both, want, same) {
				t.Errorf("%s and %s: together they say something else", a, b)
			}
		}
	}
}
