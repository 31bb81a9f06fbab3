// Command nights writes stored sessions for .ci/proof/history.sh.
//
//	nights FOLDER SESSIONS
//
// writes FOLDER/perfweir.yml and FOLDER/stored/*.json: a session a night of one cell,
// ten runs each, that rises by 6 % after a fifth of them, falls back after nine
// twentieths, and creeps up by 8 % over the last two fifths. Nights differ by 0.3 %,
// runs by 1 %.
package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/perfweir/perfweir/.ci/proof/internal/proof"
	"github.com/perfweir/perfweir/collect/result"
)

const suiteFile = `version: 1
suite: nights
benchmarks: [{name: encode, run: ["true"]}]
budgets: [{metric: wall_time, max_regression: 10%}]
`

func main() { proof.Main("nights", run) }

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: nights FOLDER SESSIONS")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 20 {
		return fmt.Errorf("%q is no count of sessions: 20 or more", args[1])
	}
	stored := filepath.Join(args[0], "stored")
	if err := os.MkdirAll(stored, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(args[0], "perfweir.yml"), []byte(suiteFile), 0o644); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for night := range n {
		if err := write(filepath.Join(stored, fmt.Sprintf("%05d.json", night)), session(night, n, rng)); err != nil {
			return err
		}
	}
	return nil
}

func level(night, n int) float64 {
	at, v := float64(night)/float64(n), 1.0
	if at >= 0.2 && at < 0.45 {
		v = 1.06
	}
	return v * math.Pow(1.08, math.Max(0, (at-0.6)/0.4))
}

func session(night, n int, rng *rand.Rand) *result.Document {
	const repeats = 10
	c := result.Cell{Name: "encode", Benchmark: "encode", Build: result.BuildHead, Digest: "sha256:1", Planned: repeats,
		Columns: []result.Column{{Metric: result.WallTime}}}
	shift := 0.003 * rng.NormFloat64()
	for k := range repeats {
		c.Runs.Repeat, c.Runs.Block, c.Runs.Slot = append(c.Runs.Repeat, k+1), append(c.Runs.Block, k+1), append(c.Runs.Slot, 0)
		c.Runs.Start = append(c.Runs.Start, float64(k))
		c.Columns[0].V = append(c.Columns[0].V, 1.2*level(night, n)*math.Exp(shift+0.01*rng.NormFloat64()))
	}
	wall := result.Catalogue()[result.WallTime]
	return &result.Document{Header: result.Header{
		Schema: result.Schema, Suite: result.Suite{Name: "nights", Path: "perfweir.yml"},
		Plan:    result.PlanRef{Digest: "sha256:1", Looks: []int{repeats}, Cells: 1, Runs: repeats},
		Builds:  map[string]result.Build{result.BuildHead: {Commit: fmt.Sprintf("%08x%032x", uint32(night+1)*2654435761, night)}},
		Metrics: map[string]result.Metric{result.WallTime: wall},
		Sessions: []result.Session{{ID: fmt.Sprintf("N%05d", night), Machine: "box", Origin: "run", Replicates: result.ReplicatesProcess,
			StartedAt: time.Date(2020, 1, 1, 3, 0, 0, 0, time.UTC).AddDate(0, 0, night), Host: result.Host{Strict: map[string]string{"cpu": "one"}}}},
	}, Cells: []result.Cell{c}}
}

func write(path string, d *result.Document) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := result.Encode(f, d); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
