package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate/exhibit"
)

// made is a session a night, of one cell with the given values of wall_time.
func made(night int, values ...float64) baseline.Stored {
	n := len(values)
	runs := result.Runs{}
	for i := range n {
		runs.Repeat, runs.Block, runs.Slot = append(runs.Repeat, i+1), append(runs.Block, i+1), append(runs.Slot, 0)
		runs.Start = append(runs.Start, float64(i))
	}
	id := fmt.Sprintf("S%05d", night)
	return baseline.Stored{File: id + ".json", Doc: &result.Document{
		Header: result.Header{
			Schema: result.Schema, Suite: result.Suite{Name: "made"},
			Builds: map[string]result.Build{result.BuildHead: {Commit: fmt.Sprintf("%040x", night)}},
			Sessions: []result.Session{{ID: id, Machine: "box", StartedAt: time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC).AddDate(0, 0, night),
				Replicates: result.ReplicatesProcess, Host: result.Host{Strict: map[string]string{"cpu": "one"}}}},
			Metrics: map[string]result.Metric{result.WallTime: {Unit: "s", Better: result.Lower, Class: result.Noisy}},
		},
		Cells: []result.Cell{{Name: "encode", Benchmark: "encode", Build: result.BuildHead, Digest: "d", Planned: n, Runs: runs,
			Columns: []result.Column{{Metric: result.WallTime, V: values}}}},
	}}
}

// moving are nights of three runs each, around level(night), with a spread
// between nights and one between runs.
func moving(nights int, seed uint64, level func(night int) float64) []baseline.Stored {
	r := rand.New(rand.NewPCG(seed, 7))
	var out []baseline.Stored
	for night := range nights {
		session := math.Log(level(night)) + 0.003*r.NormFloat64()
		var values []float64
		for range 3 {
			values = append(values, math.Exp(session+0.002*r.NormFloat64()))
		}
		out = append(out, made(night, values...))
	}
	return out
}

// stepsAndCreep rises by 6 % at night 40, falls by 6 % at night 90, and creeps up
// by 8 % from night 120 on.
func stepsAndCreep(night int) float64 {
	v := 1.0
	if night >= 40 && night < 90 {
		v *= 1.06
	}
	return v * math.Pow(1.08, math.Max(0, float64(night-120)/80))
}

func one(t *testing.T, trends []exhibit.Trend) exhibit.TrendSeries {
	t.Helper()
	if len(trends) != 1 || len(trends[0].Series) != 1 {
		t.Fatalf("%d trends, want one of one series: %+v", len(trends), trends)
	}
	return trends[0].Series[0]
}

// TestStepsAndCreepAreNamed: all three, and nothing else, in nearly every series;
// in series in which nothing moves, nothing in nearly every one.
func TestStepsAndCreepAreNamed(t *testing.T) {
	const tries = 10
	good, quiet := 0, 0
	near := func(a, b, within int) bool { return a >= b-within && a <= b+within }
	for seed := range uint64(tries) {
		s := one(t, Build(moving(200, seed, stepsAndCreep), Options{}))
		if len(s.Steps) == 2 && len(s.Creeps) == 1 &&
			near(s.Steps[0].At, 40, 3) && near(s.Steps[1].At, 90, 3) &&
			math.Abs(s.Steps[0].Ratio-1.06) < 0.015 && math.Abs(s.Steps[1].Ratio-1/1.06) < 0.015 &&
			near(s.Creeps[0].From, 120, 30) && near(s.Creeps[0].To, 200, 0) && math.Abs(s.Creeps[0].Ratio-1.08) < 0.02 {
			good++
		}
		s = one(t, Build(moving(200, seed+1000, func(int) float64 { return 1 }), Options{}))
		if len(s.Steps)+len(s.Creeps) == 0 {
			quiet++
		}
	}
	if good < tries*9/10 || quiet < tries*9/10 {
		t.Errorf("all three named, and nothing else, in %d of %d series; nothing named where nothing moves in %d", good, tries, quiet)
	}
}

func TestDriftFromTheAnchor(t *testing.T) {
	creep := func(night int) float64 { return 1 + 0.002*float64(night) }
	s := one(t, Build(moving(60, 1, creep), Options{}))
	if d := s.Drift; d == nil || d.Sessions != 5 || d.Anchored != 1 || math.Abs(d.Ratio-1.114) > 0.03 || !(d.Interval[0] > 1.05 && d.Interval[1] > d.Interval[0]) {
		t.Errorf("drift from the first session %+v, want about +11 %%", s.Drift)
	}
	sessions := moving(60, 1, creep)
	s = one(t, Build(sessions, Options{Anchor: fmt.Sprintf("%040x", 30)}))
	if s.Anchor.Missing || s.Anchor.Value != s.Points[30].Median || *s.Points[30].Ratio != 1 || math.Abs(s.Drift.Ratio-1.05) > 0.03 {
		t.Errorf("anchor %+v, ratio of its session %v, drift %+v: want those of session 30", s.Anchor, *s.Points[30].Ratio, s.Drift)
	}
	s = one(t, Build(sessions, Options{Anchor: "ffff"}))
	if !s.Anchor.Missing || *s.Points[0].Ratio != 1 {
		t.Errorf("anchor that no session has: %+v", s.Anchor)
	}
}

