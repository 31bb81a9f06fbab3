package result

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is the part of a plan that one of several runners measures. The zero
// value is the whole plan, and so is 1/1.
type Shard struct{ Index, Of int } // Index is 1-based

// ParseShard reads "2/3". It takes one spelling of each shard, so that equal
// shards are equal texts in documents and names of artifacts.
func ParseShard(text string) (Shard, error) {
	index, of, _ := strings.Cut(text, "/")
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(of)
	s := Shard{Index: i, Of: n}
	if errI != nil || errN != nil || s == (Shard{}) || s.Check() != nil || s.String() != text {
		return Shard{}, fmt.Errorf("shard %q: %s", shorten(text), wantShard)
	}
	return s, nil
}

// MaxShards bounds the parts of a plan: each has a session in the merged document.
const MaxShards = maxSessions

var wantShard = fmt.Sprintf("want I/N with 1 <= I <= N <= %d, such as 2/3", MaxShards)

// Check returns an error unless s is the zero value or 1 <= Index <= Of <= MaxShards.
func (s Shard) Check() error {
	if s == (Shard{}) || 1 <= s.Index && s.Index <= s.Of && s.Of <= MaxShards {
		return nil
	}
	return fmt.Errorf("shard %s: %s", s, wantShard)
}

// Whole reports whether s is the whole plan.
func (s Shard) Whole() bool { return s.Of <= 1 }

// String returns "2/3".
func (s Shard) String() string { return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Of) }

// Dealt is a cell of the whole plan, and the shard that measures it. Every shard's
// document lists all of them, in the order of the suite: so shards can be joined
// in that order, and what no shard delivered is known by name.
type Dealt struct {
	Shard     int      `json:"shard"` // 1-based
	Benchmark string   `json:"benchmark"`
	Variant   string   `json:"variant,omitempty"`
	Input     string   `json:"input,omitempty"`
	Build     string   `json:"build"`
	Was       []string `json:"was,omitempty"`
	Digest    string   `json:"digest"`  // Cell.Digest
	Planned   int      `json:"planned"` // repeats
}

// ID returns the cell's identity.
func (d *Dealt) ID() ID { return ID{d.Benchmark, d.Variant, d.Input, d.Build} }

// Name returns the cell's printed name.
func (d *Dealt) Name() string {
	return BuildName(PrintedName(d.Benchmark, d.Variant, d.Input), d.Build)
}

// ShardRef is one shard of a merged document.
type ShardRef struct {
	Shard   string `json:"shard"`             // "2/3"
	Digest  string `json:"digest,omitempty"`  // of the shard's plan
	Seed    uint64 `json:"seed"`              // of the shard's order
	Missing bool   `json:"missing,omitempty"` // its document was not there: its cells have no run
}

// Partial reports whether the document leaves out cells of its suite on purpose:
// it is of selected ones, or of one shard. Such a document says nothing about a
// cell that is not in it.
func (p *PlanRef) Partial() bool { return p.Selection != "" || p.Shard != "" }
