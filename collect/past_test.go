package collect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/parse/generic"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// memory is a log that fails at a chosen record, as a machine that dies does.
type memory struct {
	records []journal.Record
	dies    int // at this many records; 0: never
}

var errDied = fmt.Errorf("the machine died")

func (m *memory) Append(r journal.Record) error {
	if m.dies > 0 && len(m.records) >= m.dies {
		return errDied
	}
	m.records = append(m.records, r)
	return nil
}

func smallPlan(t *testing.T, repeats, warmups int) *plan.Plan {
	t.Helper()
	b := plan.Benchmark{Name: "b", Repeats: repeats, Warmups: warmups, Exec: plan.Exec{Argv: []string{"true"}},
		Variants: []plan.Variant{{Name: "x"}, {Name: "y"}}}
	p, err := plan.Make(&plan.Suite{Name: "s", Benchmarks: []plan.Benchmark{b}}, plan.Facts{Root: "/s", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	p.Limits.Retries = 2
	return p
}

// scripted measures nothing: how each execution ends is in how.
func scripted(how func(n int, r measure.Run) measure.Outcome) (Measure, *[]string) {
	var done []string
	return func(_ context.Context, r measure.Run) measure.Outcome {
		done = append(done, fmt.Sprintf("%s r%d.a%d", r.Cell.Name, r.Repeat, r.Attempt))
		o := how(len(done), r)
		o.StartedAt = time.Unix(int64(len(done)), 0)
		return o
	}, &done
}

func good(wall float64) measure.Outcome {
	return measure.Outcome{Status: result.Success, Measurements: []generic.Measurement{
		{Metric: result.WallTime, Value: wall, Def: result.Catalogue()[result.WallTime]}}}
}

// TestResumeAtEveryRecord: whatever the record at which the machine died, a
// resume does exactly what is missing, and repeats nothing that is journalled.
func TestResumeAtEveryRecord(t *testing.T) {
	p := smallPlan(t, 3, 0)
	for dies := 1; dies < 9; dies++ {
		log := &memory{dies: dies}
		do, _ := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
		m := Matrix{Plan: p, Session: result.Session{ID: "one"}, Root: t.TempDir()}
		if err := collectAll(t.Context(), m, log, do, nil); err == nil {
			t.Fatalf("died at %d and noticed nothing", dies)
		}
		journalled := runs(log.records)
		log.dies = 0
		do, done := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
		m.Past, m.Continues = slices.Clone(log.records), true
		if err := collectAll(t.Context(), m, log, do, nil); err != nil {
			t.Fatal(err)
		}
		all := runs(log.records)
		if len(all) != 6 || len(*done) != 6-len(journalled) {
			t.Errorf("died at %d: %d runs were journalled, then %d executed, now %d in the journal", dies, len(journalled), len(*done), len(all))
		}
		for _, r := range *done {
			if slices.Contains(journalled, r) {
				t.Errorf("died at %d: %s was done again", dies, r)
			}
		}
		slices.Sort(all)
		if len(slices.Compact(all)) != 6 {
			t.Errorf("died at %d: %q", dies, all)
		}
	}
}

func runs(records []journal.Record) []string {
	var out []string
	for _, r := range records {
		if r.Run != nil {
			out = append(out, fmt.Sprintf("b/%s r%d.a%d", []string{"x", "y"}[r.Run.Cell], r.Run.Repeat, r.Run.Attempt))
		}
	}
	return out
}

func TestWhatIsDoneAgain(t *testing.T) {
	invalid := false
	for _, tt := range []struct {
		name  string
		first measure.Outcome // of repeat 1 of x
		retry bool
		want  string // what a resume does; empty: nothing
	}{
		{name: "a success is done", first: good(1)},
		{name: "a crash is done", first: measure.Outcome{Status: result.Signal}},
		{name: "a crash, asked for again", first: measure.Outcome{Status: result.Signal}, retry: true, want: "b/x r1.a2"},
		{name: "a success, asked for again", first: good(1), retry: true},
		{name: "an invalid run", first: measure.Outcome{Status: result.Success, Detail: result.Detail{Valid: &invalid}}, want: "b/x r1.a4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := &memory{}
			p := smallPlan(t, 1, 0)
			do, done := scripted(func(_ int, r measure.Run) measure.Outcome {
				if r.Cell.Variant == "x" {
					return tt.first
				}
				return good(1)
			})
			m := Matrix{Plan: p, Root: t.TempDir()}
			if err := collectAll(t.Context(), m, log, do, nil); err != nil {
				t.Fatal(err)
			}
			// An invalid run was tried again at once, as often as the limit says.
			if n := len(*done); n != 2 && !(tt.first.Detail.Valid != nil && n == 4) {
				t.Errorf("executed %q", *done)
			}
			do, done = scripted(func(int, measure.Run) measure.Outcome { return good(1) })
			m.Past, m.Continues, m.RetryFailed = log.records, true, tt.retry
			if err := collectAll(t.Context(), m, log, do, nil); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(*done); got != "["+tt.want+"]" {
				t.Errorf("a resume did %s, want [%s]", got, tt.want)
			}
		})
	}
}

// TestWarmupsOfANewSession: after a reboot everything is cold again, but only
// for cells that still have a run to come.
func TestWarmupsOfANewSession(t *testing.T) {
	p := smallPlan(t, 2, 1)
	log := &memory{dies: 1 + 2 + 1 + 2} // session, both warm-ups, the metric, one block
	do, _ := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
	m := Matrix{Plan: p, Session: result.Session{ID: "one"}, Root: t.TempDir()}
	_ = collectAll(t.Context(), m, log, do, nil)
	for _, tt := range []struct {
		continues bool
		want      int
	}{{true, 2}, {false, 4}} {
		again := &memory{}
		do, done := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
		m.Past, m.Continues = slices.Clone(log.records), tt.continues
		if err := collectAll(t.Context(), m, again, do, nil); err != nil {
			t.Fatal(err)
		}
		session := 0
		for _, r := range again.records {
			if r.Run != nil {
				session = r.Run.Session
			}
		}
		if len(*done) != tt.want || session != map[bool]int{true: 0, false: 1}[tt.continues] {
			t.Errorf("continues %v: executed %q in session %d", tt.continues, *done, session)
		}
	}
}

// TestTimeoutRefersToThePast: a factor of another variant's latest time survives
// a resume.
func TestTimeoutRefersToThePast(t *testing.T) {
	p := smallPlan(t, 2, 0)
	p.Cells[1].Exec.Timeout = plan.Timeout{Factor: 4, Of: "x", Min: 1, Max: 100}
	log := &memory{}
	ctx, stop := context.WithCancel(t.Context())
	do, _ := scripted(func(n int, r measure.Run) measure.Outcome {
		if n == 2 {
			stop()
		}
		return good(5)
	})
	m := Matrix{Plan: p, Root: t.TempDir()}
	if err := collectAll(ctx, m, log, do, nil); err != nil {
		t.Fatal(err)
	}
	var limits []time.Duration
	do, _ = scripted(func(_ int, r measure.Run) measure.Outcome {
		if r.Cell.Variant == "y" {
			limits = append(limits, r.Timeout)
		}
		return good(7)
	})
	m.Past, m.Continues = log.records, true
	if err := collectAll(t.Context(), m, log, do, nil); err != nil {
		t.Fatal(err)
	}
	for _, l := range limits {
		if l != 20*time.Second && l != 28*time.Second {
			t.Errorf("timeout %v, want four times the latest 5 s or 7 s", l)
		}
	}
	if len(limits) == 0 {
		t.Error("no run of y was left")
	}
}

// TestResumeManyTimes: random deaths until all is done; every repeat is there
// once, every attempt number once.
func TestResumeManyTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		p := smallPlan(t, 5, 1)
		log := &memory{}
		var done int
		for try := 0; done < 10 && try < 100; try++ {
			m := Matrix{Plan: p, Root: t.TempDir(), Past: slices.Clone(log.records), Continues: len(log.records) > 0 && r.IntN(3) > 0}
			log.dies = len(log.records) + 1 + r.IntN(6)
			do, _ := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
			_ = collectAll(t.Context(), m, log, do, nil)
			done = 0
			for _, rec := range log.records {
				if rec.Run != nil && rec.Run.Repeat > 0 {
					done++
				}
			}
		}
		doc, err := journal.Fold(p, append([]journal.Record{{Open: &journal.Opened{Schema: journal.Schema, Plan: p.Digest}}}, log.records...))
		if err != nil {
			t.Fatal(err)
		}
		for i := range doc.Cells {
			seen := map[int]int{}
			for k, repeat := range doc.Cells[i].Runs.Repeat {
				if !doc.Cells[i].Runs.Warmup(k) {
					seen[repeat]++
				}
			}
			for repeat := 1; repeat <= 5; repeat++ {
				if seen[repeat] != 1 {
					t.Errorf("%s repeat %d is there %d times", doc.Cells[i].Name, repeat, seen[repeat])
				}
			}
		}
	}
}
