package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect"
	"github.com/perfweir/perfweir/collect/journal"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/result"
	"github.com/perfweir/perfweir/gate"
	"github.com/perfweir/perfweir/gate/verdict"
)

// onward says, of what was measured so far, which cells go on to the next look;
// nil: all that the plan has more of.
type onward func(doc *result.Document) ([]int, error)

// undecided lets only those cells go on whose budgets a verdict on what is there
// leaves open. A session that will be compared with is measured to its end: one that
// is kept for want of another. So is a shard, whose cells are judged together with
// those of others.
func (s Shell) undecided(r rules, b *baseline.Baseline, p *plan.Plan, kept bool) onward {
	first := kept && (b.State == baseline.None || b.State == baseline.Incomparable)
	if len(p.Looks) < 2 || p.Shard != "" || first {
		return nil
	}
	return func(doc *result.Document) ([]int, error) {
		v, err := s.judge(r, doc, b, nil)
		if err != nil {
			return nil, err
		}
		return withTwins(p, v, gate.Undecided(v)), nil
	}
}

// withTwins are rows of a verdict by their places in the plan, and with each the
// same one on the base build: they share their blocks.
func withTwins(p *plan.Plan, v *verdict.Document, rows []int) []int {
	goesOn := map[result.ID]bool{}
	for _, i := range rows {
		c := &v.Cells[i]
		goesOn[result.ID{Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input}] = true
	}
	var out []int
	for i := range p.Cells {
		id := p.Cells[i].ID()
		if id.Build = ""; goesOn[id] {
			out = append(out, i)
		}
	}
	return out
}

// undecidedInJob is undecided of a workflow's job, under what was prepared before
// the first command. A job that only measures, or that refreshes the baseline,
// measures all.
func (s Shell) undecidedInJob(su *suite, o Options, j *job, p *prepared, m *matrix) onward {
	if !p.known() || !j.judges() || j.mode == ModeBaseline {
		return nil
	}
	_, paired := m.plan.Builds[result.BuildBase] // then it needs no other session
	return s.undecided(p.rules(su, o), p.selectBaseline(p.rulesPolicy(su), m.want()), m.plan, !paired)
}

// measureLooks measures look by look until all is decided, the looks or the time
// are at their end, or it is stopped from outside.
func (s Shell) measureLooks(ctx context.Context, c *collect.Collector, out *output, m *matrix) error {
	for look := 1; look <= max(1, len(m.plan.Looks)); look++ {
		sel, begun := c.Begun(look)
		if !begun {
			var err error
			if sel, err = s.nextLook(out, m, look); err != nil {
				return err
			}
		}
		if len(sel.Cells) == 0 {
			break
		}
		interrupted, err := c.Look(ctx, sel)
		if err != nil {
			return err
		}
		if interrupted {
			return c.End(true)
		}
	}
	return c.End(false)
}

// nextLook selects what a look measures; no cell ends measuring.
func (s Shell) nextLook(out *output, m *matrix, look int) (plan.Selection, error) {
	sel := m.plan.All(look)
	if look == 1 {
		return sel, nil
	}
	doc, err := foldJournal(out, m.plan)
	if err != nil {
		return sel, err
	}
	if m.onward != nil {
		cells, err := m.onward(doc)
		if err != nil {
			return sel, err
		}
		sel = m.plan.Only(look, func(cell int) bool { return slices.Contains(cells, cell) })
	}
	place := fmt.Sprintf("look %d of %d", look, len(m.plan.Looks))
	if len(sel.Cells) == 0 {
		s.say("%s is not needed: what more repeats could decide is decided", place)
		return sel, nil
	}
	if spent, needed, fits := m.fits(doc, sel); !fits {
		s.warn("%s is not begun: it would take about %s, and %s of limits.time (%s) are spent", place, inWords(needed), inWords(spent), inWords(m.plan.Limits.Time))
		sel.Cells = nil
		return sel, nil
	}
	s.say("%s: %s on, %s", place, goOn(m.plan, sel), plural(m.plan.Runs(sel), "run"))
	return sel, nil
}

// fits reports whether limits.time has room for a selection, by what was measured of
// the matrix so far: how long that took, with what was measured before it, and how
// long the selection would.
func (m *matrix) fits(doc *result.Document, sel plan.Selection) (spent, needed float64, fits bool) {
	spent, needed = collect.Pace(doc, m.plan, sel)
	spent += m.before
	limit := m.plan.Limits.Time
	return spent, needed, limit <= 0 || spent+needed <= limit
}

// goOn names the cells that go on.
func goOn(p *plan.Plan, sel plan.Selection) string {
	const most = 3
	var names []string
	for _, i := range sel.Cells {
		if !p.Cells[i].Control { // it goes along
			names = append(names, p.Cells[i].Name)
		}
	}
	n := len(names)
	if n == len(p.SuiteCells()) && n > most {
		return fmt.Sprintf("all %d cells go", n)
	}
	text := strings.Join(names[:min(most, n)], ", ")
	if n > most {
		text += fmt.Sprintf(" and %d more", n-most)
	}
	if n == 1 {
		return text + " goes"
	}
	return text + " go"
}

func inWords(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// foldJournal makes the results document of the journal on disk: what was written
// is what is judged.
func foldJournal(out *output, p *plan.Plan) (*result.Document, error) {
	f, err := durable.Open(out.path(durable.Journal))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	records, _, err := journal.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", out.path(durable.Journal), err)
	}
	doc, err := journal.Fold(p, records)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", out.path(durable.Journal), err)
	}
	return doc, nil
}
