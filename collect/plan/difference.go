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
	if was.Shard != is.Shard {
		// Which cells each has says nothing more.
		add("the shard was %s and is %s", shardInWords(was), shardInWords(is))
	} else {
		out = append(out, cellDifferences(wholeCells(was), wholeCells(is))...)
	}
	if was.Sampling != is.Sampling {
		add("the sampling interval changed")
	}
	switch {
	case len(out) > 0:
	case is.Shard != "":
		add("warm-ups or timeouts of another shard's cells changed, or the plan is of another version of perfweir")
	default:
		add("the plan is of another version of perfweir")
	}
	if n := len(out); n > maxDifferences {
		out = append(out[:maxDifferences:maxDifferences], fmt.Sprintf("and %d more", n-maxDifferences))
	}
	return out
}

func shardInWords(p *Plan) string {
	if p.Shard == "" {
		return "the whole plan"
	}
	return p.Shard
}

// wholeCells are the cells of the whole plan. Of those of other shards only what
// Dealt says is known; they have no key.
func wholeCells(p *Plan) []Cell {
	if len(p.Dealt) == 0 {
		return p.Cells
	}
	own := make(map[result.ID]*Cell, len(p.Cells))
	for i := range p.Cells {
		own[p.Cells[i].ID()] = &p.Cells[i]
	}
	cells := make([]Cell, len(p.Dealt))
	for i := range p.Dealt {
		d := &p.Dealt[i]
		cells[i] = Cell{Name: d.Name(), Benchmark: d.Benchmark, Variant: d.Variant, Input: d.Input, Build: d.Build, Digest: d.Digest, Repeats: d.Planned}
		if c := own[d.ID()]; c != nil {
			cells[i] = *c
		}
	}
	for i := range p.Cells {
		if p.Cells[i].Control { // it is dealt to nobody: each shard has one
			cells = append(cells, p.Cells[i])
		}
	}
	return cells
}

func cellDifferences(was, is []Cell) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	cells := make(map[result.ID]*Cell, len(was))
	for i := range was {
		cells[was[i].ID()] = &was[i]
	}
	for i := range is {
		c := &is[i]
		old, ok := cells[c.ID()]
		delete(cells, c.ID())
		known := ok && old.Key != "" && c.Key != "" // warm-ups and timeout of both are
		switch {
		case !ok:
			add("cell %s is new", c.Name)
		case old.Digest != c.Digest:
			add("the definition of cell %s changed", c.Name)
		case known && !slices.Equal(old.Looks, c.Looks):
			add("cell %s had looks after %v, and has them after %v repeats", c.Name, looksOf(old), looksOf(c))
		case known && (old.Repeats != c.Repeats || old.Warmups != c.Warmups):
			add("cell %s had %d repeats and %d warm-ups, and has %d and %d", c.Name, old.Repeats, old.Warmups, c.Repeats, c.Warmups)
		case old.Repeats != c.Repeats:
			add("cell %s had %d repeats, and has %d", c.Name, old.Repeats, c.Repeats)
		case known && old.Exec.Timeout != c.Exec.Timeout:
			add("the timeout of cell %s changed", c.Name)
		}
	}
	for i := range was {
		if cells[was[i].ID()] != nil {
			add("cell %s is gone", was[i].Name)
		}
	}
	return out
}

func looksOf(c *Cell) []int {
	if len(c.Looks) == 0 {
		return []int{c.Repeats}
	}
	return c.Looks
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
