package flow

import (
	"context"
	"fmt"

	"github.com/perfweir/perfweir/collect"
	"github.com/perfweir/perfweir/collect/control"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/plan"
)

// controlCell finds out whether the control cell's program can be run here.
func controlCell() *plan.Control {
	f, err := control.Open()
	if err != nil {
		return &plan.Control{Why: "the control cell cannot run here: " + err.Error()}
	}
	f.Close()
	return &plan.Control{Digest: control.Digest()}
}

// withControl measures the control cell with its program, which is nowhere on disk,
// and all others as do does. end gives the program's memory back.
func withControl(p *plan.Plan, do collect.Measure) (_ collect.Measure, end func(), err error) {
	if !p.HasControl() {
		return do, func() {}, nil
	}
	f, err := control.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open the control cell's program: %w", err)
	}
	return func(ctx context.Context, r measure.Run) measure.Outcome {
		if r.Cell.Control {
			c := *r.Cell
			c.Exec.Argv, c.Exec.Stdin = f.Command()
			r.Cell = &c
		}
		return do(ctx, r)
	}, func() { f.Close() }, nil
}
