package journal

import (
	"strings"
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

func threeLooks() *plan.Plan {
	p := twoCells()
	p.Looks = []int{2, 4, 6}
	p.Cells[0].Repeats, p.Cells[0].Looks = 6, []int{2, 4, 6}
	return p
}

// look begins for cells and runs the repeats from first to last of each.
func look(n, first, last int, cells ...int) []Record {
	out := []Record{{Look: &Look{Look: n, Cells: cells}}}
	for _, c := range cells {
		for r := first; r <= last; r++ {
			out = append(out, ran(Run{Cell: c, Repeat: r, Look: n, Block: r, Start: float64(r), Values: []Value{{Metric: result.WallTime, V: 1}}}))
		}
	}
	return out
}

func ended(interrupted bool) Record { return Record{End: &End{Interrupted: interrupted}} }

// TestFoldOfLooks: the document says how far it came, and a session is no
// interruption when all was done that was to be done.
func TestFoldOfLooks(t *testing.T) {
	join := func(lists ...[]Record) []Record {
		var out []Record
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	resumed := []Record{ended(true), {Session: &result.Session{ID: "s1"}}}
	for _, tt := range []struct {
		name        string
		records     []Record
		reached     int
		interrupted bool // the first session
	}{
		{"all decided at the first", join(look(1, 1, 2, 0, 1), []Record{ended(false)}), 1, false},
		{"one goes on", join(look(1, 1, 2, 0, 1), look(2, 3, 4, 0), []Record{ended(false)}), 2, false},
		{"all three", join(look(1, 1, 2, 0, 1), look(2, 3, 4, 0), look(3, 5, 6, 0), []Record{ended(false)}), 0, false},
		{"stopped inside the second", join(look(1, 1, 2, 0, 1), look(2, 3, 3, 0), []Record{ended(true)}), 2, true},
		{"stopped between two", join(look(1, 1, 2, 0, 1), []Record{ended(true)}), 1, true},
		{"resumed to the end", join(look(1, 1, 2, 0, 1), look(2, 3, 3, 0), resumed, look(2, 4, 4, 0)[1:], []Record{ended(false)}), 2, false},
		{"without records of looks", join(look(1, 1, 6, 0)[1:], look(1, 1, 2, 1)[1:], []Record{ended(false)}), 0, false},
	} {
		doc, err := Fold(threeLooks(), opened(tt.records...))
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if doc.Plan.Reached != tt.reached || doc.Sessions[0].Interrupted != tt.interrupted {
			t.Errorf("%s: reached %d, interrupted %v; want %d, %v", tt.name, doc.Plan.Reached, doc.Sessions[0].Interrupted, tt.reached, tt.interrupted)
		}
		if c := doc.Cells[0]; len(c.Looks) != 3 || c.Planned != 6 {
			t.Errorf("%s: looks %v of %d repeats", tt.name, c.Looks, c.Planned)
		}
	}
	for want, rec := range map[string]*Look{"look 4: the plan has 3": {Look: 4}, "of cell 2: the plan has 2 cells": {Look: 1, Cells: []int{2}}} {
		if _, err := Fold(threeLooks(), opened(Record{Look: rec})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", rec, err, want)
		}
	}
}

func TestLookRecordIsChecked(t *testing.T) {
	for _, l := range []Look{{Look: 0}, {Look: 1, Cells: []int{2, 1}}, {Look: 1, Cells: []int{-1}}} {
		if err := check(&Record{Look: &l}); err == nil {
			t.Errorf("%+v is accepted", l)
		}
	}
}
