package sample

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/perfweir/perfweir/collect/series"
)

// A Sampler reads sources in the background from Start to Stop.
//
// One goroutine keeps the time. Slots are at start + k x interval, k from 0, and
// stay there however long a reading takes; a slot that has passed is skipped and
// counted. Each source has a goroutine of its own, because a read of a device
// may hang for ever (one that is Prompt has none), but they are asked one after the other, in their order:
// sources that read at the same moment would disturb each other and the run.
type Sampler struct {
	start time.Time
	stop  chan struct{}
	once  sync.Once
	done  chan struct{} // closed by the time-keeping goroutine when it ends
	all   []*worker     // owned by that goroutine until done is closed

	// cancel keeps a late start from happening, and reports whether it was in time.
	cancel func() bool
}

// Start begins to read the sources, the first time at once. Times of the series
// count from this call. The interval must be positive; pid is the process that
// the sources are asked about. A cancelled ctx ends the reading as Stop does.
func Start(ctx context.Context, every time.Duration, sources []Source, pid int) *Sampler {
	return StartLate(ctx, 0, every, sources, pid)
}

// StartLate is Start with the first slot, and no other, read so much later: a
// command that is over by then has not been looked at. It must be under every.
func StartLate(ctx context.Context, settle, every time.Duration, sources []Source, pid int) *Sampler {
	if every <= 0 {
		panic(fmt.Sprintf("sample: the interval is %v and must be positive", every))
	}
	s := &Sampler{start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	begin := func() {
		for _, src := range sources {
			s.all = append(s.all, newWorker(src, pid, every))
		}
		go s.keepTime(ctx, every)
	}
	if settle <= 0 {
		begin()
		return s
	}
	late := time.AfterFunc(settle, begin)
	s.cancel = func() bool {
		if !late.Stop() {
			return false
		}
		for _, src := range sources {
			s.all = append(s.all, &worker{stats: Stats{Name: src.Name(), Every: every}})
		}
		return true
	}
	return s
}

// Stop ends the reading and returns what was read, and how well, in the order
// of the sources. It does not wait for a source that hangs: its goroutine is
// left behind and what it still brings is thrown away. A second call returns the
// same.
func (s *Sampler) Stop() (series.Set, []Stats) {
	s.once.Do(func() {
		if s.cancel != nil && s.cancel() {
			close(s.done)
		}
		close(s.stop)
	})
	<-s.done
	var set series.Set
	stats := make([]Stats, 0, len(s.all))
	for _, w := range s.all {
		set.Series = append(set.Series, w.series...)
		stats = append(stats, w.stats)
	}
	return set, stats
}

func (s *Sampler) keepTime(ctx context.Context, every time.Duration) {
	defer close(s.done)
	slots := 0 // that have come so far
	timer := time.NewTimer(0)
	defer timer.Stop()
	for running := true; running; {
		select {
		case <-timer.C:
		case <-s.stop:
			running = false
		case <-ctx.Done():
			running = false
		}
		now := time.Since(s.start)
		came := int(now/every) + 1 - slots
		if running && came < 1 { // a timer that fired early, which none should
			timer.Reset(time.Until(s.start.Add(time.Duration(slots) * every)))
			continue
		}
		slots += came
		for _, w := range s.all {
			if running {
				w.miss(came - 1)
				w.slot(s.start, every/4, s.stop)
			} else {
				w.miss(came)
			}
		}
		timer.Reset(time.Until(s.start.Add(time.Duration(slots) * every)))
	}
	for _, w := range s.all {
		w.close(s.start, time.Since(s.start))
	}
}

// worker is one source of a sampler: the goroutine that reads it and, on the
// time-keeping side, what came of it.
type worker struct {
	direct  *asking       // of a Prompt source, read here; else nil
	ask     chan struct{} // closed by close
	answers chan answer   // one place, so that the reading goroutine never waits to be heard

	asked  bool          // and not answered yet
	since  time.Duration // when it was asked
	over   bool          // absent or ended: asked no more
	last   time.Duration
	stats  Stats
	series []series.Series
	index  map[key]int // into series
}

// answer is one reading on its way. The batch belongs to who holds the answer.
type answer struct {
	batch  Batch
	at     time.Time // right after the read
	took   time.Duration
	err    error
	absent bool // err is why the source is not there
}

func newWorker(src Source, pid int, every time.Duration) *worker {
	w := &worker{
		ask:     make(chan struct{}, 1),
		answers: make(chan answer, 1),
		stats:   Stats{Name: src.Name(), Every: every},
		index:   map[key]int{},
	}
	if _, ok := src.(Prompt); ok {
		w.direct = &asking{src: src, pid: pid}
	} else {
		go read(&asking{src: src, pid: pid}, w.ask, w.answers)
	}
	return w
}

// asking is one source being read, by one goroutine.
type asking struct {
	src Source
	pid int
	r   Reader // after Begin
}

func (x *asking) answer() answer {
	var a answer
	begun := time.Now()
	if x.r == nil {
		a.err = guard(func() (err error) { x.r, err = x.src.Begin(x.pid); return err })
		a.absent = a.err != nil
	}
	if a.err == nil {
		a.err = guard(func() error { return x.r.Read(&a.batch) })
	}
	a.at = time.Now()
	a.took = a.at.Sub(begun)
	return a
}

func (x *asking) close() {
	if c, ok := x.r.(io.Closer); ok {
		_ = guard(c.Close)
	}
}

// read answers every ask until ask is closed. It runs in the goroutine of one
// source and touches nothing else of the sampler.
func read(x *asking, ask <-chan struct{}, answers chan<- answer) {
	defer x.close()
	for range ask {
		a := x.answer()
		answers <- a
		if a.absent {
			return
		}
	}
}

// guard turns a panic of a source into an error: no source may end a session.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the source broke: %v", p)
		}
	}()
	return f()
}

