package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/perfweir/perfweir/collect/result"
)

// maxDifferences is how many differences are told.
const maxDifferences = 5

// Differences says in words why two plans have different digests: what a person
// changed between them. It is never empty when the digests differ.
func Differences(was, is *Plan) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if was.Suite.Name != is.Suite.Name {
		add("the suite was %q and is %q", was.Suite.Name, is.Suite.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(is.Builds)) {
		out = append(out, buildDifferences(was.Builds[name], is.Builds[name])...)
	}
	cells := make(map[result.ID]*Cell, len(was.Cells))
	for i := range was.Cells {
		c := &was.Cells[i]
		cells[result.ID{Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build}] = c
	}
	for i := range is.Cells {
		c := &is.Cells[i]
		id := result.ID{Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build}
		old, ok := cells[id]
		delete(cells, id)
		switch {
		case !ok:
			add("cell %s is new", c.Name)
		case old.Digest != c.Digest:
			add("the definition of cell %s changed", c.Name)
		case old.Repeats != c.Repeats || old.Warmups != c.Warmups:
			add("cell %s had %d repeats and %d warm-ups, and has %d and %d", c.Name, old.Repeats, old.Warmups, c.Repeats, c.Warmups)
		case old.Exec.Timeout != c.Exec.Timeout:
			add("the timeout of cell %s changed", c.Name)
		}
	}
	for i := range was.Cells {
		c := &was.Cells[i]
		if cells[result.ID{Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build}] != nil {
			add("cell %s is gone", c.Name)
		}
	}
	if was.Sampling != is.Sampling {
		add("the sampling interval changed")
	}
	if len(out) == 0 {
		add("the plan is of another version of perfweir")
	}
	if n := len(out); n > maxDifferences {
		out = append(out[:maxDifferences:maxDifferences], fmt.Sprintf("and %d more", n-maxDifferences))
	}
	return out
}

func buildDifferences(was, is result.Build) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(is.Programs)) {
		if was.Programs[name] != is.Programs[name] {
			out = append(out, fmt.Sprintf("program %q changed", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.Programs)) {
		if _, ok := is.Programs[name]; !ok {
			out = append(out, fmt.Sprintf("program %q is gone", name))
		}
	}
	switch {
	case was.Commit != is.Commit:
		out = append(out, fmt.Sprintf("the commit was %.12s and is %.12s", was.Commit, is.Commit))
	case was.Tree != is.Tree || was.Dirty != is.Dirty:
		out = append(out, "tracked files in the suite's folder changed")
	}
	return out
}
