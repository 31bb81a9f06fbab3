// Package result owns the results document (perfweir.results/v1): what one or
// more sessions measured, cell by cell, with everything a later reader needs to
// understand it (metric definitions, machine, builds, order).
//
// The room holds types, the catalogue of built-in metrics and the codec. It
// refuses to judge (gate) and to measure (collect/measure). Its data goes to
// baseline and gate, which may import these types and nothing else of collect.
//
// The Go API carries no compatibility promise; the document does. A document is
// columnar so that 5,000 cells x 20 runs x 10 metrics stay near 17 MB, and
// "cells" is its last key so that it can be read and written cell by cell.
package result

import (
	"time"
)

// Schema is the tag of the document, major version included. Unknown keys are
// allowed when read; a newer major version is refused in words (see Decode).
const Schema = "perfweir.results/v1"

// Document is a whole results document in memory.
type Document struct {
	Header
	Cells []Cell `json:"cells"`
}

// Header is everything before the cells.
type Header struct {
	Schema string           `json:"schema"`
	Suite  Suite            `json:"suite"`
	Plan   PlanRef          `json:"plan"`
	Builds map[string]Build `json:"builds"` // by build name: "head", "base"
	// Sessions are in the order they ran. Those of shards ran side by side: they
	// follow each other shard by shard, the one that began first in front.
	Sessions []Session         `json:"sessions"`
	Metrics  map[string]Metric `json:"metrics"` // by metric name; every metric of a column is here
	// Skipped are cells of the suite that were left out of the plan on purpose.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Dealt are all cells of the plan that Plan.Shard is a part of.
	Dealt []Dealt `json:"dealt,omitempty"`
}

// Suite names the suite file the document came from.
type Suite struct {
	Name   string `json:"name"`
	Path   string `json:"path"`             // relative to the repository's root where there is one, else as given
	Digest string `json:"digest,omitempty"` // "sha256:..." of the file's bytes
	// Accepted are the keys of the changes that the file accepted (budget.Exception.Key):
	// they tell sessions behind one from those before it.
	Accepted []string `json:"accepted,omitempty"`
}

// PlanRef ties the document to the plan it was measured under.
type PlanRef struct {
	Digest string `json:"digest"` // see plan.Plan.Digest; of merged shards: Whole of each
	Seed   uint64 `json:"seed"`   // of the order; of merged shards 0: each has its own, in Shards
	Looks  []int  `json:"looks"`  // cumulative repeats at each planned look; one entry: all at once
	// Reached is the last look that was executed, where that is not the last one;
	// 0: all were. What had not been decided by then was left by the limit of time,
	// or by whoever stopped it.
	Reached   int    `json:"reached,omitempty"`
	Cells     int    `json:"cells"`               // planned in this document
	Runs      int    `json:"runs"`                // planned in this document, warm-ups not counted
	Selection string `json:"selection,omitempty"` // glob of --cells: the rest of the suite was left out on purpose
	// Shard is "2/3" when the document has only that part of the plan; the rest is
	// measured by other runners. Looks are those of the whole plan.
	Shard string `json:"shard,omitempty"`
	// Whole is the digest of the plan that Shard is a part of, without what every
	// runner has of its own (seed, programs): shards of one plan have the same.
	Whole string `json:"whole,omitempty"`
	// Confirms is the digest of the plan whose doubts this one measured again.
	Confirms string `json:"confirms,omitempty"`
	// Shards are what a merged document was made of.
	Shards []ShardRef `json:"shards,omitempty"`
}

// Build is one revision of the program under test.
type Build struct {
	Commit string `json:"commit,omitempty"` // full hash; absent outside a git repository
	Dirty  bool   `json:"dirty"`            // tracked files of the suite's folder differ from the commit
	// Tree identifies the tracked content of the suite's folder, uncommitted
	// edits included: "sha256:..."; absent outside a git repository.
	Tree string `json:"tree,omitempty"`
	// Programs are the digests of the files that the cells' arguments name
	// (program, scripts), by the argument as written.
	Programs map[string]string `json:"programs,omitempty"`
}

