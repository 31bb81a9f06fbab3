package journal

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

func twoCells() *plan.Plan {
	return &plan.Plan{
		Schema: plan.Schema, Digest: "sha256:41", Seed: 7, Looks: []int{2}, Selection: "encode/**",
		Suite:   result.Suite{Name: "codec", Path: "perfweir.yml"},
		Builds:  map[string]result.Build{"head": {Commit: "3c1a"}},
		Skipped: []result.Skipped{{Name: "encode/zstd", Why: "no zstd on PATH"}},
		Cells: []plan.Cell{
			{Name: "encode/b2", Benchmark: "encode", Variant: "b2", Build: "head", Digest: "sha256:c0", Argv: []string{"bin/encode"}, Repeats: 2, Warmups: 1},
			{Name: "serve", Benchmark: "serve", Build: "head", Digest: "sha256:c1", Repeats: 2},
		},
		Order: plan.Order{
			Cell: []int{0, 0, 1, 0, 1}, Repeat: []int{0, 1, 1, 2, 2}, Look: []int{1, 1, 1, 1, 1},
			Block: []int{0, 1, 1, 2, 2}, Slot: []int{0, 0, 1, 1, 0},
		},
	}
}

func opened(records ...Record) []Record {
	return append([]Record{
		{Open: &Opened{Schema: Schema, Plan: "sha256:41"}},
		{Session: &result.Session{ID: "s0"}},
	}, records...)
}

func ran(r Run) Record {
	r.Attempt, r.Look = max(r.Attempt, 1), max(r.Look, 1)
	return Record{Run: &r}
}

func TestFold(t *testing.T) {
	frames := map[string]result.Metric{"frames": {Unit: "1", Better: result.Higher, Class: result.Noisy}}
	doc, err := Fold(twoCells(), opened(
		ran(Run{Cell: 0, Repeat: 0, Start: 0, Values: []Value{{Metric: result.WallTime, V: 9}}}),
		Record{Metrics: frames},
		// Journalled out of order: the document has the order of starts.
		ran(Run{Cell: 0, Repeat: 2, Block: 2, Slot: 1, Start: 5, Status: result.Timeout, Detail: result.Detail{Timeout: 4, Ended: 4.01},
			Values: []Value{{Metric: result.WallTime, V: math.NaN(), Absent: "timeout"}}}),
		ran(Run{Cell: 0, Repeat: 1, Block: 1, Start: 1, Status: result.WindowReached, Values: []Value{
			{Metric: "frames", Part: "b", V: 30}, {Metric: "frames", Part: "a", V: 31},
			{Metric: result.CPUTime, V: 0.5, Bound: 0.01}, {Metric: result.WallTime, V: 1.5},
		}}),
		ran(Run{Cell: 0, Repeat: 2, Attempt: 2, Block: 2, Slot: 1, Start: 10, Status: result.Success, Values: []Value{
			{Metric: result.WallTime, V: 1.25}, {Metric: result.CPUTime, V: 0.75}, {Metric: result.CPUTime, V: 0.8},
		}}),
		Record{End: &End{Session: 0, Sources: []result.Source{{Name: "linuxproc", State: result.SourceOK}}, Interrupted: true}},
	))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := []result.Cell{
		{
			Name: "encode/b2", Benchmark: "encode", Variant: "b2", Build: "head", Digest: "sha256:c0", Argv: []string{"bin/encode"}, Planned: 2,
			Runs: result.Runs{
				Repeat: []int{0, 1, 2, 2}, Attempt: []int{1, 1, 1, 2}, Block: []int{0, 1, 2, 2}, Slot: []int{0, 0, 1, 1}, Start: []float64{0, 1, 5, 10},
				Status: map[int]result.Status{1: result.WindowReached, 2: result.Timeout},
				Detail: map[int]result.Detail{2: {Timeout: 4, Ended: 4.01}},
			},
			Columns: []result.Column{
				{Metric: result.WallTime, V: result.Values{9, 1.5, nan, 1.25}, Absent: map[int]string{2: "timeout"}},
				{Metric: result.CPUTime, V: result.Values{nan, 0.5, nan, nan}, Bound: result.Values{nan, 0.01, nan, nan},
					Absent: map[int]string{0: result.AbsentNotReported, 2: result.AbsentNotRun, 3: result.AbsentDuplicateName}},
				{Metric: "frames", Part: "a", V: result.Values{nan, 31, nan, nan},
					Absent: map[int]string{0: result.AbsentNotReported, 2: result.AbsentNotRun, 3: result.AbsentNotReported}},
				{Metric: "frames", Part: "b", V: result.Values{nan, 30, nan, nan},
					Absent: map[int]string{0: result.AbsentNotReported, 2: result.AbsentNotRun, 3: result.AbsentNotReported}},
			},
		},
		{Name: "serve", Benchmark: "serve", Build: "head", Digest: "sha256:c1", Planned: 2}, // never ran, and is there
	}
	if diff := cmp.Diff(want, doc.Cells, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	p := doc.Plan
	if p.Digest != "sha256:41" || p.Seed != 7 || p.Cells != 2 || p.Runs != 4 || p.Selection != "encode/**" || len(doc.Skipped) != 1 {
		t.Errorf("header = %+v", doc.Header)
	}
	if s := doc.Sessions[0]; !s.Interrupted || len(s.Sources) != 1 {
		t.Errorf("session = %+v", s)
	}
	// Definitions: the journal's, and the catalogue's for built-in metrics.
	if len(doc.Metrics) != 3 || doc.Metrics["frames"].Better != result.Higher || doc.Metrics[result.WallTime].Unit != "s" {
		t.Errorf("metrics = %+v", doc.Metrics)
	}
	var buf bytes.Buffer
	if err := result.Encode(&buf, doc); err != nil {
		t.Fatal(err)
	}
	back, err := result.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doc, back, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after the codec (-want +got):\n%s", diff)
	}
}

