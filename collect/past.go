package collect

import (
	"math"

	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// past is what an earlier process journalled of the same plan: which runs need
// not be done again, and what later runs refer to.
type past struct {
	sessions int
	// attempts and last are by cell and repeat: how often it was tried, and how
	// the last attempt ended.
	attempts map[repeat]int
	last     map[repeat]outcome
	warmups  []int     // done in the last session, by cell
	latest   []float64 // wall time of the last good run, by cell; 0: none
	kept     []bool    // a good run's folder is kept, by cell
	defs     map[string]result.Metric
	looks    map[int][]int // cells of the looks that began
}

type repeat struct{ cell, number int }

// outcome is how an attempt ended, as far as going on depends on it.
type outcome struct {
	status result.Status
	valid  bool
}

// newPast reads the records of a journal; none for a plan that starts anew.
// fresh is set when a new session follows: its warm-ups are all still to come,
// since what they warm is cold after a reboot.
func newPast(p *plan.Plan, records []journal.Record, fresh bool) past {
	s := past{attempts: map[repeat]int{}, last: map[repeat]outcome{}, warmups: make([]int, len(p.Cells)),
		latest: make([]float64, len(p.Cells)), kept: make([]bool, len(p.Cells)), defs: map[string]result.Metric{}, looks: map[int][]int{}}
	for i := range records {
		switch r := &records[i]; {
		case r.Session != nil:
			s.sessions++
		case r.Metrics != nil:
			for name, def := range r.Metrics {
				s.defs[name] = def
			}
		case r.Look != nil:
			s.looks[r.Look.Look] = r.Look.Cells
		case r.Run != nil && r.Run.Cell >= 0 && r.Run.Cell < len(p.Cells):
			s.add(r.Run)
		}
	}
	if fresh {
		clear(s.warmups)
	}
	return s
}

func (s *past) add(r *journal.Run) {
	if r.Repeat == 0 {
		if r.Status != result.Interrupted && r.Session >= s.sessions-1 {
			s.warmups[r.Cell]++
		}
		return
	}
	k := repeat{r.Cell, r.Repeat}
	s.attempts[k] = max(s.attempts[k], r.Attempt)
	s.last[k] = outcome{r.Status, r.Detail.Valid == nil || *r.Detail.Valid}
	if !r.Status.OK() {
		return
	}
	s.kept[r.Cell] = s.kept[r.Cell] || r.Detail.Folder != ""
	for _, v := range r.Values {
		if v.Metric == result.WallTime && v.Phase == "" && v.Part == "" && !math.IsNaN(v.V) {
			s.latest[r.Cell] = v.V
		}
	}
}

// remaining are the entries of a selection that are still to be done: what is
// missing, interrupted or invalid; with retryFailed what went wrong as well. A
// warm-up is only worth doing for a cell that has a run to come.
func (s *past) remaining(p *plan.Plan, sel plan.Selection, retryFailed bool) []int {
	var out []int
	open := make([]bool, len(p.Cells))
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		if r.Repeat > 0 && sel.Has(r) && !s.done(r, retryFailed) {
			open[r.Cell] = true
		}
	}
	warm := make([]int, len(p.Cells))
	for i := range p.Order.Len() {
		r := p.Order.At(i)
		if !sel.Has(r) {
			continue
		}
		if r.Repeat > 0 {
			if !s.done(r, retryFailed) {
				out = append(out, i)
			}
			continue
		}
		if warm[r.Cell]++; open[r.Cell] && warm[r.Cell] > s.warmups[r.Cell] {
			out = append(out, i)
		}
	}
	return out
}

func (s *past) done(r plan.Run, retryFailed bool) bool {
	o, tried := s.last[repeat{r.Cell, r.Repeat}]
	switch {
	case !tried || o.status == result.Interrupted || !o.valid:
		return false
	case retryFailed && o.status.Crashed():
		return false
	}
	return true
}
