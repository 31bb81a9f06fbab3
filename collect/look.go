package collect

import (
	"context"

	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
)

// Begun is what an earlier process selected for a look, where it came so far.
func (c *Collector) Begun(look int) (plan.Selection, bool) {
	cells, ok := c.past.looks[look]
	return plan.Selection{Look: look, Cells: cells}, ok
}

// Look measures one selection: what is still to be done of it, the rest an
// earlier process did. interrupted says that ctx ended before that was done; the
// run in flight is then journalled as interrupted. The error is for what makes
// going on pointless: the journal cannot be written.
func (c *Collector) Look(ctx context.Context, sel plan.Selection) (interrupted bool, err error) {
	p := c.m.Plan
	todo := c.past.remaining(p, sel, c.m.RetryFailed)
	// Warm-ups come with the first look; repeated later ones only add to it.
	planned := p.Runs(sel)
	if sel.Look == 1 {
		planned += c.warmups(sel)
	}
	c.total += max(planned, len(todo))
	c.done = c.total - len(todo)
	if len(todo) == 0 && len(c.m.Past) > 0 {
		return ctx.Err() != nil, nil
	}
	if c.begun && ctx.Err() != nil {
		return true, nil // between two looks: the next one has not begun
	}
	if err := c.begin(sel); err != nil {
		return false, err
	}
	// What cannot be removed is no reason to lose a session over.
	defer func() { _ = c.spare.drop() }()
	for _, i := range todo {
		if ctx.Err() != nil {
			return true, nil
		}
		status, err := c.repeat(ctx, i)
		if err != nil || status == result.Interrupted {
			return status == result.Interrupted, err
		}
	}
	return false, nil
}

func (c *Collector) warmups(sel plan.Selection) int {
	n, o := 0, &c.m.Plan.Order
	for i := range o.Len() {
		if r := o.At(i); r.Repeat == 0 && sel.Has(r) {
			n++
		}
	}
	return n
}

// begin writes that a session and a look begin, where they do.
func (c *Collector) begin(sel plan.Selection) error {
	if !c.begun && !c.m.Continues {
		c.session++
		if err := c.log.Append(journal.Record{Session: &c.m.Session}); err != nil {
			return err
		}
	}
	c.begun = true
	if _, known := c.past.looks[sel.Look]; known || len(c.m.Plan.Looks) < 2 {
		return nil
	}
	c.past.looks[sel.Look] = sel.Cells
	return c.log.Append(journal.Record{Look: &journal.Look{Look: sel.Look, Cells: sel.Cells}})
}

// End ends the session, if one was begun. interrupted says that it was stopped
// from outside before all was done.
func (c *Collector) End(interrupted bool) error {
	if !c.begun {
		return nil
	}
	return c.log.Append(journal.Record{End: &journal.End{Session: c.session, Sources: c.sourceList(), Interrupted: interrupted}})
}
