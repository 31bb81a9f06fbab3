package plan

import "github.com/perfweir/perfweir/collect/result"

// Control is the program of the control cell, as the shell found it.
type Control struct {
	Digest string // of its bytes; "" where it cannot be run
	Why    string // then: why not
}

// Bounds of a run of the control cell. Its work takes some 30 ms: one that takes a
// minute tells nothing any more.
const controlTimeout, controlKillAfter = 60, 2 // s

// addControl adds the control cell behind all others: one run in every block of the
// cell with most looks, so that it sees what the session's cells see, all along. Every
// shard and every selection of cells has it whole, since each is compared by itself;
// the base build has no twin of it. It counts neither into limits.cells nor into what a
// shard is dealt.
func (p *Plan) addControl(root string, c *Control) {
	if c == nil {
		return
	}
	if c.Digest == "" {
		p.Skipped = append(p.Skipped, result.Skipped{Name: result.ControlBenchmark, Why: c.Why})
		return
	}
	argv := []string{result.ControlBenchmark}
	cell := Cell{
		Name: result.ControlBenchmark, Benchmark: result.ControlBenchmark, Build: result.BuildHead, Control: true,
		Digest: digestOf(struct{ Control string }{c.Digest}), Argv: argv,
		Exec: Exec{Argv: argv, Cwd: root, Timeout: Timeout{Fixed: controlTimeout}, KillAfter: controlKillAfter},
	}
	cell.Key = KeyFor(cell.ID(), cell.Name)
	most := &p.Cells[longest(p.Cells, nil)]
	cell.setLooks(most.Looks)
	cell.Repeats = most.Repeats
	p.Cells = append(p.Cells, cell)
}

// HasControl reports whether the plan has a control cell.
func (p *Plan) HasControl() bool { return len(p.SuiteCells()) < len(p.Cells) }

// SuiteCells are the plan's cells without the control cell, which is the last.
func (p *Plan) SuiteCells() []Cell {
	if n := len(p.Cells); n > 0 && p.Cells[n-1].Control {
		return p.Cells[: n-1 : n-1]
	}
	return p.Cells
}
