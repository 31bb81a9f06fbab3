// Command counted reads the verdicts of .ci/proof/counted.sh, prints the figures for
// docs/statistics.md, and exits 1 where a change was missed or one was seen that is
// not there.
//
//	counted FOLDER    FOLDER/DESIGN/KIND/NUMBER-VARIANT.json
package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/gate/verdict"
)

// kind is one sort of sessions: what was changed in them.
type kind struct {
	name, text string
	benchmark  string // whose variant was changed; "": nothing was
	metric     string
}

var (
	designs = []struct{ name, text string }{{"five", "Held against five stored sessions"}, {"one", "Held against one stored session"}}
	kinds   = []kind{
		{name: "unchanged", text: "nothing changed"},
		{name: "allocations", text: "+5 % allocations in one cell", benchmark: "go", metric: "allocs_per_op"},
		{name: "instructions", text: "+5 % instructions in one cell", benchmark: "callgrind", metric: "instructions"},
	}
)

// cells of the suite, each with one relative budget.
const cells = 6

// count is what became of all sessions of one kind.
type count struct {
	sessions int
	green    int // sessions that passed
	found    int // changed cells that failed in the metric that changed
	others   int // relative budgets on what nobody changed
	wrong    int // findings that failed although nobody changed them
	open     int // relative budgets that were left undecided
}

func main() { proof.Main("counted", run) }

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: counted FOLDER")
	}
	var missed []string
	for _, d := range designs {
		fmt.Printf("%s:\n| sessions | what | changed cell found (95 %%) | failed elsewhere (95 %%) | undecided |\n| --- | --- | --- | --- | --- |\n", d.text)
		for _, k := range kinds {
			c, err := k.count(filepath.Join(args[0], d.name, k.name))
			if err != nil {
				return err
			}
			if err := c.print(k); err != nil {
				return err
			}
			for _, m := range c.missed(k) {
				missed = append(missed, d.name+", "+k.name+": "+m)
			}
		}
		fmt.Println()
	}
	return proof.Missed(missed)
}

// count reads all verdicts of a folder.
func (k *kind) count(folder string) (c count, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return c, err
	}
	if len(files) == 0 {
		return c, fmt.Errorf("%s: no verdict is there", folder)
	}
	for _, file := range files {
		v, err := proof.Decode(file, verdict.Decode)
		if err != nil {
			return c, err
		}
		_, variant, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		if err := c.add(v, k, k.benchmark+"/"+variant); err != nil {
			return c, fmt.Errorf("%s: %w", file, err)
		}
	}
	return c, nil
}

func (c *count) add(v *verdict.Document, k *kind, changed string) error {
	c.sessions++
	if v.Outcome == verdict.Pass {
		c.green++
	}
	relative, aimed := 0, 0
	for i := range v.Findings {
		f := &v.Findings[i]
		name := v.Cells[f.Cell].Name
		if v.Budgets[f.Budget].Kind.Relative() {
			relative++
			if f.Outcome == verdict.Inconclusive {
				c.open++
			}
		}
		switch {
		case k.benchmark != "" && name == changed && f.Metric == k.metric:
			aimed++
			if f.Outcome == verdict.Fail {
				c.found++
			}
		case f.Outcome == verdict.Fail:
			c.wrong++
		}
	}
	c.others += relative - aimed
	if relative != cells || k.benchmark != "" && aimed != 1 {
		return fmt.Errorf("%d relative budgets, %d of them on what was changed: %d and one were planned", relative, aimed, cells)
	}
	return nil
}

func (c *count) print(k kind) error {
	found := "-"
	if k.benchmark != "" {
		share, err := proof.ShareOf(c.found, c.sessions)
		if err != nil {
			return err
		}
		found = share.String()
	}
	elsewhere, err := proof.ShareOf(c.wrong, c.others)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %s | %s | %s | %d |\n", c.sessions, k.text, found, elsewhere, c.open)
	return nil
}

// missed are the goals that were: every change found, and nothing else.
func (c *count) missed(k kind) (out []string) {
	if k.benchmark == "" && c.green < c.sessions {
		out = append(out, fmt.Sprintf("%d of %d unchanged sessions did not pass", c.sessions-c.green, c.sessions))
	}
	if k.benchmark != "" && c.found < c.sessions {
		out = append(out, fmt.Sprintf("%d of %d changes were not found", c.sessions-c.found, c.sessions))
	}
	if c.wrong > 0 {
		out = append(out, fmt.Sprintf("%d findings failed where nothing was changed", c.wrong))
	}
	return out
}
