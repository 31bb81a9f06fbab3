package sample_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/collect/sample"
	"github.com/perfweir/perfweir/collect/series"
)

const tick = 100 * time.Millisecond

// fake is a source made of functions. In a synctest bubble its sleeps cost nothing.
type fake struct {
	name  string
	begin func(pid int) error
	read  func(call int, b *sample.Batch) error
	calls int
}

func (f *fake) Name() string { return f.name }

func (f *fake) Begin(pid int) (sample.Reader, error) {
	if f.begin != nil {
		if err := f.begin(pid); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fake) Read(b *sample.Batch) error {
	f.calls++
	return f.read(f.calls-1, b)
}

// counter puts the number of the call.
func counter(name string) *fake {
	return &fake{name: name, read: func(call int, b *sample.Batch) error {
		b.Put(name, "", "1", float64(call))
		return nil
	}}
}

// run samples for a while, in fake time.
func run(t *testing.T, length time.Duration, sources ...sample.Source) (set series.Set, stats []sample.Stats) {
	t.Helper()
	s := sample.Start(t.Context(), tick, sources, 42)
	time.Sleep(length)
	return s.Stop()
}

func wantSlots(t *testing.T, got sample.Stats, expected, read, failed, missed int) {
	t.Helper()
	if got.Expected != expected || got.Read != read || got.Failed != failed || got.Missed != missed {
		t.Errorf("%s: expected %d, read %d, failed %d, missed %d; want %d, %d, %d, %d",
			got.Name, got.Expected, got.Read, got.Failed, got.Missed, expected, read, failed, missed)
	}
}

func times(t *testing.T, set series.Set, metric string) []float64 {
	t.Helper()
	s, ok := set.Find(metric, "")
	if !ok {
		t.Fatalf("no series %q", metric)
	}
	return s.T
}

// The first slot alone is late, and a run that is over by then was not looked at.
func TestStartLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for length, want := range map[time.Duration][]float64{
			4 * time.Millisecond:   nil,
			250 * time.Millisecond: {0.005, 0.1, 0.2},
		} {
			s := sample.StartLate(t.Context(), 5*time.Millisecond, tick, []sample.Source{counter("a")}, 42)
			time.Sleep(length)
			set, stats := s.Stop()
			var got []float64
			if len(set.Series) > 0 {
				got = set.Series[0].T
			}
			if diff := cmp.Diff(want, got); diff != "" || stats[0].Missed != 0 || stats[0].Expected != len(want) {
				t.Errorf("%v: %+v (-want +got):\n%s", length, stats[0], diff)
			}
		}
	})
}

func TestSlotsAreAtMultiplesOfTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pid int
		src := counter("a")
		src.begin = func(p int) error { pid = p; return nil }
		set, stats := run(t, 450*time.Millisecond, src)
		want := series.Set{Series: []series.Series{{Metric: "a", Unit: "1", T: []float64{0, 0.1, 0.2, 0.3, 0.4}, V: []float64{0, 1, 2, 3, 4}}}}
		if diff := cmp.Diff(want, set); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		wantSlots(t, stats[0], 5, 5, 0, 0)
		if stats[0].Coverage() != 1 || stats[0].Gap != tick || stats[0].Elapsed != 450*time.Millisecond {
			t.Errorf("coverage %g, gap %v, elapsed %v", stats[0].Coverage(), stats[0].Gap, stats[0].Elapsed)
		}
		if pid != 42 {
			t.Errorf("the source was asked about process %d", pid)
		}
	})
}

func TestSourcesAreReadInTheirOrderAndStampedAfterTheRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := counter("first")
		first.read = func(_ int, b *sample.Batch) error {
			time.Sleep(10 * time.Millisecond)
			b.Put("first", "", "1", 1)
			return nil
		}
		set, stats := run(t, 250*time.Millisecond, first, counter("second"))
		if diff := cmp.Diff([]float64{0.01, 0.11, 0.21}, times(t, set, "first")); diff != "" {
			t.Errorf("first (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]float64{0.01, 0.11, 0.21}, times(t, set, "second")); diff != "" {
			t.Errorf("second (-want +got):\n%s", diff)
		}
		if got := stats[0].Cost(); math.Abs(got-30.0/250) > 1e-12 {
			t.Errorf("cost %g, want 0.12 of a core", got)
		}
		if stats[1].Reading != 0 {
			t.Errorf("the second source pays %v for the first", stats[1].Reading)
		}
	})
}

