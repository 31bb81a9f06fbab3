// Package config reads suite files (perfweir.yml): it is the only room that
// knows YAML. Parse is pure: bytes in, a checked suite with every default
// applied out, or all problems of the file, each with line, column and what to
// write instead.
//
// The room refuses to look at the machine: whether a file or a program is there
// is the plan's and the runner's matter. Its data goes to plan (the suite),
// budget (the limits), gate (the policy) and baseline (the policy).
package config

import (
	"github.com/perfweir/perfweir/baseline"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/gate/budget"
)

// File is a suite file, checked, with defaults merged into every benchmark.
type File struct {
	Suite   plan.Suite
	Budgets []budget.Budget // in the order of the file; IDs are positions
	// Accepted and Quarantine are in the order of the file.
	Accepted   []budget.Exception
	Quarantine []budget.Exception
	Gate       Gate
	Baseline   baseline.Policy
	// Exclusive is what is kept for one session while it measures:
	// ExclusiveMachine or ExclusiveNone.
	Exclusive string
	// Warnings are worth a second look; the file is used nevertheless.
	Warnings Problems
}

// Gate is how the verdict is decided.
type Gate struct {
	// FalseAlarms is the error rate over all gated relative budgets, 0 < x < 0.5.
	FalseAlarms float64
	// Require is "" or "proof": every gated finding must pass with confidence.
	Require string
	// On says what outcomes without a clear answer do: "pass", "neutral", "warn"
	// or "fail" for inconclusive, no_baseline, not_comparable, suspicious, gone
	// and new. All six are there.
	On map[string]string
	// AcceptLabel is the label by which a pull request's own file counts at once.
	AcceptLabel string
	// MergeGroup is what a merge queue's run does: Measure or OnlyIfChanged.
	MergeGroup string
	// Reference is what budgets against the baseline are held against: Stored, Auto, or
	// "" where the file does not say (File.Reference).
	Reference string
	// Control asks for the control cell, and lets it speak for the machine.
	Control bool
}

// References of budgets against the baseline.
const (
	Stored = "stored" // stored sessions
	// Auto measures what stored sessions leave in doubt again, beside the base
	// build.
	Auto = "auto"
)

// Reference tells what budgets against the baseline are held against where the file
// does not say: what stored sessions leave in doubt is worth a base build wherever
// the file says how to build one. Without a build command programs come from
// somewhere else, and beside the base commit the same ones would run again. named:
// the base commit was asked for by name, so all is measured beside it at once.
func (f *File) Reference(named bool) string {
	switch {
	case f.Gate.Reference != "":
		return f.Gate.Reference
	case len(f.Suite.Build) > 0 && !named:
		return Auto
	}
	return Stored
}

// What the gate of a merge queue does.
const (
	Measure = "measure" // as for a pull request
	// OnlyIfChanged completes the check at once where the very tree that would be
	// merged was measured for the pull request, and passed.
	OnlyIfChanged = "only_if_changed"
)

// Parse reads the suite file data. path is what problems and budgets name it; it
// is not opened. The file is nil when there is a problem.
func Parse(path string, data []byte) (*File, Problems) {
	r := &reader{path: path}
	root := r.document(data)
	if root == nil {
		return nil, r.problems.sorted()
	}
	var f suiteFile
	r.value(root, &f, spot{key: "suite file"})
	if !f.usable() {
		return nil, r.problems.sorted()
	}
	c := newChecker(r, &f)
	out := c.file(data)
	if len(r.problems) > 0 {
		return nil, r.problems.sorted()
	}
	out.Warnings = r.warnings.sorted()
	return out, nil
}
