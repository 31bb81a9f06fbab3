package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/gate/selftest"
)

// fewest sessions before one is judged: from then on the spread between sessions
// is known.
const fewest = 5

// tally is what one rule did.
type tally struct {
	sessions, redSessions int // in which nothing was injected
	findings, redFindings int // in them
	slowed, missed        int // rows that the injection must move
	elsewhere, redThere   int // rows that it cannot move, in those sessions
	runs                  int // new ones, in all
}

// table prints what every rule makes of the files.
func table(benchstat string, files []string) error {
	list := rules(benchstat)
	tallies := make([]tally, len(list))
	for _, file := range files {
		sessions, err := read(file)
		if err != nil {
			return err
		}
		for i := range list {
			if err := tallies[i].add(&list[i], sessions); err != nil {
				return fmt.Errorf("%s: %s: %w", file, list[i].name, err)
			}
		}
	}
	fmt.Println("| rule | red sessions of unchanged ones (95 %) | red findings in them | injected: missed | red where nothing was injected | runs |")
	fmt.Println("| --- | --- | --- | --- | --- | --- |")
	for i, t := range tallies {
		red, err := proof.ShareOf(t.redSessions, t.sessions)
		if err != nil {
			return errors.New("no session to judge")
		}
		fmt.Printf("| %s | %s | %d of %d | %s | %s | %d |\n", list[i].name, red,
			t.redFindings, t.findings, of(t.missed, t.slowed), of(t.redThere, t.elsewhere), t.runs)
	}
	fmt.Println()
	if err := multiplied(files); err != nil {
		return err
	}
	if t := tallies[0]; float64(t.redSessions) > 0.05*float64(t.sessions) {
		return fmt.Errorf("perfweir is red in %d of %d unchanged sessions, more than the 5 %% that it states", t.redSessions, t.sessions)
	}
	return nil
}

func of(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

// add judges every session of a file that has enough before it.
func (t *tally) add(r *rule, sessions []session) error {
	var before []*session
	for i := range sessions {
		s := &sessions[i]
		if len(before) >= fewest {
			red, err := r.red(s, before)
			if err != nil {
				return err
			}
			t.count(s, red)
			t.runs += runsOf(s, r.runs)
		}
		if s.injected == "-" {
			before = append(before, s)
		}
	}
	return nil
}

func (t *tally) count(s *session, red map[string]bool) {
	if s.injected == "-" {
		t.sessions++
		t.findings += len(s.rows)
		t.redFindings += len(red)
		if len(red) > 0 {
			t.redSessions++
		}
		return
	}
	kind, _, _ := strings.Cut(s.injected, "=")
	for i := range s.rows {
		r := &s.rows[i]
		switch {
		case !r.slowed || !selftest.Moves(kind, r.metric):
			t.elsewhere++
			if red[key(r)] {
				t.redThere++
			}
		case aimed(kind) == r.metric: // what an injection moves besides, it moves by less or more
			t.slowed++
			if !red[key(r)] {
				t.missed++
			}
		}
	}
}

// aimed is the metric that an injection's amount is of; "" where it is of none
// that is recorded.
func aimed(kind string) string {
	a := selftest.Amount{Kind: kind}
	if kind == selftest.Write {
		return ""
	}
	return a.Of()
}

// runsOf is how many runs a rule needs of a session.
func runsOf(s *session, each int) int {
	cells := map[string]int{}
	for i := range s.rows {
		n := len(s.rows[i].values)
		if each > 0 {
			n = min(n, each)
		}
		cells[s.rows[i].cell] = n
	}
	sum := 0
	for _, n := range cells {
		sum += n
	}
	return sum
}