// A session that was killed and continued: its starts count from its own start.
func TestFoldResumed(t *testing.T) {
	doc, err := Fold(twoCells(), opened(
		ran(Run{Cell: 1, Repeat: 1, Start: 100}),
		Record{Session: &result.Session{ID: "s1"}},
		ran(Run{Cell: 1, Repeat: 2, Start: 1, Session: 1}),
	))
	if err != nil {
		t.Fatal(err)
	}
	r := doc.Cells[1].Runs
	if !slices.Equal(r.Repeat, []int{1, 2}) || !slices.Equal(r.Session, []int{0, 1}) || r.Attempt != nil || r.Look != nil {
		t.Errorf("runs = %+v", r)
	}
	if !doc.Sessions[0].Interrupted || doc.Sessions[1].Interrupted {
		t.Errorf("interrupted: %v, %v; want the killed session alone", doc.Sessions[0].Interrupted, doc.Sessions[1].Interrupted)
	}
}

func TestFoldRefuses(t *testing.T) {
	def := func(unit string) Record {
		return Record{Metrics: map[string]result.Metric{"m": {Unit: unit, Class: result.Noisy}}}
	}
	for _, c := range []struct {
		name    string
		records []Record
		want    string
	}{
		{"nothing", nil, "does not open it"},
		{"other plan", []Record{{Open: &Opened{Schema: Schema, Plan: "x"}}}, "the suite changed"},
		{"cell", opened(ran(Run{Cell: 2, Repeat: 1})), "record 3: run of cell 2: the plan has 2 cells"},
		{"session", opened(ran(Run{Session: 1, Repeat: 1})), "record 3: run of session 1"},
		{"end", opened(Record{End: &End{Session: 1}}), "record 3: end of session 1"},
		{"twice", opened(ran(Run{Repeat: 1}), ran(Run{Repeat: 1})), `cell "encode/b2": repeat 1 attempt 1 is in the journal twice`},
		{"undefined", opened(ran(Run{Repeat: 1, Values: []Value{{Metric: "m", V: 1}}})), `metric "m" is not defined`},
		{"redefined", opened(def("s"), def("B")), `metric "m" is defined twice, and differently`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Fold(twoCells(), c.records)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}
