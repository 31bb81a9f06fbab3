package main

import (
	"fmt"
	"slices"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
)

// multiplied prints how often perfweir finds a cell whose times are multiplied, in
// the recorded sessions in which nothing was injected.
func multiplied(files []string) error {
	fmt.Println("| times one cell | sessions before | metric | found (95 %) |")
	fmt.Println("| --- | --- | --- | --- |")
	for _, c := range []struct {
		factor float64
		before int
	}{{2, 3}, {1.5, 5}} {
		found, all := map[string]int{}, map[string]int{}
		for _, file := range files {
			sessions, err := read(file)
			if err != nil {
				return err
			}
			if err := multiply(sessions, c.factor, c.before, found, all); err != nil {
				return err
			}
		}
		for _, m := range metrics {
			share, err := proof.ShareOf(found[m.name], all[m.name])
			if err != nil {
				return err
			}
			fmt.Printf("| %g | %d | %s | %s |\n", c.factor, c.before, m.name, share)
		}
	}
	return nil
}

// multiply judges every session once for each of its cells.
func multiply(sessions []session, factor float64, before int, found, all map[string]int) error {
	var stored []*session
	for i := range sessions {
		s := &sessions[i]
		if s.injected != "-" {
			continue
		}
		for k := 0; len(stored) >= before && k < len(s.rows); k++ {
			cell := s.rows[k].cell
			if k > 0 && s.rows[k-1].cell == cell {
				continue
			}
			red, err := perfweirWith(s.times(cell, factor), stored[len(stored)-before:], before)
			if err != nil {
				return err
			}
			for _, m := range metrics {
				if s.find(&row{cell: cell, metric: m.name}) == nil {
					continue
				}
				all[m.name]++
				if red[cell+" "+m.name] {
					found[m.name]++
				}
			}
		}
		stored = append(stored, s)
	}
	return nil
}

// times is a session with one cell's values multiplied.
func (s *session) times(cell string, factor float64) *session {
	out := &session{injected: s.injected, rows: slices.Clone(s.rows)}
	for i := range out.rows {
		if r := &out.rows[i]; r.cell == cell {
			r.values = slices.Clone(r.values)
			for k := range r.values {
				r.values[k] *= factor
			}
		}
	}
	return out
}
