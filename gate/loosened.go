package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/budget"
	"github.com/perfweir/perfweir/gate/verdict"
)

// looseRule is a budget of base's that decides, and the one of head's that it
// stands in for (budget.None: it is deleted).
type looseRule struct{ base, head int }

// countLoosened counts the rules of a cell that base's budgets decide in place of
// head's. found are those about what the cell has no column of.
func (e *evaluation) countLoosened(i int, found []budget.Choice) {
	r := &e.rulings[i]
	if !r.known {
		return
	}
	rules := map[looseRule]bool{}
	for _, choices := range slices.Concat(r.columns, [][]budget.Choice{r.completeness, r.crashes, found}) {
		for _, c := range choices {
			if c.Loosened && !e.ownReference(c, i) {
				rules[looseRule{c.Base, c.Head}] = true
			}
		}
	}
	for _, rule := range r.accepted {
		rules[rule] = true
	}
	for rule := range rules {
		e.loose[rule]++
	}
}

// tellLoosened lists the rules of base's that decide in place of head's, and tells
// each budget of base's where head's file has it.
func (e *evaluation) tellLoosened() {
	if e.base == nil {
		return
	}
	order := slices.SortedFunc(maps.Keys(e.loose), func(a, b looseRule) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.head, b.head))
	})
	for _, rule := range order { // behind keys of the gate, which are few and about all
		e.out.Loosened = append(e.out.Loosened, e.loosened(rule))
	}
	e.out.Counts.Loosened = len(e.out.Loosened)
	e.out.Loosened = e.out.Loosened[:min(len(e.out.Loosened), verdict.MaxLoosened)]
}

func (e *evaluation) loosened(rule looseRule) verdict.Loosened {
	was := &e.budgets[rule.base]
	l := verdict.Loosened{Text: subject(was), Was: spelled(was, nil), Cells: e.loose[rule], Source: was.Source}
	switch {
	case rule.head != budget.None:
		now := &e.budgets[rule.head]
		l.Was, l.Now = spelled(was, now), spelled(now, was)
		l.Source.HeadLine = now.Source.Line
		if was.Source.HeadLine == 0 {
			was.Source.HeadLine = now.Source.Line
		}
	case e.redefined(was) != "":
		l.Now = "another definition of the metric" // the finding says which
	}
	return l
}

// subject is what a budget is about: "wall_time in encode/**".
func subject(b *budget.Budget) string {
	f := verdict.Finding{Metric: b.Metric, Phase: b.Phase, Part: b.Part}
	s := label(&f)
	if variant, ok := strings.CutPrefix(b.Against, budget.AgainstVariant); ok {
		s += " against variant " + variant
	}
	var scope []string
	for _, g := range []struct{ field, glob string }{{"", b.Cells}, {"benchmark ", b.Benchmark}, {"variant ", b.Variant}, {"input ", b.Input}} {
		if g.glob != "" {
			scope = append(scope, g.field+g.glob)
		}
	}
	if len(scope) > 0 {
		s += " in " + strings.Join(scope, ", ")
	}
	return s
}

// spelled is a budget as its file has it, with what it does not share with other.
func spelled(b, other *budget.Budget) string {
	s := first(b.Text, fmt.Sprintf("%s: %v", b.Kind, b.Limit))
	if other == nil {
		return s
	}
	if b.Level != other.Level {
		s += ", level: " + string(b.Level)
	}
	if b.Statistic != other.Statistic {
		s += ", statistic: " + first(b.Statistic, medianStatistic)
	}
	if b.EachRun != other.EachRun {
		s += fmt.Sprintf(", each_run: %v", b.EachRun)
	}
	return s
}

// dropUnused takes budgets of base's that no finding is about out of the list:
// those that head's file has as well, or stricter.
func (e *evaluation) dropUnused() {
	d := e.out
	used := map[int]bool{}
	for i := range d.Findings {
		used[d.Findings[i].Budget] = true
	}
	place := make([]int, len(e.budgets))
	kept := e.budgets[:e.firstBase:e.firstBase]
	for i := range e.budgets {
		place[i] = i
		if i >= e.firstBase && used[i] {
			place[i] = len(kept)
			kept = append(kept, e.budgets[i])
			kept[place[i]].ID = place[i]
		}
	}
	for i := range d.Findings {
		d.Findings[i].Budget = place[d.Findings[i].Budget]
	}
	d.Budgets = kept
}
