// Command confirm counts what .ci/proof/confirm.sh left, prints the table for
// docs/statistics.md, and exits 1 where a goal is missed beyond chance.
//
//	confirm FOLDER
//
// FOLDER has one folder a session, NUMBER-KIND: before.json and after.json, the
// verdicts without and with the confirmation, and slowed, the cells that were.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/gate/verdict"
)

// kinds of sessions in the order of the table, with their goals: in so many a cell that
// nobody slowed may be red, before and after, and of the slowed cells' findings so many
// are found after. Beside a real slowdown the stated rate of the confirmation holds; what
// stored sessions say by themselves has no goal there.
var kinds = []struct {
	name, what string
	wrong      [2]float64 // most sessions, before and after; 1: no goal
	found      float64    // least share
}{
	{"unchanged", "nothing, five stored", [2]float64{0.03, 0.01}, 0},
	{"half", "two cells x1.5, five stored", [2]float64{1, 0.05}, 0.99},
	{"twice", "two cells x2, three stored", [2]float64{1, 0.05}, 0.99},
}

// tally is of one kind; [0] before, [1] after the confirmation.
type tally struct {
	sessions, again  int    // again: with a confirmation
	red, wrong       [2]int // sessions with a fail, fails in cells that nobody slowed
	wrongly          [2]int // sessions with one
	found            [2]int
	slowed, findings int
}

func main() { proof.Main("confirm", run) }

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: confirm FOLDER")
	}
	tallies := map[string]*tally{}
	folders, err := filepath.Glob(filepath.Join(args[0], "*-*"))
	if err != nil {
		return err
	}
	for _, dir := range folders {
		_, kind, _ := strings.Cut(filepath.Base(dir), "-")
		if tallies[kind] == nil {
			tallies[kind] = &tally{}
		}
		if err := tallies[kind].add(dir); err != nil {
			return err
		}
	}
	fmt.Println("| changed | sessions | measured again | red sessions before, after | fails where nothing changed before, after | found before | found after (95 %) |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	var missed []string
	for _, k := range kinds {
		n := tallies[k.name]
		if n == nil {
			return fmt.Errorf("%s: no session of kind %s", args[0], k.name)
		}
		found := "| |"
		if n.slowed > 0 {
			after, err := proof.ShareOf(n.found[1], n.slowed)
			if err != nil {
				return err
			}
			found = fmt.Sprintf("%d of %d | %s |", n.found[0], n.slowed, after)
			if after.Upper < k.found {
				missed = append(missed, fmt.Sprintf("%s: %d of %d found, goal %g %%", k.what, n.found[1], n.slowed, 100*k.found))
			}
		}
		fmt.Printf("| %s | %d | %d | %d, %d | %d, %d of %d | %s\n", k.what, n.sessions, n.again, n.red[0], n.red[1], n.wrong[0], n.wrong[1], n.findings, found)
		for i, most := range k.wrong {
			if proof.TooMany(n.wrongly[i], n.sessions, most) {
				missed = append(missed, fmt.Sprintf("%s: %d of %d sessions wrongly red %s, goal %g %%", k.what, n.wrongly[i], n.sessions, []string{"before", "after"}[i], 100*most))
			}
		}
	}
	return proof.Missed(missed)
}

// add counts one session.
func (t *tally) add(dir string) error {
	slowed, err := lines(filepath.Join(dir, "slowed"))
	if err != nil {
		return err
	}
	t.sessions++
	for i, name := range []string{"before.json", "after.json"} {
		v, err := proof.Decode(filepath.Join(dir, name), verdict.Decode)
		if err != nil {
			return err
		}
		red, wrongly := false, false
		for k := range v.Findings {
			f := &v.Findings[k]
			if !f.Gated || v.Budgets[f.Budget].Implicit {
				continue
			}
			fail := f.Outcome == verdict.Fail
			red = red || fail
			isSlowed := slices.Contains(slowed, v.Cells[f.Cell].Name)
			switch {
			case isSlowed && i == 0:
				t.slowed++
			case i == 0:
				t.findings++
			}
			switch {
			case fail && isSlowed:
				t.found[i]++
			case fail:
				t.wrong[i]++
				wrongly = true
			}
		}
		if wrongly {
			t.wrongly[i]++
		}
		if red {
			t.red[i]++
		}
		if i == 1 && slices.ContainsFunc(v.Findings, func(f verdict.Finding) bool { return f.Confirmed != nil }) {
			t.again++
		}
	}
	return nil
}

func lines(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	for s.Scan() {
		if s.Text() != "" {
			out = append(out, s.Text())
		}
	}
	return out, s.Err()
}
