package plan

import "github.com/perfweir/perfweir/collect/result"

// Schema is the tag of plan.json.
const Schema = "perfweir.plan/v1"

// Plan is the document: everything that decides what runs, and when. It is
// written before the first run and held in memory; nothing reads it back from
// disk in order to run it except a resume, which compares Digest.
type Plan struct {
	Schema    string                  `json:"schema"`
	Suite     result.Suite            `json:"suite"`
	Digest    string                  `json:"digest"` // of Cells' digests, order, seed, looks, programs, shard: a resume needs the same
	Seed      uint64                  `json:"seed"`
	Looks     []int                   `json:"looks"`
	Selection string                  `json:"selection,omitempty"`
	Builds    map[string]result.Build `json:"builds"`
	Sampling  Sampling                `json:"sampling"`
	Limits    Limits                  `json:"limits"`
	Skipped   []result.Skipped        `json:"skipped,omitempty"`
	// Metrics are the suite's definitions of metrics that its programs report.
	Metrics map[string]result.Metric `json:"metrics,omitempty"`
	// Confirms is the digest of the plan whose doubts this one measures again.
	Confirms string `json:"confirms,omitempty"`
	// Shard is "2/3" when Cells are that part of the plan whose cells are all in
	// Dealt, in the order of the suite; Whole is its digest without what each
	// shard's runner has of its own. Looks and Skipped are those of the whole plan.
	Shard string         `json:"shard,omitempty"`
	Whole string         `json:"whole,omitempty"`
	Dealt []result.Dealt `json:"dealt,omitempty"`
	Cells []Cell         `json:"cells"`
	Order Order          `json:"order"`
}

// Cell is one row of the matrix with everything needed to run it.
type Cell struct {
	Name      string   `json:"name"` // with @base behind it on the base build
	Benchmark string   `json:"benchmark"`
	Variant   string   `json:"variant,omitempty"`
	Input     string   `json:"input,omitempty"` // InputFile.Name
	Build     string   `json:"build"`
	Was       []string `json:"was,omitempty"`
	Key       string   `json:"key"` // folder name: short digest of the identity + cleaned name
	// Digest is of what changes the cell's numbers: argv, environment, prepare,
	// the input's content, stdin's content, window, readers, expect, units per
	// run. Names, repeats, budgets and policy are not in it.
	Digest    string            `json:"digest"`
	InputPath string            `json:"input_path,omitempty"` // absolute; what {input} stands for
	Argv      []string          `json:"argv"`                 // as the suite has it, for people; Exec.Argv is what runs
	Labels    map[string]string `json:"labels,omitempty"`
	Note      string            `json:"note,omitempty"`
	Source    string            `json:"source,omitempty"`
	// Control marks the control cell: see result.Cell. Its program is perfweir's own,
	// so Exec says nothing of where that is.
	Control bool `json:"control,omitempty"`
	Repeats int  `json:"repeats"`
	// Looks are the cumulative repeats at each planned look, rising, the last one
	// Repeats; absent: one look after all of them.
	Looks   []int `json:"looks,omitempty"`
	Warmups int   `json:"warmups"`
	Exec    Exec  `json:"exec"`
}

// ID returns the cell's identity.
func (c *Cell) ID() result.ID {
	return result.ID{Benchmark: c.Benchmark, Variant: c.Variant, Input: c.Input, Build: c.Build}
}

// Order is the list of runs, column by column; all slices have one length.
type Order struct {
	Cell   []int `json:"cell"`   // index into Plan.Cells
	Repeat []int `json:"repeat"` // 1-based; 0 marks a warm-up
	Look   []int `json:"look"`   // 1-based
	Block  []int `json:"block"`
	Slot   []int `json:"slot"`
}

// Run is one entry of the order.
type Run struct{ Cell, Repeat, Look, Block, Slot int }

// Len is the number of planned runs, warm-ups included.
func (o *Order) Len() int { return len(o.Cell) }

// At returns entry i.
func (o *Order) At(i int) Run {
	return Run{o.Cell[i], o.Repeat[i], o.Look[i], o.Block[i], o.Slot[i]}
}

func (o *Order) add(r Run) {
	o.Cell = append(o.Cell, r.Cell)
	o.Repeat = append(o.Repeat, r.Repeat)
	o.Look = append(o.Look, r.Look)
	o.Block = append(o.Block, r.Block)
	o.Slot = append(o.Slot, r.Slot)
}
