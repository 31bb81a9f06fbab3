package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
)

// cellDigest is of everything that changes a cell's numbers and of nothing else:
// a renamed benchmark, another budget or one more repeat keeps it; another
// argument, input or reader does not. Paths are taken relative to the suite's
// folder, so that another checkout gives the same digest.
func cellDigest(e *Exec, input, stdin, root string) string {
	d := struct {
		Argv       []string
		Shell      bool
		Cwd        string
		Stdin      string
		Env        Env
		Prepare    []string
		Cleanup    []string
		Window     float64
		Linger     float64 `json:",omitzero"`
		Expect     []Expect
		Read       []Read
		Units      float64
		Input      string
		StdinBytes string
	}{e.Argv, e.Shell, relative(root, e.Cwd), relative(root, e.Stdin), e.Env, e.Prepare, e.Cleanup,
		e.Window, e.Linger, e.Expect, e.Read, e.UnitsPerRun, input, stdin}
	return digestOf(d)
}

func relative(root, p string) string {
	if rel, err := filepath.Rel(root, p); err == nil && p != "" && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return p
}

// digest of a plan: a resume needs the same. Everything that decides which runs
// there are, what they execute and in which order is in it; of a shard's plan, what
// the others have to run as well.
func (p *Plan) digest() string {
	type cell struct {
		Name, Digest     string
		Repeats, Warmups int
		Timeout          Timeout
		Looks            []int `json:",omitempty"`
	}
	cells := make([]cell, len(p.Cells))
	for i := range p.Cells {
		c := &p.Cells[i]
		cells[i] = cell{c.Name, c.Digest, c.Repeats, c.Warmups, c.Exec.Timeout, c.Looks}
	}
	runs := digestOf(struct {
		Suite    string
		Seed     uint64
		Looks    []int
		Builds   any
		Sampling Sampling
		Cells    []cell
		Confirms string `json:",omitempty"`
	}{p.Suite.Name, p.Seed, p.Looks, p.Builds, p.Sampling, cells, p.Confirms})
	if p.Shard == "" {
		return runs
	}
	return digestOf(struct{ Runs, Shard, Whole string }{runs, p.Shard, p.Whole})
}

// digestOf hashes the JSON of a value; encoding/json writes struct fields in
// order and map keys sorted, so equal values have equal digests.
func digestOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("plan: a digest of a value that has no JSON: " + err.Error()) // our own types only
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
