package result

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// controlCell is a control cell of a document.
func controlCell(rnd *rand.Rand, d *Document) Cell {
	c := Cell{Name: ControlBenchmark, Benchmark: ControlBenchmark, Build: BuildHead, Digest: "sha256:control", Control: true,
		Planned: 6, Looks: []int{3, 6}, Runs: randomRuns(rnd, len(d.Sessions))}
	col := randomColumn(rnd, c.Runs.Len())
	col.Metric, col.Phase, col.Part = WallTime, "", ""
	c.Columns = []Column{col}
	return c
}

// another makes a control cell unlike that of other shards: no looks, and beside its
// own column one that they lack.
func another(rnd *rand.Rand, d *Document, c *Cell) {
	c.Looks = nil
	if rnd.IntN(2) == 0 {
		col := randomColumn(rnd, c.Runs.Len())
		col.Metric, col.Phase, col.Part = CPUTime, "", ""
		d.Metrics = maps.Clone(d.Metrics)
		d.Metrics[CPUTime] = Catalogue()[CPUTime]
		c.Columns = append(c.Columns, col)
	}
}

func TestControlIsKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	d := twoShards()[0]
	d.Plan.Shard = ""
	d.Cells = append(d.Cells, controlCell(rnd, d))
	back, err := Decode(bytes.NewReader(encoded(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range d.Cells {
		if back.Cells[i].Control != d.Cells[i].Control {
			t.Errorf("cell %s: control %v", d.Cells[i].Name, back.Cells[i].Control)
		}
	}
	if HeadOnly(d).Cells[len(d.Cells)-1].Benchmark != ControlBenchmark {
		t.Error("a stored session has it no more")
	}
	d.Cells[0].Control = true
	var b bytes.Buffer
	if err := Encode(&b, d); err == nil || !strings.Contains(err.Error(), `marked as the control cell, whose benchmark is "perfweir-control"`) {
		t.Errorf("another benchmark as control cell: %v", err)
	}
	if _, err := Decode(strings.NewReader(strings.Replace(string(encoded(t, back)), `"control":true`, `"control":1`, 1))); err == nil {
		t.Error("a control that is no boolean was read")
	}
}

// Every shard has a control cell of its own: the merge has one, with the runs of all,
// each in its session and none taken for another try of an other's.
func TestMergeOfControlCells(t *testing.T) {
	joined, alone, mixed := 0, 0, 0
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		docs, cells := randomShards(rnd)
		values, repeats := map[string]Values{}, 0 // by session
		have, odd := 0, 0
		cpu := map[string]Values{}
		for _, d := range docs {
			if rnd.IntN(4) == 0 {
				d.Skipped = []Skipped{{Name: ControlBenchmark, Why: "it cannot run here"}}
				continue
			}
			have++
			c := controlCell(rnd, d)
			if rnd.IntN(3) == 0 {
				odd++
				another(rnd, d, &c)
			}
			for range c.Runs.Repeats() {
				repeats++
			}
			for i, v := range c.Columns[0].V {
				id := d.Sessions[c.Runs.SessionAt(i)].ID
				values[id] = append(values[id], v)
				if len(c.Columns) < 2 {
					v = math.NaN()
				} else {
					v = c.Columns[1].V[i]
				}
				cpu[id] = append(cpu[id], v)
			}
			d.Cells = append(d.Cells, c)
		}
		got, err := Merge(docs)
		if err != nil {
			t.Fatalf("plan %d: %v", seed, err)
		}
		if have == 0 {
			alone++
			checkMerged(t, seed, docs, got, cells)
			continue
		}
		joined++
		last := len(got.Cells) - 1
		c := &got.Cells[last]
		var looks []int
		switch odd {
		case 0:
			looks = []int{3 * have, 6 * have}
		case have: // none of them has looks
		default:
			mixed++
		}
		if last != len(cells) || got.Plan.Cells != last+1 || !c.Control || c.Planned != 6*have || !slices.Equal(c.Looks, looks) {
			t.Fatalf("plan %d: %d cells of %d, the last %s, control %v, planned %d, looks %v", seed, len(got.Cells), len(cells), c.Name, c.Control, c.Planned, c.Looks)
		}
		for i := range last {
			if got.Cells[i].Control {
				t.Fatalf("plan %d: more than one control cell", seed)
			}
		}
		is, n := map[string]Values{}, 0
		isCPU := map[string]Values{}
		for range c.Runs.Repeats() {
			n++
		}
		for i, v := range c.Columns[0].V {
			id := got.Sessions[c.Runs.SessionAt(i)].ID
			is[id] = append(is[id], v)
			if len(c.Columns) > 1 {
				isCPU[id] = append(isCPU[id], c.Columns[1].V[i])
			}
		}
		if len(c.Columns) > 1 {
			if diff := cmp.Diff(cpu, isCPU, cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("plan %d: a column that only some have (-want +got):\n%s", seed, diff)
			}
		}
		if diff := cmp.Diff(values, is, cmpopts.EquateNaNs()); diff != "" || n != repeats {
			t.Fatalf("plan %d: %d repeats, want %d (-want +got):\n%s", seed, n, repeats, diff)
		}
		if _, err := Decode(bytes.NewReader(encoded(t, got))); err != nil {
			t.Fatalf("plan %d: %v", seed, err)
		}
	}
	if joined < 100 || mixed < 30 || alone == 0 {
		t.Errorf("%d merges with, %d of them of different ones, %d without", joined, mixed, alone)
	}
}

func TestMergeRefusesAnotherControlCell(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	docs := twoShards()
	for i, d := range docs {
		c := controlCell(rnd, d)
		c.Digest += string(rune('a' + i))
		d.Cells = append(d.Cells, c)
	}
	if _, err := Merge(docs); err == nil || !strings.Contains(err.Error(), "the control cell is of two versions of perfweir") {
		t.Errorf("merged: %v", err)
	}
}