// Skipped is a cell that was left out of the plan on purpose, and why.
type Skipped struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Build is set where it is left out of that build alone: the base commit has no
	// such program.
	Build string `json:"build,omitempty"`
}

// Replication units of a session (DESIGN rule 8).
const (
	ReplicatesProcess       = "process"        // every repeat is a fresh process
	ReplicatesWithinProcess = "within_process" // one process repeated: advisory in the gate
)

// Session is one job on one machine: the unit above the run.
type Session struct {
	ID          string       `json:"id"` // ULID
	Machine     string       `json:"machine"`
	StartedAt   time.Time    `json:"started_at"`
	Boot        string       `json:"boot,omitempty"` // tells boots of the machine apart; no meaning beyond
	Origin      string       `json:"origin"`         // "run", "import"
	Replicates  string       `json:"replicates"`     // ReplicatesProcess or ReplicatesWithinProcess
	LaunchFloor int64        `json:"launch_floor,omitempty"`
	WorkflowRun *WorkflowRun `json:"workflow_run,omitempty"`
	Host        Host         `json:"host"`
	Sources     []Source     `json:"sources,omitempty"`
	Interrupted bool         `json:"interrupted,omitempty"` // stopped from outside before the plan was done
	Warnings    []string     `json:"warnings,omitempty"`    // what the code under test did that it should not
}

// WorkflowRun is GitHub's run that the session belongs to.
type WorkflowRun struct {
	RepositoryID int64  `json:"repository_id"`
	ID           int64  `json:"id"`
	Attempt      int    `json:"attempt"`
	Event        string `json:"event"`
	Ref          string `json:"ref"`
}

// Host is the fingerprint of a machine. A differing strict key makes sessions
// not comparable; a differing soft key is a doubt.
type Host struct {
	Strict map[string]string `json:"strict"`
	Soft   map[string]string `json:"soft,omitempty"`
}

// States of a source.
const (
	SourceOK     = "ok"
	SourceAbsent = "absent"
)

// Source is one sampler of a session and how well it did (DESIGN rule 6).
type Source struct {
	Name     string  `json:"name"`
	State    string  `json:"state"`            // SourceOK, SourceAbsent
	Reason   string  `json:"reason,omitempty"` // why absent
	Every    float64 `json:"every,omitempty"`  // s between ticks
	Cost     float64 `json:"cost,omitempty"`   // share of one core spent reading
	Missed   int     `json:"missed,omitempty"` // ticks that came too late to be read
	Coverage float64 `json:"coverage,omitempty"`
}

// Better directions of a metric. Empty: unknown; a relative budget then has to
// be one-sided (max_increase, max_decrease).
const (
	Lower  = "lower"
	Higher = "higher"
)

// Class is how a metric varies, which decides how it is judged
// (notes on metric classes: docs/statistics.md).
type Class string

// Classes of a metric.
const (
	Exact   Class = "exact"   // any change is a change: bytes, files, token counts
	Counted Class = "counted" // nearly exact: instructions, allocations, syscalls
	Noisy   Class = "noisy"   // time, memory, energy, throughput
	Tail    Class = "tail"    // percentiles
	Level   Class = "level"   // temperature, shares: absolute budgets only
)

// Metric is the definition of a metric, carried by the document so that an old
// baseline explains itself.
type Metric struct {
	Unit   string  `json:"unit"`             // base unit: "s", "B", "J", "W", "Hz", "1", or a user's own
	Per    string  `json:"per,omitempty"`    // "J" per "token"
	Better string  `json:"better,omitempty"` // Lower, Higher or empty
	Class  Class   `json:"class"`
	Source string  `json:"source,omitempty"` // what measured it: "launch", "linuxproc", "stdout", ...
	Step   float64 `json:"step,omitempty"`   // resolution in the unit; 0 unknown
}

// Status is how a run ended.
type Status string

