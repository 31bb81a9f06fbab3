package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/result"
)

// Base is the build of the commit that head is compared with, as the shell made
// it: head's suite is run on it, in the same session and the same blocks.
type Base struct {
	Root  string // absolute folder that stands in its tree where Facts.Root stands in head's
	Build result.Build
	// Missing names what the build lacks of a cell's command, "" when it has all;
	// nil: nothing is missing. Such a cell is new: it is measured on head alone.
	Missing func(head, base *Cell) string
}

// addBase adds to the cells of head their twins on the base build, behind all of
// head's. They count neither into limits.cells nor into what is left out.
func (p *Plan) addBase(root string, b *Base) []error {
	if b == nil {
		return nil
	}
	p.Builds = maps.Clone(p.Builds)
	p.Builds[result.BuildBase] = b.Build
	heads := p.Cells
	for i := range heads {
		twin := heads[i].onBase(root, b.Root)
		if b.Missing != nil {
			if missing := b.Missing(&heads[i], &twin); missing != "" {
				p.Skipped = append(p.Skipped, result.Skipped{Name: twin.Name, Build: result.BuildBase, Why: "the base build has no " + missing})
				continue
			}
		}
		p.Cells = append(p.Cells, twin)
	}
	return checkNames(p.Cells)
}

// onBase is the cell on the base build: the same command in the same place of the
// base build's tree, on the same inputs. The command runs in that tree, so what it
// names by a relative path is the base commit's (program, script, package, make's
// folder); {input} and stdin are absolute and stay head's.
func (c *Cell) onBase(root, base string) Cell {
	t := *c
	t.Build = result.BuildBase
	t.Name = result.BuildName(c.Name, t.Build)
	t.Key = KeyFor(t.ID(), t.Name)
	t.Digest = digestOf(struct{ Build, Head string }{t.Build, c.Digest})
	t.Exec.Cwd = moved(c.Exec.Cwd, root, base)
	t.Exec.Argv = allMoved(c.Exec.Argv, c.Exec.Shell, root, base)
	t.Exec.Prepare = allMoved(c.Exec.Prepare, c.Exec.PrepareSh, root, base)
	t.Exec.Cleanup = allMoved(c.Exec.Cleanup, c.Exec.CleanupSh, root, base)
	return t
}

// moved is a path below root at the same place below base; another stays.
func moved(path, root, base string) string {
	if path == root {
		return base
	}
	if rest, below := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/"); below {
		return strings.TrimSuffix(base, "/") + "/" + rest
	}
	return path
}

// allMoved moves the words of a command. The string of a shell is left alone: it
// runs in the base build's tree, and nobody knows what is a path in it.
func allMoved(argv []string, shell bool, root, base string) []string {
	if shell {
		return argv
	}
	out := slices.Clone(argv)
	for i := range out {
		out[i] = moved(out[i], root, base)
	}
	return out
}

// Confirmation plans to measure some cells of head again, in blocks with the base
// build: what stored sessions left in doubt, or found. looks are those of each
// cell, in blocks; the plan's own cells are not asked again how often they repeat.
func Confirmation(first *Plan, root string, b *Base, looks map[result.ID][]int, seed uint64) (*Plan, error) {
	p := &Plan{
		Schema: Schema, Suite: first.Suite, Seed: seed, Selection: first.Selection, Confirms: first.Digest,
		Sampling: first.Sampling, Limits: first.Limits, Metrics: first.Metrics,
		Builds: map[string]result.Build{result.BuildHead: first.Builds[result.BuildHead]},
	}
	for i := range first.Cells {
		c := first.Cells[i]
		if l := looks[c.ID()]; len(l) > 0 && c.Build == result.BuildHead {
			c.setLooks(l)
			p.Cells = append(p.Cells, c)
		}
	}
	if len(p.Cells) == 0 {
		return nil, errors.New("confirm: no cell of the plan is in doubt")
	}
	if err := errors.Join(p.addBase(root, b)...); err != nil {
		return nil, fmt.Errorf("confirm: %w", err)
	}
	p.dropAlone()
	if err := p.inStep(); err != nil {
		return nil, fmt.Errorf("confirm: %w", err)
	}
	p.Order = order(p.Cells, seed)
	p.Digest = p.digest()
	return p, nil
}

// dropAlone takes out cells that the base build lacks: head's numbers are known.
func (p *Plan) dropAlone() {
	paired := map[result.ID]bool{}
	for i := range p.Cells {
		if id := p.Cells[i].ID(); id.Build == result.BuildBase {
			id.Build = result.BuildHead
			paired[id] = true
		}
	}
	p.Cells = slices.DeleteFunc(p.Cells, func(c Cell) bool { return c.Build == result.BuildHead && !paired[c.ID()] })
}
