package measure

import (
	"context"

	"github.com/perfweir/perfweir/collect/prepare"
	"github.com/perfweir/perfweir/collect/result"
)

// ready does what comes before the command and reports whether it may start. The
// outputs are looked at once nothing stale can write them any more.
func (j *job) ready(ctx context.Context) bool {
	if !j.beforehand(ctx) {
		return false
	}
	j.lookBefore()
	return j.prepare(ctx)
}

// beforehand brings the machine into the state in which the suite wants a run to
// start, before its own prepare: stale processes end first, since they are what
// heats the machine. It reports whether the run may start, which only an
// interruption forbids; what did not work is a warning on the run.
func (j *job) beforehand(ctx context.Context) bool {
	if len(j.exec.StaleProcesses) == 0 && j.exec.Cooldown.IsZero() {
		return true
	}
	m := j.run.Machine
	if m == nil {
		m = prepare.New("/")
	}
	for _, w := range m.EndStale(ctx, j.exec.StaleProcesses) {
		j.warn("%s", w)
	}
	if c := j.exec.Cooldown; !c.IsZero() {
		j.cooled(m.Cool(ctx, prepare.Rule{Rest: seconds(c.Rest), Band: c.Band, Max: seconds(c.Max)}))
	}
	if ctx.Err() != nil {
		j.out.Status, j.out.Detail.Reason = result.Interrupted, "interrupted before the run began"
		return false
	}
	return true
}

func (j *job) cooled(c prepare.Cooling) {
	j.out.Detail.Cooled = c.Waited.Seconds()
	if c.Temperature.Known() {
		j.out.Detail.Temperature = &c.Temperature.Celsius
	}
	for _, w := range c.Words {
		j.warn("%s", w)
	}
}