// Statuses. The zero value of a run in the document is Success.
const (
	Success       Status = "success"
	WindowReached Status = "window_reached" // ended by us after its window: that is success
	Timeout       Status = "timeout"
	Signal        Status = "signal"
	Failed        Status = "failed" // non-zero exit
	MissingOutput Status = "missing_output"
	InvalidOutput Status = "invalid_output"
	SpawnError    Status = "spawn_error"
	Interrupted   Status = "interrupted" // stopped from outside; neither success nor crash
)

// OK reports whether the run's numbers may be compared.
func (s Status) OK() bool { return s == "" || s == Success || s == WindowReached }

// Crashed reports whether the run counts into crash_rate.
func (s Status) Crashed() bool { return !s.OK() && s != Interrupted }

// BuildHead is the build that is judged; BuildBase the commit it is compared
// with, built and run in the same session.
const (
	BuildHead = "head"
	BuildBase = "base"
)

// ControlBenchmark is the benchmark of the control cell. No suite may use the name.
const ControlBenchmark = "perfweir-control"

// ID is the identity of a cell: the tuple, never the printed name.
type ID struct {
	Benchmark, Variant, Input, Build string
}

// Cell is one row of the matrix on one build.
type Cell struct {
	Name      string            `json:"name"` // printed name: benchmark/variant/input without empty fields
	Benchmark string            `json:"benchmark"`
	Variant   string            `json:"variant,omitempty"`
	Input     string            `json:"input,omitempty"`
	Build     string            `json:"build"`
	Was       []string          `json:"was,omitempty"` // earlier names of the benchmark
	Digest    string            `json:"digest"`        // of what changes its numbers: see plan.Cell
	Argv      []string          `json:"argv,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Note      string            `json:"note,omitempty"`
	Source    string            `json:"source,omitempty"` // path:line where annotations go when no budget line fits
	// Control marks the control cell: a fixed command of perfweir's own that is run
	// between the others, to tell a slow machine from a slow change. It is no cell of
	// the suite: nothing is planned for it, budgeted, missed or counted.
	Control bool `json:"control,omitempty"`
	Planned int  `json:"planned"` // repeats planned: all of them, however many looks they are spread over
	// Looks are the cumulative repeats at each planned look, rising, the last one
	// Planned; absent: one look after all of them.
	Looks   []int    `json:"looks,omitempty"`
	Runs    Runs     `json:"runs"`
	Columns []Column `json:"columns"`
}

// RepeatsAt is how many repeats are planned up to a look (1-based).
func (c *Cell) RepeatsAt(look int) int {
	if look < 1 || look > len(c.Looks) {
		return c.Planned
	}
	return c.Looks[look-1]
}

// LastLook is the last look that is planned for the cell.
func (c *Cell) LastLook() int { return max(1, len(c.Looks)) }

// ID returns the cell's identity.
func (c *Cell) ID() ID { return ID{c.Benchmark, c.Variant, c.Input, c.Build} }

// IDs returns the identities under which earlier documents may have the cell:
// its own, then those with its benchmark's earlier names.
func (c *Cell) IDs() []ID {
	ids := make([]ID, 1, 1+len(c.Was))
	ids[0] = c.ID()
	for _, was := range c.Was {
		id := c.ID()
		id.Benchmark = was
		ids = append(ids, id)
	}
	return ids
}

// Runs is the run list of a cell, column by column. All slices that are present
// have the length of Repeat; an absent slice is all defaults (attempt 1, look 1,
// session 0). Keys of Status and Detail are 0-based positions in the run list.
type Runs struct {
	Repeat  []int          `json:"repeat"`            // 1-based; 0 marks a warm-up
	Attempt []int          `json:"attempt,omitempty"` // 1-based
	Look    []int          `json:"look,omitempty"`    // 1-based
	Block   []int          `json:"block"`             // runs of one block are compared with each other
	Slot    []int          `json:"slot"`              // place in the block
	Session []int          `json:"session,omitempty"` // index into Header.Sessions
	Start   []float64      `json:"start"`             // s since the session's start
	Status  map[int]Status `json:"status,omitempty"`  // absent: Success
	Detail  map[int]Detail `json:"detail,omitempty"`
}

// Len is the number of runs.
func (r *Runs) Len() int { return len(r.Repeat) }

// Warmup reports whether run i is a warm-up.
func (r *Runs) Warmup(i int) bool { return r.Repeat[i] == 0 }

// AttemptAt returns the attempt of run i.
func (r *Runs) AttemptAt(i int) int { return at(r.Attempt, i, 1) }

// LookAt returns the look of run i.
func (r *Runs) LookAt(i int) int { return at(r.Look, i, 1) }

// SessionAt returns the session index of run i.
func (r *Runs) SessionAt(i int) int { return at(r.Session, i, 0) }

// StatusAt returns the status of run i.
func (r *Runs) StatusAt(i int) Status {
	if s, ok := r.Status[i]; ok {
		return s
	}
	return Success
}

// ValidAt reports whether run i is valid: nothing was found that forbids
// comparing it (throttling, foreign load).
func (r *Runs) ValidAt(i int) bool {
	d, ok := r.Detail[i]
	return !ok || d.Valid == nil || *d.Valid
}

func at(s []int, i, def int) int {
	if s == nil {
		return def
	}
	return s[i]
}

// Detail is what is worth telling about one run beyond its numbers.
type Detail struct {
	ExitCode     *int     `json:"exit_code,omitempty"`     // when it exited by itself and not with 0
	Signal       string   `json:"signal,omitempty"`        // "KILL", "SEGV", ...
	Timeout      float64  `json:"timeout,omitempty"`       // s, the limit that was hit
	TimeoutBasis string   `json:"timeout_basis,omitempty"` // "4 x encode/default"
	Ended        float64  `json:"ended,omitempty"`         // s of wall time until it ended, for runs whose wall_time is absent
	Reason       string   `json:"reason,omitempty"`        // one sentence: why the status is what it is
	StderrTail   string   `json:"stderr_tail,omitempty"`
	Warnings     []string `json:"warnings,omitempty"`
	Valid        *bool    `json:"valid,omitempty"` // absent: valid
	Folder       string   `json:"folder,omitempty"`
	// Cooled is how long the machine rested before the run, s; absent: not at all.
	Cooled float64 `json:"cooled,omitempty"`
	// Temperature is that of the machine when the rest was over, °C; absent: there
	// was no rest or no sensor.
	Temperature *float64 `json:"temperature,omitempty"`
}

// Column is the measurements of one metric (and phase and part) over the run
// list of its cell. V has one value a run; a missing one is NaN in memory, null
// in the file, and has its reason in Absent. NaN and Inf never appear in a file.
type Column struct {
	Metric string         `json:"metric"`
	Phase  string         `json:"phase,omitempty"`
	Part   string         `json:"part,omitempty"`
	V      Values         `json:"v"`
	Bound  Values         `json:"bound,omitempty"`  // error bound of each value, in the metric's unit
	Absent map[int]string `json:"absent,omitempty"` // reason by position
}

// Values is a column of numbers; NaN stands for null.
type Values []float64

// Reasons for an absent value that more than one room writes.
const (
	AbsentTooShort      = "too_short"      // fewer than three ticks, or under the tick of the kernel's clock
	AbsentInsufficient  = "insufficient"   // a percentile without its tail
	AbsentNotReported   = "not_reported"   // the program printed nothing that the reader found
	AbsentNotFinite     = "not_finite"     // NaN, Inf or not a number
	AbsentNoLauncher    = "no_launcher"    // exact peak memory needs the launcher
	AbsentNotRun        = "not_run"        // the run never got so far
	AbsentNoPermission  = "no_permission"  //
	AbsentNotSupported  = "not_supported"  //
	AbsentUnitMismatch  = "unit_mismatch"  //
	AbsentUnreadable    = "unreadable"     //
	AbsentDuplicateName = "duplicate_name" //
)