// A read of two and a half intervals: two slots pass, the one after is on its deadline.
func TestASlowReadCostsItsOwnSlotsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := counter("slow")
		slow.read = func(call int, b *sample.Batch) error {
			if call == 0 {
				time.Sleep(250 * time.Millisecond)
			}
			b.Put("slow", "", "1", float64(call))
			return nil
		}
		set, stats := run(t, 550*time.Millisecond, slow, counter("quick"))
		if diff := cmp.Diff([]float64{0.25, 0.3, 0.4, 0.5}, times(t, set, "slow")); diff != "" {
			t.Errorf("slow (-want +got):\n%s", diff)
		}
		wantSlots(t, stats[0], 6, 4, 0, 2)
		if got := times(t, set, "quick"); len(got) != 6 || got[0] != 0.025 || got[1] != 0.1 {
			t.Errorf("quick was read at %v: the slow source held it up for more than a quarter of one interval", got)
		}
		wantSlots(t, stats[1], 6, 6, 0, 0)
	})
}

func TestASourceThatHangsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		hang := counter("hang")
		hang.read = func(call int, b *sample.Batch) error {
			if call == 1 {
				<-free
			}
			b.Put("hang", "", "1", float64(call))
			return nil
		}
		begun := time.Now()
		set, stats := run(t, 1050*time.Millisecond, hang, counter("quick"))
		if waited := time.Since(begun); waited != 1050*time.Millisecond {
			t.Errorf("stop waited for it until %v", waited)
		}
		wantSlots(t, stats[0], 11, 1, 0, 10)
		wantSlots(t, stats[1], 11, 11, 0, 0)
		close(free)
		synctest.Wait()
		if got := times(t, set, "hang"); len(got) != 1 {
			t.Errorf("readings at %v: what came after the stop was kept", got)
		}
	})
}

func TestABeginThatHangsIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		defer close(free)
		hang := counter("hang")
		hang.begin = func(int) error { <-free; return nil }
		_, stats := run(t, 350*time.Millisecond, hang)
		wantSlots(t, stats[0], 4, 0, 0, 4)
		if stats[0].Coverage() != 0 {
			t.Errorf("coverage %g", stats[0].Coverage())
		}
	})
}

// A reading that the stop cuts off was not due to end before it.
func TestStoppedMidReadExpectsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := counter("a")
		src.read = func(_ int, b *sample.Batch) error { time.Sleep(60 * time.Millisecond); return nil }
		_, stats := run(t, 250*time.Millisecond, src)
		wantSlots(t, stats[0], 2, 2, 0, 0)
		time.Sleep(tick) // for the reading that was left behind
	})
}

func TestErrorsAndPanicsAreCountedAndTheRunGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := counter("a")
		src.read = func(call int, b *sample.Batch) error {
			b.Put("a", "", "1", float64(call))
			switch call {
			case 1:
				return errors.New("no such device")
			case 2:
				panic("out of range")
			}
			return nil
		}
		set, stats := run(t, 450*time.Millisecond, src)
		wantSlots(t, stats[0], 5, 3, 2, 0)
		if diff := cmp.Diff([]float64{0, 0.3, 0.4}, times(t, set, "a")); diff != "" {
			t.Errorf("a failed reading left a value (-want +got):\n%s", diff)
		}
		if stats[0].Gap != 3*tick {
			t.Errorf("gap %v, want 300ms", stats[0].Gap)
		}
	})
}

func TestAnAbsentSourceSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := counter("gpu")
		src.begin = func(int) error { return errors.New(result.AbsentNoPermission) }
		set, stats := run(t, 250*time.Millisecond, src, counter("quick"))
		wantSlots(t, stats[0], 0, 0, 0, 0)
		if src.calls != 0 {
			t.Errorf("it was read %d times", src.calls)
		}
		want := result.Source{Name: "gpu", State: result.SourceAbsent, Reason: result.AbsentNoPermission, Every: 0.1}
		if diff := cmp.Diff(want, stats[0].Source()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, ok := set.Find("gpu", ""); ok {
			t.Error("an absent source left a series")
		}
	})
}

