package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// planDifference says in what the plans that two shards are of differ, apart from
// seed and programs; "" when they are one.
func planDifference(a, b *Document) string {
	switch {
	case a.Suite.Name != b.Suite.Name:
		return fmt.Sprintf("the suite is %q and %q", shorten(a.Suite.Name), shorten(b.Suite.Name))
	case a.Suite.Digest != b.Suite.Digest:
		return "the suite files differ"
	}
	for _, name := range slices.Sorted(maps.Keys(a.Builds)) {
		if other, there := b.Builds[name]; there {
			if diff := revisionDifference(a.Builds[name], other); diff != "" {
				return fmt.Sprintf("build %q: %s", shorten(name), diff)
			}
		}
	}
	if a.Plan.Selection != b.Plan.Selection {
		return fmt.Sprintf("the cells that were selected are %q and %q", shorten(a.Plan.Selection), shorten(b.Plan.Selection))
	}
	if diff := skippedDifference(a.Skipped, b.Skipped); diff != "" {
		return diff
	}
	if diff := skippedDifference(b.Skipped, a.Skipped); diff != "" {
		return diff
	}
	if diff := dealtDifference(a.Dealt, b.Dealt); diff != "" {
		return diff
	}
	if a.Plan.Whole != b.Plan.Whole || !slices.Equal(a.Plan.Looks, b.Plan.Looks) {
		return "the plans differ in looks, warm-ups, timeouts or sampling, or are of two versions of perfweir"
	}
	return ""
}

func revisionDifference(a, b Build) string {
	switch {
	case a.Commit != b.Commit:
		return fmt.Sprintf("the commit is %q and %q", shorten(a.Commit), shorten(b.Commit))
	case a.Dirty != b.Dirty:
		return "tracked files differ from the commit on one of them"
	case a.Tree != b.Tree:
		return "tracked files in the suite's folder differ"
	}
	return ""
}

// skippedDifference names a cell that was left out in a and not in b.
func skippedDifference(a, b []Skipped) string {
	there := make(map[string]bool, len(b))
	for _, s := range b {
		there[s.Name] = true
	}
	for _, s := range a {
		if !there[s.Name] && s.Name != ControlBenchmark { // each has one of its own, or none
			return fmt.Sprintf("cell %q was left out on one of them: %s", shorten(s.Name), shorten(s.Why))
		}
	}
	return ""
}

// dealtDifference names a cell in which two lists of a whole plan differ.
func dealtDifference(a, b []Dealt) string {
	at := make(map[ID]*Dealt, len(b))
	for i := range b {
		at[b[i].ID()] = &b[i]
	}
	for i := range a {
		d, o := &a[i], at[a[i].ID()]
		delete(at, d.ID())
		switch {
		case o == nil:
			return onOneOnly(d)
		case d.Digest != o.Digest:
			return fmt.Sprintf("the definition of cell %q differs: its arguments, environment, input or readers are not the same on both", shorten(d.Name()))
		case d.Planned != o.Planned:
			return fmt.Sprintf("cell %q has %d and %d repeats", shorten(d.Name()), d.Planned, o.Planned)
		}
	}
	for i := range b {
		if at[b[i].ID()] != nil {
			return onOneOnly(&b[i])
		}
	}
	for i := range a {
		if d, o := &a[i], &b[i]; d.ID() != o.ID() || d.Shard != o.Shard || !slices.Equal(d.Was, o.Was) {
			return fmt.Sprintf("cell %q was dealt in another way", shorten(d.Name()))
		}
	}
	return ""
}

func onOneOnly(d *Dealt) string {
	return fmt.Sprintf("cell %q is in the plan of one of them only", shorten(d.Name()))
}

// hostDifference lists the strict facts in which two machines differ; "" when
// they are of one kind. A fact that only one side knows differs.
func hostDifference(a, b Host) string {
	keys := maps.Clone(a.Strict)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, b.Strict)
	var diffs []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		x, okX := a.Strict[k]
		y, okY := b.Strict[k]
		if x != y || okX != okY {
			diffs = append(diffs, fmt.Sprintf("%s is %s and %s", shorten(k), known(x, okX), known(y, okY)))
		}
	}
	if diffs == nil {
		return ""
	}
	return "the machines are of two kinds: " + strings.Join(diffs, "; ")
}

func known(v string, ok bool) string {
	if !ok {
		return "unknown"
	}
	return fmt.Sprintf("%q", shorten(v))
}