// TestSeriesAreCut: what may not be compared is a series of its own; sessions of
// two machines that take turns are two series and not forty.
func TestSeriesAreCut(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edit  func(night int, d *result.Document)
		apart string
	}{
		{"turns", func(n int, d *result.Document) {
			d.Sessions[0].Host.Strict["cpu"] = []string{"one", "two"}[n%2]
		}, `cpu: "one" before, "two" here`},
		{"upgrade", func(n int, d *result.Document) {
			if n >= 20 {
				d.Sessions[0].Host.Strict["kernel"] = "6.1"
			}
		}, `kernel: unknown before, "6.1" here`},
		{"definition", func(n int, d *result.Document) {
			if n >= 20 {
				d.Cells[0].Digest = "other"
			}
		}, "another definition of the cell"},
		{"unit", func(n int, d *result.Document) {
			if n >= 20 {
				d.Metrics[result.WallTime] = result.Metric{Unit: "min", Better: result.Lower, Class: result.Noisy}
			}
		}, "another definition of the metric"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sessions := moving(40, 3, func(night int) float64 { return 1 })
			for i, s := range sessions {
				tt.edit(i, s.Doc)
			}
			trends := Build(sessions, Options{})
			if len(trends) != 1 || len(trends[0].Series) != 2 {
				t.Fatalf("%+v, want one trend of two series", trends)
			}
			first, second := trends[0].Series[0], trends[0].Series[1]
			if len(first.Points) != 20 || len(second.Points) != 20 || first.Apart != nil || strings.Join(second.Apart, ";") != tt.apart {
				t.Errorf("%d and %d sessions, apart by %q, want 20 and 20 by %q", len(first.Points), len(second.Points), second.Apart, tt.apart)
			}
			if *second.Points[0].Ratio != 1 {
				t.Errorf("the second series begins at the ratio %v, want its own 1", *second.Points[0].Ratio)
			}
		})
	}
	sessions := moving(4, 3, func(int) float64 { return 1 })
	sessions[1].Doc.Sessions[0].Machine = "bench"
	if got := Build(sessions, Options{}); len(got[0].Series) != 1 {
		t.Errorf("machines of one kind: %d series, want 1", len(got[0].Series))
	}
	if got := Build(sessions, Options{ByMachine: true}); len(got[0].Series) != 2 {
		t.Errorf("machines by their names: %d series, want 2", len(got[0].Series))
	}
}

// TestGapsAreLeftOut: nothing is filled in.
func TestGapsAreLeftOut(t *testing.T) {
	sessions := moving(12, 3, func(int) float64 { return 1 })
	for _, i := range []int{4, 5} {
		sessions[i].Doc.Cells[0].Columns[0].V = result.Values{math.NaN(), math.NaN(), math.NaN()}
	}
	sessions[7].Doc.Cells[0].Runs.Status = map[int]result.Status{0: result.Timeout, 1: result.Failed, 2: result.Signal}
	sessions[8].Doc.Cells = nil
	trends := Build(sessions, Options{})
	if s := one(t, trends); len(s.Points) != 8 || trends[0].Gaps != 3 {
		t.Errorf("%d sessions and %d gaps, want 8 and 3", len(s.Points), trends[0].Gaps)
	}
	if s := one(t, trends); !strings.Contains(s.Note, "takes 10 sessions, and there are 8") {
		t.Errorf("note %q", s.Note)
	}
}

func TestRenameKeepsHistory(t *testing.T) {
	sessions := moving(12, 3, func(int) float64 { return 1 })
	for _, s := range sessions[6:] {
		s.Doc.Cells[0].Name, s.Doc.Cells[0].Benchmark, s.Doc.Cells[0].Was = "pack", "pack", []string{"encode"}
	}
	trends := Build(sessions, Options{Cells: "pack"})
	if s := one(t, trends); len(s.Points) != 12 || trends[0].Cell != "pack" {
		t.Errorf("%d sessions of %q, want 12 of pack", len(s.Points), trends[0].Cell)
	}
	if got := Build(sessions, Options{Cells: "encode"}); len(got) != 0 {
		t.Errorf("the old name selects %d trends, want none", len(got))
	}
}

func TestValuesWithoutALogarithm(t *testing.T) {
	sessions := moving(12, 3, func(int) float64 { return 1 })
	sessions[3] = made(3, 0, 0, 0)
	s := one(t, Build(sessions, Options{}))
	if s.Note == "" || s.Points[3].Ratio != nil || len(s.Points) != 12 || s.Drift != nil {
		t.Errorf("note %q, ratio %v", s.Note, s.Points[3].Ratio)
	}
}

// TestOrderDoesNotMatter: sessions come as a folder lists them.
func TestOrderDoesNotMatter(t *testing.T) {
	sessions := moving(60, 9, stepsAndCreep)
	want := Build(sessions, Options{})
	slices.Reverse(sessions)
	if got := Build(sessions, Options{}); !reflect.DeepEqual(got, want) {
		t.Error("another order of the sessions gives another trend")
	}
}

func TestSelection(t *testing.T) {
	sessions := moving(3, 3, func(int) float64 { return 1 })
	for _, o := range []Options{{Metrics: []string{"cpu_time"}}, {Cells: "decode/**"}} {
		if got := Build(sessions, o); len(got) != 0 {
			t.Errorf("%+v selects %d trends, want none", o, len(got))
		}
	}
	if got := Build(nil, Options{}); len(got) != 0 {
		t.Errorf("no session gives %d trends", len(got))
	}
}

func BenchmarkBuild2000(b *testing.B) {
	sessions := moving(2000, 1, func(night int) float64 { return stepsAndCreep(night / 10) })
	for b.Loop() {
		Build(sessions, Options{})
	}
}