func (w *worker) miss(slots int) {
	if !w.over {
		w.stats.Missed += slots
	}
}

// slot asks the source for one reading and waits for it, but no longer than
// patience: the sources after it have their slot too.
func (w *worker) slot(start time.Time, patience time.Duration, stop <-chan struct{}) {
	w.harvest(start)
	if w.over {
		return
	}
	if w.direct != nil {
		w.take(w.direct.answer(), start)
		return
	}
	if w.asked {
		w.stats.Missed++
		return
	}
	w.ask <- struct{}{}
	w.asked, w.since = true, time.Since(start)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-w.answers:
		w.take(a, start)
	case <-timer.C:
	case <-stop:
	}
}

// harvest takes an answer that came after the patience was over.
func (w *worker) harvest(start time.Time) {
	select {
	case a := <-w.answers:
		w.take(a, start)
	default:
	}
}

func (w *worker) take(a answer, start time.Time) {
	w.asked = false
	at := a.at.Sub(start)
	w.stats.Reading += a.took
	w.stats.Rejected += a.batch.rejected
	switch {
	case a.absent:
		w.over = true
		w.stats.Reason = a.err.Error()
		w.stats.Missed = 0 // while it was found out
	case errors.Is(a.err, ErrEnded):
		w.over = true
		w.ended(at)
	case a.err != nil:
		w.stats.Failed++
	default:
		w.stats.Read++
		w.stats.Gap = max(w.stats.Gap, at-w.last)
		w.last = at
		for _, r := range a.batch.readings {
			w.add(r, at.Seconds())
		}
	}
}

func (w *worker) add(r reading, t float64) {
	i, ok := w.index[r.key]
	if !ok {
		i = len(w.series)
		w.index[r.key] = i
		w.series = append(w.series, series.Series{Metric: r.key.metric, Part: r.key.part, Unit: r.key.unit})
	}
	w.series[i].Add(t, r.value)
}

// ended closes the account of the source at time at.
func (w *worker) ended(at time.Duration) {
	w.stats.Elapsed = at
	w.stats.Gap = max(w.stats.Gap, at-w.last)
	w.stats.Expected = w.stats.Read + w.stats.Failed + w.stats.Missed
}

// close ends the worker. Its goroutine ends when it is next idle, which for a
// source that hangs may be never.
func (w *worker) close(start time.Time, at time.Duration) {
	w.harvest(start)
	close(w.ask)
	if w.direct != nil {
		w.direct.close()
	}
	if w.over {
		return
	}
	if w.asked && at-w.since > w.stats.Every {
		w.stats.Missed++ // hangs; a reading that the stop cut off was not expected
	}
	w.ended(at)
}
