package collect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// began is the start of every session here.
var began = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// twoVariants is a plan of one benchmark: ref, and slow whose timeout is four
// times ref's latest time, at most a minute.
func twoVariants(t *testing.T, repeats, warmups int) *plan.Plan {
	t.Helper()
	factor := plan.Timeout{Factor: 4, Of: "ref", Max: 60}
	p, err := plan.Make(&plan.Suite{Name: "s", Benchmarks: []plan.Benchmark{{
		Name: "b", Exec: plan.Exec{Argv: []string{"x"}, Timeout: plan.Timeout{Fixed: 9}}, Repeats: repeats, Warmups: warmups,
		Variants: []plan.Variant{{Name: "ref"}, {Name: "slow", Timeout: &factor}},
	}}}, plan.Facts{Root: "/suite", Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// script is a Measure and a Log that note what they are asked, in one order.
type script struct {
	t     *testing.T
	order []string // "do b/ref r1", "journal session", ...
	runs  []measure.Run
	recs  []journal.Record
	// answer makes the n-th outcome, from 0; nil: every run ends well in a second.
	answer func(n int, r measure.Run) measure.Outcome
	refuse int // the record, from 1, that the journal cannot take; 0: none
}

func (s *script) Append(r journal.Record) error {
	s.recs = append(s.recs, r)
	kind := "run"
	switch {
	case r.Session != nil:
		kind = "session"
	case r.Metrics != nil:
		kind = "metrics"
	case r.End != nil:
		kind = "end"
	}
	s.order = append(s.order, "journal "+kind)
	if len(s.recs) == s.refuse {
		return errFull
	}
	return nil
}

var errFull = errors.New("no space left on device")

func (s *script) do(_ context.Context, r measure.Run) measure.Outcome {
	n := len(s.runs)
	s.runs = append(s.runs, r)
	s.order = append(s.order, fmt.Sprintf("do %s r%d", r.Cell.Name, r.Repeat))
	if s.answer == nil {
		return took(1)
	}
	return s.answer(n, r)
}

// took is a run that ended well.
func took(seconds float64, more ...generic.Measurement) measure.Outcome {
	wall := generic.Present(result.WallTime, "", seconds, result.Catalogue()[result.WallTime])
	return measure.Outcome{Status: result.Success, StartedAt: began.Add(time.Second), Measurements: append([]generic.Measurement{wall}, more...)}
}

func (s *script) collect(ctx context.Context, p *plan.Plan, tell func(Event)) error {
	root := s.t.TempDir()
	m := Matrix{Plan: p, Session: result.Session{ID: "S", StartedAt: began}, Root: root, Runs: filepath.Join(root, "runs")}
	return collectAll(ctx, m, s, s.do, tell)
}

func (s *script) journalled() []*journal.Run {
	var out []*journal.Run
	for _, r := range s.recs {
		if r.Run != nil {
			out = append(out, r.Run)
		}
	}
	return out
}

// TestOrderAndJournal: runs come as planned, and each is in the journal before
// the next one starts.
func TestOrderAndJournal(t *testing.T) {
	p := twoVariants(t, 3, 1)
	s := &script{t: t}
	var events []Event
	if err := s.collect(t.Context(), p, func(e Event) { events = append(events, e) }); err != nil {
		t.Fatal(err)
	}
	want := []string{"journal session"}
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		want = append(want, fmt.Sprintf("do %s r%d", p.Cells[r.Cell].Name, r.Repeat))
		if i == 0 {
			want = append(want, "journal metrics")
		}
		want = append(want, "journal run")
	}
	if want = append(want, "journal end"); !slices.Equal(s.order, want) {
		t.Errorf("order %q\nwant  %q", s.order, want)
	}
	for i, run := range s.journalled() {
		r := p.Order.At(i)
		if run.Cell != r.Cell || run.Repeat != r.Repeat || run.Block != r.Block || run.Slot != r.Slot || run.Attempt != 1 || run.Start != 1 {
			t.Errorf("run %d: %+v, planned %+v", i, run, r)
		}
	}
	if last := events[len(events)-1]; len(events) != 8 || last.Done != 8 || last.Total != 8 || last.Wall != 1 {
		t.Errorf("%d events, the last %+v", len(events), last)
	}
	if end := s.recs[len(s.recs)-1].End; end.Interrupted {
		t.Error("a session that was done is marked interrupted")
	}
}

// TestFolders: no two runs share one, warm-ups included.
func TestFolders(t *testing.T) {
	s := &script{t: t}
	if err := s.collect(t.Context(), twoVariants(t, 3, 2), nil); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range s.runs {
		if seen[r.Folder] || !filepath.IsAbs(r.Folder) || !strings.Contains(r.Folder, r.Cell.Key) {
			t.Errorf("folder %s", r.Folder)
		}
		seen[r.Folder] = true
	}
}

// TestTimeoutByFactor: the limit follows the reference's latest good repeat. A
// warm-up and a run that went wrong do not count.
func TestTimeoutByFactor(t *testing.T) {
	p := twoVariants(t, 6, 1)
	latest, ref := 0.0, 0
	s := &script{t: t}
	s.answer = func(n int, r measure.Run) measure.Outcome {
		if r.Cell.Variant == "slow" {
			want, basis := 60*time.Second, "the cap: b/ref has no time yet"
			if latest > 0 {
				want, basis = time.Duration(4*latest*1e9), "4 x b/ref"
			}
			if r.Timeout != want || r.TimeoutBasis != basis {
				t.Errorf("run %d: limit %v (%s), want %v (%s)", n, r.Timeout, r.TimeoutBasis, want, basis)
			}
			return took(50)
		}
		if r.Timeout != 9*time.Second || r.TimeoutBasis != "" {
			t.Errorf("the reference's limit is %v (%s)", r.Timeout, r.TimeoutBasis)
		}
		ref++
		out := took(float64(ref))
		switch {
		case r.Repeat == 0:
		case ref%3 == 0:
			out.Status = result.Failed
		default:
			latest = float64(ref)
		}
		return out
	}
	if err := s.collect(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	if latest == 0 {
		t.Error("the reference never ran")
	}
}

// leave makes files in a run's folder.
func leave(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeep: the folders of runs that went wrong stay, and of the first good one
// of each cell that left something.
func TestKeep(t *testing.T) {
	p := twoVariants(t, 5, 0)
	s := &script{t: t}
	s.answer = func(_ int, r measure.Run) measure.Outcome {
		out := took(1)
		switch r.Repeat {
		case 1:
			leave(t, r.Folder, map[string]string{measure.StdoutLog: ""}) // good, and nothing in it
		case 4:
			leave(t, r.Folder, map[string]string{measure.StderrLog: "x"})
			out.Status = result.Failed
		default:
			leave(t, r.Folder, map[string]string{measure.StdoutLog: "text", "out/f": "x"})
		}
		return out
	}
	if err := s.collect(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	for i, run := range s.journalled() {
		_, err := os.Stat(s.runs[i].Folder)
		kept := err == nil
		if want := run.Repeat == 2 || run.Repeat == 4; kept != want || (run.Detail.Folder != "") != want {
			t.Errorf("repeat %d: folder there %v, told %q, want kept: %v", run.Repeat, kept, run.Detail.Folder, want)
		}
		if f := run.Detail.Folder; f != "" && (filepath.IsAbs(f) || !strings.HasSuffix(f, fmt.Sprintf("/r%d.a1", run.Repeat))) {
			t.Errorf("repeat %d: folder %q is not relative to the output folder", run.Repeat, f)
		}
	}
}

// TestRemoveFails: a folder that cannot be removed is a warning, not an end.
func TestRemoveFails(t *testing.T) {
	s := &script{t: t}
	m := Matrix{Plan: twoVariants(t, 2, 0), Session: result.Session{StartedAt: began}, Root: t.TempDir(),
		Remove: func(string) error { return os.ErrPermission }}
	m.Runs = m.Root
	if err := collectAll(t.Context(), m, s, s.do, nil); err != nil {
		t.Fatal(err)
	}
	for _, run := range s.journalled() {
		if w := strings.Join(run.Detail.Warnings, ""); !strings.Contains(w, "permission denied") {
			t.Errorf("warnings %q", w)
		}
	}
}

// TestInterrupted: the run in flight is journalled, nothing starts after it, and
// the session says so. So it is when the end comes between two runs.
func TestInterrupted(t *testing.T) {
	for _, inFlight := range []bool{true, false} {
		ctx, stop := context.WithCancel(t.Context())
		s := &script{t: t}
		s.answer = func(n int, _ measure.Run) measure.Outcome {
			out := took(1)
			if n == 1 {
				stop()
				if inFlight {
					out.Status = result.Interrupted
				}
			}
			return out
		}
		if err := s.collect(ctx, twoVariants(t, 3, 0), nil); err != nil {
			t.Fatal(err)
		}
		runs, end := s.journalled(), s.recs[len(s.recs)-1].End
		if len(s.runs) != 2 || len(runs) != 2 || end == nil || !end.Interrupted {
			t.Errorf("in flight %v: %d runs, %d journalled, end %+v", inFlight, len(s.runs), len(runs), end)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	s := &script{t: t}
	p := twoVariants(t, 1, 0)
	s.answer = func(n int, _ measure.Run) measure.Outcome {
		if n == p.Order.Len()-1 {
			stop()
		}
		return took(1)
	}
	if err := s.collect(ctx, p, nil); err != nil || s.recs[len(s.recs)-1].End.Interrupted {
		t.Errorf("an end after the last run: %v, interrupted %v", err, s.recs[len(s.recs)-1].End.Interrupted)
	}
}

// TestJournalFails: without a journal no further run starts.
func TestJournalFails(t *testing.T) {
	for refuse := 1; refuse <= 4; refuse++ {
		s := &script{t: t, refuse: refuse}
		err := s.collect(t.Context(), twoVariants(t, 3, 0), nil)
		if want := max(0, min(2, refuse-1)); !errors.Is(err, errFull) || len(s.runs) > want {
			t.Errorf("record %d refused: %v after %d runs", refuse, err, len(s.runs))
		}
	}
}

func TestMetricDefinitions(t *testing.T) {
	p := twoVariants(t, 2, 0)
	own := result.Metric{Unit: "frame", Better: result.Higher, Class: result.Noisy, Source: "report"}
	p.Metrics = map[string]result.Metric{"frames": own}
	said := result.Metric{Unit: "frame", Class: result.Exact, Source: "report"}
	other := result.Metric{Unit: "s", Class: result.Noisy, Source: "report"}
	s := &script{t: t}
	s.answer = func(n int, _ measure.Run) measure.Outcome {
		load := other
		if n == 3 {
			load.Unit = "B"
		}
		late := generic.Present("load", "", 7, load)
		late.Bound = 1
		return took(1, generic.Present("frames", "", 3, said), late)
	}
	if err := s.collect(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	defined := map[string]int{}
	for _, r := range s.recs {
		for name, def := range r.Metrics {
			defined[name]++
			if name == "frames" && def != own {
				t.Errorf("frames is %+v, the suite says %+v", def, own)
			}
		}
	}
	if len(defined) != 3 || defined["frames"] != 1 || defined["load"] != 1 || defined[result.WallTime] != 1 {
		t.Errorf("defined %v, want each of three once", defined)
	}
	for i, run := range s.journalled() {
		v := run.Values[2]
		if i < 3 && (v.V != 7 || v.Absent != "" || v.Bound != 1) {
			t.Errorf("run %d: %+v", i, v)
		}
		if i == 3 && (!math.IsNaN(v.V) || v.Bound != 0 || v.Absent != result.AbsentUnitMismatch || !strings.Contains(strings.Join(run.Detail.Warnings, ""), `metric load came in "B", and is defined in "s"`)) {
			t.Errorf("another unit under one name: %+v, warnings %q", v, run.Detail.Warnings)
		}
	}
}

// TestSources: cost and coverage are means, missed ticks add up, and a source
// that worked once was there.
func TestSources(t *testing.T) {
	s := &script{t: t}
	s.answer = func(n int, _ measure.Run) measure.Outcome {
		out := took(1)
		proc := result.Source{Name: "linuxproc", State: result.SourceOK, Every: 0.1, Cost: float64(n), Missed: 1, Coverage: 0.5}
		if n == 0 {
			proc.State, proc.Reason = result.SourceAbsent, "too_short"
		}
		out.Sources = []result.Source{proc, {Name: "gpu", State: result.SourceAbsent, Reason: "no_permission"}}
		return out
	}
	if err := s.collect(t.Context(), twoVariants(t, 2, 0), nil); err != nil {
		t.Fatal(err)
	}
	want := []result.Source{
		{Name: "linuxproc", State: result.SourceOK, Every: 0.1, Cost: 1.5, Missed: 4, Coverage: 0.5},
		{Name: "gpu", State: result.SourceAbsent, Reason: "no_permission"},
	}
	if got := s.recs[len(s.recs)-1].End.Sources; !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