func TestNothingIsExpectedAfterTheEndOfTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := counter("a")
		src.read = func(call int, b *sample.Batch) error {
			b.Put("a", "", "1", 1)
			if call == 3 {
				return sample.ErrEnded
			}
			return nil
		}
		set, stats := run(t, 950*time.Millisecond, src)
		wantSlots(t, stats[0], 3, 3, 0, 0)
		if stats[0].Elapsed != 300*time.Millisecond || len(times(t, set, "a")) != 3 {
			t.Errorf("elapsed %v, readings at %v", stats[0].Elapsed, times(t, set, "a"))
		}
	})
}

func TestNotFiniteIsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := counter("a")
		src.read = func(_ int, b *sample.Batch) error {
			b.Put("a", "x", "W", math.NaN())
			b.Put("a", "x", "W", math.Inf(-1))
			b.Put("a", "y", "W", 1)
			return nil
		}
		set, stats := run(t, 150*time.Millisecond, src)
		if stats[0].Rejected != 4 || len(set.Series) != 1 || set.Series[0].Part != "y" {
			t.Errorf("rejected %d, set %+v", stats[0].Rejected, set)
		}
	})
}

func TestCancelEndsTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := sample.Start(ctx, tick, []sample.Source{counter("a")}, 1)
		time.Sleep(150 * time.Millisecond)
		cancel()
		synctest.Wait()
		time.Sleep(time.Second)
		set, stats := s.Stop()
		wantSlots(t, stats[0], 2, 2, 0, 0)
		again, _ := s.Stop()
		if diff := cmp.Diff(set, again); diff != "" {
			t.Errorf("a second stop says otherwise:\n%s", diff)
		}
	})
}

func TestNoSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if set, stats := run(t, tick, nil...); len(set.Series) != 0 || len(stats) != 0 {
			t.Errorf("got %+v, %+v", set, stats)
		}
	})
}

func TestAddJoinsRuns(t *testing.T) {
	absent := sample.Stats{Name: "a", Every: tick, Reason: "not_supported"}
	there := sample.Stats{Name: "a", Every: tick, Expected: 10, Read: 7, Failed: 1, Missed: 2, Reading: tick, Elapsed: 10 * tick, Gap: 3 * tick}
	got := sample.Stats{}.Add(absent).Add(there).Add(there).Source()
	want := result.Source{Name: "a", State: result.SourceOK, Every: 0.1, Cost: 0.1, Missed: 6, Coverage: 0.7}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	none := sample.Stats{}.Add(absent)
	if !math.IsNaN(none.Cost()) || !math.IsNaN(none.Coverage()) {
		t.Errorf("nothing expected and yet cost %g, coverage %g", none.Cost(), none.Coverage())
	}
	if src := none.Source(); src.Reason != "not_supported" || strings.Contains(src.State, "ok") {
		t.Errorf("got %+v", src)
	}
}

// closer is a source whose readers want to be closed.
type closer struct {
	*fake
	closed int
	panics bool
}

func (c *closer) Begin(int) (sample.Reader, error) { return c, nil }

func (c *closer) Close() error {
	c.closed++
	if c.panics {
		panic("torn off")
	}
	return errors.New("already closed")
}

// A reader is closed once, after its last reading.
func TestReadersAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := &closer{fake: counter("stopped")}
		broken := &closer{fake: counter("broken"), panics: true}
		over := &closer{fake: &fake{name: "over", read: func(int, *sample.Batch) error { return sample.ErrEnded }}}
		hangs := make(chan struct{})
		hung := &closer{fake: &fake{name: "hung", read: func(int, *sample.Batch) error { <-hangs; return nil }}}
		run(t, 250*time.Millisecond, stopped, broken, over, hung)
		synctest.Wait()
		for _, c := range []*closer{stopped, broken, over} {
			if c.closed != 1 {
				t.Errorf("%s is closed %d times", c.name, c.closed)
			}
		}
		if hung.closed != 0 {
			t.Error("closed during a reading")
		}
		close(hangs)
		synctest.Wait()
		if hung.closed != 1 {
			t.Errorf("closed %d times after the reading that hung", hung.closed)
		}
	})
}
