// Package sample reads sources at a steady pace while a command runs: the tick
// loop and the contract of a source.
//
// It holds when is read, how a slow or broken source is kept from harming the
// run, and what is said of each source afterwards. It refuses to know what is
// read: sources live in packages of their own (linuxproc), and they import this
// one. Its series go to collect/reduce and to the run's folder.
package sample

import (
	"errors"
	"math"
	"time"

	"github.com/perfweir/perfweir/collect/result"
)

// ErrEnded is what Read returns, wrapped or not, when the process it was asked
// about has ended: the source is asked no more, and the slots that follow are
// not expected of it.
var ErrEnded = errors.New("the process has ended")

// Source is one thing on the machine that can be read again and again: the
// process tree, a GPU, a rail.
//
// A source is used by one sampler at a time, from one goroutine at a time, but
// not always from the same one. It may keep files open from run to run.
type Source interface {
	// Name is the name of the source in the results document.
	Name() string
	// Begin makes ready to read one run, whose command is process pid, and
	// returns its reader. An error means that the source is absent in this run;
	// its text becomes the reason there, so it says what is missing and not
	// that something failed.
	Begin(pid int) (Reader, error)
}

// Prompt is a Source whose Begin and Read never wait for anything: they read the
// kernel's own memory (/proc), no device. The sampler reads it where it keeps the
// time, which saves two changes of thread a tick. A source that is wrong about
// itself makes the others late.
type Prompt interface {
	Source
	// NeverWaits says so.
	NeverWaits()
}

// Reader reads one source during one run.
//
// Read puts what it read into the batch and returns. It should take less than
// a tenth of the interval. It may block: the sampler then goes on without it,
// counts the slots that pass, and takes the readings when they come. It is never
// called again before it has returned, and it may never return.
//
// The batch is the sampler's. It is empty at the call and Read must not keep it.
//
// An error says that this one reading failed. It is counted and the readings of
// the batch are dropped; the run goes on and the next slot is tried. A value
// that cannot be read (not supported, no permission) is no error: it is not put,
// and its series has a gap. A zero is only put when zero was read.
//
// Read may panic. That is taken as an error.
//
// A reader that is an io.Closer too is closed when the run is over, after its
// last Read has returned, and possibly after Stop has. Its error goes nowhere.
type Reader interface {
	Read(b *Batch) error
}

// Batch collects the readings of one call of Read.
type Batch struct {
	readings []reading
	rejected int
}

type reading struct {
	key   key
	value float64
}

type key struct{ metric, part, unit string }

// Put adds one reading: a metric in its base unit, and the part (device, rail)
// it belongs to, empty for the whole. A value that is NaN or infinite is not
// taken, and counted: a board that says so has not been read.
func (b *Batch) Put(metric, part, unit string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		b.rejected++
		return
	}
	b.readings = append(b.readings, reading{key{metric, part, unit}, value})
}

// Value returns the reading of a metric and part, for the tests of a source; ok
// is false when it was not put.
func (b *Batch) Value(metric, part string) (v float64, ok bool) {
	for _, r := range b.readings {
		if r.key.metric == metric && r.key.part == part {
			return r.value, true
		}
	}
	return 0, false
}

// Stats says how well one source was read in one run. Expected is the sum of
// Read, Failed and Missed.
type Stats struct {
	Name   string
	Reason string        // why the source is absent; empty when it is there
	Every  time.Duration // between slots

	Expected int // slots that came while the source had something to read
	Read     int // slots that were read
	Failed   int // slots in which Read returned an error
	Missed   int // slots that passed unread: the machine or the source was late
	Rejected int // values that were not finite

	// Reading is the time spent inside Read. It is wall time: no more than the
	// CPU time unless the source has threads of its own, and more when it blocks.
	Reading time.Duration
	Elapsed time.Duration // from the start to the stop, or to the end of the process
	Gap     time.Duration // longest time without a reading, edges included
}

// Cost is the share of one core that reading took, from above (see Reading);
// NaN when no time passed.
func (s Stats) Cost() float64 {
	if s.Elapsed <= 0 {
		return math.NaN()
	}
	return s.Reading.Seconds() / s.Elapsed.Seconds()
}

// Coverage is the share of the expected slots that was read; NaN when none was
// expected.
func (s Stats) Coverage() float64 {
	if s.Expected == 0 {
		return math.NaN()
	}
	return float64(s.Read) / float64(s.Expected)
}

// Add joins what two runs say of one source. A source that was there in either
// is there.
func (s Stats) Add(o Stats) Stats {
	if s.Name == "" {
		return o
	}
	if o.Reason == "" {
		s.Reason = ""
	}
	s.Expected += o.Expected
	s.Read += o.Read
	s.Failed += o.Failed
	s.Missed += o.Missed
	s.Rejected += o.Rejected
	s.Reading += o.Reading
	s.Elapsed += o.Elapsed
	s.Gap = max(s.Gap, o.Gap)
	return s
}

// Source returns the source's entry in the results document.
func (s Stats) Source() result.Source {
	src := result.Source{Name: s.Name, State: result.SourceOK, Every: s.Every.Seconds()}
	if s.Reason != "" {
		src.State, src.Reason = result.SourceAbsent, s.Reason
		return src
	}
	src.Missed = s.Missed + s.Failed
	if c := s.Cost(); !math.IsNaN(c) {
		src.Cost = c
	}
	if c := s.Coverage(); !math.IsNaN(c) {
		src.Coverage = c
	}
	return src
}
