package config

import (
	"reflect"
	"testing"

	"github.com/perfweir/perfweir/collect/plan"
)

func TestLooksContent(t *testing.T) {
	f := parse(t, `defaults: {repeats: {looks: auto}}
benchmarks:
  - {name: a, run: [a]}
  - {name: b, run: [b], repeats: {looks: [6, 10, 20]}, variants: [{name: x}, {name: y, repeats: 3}, {name: z, repeats: {looks: [6, 10]}}, {name: w, repeats: {looks: auto}}]}
  - {name: c, run: [c], repeats: 4}
budgets: [{metric: wall_time, max_regression: 5%, benchmark: a}]
limits: {time: 1h30m}
`)
	a, b, c := f.Suite.Benchmarks[0], f.Suite.Benchmarks[1], f.Suite.Benchmarks[2]
	if !a.AutoLooks || a.Looks != nil || a.Repeats != 10 {
		t.Errorf("a: auto %v, looks %v, %d repeats", a.AutoLooks, a.Looks, a.Repeats)
	}
	if b.AutoLooks || !reflect.DeepEqual(b.Looks, []int{6, 10, 20}) {
		t.Errorf("b: auto %v, looks %v", b.AutoLooks, b.Looks)
	}
	if c.AutoLooks || c.Looks != nil || c.Repeats != 4 {
		t.Errorf("c: auto %v, looks %v, %d repeats", c.AutoLooks, c.Looks, c.Repeats)
	}
	three := 3
	for i, want := range []plan.Variant{{Name: "x"}, {Name: "y", Repeats: &three}, {Name: "z", Looks: []int{6, 10}}, {Name: "w", AutoLooks: true}} {
		if got := b.Variants[i]; !reflect.DeepEqual(got.Repeats, want.Repeats) || !reflect.DeepEqual(got.Looks, want.Looks) || got.AutoLooks != want.AutoLooks {
			t.Errorf("variant %s: repeats %v, looks %v, auto %v", got.Name, got.Repeats, got.Looks, got.AutoLooks)
		}
	}
	if f.Suite.Limits.Time != 5400 {
		t.Errorf("limits.time is %g s", f.Suite.Limits.Time)
	}
}
