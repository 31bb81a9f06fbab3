// Command bigdocs writes large results documents, and the same numbers as Go
// benchmark output for benchstat, for .ci/proof/scale.sh.
//
//	bigdocs DIR CELLS RUNS METRICS SESSIONS
//
// writes DIR/current/results.json, DIR/stored/N.json, DIR/perfweir.yml and, for
// the first stored session, DIR/old.txt and DIR/new.txt.
package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/collect/result"
)

func main() { proof.Main("bigdocs", run) }

// size is what the documents hold.
type size struct{ cells, runs, metrics, sessions int }

func run(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf("usage: bigdocs DIR CELLS RUNS METRICS SESSIONS")
	}
	var n [4]int
	for i := range n {
		v, err := strconv.Atoi(args[i+1])
		if err != nil || v < 1 {
			return fmt.Errorf("%q is no count", args[i+1])
		}
		n[i] = v
	}
	s := size{n[0], n[1], n[2], n[3]}
	dir := args[0]
	for _, d := range []string{"current", "stored"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	for i := range s.sessions + 1 {
		doc := s.document(i)
		path := filepath.Join(dir, "current", "results.json")
		if i > 0 {
			path = filepath.Join(dir, "stored", fmt.Sprintf("%02d.json", i))
		}
		if err := write(path, func(w io.Writer) error { return result.Encode(w, doc) }); err != nil {
			return err
		}
		if name := map[int]string{0: "new.txt", 1: "old.txt"}[i]; name != "" {
			if err := write(filepath.Join(dir, name), func(w io.Writer) error { return gobench(w, doc) }); err != nil {
				return err
			}
		}
	}
	return write(filepath.Join(dir, "perfweir.yml"), s.suite)
}

// document makes session i of a machine whose sessions differ by 2 %; one cell
// in a hundred of the current one (i = 0) is half as fast again.
func (s size) document(i int) *result.Document {
	r := rand.New(rand.NewPCG(42, uint64(i)))
	started := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).Add(-time.Duration(i) * 24 * time.Hour)
	d := &result.Document{Header: result.Header{
		Schema: result.Schema, Suite: result.Suite{Name: "big", Path: "perfweir.yml", Digest: "sha256:1"},
		Plan:    result.PlanRef{Digest: "sha256:2", Seed: 7, Looks: []int{s.runs}, Cells: s.cells, Runs: s.cells * s.runs},
		Builds:  map[string]result.Build{"head": {Commit: "0123456789abcdef", Programs: map[string]string{"p": "sha256:3"}}},
		Metrics: map[string]result.Metric{},
		Sessions: []result.Session{{ID: fmt.Sprintf("01SESSION%04d", i), Machine: "m", StartedAt: started, Origin: "run",
			Replicates: result.ReplicatesProcess, Host: result.Host{Strict: map[string]string{"cpu_model": "x"}}}},
	}}
	for m := range s.metrics {
		d.Metrics[metric(m)] = result.Metric{Unit: "s", Better: result.Lower, Class: result.Noisy, Step: 1e-9}
	}
	session := math.Exp(0.02 * r.NormFloat64())
	for c := range s.cells {
		cell := result.Cell{Name: fmt.Sprintf("bench/v%d/input-%04d", c%10, c), Benchmark: "bench", Variant: fmt.Sprintf("v%d", c%10),
			Input: fmt.Sprintf("input-%04d", c), Build: "head", Digest: fmt.Sprintf("sha256:%d", c), Planned: s.runs}
		for k := range s.runs {
			cell.Runs.Repeat = append(cell.Runs.Repeat, k+1)
			cell.Runs.Block = append(cell.Runs.Block, k+1)
			cell.Runs.Slot = append(cell.Runs.Slot, 0)
			cell.Runs.Start = append(cell.Runs.Start, math.Round(float64(k*s.cells+c)*1e3)/1e3)
		}
		for m := range s.metrics {
			center := 0.01 * float64(1+c%97) * float64(1+m) * session
			if i == 0 && c%100 == 7 {
				center *= 1.5
			}
			col := result.Column{Metric: metric(m)}
			for range s.runs {
				col.V = append(col.V, math.Round(center*math.Exp(0.03*r.NormFloat64())*1e9)/1e9)
			}
			cell.Columns = append(cell.Columns, col)
		}
		d.Cells = append(d.Cells, cell)
	}
	return d
}

func metric(m int) string { return fmt.Sprintf("metric_%d", m) }

// gobench writes a document as `go test -bench` does.
func gobench(w io.Writer, d *result.Document) error {
	for i := range d.Cells {
		c := &d.Cells[i]
		for k := range c.Runs.Len() {
			fmt.Fprintf(w, "Benchmark%s 1", c.Name)
			for _, col := range c.Columns {
				fmt.Fprintf(w, " %g %s", col.V[k]*1e9, col.Metric)
			}
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// suite writes the suite file that judges every metric.
func (s size) suite(w io.Writer) error {
	fmt.Fprint(w, "version: 1\nsuite: big\nmetrics:\n")
	for m := range s.metrics {
		fmt.Fprintf(w, "  %s: {unit: s, better: lower, class: noisy}\n", metric(m))
	}
	fmt.Fprint(w, "benchmarks: [{name: bench, run: [\"true\"]}]\nbudgets:\n")
	for m := range s.metrics {
		fmt.Fprintf(w, "  - {metric: %s, max_regression: 10%%}\n", metric(m))
	}
	_, err := fmt.Fprintln(w)
	return err
}

func write(path string, to func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	if err := to(b); err != nil {
		f.Close()
		return err
	}
	if err := b.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
