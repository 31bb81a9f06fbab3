package stats

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

type scipyVector struct {
	Given struct {
		A, B    []float64
		Sorted  []float64 `json:"p_sorted"`
		Latency []float64 `json:"samples_ms"`
	}
	Expected struct {
		N           json.RawMessage
		Mean        json.RawMessage
		Median      []float64
		StdDev      []float64            `json:"stdev_sample"`
		GeoMean     []float64            `json:"geomean"`
		Percentiles map[string][]float64 `json:"percentile_linear_type7"`
		Shift       *float64             `json:"hodges_lehmann_shift_b_minus_a"`
		Ratio       *float64             `json:"hodges_lehmann_ratio_b_over_a"`
		MannWhitney *mannWhitneyVector   `json:"mann_whitney_two_sided"`
		Welch       *struct{ T, P float64 }
		WelchTwo    *struct{ T, P float64 } `json:"welch_t_two_sided"`
		Holm        []float64
		BH          []float64 `json:"benjamini_hochberg"`
		P50, P90    *float64
		P99         *float64
		Min, Max    *float64
	}
}

type mannWhitneyVector struct {
	U      float64 `json:"u_of_a"`
	P      float64
	Method string
}

// exactInstead names the vectors whose p value is SciPy's approximation, and
// the exact one, by enumeration, that ours is instead.
func exactInstead(file string) (float64, bool) {
	switch file {
	case "ties.json":
		return .7142857143, true
	case "exact_small.json":
		return .1299053887, true
	case "all_equal.json":
		return 1, true
	}
	return 0, false
}

func TestSciPyVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/scipy/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors found: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var v scipyVector
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			switch {
			case v.Given.Sorted != nil:
				checkFamilies(t, v)
			case v.Given.Latency != nil:
				checkLatency(t, v)
			case v.Given.A != nil && v.Given.B != nil:
				checkEachSide(t, v)
				checkTwoSided(t, filepath.Base(file), v)
			default:
				t.Fatal("the vector holds nothing that is known")
			}
		})
	}
}

func checkFamilies(t *testing.T, v scipyVector) {
	t.Helper()
	holm, err := Holm(v.Given.Sorted)
	nearAll(t, "Holm", holm, v.Expected.Holm, 1e-9, err)
	bh, err := BenjaminiHochberg(v.Given.Sorted)
	nearAll(t, "Benjamini-Hochberg", bh, v.Expected.BH, 1e-9, err)
}

// checkLatency compares at the three digits that the vector was rounded to.
func checkLatency(t *testing.T, v scipyVector) {
	t.Helper()
	x := v.Given.Latency
	if n := jsonNumbers(t, v.Expected.N); n[0] != float64(len(x)) {
		t.Errorf("n = %d, want %v", len(x), n)
	}
	m, err := Mean(x)
	near(t, "mean", m, jsonNumbers(t, v.Expected.Mean)[0], 5.1e-4, err)
	for _, q := range []struct {
		p    float64
		want *float64
	}{{0, v.Expected.Min}, {.5, v.Expected.P50}, {.9, v.Expected.P90}, {.99, v.Expected.P99}, {1, v.Expected.Max}} {
		got, err := Quantile(x, q.p, 7)
		near(t, "p"+strconv.FormatFloat(100*q.p, 'g', -1, 64), got, *q.want, 5.1e-4, err)
	}
}

func checkEachSide(t *testing.T, v scipyVector) {
	t.Helper()
	for i, x := range [][]float64{v.Given.A, v.Given.B} {
		if n := jsonNumbers(t, v.Expected.N)[i]; n != float64(len(x)) {
			t.Errorf("n = %d, want %v", len(x), n)
		}
		med, err := Median(x)
		near(t, "median", med, v.Expected.Median[i], 1e-9, err)
		m, err := Mean(x)
		near(t, "mean", m, jsonNumbers(t, v.Expected.Mean)[i], 1e-9, err)
		sd, err := StdDev(x)
		near(t, "standard deviation", sd, v.Expected.StdDev[i], 1e-9, err)
		g, err := GeoMean(x)
		near(t, "geometric mean", g, v.Expected.GeoMean[i], 1e-9, err)
		if len(v.Expected.Percentiles) == 0 {
			t.Error("the vector has no percentiles")
		}
		for name, want := range v.Expected.Percentiles {
			p, err := strconv.ParseFloat(name, 64)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Quantile(x, p/100, 7)
			near(t, "p"+name, got, want[i], 1e-9, err)
		}
	}
}

func checkTwoSided(t *testing.T, file string, v scipyVector) {
	t.Helper()
	a, b := v.Given.A, v.Given.B
	var tables Tables
	shift, err := tables.Unpaired(a, b, .05)
	near(t, "shift", shift.Estimate, *v.Expected.Shift, 1e-9, err)
	ratio, err := tables.Unpaired(logs(t, a), logs(t, b), .05)
	near(t, "ratio", math.Exp(ratio.Estimate), *v.Expected.Ratio, 1e-9, err)

	want := v.Expected.MannWhitney
	r, err := tables.RankSum(a, b)
	near(t, "U", r.U, want.U, 0, err)
	if p, ok := exactInstead(file); ok {
		near(t, "exact p instead of the approximation", r.PTwoSided, p, 5e-11, nil)
		less, greater := approximation(a, b)
		near(t, "approximation", min(1, 2*min(less, greater)), want.P, 1e-9, nil)
	} else {
		near(t, "p", r.PTwoSided, want.P, 1e-9, nil)
	}
	if r.Method != Exact {
		t.Errorf("method %q, want exact", r.Method)
	}
	if v.Expected.WelchTwo == nil {
		return // no spread: SciPy has no answer
	}
	w, err := Welch(a, b)
	near(t, "t (of b - a)", w.T, -v.Expected.WelchTwo.T, 1e-9, err)
	near(t, "Welch p", w.PTwoSided, v.Expected.WelchTwo.P, 1e-9, nil)
}

// approximation is what RankSum uses above its exact sizes.
func approximation(x, y []float64) (less, greater float64) {
	u2, groups := tieGroups(nil, sortedCopy(nil, x), sortedCopy(nil, y))
	return normalRankSum(groups, len(x), len(y), u2)
}

// jsonNumbers reads a number or a list of them.
func jsonNumbers(t *testing.T, raw json.RawMessage) []float64 {
	t.Helper()
	var many []float64
	if json.Unmarshal(raw, &many) == nil && len(many) > 0 {
		return many
	}
	var one float64
	if err := json.Unmarshal(raw, &one); err != nil {
		t.Fatalf("neither a number nor numbers: %s", raw)
	}
	return []float64{one}
}

// near compares within an absolute tolerance and fails on NaN.
func near(t *testing.T, what string, got, want, tolerance float64, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if got != want && !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, tolerance float64, err error) {
	t.Helper()
	if err != nil || len(got) != len(want) || len(want) == 0 {
		t.Errorf("%s: %d values, want %d (error %v)", what, len(got), len(want), err)
		return
	}
	for i := range got {
		near(t, what+" at "+strconv.Itoa(i), got[i], want[i], tolerance, nil)
	}
}

func logs(t *testing.T, x []float64) []float64 {
	t.Helper()
	l, err := Logs(x)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
