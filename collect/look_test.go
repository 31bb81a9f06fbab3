package collect

import (
	"context"
	"slices"
	"testing"

	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// lookPlan has variants x and y with looks after 2, 3 and 5 repeats.
func lookPlan(t *testing.T) *plan.Plan {
	t.Helper()
	b := plan.Benchmark{Name: "b", Looks: []int{2, 3, 5}, Warmups: 1, Exec: plan.Exec{Argv: []string{"true"}},
		Variants: []plan.Variant{{Name: "x"}, {Name: "y"}}}
	p, err := plan.Make(&plan.Suite{Name: "s", Benchmarks: []plan.Benchmark{b}}, plan.Facts{Root: "/s", Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drive goes through a plan's looks as flow does; choose selects the cells that go
// on to a look.
func drive(ctx context.Context, m Matrix, log Log, do Measure, tell func(Event), choose func(look int) plan.Selection) error {
	c := New(m, log, do, tell)
	interrupted := false
	for look := 1; look <= len(m.Plan.Looks) && !interrupted; look++ {
		sel, begun := c.Begun(look)
		if !begun {
			sel = choose(look)
		}
		var err error
		if interrupted, err = c.Look(ctx, sel); err != nil {
			return err
		}
	}
	return c.End(interrupted)
}

// collectAll measures every look in full.
func collectAll(ctx context.Context, m Matrix, log Log, do Measure, tell func(Event)) error {
	return drive(ctx, m, log, do, tell, m.Plan.All)
}

// byLook decides y after the first look.
func byLook(ctx context.Context, m Matrix, log Log, do Measure, tell func(Event)) error {
	return drive(ctx, m, log, do, tell, func(look int) plan.Selection {
		return m.Plan.Only(look, func(cell int) bool { return look == 1 || m.Plan.Cells[cell].Variant == "x" })
	})
}

// TestLookByLook: only what goes on is measured, in one session, with its place
// in the journal; progress counts what was selected.
func TestLookByLook(t *testing.T) {
	p := lookPlan(t)
	log := &memory{}
	do, done := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
	var events []Event
	m := Matrix{Plan: p, Session: result.Session{ID: "one"}, Root: t.TempDir()}
	if err := byLook(t.Context(), m, log, do, func(e Event) { events = append(events, e) }); err != nil {
		t.Fatal(err)
	}
	if len(*done) != 2+4+1+2 {
		t.Errorf("%d runs: %q", len(*done), *done)
	}
	if runs := (*done)[6:]; !slices.Equal(runs, []string{"b/x r3.a1", "b/x r4.a1", "b/x r5.a1"}) {
		t.Errorf("after the first look: %q", runs)
	}
	var looks []journal.Look
	sessions, ends := 0, 0
	for _, r := range log.records {
		switch {
		case r.Look != nil:
			looks = append(looks, *r.Look)
		case r.Session != nil:
			sessions++
		case r.End != nil:
			ends++
		}
	}
	if len(looks) != 3 || !slices.Equal(looks[0].Cells, []int{0, 1}) || len(looks[1].Cells) != 1 || sessions != 1 || ends != 1 {
		t.Errorf("looks %v, %d sessions, %d ends", looks, sessions, ends)
	}
	if first, last := events[5], events[8]; first.Done != 6 || first.Total != 6 || last.Done != 9 || last.Total != 9 {
		t.Errorf("look 1 ends with %d of %d, look 3 with %d of %d", first.Done, first.Total, last.Done, last.Total)
	}
}

// TestResumeAtEveryRecordOfLooks: whatever the record at which the machine died,
// a resume ends with the same runs, and repeats none but warm-ups.
func TestResumeAtEveryRecordOfLooks(t *testing.T) {
	p := lookPlan(t)
	m := Matrix{Plan: p, Session: result.Session{ID: "one"}, Root: t.TempDir()}
	whole := &memory{}
	do, _ := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
	if err := byLook(t.Context(), m, whole, do, nil); err != nil {
		t.Fatal(err)
	}
	want := repeatsOf(whole.records)
	for dies := 1; dies < len(whole.records); dies++ {
		for _, rebooted := range []bool{false, true} {
			log := &memory{dies: dies}
			m.Past, m.Continues = nil, false
			do, _ := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
			if err := byLook(t.Context(), m, log, do, nil); err == nil {
				t.Fatalf("died at %d and noticed nothing", dies)
			}
			before := repeatsOf(log.records)
			log.dies = 0
			m.Past, m.Continues = slices.Clone(log.records), !rebooted
			do, done := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
			if err := byLook(t.Context(), m, log, do, nil); err != nil {
				t.Fatal(err)
			}
			got := repeatsOf(log.records)
			slices.Sort(got)
			if sorted := slices.Sorted(slices.Values(want)); !slices.Equal(got, sorted) {
				t.Errorf("died at %d: %q, want %q", dies, got, sorted)
			}
			for _, r := range *done {
				if slices.Contains(before, r) {
					t.Errorf("died at %d: %s was done again", dies, r)
				}
			}
		}
	}
}

func repeatsOf(records []journal.Record) []string {
	return slices.DeleteFunc(runs(records), func(r string) bool { return r[4:] == "r0.a1" })
}

// A reboot inside a later look warms up again what has a run to come, and no more.
func TestWarmupsOfALaterLook(t *testing.T) {
	p := lookPlan(t)
	log := &memory{dies: 13} // after a run of look 2 or 3
	m := Matrix{Plan: p, Session: result.Session{ID: "one"}, Root: t.TempDir()}
	do, _ := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
	_ = byLook(t.Context(), m, log, do, nil)
	log.dies = 0
	m.Past, m.Continues = slices.Clone(log.records), false
	do, done := scripted(func(int, measure.Run) measure.Outcome { return good(1) })
	if err := byLook(t.Context(), m, log, do, nil); err != nil {
		t.Fatal(err)
	}
	if (*done)[0] != "b/x r0.a1" || slices.Contains(*done, "b/y r0.a1") {
		t.Errorf("the resume did %q", *done)
	}
}

// TestStoppedBetweenLooks: the look that did not begin is not in the journal.
func TestStoppedBetweenLooks(t *testing.T) {
	p := lookPlan(t)
	ctx, cancel := context.WithCancel(t.Context())
	log := &memory{}
	do, _ := scripted(func(n int, _ measure.Run) measure.Outcome {
		if n == 6 {
			cancel()
		}
		return good(1)
	})
	if err := byLook(ctx, Matrix{Plan: p, Session: result.Session{ID: "one"}, Root: t.TempDir()}, log, do, nil); err != nil {
		t.Fatal(err)
	}
	last := log.records[len(log.records)-1]
	looks := 0
	for _, r := range log.records {
		if r.Look != nil {
			looks++
		}
	}
	if last.End == nil || !last.End.Interrupted || looks != 1 {
		t.Errorf("%d looks, the end is %+v", looks, last.End)
	}
}
