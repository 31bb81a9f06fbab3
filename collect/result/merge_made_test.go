package result

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// randomShards makes the documents of all shards of a plan, as Decode returns
// them, and the cells of the whole plan as they should be once joined.
func randomShards(rnd *rand.Rand) ([]*Document, []Cell) {
	n := 2 + rnd.IntN(4)
	docs := make([]*Document, n)
	for i := range docs {
		docs[i] = shardDocument(rnd, Shard{i + 1, n})
	}
	var dealt []Dealt
	var cells []Cell
	for i := range n + rnd.IntN(8) {
		at := i // every shard has a cell
		if i >= n {
			at = rnd.IntN(n)
		}
		d := docs[at]
		c := Cell{Name: fmt.Sprintf("b/v%d", i), Benchmark: "b", Variant: fmt.Sprintf("v%d", i), Build: BuildHead, Digest: randomText(rnd),
			Planned: rnd.IntN(9), Runs: randomRuns(rnd, len(d.Sessions))}
		col := randomColumn(rnd, c.Runs.Len())
		col.Metric = WallTime
		c.Columns = []Column{col}
		dealt = append(dealt, Dealt{Shard: at + 1, Benchmark: c.Benchmark, Variant: c.Variant, Build: c.Build, Digest: c.Digest, Planned: c.Planned})
		d.Cells, cells = append(d.Cells, c), append(cells, c)
	}
	rnd.Shuffle(len(dealt), func(i, j int) {
		dealt[i], dealt[j], cells[i], cells[j] = dealt[j], dealt[i], cells[j], cells[i]
	})
	for i, d := range docs {
		d.Cells = nil
		for j := range dealt {
			if dealt[j].Shard == i+1 {
				d.Cells = append(d.Cells, cells[j])
			}
		}
		d.Dealt = slices.Clone(dealt)
	}
	return docs, cells
}

// shardDocument is one without cells: what the shards of a plan share, and what
// each has of its own.
func shardDocument(rnd *rand.Rand, s Shard) *Document {
	d := &Document{Header: Header{
		Schema: Schema, Suite: Suite{Name: "codec", Path: "perfweir.yml", Digest: "sha256:1"},
		Plan: PlanRef{Digest: "sha256:own" + s.String(), Seed: rnd.Uint64(), Looks: []int{9}, Shard: s.String(), Whole: "sha256:whole"},
		Builds: map[string]Build{BuildHead: {Commit: "3c1a", Tree: "sha256:2", Programs: map[string]string{
			"bin/same": "sha256:3", "bin/dated": "sha256:" + s.String()}}},
		Metrics: map[string]Metric{WallTime: Catalogue()[WallTime]},
	}}
	for i := range 1 + rnd.IntN(2) {
		d.Sessions = append(d.Sessions, Session{
			ID: fmt.Sprintf("%s-%d", strings.ReplaceAll(s.String(), "/", "of"), i), Machine: fmt.Sprintf("perf-%d", rnd.IntN(3)),
			StartedAt: time.Unix(rnd.Int64N(1000), 0).UTC(), Origin: "run", Replicates: ReplicatesProcess,
			Host: Host{Strict: map[string]string{"cpu_model": "EPYC", "cpus": "8"}, Soft: map[string]string{"kernel": randomText(rnd)}},
		})
	}
	return d
}

// twoShards are the documents of a plan of five cells, of which the second has three.
func twoShards() []*Document {
	rnd := rand.New(rand.NewPCG(1, 1))
	a, b := shardDocument(rnd, Shard{1, 2}), shardDocument(rnd, Shard{2, 2})
	for i, of := range []int{2, 1, 2, 1, 2} {
		c := Cell{Name: fmt.Sprintf("c%d", i), Benchmark: fmt.Sprintf("c%d", i), Build: BuildHead, Digest: "sha256:c", Planned: 1,
			Runs:    Runs{Repeat: []int{1}, Block: []int{1}, Slot: []int{0}, Start: []float64{0}},
			Columns: []Column{{Metric: WallTime, V: Values{1}}}}
		d := []*Document{a, b}[of-1]
		d.Cells = append(d.Cells, c)
		dealt := Dealt{Shard: of, Benchmark: c.Benchmark, Build: c.Build, Digest: c.Digest, Planned: c.Planned}
		a.Dealt, b.Dealt = append(a.Dealt, dealt), append(b.Dealt, dealt)
	}
	return []*Document{a, b}
}

// Whatever a document says, a merge is an error or a document.
func FuzzMerge(f *testing.F) {
	docs := twoShards()
	for _, d := range docs {
		var buf bytes.Buffer
		if err := Encode(&buf, d); err != nil {
			f.Fatal(err)
		}
		f.Add(buf.Bytes(), buf.Bytes())
	}
	var a, b bytes.Buffer
	if err := errors.Join(Encode(&a, docs[0]), Encode(&b, docs[1])); err != nil {
		f.Fatal(err)
	}
	f.Add(a.Bytes(), b.Bytes())
	f.Add(bytes.ReplaceAll(a.Bytes(), []byte(`"shard":2`), []byte(`"shard":3`)), b.Bytes())
	f.Fuzz(func(t *testing.T, x, y []byte) {
		dx, errX := Decode(bytes.NewReader(x))
		dy, errY := Decode(bytes.NewReader(y))
		if errX != nil || errY != nil {
			return
		}
		for _, docs := range [][]*Document{{dx}, {dx, dy}} {
			merged, _, err := MergePartial(docs)
			if err != nil {
				continue
			}
			var buf bytes.Buffer
			if err := Encode(&buf, merged); err != nil {
				t.Fatalf("a merge cannot be written: %v", err)
			}
			if _, err := Decode(&buf); err != nil {
				t.Fatalf("a merge cannot be read: %v", err)
			}
		}
	})
}
