package budget

import "slices"

// None is the place of a budget that a file does not have.
const None = -1

// Choice is one rule with what two suite files say about it: the judged one's
// (head) and that of the commit it is compared with (base). What head loosens
// counts after the merge, what it tightens or adds counts at once.
type Choice struct {
	Head, Base int // index of the budget; None where the file has none
	// Loosened is set where base's decides: head's is looser, or gone.
	Loosened bool
}

// Budget is the index of the budget that decides.
func (c Choice) Budget() int {
	if c.Loosened {
		return c.Base
	}
	return c.Head
}

// Choose decides which file's budget counts, rule by rule. head and base are
// indices into all, at most one a rule (as For returns them); an empty base lets
// head's decide alone. same tells whether a budget of base and one of head are of
// one rule. The order is head's, then what only base has.
func Choose(all []Budget, head, base []int, same func(base, head *Budget) bool) []Choice {
	var out []Choice
	if n := len(head) + len(base); n > 0 {
		out = make([]Choice, 0, n)
	}
	paired := make([]bool, len(base))
	for _, h := range head {
		c := Choice{Head: h, Base: None}
		if at := slices.IndexFunc(base, func(b int) bool { return same(&all[b], &all[h]) }); at >= 0 {
			paired[at] = true
			c.Base = base[at]
			c.Loosened = Looser(&all[c.Base], &all[h])
		}
		out = append(out, c)
	}
	for at, b := range base {
		if !paired[at] {
			out = append(out, Choice{Head: None, Base: b, Loosened: true})
		}
	}
	return out
}
